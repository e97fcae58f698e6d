import pytest

from regard.errors import RegardError
from regard.parts import ALL
from regard.registry import Registry


def test_a_part_is_imported_when_asked_for() -> None:
    registry = Registry("number", {"pi": "math:pi"})
    assert registry["pi"] == pytest.approx(3.14159, abs=1e-5)
    assert list(registry) == ["pi"]
    assert len(registry) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gur", "Unknown cell 'gur'. Did you mean 'gru'?"),
        ("zzzz", "Unknown cell 'zzzz'. Choose from: gru, lstm, rnn."),
    ],
)
def test_an_unknown_name_is_answered_with_a_suggestion(name: str, message: str) -> None:
    with pytest.raises(RegardError) as caught:
        ALL["cells"][name]
    assert str(caught.value) == message


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ALL for name in ALL[kind]])
def test_every_part_exists_and_says_what_it_is(kind: str, name: str) -> None:
    assert ALL[kind].summary(name).endswith((".", ")", "?"))
