"""From words to memory and sentence vector."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.cells import Cell
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
        dropout: float,
    ) -> None:
        super().__init__()
        kind: type[Cell] = CELLS[cell]
        self.embedding = embedding
        self.dropout = nn.Dropout(dropout)
        self.network = kind.network(
            embedding.embedding_dim,
            hidden,
            layers,
            batch_first=True,
            bidirectional=bidirectional,
            dropout=dropout if layers > 1 else 0.0,
        )
        self.directions = 2 if bidirectional else 1
        self.bridge = nn.Linear(hidden * self.directions, sentence)

    def forward(
        self, tokens: Int[Tensor, "B S"], is_token: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S M"], Float[Tensor, "B H"]]:
        """Return the memory and sentence = ReLU(W_e [forward_last, backward_first] + b_e)."""
        lengths = is_token.sum(dim=1).cpu()
        packed = pack_padded_sequence(
            self.dropout(self.embedding(tokens)), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, last = self.network(packed)
        memory, _ = pad_packed_sequence(outputs, batch_first=True, total_length=tokens.shape[1])
        last = last[0] if isinstance(last, tuple) else last
        ends = torch.cat(tuple(last[-self.directions :]), dim=1)
        return memory, torch.relu(self.bridge(ends))
