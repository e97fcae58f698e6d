"""No attention: the bottleneck to compare with."""

from regard.attention.base import Attention, Source
from regard.types import Float, Tensor


class NoAttention(Attention):
    """Looks nowhere: all weights and the context are 0 (the homework's Dummy)."""

    def __init__(self, *, memory: int) -> None:
        super().__init__(context=memory)

    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Return zeros."""
        batch, steps, _ = queries.shape
        return queries.new_zeros(batch, 1, steps, source.is_token.shape[1])
