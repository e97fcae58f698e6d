"""BLEU in three forms. Only the same form compares, so each has its name and its signature."""

from copy import copy

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from regard.data.words import split_words
from regard.metrics.base import Numbers
from regard.metrics.sacre import Sacre, scores
from regard.metrics.signature import Signature
from regard.types import Float


class OfNgrams(Sacre):
    """A form of BLEU."""

    higher_is_better = True
    family = "bleu"

    def __init__(self, scorer: BLEU) -> None:
        super().__init__(scorer)
        self._of_sentences = copy(scorer)
        self._of_sentences.effective_order = True

    def each(self, statistics: Float[np.ndarray, "segments k"]) -> Float[np.ndarray, " segments"]:
        """Score every sentence up to the longest n-gram it has: one of two words has no trigram to miss."""
        return scores(self._of_sentences, statistics)


class Bleu(OfNgrams):
    """BLEU as sacrebleu reports it: cased, tokenised with 13a."""

    name = "bleu"

    def __init__(self) -> None:
        super().__init__(BLEU(tokenize="13a"))


class BleuLowercase(OfNgrams):
    """BLEU of lower-cased text, tokenised with 13a."""

    name = "bleu_lc"

    def __init__(self) -> None:
        super().__init__(BLEU(tokenize="13a", lowercase=True))


class BleuTokenised(OfNgrams):
    """BLEU of lower-cased words without smoothing, the score of older course material.

    The library of that time counted n-grams of ready-made tokens, up to four, and gave 0 when an order had no match.
    Words and punctuation are cut by `regard.data.words.split_words`. The value never belongs beside those of 13a.
    """

    name = "bleu_tok_lc"

    def __init__(self) -> None:
        super().__init__(BLEU(tokenize="none", lowercase=True, smooth_method="none"))

    def segment(self, hypothesis: str, reference: str) -> Numbers:
        """Return the statistics of the words."""
        return super().segment(" ".join(split_words(hypothesis)), " ".join(split_words(reference)))

    def signature(self) -> Signature:
        """Name our tokenisation where sacrebleu, given ready-made tokens, says none."""
        pairs = super().signature().pairs
        return Signature(tuple((key, "split_words" if key == "tok" else value) for key, value in pairs))
