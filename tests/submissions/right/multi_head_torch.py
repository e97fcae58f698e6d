from torch import nn


class MultiHead(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.inner = nn.MultiheadAttention(d_model, heads, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x, need_weights=True, average_attn_weights=False)
