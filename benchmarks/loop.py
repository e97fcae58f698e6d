"""The homework model as it is usually written: a loop over target steps, with the keys projected at every one."""

import math

import torch
from torch import Tensor, nn


class LoopModel(nn.Module):
    """Sizes and equations of the `homework` preset; nothing is packed, masked or hoisted out of the loop."""

    def __init__(
        self,
        source_words: int,
        target_words: int,
        *,
        embedding: int = 256,
        hidden: int = 512,
        size: int = 512,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.source = nn.Embedding(source_words, embedding)
        self.target = nn.Embedding(target_words, embedding)
        self.encoder = nn.GRU(embedding, hidden, bidirectional=True)
        self.bridge = nn.Linear(2 * hidden, hidden)
        self.decoder = nn.GRU(embedding, hidden)
        self.query = nn.Linear(hidden, size, bias=False)
        self.key = nn.Linear(2 * hidden, size, bias=False)
        self.output = nn.Linear(3 * hidden, target_words)
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(size)

    def attend(self, hidden: Tensor, memory: Tensor) -> Tensor:
        """Attend from one step, [B H], to the memory, [S B M]."""
        keys, query = self.key(memory).transpose(0, 1), self.query(hidden).unsqueeze(2)
        weights = torch.softmax(torch.bmm(keys, query).squeeze(2) / self.scale, dim=1)
        return torch.bmm(weights.unsqueeze(1), memory.transpose(0, 1)).squeeze(1)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the logits [T B V] of target [T B] read one step after the other."""
        memory, last = self.encoder(self.dropout(self.source(source)))
        state = torch.relu(self.bridge(torch.cat((last[0], last[1]), dim=1))).unsqueeze(0)
        logits = []
        for token in target:
            out, state = self.decoder(self.dropout(self.target(token)).unsqueeze(0), state)
            context = self.attend(out.squeeze(0), memory)
            logits.append(self.output(torch.cat((context, out.squeeze(0)), dim=1)))
        return torch.stack(logits)
