"""Subwords: frequent words whole, rare ones in pieces (BPE by sentencepiece), one model for both sides."""

import io
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import sentencepiece

from regard.config import TokenizerConfig
from regard.data.tokenizers import UNKNOWN, Tokenizer, normal
from regard.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from regard.data.words import BOUNDARY
from regard.disk import write_atomically
from regard.errors import RegardError

_RESERVED = "▅"  # sentencepiece learns nothing from a line that has it
_ERRORS_ONLY = 2
_ANY_LENGTH = 1 << 30


class SubwordTokenizer(Tokenizer):
    """Pieces of words (BPE), one vocabulary for both sides; only characters never seen in training are unknown.

    White space counts as single spaces, and so does U+2581, which marks the beginning of a word in a piece.
    """

    is_joint: ClassVar[bool] = True

    def __init__(self, model: bytes, *, lowercase: bool = False) -> None:
        self.model = model
        self.lowercase = lowercase
        self._processor: Any = sentencepiece.SentencePieceProcessor(model_proto=model)

    @classmethod
    def train(cls, config: TokenizerConfig, texts: Iterable[str]) -> Self:
        """Learn pieces; fewer than asked where the texts are too short to yield so many."""
        texts = (text.replace(_RESERVED, " ") for text in texts)
        lines = [line for text in texts if (line := _spaced(text, lowercase=config.lowercase))]
        _check_vocabulary(config.vocabulary, lines)
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type="bpe",
            vocab_size=config.vocabulary,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=_ANY_LENGTH,
            pad_id=PAD,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            num_threads=1,
            minloglevel=_ERRORS_ONLY,
        )
        return cls(model.getvalue(), lowercase=config.lowercase)

    @property
    def size(self) -> int:
        """How many pieces there are, the four special ones included."""
        return int(self._processor.get_piece_size())

    def tokens(self, text: str) -> list[str]:
        """Return the pieces; one that begins a word begins with ▁."""
        return list(self._processor.encode(_spaced(text, lowercase=self.lowercase), out_type=str))

    def text(self, tokens: Sequence[str]) -> str:
        """Chain the pieces; ▁ becomes a space, and so do several."""
        return " ".join("".join(tokens).replace(BOUNDARY, " ").split())

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces."""
        return list(self._processor.encode(_spaced(text, lowercase=self.lowercase)))

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of many texts."""
        return [self.encode(text) for text in texts]  # sentencepiece would start threads, even for a single text

    def sample_all(self, texts: Sequence[str], *, dropout: float, seed: int) -> list[list[int]]:
        """Return the numbers of many texts, each merge of pieces skipped with probability `dropout` (BPE-dropout).

        sentencepiece can do this too, but salts its random numbers anew in every process, and a resumed training must
        see what an uninterrupted one would have seen.
        """
        assert 0 <= dropout < 1
        if dropout == 0:
            return self.encode_all(texts)
        gaps = _gaps(dropout, random.Random(seed))
        next_skip = next(gaps)  # merges that are made before one is skipped, counted over all texts
        sampled = []
        for text in texts:
            ids: list[int] = []
            for word in _spaced(text, lowercase=self.lowercase).split():
                skipped: tuple[int, ...] = ()
                pieces, merges = self._merges.cut(word, skipped)
                while next_skip < merges:
                    skipped += (next_skip,)
                    next_skip += 1 + next(gaps)
                    pieces, merges = self._merges.cut(word, skipped)
                ids += pieces
                next_skip -= merges
            sampled.append(ids)
        return sampled

    @cached_property
    def _merges(self) -> "_Merges":
        return _Merges({self._processor.id_to_piece(i): i for i in range(len(SPECIALS), self.size)})

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return one piece for each number."""
        piece = self._processor.id_to_piece
        return [UNKNOWN if i == UNK else str(piece(int(i))) for i in ids]

    def save(self, folder: Path, name: str) -> None:
        """Write the model in sentencepiece's own format."""
        write_atomically(folder / f"{name}.model", self.model)

    @classmethod
    def load(cls, folder: Path, name: str, *, lowercase: bool) -> Self:
        """Read what `save` wrote."""
        path = folder / f"{name}.model"
        try:
            tokenizer = cls(path.read_bytes(), lowercase=lowercase)
            specials = tuple(tokenizer._processor.id_to_piece(i) for i in range(len(SPECIALS)))
        except OSError as error:
            raise RegardError(f"{path}: cannot read the subword model ({error.strerror}).") from None
        except (RuntimeError, IndexError):
            raise RegardError(f"{path}: not a sentencepiece model.") from None
        if specials != SPECIALS:
            raise RegardError(f"{path}: begins with the pieces {' '.join(specials)}, want {' '.join(SPECIALS)}.")
        return tokenizer


class _Merges:
    """Byte-pair encoding of single words as sentencepiece does it, with the merges that are to be skipped told."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self.cut = lru_cache(maxsize=1 << 18)(self._cut)

    def _cut(self, word: str, skipped: tuple[int, ...]) -> tuple[list[int], int]:
        """Return the numbers of a word's pieces, and how many merges came up, the skipped ones included."""
        pieces = [*BOUNDARY, *word]
        rank, never = self._ids.get, math.inf  # numbers grow in the order of learning
        ranks = [rank(left + right, never) for left, right in pairwise(pieces)]
        merges = 0
        while (best := min(ranks, default=never)) < never:
            at = ranks.index(best)
            if merges in skipped:
                ranks[at] = never
            else:
                pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
                del ranks[at]
                for i in range(max(at - 1, 0), min(at + 1, len(ranks))):
                    ranks[i] = rank(pieces[i] + pieces[i + 1], never)
            merges += 1
        return self._numbers(pieces), merges

    def _numbers(self, pieces: Iterable[str]) -> list[int]:
        """Number the pieces; a run of unknown characters is one piece."""
        ids = [self._ids.get(piece, UNK) for piece in pieces]
        return [i for before, i in pairwise([PAD, *ids]) if not before == i == UNK]


def _gaps(probability: float, generator: random.Random) -> Iterator[int]:
    """Give how many times in a row something of this probability does not happen, again and again."""
    while True:
        yield int(math.log(1 - generator.random()) / math.log1p(-probability))


def _spaced(text: str, *, lowercase: bool) -> str:
    return " ".join(normal(text, lowercase=lowercase).replace(BOUNDARY, " ").split())


def _check_vocabulary(vocabulary: int, lines: Sequence[str]) -> None:
    if not lines:
        raise RegardError("tokenizer: there is no text to learn subwords from.")
    characters = len(set().union(*lines) | {" "})
    if vocabulary < characters + len(SPECIALS):
        raise RegardError(
            f"tokenizer.vocabulary: got {vocabulary}, want at least {characters + len(SPECIALS)}, "
            f"since the text has {characters} different characters and {len(SPECIALS)} pieces are special."
        )
