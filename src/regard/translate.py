"""Text in; text, scores, attention and alternatives out."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from regard.data.batches import Batch, EncodedPairs, Flat, plan
from regard.data.tokenizers import Tokenizer, TokenizerPair
from regard.data.vocabulary import EOS
from regard.data.words import split_words, word_of_token
from regard.errors import RegardError
from regard.metrics.alignment import join_pieces
from regard.models.scoring import token_log_probs
from regard.models.seq2seq import Seq2Seq
from regard.parts import DISPLAYS
from regard.run import Run
from regard.search import Ensemble, Hypothesis, Recorder, Sources, unknown_positions
from regard.search.strategy import Strategy
from regard.types import Float, Tensor

Array = np.ndarray[Any, Any]
Unknown = Literal["show", "replace"]
Tick = Callable[[int], None]
"""Told how many sentences are done."""

GREEDY, BEAM = Strategy(), Strategy(width=5)
WINDOW = 32
"""Batches read ahead, so that sentences of like length can be put together."""


@dataclass(frozen=True, slots=True)
class Words:
    """Attention between whole words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    attention: Float[Array, "N T S"]


@dataclass(frozen=True)
class Translation:
    """A translation and where the model looked for each of its tokens."""

    source: str
    source_tokens: tuple[str, ...]
    text: str
    tokens: tuple[str, ...]
    attention: Float[Array, "N T S"]
    """One row per token and head over the source tokens."""
    log_prob: float = 0.0
    """Natural logarithm of the probability of all tokens and the end of the sentence."""
    score: float = 0.0
    """What hypotheses were compared by: the log-probability after length normalisation."""
    token_log_probs: tuple[float, ...] = ()
    """One for each token, and one for the end of the sentence if it was reached."""
    is_finished: bool = True
    """Whether the sentence ended by itself, not at the greatest length."""
    alternatives: tuple["Translation", ...] = ()
    """The other hypotheses of an n-best list, best first."""

    @property
    def perplexity(self) -> float:
        """Exponential of the mean negative log-probability of a token, the end of the sentence included."""
        return math.exp(-self.log_prob / max(1, len(self.token_log_probs)))

    @cached_property
    def words(self) -> Words:
        """The same with word pieces joined: weights summed over source pieces, averaged over target pieces."""
        source, target = split_words(self.source), split_words(self.text)
        owners = word_of_token(self.tokens, target), word_of_token(self.source_tokens, source)
        shape = len(target), len(source)
        joined = [join_pieces(head, *owners, shape=shape) for head in self.attention]
        return Words(tuple(source), tuple(target), np.stack(joined))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "source": self.source,
            "source_tokens": list(self.source_tokens),
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
            "attention": np.round(self.attention, 6).tolist(),
        }


class Translator:
    """One model, or several that speak as one, with its tokenizers."""

    def __init__(self, models: Sequence[Seq2Seq], tokenizers: TokenizerPair) -> None:
        self.models = [model.eval() for model in models]
        self.tokenizers = tokenizers

    @classmethod
    def open(cls, *paths: str | Path) -> "Translator":
        """Load a run, or an ensemble of runs that share their vocabulary."""
        runs = [Run.open(path) for path in paths]
        first = runs[0].tokenizers
        for run in runs[1:]:
            for own, other in ((first.source, run.tokenizers.source), (first.target, run.tokenizers.target)):
                if own.size != other.size or own.pieces(range(own.size)) != other.pieces(range(own.size)):
                    raise RegardError(f"{run.path}: has another vocabulary than {runs[0].path}; an ensemble needs one.")
        return cls([run.model() for run in runs], first)

    def translate(
        self, text: str, strategy: Strategy = BEAM, *, unknown: Unknown = "show", prefix: str = ""
    ) -> Translation:
        """Translate one sentence."""
        return next(self.translate_all([text], strategy, unknown=unknown, prefix=prefix))

    def translate_all(
        self,
        texts: Iterable[str],
        strategy: Strategy = GREEDY,
        *,
        batch: int = 64,
        unknown: Unknown = "show",
        prefix: str = "",
        first: int = 0,
    ) -> Iterator[Translation]:
        """Translate sentence after sentence, in order, in bounded memory; a sentence never depends on its batch.

        ``first`` is the number of the first sentence; sampling draws from a stream fixed by seed and number.
        """
        lines = iter(texts)
        while window := list(islice(lines, batch * WINDOW)):
            yield from self._window(window, first, strategy, batch=batch, unknown=unknown, prefix=prefix)
            first += len(window)

    def score_all(
        self, sources: Sequence[str], targets: Sequence[str], *, batch: int = 64, tick: Tick = lambda _: None
    ) -> list[Translation]:
        """Return given translations with the log-probability and attention that the model gives them."""
        if len(self.models) > 1:
            raise RegardError(f"score: got an ensemble of {len(self.models)} runs, want one run.")
        source_ids = self.tokenizers.source.encode_all(sources)
        target_ids = self.tokenizers.target.encode_all(targets)
        pairs = EncodedPairs.of([ids or [EOS] for ids in source_ids], target_ids)
        scored: dict[int, Translation] = {}
        for rows in plan(pairs, np.arange(len(pairs)), size=batch, unit="sentences"):
            chosen = pairs.batch(rows)
            log_probs, weights = token_log_probs(self.models[0], chosen)
            for i, row in enumerate(rows.tolist()):
                hypothesis = _given(chosen, i, log_probs[i], weights[i])
                given = self._translation(sources[row], [hypothesis], "show")
                tokens = self.tokenizers.target.tokens(targets[row])
                scored[row] = replace(given, text=targets[row], tokens=tuple(tokens))
            tick(len(scored))
        return [scored[i] for i in range(len(sources))]

    def tree(self, text: str, strategy: Strategy) -> tuple[Translation, Recorder]:
        """Translate one sentence and keep the whole search."""
        recorder = Recorder()
        found = self._search([text], strategy, numbers=[0], recorder=recorder)
        return self._translation(text, found[0], "show"), recorder

    def _window(
        self, texts: list[str], first: int, strategy: Strategy, *, batch: int, unknown: Unknown, prefix: str
    ) -> Iterator[Translation]:
        order = sorted((i for i in range(len(texts)) if texts[i].strip()), key=lambda i: -len(texts[i]))
        done: dict[int, Translation] = {}
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            found = self._search([texts[i] for i in rows], strategy, numbers=[first + i for i in rows], prefix=prefix)
            for i, hypotheses in zip(rows, found, strict=True):
                done[i] = self._translation(texts[i], hypotheses, unknown)
        for i, text in enumerate(texts):
            yield done.pop(i) if i in done else _empty(text)

    def _search(
        self,
        texts: list[str],
        strategy: Strategy,
        *,
        numbers: list[int],
        prefix: str = "",
        recorder: Recorder | None = None,
    ) -> list[list[Hypothesis]]:
        ids = Flat.of([self.tokenizers.source.encode(text) or [EOS] for text in texts])
        tokens, is_token = ids.padded(np.arange(len(texts)))
        begun = [self.tokenizers.target.encode(prefix)] * len(texts)
        with torch.inference_mode():
            if len(self.models) == 1:
                model = self.models[0]
                source = model.encode(tokens, is_token)
                return strategy(model, source, numbers=numbers, prefix=begun, recorder=recorder)
            sources = Sources(tuple(model.encode(tokens, is_token) for model in self.models))
            return strategy(Ensemble(self.models), sources, numbers=numbers, prefix=begun, recorder=recorder)

    def _translation(self, text: str, hypotheses: Sequence[Hypothesis], unknown: Unknown) -> Translation:
        source_tokens = tuple(self.tokenizers.source.tokens(text))
        first, *others = (self._one(text, source_tokens, h, unknown) for h in hypotheses)
        return replace(first, alternatives=tuple(others))

    def _one(self, text: str, source_tokens: tuple[str, ...], found: Hypothesis, unknown: Unknown) -> Translation:
        tokenizer: Tokenizer = self.tokenizers.target
        tokens = tokenizer.pieces(found.words)
        if unknown == "replace":
            for place, position in unknown_positions(found).items():
                tokens[place] = source_tokens[position] if position < len(source_tokens) else tokens[place]
        return Translation(
            source=text,
            source_tokens=source_tokens,
            text=tokenizer.text(tokens),
            tokens=tuple(tokens),
            attention=found.attention[:, : len(tokens), : len(source_tokens)].numpy(),
            log_prob=found.log_prob,
            score=found.score,
            token_log_probs=found.token_log_probs,
            is_finished=found.is_finished,
        )


def _given(batch: Batch, row: int, log_probs: Float[Tensor, " T"], weights: Float[Tensor, "N T S"]) -> Hypothesis:
    length, width = int(batch.is_target[row].sum()), int(batch.is_source[row].sum())
    log_prob = float(log_probs.sum())
    return Hypothesis(
        tokens=tuple(batch.target_out[row, :length].tolist()),
        log_prob=log_prob,
        score=log_prob / length,
        token_log_probs=tuple(log_probs[:length].tolist()),
        attention=weights[:, :length, :width].float(),
    )


def _empty(text: str) -> Translation:
    return Translation(source=text, source_tokens=(), text="", tokens=(), attention=np.zeros((1, 0, 0), np.float32))


def load(*paths: str | Path) -> Translator:
    """Load a trained run, ready to translate; several runs form an ensemble."""
    if not paths:
        raise RegardError("load: got no run, want the path of at least one.")
    return Translator.open(*paths)
