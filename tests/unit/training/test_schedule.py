import pytest

from regard.training.schedule import rate


@pytest.mark.parametrize(
    ("name", "progress", "step", "wanted"),
    [
        ("constant", 0.9, 50, 2.0),
        ("constant", 0.0, 5, 1.0),  # half of the warm-up
        ("linear", 0.25, 50, 1.5),
        ("linear", 1.0, 99, 0.0),
        ("cosine", 0.5, 50, 1.0),
        ("inverse_sqrt", 0.5, 40, 1.0),
        ("inverse_sqrt", 0.0, 10, 2.0),
    ],
)
def test_rates(name: str, progress: float, step: int, wanted: float) -> None:
    assert rate(name, highest=2.0, progress=progress, step=step, warmup=10) == pytest.approx(wanted)
