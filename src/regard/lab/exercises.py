"""The pen-and-paper exercises of the practical and of the lecture notes, recomputed; and new ones of the same kind."""

import random

import torch

from regard.attention.functional import (
    Head,
    additive_scores,
    attend,
    multi_head_by_loops,
    multi_head_self_attention,
    self_attention,
)
from regard.errors import RegardError
from regard.lab.derivation import Exercise, Step, given, step
from regard.types import Tensor

KEY_SIZE = 4
"""Size of keys in new exercises: its root is a whole number."""
VALUE_SIZE = 2
CANDIDATES = 300


def tensor(*rows: object) -> Tensor:
    """Return exact numbers as float64, a vector or a matrix."""
    return torch.tensor(rows, dtype=torch.float64)


X = tensor([-2, 1, 0.5], [1, 1.5, -0.5], [-1.5, 1, -0.5], [-2, -2.5, 1.5])
QUERY = tensor(-2, 1, -1)
HEADS = (
    Head(
        tensor([1, -1.5], [0, 2], [-0.5, -1]),
        tensor([-1.5, -1], [2.5, 0], [0.5, -1]),
        tensor([1, 2.5], [-0.5, -2], [0, -1]),
    ),
    Head(*(torch.ones(3, 2, dtype=torch.float64) for _ in range(3))),
)
W_O = tensor([-1, 1.5, 2], [0, -1, -2], [1, -1.5, 0], [2, 0, 1])
W_1, W_2 = tensor([0.5, -0.3], [0.2, 0.4]), tensor([0.1, 0.2], [-0.3, 0.1])


def one_query() -> Exercise:
    """Practical, question 1.1: one query on four vectors."""
    output, weights = attend(QUERY, X, X)
    scores = X @ QUERY / X.shape[1] ** 0.5
    return Exercise(
        "one query",
        "Practical, question 1.1: one query",
        r"Attend from $\mathbf{q}$ to the rows of $\mathbf{X}$ with scaled dot products.",
        (given(r"\mathbf{X}", X), given(r"\mathbf{q}", QUERY)),
        (
            step(r"\mathbf{z}", r"\mathbf{X}\,\mathbf{q} / \sqrt{3}", scores),
            step(r"\mathbf{a}", r"\mathrm{softmax}(\mathbf{z})", weights),
            step(r"\mathbf{c}", r"\mathbf{X}^\top\,\mathbf{a}", output),
        ),
    )


def one_head() -> Exercise:
    """Practical, question 1.2: self-attention with one head."""
    return Exercise(
        "self-attention",
        "Practical, question 1.2: self-attention",
        r"Let every row of $\mathbf{X}$ attend to every row.",
        (given(r"\mathbf{X}", X), *_given_head(HEADS[0], "")),
        _head_steps(X, HEADS[0], ""),
    )


def two_heads() -> Exercise:
    """Practical, question 1.3: a second head of all ones, and an output projection."""
    steps = tuple(entry for i, head in enumerate(HEADS, 1) for entry in _head_steps(X, head, rf"^{{({i})}}"))
    return Exercise(
        "two heads",
        "Practical, question 1.3: two heads",
        r"Add a second head of all ones and project both with $\mathbf{W}_O$.",
        (given(r"\mathbf{X}", X), *_given_head(HEADS[1], "^{(2)}"), given(r"\mathbf{W}_O", W_O)),
        (*steps, _total(X, HEADS, W_O)),
    )


def loops() -> Exercise:
    """Practical, question 2: the same without any product of two matrices."""
    expected = multi_head_self_attention(X, HEADS, W_O)
    lists = [(head.w_q.tolist(), head.w_k.tolist(), head.w_v.tolist()) for head in HEADS]
    by_loops = [tensor(*result) for result in multi_head_by_loops(X.tolist(), lists, W_O.tolist())]
    largest = max(float((ours - theirs).abs().max()) for ours, theirs in zip(by_loops, expected, strict=True))
    return Exercise(
        "loops",
        "Practical, question 2: scalars and vectors only",
        r"Compute $\mathbf{Z}$ of question 1.3 one number at a time.",
        (),
        (
            given(r"\mathbf{Z}", by_loops[0]),
            given(r"\mathrm{largest difference to the matrix version}", torch.tensor(largest)),
        ),
    )


def context_vector() -> Exercise:
    """Lecture notes, exercise 1."""
    states, weights = tensor([1, 1], [2, 0]), tensor(0.3, 0.7)
    return Exercise(
        "context",
        "Lecture notes, exercise 1: context vector",
        "Average two encoder states with given weights.",
        (given(r"\mathbf{H}", states), given(r"\alpha", weights)),
        (step(r"\mathbf{c}", r"\mathbf{H}^\top\,\alpha", weights @ states),),
    )


def softmax() -> Exercise:
    """Lecture notes, exercise 3."""
    scores = tensor(2, 1, 0)
    exponentials = scores.exp()
    return Exercise(
        "softmax",
        "Lecture notes, exercise 3: weights from scores",
        "Normalise three alignment scores.",
        (given(r"\mathbf{z}", scores),),
        (
            step(r"\exp \mathbf{z}", "", exponentials),
            step(r"\alpha", r"\mathrm{softmax}(\mathbf{z})", exponentials / exponentials.sum()),
        ),
    )


def additive() -> Exercise:
    """Lecture notes, exercise 5; the vector v that makes the score a number is ours."""
    h, s, v = tensor(1, 2), tensor(0.5, 1), tensor(1, 1)
    inner = W_1 @ h + W_2 @ s
    score = additive_scores(s, h[None], w_memory=W_1, w_state=W_2, v=v)[0]
    return Exercise(
        "additive",
        "Lecture notes, exercise 5: additive score",
        r"Score one encoder state against the decoder's; $\mathbf{v}$ = (1, 1) is added to make the score a number.",
        tuple(
            given(*entry)
            for entry in ((r"\mathbf{W}_1", W_1), (r"\mathbf{W}_2", W_2), (r"\mathbf{h}", h), (r"\mathbf{s}", s))
        ),
        (
            step(r"\mathbf{W}_1\mathbf{h} + \mathbf{W}_2\mathbf{s}", "", inner),
            step(r"\mathbf{t}", r"\tanh(\mathbf{W}_1\mathbf{h} + \mathbf{W}_2\mathbf{s})", inner.tanh()),
            step(r"\mathrm{score}", r"\mathbf{v}^\top\mathbf{t}", score),
        ),
    )


def all_exercises() -> tuple[Exercise, ...]:
    """Return every exercise of the sources that has a number for an answer."""
    return one_query(), one_head(), two_heads(), loops(), context_vector(), softmax(), additive()


def new_exercise(*, seed: int, positions: int = 4, size: int = 3, heads: int = 2) -> Exercise:
    """Make a problem like question 1.3: small whole numbers, scores that are halves, weights worth computing."""
    for what, got, low, high in (("positions", positions, 2, 8), ("size", size, 2, 6), ("heads", heads, 1, 4)):
        if not low <= got <= high:
            raise RegardError(f"lab exercises {what}: got {got}, want {low} to {high}.")
    numbers = random.Random(seed)
    x = _integers(numbers, positions, size, low=-2, high=2)
    chosen = tuple(_friendly_head(numbers, x) for _ in range(heads))
    w_o = _integers(numbers, heads * VALUE_SIZE, size, low=-1, high=2)
    marks = [f"^{{({i})}}" for i in range(1, heads + 1)]
    pairs = list(zip(chosen, marks, strict=True))
    return Exercise(
        f"new-{seed}",
        f"Self-attention with {heads} head{'s' if heads > 1 else ''} (exercise {seed})",
        rf"Compute the weights and the output of every head, and $\mathbf{{Z}}$. Keys have size {KEY_SIZE}.",
        (
            given(r"\mathbf{X}", x),
            *(entry for head, mark in pairs for entry in _given_head(head, mark)),
            given(r"\mathbf{W}_O", w_o),
        ),
        (*(entry for head, mark in pairs for entry in _head_steps(x, head, mark)), _total(x, chosen, w_o)),
    )


def _given_head(head: Head, mark: str) -> tuple[Step, ...]:
    return tuple(given(rf"\mathbf{{W}}_{letter}{mark}", w) for letter, w in zip("QKV", head, strict=True))


def _head_steps(x: Tensor, head: Head, mark: str) -> tuple[Step, ...]:
    output, weights = self_attention(x, *head)
    size = head.w_k.shape[1]
    projected = [x @ w for w in head]
    q, k, v, s, p, z = (rf"\mathbf{{{letter}}}{mark}" for letter in "QKVSPZ")
    return (
        *(
            step(rf"\mathbf{{{letter}}}{mark}", rf"\mathbf{{X}}\,\mathbf{{W}}_{letter}{mark}", value)
            for letter, value in zip("QKV", projected, strict=True)
        ),
        step(s, rf"{q}\,{{{k}}}^\top / \sqrt{{{size}}}", projected[0] @ projected[1].mT / size**0.5),
        step(p, rf"\mathrm{{softmax}}({s})", weights),
        step(z, rf"{p}\,{v}", output),
    )


def _total(x: Tensor, heads: tuple[Head, ...], w_o: Tensor) -> Step:
    joined = r",\;".join(rf"\mathbf{{Z}}^{{({i})}}" for i in range(1, len(heads) + 1))
    return step(r"\mathbf{Z}", rf"[{joined}]\,\mathbf{{W}}_O", multi_head_self_attention(x, heads, w_o)[0])


def _integers(numbers: random.Random, rows: int, columns: int, *, low: int, high: int) -> Tensor:
    """Draw until no two rows are the same and no column is zero."""
    while True:
        drawn = [tuple(numbers.randint(low, high) for _ in range(columns)) for _ in range(rows)]
        if len(set(drawn)) == rows and all(any(column) for column in zip(*drawn, strict=True)):
            return tensor(*drawn)


def _friendly_head(numbers: random.Random, x: Tensor) -> Head:
    """Return the candidate whose weights are nearest to interesting: neither uniform nor all on one key."""
    size = x.shape[1]

    def draw() -> Head:
        w_q, w_k = (_integers(numbers, size, KEY_SIZE, low=-1, high=1) for _ in range(2))
        return Head(w_q, w_k, _integers(numbers, size, VALUE_SIZE, low=-1, high=2))

    def unfriendliness(head: Head) -> float:
        largest = self_attention(x, *head)[1].max(dim=-1).values
        return float((largest - 0.65).abs().max())

    return min((draw() for _ in range(CANDIDATES)), key=unfriendliness)
