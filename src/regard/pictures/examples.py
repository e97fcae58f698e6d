"""From translations to diagrams, and a handful of them for a run's `examples` folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from regard.data.corpus import Corpus, Links
from regard.disk import telling
from regard.evaluate import Evaluation
from regard.pictures.diagram import Diagram, draw_attention
from regard.pictures.files import render
from regard.translation import Translation

EXAMPLES = 8


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, and where it is of a corpus its reference and gold links."""

    source: str
    reference: str = ""
    links: Links | None = None
    unit: Literal["word", "character"] = "word"
    """What the links count."""

    @classmethod
    def of(cls, corpus: Corpus, split: str, row: int) -> "Pair":
        """Take one pair out of a corpus."""
        pairs = corpus[split]
        links = None if pairs.links is None else pairs.links[row]
        return cls(pairs.sources[row], pairs.targets[row], links, corpus.unit)

    def beside(self, translation: Translation, *, joins_pieces: bool = True) -> Diagram:
        """Draw a translation with the gold links where it is the reference, and with the reference where it is not."""
        joins_pieces = joins_pieces and self.unit == "word"
        if translation.text != self.reference:
            return diagram_of(translation, joins_pieces=joins_pieces, reference=self.reference)
        shown = "character" if translation.is_of_characters else "word" if joins_pieces else "piece"
        return diagram_of(translation, joins_pieces=joins_pieces, links=self.links if shown == self.unit else None)


def diagram_of(
    translation: Translation, *, joins_pieces: bool = True, links: Links | None = None, reference: str = ""
) -> Diagram:
    """Turn a translation into a diagram, of words unless its tokens are characters, or of the tokens as they are."""
    texts = translation.source, translation.text
    if joins_pieces:
        words = translation.aligned
        return Diagram(words.source, words.target, words.attention, links, reference, texts=texts)
    tokens, source = translation.tokens, translation.source_tokens
    return Diagram(source, tokens, translation.attention, links, reference, texts=texts)


def save_examples(evaluation: Evaluation, corpus: Corpus, folder: Path) -> Iterator[Path]:
    """Draw translations of a split, short to long; gold links are outlined where the translation is the reference."""
    with telling(folder), TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as name:
        making = Path(name, folder.name)
        making.mkdir()
        for path in _draw(evaluation, corpus, making):
            yield folder / path.name
        if not folder.is_dir():
            making.rename(folder)  # a folder that is there has all of its diagrams
            return
        for path in making.iterdir():
            path.replace(folder / path.name)


def _draw(evaluation: Evaluation, corpus: Corpus, folder: Path) -> Iterator[Path]:
    for row in _choose(evaluation.translations):
        pair = Pair.of(corpus, evaluation.split, row)
        diagram = pair.beside(evaluation.translations[row])
        path = folder / f"{evaluation.split}-{row + 1:04d}.png"
        path.write_bytes(render(draw_attention(diagram), "png"))
        yield path


def _choose(translations: Sequence[Translation]) -> list[int]:
    """Pick rows evenly by length, leaving out what has nothing to show."""
    rows = [i for i, t in enumerate(translations) if t.has_words and len(t.source_tokens) > 2]
    rows.sort(key=lambda i: (len(translations[i].source_tokens), i))
    count = min(EXAMPLES, len(rows))
    return [rows[(2 * i + 1) * len(rows) // (2 * count)] for i in range(count)]
