"""What may be asked of the service and what it answers, names as on the command line."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from regard.config import Frozen
from regard.data.corpus import Recipe
from regard.errors import RegardError, did_you_mean
from regard.pictures.examples import diagram_of
from regard.pictures.html import attention_data
from regard.pictures.tree import best_of, columns_of, nodes_of
from regard.run import DEFAULT, Run
from regard.search import Length, Sampling
from regard.search.strategy import Strategy, strategy_of
from regard.translate import Translator, Unknown
from regard.translation import Translation

MOST_CHARACTERS, MOST_TEXTS, WIDEST, WIDEST_TREE = 1_000, 100, 50, 20
LONGEST = Length(ratio=4.0, offset=1_000)
RANKING = ("length_penalty", "gnmt", "coverage")
SEARCH = ("n_best", *RANKING, "max_length", "min_length", "no_repeat", "unknown")
Answer = dict[str, Any]
T = TypeVar("T")


def _sentence(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"got {len(text):,} characters, want at most {MOST_CHARACTERS:,} a sentence.")
    if len(text.splitlines()) > 1:
        raise ValueError("got several lines, want one sentence; a list of texts may hold several.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("got nothing, want a sentence.")
    return text


def _texts(text: Any) -> Any:
    """Check before pydantic tries both types, so that a mistake is told once."""
    texts = text if isinstance(text, list) else [text]
    if not all(isinstance(each, str) for each in texts):
        raise ValueError("want a sentence, or a list of sentences.")
    if len(texts) > MOST_TEXTS:
        raise ValueError(f"got {len(texts):,} texts, want at most {MOST_TEXTS}; ask several times.")
    for each in texts:
        _sentence(each)
    return text


def _length(value: Any) -> Length:
    try:
        length = Length.parse(str(value))
    except RegardError as error:
        raise ValueError(str(error)) from None
    if length.ratio > LONGEST.ratio or length.offset > LONGEST.offset:
        raise ValueError(f"got '{value}', want at most {LONGEST.ratio:g}x+{LONGEST.offset}.")
    return length


Sentence = Annotated[str, AfterValidator(_sentence)]
SomeSentence = Annotated[Sentence, AfterValidator(_not_blank)]
Texts = Annotated[str | list[str], BeforeValidator(_texts)]
SomeLength = Annotated[str | int, AfterValidator(_length)]


class Question(Frozen):
    """How to search, and with which model."""

    model: str = ""
    """Name of a model; the first one where none is named."""
    beam: int = Field(5, ge=1, le=WIDEST)
    n_best: int = Field(1, ge=1, le=WIDEST)
    length_penalty: float | None = Field(None, ge=0, le=10)
    gnmt: bool = False
    coverage: float = Field(0.0, ge=0, le=10)
    max_length: SomeLength | None = None
    min_length: SomeLength | None = None
    no_repeat: int | None = Field(None, ge=1, le=100)
    unknown: Literal["show", "forbid", "replace"] = "show"
    prefix: Sentence = ""

    def strategy(self, sampling: Sampling | None = None, seed: int = 1) -> Strategy:
        """Return the search that is asked for."""
        if sampling:
            self.refuse(("beam", *RANKING), "has no effect with sample, which draws translations and compares none.")
        elif self.beam == 1:
            self.refuse(RANKING, "has no effect on greedy search, which has nothing to compare; want a beam >= 2.")
        return strategy_of(
            width=1 if sampling else self.beam,
            sampling=sampling,
            seed=seed,
            **{name: getattr(self, name) for name in SEARCH},
        )

    def refuse(self, keys: Sequence[str], reason: str) -> None:
        """Refuse keys that would change nothing, as the command line does."""
        for key in keys:
            if key in self.model_fields_set:
                raise RegardError(f"{key}: {reason}")

    @property
    def shows_unknown(self) -> Unknown:
        """What is done with unknown words that the search has produced."""
        return "replace" if self.unknown == "replace" else "show"


class TranslateQuestion(Question):
    """`regard translate --json`."""

    text: Texts
    sample: bool = False
    temperature: float = Field(1.0, gt=0, le=100)
    top_k: int | None = Field(None, ge=1)
    top_p: float = Field(1.0, gt=0, le=1)
    seed: int = Field(1, ge=0)


class ShowQuestion(Question):
    """`regard show`: attention between words, or between tokens as they are."""

    text: Sentence
    tokens: bool = False


class TreeQuestion(Question):
    """`regard show --tree`."""

    text: SomeSentence
    beam: int = Field(5, ge=1, le=WIDEST_TREE)
    pruned: int = Field(3, ge=0, le=WIDEST_TREE)
    """How many of what each step threw away, the best first."""


class ChoicesQuestion(Frozen):
    """What may come after a beginning of the translation."""

    model: str = ""
    text: SomeSentence
    prefix: Sentence = ""
    count: int = Field(8, ge=1, le=WIDEST)


@dataclass(frozen=True, slots=True)
class Served:
    """A model that is loaded."""

    name: str
    run: Run
    translator: Translator

    def describe(self) -> Answer:
        """Return what is known of the model without asking it."""
        config, described = self.run.config, self.run.description
        data, (model,) = config.data, self.translator.models
        assert isinstance(data, Recipe)
        source, target = data.languages
        return {
            "name": self.name,
            "corpus": data.corpus,
            "source": source,
            "target": target,
            "weights": self.run.size,
            "vocabulary": [described["source_vocabulary"], described["target_vocabulary"]],
            "tokenizer": config.tokenizer.kind,
            "attention": config.model.attention,
            "heads": model.decoder.attention.heads,
            "decoder": config.model.decoder,
            "hidden": config.model.hidden,
            "scores": self.run.scores(),
            "card": self.run.card,
        }

    def translate(self, asked: TranslateQuestion) -> Answer | list[Answer]:
        """Answer a text with an object, a list with a list."""
        if not asked.sample:
            asked.refuse(("temperature", "top_k", "top_p", "seed"), "has no effect without sample.")
        sampling = Sampling(asked.temperature, asked.top_k, asked.top_p) if asked.sample else None
        texts = [asked.text] if isinstance(asked.text, str) else asked.text
        done = self.translator.translate_all(
            texts, asked.strategy(sampling, asked.seed), unknown=asked.shows_unknown, prefix=asked.prefix
        )
        answers = [each.to_json() for each in done]
        return answers[0] if isinstance(asked.text, str) else answers

    def show(self, asked: ShowQuestion) -> Answer:
        """Return the n best translations, each with its diagram."""
        best = self.translator.translate(asked.text, asked.strategy(), unknown=asked.shows_unknown, prefix=asked.prefix)
        return {
            "model": self.name,
            "source": best.source,
            "has_attention": self.run.config.model.attention != "none",
            "translations": [self._shown(each, as_tokens=asked.tokens) for each in (best, *best.alternatives)],
        }

    def _shown(self, one: Translation, *, as_tokens: bool) -> Answer:
        found = {"text": one.text, "words": one.aligned.target, "score": one.score, "log_prob": one.log_prob}
        diagram = attention_data(diagram_of(one, joins_pieces=not as_tokens)) if one.has_words else None
        return found | {"finished": one.is_finished, "diagram": diagram}

    def tree(self, asked: TreeQuestion) -> Answer:
        """Return the beam search step by step: what was kept, and the best of what was not."""
        translation, recorder = self.translator.tree(asked.text, asked.strategy(), prefix=asked.prefix)
        found, pieces = recorder.tree(), self.translator.tokenizers.target.pieces
        nodes = nodes_of(found, lambda token: pieces([token])[0], best=best_of(found, translation.score))
        columns = columns_of(nodes, pruned=asked.pruned)
        weighed = Counter(node.step for node in nodes)
        return {
            "model": self.name,
            "text": translation.text,
            "steps": [
                {"weighed": weighed[column[0].step], "nodes": [asdict(node) for node in column]} for column in columns
            ],
        }

    def choices(self, asked: ChoicesQuestion) -> Answer:
        """Return the most probable tokens after the prefix and what comes of them."""
        found = self.translator.choices(asked.text, asked.prefix, count=asked.count)
        return {"model": self.name, "choices": [each.to_json() for each in found]}


class GivenUp(Exception):
    """Nobody waits for this answer any more."""


class Models:
    """All models of the service and the one thread that uses them: questions are answered in turn, each alone."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        runs = list({run.path.resolve(): run for run in map(Run.open, paths or (DEFAULT,))}.values())
        names = [run.path.resolve().name for run in runs]
        names = names if len(set(names)) == len(names) else [str(run.path) for run in runs]
        self.all = {name: Served(name, run, Translator.open(run.path)) for name, run in zip(names, runs, strict=True)}
        self.descriptions = [served.describe() for served in self.all.values()]
        for served in self.all.values():
            served.translator.models[0].output.register_forward_pre_hook(self._go_on)  # once a step of every search
        self._given_up = Event()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="model")

    def __getitem__(self, name: str) -> Served:
        """Return a model by name; an empty name means the first."""
        if name and name not in self.all:
            raise RegardError(f"model: got '{name}'. {did_you_mean(name, self.all)}")
        return self.all[name] if name else next(iter(self.all.values()))

    def close(self) -> None:
        """End the thread."""
        self._worker.shutdown()

    async def answer(self, work: Callable[[T], Any], asked: T, *, hung_up: Callable[[], Awaitable[Any]]) -> Any:
        """Answer when all earlier questions are answered; one whose asker has hung up is dropped, begun or not."""
        given_up = Event()
        answer = asyncio.get_running_loop().run_in_executor(self._worker, self._work, work, asked, given_up)
        gone = asyncio.ensure_future(hung_up())
        await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            gone.cancel()
            return answer.result()
        given_up.set()
        answer.cancel()
        return None

    def _work(self, work: Callable[[T], Any], asked: T, given_up: Event) -> Any:
        self._given_up = given_up
        self._go_on()  # a question may be given up before its turn comes and yet not be cancelled in time
        return work(asked)

    def _go_on(self, *_: object) -> None:
        if self._given_up.is_set():
            raise GivenUp
