"""The equations, written twice: with matrix products, and from scalars and vectors only."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from regard.types import Float, Tensor

Vector = Sequence[float]
Matrix = Sequence[Vector]
"""A list of rows."""


class Head(NamedTuple):
    """The projections of one head, applied from the right: ``q = x W_Q``."""

    w_q: Float[Tensor, "M K"]
    w_k: Float[Tensor, "M K"]
    w_v: Float[Tensor, "M C"]


def attend(
    query: Float[Tensor, "*T K"], keys: Float[Tensor, "S K"], values: Float[Tensor, "S C"]
) -> tuple[Float[Tensor, "*T C"], Float[Tensor, "*T S"]]:
    """Scaled dot-product attention of one query (or several, as rows): the output and the weights.

    ``weights = softmax(q . k_i / sqrt(K))``, ``output = sum_i weights_i v_i``.
    """
    weights = torch.softmax(query @ keys.mT / math.sqrt(keys.shape[-1]), dim=-1)
    return weights @ values, weights


def self_attention(
    x: Float[Tensor, "S M"], w_q: Float[Tensor, "M K"], w_k: Float[Tensor, "M K"], w_v: Float[Tensor, "M C"]
) -> tuple[Float[Tensor, "S C"], Float[Tensor, "S S"]]:
    """Every row attends to every row: ``Z = softmax(Q K' / sqrt(K)) V`` and the weights."""
    return attend(x @ w_q, x @ w_k, x @ w_v)


def multi_head_self_attention(
    x: Float[Tensor, "S M"], heads: Sequence[Head], w_o: Float[Tensor, "NC D"]
) -> tuple[Float[Tensor, "S D"], Float[Tensor, "N S S"]]:
    """``Z = [Z^1, ..., Z^N] W_O`` and the weights of each head."""
    outputs, weights = zip(*(self_attention(x, *head) for head in heads), strict=True)
    return torch.cat(outputs, dim=-1) @ w_o, torch.stack(weights)


def additive_scores(
    state: Float[Tensor, " H"],
    memory: Float[Tensor, "S M"],
    *,
    w_memory: Float[Tensor, "K M"],
    w_state: Float[Tensor, "K H"],
    v: Float[Tensor, " K"],
) -> Float[Tensor, " S"]:
    """``score_t = v . tanh(W_1 h_t + W_2 s)``; without ``v`` the score would be a vector."""
    return torch.tanh(memory @ w_memory.mT + w_state @ state) @ v


def dot(a: Vector, b: Vector) -> float:
    """Return the inner product of two vectors."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def softmax(scores: Vector) -> list[float]:
    """Normalise scores; the largest is subtracted first, so that no exponential overflows."""
    largest = max(scores)
    exponentials = [math.exp(score - largest) for score in scores]
    total = sum(exponentials)
    return [e / total for e in exponentials]


def project(x: Vector, matrix: Matrix) -> list[float]:
    """Return ``x W``: one inner product for each column of ``W``."""
    return [dot(x, column) for column in zip(*matrix, strict=True)]


def attend_by_loops(query: Vector, keys: Matrix, values: Matrix) -> tuple[list[float], list[float]]:
    """`attend` with no matrix product: ``r = sum_j p_j v_j``, ``p = softmax_j(q . k_j / sqrt(K))``."""
    weights = softmax([dot(query, key) / math.sqrt(len(key)) for key in keys])
    return [dot(weights, coordinate) for coordinate in zip(*values, strict=True)], weights


def multi_head_by_loops(
    x: Matrix, heads: Sequence[tuple[Matrix, Matrix, Matrix]], w_o: Matrix
) -> tuple[list[list[float]], list[list[list[float]]]]:
    """`multi_head_self_attention` with no matrix-matrix product: one query of one head at a time."""
    concatenated: list[list[float]] = [[] for _ in x]
    weights: list[list[list[float]]] = []
    for w_q, w_k, w_v in heads:
        keys, values = [project(row, w_k) for row in x], [project(row, w_v) for row in x]
        attended = [attend_by_loops(project(row, w_q), keys, values) for row in x]
        weights.append([p for _, p in attended])
        for row, (output, _) in zip(concatenated, attended, strict=True):
            row.extend(output)
    return [project(row, w_o) for row in concatenated], weights
