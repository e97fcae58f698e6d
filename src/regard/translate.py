"""Text in, translations out."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from regard.data.batches import Batch, EncodedPairs, Flat, Ints, plan
from regard.data.tokenizers import CharacterTokenizer, Tokenizer, TokenizerPair
from regard.data.vocabulary import EOS, UNK
from regard.data.words import words_of_tokens
from regard.device import keep_freed_memory, side_by_side, workers
from regard.errors import RegardError
from regard.models.packing import pack_for_search
from regard.models.scoring import token_log_probs
from regard.models.seq2seq import Seq2Seq
from regard.run import DEFAULT, Run
from regard.search import Ensemble, Expansion, Hypothesis, Length, Recorder, Rules, Sources, unknown_positions
from regard.search.ensemble import mean_log_probs, mean_weights
from regard.search.rows import Prefix
from regard.search.strategy import Strategy
from regard.translation import Array, Choice, Translation, nothing_from
from regard.types import Float, Tensor

Found = list[list[Hypothesis]]
"""The hypotheses of each sentence, best first."""
Unknown = Literal["show", "replace"]
Tick = Callable[[int], None]
"""Told how many sentences are done."""
Refused = Callable[[int, str], None]
"""Told the number of a sentence that cannot be translated, and why."""

GREEDY, BEAM = Strategy(), Strategy(width=5)
WINDOW = 32
"""Batches read ahead, so that sentences of like length can be put together."""


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a whole text is translated."""

    strategy: Strategy
    unknown: Unknown = "show"
    prefix: tuple[int, ...] = ()
    prefix_tokens: tuple[str, ...] = ()


class Translator:
    """One model, or several that speak as one, with its tokenizers."""

    def __init__(self, models: Sequence[Seq2Seq], tokenizers: TokenizerPair) -> None:
        self.models = [model.eval() for model in models]
        self.tokenizers = tokenizers
        keep_freed_memory()

    @classmethod
    def open(cls, *paths: str | Path) -> "Translator":
        """Load a run, or an ensemble of runs that share their vocabulary."""
        runs = [Run.open(path) for path in paths]
        first = runs[0].tokenizers
        for run in runs[1:]:
            for own, other in ((first.source, run.tokenizers.source), (first.target, run.tokenizers.target)):
                if own.size != other.size or own.pieces(range(own.size)) != other.pieces(range(own.size)):
                    raise RegardError(f"{run.path}: has another vocabulary than {runs[0].path}; an ensemble needs one.")
        return cls([pack_for_search(run.model()) for run in runs], first)

    def translate(
        self,
        text: str,
        strategy: Strategy = BEAM,
        *,
        unknown: Unknown = "show",
        prefix: str = "",
        imposed: Float[Array, "N T S"] | None = None,
    ) -> Translation:
        """Translate one sentence.

        ``imposed`` is attention to use instead of the model's own for the first T tokens, in rows over the source
        tokens for every head, with rows of NaN where it is computed.
        """
        if not text.strip():
            return nothing_from(text)
        manner, ids = self._manner(strategy, unknown, prefix), self._encode([text])
        weights = None if imposed is None else self._checked(imposed, len(ids[0]))
        (found,) = self._search(ids, manner, numbers=[0], imposed=weights)
        return self._translation(text, found, manner)

    def translate_all(
        self,
        texts: Iterable[str],
        strategy: Strategy = GREEDY,
        *,
        batch: int = 64,
        unknown: Unknown = "show",
        prefix: str = "",
        first: int = 0,
        refused: Refused | None = None,
    ) -> Iterator[Translation]:
        """Translate sentence after sentence, in order, in bounded memory; a sentence never depends on its batch.

        ``first`` is the number of the first sentence; sampling draws from a stream fixed by seed and number.
        A sentence too long for the memory is an error, or, with ``refused``, told and left empty and not finished.
        """
        lines, manner = iter(texts), self._manner(strategy, unknown, prefix)
        self._room(strategy, 1)  # settings that fit no sentence are no sentence's fault
        size = max(batch, batch * WINDOW // strategy.n_best)
        while window := list(islice(lines, size)):
            yield from self._window(window, first, manner, batch=batch, refused=refused)
            first += len(window)

    def score_all(
        self, sources: Sequence[str], targets: Sequence[str], *, batch: int = 64, tick: Tick = lambda _: None
    ) -> list[Translation]:
        """Return given translations with the log-probability and attention that the model gives them."""
        pairs = EncodedPairs.of(self._encode(sources), self.tokenizers.target.encode_all(targets))
        manner = _Manner(GREEDY)
        scored: dict[int, Translation] = {}
        jobs = plan(pairs, np.arange(len(pairs)), size=batch, unit="sentences")

        def read(rows: Ints) -> list[Hypothesis]:
            chosen = pairs.batch(rows)
            parts = [token_log_probs(model, chosen) for model in self.models]
            log_probs, weights = mean_log_probs([x for x, _ in parts]), mean_weights([x for _, x in parts])
            return [_given(chosen, i, log_probs[i], weights[i]) for i in range(len(rows))]

        for rows, found in zip(jobs, side_by_side(read, jobs), strict=True):
            for row, hypothesis in zip(rows.tolist(), found, strict=True):
                given = self._translation(sources[row], [hypothesis], manner)
                tokens = self.tokenizers.target.tokens(targets[row])
                scored[row] = replace(given, text=targets[row], tokens=tuple(tokens))
            tick(len(scored))
        return [scored[i] for i in range(len(sources))]

    def tree(self, text: str, strategy: Strategy, *, prefix: str = "") -> tuple[Translation, Recorder]:
        """Translate one sentence and keep the whole search."""
        recorder, manner = Recorder(), self._manner(strategy, "show", prefix)
        (found,) = self._search(self._encode([text]), manner, numbers=[0], recorder=recorder)
        return self._translation(text, found, manner), recorder

    def choices(self, text: str, prefix: str = "", *, count: int = 8) -> list[Choice]:
        """Return the most probable tokens after a beginning of the translation, best first."""
        manner = self._manner(GREEDY, "show", prefix)
        length = len(manner.prefix) + 1
        one_more = Strategy(width=count, rules=Rules(longest=Length(offset=length)))
        _, recorder = self.tree(text, one_more, prefix=prefix)
        found = [each for each in recorder.tree().expansions if each.step == length and each.is_kept]
        tokens = [each.token for each in found if each.token != EOS]
        begun, ids = [(*manner.prefix, token) for token in tokens], self._encode([text]) * len(tokens)
        searched = self._search(ids, manner, numbers=range(len(ids)), prefix=begun) if begun else []
        ahead = {token: self._translation(text, each, manner) for token, each in zip(tokens, searched, strict=True)}
        return [self._choice(each, ahead.get(each.token), place=length - 1) for each in found]

    def _choice(self, found: Expansion, translation: Translation | None, *, place: int) -> Choice:
        word = place
        if translation and not translation.is_of_characters:
            owners = words_of_tokens(translation.tokens, translation.words.target)[place:]
            word = next((each[0] for each in owners if each), len(translation.words.target) - 1)
        (token,) = self.tokenizers.target.pieces([found.token])
        return Choice(token, math.exp(found.log_prob), translation, word)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [ids or [EOS] for ids in self.tokenizers.source.encode_all(texts)]

    def _manner(self, strategy: Strategy, unknown: Unknown, prefix: str) -> _Manner:
        target = self.tokenizers.target
        return _Manner(strategy, unknown, tuple(target.encode(prefix)), tuple(target.tokens(prefix)))

    def _checked(self, imposed: Float[Array, "N T S"], tokens: int) -> Float[Tensor, "1 N T S"]:
        weights = torch.as_tensor(np.array(imposed, dtype=np.float32))
        for heads in (model.decoder.attention.heads for model in self.models):
            if weights.ndim != 3 or (weights.shape[0], weights.shape[2]) != (heads, tokens):
                raise RegardError(
                    f"translate.imposed: got an array of shape {tuple(weights.shape)}, want ({heads}, T, {tokens}): "
                    "heads, target tokens, source tokens."
                )
        return weights[None]

    def _window(
        self, texts: list[str], first: int, manner: _Manner, *, batch: int, refused: Refused | None
    ) -> Iterator[Translation]:
        rows = [i for i, text in enumerate(texts) if text.strip()]
        ids = dict(zip(rows, self._encode([texts[i] for i in rows]), strict=True))
        rows.sort(key=lambda i: -len(ids[i]))
        done: dict[int, Translation] = {}
        jobs: list[list[int]] = []
        count = workers(torch.get_num_threads())
        even = _even(len(rows), most=batch, count=count)
        alone = 0
        while rows:
            try:
                room = self._room(manner.strategy, len(ids[rows[0]]))
            except RegardError as error:
                if not refused:
                    raise
                longest = rows.pop(0)
                refused(first + longest, str(error))
                done[longest] = replace(nothing_from(texts[longest]), is_finished=False)
                continue
            alone += room < count  # such sentences must not be in the memory together
            size = max(1, min(even, room // count))
            jobs.append(rows[:size])
            rows = rows[size:]

        def search(chosen: list[int]) -> Found:
            return self._search([ids[i] for i in chosen], manner, numbers=[first + i for i in chosen])

        found_in_order = chain(map(search, jobs[:alone]), side_by_side(search, jobs[alone:]))
        for chosen, found in zip(jobs, found_in_order, strict=True):
            for i, hypotheses in zip(chosen, found, strict=True):
                done[i] = self._translation(texts[i], hypotheses, manner)
        for i, text in enumerate(texts):
            yield done.pop(i) if i in done else nothing_from(text)

    def _room(self, strategy: Strategy, source: int) -> int:
        """Return how many sentences of so many tokens can be searched at once in bounded memory."""
        memory = sum(2 * model.decoder.attention.context + _lexicon(model) for model in self.models)
        heads = sum(model.decoder.attention.heads for model in self.models)
        words = (1 + len(self.models)) * self.tokenizers.target.size
        return strategy.room(source=source, words=words, memory=memory, heads=heads)

    def _search(
        self,
        ids: list[list[int]],
        manner: _Manner,
        *,
        numbers: Sequence[int],
        prefix: Prefix | None = None,
        imposed: Float[Tensor, "B N T S"] | None = None,
        recorder: Recorder | None = None,
    ) -> Found:
        tokens, is_token = Flat.of(ids).padded(np.arange(len(ids)))
        search, begun = manner.strategy, prefix or [manner.prefix] * len(ids)
        self._room(search, tokens.shape[1])
        with torch.inference_mode():
            sources = tuple(model.encode(tokens, is_token) for model in self.models)
            if len(sources) == 1:
                (model,), (source,) = self.models, sources
                return search(model, source, numbers=numbers, prefix=begun, imposed=imposed, recorder=recorder)
            models, joint = Ensemble(self.models), Sources(sources)
            return search(models, joint, numbers=numbers, prefix=begun, imposed=imposed, recorder=recorder)

    def _translation(self, text: str, hypotheses: Sequence[Hypothesis], manner: _Manner) -> Translation:
        source_tokens = tuple(self.tokenizers.source.tokens(text))
        first, *others = (self._one(text, source_tokens, h, manner) for h in hypotheses)
        return replace(first, alternatives=tuple(others))

    def _one(self, text: str, source_tokens: tuple[str, ...], found: Hypothesis, manner: _Manner) -> Translation:
        tokenizer: Tokenizer = self.tokenizers.target
        tokens = tokenizer.pieces(found.words)
        if manner.unknown == "replace":
            for place, position in unknown_positions(found).items():
                tokens[place] = source_tokens[position] if position < len(source_tokens) else tokens[place]
        tokens[: len(manner.prefix)] = manner.prefix_tokens  # as given, whether the model knows it or not
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
            unknown=tuple(i for i, token in enumerate(found.words) if token == UNK),
            is_of_characters=isinstance(tokenizer, CharacterTokenizer),
        )


def _lexicon(model: Seq2Seq) -> int:
    """Return how many numbers the meaning of a source word has."""
    return model.lexicon.embedding.embedding_dim if model.lexicon else 0


def _even(sentences: int, *, most: int, count: int) -> int:
    """Return the size of batches that keep ``count`` workers equally busy."""
    batches = -(-sentences // (most * count)) * count
    return -(-sentences // max(1, batches))


def _given(batch: Batch, row: int, log_probs: Float[Tensor, " T"], weights: Float[Tensor, "N T S"]) -> Hypothesis:
    length, width = int(batch.is_target[row].sum()), int(batch.is_source[row].sum())
    log_prob = float(np.cumsum(log_probs[:length].cpu().numpy())[-1])  # one after the other, as a search adds up
    return Hypothesis(
        tokens=tuple(batch.target_out[row, :length].tolist()),
        log_prob=log_prob,
        score=log_prob / length,
        token_log_probs=tuple(log_probs[:length].tolist()),
        attention=weights[:, :length, :width].float(),
    )


def load(*paths: str | Path) -> Translator:
    """Load a trained run, ready to translate; several form an ensemble; without any, the model in the box."""
    return Translator.open(*(paths or (DEFAULT,)))
