import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.dec, self.enc2 = dec_hid_dim, 2 * enc_hid_dim
        self.weight = nn.Parameter(torch.empty(kq_dim, dec_hid_dim + 2 * enc_hid_dim))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, hidden, encoder_outputs):
        w_q, w_k = self.weight.split([self.dec, self.enc2], dim=1)
        q = F.linear(hidden, w_q)
        k = F.linear(encoder_outputs, w_k)
        scores = torch.baddbmm(
            torch.zeros(1, 1, 1, device=q.device), k.transpose(0, 1), q.unsqueeze(2), alpha=w_q.shape[0] ** -0.5
        )
        weights = nn.Softmax(dim=1)(scores)
        return (weights * encoder_outputs.transpose(0, 1)).sum(1), weights.squeeze(2)
