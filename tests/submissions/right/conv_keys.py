import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv", torch.tensor(dim).float().rsqrt())

    def forward(self, q, K):
        return torch.baddbmm(torch.zeros(1, 1, 1), q, K.mT, beta=0) * self.inv


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.wq = nn.Sequential(nn.Linear(dec_hid_dim, kq_dim, bias=False), nn.Unflatten(1, (1, kq_dim)))
        self.wk = nn.Conv1d(2 * enc_hid_dim, kq_dim, kernel_size=1)
        self.score = Scorer(kq_dim)

    def forward(self, hidden, encoder_outputs):
        batch_first = encoder_outputs.permute(1, 0, 2)
        keys = self.wk(batch_first.mT).mT
        weights = nn.Softmax(dim=2)(self.score(self.wq(hidden), keys))
        return (weights @ batch_first).squeeze(1), weights.squeeze(1)
