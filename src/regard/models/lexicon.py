"""A short way from the source words that are looked at to their translations."""

import torch
from torch import nn

from regard.attention.base import Source, mean_of_heads, steps_together
from regard.exact import product, sigmoid
from regard.models.embedding import Embedding
from regard.types import Float, Int, Tensor


class Lexicon(nn.Module):
    """Adds what the attended source words mean to what the output layer sees (after Nguyen and Chiang 2018).

    The output layer scores a word by the product with its embedding. Meaning is at first the embedding itself, so that
    target words like the source word that is looked at are made probable, whatever the recurrent networks say; the
    difference is learnt. Heads are averaged.

    A gate says for every word to come how much that counts, from nothing to twice as much. Without one it is hard to
    end: a source of a single word makes its translation probable for ever.
    """

    def __init__(self, embedding: Embedding, *, strength: float, is_gated: bool = False) -> None:
        super().__init__()
        self.embedding = embedding
        self.strength = strength
        self.meaning = nn.Linear(embedding.embedding_dim, embedding.embedding_dim, bias=False)
        nn.init.eye_(self.meaning.weight)
        self.gate: nn.Linear | None = None
        if is_gated:
            self.gate = nn.Linear(embedding.embedding_dim, 1)
            nn.init.zeros_(self.gate.weight)
            nn.init.zeros_(self.gate.bias)

    def look_up(self, tokens: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """Return the meaning of each word."""
        # Embeddings as the output layer has them, neither enlarged nor dropped.
        embedded = self.embedding.look_up(tokens)
        meaning: Tensor = self.meaning(embedded)
        return self.strength * meaning

    def forward(
        self, features: Float[Tensor, "R T E"], weights: Float[Tensor, "R N T S"], source: Source
    ) -> Float[Tensor, "R T E"]:
        """Average the source words with the weights of attention and add them to the features."""
        assert source.words is not None
        rows, _, steps, _ = weights.shape
        looked = steps_together(mean_of_heads(weights)[:, None], source.copies).squeeze(1)
        words = product(looked, source.words).reshape(rows, steps, source.words.shape[2])
        if self.gate is None:
            return features + words
        return torch.addcmul(features, sigmoid(self.gate(features)), words.to(features.dtype), value=2)
