"""A translation: its text, its scores, its alternatives, and where the model looked."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from regard.data.words import split_words, words_of_tokens
from regard.metrics.alignment import Alignment, join_pieces, strongest_links
from regard.parts import DISPLAYS
from regard.types import Float

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """Attention between whole words, or between the characters of a model that has no words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    attention: Float[Array, "N T S"] = field(compare=False, repr=False)

    @property
    def alignment(self) -> Alignment:
        """The source word that each target word attends to most, heads averaged."""
        return Alignment(strongest_links(self.attention.mean(axis=0)))


@dataclass(frozen=True)
class Translation:
    """A translation and where the model looked for each of its tokens."""

    source: str
    source_tokens: tuple[str, ...] = field(repr=False)
    text: str
    tokens: tuple[str, ...]
    attention: Float[Array, "N T S"] = field(compare=False, repr=False)
    """One row per token and head over the source tokens."""
    log_prob: float = 0.0
    """Natural logarithm of the probability of all tokens and the end of the sentence."""
    score: float = 0.0
    """What hypotheses were compared by: the log-probability after length normalisation."""
    token_log_probs: tuple[float, ...] = field(default=(), repr=False)
    """One for each token, and one for the end of the sentence if it was reached."""
    is_finished: bool = True
    """Whether the sentence ended by itself, not at the greatest length."""
    alternatives: tuple["Translation", ...] = ()
    """The other hypotheses of an n-best list, best first."""
    unknown: tuple[int, ...] = field(default=(), repr=False)
    """Which tokens the model does not know: it was asked about, or produced, the unknown word instead."""
    is_of_characters: bool = field(default=False, repr=False)
    """Whether the tokens are characters."""

    @property
    def perplexity(self) -> float:
        """Exponential of the mean negative log-probability of a token, the end of the sentence included."""
        return math.exp(-self.log_prob / max(1, len(self.token_log_probs)))

    @cached_property
    def words(self) -> Words:
        """The same with word pieces joined: weights summed over source pieces, averaged over target pieces."""
        source, target = split_words(self.source), split_words(self.text)
        owners = words_of_tokens(self.tokens, target), words_of_tokens(self.source_tokens, source)
        shape = len(target), len(source)
        joined = [join_pieces(head, *owners, shape=shape) for head in self.attention]
        return Words(tuple(source), tuple(target), np.stack(joined))

    @property
    def has_words(self) -> bool:
        """Whether it says anything: a model may end at once, or produce a piece that is a space and no more."""
        return bool(self.tokens and self.aligned.target)

    @property
    def aligned(self) -> Words:
        """What alignments count: words and punctuation marks, or characters where the model has nothing else."""
        if self.is_of_characters:
            return Words(self.source_tokens, self.tokens, self.attention)
        return self.words

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "source": self.source,
            "source_tokens": list(self.source_tokens),
            "source_words": list(self.aligned.source),
            "translations": [one._as_alternative() for one in (self, *self.alternatives)],
        }

    def _repr_html_(self) -> str:
        return str(DISPLAYS["Translation"](self))

    def _as_alternative(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "tokens": list(self.tokens),
            "score": self.score,
            "log_prob": self.log_prob,
            "token_log_probs": list(self.token_log_probs),
            "finished": self.is_finished,
            "unknown": list(self.unknown),
            "words": list(self.aligned.target),
            "alignment": str(self.aligned.alignment),
            "attention": self.attention.astype(np.float64).round(6).tolist(),
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """A token that may come next, and what greedy search makes of it."""

    token: str
    probability: float
    translation: Translation | None
    """The beginning, the token, and how it goes on; none where the token is the end of the sentence."""
    word: int
    """Which word of the translation the token is in."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        text, words = (self.translation.text, self.translation.aligned.target) if self.translation else (None, ())
        found = {"token": self.token, "probability": self.probability, "text": text, "words": list(words)}
        return found | {"word": self.word}


def nothing_from(text: str) -> Translation:
    """Return an empty translation."""
    return Translation(source=text, source_tokens=(), text="", tokens=(), attention=np.zeros((1, 0, 0), np.float32))
