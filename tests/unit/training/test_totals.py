from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from regard.training import totals
from regard.training.totals import OfWords, Term, Totals


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3) as threads:
        yield threads


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("at_a_time", [1, 7, 30, 10**6])
def test_sums_are_the_same_bits_however_they_are_cut(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, workers: int, at_a_time: int
) -> None:
    monkeypatch.setattr(totals, "AT_A_TIME", at_a_time)
    torch.manual_seed(1)
    parameters = [torch.zeros(11, 5), torch.zeros(5, 11).t(), torch.zeros(13), torch.zeros(3, 2, 4), torch.zeros(())]
    work = Totals(pool=pool, workers=workers)
    for _ in range(2):  # nothing is left of the sums before
        of_shares = [[torch.randn_like(one).to(kind) for one in parameters] for kind in (torch.bfloat16, torch.float32)]
        terms = [Term(*term) for share in of_shares for term in zip(parameters, share, strict=True)]
        found = work.add_up(terms, [])
        for parameter, short, exact in zip(parameters, *of_shares, strict=True):
            assert torch.equal(found[parameter], short.float() + exact)
            assert found[parameter].stride() == parameter.stride()


def test_terms_are_added_in_their_order(pool: ThreadPoolExecutor) -> None:
    parameter = torch.zeros(2)
    large, small = torch.full((2,), 2.0**24), torch.ones(2)
    work = Totals(pool=pool, workers=2)
    assert work.add_up([Term(parameter, one) for one in (large, small, -large)], [])[parameter].tolist() == [0, 0]
    assert work.add_up([Term(parameter, one) for one in (large, -large, small)], [])[parameter].tolist() == [1, 1]


def test_what_was_not_used_has_no_sum(pool: ThreadPoolExecutor) -> None:
    often, once = torch.zeros(2), torch.zeros(2)
    work = Totals(pool=pool, workers=2)
    both = [Term(parameter, torch.ones(2)) for parameter in (often, once)]
    assert list(work.add_up(both, [])) == [often, once]
    assert list(work.add_up(both[:1], [])) == [often]


def test_a_large_sum_is_cut_into_rows_and_a_small_one_is_not() -> None:
    total, *terms = (torch.zeros(11, 5) for _ in range(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(totals, "AT_A_TIME", 20)
        assert [[len(part) for part in piece] for piece in totals._pieces(total, terms)] == [[4] * 3, [4] * 3, [3] * 3]
        assert [len(piece) for piece in totals._pieces(total[:4], [terms[0][:4]])] == [2]


def test_words_are_added_to_a_sum_and_leave_no_trace_in_a_table(pool: ThreadPoolExecutor) -> None:
    tied, looked_up = torch.zeros(6, 2), torch.zeros(6, 2)
    work = Totals(pool=pool, workers=2)
    for row in (4, 5):
        words = [OfWords(table, torch.tensor([[row, 0]]), torch.ones(1, 2, 2)) for table in (tied, looked_up)]
        found = work.add_up([Term(tied, torch.full((6, 2), 3.0))], words)
        expected = torch.zeros(6, 2)
        expected[row] = 1  # padding, row 0, learns nothing
        assert torch.equal(found[looked_up], expected)
        assert torch.equal(found[tied], expected + 3)
