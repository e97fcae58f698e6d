"""A training bound to its run."""

from pathlib import Path

import pytest

from regard.config import load_config
from regard.training.session import Session
from tiny_runs import REVERSE


@pytest.mark.parametrize(("asked", "is_told"), [(12, False), (5000, True)])
def test_fewer_subwords_than_asked_for_are_told(asked: int, is_told: bool, tmp_path: Path) -> None:
    words = [*REVERSE, "tokenizer.kind=subword", f"tokenizer.vocabulary={asked}"]
    session = Session.begin(load_config("reverse", words), tmp_path / "run")
    size = session.run.tokenizers.source.size
    assert (size < asked) is is_told
    note = f"tokenizer.vocabulary: asked for {asked} pieces, the training data yield {size}."
    assert session.notes == (*session.corpus.notes, *([note] if is_told else []))
