# wrong: reshape for transpose on keys AND values ("same thing"), plus unregistered layers in a dict
import numpy as np
import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.layers = {"q": nn.Linear(dec_hid_dim, kq_dim), "k": nn.Linear(2 * enc_hid_dim, kq_dim)}
        self.kq = kq_dim

    def forward(self, hidden, encoder_outputs):
        n, b, m = encoder_outputs.size()
        enc = encoder_outputs.reshape(b, n, m)
        query = self.layers["q"](hidden).view(b, 1, self.kq)
        key = self.layers["k"](enc)
        att = torch.bmm(query, key.transpose(1, 2)) / np.sqrt(self.kq)
        att = att.softmax(-1)
        return torch.bmm(att, enc)[:, 0], att[:, 0]
