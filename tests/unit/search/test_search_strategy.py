import pytest

from regard.errors import RegardError
from regard.search import Length, Rules, Sampling, greedy
from regard.search.strategy import Strategy
from search_models import TableStepper


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"width": 0}, "search.width: got 0, want an integer >= 1."),
        ({"width": 5, "n_best": 6}, "search.n_best: got 6, want an integer from 1 to the width, 5."),
        ({"n_best": 0, "sampling": Sampling()}, "search.n_best: got 0, want an integer >= 1."),
    ],
)
def test_what_cannot_be_searched_is_refused_before_any_search(values: dict[str, int], message: str) -> None:
    with pytest.raises(RegardError) as caught:
        Strategy(**values)
    assert str(caught.value) == message


def room(strategy: Strategy, *, source: int = 12) -> int:
    return strategy.room(source=source, words=6000, memory=2048, heads=1)


def test_room_shrinks_with_width_length_and_draws_and_never_vanishes() -> None:
    longer = Rules(longest=Length(offset=5_000))
    assert room(Strategy()) > room(Strategy(width=5)) > 64
    assert room(Strategy(width=5)) > room(Strategy(width=5, rules=longer))
    assert room(Strategy(width=5)) == room(Strategy(n_best=5, sampling=Sampling()))
    assert room(Strategy(width=5)) > room(Strategy(width=5), source=500)
    assert room(Strategy(width=5_000)) == 1


def test_a_source_too_long_for_memory_is_refused() -> None:
    with pytest.raises(RegardError) as caught:
        room(Strategy(), source=1_000_000)
    assert str(caught.value) == (
        "search: width 1, up to 2000010 tokens from 1000000, needs about 14932 GB of memory for a sentence, want at "
        "most 4. Shorten it, or lower the width or length."
    )


@pytest.mark.parametrize(("token", "name"), [(0, "<pad>"), (2, "<s>"), (3, "</s>")])
def test_a_beginning_has_words_only(token: int, name: str) -> None:
    table = TableStepper(words=6, longest=4, lengths=[2, 3], seed=1)
    with pytest.raises(RegardError) as caught:
        greedy(table, table.source, prefix=[[4], [4, token]])
    assert str(caught.value) == f"search.prefix: got {name} in the beginning of sentence 2, want words only."
