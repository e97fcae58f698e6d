"""Run x split x search x metrics -> Evaluation: numbers that carry their signature, and what they were made of."""

import hashlib
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import regard
from regard.data.corpus import Split
from regard.data.tested import is_own, load_tested, named
from regard.data.tokenizers import Tokenizer
from regard.data.words import split_words
from regard.errors import RegardError
from regard.metrics.alignment import Alignment, read_pharaoh, strongest_links
from regard.metrics.base import Metric, Score, buckets
from regard.metrics.signature import Signature
from regard.parts import METRICS
from regard.run import Run
from regard.search.strategy import Strategy
from regard.translate import Tick, Translator
from regard.translation import Translation

EDGES = (5, 10, 15, 20, 30)
"""Greatest source lengths of the buckets, in the unit of the corpus: words or characters."""
RESAMPLINGS_SEED = 1


@dataclass(frozen=True, slots=True)
class SearchErrors:
    """What a wider search found that a narrower one had missed."""

    better_score: int
    """Sentences with a hypothesis of higher model score."""
    worse_quality: int
    """How many of these score worse all the same: there the model errs, not the search."""
    metric: str
    """What says so, sentence by sentence."""


@dataclass(frozen=True)
class Evaluation:
    """How a run does on a split with one search."""

    split: str
    search: str
    metric: str
    """The score to look at first: BLEU as the model writes, or token accuracy for strings."""
    scores: dict[str, Score]
    by_length: dict[str, dict[str, Score]]
    """Metric -> bucket of source length -> score."""
    seconds: float
    """Time of the search alone."""
    translations: tuple[Translation, ...] = field(repr=False)
    references: tuple[str, ...] = field(repr=False)
    sentence_scores: dict[str, list[float | None]] = field(repr=False)
    """Metric -> value of each sentence, for what compares systems."""
    search_errors: dict[str, SearchErrors] = field(default_factory=dict)
    """Narrower search -> what it missed."""
    epoch: str | None = None
    """After which epoch the weights were stored; None where they do not tell."""

    @property
    def name(self) -> str:
        """Name of the stored file."""
        return f"{self.split}-{self.search}"

    def to_json(self) -> dict[str, Any]:
        """Return plain values, hypotheses included."""
        return {
            "split": self.split,
            "search": self.search,
            "metric": self.metric,
            "epoch": self.epoch,
            "seconds": self.seconds,
            "search_errors": {name: asdict(errors) for name, errors in self.search_errors.items()},
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

    def __init__(
        self, run: Run, split: str, *, also: Sequence[Run] = (), alignments: Path | None = None, batch: int = 64
    ) -> None:
        """Take a run, ``also`` others that speak as one with it, and gold alignments instead of the corpus's own.

        Whatever is wrong with these is said here, before any search.
        """
        self.run = run
        self.also = tuple(also)
        self.batch = batch
        self.corpus = load_tested(run.config.data, split, tokens=run.config.tokenizer.kind)
        self._trained_on: str | None = None
        if not is_own(split):
            self._trained_on = f"{self.corpus.name}-{self.corpus.sha256[:8]}"
            for each in (run, *also):
                check_corpus(each, self.corpus.sha256)
        self.data: Split = self.corpus[split]
        self.split = named(split, self.data)
        if not len(self.data):
            raise RegardError(f"{run.path}: split '{split}' has no pairs, want at least 1.")
        self._gold = None if alignments is None else self._read_gold(alignments)
        self._epoch = run.best_epoch  # told before the weights are read: a training may go on meanwhile
        self.translator = Translator.open(run.path, *(each.path for each in also))
        self._reading: Reading | None = None

    def _read_gold(self, path: Path) -> tuple[Alignment, ...]:
        gold = read_pharaoh(path, sentences=len(self.data))
        cut = list if self.corpus.unit == "character" else split_words
        for number, (alignment, *texts) in enumerate(zip(gold, self.data.sources, self.data.targets, strict=True), 1):
            source, target = (len(cut(text)) for text in texts)
            for s, t in sorted(alignment.possible):
                if s >= source or t >= target:
                    raise RegardError(
                        f"{path}, line {number}: got the link {s}-{t} for {source} source and {target} target "
                        f"{self.corpus.unit}s, want links within the sentences, counted from 0."
                    )
        return gold

    def read(self, *, tick: Tick = lambda _: None) -> Reading:
        """Read the references, once."""
        if self._reading is None:
            self._reading = self._read(self._gold, tick)
        return self._reading

    def evaluate(
        self, strategy: Strategy, *, narrower: Sequence[Evaluation] = (), tick: Tick = lambda _: None
    ) -> Evaluation:
        """Translate the split, compute every metric that the data allows, and see what ``narrower`` searches missed."""
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
        evaluation = Evaluation(
            split=self.split,
            search="-".join(filter(None, (str(strategy), self._ensemble_name("ensemble"), self._gold_name()))),
            metric=usual_metric(statistics, is_lowercase=self.run.config.tokenizer.lowercase),
            scores={m.name: m.score(statistics[m.name], context=context, generator=generator) for m in metrics},
            by_length={
                m.name: m.score_buckets(statistics[m.name], lengths, context=context, generator=generator)
                for m in metrics
            },
            seconds=seconds,
            translations=tuple(translations),
            references=self.data.targets,
            sentence_scores={m.name: _each(m, statistics[m.name]) for m in metrics},
            epoch=self._epoch,
        )
        others = (*narrower[:1], *narrower[1:][-1:])
        return replace(evaluation, search_errors={other.search: _missed(other, evaluation) for other in others})

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
        return f"given-{_short_hash(lines)}"

    def _ensemble_name(self, prefix: str = "") -> str | None:
        """Tell ensembles apart by how many runs there are and which."""
        if not self.also:
            return None
        runs = [f"{run.description['created']} {run.config.model_dump_json()}" for run in self.also]
        return f"{prefix}{len(runs) + 1}-{_short_hash(chr(10).join(runs))}"

    def _context(self, strategy: Strategy) -> Signature:
        config = self.run.config
        return Signature.of(
            split=self.split,
            corpus=self._trained_on,
            search=str(strategy),
            ensemble=self._ensemble_name(),
            tokens=f"{config.tokenizer.kind}-{_fingerprint(self.translator.tokenizers.target)}",
            gold=self._gold_name(),
            seed=config.train.seed,
            regard=regard.__version__,
        )


def _fingerprint(tokenizer: Tokenizer) -> str:
    """Return size and hash of a vocabulary: token scores compare only between equal ones."""
    pieces = "\n".join(sorted(tokenizer.pieces(range(tokenizer.size))))
    return f"{tokenizer.size}-{_short_hash(pieces)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def check_corpus(run: Run, sha256: str) -> None:
    """Refuse a corpus that is not the one the run was trained on."""
    if sha256 != run.description["corpus_sha256"]:
        raise RegardError(
            f"{run.path}: the corpus has changed since this run was trained (sha256 {sha256[:8]}, want "
            f"{run.description['corpus_sha256'][:8]}); what is tested may have been trained on. Train a new run."
        )


def _each(metric: Metric[Any], statistics: np.ndarray[Any, Any]) -> list[float | None]:
    """Return the value of every sentence; None where it has none."""
    return [None if np.isnan(value) else round(float(value), 4) for value in metric.each(statistics)]


def usual_metric(names: Collection[str], *, is_lowercase: bool) -> str:
    """Choose BLEU, in lower case where a model writes nothing else; strings of letters have token accuracy."""
    if "bleu" not in names:
        return "token_accuracy"
    return "bleu_lc" if is_lowercase else "bleu"


def _missed(narrow: Evaluation, wide: Evaluation) -> SearchErrors:
    """Compare two evaluations sentence by sentence."""
    gain = np.array([w.score - n.score for n, w in zip(narrow.translations, wide.translations, strict=True)])
    quality = np.subtract(*(np.array(each.sentence_scores[wide.metric], dtype=float) for each in (wide, narrow)))
    is_better = gain > 1e-4
    return SearchErrors(int(is_better.sum()), int((is_better & (quality < 0)).sum()), wide.metric)
