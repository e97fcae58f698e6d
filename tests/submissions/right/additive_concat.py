import torch
import torch.nn.functional as F
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim):
        super().__init__()
        self.attn = nn.Linear(enc_hid_dim * 2 + dec_hid_dim, dec_hid_dim)
        self.v = nn.Parameter(torch.rand(dec_hid_dim))

    def forward(self, hidden, encoder_outputs):
        steps = encoder_outputs.shape[0]
        pair = torch.cat([hidden.unsqueeze(1).repeat(1, steps, 1), encoder_outputs.permute(1, 0, 2)], dim=2)
        energy = torch.tanh(self.attn(pair))
        alpha = F.softmax(energy @ self.v, dim=1)
        return torch.einsum("bs,sbm->bm", alpha, encoder_outputs), alpha
