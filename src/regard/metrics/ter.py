"""TER: how many edits a translation is away from its reference."""

from sacrebleu.metrics.ter import TER

from regard.metrics.sacre import Sacre


class Ter(Sacre):
    """Edits and shifts of words per reference word, as sacrebleu reports them: lower-cased, as Tercom counts."""

    name = "ter"
    higher_is_better = False

    def __init__(self) -> None:
        super().__init__(TER())
