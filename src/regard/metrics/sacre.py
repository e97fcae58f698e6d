"""What the metrics of sacrebleu share: its statistics, its formulas, its signatures."""

import numpy as np
import sacrebleu.metrics.base

from regard.metrics.base import Metric, Numbers
from regard.metrics.signature import Signature
from regard.types import Float


class Sacre(Metric[str, str]):
    """A metric of sacrebleu on one reference. Empty texts count as sacrebleu counts them."""

    unit = ""  # a score from 0 to 100, and no share of anything
    takes = ("hypothesis", "reference")

    def __init__(self, scorer: sacrebleu.metrics.base.Metric) -> None:
        scorer.num_refs = 1  # wanted by the signature, and else known only after the first sentence
        self._scorer = scorer

    def segment(self, hypothesis: str, reference: str) -> Numbers:
        """Return sacrebleu's own statistics of a sentence, which it sums over the corpus."""
        statistics: list[Numbers] = self._scorer._extract_corpus_statistics([hypothesis], [[reference]])
        return statistics[0]

    def aggregate(self, sums: Float[np.ndarray, "rows k"]) -> Float[np.ndarray, " rows"]:
        """Return sacrebleu's score of each row."""
        return scores(self._scorer, sums)

    def signature(self) -> Signature:
        """Return sacrebleu's signature after the metric's name."""
        return super().signature() + Signature.parse(self._scorer.get_signature().format())


def scores(scorer: sacrebleu.metrics.base.Metric, rows: Float[np.ndarray, "rows k"]) -> Float[np.ndarray, " rows"]:
    """Return what a scorer of sacrebleu makes of each row of statistics."""
    return np.array([scorer._compute_score_from_stats(row).score for row in rows.tolist()])
