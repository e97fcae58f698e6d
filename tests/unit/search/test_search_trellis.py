"""The memory of a search."""

import torch

from regard.search.trellis import STEPS, Choice, Trellis


def test_attention_of_all_steps_is_kept_in_order_in_one_place() -> None:
    trellis, added, first_rows = Trellis(), [], []
    nothing = torch.zeros(1, 1)
    choice = Choice(nothing.long(), nothing.long(), nothing, nothing)
    for step in range(4 * STEPS):
        weights = torch.full((3 - step % 3, 2, 5), float(step))  # hypotheses end, so rows grow fewer
        first_rows.append(sum(map(len, added)))
        added.append(weights)
        trellis.add(choice, torch.zeros(1, 1, dtype=torch.long), weights)
        assert len(trellis._weights) <= max(STEPS * 3, 3 * trellis._stored)
    torch.testing.assert_close(trellis._weights[: trellis._stored], torch.cat(added), rtol=0, atol=0)
    assert [int(rows) for rows in trellis._rows] == first_rows
