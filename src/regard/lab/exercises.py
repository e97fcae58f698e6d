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
from regard.lab.derivation import Exercise, Step, step
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
    return Exercise(
        "one query",
        "Practical, question 1.1: one query",
        r"Attend from $\mathbf{q}$ to the rows of $\mathbf{X}$ with scaled dot products.",
        (step(r"\mathbf{X}", X), step(r"\mathbf{q}", QUERY)),
        (
            step(r"\mathbf{z}", X @ QUERY / X.shape[1] ** 0.5, r"\mathbf{X}\,\mathbf{q} / \sqrt{3}"),
            step(r"\mathbf{a}", weights, r"\mathrm{softmax}(\mathbf{z})"),
            step(r"\mathbf{c}", output, r"\mathbf{X}^\top\,\mathbf{a}"),
        ),
    )


def one_head() -> Exercise:
    """Practical, question 1.2: self-attention with one head."""
    return Exercise(
        "self-attention",
        "Practical, question 1.2: self-attention",
        r"Let every row of $\mathbf{X}$ attend to every row.",
        (step(r"\mathbf{X}", X), *_given_head(HEADS[0], "")),
        _head_steps(X, HEADS[0], ""),
    )


def two_heads() -> Exercise:
    """Practical, question 1.3: a second head of all ones, and an output projection."""
    task = r"Add a second head of all ones and project both with $\mathbf{W}_O$."
    return _several_heads("two heads", "Practical, question 1.3: two heads", task, X, HEADS, W_O)


def loops() -> Exercise:
    """Practical, question 2: the same without any product of two matrices."""
    expected = multi_head_self_attention(X, HEADS, W_O)
    lists = [(head.w_q.tolist(), head.w_k.tolist(), head.w_v.tolist()) for head in HEADS]
    by_loops = [tensor(*result) for result in multi_head_by_loops(X.tolist(), lists, W_O.tolist())]
    largest = torch.stack([(ours - theirs).abs().max() for ours, theirs in zip(by_loops, expected, strict=True)]).max()
    return Exercise(
        "loops",
        "Practical, question 2: scalars and vectors only",
        r"Compute $\mathbf{Z}$ of question 1.3 one number at a time.",
        (),
        (step(r"\mathbf{Z}", by_loops[0]), step(r"\mathrm{largest difference to the matrix version}", largest)),
    )


def context_vector() -> Exercise:
    """Lecture notes, exercise 1."""
    states, weights = tensor([1, 1], [2, 0]), tensor(0.3, 0.7)
    return Exercise(
        "context",
        "Lecture notes, exercise 1: context vector",
        "Average two encoder states with given weights.",
        (step(r"\mathbf{H}", states), step(r"\alpha", weights)),
        (step(r"\mathbf{c}", weights @ states, r"\mathbf{H}^\top\,\alpha"),),
    )


def softmax() -> Exercise:
    """Lecture notes, exercise 3."""
    scores = tensor(2, 1, 0)
    weights = step(r"\alpha", scores.exp() / scores.exp().sum(), r"\mathrm{softmax}(\mathbf{z})")
    return Exercise(
        "softmax",
        "Lecture notes, exercise 3: weights from scores",
        "Normalise three alignment scores.",
        (step(r"\mathbf{z}", scores),),
        (step(r"\exp \mathbf{z}", scores.exp()), weights),
    )


def additive() -> Exercise:
    """Lecture notes, exercise 5; the vector v that makes the score a number is ours."""
    h, s, v = tensor(1, 2), tensor(0.5, 1), tensor(1, 1)
    inner, formula = W_1 @ h + W_2 @ s, r"\mathbf{W}_1\,\mathbf{h} + \mathbf{W}_2\,\mathbf{s}"
    score = additive_scores(s, h[None], w_memory=W_1, w_state=W_2, v=v)[0]
    return Exercise(
        "additive",
        "Lecture notes, exercise 5: additive score",
        r"Score one encoder state against the decoder's; $\mathbf{v}$ = (1, 1) is added to make the score a number.",
        tuple(
            step(rf"\mathbf{{{name[0]}}}{name[1:]}", x) for name, x in (("W_1", W_1), ("W_2", W_2), ("h", h), ("s", s))
        ),
        (
            step(formula, inner),
            step(r"\mathbf{t}", inner.tanh(), rf"\tanh({formula})"),
            step(r"\mathrm{score}", score, r"\mathbf{v}^\top\,\mathbf{t}"),
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
    title = f"Self-attention with {heads} head{'s' if heads > 1 else ''} (exercise {seed})"
    task = rf"Compute the weights and the output of every head, and $\mathbf{{Z}}$. Keys have size {KEY_SIZE}."
    return _several_heads(f"new-{seed}", title, task, x, chosen, w_o)


def _several_heads(name: str, title: str, task: str, x: Tensor, heads: tuple[Head, ...], w_o: Tensor) -> Exercise:
    pairs = [(head, f"^{{({i})}}") for i, head in enumerate(heads, 1)]
    joined = r",\;".join(rf"\mathbf{{Z}}{mark}" for _, mark in pairs)
    z = multi_head_self_attention(x, heads, w_o)[0]
    given = [entry for head, mark in pairs for entry in _given_head(head, mark)]
    steps = [entry for head, mark in pairs for entry in _head_steps(x, head, mark)]
    return Exercise(
        name,
        title,
        task,
        (step(r"\mathbf{X}", x), *given, step(r"\mathbf{W}_O", w_o)),
        (*steps, step(r"\mathbf{Z}", z, rf"[{joined}]\,\mathbf{{W}}_O")),
    )


def _given_head(head: Head, mark: str) -> tuple[Step, ...]:
    return tuple(step(rf"\mathbf{{W}}_{letter}{mark}", w) for letter, w in zip("QKV", head, strict=True))


def _head_steps(x: Tensor, head: Head, mark: str) -> tuple[Step, ...]:
    output, weights = self_attention(x, *head)
    size, projected = head.w_k.shape[1], [x @ w for w in head]
    q, k, v, s, p, z = (rf"\mathbf{{{letter}}}{mark}" for letter in "QKVSPZ")
    formulas = (rf"\mathbf{{X}}\,\mathbf{{W}}_{letter}{mark}" for letter in "QKV")
    return (
        *map(step, (q, k, v), projected, formulas),
        step(s, projected[0] @ projected[1].mT / size**0.5, rf"{q}\,{{{k}}}^\top / \sqrt{{{size}}}"),
        step(p, weights, rf"\mathrm{{softmax}}({s})"),
        step(z, output, rf"{p}\,{v}"),
    )


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
