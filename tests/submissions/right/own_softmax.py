import torch
from torch import nn


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (x - x.amax(1, keepdim=True)).exp()
        y /= y.sum(1, keepdim=True)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return y * (g - (g * y).sum(1, keepdim=True))


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = nn.Linear(dec_hid_dim, kq_dim)
        self.k = nn.Linear(2 * enc_hid_dim, kq_dim)
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        k = self.k(encoder_outputs).permute(1, 2, 0)
        s = torch.bmm(self.q(hidden).unsqueeze(1), k).squeeze(1) / torch.sqrt(torch.tensor(self.d, dtype=torch.float32))
        a = Softmax.apply(s)
        return torch.bmm(a.unsqueeze(1), encoder_outputs.transpose(0, 1)).squeeze(1), a
