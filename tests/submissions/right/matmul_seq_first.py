import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(dec_hid_dim, kq_dim) * 0.1)
        self.wk = nn.Parameter(torch.zeros(2 * enc_hid_dim, kq_dim))
        self.bk = nn.Parameter(torch.zeros(kq_dim))
        self.scale = torch.sqrt(torch.FloatTensor([kq_dim]))

    def forward(self, hidden, encoder_outputs):
        keys = encoder_outputs @ self.wk + self.bk
        query = hidden @ self.wq
        scores = torch.matmul(keys.permute(1, 0, 2), query[:, :, None])[:, :, 0] / self.scale
        alpha = torch.exp(scores - torch.logsumexp(scores, dim=1, keepdim=True))
        attended_val = (alpha.t().unsqueeze(-1) * encoder_outputs).sum(dim=0)
        return attended_val, alpha
