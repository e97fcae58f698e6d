"""The one legend of dimensions. Every shape in regard is written in these letters.

    B  sentences in a batch            R  rows of a search: sentences x hypotheses
    S  source positions                T  target positions
    H  size of a decoder state         M  size of an encoder output ("memory")
    K  size of a key or a query        C  size of a context
    N  attention heads                 F  size of the features before the output layer
    V  words in the target vocabulary  E  size of an embedding
    W  hypotheses kept per sentence    P  places of a search: B x W
    L  tokens seen so far, BOS included WT  target positions of all hypotheses of a sentence: W x T
    D  directions of a recurrent layer GH  size of a recurrent cell's gates together

A boolean tensor is named for what True means: ``is_token`` is True on real tokens and False on padding.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor

__all__ = ["Bool", "Float", "Int", "Tensor"]
