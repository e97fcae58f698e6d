import torch
import torch.nn.functional as F
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q_proj = nn.Linear(dec_hid_dim, kq_dim)
        self.k_proj = nn.Linear(enc_hid_dim * 2, kq_dim)
        self.v_proj = nn.Linear(enc_hid_dim * 2, enc_hid_dim)
        self.scale = torch.sqrt(torch.FloatTensor([kq_dim]))

    def forward(self, hidden, encoder_outputs):
        q = self.q_proj(hidden).unsqueeze(1)
        k = self.k_proj(encoder_outputs)
        v = self.v_proj(encoder_outputs)
        alpha = F.softmax(torch.bmm(q, k.transpose(1, 2)) / self.scale, dim=-1)
        return torch.bmm(alpha, v).squeeze(1), alpha.squeeze(1)
