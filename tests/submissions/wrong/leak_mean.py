# wrong: values averaged with a matmul over everything; sentences mixed by broadcasting [B,S] @ [S, B*M]
import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.Q = nn.Linear(dec_hid_dim, kq_dim)
        self.K = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.scale = kq_dim**-0.5

    def forward(self, hidden, encoder_outputs):
        query = self.Q(hidden)
        keys = self.K(encoder_outputs)
        scores = torch.matmul(keys, query.t()).mean(1).t() * self.scale  # [B, S]
        alpha = scores.softmax(dim=1)
        attended = (alpha.t().unsqueeze(2) * encoder_outputs).sum(0)
        return attended, alpha
