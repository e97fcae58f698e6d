"""Search: finding the translations a model finds probable. Every length counts EOS."""

from regard.models.seq2seq import Step
from regard.search.beam import beam
from regard.search.ensemble import Ensemble, Sources
from regard.search.greedy import greedy
from regard.search.hypothesis import Hypothesis, unknown_positions
from regard.search.ranking import Gnmt, Plain, Power, Ranking
from regard.search.rules import Length, NoRepeat, NoUnknown, Rules
from regard.search.sample import Sampling, generators, sample
from regard.search.score import score
from regard.search.stepper import Stepper
from regard.search.tree import Expansion, Recorder, Tree

__all__ = [
    "Ensemble",
    "Expansion",
    "Gnmt",
    "Hypothesis",
    "Length",
    "NoRepeat",
    "NoUnknown",
    "Plain",
    "Power",
    "Ranking",
    "Recorder",
    "Rules",
    "Sampling",
    "Sources",
    "Step",
    "Stepper",
    "Tree",
    "beam",
    "generators",
    "greedy",
    "sample",
    "score",
    "unknown_positions",
]
