# einops-like: "s b (two e) -> (b s) (two e)" written out by hand


from torch import nn


def rearr(x, order, *sizes):
    """Poor man's einops: permute then reshape."""
    return x.permute(*order).contiguous().reshape(*sizes)


class SingleQueryScaledDotProductAttention(nn.Module):
    def __init__(self, enc_hid_dim, dec_hid_dim, kq_dim=512):
        super().__init__()
        self.to_qk = nn.ModuleDict({"dec": nn.Linear(dec_hid_dim, kq_dim), "enc": nn.Linear(enc_hid_dim * 2, kq_dim)})
        self.temperature = kq_dim**0.5

    def forward(self, hidden, encoder_outputs):
        S, B, M = encoder_outputs.shape
        flat = rearr(encoder_outputs, (1, 0, 2), B * S, M)
        k = self.to_qk["enc"](flat).reshape(B, S, -1)
        q = self.to_qk["dec"](hidden)[:, None, :].expand(B, S, -1)
        logits = (q * k).sum(2).div(self.temperature)
        logits = logits - logits.max(1, keepdim=True).values
        w = logits.exp()
        w = w / w.sum(1, keepdim=True)
        out = (flat * w.reshape(B * S, 1)).reshape(B, S, M).sum(1)
        return out, w
