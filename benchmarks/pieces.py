"""The data of the comparison with peers: one corpus, cut once into the same pieces for every side."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from regard.config import Config, load_config
from regard.data.batches import EncodedPairs
from regard.data.corpus import load_corpus
from regard.data.multi30k import find
from regard.data.tokenizers import TokenizerPair
from regard.data.vocabulary import SPECIALS, UNK

BATCH = 2500
"""Tokens of the longer side in a batch, with their padding; all three toolkits count like this."""
TEST = 1000
"""Sentences to decode."""
DROPOUT = 0.3


@dataclass(frozen=True)
class Sizes:
    """Sizes that both sides of a comparison have. Encoders read both ways, everything has one layer."""

    encoder: int
    """Encoder state, each way."""
    decoder: int = 512
    embedding: int = 256


OPENNMT, JOEYNMT = Sizes(encoder=256), Sizes(encoder=512)


def config_of(sizes: Sizes, decoder: str) -> Config:
    """Return the experiment that is regard's side, with Luong's general attention and nothing that the peers lack."""
    options = {
        "data.corpus": "multi30k" if find("train.de") else "scenes",
        "tokenizer.kind": "subword",
        "tokenizer.vocabulary": 6000,
        "tokenizer.lowercase": "false",
        "tokenizer.minimum_count": 1,
        "model.encoder_hidden": sizes.encoder,
        "model.hidden": sizes.decoder,
        "model.embedding": sizes.embedding,
        "model.decoder": decoder,
        "model.attention": "bilinear",
        "model.dropout": DROPOUT,
        "model.feature_dropout": DROPOUT,
        "train.batch": BATCH,
        "train.batch_unit": "tokens",
        "train.label_smoothing": 0.0,
    }
    return load_config("homework", [f"{key}={value}" for key, value in options.items()])


@dataclass(frozen=True)
class Pieces:
    """A folder with the corpus as text, pieces set apart by spaces, and the subword model that cut it."""

    folder: Path

    @classmethod
    def write(cls, folder: Path) -> "Pieces":
        """Learn the pieces and cut the corpus."""
        config = config_of(OPENNMT, "feeding")
        corpus = load_corpus(config.data)
        train = corpus["train"]
        tokenizers = TokenizerPair.train(config.tokenizer, train.sources, train.targets)
        tokenizers.save(folder)
        tokenizer = tokenizers.source
        words = tokenizer.pieces(range(len(SPECIALS), tokenizer.size))
        _write(folder / "vocabulary", words)
        for name in ("train", "validation", "test"):
            split = corpus[name]
            last = TEST if name == "test" else len(split)
            for side, texts in (("source", split.sources), ("target", split.targets)):
                _write(folder / f"{name}.{side}", [" ".join(tokenizer.tokens(text)) for text in texts[:last]])
        _write(folder / "one.source", cls(folder).lines("test.source")[:1])
        return cls(folder)

    @property
    def corpus(self) -> str:
        """Name of the corpus."""
        return config_of(OPENNMT, "feeding").data.corpus

    def lines(self, name: str) -> list[str]:
        """Return the lines of a file such as train.source."""
        return (self.folder / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")

    @cached_property
    def tokenizers(self) -> TokenizerPair:
        """The tokenizers of both sides, which are one."""
        return TokenizerPair.load(self.folder, config_of(OPENNMT, "feeding").tokenizer)

    def encoded(self, name: str) -> EncodedPairs:
        """Return a split as numbers."""
        tokenizer = self.tokenizers.source
        numbers = {piece: number for number, piece in enumerate(tokenizer.pieces(range(tokenizer.size)))}
        sides = (
            [[numbers.get(piece, UNK) for piece in line.split(" ")] for line in self.lines(f"{name}.{side}")]
            for side in ("source", "target")
        )
        return EncodedPairs.of(*sides)

    @cached_property
    def decoded_length(self) -> int:
        """Tokens that every side is made to produce for every test sentence: the references' mean, the end included."""
        lengths = [len(line.split()) + 1 for line in self.lines("test.target")]
        return round(sum(lengths) / len(lengths))


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
