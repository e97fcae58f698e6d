"""From words to memory and sentence vector."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models import gru
from regard.models.cells import Cell, Directions
from regard.models.directions import backwards, turn
from regard.models.dropout import Dropout
from regard.parts import CELLS
from regard.types import Bool, Float, Int, Tensor


class Encoder(nn.Module):
    """Embeddings and a recurrent network; padding never enters a state."""

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
        self.hidden, self.is_bidirectional = hidden, bidirectional
        memory = hidden * (2 if bidirectional else 1)
        sizes = [embedding.embedding_dim, *[memory] * (layers - 1)]
        self.layers = nn.ModuleList(
            kind.network(size, hidden, batch_first=True, bidirectional=bidirectional) for size in sizes
        )
        self.bridge = nn.Linear(memory, sentence)
        self.cell = kind
        self.steps = nn.ModuleList()
        """The same layers, once `prepare_steps` was called."""

    def prepare_steps(self) -> None:
        """Read step by step from now on."""
        self.steps = nn.ModuleList(Directions(self.cell, network) for network in self.layers)

    def forward(
        self, tokens: Int[Tensor, "B S"], is_token: Bool[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S M"], Float[Tensor, "B H"]]:
        """Return the memory and sentence = ReLU(W_e [forward_last, backward_first] + b_e)."""
        lengths = is_token.sum(dim=1)
        memory = self.embedding(tokens)
        for number in range(len(self.layers)):
            memory = self._read(number, self.dropout(memory), lengths)
        ends = memory[torch.arange(len(lengths)), lengths - 1]
        last = torch.cat((ends[:, : self.hidden], memory[:, 0, self.hidden :]), dim=1)
        return self.memory_dropout(memory), torch.relu(self.bridge(last))

    def _read(self, layer: int, inputs: Float[Tensor, "B S E"], lengths: Int[Tensor, " B"]) -> Float[Tensor, "B S M"]:
        if self.steps:
            return self._read_by_steps(layer, inputs, lengths)
        network = self.layers[layer]
        assert isinstance(network, nn.RNNBase)
        if gru.is_worth_it(network, inputs):
            return gru.read(network, inputs, lengths=lengths)
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, _ = network(packed)
        return pad_packed_sequence(outputs, batch_first=True, total_length=inputs.shape[1])[0]

    def _read_by_steps(
        self, layer: int, inputs: Float[Tensor, "B S E"], lengths: Int[Tensor, " B"]
    ) -> Float[Tensor, "B S M"]:
        batch, steps, _ = inputs.shape
        read, order = self.steps[layer], backwards(lengths, batch, steps)
        forwards, *others = read(inputs, turn(inputs, order)) if self.is_bidirectional else read(inputs)
        is_padding = torch.arange(steps, device=lengths.device) >= lengths[:, None]
        outputs = (forwards, *(turn(other, order) for other in others))
        return torch.cat(outputs, dim=2).masked_fill(is_padding[:, :, None], 0)
