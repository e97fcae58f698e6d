"""From words to memory and sentence vector."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.cells import Cell
from regard.models.dropout import Dropout
from regard.parts import CELLS
from regard.types import Bool, Float, Int, Tensor


class Encoder(nn.Module):
    """Embeddings and a recurrent network; sentences are packed, so padding never enters a state."""

    def __init__(
        self,
        embedding: nn.Embedding,
        *,
        cell: str,
        hidden: int,
        layers: int,
        bidirectional: bool,
        sentence: int,
        dropout: Dropout,
        memory_dropout: Dropout,
    ) -> None:
        super().__init__()
        kind: type[Cell] = CELLS[cell]
        self.embedding = embedding
        self.dropout = dropout
        self.memory_dropout = memory_dropout
        self.directions = 2 if bidirectional else 1
        sizes = [embedding.embedding_dim, *[hidden * self.directions] * (layers - 1)]
        self.layers = nn.ModuleList(
            kind.network(size, hidden, batch_first=True, bidirectional=bidirectional) for size in sizes
        )
        self.bridge = nn.Linear(hidden * self.directions, sentence)

    def forward(
        self, tokens: Int[Tensor, "B S"], is_token: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S M"], Float[Tensor, "B H"]]:
        """Return the memory and sentence = ReLU(W_e [forward_last, backward_first] + b_e)."""
        lengths = is_token.sum(dim=1).cpu()
        memory = self.embedding(tokens)
        for network in self.layers:
            packed = pack_padded_sequence(self.dropout(memory), lengths, batch_first=True, enforce_sorted=False)
            outputs, last = network(packed)
            memory, _ = pad_packed_sequence(outputs, batch_first=True, total_length=tokens.shape[1])
        last = last[0] if isinstance(last, tuple) else last
        return self.memory_dropout(memory), torch.relu(self.bridge(torch.cat(tuple(last), dim=1)))
