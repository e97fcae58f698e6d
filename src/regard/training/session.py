"""A training as a user means it: corpus, tokenizers, run directory, checkpoints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from regard.config import Config
from regard.data.batches import EncodedPairs
from regard.data.corpus import Corpus, Split, load_corpus
from regard.data.enlarged import training_data
from regard.data.tokenizers import Tokenizer, TokenizerPair
from regard.device import choose_device, choose_precision, has_bfloat16
from regard.disk import WriteError
from regard.errors import RegardError
from regard.models.build import build_model
from regard.run import Run
from regard.training.events import Ended, EpochEnded, Event
from regard.training.start import begin_with_cooccurrence
from regard.training.trainer import Checkpoint, Trainer
from regard.training.watch import Watch


@dataclass(frozen=True)
class EncodedCorpus:
    """A corpus as its tokenizers see it, anew for each epoch where subword dropout is on."""

    corpus: Corpus
    tokenizers: TokenizerPair
    dropout: float
    seed: int

    def epoch(self, number: int) -> EncodedPairs:
        """Return the training pairs as this epoch sees them."""
        if not self.dropout:
            return self.plain
        train = self.corpus["train"]
        sides = ((self.tokenizers.source, train.sources, 0), (self.tokenizers.target, train.targets, 1))
        source, target = (self._sample(tokenizer, texts, number, side) for tokenizer, texts, side in sides)
        return EncodedPairs.of(source, target)

    def _sample(self, tokenizer: Tokenizer, texts: tuple[str, ...], epoch: int, side: int) -> list[list[int]]:
        seed = (self.seed * 1_000_003 + epoch) * 2 + side
        return tokenizer.sample_all(texts, dropout=self.dropout, seed=seed % 2**31)

    @cached_property
    def plain(self) -> EncodedPairs:
        """Return the training pairs without subword dropout."""
        return encode_split(self.corpus["train"], self.tokenizers)

    @cached_property
    def validation(self) -> EncodedPairs:
        """Return the validation pairs."""
        return encode_split(self.corpus["validation"], self.tokenizers)


def _check_machine(config: Config) -> None:
    """Refuse what this machine cannot compute."""
    device = choose_device(config.train.device)
    precision = choose_precision(config.train.precision, device)
    if config.model.cell == "lstm" and precision == torch.bfloat16 and not has_bfloat16(device):
        raise RegardError(
            "train.precision: got 'bfloat16' with model.cell 'lstm', which this machine cannot compute; want 'float32'."
        )


def encode_split(split: Split, tokenizers: TokenizerPair) -> EncodedPairs:
    """Turn a split into token ids."""
    return EncodedPairs.of(tokenizers.source.encode_all(split.sources), tokenizers.target.encode_all(split.targets))


def prepare(config: Config) -> tuple[Corpus, TokenizerPair]:
    """Load the corpus and train the tokenizers; what cannot work is refused here, before there is a directory."""
    corpus = load_corpus(config.data, tokens=config.tokenizer.kind)
    tokenizers = TokenizerPair.train(config.tokenizer, corpus["train"].sources, corpus["train"].targets)
    build_model(config.model, source_words=tokenizers.source.size, target_words=tokenizers.target.size)
    _check_machine(config)
    return corpus, tokenizers


class Session:
    """One training bound to its run directory; every event has reached the disk when it is yielded."""

    def __init__(self, run: Run, corpus: Corpus, *, should_stop: Callable[[], bool]) -> None:
        self.run = run
        self.corpus = corpus
        config = run.config
        # Another number of threads adds up in another order: a run keeps the one that it began with.
        threads = run.description.get("threads", config.train.threads)
        if threads:
            torch.set_num_threads(threads)
        torch.manual_seed(config.train.seed)
        pair = run.tokenizers
        model = build_model(config.model, source_words=pair.source.size, target_words=pair.target.size)
        data = EncodedCorpus(corpus, pair, config.tokenizer.dropout, config.train.seed)
        if config.train.start == "cooccurrence":
            begin_with_cooccurrence(model, data.plain, shared=pair.shared)
        as_begun = config.train.model_copy(update={"threads": threads})
        self.trainer = Trainer(model, data, as_begun, should_stop=should_stop)
        self.watch = Watch(corpus, pair)

    @classmethod
    def begin(cls, config: Config, path: Path, *, should_stop: Callable[[], bool] = lambda: False) -> "Session":
        """Load the corpus, train the tokenizers and make the run directory."""
        Run.refuse_existing(path)
        corpus, tokenizers = prepare(config)
        enlarged = training_data(corpus, config.data)
        sums = {"corpus_sha256": corpus.sha256, "training_sha256": enlarged.sha256}
        return cls(Run.create(path, config, tokenizers, **sums), enlarged, should_stop=should_stop)

    @classmethod
    def resume(cls, run: Run, *, should_stop: Callable[[], bool] = lambda: False) -> "Session":
        """Take up a run where its last checkpoint was written."""
        status = run.description["status"]
        if status == "finished":
            raise RegardError(f"{run.path}: finished; there is nothing to resume.")
        if status == "diverged":
            raise RegardError(f"{run.path}: its loss is not a number. Train a new run, at a lower train.learning_rate.")
        corpus = load_corpus(run.config.data, tokens=run.config.tokenizer.kind)
        enlarged, described = training_data(corpus, run.config.data), run.description
        if corpus.sha256 != described["corpus_sha256"]:
            raise RegardError(f"{run.path}: the corpus has changed since this run began; train a new one.")
        if enlarged.sha256 != described.get("training_sha256", corpus.sha256):
            what = run.config.data.extra or "data.bare or data.phrases"
            raise RegardError(f"{what}: gives other training data than when {run.path} began; train a new run.")
        session = cls(run, enlarged, should_stop=should_stop)
        if (run.path / "last.safetensors").exists():
            tensors, metadata = run.load_weights("last")
            checkpoint = Checkpoint(tensors, metadata["progress"])
            if name := session.trainer.misfit(checkpoint):
                place = run.path / "last.safetensors"
                raise RegardError(f"{place}: does not fit config.json at '{name}'; put that back as it was.")
            session.trainer.restore(checkpoint)
        return session

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the data: what was dropped or changed, and what could not be had."""
        asked, size = self.run.config.tokenizer, self.run.tokenizers.source.size
        if asked.kind != "subword" or size >= asked.vocabulary:
            return self.corpus.notes
        note = f"tokenizer.vocabulary: asked for {asked.vocabulary} pieces, the training data yield {size}."
        return (*self.corpus.notes, note)

    def fit(self) -> Iterator[Event]:
        """Train, keep the log and the checkpoints."""
        try:
            yield from self._fit()
        except WriteError as error:
            raise RegardError(f"{error} Put that right; then `regard resume {self.run.path}` goes on.") from None

    def _fit(self) -> Iterator[Event]:
        self.run.describe(status="training")
        for event in self.trainer.fit():
            self.run.log(event.record())  # first: what is logged twice after a crash counts once, what is not is lost
            if isinstance(event, EpochEnded):
                self._keep(event)
            if isinstance(event, Ended):
                if event.reason == "interrupted":
                    self._save_last()
                self.run.describe(status="finished" if event.reason in ("finished", "patience") else event.reason)
            yield event

    def _keep(self, event: EpochEnded) -> None:
        if seen := self.watch.look(self.trainer.model, self.trainer.weights()):
            self.run.log({"epoch": event.epoch, **seen}, "attention")
        if event.is_best:
            self.run.save_weights(self.trainer.weights(), "best", epoch=str(event.epoch))
        self._save_last()

    def _save_last(self) -> None:
        checkpoint = self.trainer.checkpoint()
        self.run.save_weights(checkpoint.tensors, "last", progress=checkpoint.progress)
