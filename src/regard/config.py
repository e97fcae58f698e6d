"""What an experiment is: frozen, closed models read from TOML and ``key=value``; every problem is told at once."""

import os
import tomllib
from collections.abc import Collection, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from regard.errors import RegardError, did_you_mean
from regard.parts import ATTENTIONS, CELLS, CORPORA, DECODERS, NORMALISERS, SCHEDULES, TOKENIZERS
from regard.registry import Registry


class Frozen(BaseModel):
    """A model whose keys are closed and whose values never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def one_of(registry: Registry) -> AfterValidator:
    """Accept the names of a registry only."""

    def check(name: str) -> str:
        if name not in registry:
            raise ValueError(f"got '{name}'. {did_you_mean(name, registry)}")
        return name

    return AfterValidator(check)


Share = Annotated[float, Field(ge=0, lt=1)]


def _absolute(path: str) -> str:
    return str(Path(os.path.expanduser(path)).absolute()) if path else ""  # as it is for a user who is not there


Place = Annotated[str, AfterValidator(_absolute)]
"""A file or directory, kept as an absolute path: a run must find its data from wherever it is looked at."""


class DataConfig(Frozen):
    """Which corpus. Each corpus adds its own keys; see `regard list corpora`."""

    corpus: Annotated[str, one_of(CORPORA)]
    """Name of the corpus."""
    swap: bool = False
    """Whether source and target change places: the other direction of the same pairs, with the same held out."""
    extra: Place = ""
    """More training pairs, lines of source<TAB>target (not swapped), for example made by `regard diversify`."""
    bare: Share = 0.0
    """Share of the training pairs with a full stop on both sides that lose it: who types may leave it out."""
    phrases: NonNegativeInt = 0
    """Train on short phrases as well that occur together in at least so many training pairs, 2 or more; 0 for none."""

    @field_validator("phrases")
    @classmethod
    def _more_than_once(cls, count: int) -> int:
        if count == 1:
            raise ValueError("got 1, want 0 for none, or 2 or more: what occurs once is chance.")
        return count


class TokenizerConfig(Frozen):
    """How text becomes tokens."""

    kind: Annotated[str, one_of(TOKENIZERS)] = "word"
    """Name of the tokenizer."""
    lowercase: bool = False
    """Whether all text is lower-cased first."""
    minimum_count: PositiveInt = 1
    """Word and character: tokens seen less often in training become unknown."""
    vocabulary: PositiveInt = 6000
    """Subword: pieces in the joint vocabulary, the four special ones included."""
    dropout: Share = 0.0
    """Subword: share of merges skipped at random in training."""

    @model_validator(mode="after")
    def _only_pieces_drop_out(self) -> "TokenizerConfig":
        if self.dropout and self.kind != "subword":
            raise ValueError(f"dropout: got {self.dropout} with kind '{self.kind}', want 0 unless kind is subword.")
        return self


class ModelConfig(Frozen):
    """Sizes and parts of the network."""

    cell: Annotated[str, one_of(CELLS)] = "gru"
    """Recurrent cell of encoder and decoder."""
    embedding: PositiveInt = 256
    """Size of a word embedding."""
    embedding_gain: PositiveFloat = 1.0
    """Factor on embeddings where they are read. They have length 1 at first; larger ones are learnt from sooner."""
    encoder_hidden: PositiveInt = 512
    """Encoder state, each way."""
    encoder_layers: PositiveInt = 1
    """Layers of the encoder."""
    bidirectional: bool = True
    """Whether the encoder reads both ways."""
    decoder: Annotated[str, one_of(DECODERS)] = "after"
    """How attention is wired into the decoder."""
    hidden: PositiveInt = 512
    """Decoder state."""
    decoder_layers: PositiveInt = 1
    """Layers of the decoder."""
    attention: Annotated[str, one_of(ATTENTIONS)] = "scaled_dot"
    """Attention mechanism."""
    attention_size: PositiveInt = 512
    """Size of keys and queries, all heads together."""
    heads: PositiveInt = 1
    """Heads of multi_head, which has 4 where nothing is said."""
    normalise: Annotated[str, one_of(NORMALISERS)] = "softmax"
    """How scores become weights."""
    dropout: Share = 0.0
    """Dropout on embeddings and between layers."""
    memory_dropout: Share = 0.0
    """Dropout on the encoder outputs that attention reads."""
    variational: bool = False
    """Whether these two hit the same numbers at every step of a sentence."""
    word_dropout: Share = 0.0
    """Share of words, source and target, that are not read in training: their embedding is 0."""
    feature_dropout: Share = 0.0
    """Dropout on what the output layer sees, and around the readout."""
    readout: NonNegativeInt = 0
    """Size of a tanh layer before the output layer; 0 for none."""
    tie: Literal["none", "output", "all"] = "none"
    """Share embeddings: target with output, or source as well."""
    lexicon: NonNegativeFloat = 0.0
    """Strength of a short way from attended source words to the output layer; 0 for none."""
    lexicon_gate: bool = False
    """Whether the model learns when to take that way, if there is one; at the end there is nothing left to say."""

    @model_validator(mode="before")
    @classmethod
    def _several_heads(cls, values: Any) -> Any:
        is_several = isinstance(values, Mapping) and values.get("attention") == "multi_head"
        return {"heads": 4, **values} if is_several else values

    @model_validator(mode="after")
    def _lexicon_needs_embeddings(self) -> "ModelConfig":
        if self.lexicon and self.tie == "none":
            raise ValueError(f"lexicon: got {self.lexicon:g} with tie 'none', want 0 unless tie is output or all.")
        return self

    @property
    def memory(self) -> int:
        """Size of an encoder output."""
        return self.encoder_hidden * (2 if self.bidirectional else 1)

    @model_validator(mode="after")
    def _parts_fit(self) -> "ModelConfig":
        if self.heads > 1 and self.attention != "multi_head":
            raise ValueError(f"heads: got {self.heads} with attention '{self.attention}', want 1 or multi_head.")
        if self.attention == "multi_head" and self.attention_size % self.heads:
            raise ValueError(f"attention_size: got {self.attention_size}, want a multiple of heads = {self.heads}.")
        if self.attention == "dot" and self.memory != self.hidden:
            raise ValueError(
                f"hidden: got {self.hidden}, want {self.memory}, the size of an encoder output, since dot attention "
                "compares the two as they are. Or use scaled_dot or bilinear, which project."
            )
        return self


class TrainConfig(Frozen):
    """How the network is trained."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Seed of the weights, the batches and the dropout."""
    start: Literal["random", "cooccurrence"] = "random"
    """How embeddings begin: at random, or alike for words that occur in the same pairs of sentences."""
    epochs: NonNegativeInt = 10
    """Passes over the training data; 0, the default with `minutes`, for as many as the time allows."""
    minutes: NonNegativeFloat = 0.0
    """Time budget that the schedule is fitted to; 0 for none. If `epochs` is given too, what ends first counts."""
    batch: PositiveInt = 128
    """Size of a batch, in `batch_unit`."""
    batch_unit: Literal["sentences", "tokens"] = "sentences"
    """What `batch` counts: sentence pairs, or at most so many tokens of the longer side with their padding."""
    max_length: PositiveInt = 200
    """Training pairs with more tokens on either side are left out, and counted."""
    learning_rate: PositiveFloat = 1e-3
    """Highest learning rate."""
    schedule: Annotated[str, one_of(SCHEDULES)] = "constant"
    """Course of the learning rate after the warm-up."""
    warmup_steps: NonNegativeInt = 0
    """Steps over which the learning rate rises; with `minutes`, at most a tenth of the time."""
    beta2: Annotated[float, Field(gt=0, lt=1)] = 0.999
    """Adam's decay of the squared gradient."""
    weight_decay: NonNegativeFloat = 0.0
    """AdamW's weight decay."""
    clip: NonNegativeFloat = 1.0
    """Largest norm of the gradient; 0 for no limit."""
    label_smoothing: Share = 0.0
    """Probability spread over all words in the training loss."""
    ema: Share = 0.0
    """Decay of the weight average that is evaluated and kept; 0 for none."""
    patience: NonNegativeInt = 0
    """Epochs without a lower validation loss before training stops; 0 for never."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Number format of the matrix products; auto is bfloat16 where the processor has it."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where to compute."""
    threads: NonNegativeInt = 0
    """Processor threads; 0 for torch's choice."""

    @model_validator(mode="before")
    @classmethod
    def _time_alone_decides(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and values.get("minutes") and "epochs" not in values:
            return {**values, "epochs": 0}
        return values

    @model_validator(mode="after")
    def _comes_to_an_end(self) -> "TrainConfig":
        if not self.epochs and not self.minutes:
            raise ValueError("epochs: got 0, want at least 1, or minutes to train for.")
        return self


class Config(Frozen):
    """A whole experiment."""

    data: SerializeAsAny[DataConfig]
    """The corpus and its options."""
    tokenizer: TokenizerConfig = TokenizerConfig()
    """How text becomes tokens."""
    model: ModelConfig = ModelConfig()
    """The network."""
    train: TrainConfig = TrainConfig()
    """The training."""

    def flat(self) -> dict[str, Any]:
        """Return every value by its whole key, such as train.epochs."""
        tree = self.model_dump(mode="json")
        return {f"{section}.{key}": value for section, values in tree.items() for key, value in values.items()}

    @model_validator(mode="after")
    def _embeddings_can_be_shared(self) -> "Config":
        if self.model.tie == "all" and self.tokenizer.kind != "subword":
            raise ValueError("model.tie: got 'all', want 'output' or 'none' unless tokenizer.kind is subword.")
        return self


DEPENDENT = {"model.attention": "heads", "model.tie": "lexicon", "train.minutes": "epochs"}
"""Overriding the first key frees the second, which the experiment set for its own choice of the first."""
OF_EVERY_CORPUS = {"swap", "bare", "phrases"}
"""Keys of `data` that do not depend on which corpus it is."""


def short_names(keys: Collection[str]) -> dict[str, str]:
    """Return key -> its last part, or the whole key where two end alike."""
    short = {key: key.split(".")[-1] for key in keys}
    return short if len(set(short.values())) == len(short) else {key: key for key in keys}


def presets() -> dict[str, str]:
    """Return the built-in experiments: name -> TOML text."""
    folder = resources.files("regard") / "presets"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {f.name.removesuffix(".toml"): f.read_text(encoding="utf-8") for f in files}


def load_config(experiment: str, overrides: Iterable[str] = ()) -> Config:
    """Read a preset or a TOML file and lay ``key=value`` overrides over it."""
    tree = _read(experiment)
    given = dict(map(_parse, overrides))
    for key, value in given.items():
        _let_go(tree, key, value)
    for key, value in given.items():
        _lay_over(tree, key, value)
    return resolve(tree, where=experiment)


def resolve(tree: Mapping[str, Any], *, where: str) -> Config:
    """Turn nested values into a Config; a RegardError names every problem."""
    problems: list[str] = []
    data = _check(_corpus_options(tree.get("data")), tree.get("data", {}), ("data",), problems)
    config = _check(Config, {**tree, "data": data or DataConfig(corpus="scenes")}, (), problems)
    if problems:
        raise RegardError("\n".join(f"{where}: {problem}" for problem in problems))
    assert isinstance(config, Config)
    return config


def _corpus_options(data: Any) -> type[DataConfig]:
    """Return the options of the corpus that is asked for; each corpus has its own."""
    name = data.get("corpus") if isinstance(data, Mapping) else None
    options: type[DataConfig] = CORPORA[name] if isinstance(name, str) and name in CORPORA else DataConfig
    return options


def _check(model: type[Frozen], values: Any, path: tuple[str, ...], problems: list[str]) -> Frozen | None:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problems += [problem(e, model, path) for e in error.errors()]
        return None


def _read(experiment: str) -> dict[str, Any]:
    path = Path(experiment)
    if experiment.endswith(".toml"):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise RegardError(f"{experiment}: cannot read the configuration ({reason}).") from None
    else:
        known = presets()
        if experiment not in known:
            hint = did_you_mean(experiment, known)
            raise RegardError(f"Unknown preset '{experiment}'. {hint} A file's name must end in .toml.")
        text = known[experiment]
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RegardError(f"{experiment}: not valid TOML: {error}.") from None


def _parse(override: str) -> tuple[str, Any]:
    key, equals, text = override.partition("=")
    path = [part.strip() for part in key.split(".")]
    if not equals or not all(path):
        raise RegardError(f"'{override}': want key=value, such as train.epochs=5.")
    if len(text.strip().splitlines()) > 1:
        raise RegardError(f"{'.'.join(path)}: got a value of several lines, want one line.")
    value = _value(text.strip())
    if isinstance(value, dict) or (len(path) == 1 and path[0] in Config.model_fields):
        raise RegardError(f"'{override}': want one value for one key, such as train.epochs=5.")
    return ".".join(path), value


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _let_go(tree: dict[str, Any], key: str, value: Any) -> None:
    """Drop what the experiment says only because of the value that now changes; what the user says stays."""
    section, name = tree.get(key.partition(".")[0]), key.partition(".")[2]
    if not isinstance(section, dict) or not value or section.get(name) == value:
        return
    if key == "data.corpus":
        for one in section.keys() - OF_EVERY_CORPUS:
            del section[one]
    else:
        section.pop(DEPENDENT.get(key), None)


def _lay_over(tree: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for part in path:
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise RegardError(f"'{key}={value}': '{part}' is a value, not a section.")
    tree[last] = value


def problem(error: Any, model: Any, above: tuple[str, ...] = ()) -> str:
    """Say in one line what pydantic found in the values of a model, which are themselves below other keys."""
    path = [str(part) for part in error["loc"]]
    key, reason = ".".join((*above, *path)), str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        for part in path[:-1]:
            model = model.model_fields[part].annotation
        reason = f"unknown key. {did_you_mean(path[-1], model.model_fields)}"
    elif error["type"] == "missing":
        reason = "missing, and has no default."
    elif error["type"] != "value_error":
        reason = f"got {error['input']!r}. {reason}."
    return f"{key}: {reason}" if key else reason
