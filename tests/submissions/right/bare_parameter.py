import torch
from torch import nn
from torch.nn.init import xavier_uniform_


class MyAttn(nn.Module):
    """score = h' Wq' Wk e / sqrt(d), parameters by hand, half the scale on each side"""

    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        nn.Module.__init__(self)
        self.d = kq_dim
        W = torch.empty(dec_hid_dim + 2 * enc_hid_dim, kq_dim)
        xavier_uniform_(W)
        self.W = nn.Parameter(W)
        self.split = dec_hid_dim

    def forward(self, hidden, encoder_outputs):
        Wq, Wk = self.W[: self.split], self.W[self.split :]
        q = hidden @ Wq / self.d**0.25
        k = encoder_outputs @ Wk / self.d**0.25
        alpha = torch.softmax((q[None] * k).sum(-1), 0).t()
        attended = torch.zeros_like(encoder_outputs[0])
        for t in range(encoder_outputs.size(0)):
            attended = attended + alpha[:, t, None] * encoder_outputs[t]
        return attended, alpha
