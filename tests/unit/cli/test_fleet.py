"""What is said of a training that failed."""

from pathlib import Path

import pytest

from regard.cli.fleet import _why


@pytest.mark.parametrize(
    ("code", "log", "why"),
    [
        (1, "epoch 1\nruns/a: the disk is full.\n\n", "runs/a: the disk is full."),
        (1, "", "ended with code 1"),
        (-9, "epoch 1  best so far\n", "ended by signal 9 (Killed), perhaps for want of memory"),
        (-15, "epoch 1  best so far\n", "ended by signal 15 (Terminated)"),
    ],
)
def test_a_failure_is_told_by_its_last_words_unless_it_was_killed(
    tmp_path: Path, code: int, log: str, why: str
) -> None:
    path = tmp_path / "cell.log"
    path.write_text(log, encoding="utf-8")
    assert _why(code, path) == why
