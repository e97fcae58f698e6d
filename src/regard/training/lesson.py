"""What teachers expect at every token of the training data, for a model that is to learn from that as well.

A translation is one of many that are right. The corpus shows the one; models that know it can tell which other words
would have done (knowledge distillation, Hinton et al. 2015; word by word for translation, Kim and Rush 2016).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from regard.data.batches import EncodedPairs, Ints, plan
from regard.device import side_by_side
from regard.models.scoring import CHUNK, autocast, read_batch
from regard.models.seq2seq import Seq2Seq
from regard.training.loss import Advice
from regard.types import Float, Int, Tensor

KEPT = 8
"""Words that are kept of what is expected at a token; the others are left out."""
BATCH = 2048
"""Tokens that teachers read at a time."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is expected at every target token of encoded pairs, in their order."""

    words: Int[Tensor, "N K"]
    probabilities: Float[Tensor, "N K"]
    """They add up to 1; 0 where nobody was asked."""
    pairs: EncodedPairs

    @classmethod
    def empty(cls, pairs: EncodedPairs, *, words: int) -> "Lesson":
        """Return a lesson on the pairs that is yet to be read."""
        size = len(pairs.target.ids), min(KEPT, words)
        return cls(torch.zeros(size, dtype=torch.int32), torch.zeros(size, dtype=torch.float16), pairs)

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor], pairs: EncodedPairs, *, words: int) -> "Lesson | None":
        """Return a stored lesson, if it is one on these pairs."""
        if _form(tensors) != _form(cls.empty(pairs, words=words).tensors()):
            return None
        lesson = cls(**tensors, pairs=pairs)
        are_right = (lesson.words >= 0) & (lesson.words < words) & (lesson.probabilities >= 0)
        return lesson if are_right.all() else None

    def tensors(self) -> dict[str, Tensor]:
        """Return what is to be stored."""
        return {"words": self.words, "probabilities": self.probabilities}

    def read(self, teachers: Sequence[Seq2Seq], rows: Ints, *, precision: torch.dtype) -> Iterator[int]:
        """Ask the teachers, which count alike, what they expect in some pairs; tell of how many, batch by batch."""
        device = next(teachers[0].parameters()).device
        jobs = plan(self.pairs, rows, size=BATCH, unit="tokens")

        def ask(chosen: Ints) -> tuple[Tensor, Tensor]:
            batch = self.pairs.batch(chosen).to(device)
            with torch.inference_mode(), autocast(device, precision):
                features = [read_batch(teacher, batch).features[batch.is_target].split(CHUNK) for teacher in teachers]
                found = [_likely(teachers, rows, kept=self.words.shape[1]) for rows in zip(*features, strict=True)]
            words, probabilities = (torch.cat(parts).cpu() for parts in zip(*found, strict=True))
            return words, probabilities

        for chosen, (words, probabilities) in zip(jobs, side_by_side(ask, jobs), strict=True):
            places = self._places(chosen)
            self.words[places] = words.int()
            self.probabilities[places] = probabilities.half()
            yield len(chosen)

    def advice(self, rows: Ints, *, share: float) -> Advice:
        """Return what is to be expected at the tokens of some pairs; it counts for as much as is said."""
        places = self._places(rows)
        return Advice(self.words[places].long(), self.probabilities[places].float() * share)

    def _places(self, rows: Ints) -> Int[Tensor, " L"]:
        """Return where the target tokens of some pairs stand among those of all, one pair after the other."""
        starts = self.pairs.target.starts
        return torch.from_numpy(np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows]))


def _form(tensors: Mapping[str, Tensor]) -> dict[str, object]:
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}


def _likely(teachers: Sequence[Seq2Seq], features: Sequence[Tensor], *, kept: int) -> tuple[Tensor, Tensor]:
    """Return the words that teachers expect most after what they have read, and how much among these."""
    expected = torch.zeros(())
    for teacher, rows in zip(teachers, features, strict=True):
        expected = expected.to(rows.device) + torch.softmax(teacher.output(rows).float(), dim=1)
    probabilities, words = expected.topk(kept, dim=1)
    return words, probabilities / probabilities.sum(dim=1, keepdim=True)
