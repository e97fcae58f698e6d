import torch
from torch import nn


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.q = nn.Linear(dec_hid_dim, kq_dim)
        self.k = nn.Linear(enc_hid_dim * 2, kq_dim)
        self.d = kq_dim

    def forward(self, hidden, encoder_outputs):
        src_len, batch, _ = encoder_outputs.shape
        values, alphas = [], []
        for b in range(batch):
            q = self.q(hidden[b])
            scores = []
            for s in range(src_len):
                score = torch.dot(q, self.k(encoder_outputs[s, b]))
                scores = [*scores, score / self.d**0.5]
            alpha = torch.softmax(torch.stack(scores), dim=0)
            values.append(sum(alpha[s] * encoder_outputs[s, b] for s in range(src_len)))
            alphas.append(alpha)
        return torch.stack(values), torch.stack(alphas)
