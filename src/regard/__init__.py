"""regard: sequence-to-sequence models whose attention you can see.

>>> import regard
>>> translator = regard.load("runs/demo")                    # doctest: +SKIP
>>> translator.translate("Ein Hund schläft.").attention      # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from regard.attention.base import Attended, Attention, Source
    from regard.compare import Comparison, compare_runs
    from regard.config import Config, load_config
    from regard.data.corpus import Corpus, load_corpus
    from regard.errors import RegardError
    from regard.evaluate import Evaluation, Evaluator
    from regard.models.build import build_attention, build_model
    from regard.run import Run
    from regard.search import beam, greedy, sample, score
    from regard.search.strategy import Strategy
    from regard.training.session import Session
    from regard.training.trainer import Trainer
    from regard.translate import Translator, load
    from regard.translation import Translation

_PLACES = {
    "Attended": "regard.attention.base",
    "Attention": "regard.attention.base",
    "Comparison": "regard.compare",
    "Config": "regard.config",
    "Corpus": "regard.data.corpus",
    "Evaluation": "regard.evaluate",
    "Evaluator": "regard.evaluate",
    "RegardError": "regard.errors",
    "Run": "regard.run",
    "Session": "regard.training.session",
    "Source": "regard.attention.base",
    "Strategy": "regard.search.strategy",
    "Trainer": "regard.training.trainer",
    "Translation": "regard.translation",
    "Translator": "regard.translate",
    "beam": "regard.search",
    "build_attention": "regard.models.build",
    "build_model": "regard.models.build",
    "compare_runs": "regard.compare",
    "greedy": "regard.search",
    "load": "regard.translate",
    "load_config": "regard.config",
    "load_corpus": "regard.data.corpus",
    "sample": "regard.search",
    "score": "regard.search",
}

__all__ = [
    "Attended",
    "Attention",
    "Comparison",
    "Config",
    "Corpus",
    "Evaluation",
    "Evaluator",
    "RegardError",
    "Run",
    "Session",
    "Source",
    "Strategy",
    "Trainer",
    "Translation",
    "Translator",
    "beam",
    "build_attention",
    "build_model",
    "compare_runs",
    "greedy",
    "load",
    "load_config",
    "load_corpus",
    "sample",
    "score",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import regard` is instant."""
    if name not in _PLACES:
        raise AttributeError(f"module 'regard' has no attribute '{name}'")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
