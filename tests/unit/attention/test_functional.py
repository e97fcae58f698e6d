import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import functional as f

DOUBLE = torch.float64


def matrix(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=DOUBLE)


X = matrix([-2, 1, 0.5], [1, 1.5, -0.5], [-1.5, 1, -0.5], [-2, -2.5, 1.5])
FIRST = f.Head(
    matrix([1, -1.5], [0, 2], [-0.5, -1]),
    matrix([-1.5, -1], [2.5, 0], [0.5, -1]),
    matrix([1, 2.5], [-0.5, -2], [0, -1]),
)
SECOND = f.Head(*(torch.ones(3, 2, dtype=DOUBLE) for _ in range(3)))
W_O = matrix([-1, 1.5, 2], [0, -1, -2], [1, -1.5, 0], [2, 0, 1])


def close(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=5e-9, atol=5e-9)


def test_one_query() -> None:
    output, weights = f.attend(torch.tensor([-2.0, 1, -1], dtype=DOUBLE), X, X)
    close(weights, torch.tensor([0.46536883, 0.03463117, 0.46536883, 0.03463117], dtype=DOUBLE))
    close(output, torch.tensor([-1.66342208, 0.8961065, 0.03463117], dtype=DOUBLE))


def test_self_attention() -> None:
    output, weights = f.self_attention(X, *FIRST)
    expected = matrix(
        [4.79433566e-5, 3.22098620e-5, 1.71943035e-3, 9.98200416e-1],
        [5.97319598e-1, 1.28333499e-3, 4.01298182e-1, 9.88847812e-5],
        [1.46423661e-2, 4.87223528e-4, 2.37021787e-1, 7.47848624e-1],
        [9.06143069e-9, 1.87817885e-3, 2.98824011e-8, 9.98121782e-1],
    )
    torch.testing.assert_close(weights, expected, rtol=6e-9, atol=0)
    close(
        output,
        matrix(
            [-0.75220098, -1.50668721],
            [-2.29564869, -6.58686077],
            [-1.07141415, -2.47595506],
            [-0.74812187, -1.4971829],
        ),
    )


def test_two_heads() -> None:
    output, weights = f.multi_head_self_attention(X, [FIRST, SECOND], W_O)
    expected = matrix(
        [1.18306921e-1, 2.01966211e-2, 1.68483136e-1, 6.93013322e-1],
        [8.48429312e-4, 9.98944583e-1, 2.06267364e-4, 7.20592823e-7],
        [2.67590116e-2, 7.79843042e-4, 5.42703523e-2, 9.18190793e-1],
        [2.47463407e-5, 6.12522986e-10, 2.06437556e-4, 9.99768815e-1],
    )
    torch.testing.assert_close(weights[1], expected, rtol=6e-9, atol=0)
    close(
        f.self_attention(X, *SECOND)[0][:, 0],
        torch.tensor([-2.26628332, 1.99725652, -2.82066255, -2.99952526], dtype=DOUBLE),
    )
    close(
        output,
        matrix(
            [-6.04664898, 3.77781072, -0.75731086],
            [8.28741825, 0.14750295, 10.57968068],
            [-7.3905735, 5.09982766, -0.01158073],
            [-8.25045389, 4.87428797, -1.50140321],
        ),
    )


def test_loops_agree_with_matrices_on_the_reference_case() -> None:
    heads = [tuple(w.tolist() for w in head) for head in (FIRST, SECOND)]
    output, weights = f.multi_head_by_loops(X.tolist(), heads, W_O.tolist())  # type: ignore[arg-type]
    expected_output, expected_weights = f.multi_head_self_attention(X, [FIRST, SECOND], W_O)
    torch.testing.assert_close(torch.tensor(output, dtype=DOUBLE), expected_output, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(torch.tensor(weights, dtype=DOUBLE), expected_weights, rtol=1e-13, atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**31))
def test_loops_agree_with_matrices(s: int, k: int, c: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    query, keys, values = (torch.randn(*shape, dtype=DOUBLE, generator=generator) for shape in ((k,), (s, k), (s, c)))
    output, weights = f.attend(query, keys, values)
    by_hand, weights_by_hand = f.attend_by_loops(query.tolist(), keys.tolist(), values.tolist())
    assert weights_by_hand == pytest.approx(weights.tolist(), rel=1e-12)
    assert by_hand == pytest.approx(output.tolist(), rel=1e-11, abs=1e-13)


def test_rows_of_queries_are_single_queries() -> None:
    queries = torch.arange(15, dtype=DOUBLE).view(5, 3) / 7
    output, weights = f.attend(queries, X, X[:, :2])
    assert output.shape == (5, 2)
    assert weights.shape == (5, 4)
    close(output[3], f.attend(queries[3], X, X[:, :2])[0])


def test_additive_score_of_one_vector() -> None:
    w_1, w_2 = matrix([0.5, -0.3], [0.2, 0.4]), matrix([0.1, 0.2], [-0.3, 0.1])
    state, memory = torch.tensor([0.5, 1], dtype=DOUBLE), matrix([1, 2], [0, 0], [3, 1])
    each = [
        f.additive_scores(state, memory, w_memory=w_1, w_state=w_2, v=v.double())[0].item()
        for v in torch.eye(2).unbind()
    ]
    assert [round(score, 3) for score in each] == [0.149, 0.740]
    both = f.additive_scores(state, memory, w_memory=w_1, w_state=w_2, v=torch.tensor([2.0, -1], dtype=DOUBLE))
    assert both.shape == (3,)
    assert both[1].item() == pytest.approx(2 * math.tanh(0.25) - math.tanh(-0.05))


def test_large_scores_do_not_overflow() -> None:
    assert f.softmax([1e4, 0.0]) == [1.0, 0.0]
    assert f.attend_by_loops([1e4], [[1.0], [0.0]], [[3.0], [5.0]])[0] == [3.0]
