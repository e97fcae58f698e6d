import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.proj = nn.ModuleDict({"q": nn.LazyLinear(kq_dim), "k": nn.LazyLinear(kq_dim)})
        self.dropout = nn.Dropout(0.1)
        self.kq_dim = kq_dim

    def forward(self, hidden, encoder_outputs):
        batch = hidden.shape[0]
        q = self.proj["q"](hidden)
        k = self.proj["k"](encoder_outputs.reshape(-1, encoder_outputs.shape[-1])).reshape(-1, batch, self.kq_dim)
        scores = (q * k).sum(-1) / self.kq_dim**0.5
        alpha = self.dropout(scores.softmax(0)).T
        return torch.matmul(alpha[:, None], encoder_outputs.permute(1, 0, 2))[:, 0], alpha
