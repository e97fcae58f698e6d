"""The same weight for every token."""

from regard.attention.base import Attention, Source
from regard.types import Float, Tensor


class Mean(Attention):
    """Looks everywhere alike: 1 / (number of real tokens) each (the homework's MeanPool)."""

    def __init__(self, *, memory: int) -> None:
        super().__init__(context=memory)

    def weights(self, queries: Float[Tensor, "B T H"], source: Source) -> Float[Tensor, "B N T S"]:
        """Share the weight equally among the real tokens."""
        is_token = source.is_token.to(queries.dtype)
        share = is_token / is_token.sum(dim=1, keepdim=True)
        return share[:, None, None, :].expand(-1, 1, queries.shape[1], -1)
