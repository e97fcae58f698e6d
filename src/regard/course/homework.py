"""The attention classes of the homework and of the practical, with the names and signatures that students know.

A mask is optional, as the homework passes none; where it is given, True marks real tokens and padding gets weight 0.
"""

import math

import torch
from torch import nn

from regard.types import Bool, Float, Int, Tensor

Hidden = Float[Tensor, "B H"]
Outputs = Float[Tensor, "S B M"]
Mask = Bool[Tensor, "B S"] | None
Attended = tuple[Float[Tensor, "B M"], Float[Tensor, "B S"]]


class Dummy(nn.Module):
    """Attends to nothing: zeros for the value and for every weight."""

    def __init__(self, dev: object = None) -> None:
        super().__init__()
        del dev  # the homework passes a device; the answer is made where the question is

    def forward(self, hidden: Hidden, encoder_outputs: Outputs, *, mask: Mask = None) -> Attended:
        """Return zeros of the right shapes."""
        length, batch, size = encoder_outputs.shape
        return hidden.new_zeros(batch, size), hidden.new_zeros(batch, length)


class MeanPool(nn.Module):
    """Attends to every token alike: the mean of the encoder outputs."""

    def forward(self, hidden: Hidden, encoder_outputs: Outputs, *, mask: Mask = None) -> Attended:
        """Return the mean and the equal weights."""
        alpha = _weights(hidden.new_zeros(hidden.shape[0], encoder_outputs.shape[0]), mask)
        return _read(alpha, encoder_outputs), alpha


class SingleQueryScaledDotProductAttention(nn.Module):
    """One query per sentence: ``alpha = softmax(W_q h . W_k e_t / sqrt(kq_dim))``; the values are the ``e_t``."""

    def __init__(self, enc_hid_dim: int, dec_hid_dim: int, kq_dim: int = 512) -> None:
        super().__init__()
        self.query = nn.Linear(dec_hid_dim, kq_dim, bias=False)
        self.key = nn.Linear(2 * enc_hid_dim, kq_dim, bias=False)

    def forward(self, hidden: Hidden, encoder_outputs: Outputs, *, mask: Mask = None) -> Attended:
        """Return the attended value and the weights."""
        query, keys = self.query(hidden), self.key(encoder_outputs)
        scores = (query * keys).sum(dim=-1).transpose(0, 1) / math.sqrt(keys.shape[-1])
        alpha = _weights(scores, mask)
        return _read(alpha, encoder_outputs), alpha


class DotProdAttention(nn.Module):
    """Attention of the string-reversal practical: no scale, and ``tanh(W_c [c_t ; s_t])`` for an answer."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.combine = nn.Linear(2 * hidden_size, hidden_size, bias=False)

    def forward(
        self,
        query: Float[Tensor, "B T H"],
        context: Float[Tensor, "B S H"],
        src_lengths: Int[Tensor, " B"] | None = None,
    ) -> tuple[Float[Tensor, "B T H"], Float[Tensor, "B T S"]]:
        """Return the attentional states and the weights; positions from ``src_lengths`` on are padding."""
        mask = None
        if src_lengths is not None:
            positions = torch.arange(context.shape[1], device=context.device)
            mask = (positions < src_lengths[:, None])[:, None, :]
        weights = _weights(query @ context.transpose(1, 2), mask)
        return torch.tanh(self.combine(torch.cat([weights @ context, query], dim=-1))), weights


def _weights(scores: Float[Tensor, "*B S"], mask: Bool[Tensor, "*#B S"] | None) -> Float[Tensor, "*B S"]:
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, float("-inf")), dim=-1)


def _read(alpha: Float[Tensor, "B S"], encoder_outputs: Float[Tensor, "S B M"]) -> Float[Tensor, "B M"]:
    return torch.einsum("bs,sbm->bm", alpha, encoder_outputs)
