"""Tokenizers: text to tokens to numbers and back. Words and characters are here, subwords in `subword`."""

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar, Self

from regard.config import TokenizerConfig
from regard.data.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from regard.data.words import join_words, split_words
from regard.disk import write_atomically
from regard.errors import RegardError
from regard.parts import TOKENIZERS

UNKNOWN = "⁇"
"""What a reader sees where a token is unknown."""
_HALF = re.compile("[\ud800-\udfff]")


def normal(text: str, *, lowercase: bool) -> str:
    """Return text in NFC, so that é is é however it was typed, and in lower case if asked."""
    if half := _HALF.search(text):  # what Python makes of bytes that are not UTF-8
        raise RegardError(f"text: not UTF-8 at character {half.start() + 1}. Convert it to UTF-8.")
    text = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", text.lower()) if lowercase else text


class Tokenizer(ABC):
    """Text to tokens to numbers and back. `encode` adds no BOS or EOS; `decode` drops them and shows ⁇ for unknown."""

    is_joint: ClassVar[bool]
    """Whether one model, learnt from both sides, serves source and target."""

    @classmethod
    @abstractmethod
    def train(cls, config: TokenizerConfig, texts: Iterable[str]) -> Self:
        """Learn the tokens of texts."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers there are, the four special ones included."""

    @abstractmethod
    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text as they are written, one for each number of `encode`."""

    @abstractmethod
    def text(self, tokens: Sequence[str]) -> str:
        """Put tokens together again."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens."""

    @abstractmethod
    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return one token for each number, for display: ⁇ for the unknown, ``</s>`` and the like for special ones."""

    @abstractmethod
    def save(self, folder: Path, name: str) -> None:
        """Write the tokens to a file of this name."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, name: str, *, lowercase: bool) -> Self:
        """Read what `save` wrote."""

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of numbers: ⁇ where one is unknown, nothing where one is special."""
        return self.text(self.pieces(i for i in ids if i not in (PAD, BOS, EOS)))

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of many texts."""
        return [self.encode(text) for text in texts]

    def sample_all(self, texts: Sequence[str], *, dropout: float, seed: int) -> list[list[int]]:
        """Return the numbers of many texts, cut at random where the tokenizer can: the same seed, the same cuts."""
        assert 0 <= dropout < 1
        assert seed >= 0
        return self.encode_all(texts)


@dataclass(frozen=True)
class _VocabularyTokenizer(Tokenizer):
    vocabulary: Vocabulary
    lowercase: bool = False
    is_joint: ClassVar[bool] = False

    @classmethod
    def train(cls, config: TokenizerConfig, texts: Iterable[str]) -> Self:
        cut = cls(Vocabulary.build({}), config.lowercase).tokens
        counts = Counter(chain.from_iterable(map(cut, texts)))
        return cls(Vocabulary.build(counts, minimum_count=config.minimum_count), config.lowercase)

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        return self.vocabulary.encode(self.tokens(text))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        tokens = self.vocabulary.tokens
        return [UNKNOWN if i == UNK else tokens[i] for i in ids]

    def save(self, folder: Path, name: str) -> None:
        content = json.dumps(self.vocabulary.to_json(), ensure_ascii=False, indent=0)
        write_atomically(folder / f"{name}.json", content.encode())

    @classmethod
    def load(cls, folder: Path, name: str, *, lowercase: bool) -> Self:
        path = folder / f"{name}.json"
        try:
            return cls(Vocabulary.from_json(json.loads(path.read_bytes())), lowercase)
        except OSError as error:
            raise RegardError(f"{path}: cannot read the vocabulary ({error.strerror}).") from None
        except (ValueError, RegardError) as error:
            reason = str(error) if isinstance(error, RegardError) else f"Not valid JSON: {error}."
            raise RegardError(f"{path}: {reason}") from None


class WordTokenizer(_VocabularyTokenizer):
    """Words and punctuation marks, one vocabulary a side; rare words are unknown."""

    def tokens(self, text: str) -> list[str]:
        """Return words and punctuation marks."""
        return split_words(normal(text, lowercase=self.lowercase))

    def text(self, tokens: Sequence[str]) -> str:
        """Set words and punctuation as text is normally set."""
        return join_words(tokens)


class CharacterTokenizer(_VocabularyTokenizer):
    """Every character, spaces too, one vocabulary a side; gives the text back exactly."""

    def tokens(self, text: str) -> list[str]:
        """Return the characters."""
        return list(normal(text, lowercase=self.lowercase))

    def text(self, tokens: Sequence[str]) -> str:
        """Chain the characters."""
        return "".join(tokens)


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizers of both sides; one and the same object where they share their tokens."""

    source: Tokenizer
    target: Tokenizer

    @property
    def shared(self) -> bool:
        """Whether both sides number their tokens alike, so that embeddings can be shared."""
        return self.source is self.target

    @classmethod
    def train(cls, config: TokenizerConfig, sources: Sequence[str], targets: Sequence[str]) -> Self:
        """Learn the tokens of both sides."""
        kind: type[Tokenizer] = TOKENIZERS[config.kind]
        if kind.is_joint:
            joint = kind.train(config, [*sources, *targets])
            return cls(joint, joint)
        return cls(kind.train(config, sources), kind.train(config, targets))

    def save(self, folder: Path) -> None:
        """Write one file, or one a side."""
        if self.shared:
            self.source.save(folder, "tokens")
        else:
            self.source.save(folder, "source_tokens")
            self.target.save(folder, "target_tokens")

    @classmethod
    def load(cls, folder: Path, config: TokenizerConfig) -> Self:
        """Read what `save` wrote."""
        kind: type[Tokenizer] = TOKENIZERS[config.kind]
        if kind.is_joint:
            joint = kind.load(folder, "tokens", lowercase=config.lowercase)
            return cls(joint, joint)
        source = kind.load(folder, "source_tokens", lowercase=config.lowercase)
        return cls(source, kind.load(folder, "target_tokens", lowercase=config.lowercase))
