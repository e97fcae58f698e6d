"""A short way from the source words that are looked at to their translations."""

import torch
from torch import nn

from regard.attention.base import Source, steps_together
from regard.types import Float, Int, Tensor


class Lexicon(nn.Module):
    """Adds the embeddings of the attended source words to what the output layer sees (Nguyen and Chiang 2018).

    The output layer scores a word by the product with its embedding, so a target word that is like the source word
    looked at is made probable, whatever the recurrent networks say. Heads are averaged; the strength is learnt.
    """

    def __init__(self, embedding: nn.Embedding, *, strength: float) -> None:
        super().__init__()
        self.embedding = embedding
        self.strength = nn.Parameter(torch.tensor(strength))

    def look_up(self, tokens: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """Return the embeddings as the output layer knows them: neither enlarged nor dropped."""
        return nn.functional.embedding(tokens, self.embedding.weight)

    def forward(self, weights: Float[Tensor, "R N T S"], source: Source) -> Float[Tensor, "R T E"]:
        """Average the source words with the weights of attention."""
        assert source.words is not None
        rows, _, steps, _ = weights.shape
        looked = steps_together(weights.mean(dim=1, keepdim=True), source.copies).squeeze(1)
        words = looked.to(source.words.dtype) @ source.words
        return self.strength * words.reshape(rows, steps, words.shape[2])
