"""Reverse: random strings and the same strings backwards, the smallest task that shows what attention is for."""

import random
from string import ascii_lowercase
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from regard.data.corpus import Corpus, Links, Recipe, Split
from regard.errors import RegardError


class Reverse(Recipe):
    """Random strings to be reversed, letter by letter; no string is in two splits."""

    unit = "character"
    corpus: Literal["reverse"] = "reverse"
    letters: Annotated[int, Field(ge=1, le=len(ascii_lowercase))] = 4
    """How many letters of the alphabet are used."""
    min_length: PositiveInt = 1
    """Letters of the shortest strings."""
    max_length: PositiveInt = 20
    """Letters of the longest strings."""
    train: PositiveInt = 10_000
    """Strings to train on."""
    validation: PositiveInt = 1_000
    """Strings to validate on."""
    test: PositiveInt = 1_000
    """Strings to test on."""
    seed: NonNegativeInt = 1
    """Seed of the strings."""

    @model_validator(mode="after")
    def _lengths_are_a_range(self) -> "Reverse":
        if self.min_length > self.max_length:
            raise ValueError(f"min_length: got {self.min_length}, want at most max_length = {self.max_length}.")
        return self

    def load(self) -> Corpus:
        """Draw distinct strings, all lengths alike as far as there are enough short ones, and deal them out."""
        generator = random.Random(self.seed)
        strings = [
            _spell(number, length=length, letters=self.letters)
            for length, count in self._counts().items()
            for number in _distinct(count, below=self.letters**length, generator=generator)
        ]
        generator.shuffle(strings)
        starts = {"train": 0, "validation": self.train, "test": self.train + self.validation}
        splits = {name: _split(strings[start : start + getattr(self, name)]) for name, start in starts.items()}
        return Corpus("reverse", splits, unit=self.unit)

    def _counts(self) -> dict[int, int]:
        wanted = self.train + self.validation + self.test
        lengths = range(self.min_length, self.max_length + 1)
        available = sum(self.letters**length for length in lengths)
        if wanted > available:
            raise RegardError(
                f"data: got {wanted} strings in all, want at most {available}: so many different ones there are of "
                f"{self.letters} letters and length {self.min_length} to {self.max_length}. Ask for longer or fewer."
            )
        counts: dict[int, int] = {}
        for i, length in enumerate(lengths):  # the shortest first: what they lack is made up for by the longer ones
            counts[length] = min(-(-wanted // (len(lengths) - i)), self.letters**length)
            wanted -= counts[length]
        return counts


def _distinct(count: int, *, below: int, generator: random.Random) -> list[int]:
    if below < 4 * count:
        return generator.sample(range(below), count)
    numbers: dict[int, None] = {}
    while len(numbers) < count:
        numbers[generator.randrange(below)] = None
    return list(numbers)


def _spell(number: int, *, length: int, letters: int) -> str:
    spelled = []
    for _ in range(length):
        number, letter = divmod(number, letters)
        spelled.append(ascii_lowercase[letter])
    return "".join(spelled)


def _split(strings: list[str]) -> Split:
    links: dict[int, Links] = {}
    for length in {len(string) for string in strings}:
        links[length] = frozenset((length - 1 - j, j) for j in range(length))
    targets = tuple(string[::-1] for string in strings)
    return Split(tuple(strings), targets, tuple(links[len(string)] for string in strings))
