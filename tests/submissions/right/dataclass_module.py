from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(eq=False)
class SingleQueryScaledDotProductAttention(nn.Module):
    enc_hid_dim: int
    dec_hid_dim: int
    kq_dim: int = 512

    def __post_init__(self):
        super().__init__()
        self.wq = nn.Linear(self.dec_hid_dim, self.kq_dim)
        self.wk = nn.Conv1d(2 * self.enc_hid_dim, self.kq_dim, 1)

    def scores(self, h: Tensor, e: Tensor) -> Tensor:
        return torch.matmul(self.wq(h).unsqueeze(-2), self.wk(e)).squeeze(-2).div_(self.kq_dim ** (1 / 2))

    def forward(self, hidden: Tensor, encoder_outputs: Tensor):
        e = torch.movedim(encoder_outputs, 0, -1)
        alpha = nn.functional.softmin(-self.scores(hidden, e), -1)
        return (e * alpha[:, None]).sum(-1), alpha
