"""Run x split x search x metrics -> Evaluation: numbers that carry their signature, and what they were made of."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

import regard
from regard.data.corpus import Split, load_corpus
from regard.data.tokenizers import Tokenizer
from regard.errors import RegardError
from regard.metrics.alignment import Alignment, strongest_links
from regard.metrics.base import Metric, Score, buckets
from regard.metrics.signature import Signature
from regard.parts import METRICS
from regard.run import Run
from regard.search.strategy import Strategy
from regard.translate import Tick, Translation, Translator

EDGES = (5, 10, 15, 20, 30)
"""Greatest source lengths of the buckets, in the unit of the corpus: words or characters."""
RESAMPLINGS_SEED = 1


@dataclass(frozen=True)
class Evaluation:
    """How a run does on a split with one search."""

    split: str
    search: str
    scores: dict[str, Score]
    by_length: dict[str, dict[str, Score]]
    """Metric -> bucket of source length -> score."""
    seconds: float
    """Time of the search alone."""
    translations: tuple[Translation, ...] = field(repr=False)
    references: tuple[str, ...] = field(repr=False)
    sentence_scores: dict[str, list[float | None]] = field(repr=False)
    """Metric -> value of each sentence, for what compares systems."""

    @property
    def name(self) -> str:
        """Name of the stored file."""
        return f"{self.split}-{self.search}"

    def to_json(self) -> dict[str, Any]:
        """Return plain values, hypotheses included."""
        return {
            "split": self.split,
            "search": self.search,
            "seconds": self.seconds,
            "scores": {name: score.to_json() for name, score in self.scores.items()},
            "by_length": {
                name: {label: score.to_json() for label, score in rows.items()} for name, rows in self.by_length.items()
            },
            "sentences": [
                {"source": t.source, "hypothesis": t.text, "reference": r, "score": t.score, "log_prob": t.log_prob}
                for t, r in zip(self.translations, self.references, strict=True)
            ],
            "sentence_scores": self.sentence_scores,
        }


@dataclass(frozen=True)
class Reading:
    """How a model reads the references: what depends on no search, and so is computed once."""

    references: tuple[Translation, ...]
    columns: dict[str, Sequence[Any]]
    """What metrics may ask for by name."""


class Evaluator:
    """Scores a run on one split, with any number of searches."""

    def __init__(self, run: Run, split: str, *, gold: Sequence[Alignment] | None = None, batch: int = 64) -> None:
        self.run = run
        self.split = split
        self.batch = batch
        self.corpus = load_corpus(run.config.data, tokens=run.config.tokenizer.kind)
        if self.corpus.sha256 != run.description["corpus_sha256"]:
            raise RegardError(
                f"{run.path}: the corpus has changed since this run was trained (sha256 {self.corpus.sha256[:8]}, want "
                f"{run.description['corpus_sha256'][:8]}); what is tested may have been trained on. Train a new run."
            )
        self.data: Split = self.corpus[split]
        if not len(self.data):
            raise RegardError(f"{run.path}: split '{split}' has no pairs, want at least 1.")
        if gold is not None and len(gold) != len(self.data):
            raise RegardError(f"alignments: got {len(gold)} lines, want {len(self.data)}, one for each pair.")
        self.translator = Translator.open(run.path)
        self._gold = gold
        self._reading: Reading | None = None

    def read(self, *, tick: Tick = lambda _: None) -> Reading:
        """Read the references, once."""
        if self._reading is None:
            self._reading = self._read(self._gold, tick)
        return self._reading

    def evaluate(self, strategy: Strategy, *, tick: Tick = lambda _: None) -> Evaluation:
        """Translate the split and compute every metric that the data allows."""
        reading = self.read()
        clock = time.perf_counter()
        translations = []
        for translation in self.translator.translate_all(self.data.sources, strategy, batch=self.batch):
            translations.append(translation)
            tick(len(translations))
        seconds = time.perf_counter() - clock
        columns = reading.columns | self._columns(translations)
        metrics = [METRICS[name]() for name in METRICS if set(METRICS[name].takes) <= set(columns)]
        statistics = {m.name: m.statistics(*(columns[c] for c in m.takes)) for m in metrics}
        context = self._context(strategy)
        generator = np.random.default_rng(RESAMPLINGS_SEED)
        lengths = buckets([self._length(t) for t in reading.references], EDGES)
        return Evaluation(
            split=self.split,
            search="-".join(filter(None, (str(strategy), self._gold_name()))),
            scores={m.name: m.score(statistics[m.name], context=context, generator=generator) for m in metrics},
            by_length={m.name: m.score_buckets(statistics[m.name], lengths, context=context) for m in metrics},
            seconds=seconds,
            translations=tuple(translations),
            references=self.data.targets,
            sentence_scores={m.name: _each(m, statistics[m.name]) for m in metrics},
        )

    def _read(self, gold: Sequence[Alignment] | None, tick: Tick) -> Reading:
        references = self.translator.score_all(self.data.sources, self.data.targets, batch=self.batch, tick=tick)
        if gold is None and self.data.links is not None:
            gold = [Alignment(links) for links in self.data.links]
        columns: dict[str, Sequence[Any]] = {
            "nats": [-t.log_prob for t in references],
            "tokens": [len(t.token_log_probs) for t in references],
            "weights": [self._weights(t) for t in references],
        }
        if gold is not None:
            columns |= {"gold": gold, "links": [strongest_links(w) for w in columns["weights"]]}
        return Reading(tuple(references), columns)

    def _length(self, translation: Translation) -> int:
        return len(translation.source if self.corpus.unit == "character" else translation.words.source)

    def _weights(self, translation: Translation) -> np.ndarray[Any, Any]:
        """Return the mean attention of the heads in the unit that the corpus aligns."""
        view = translation.attention if self.corpus.unit == "character" else translation.words.attention
        mean: np.ndarray[Any, Any] = view.mean(axis=0)
        return mean

    def _columns(self, translations: list[Translation]) -> dict[str, Sequence[Any]]:
        columns: dict[str, Sequence[Any]] = {
            "hypothesis_tokens": [tuple(self.translator.tokenizers.target.tokens(t.text)) for t in translations],
            "reference_tokens": [t.tokens for t in self.read().references],
        }
        if self.corpus.unit == "word":  # BLEU and its like count words; strings of letters have none
            columns |= {"hypothesis": [t.text for t in translations], "reference": self.data.targets}
        return columns

    def _gold_name(self) -> str | None:
        """Tell alignments given by the user from the corpus's own: their scores do not compare."""
        if self._gold is None:
            return None
        lines = "\n".join(map(str, self._gold))
        return f"given-{hashlib.sha256(lines.encode()).hexdigest()[:8]}"

    def _context(self, strategy: Strategy) -> Signature:
        config = self.run.config
        return Signature.of(
            split=self.split,
            corpus=f"{self.corpus.name}-{self.corpus.sha256[:8]}",
            search=str(strategy),
            tokens=f"{config.tokenizer.kind}-{_fingerprint(self.translator.tokenizers.target)}",
            gold=self._gold_name(),
            seed=config.train.seed,
            regard=regard.__version__,
        )


def _fingerprint(tokenizer: Tokenizer) -> str:
    """Return size and hash of a vocabulary: token scores compare only between equal ones."""
    pieces = "\n".join(tokenizer.pieces(range(tokenizer.size)))
    return f"{tokenizer.size}-{hashlib.sha256(pieces.encode()).hexdigest()[:8]}"


def _each(metric: Metric[Any], statistics: np.ndarray[Any, Any]) -> list[float | None]:
    """Return the value of every sentence; None where it has none."""
    return [None if np.isnan(value) else round(float(value), 4) for value in metric.aggregate(statistics)]


@dataclass(frozen=True, slots=True)
class SearchErrors:
    """What a wider search found that the narrower one had missed."""

    better_score: int
    """Sentences with a hypothesis of higher model score."""
    worse_bleu: int
    """How many of these have a lower BLEU all the same (token accuracy for strings): the model errs, not the search."""


def search_errors(evaluations: Sequence[Evaluation]) -> list[SearchErrors]:
    """Compare each evaluation with the one before it, sentence by sentence."""
    return [_found(narrow, wide) for narrow, wide in pairwise(evaluations)]


def _found(narrow: Evaluation, wide: Evaluation) -> SearchErrors:
    gain = np.array([w.score - n.score for n, w in zip(narrow.translations, wide.translations, strict=True)])
    measure = "bleu" if "bleu" in wide.sentence_scores else "token_accuracy"
    quality = np.array(wide.sentence_scores[measure]) - np.array(narrow.sentence_scores[measure])
    is_better = gain > 1e-4
    return SearchErrors(int(is_better.sum()), int((is_better & (quality < 0)).sum()))
