"""The best words of each row, found by blocks."""

import pytest
import torch

from regard.search.rows import BLOCK, top


@pytest.mark.parametrize("words", [7, BLOCK - 1, BLOCK, 10 * BLOCK, 10 * BLOCK + 1, 5968, 6000])
@pytest.mark.parametrize("count", [1, 5, 40])
def test_the_best_by_blocks_are_the_best(words: int, count: int) -> None:
    log_probs = torch.randn(9, words, generator=torch.Generator().manual_seed(words))
    log_probs[2, 1:] = float("-inf")
    log_probs[3, -1] = 9.0
    best, word = top(log_probs, min(count, words))
    wanted = log_probs.topk(min(count, words), dim=1).values
    assert torch.equal(best, wanted)
    assert torch.equal(log_probs.gather(1, word), wanted)
    assert all(len(set(row)) == len(row) for row in word.tolist())


def test_rows_do_not_depend_on_each_other_where_words_are_equally_good() -> None:
    log_probs = torch.zeros(4, 1000)
    log_probs[1] = torch.arange(1000) % 7
    together = top(log_probs, 5)[1]
    assert torch.equal(together, torch.cat([top(row[None], 5)[1] for row in log_probs]))
