"""chrF: F-score of character n-grams, which needs no tokenisation and gives credit for a right stem."""

from sacrebleu.metrics.chrf import CHRF

from regard.metrics.sacre import Sacre


class Chrf(Sacre):
    """chrF2 as sacrebleu reports it: cased, character n-grams up to six."""

    name = "chrf"
    higher_is_better = True

    def __init__(self) -> None:
        super().__init__(CHRF())
