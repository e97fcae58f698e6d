"""The pen-and-paper exercises of the practical and of the lecture notes, recomputed; and new ones of the same kind."""

import random

import torch

from regard.attention.functional import Head, multi_head_by_loops, multi_head_self_attention, self_attention
from regard.errors import RegardError
from regard.lab.derivation import Exercise, Step, work_out
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


def all_exercises() -> tuple[Exercise, ...]:
    """Return every exercise of the sources that has a number for an answer."""
    return practical() + lecture_notes()


def practical() -> tuple[Exercise, ...]:
    """Return questions 1.1 to 1.3 of the practical, and 2: the same without any product of two matrices."""
    lists = [(head.w_q.tolist(), head.w_k.tolist(), head.w_v.tolist()) for head in HEADS]
    by_loops = [tensor(*result) for result in multi_head_by_loops(X.tolist(), lists, W_O.tolist())]
    pairs = zip(by_loops, multi_head_self_attention(X, HEADS, W_O), strict=True)
    largest = max(float((ours - theirs).abs().max()) for ours, theirs in pairs)
    return (
        work_out(
            "one query",
            "Practical, question 1.1: one query",
            "Attend from `q` to the rows of `X` with scaled dot products.",
            {"X": X, "q": QUERY},
            ["z = X @ q / sqrt(3)", "a = softmax(z)", "c = X.T @ a"],
        ),
        work_out(
            "self-attention",
            "Practical, question 1.2: self-attention",
            "Let every row of `X` attend to every row.",
            {"X": X, "W_Q": HEADS[0].w_q, "W_K": HEADS[0].w_k, "W_V": HEADS[0].w_v},
            _head_formulas("", 2),
        ),
        _several_heads(
            "two heads",
            "Practical, question 1.3: two heads",
            "Add a second head of all ones and project both with `W_O`.",
            *(X, HEADS, W_O),
        ),
        Exercise(
            "loops",
            "Practical, question 2: scalars and vectors only",
            "Compute `Z` of question 1.3 one number at a time.",
            (),
            (Step("Z", "", by_loops[0].tolist()), Step("largest difference to the matrix version", "", largest)),
        ),
    )


def lecture_notes() -> tuple[Exercise, ...]:
    """Return exercises 1, 3 and 5; the vector v that makes the last one's score a number is ours."""
    return (
        work_out(
            "context",
            "Lecture notes, exercise 1: context vector",
            "Average two encoder states with given weights.",
            {"H": tensor([1, 1], [2, 0]), "alpha": tensor(0.3, 0.7)},
            ["c = H.T @ alpha"],
        ),
        work_out(
            "softmax",
            "Lecture notes, exercise 3: weights from scores",
            "Normalise three alignment scores.",
            {"z": tensor(2, 1, 0)},
            ["e = exp(z)", "alpha = softmax(z)"],
        ),
        work_out(
            "additive",
            "Lecture notes, exercise 5: additive score",
            "Score one encoder state against the decoder's; `v` is added to make the score a number.",
            {"W_1": W_1, "W_2": W_2, "h": tensor(1, 2), "s": tensor(0.5, 1), "v": tensor(1, 1)},
            ["u = W_1 @ h + W_2 @ s", "t = tanh(u)", "score = dot(v, t)"],
        ),
    )


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
    task = f"Compute the weights and the output of every head, and `Z`. Keys have size {KEY_SIZE}."
    return _several_heads(f"new-{seed}", title, task, x, chosen, w_o)


def _several_heads(name: str, title: str, task: str, x: Tensor, heads: tuple[Head, ...], w_o: Tensor) -> Exercise:
    numbered = list(enumerate(heads, 1))
    given = {f"W_{letter}{i}": w for i, head in numbered for letter, w in zip("QKV", head, strict=True)}
    formulas = [formula for i, head in numbered for formula in _head_formulas(str(i), head.w_k.shape[1])]
    joined = f"Z = cat({', '.join(f'Z{i}' for i, _ in numbered)}) @ W_O"
    return work_out(name, title, task, {"X": x, **given, "W_O": w_o}, [*formulas, joined])


def _head_formulas(i: str, size: int) -> list[str]:
    projected = [f"{letter}{i} = X @ W_{letter}{i}" for letter in "QKV"]
    return [*projected, f"S{i} = Q{i} @ K{i}.T / sqrt({size})", f"P{i} = softmax(S{i})", f"Z{i} = P{i} @ V{i}"]


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
