import re

import pytest
import torch

from regard.attention.functional import multi_head_self_attention
from regard.errors import RegardError
from regard.lab.derivation import Exercise, latex, number, plain, render
from regard.lab.errata import all_errata
from regard.lab.exercises import HEADS, W_O, X, all_exercises, new_exercise

PRINTED = {
    ("one query", "z"): [2.59807621, 0, 2.59807621, 0],
    ("one query", "a"): [0.46536883, 0.03463117, 0.46536883, 0.03463117],
    ("one query", "c"): [-1.66342208, 0.8961065, 0.03463117],
    ("self-attention", "Q"): [[-2.25, 4.5], [1.25, 2], [-1.25, 4.75], [-2.75, -3.5]],
    ("self-attention", "K"): [[5.75, 1.5], [2, -0.5], [4.5, 2], [-2.5, 0.5]],
    ("self-attention", "V"): [[-2.5, -7.5], [0.25, 0], [-2, -5.25], [-0.75, -1.5]],
    ("self-attention", "Z"): [
        [-0.75220098, -1.50668721],
        [-2.29564869, -6.58686077],
        [-1.07141415, -2.47595506],
        [-0.74812187, -1.4971829],
    ],
    ("two heads", "Z"): [
        [-6.04664898, 3.77781072, -0.75731086],
        [8.28741825, 0.14750295, 10.57968068],
        [-7.3905735, 5.09982766, -0.01158073],
        [-8.25045389, 4.87428797, -1.50140321],
    ],
    ("context", "c"): [1.7, 0.3],
    ("softmax", "alpha"): [0.66524096, 0.24472847, 0.09003057],
    ("additive", "t"): [0.14888503, 0.73978305],
}


def by_name() -> dict[str, Exercise]:
    return {exercise.name: exercise for exercise in all_exercises()}


@pytest.mark.parametrize(("place", "expected"), PRINTED.items())
def test_printed_numbers(place: tuple[str, str], expected: object) -> None:
    exercise = by_name()[place[0]]
    value = next(entry.value for entry in exercise.steps if plain(entry.symbol) == place[1])
    torch.testing.assert_close(torch.tensor(value).double(), torch.tensor(expected).double(), rtol=0, atol=1e-7)


def test_numbers_appear_in_the_text_digit_by_digit() -> None:
    text = "\n".join(render(exercise, "text") for exercise in all_exercises())
    for digits in (
        "0.46536883",
        "-1.66342208",
        "8.28741825",
        "10.57968068",
        "9.06143069e-09",
        "6.12522986e-10",
        "[1.7  0.3]",
    ):
        assert digits in text


def test_loops_agree_with_matrices() -> None:
    assert by_name()["loops"].steps[-1].value < 1e-12  # type: ignore[operator]


def test_formulas_agree_with_the_functions() -> None:
    for name, heads in (("self-attention", HEADS[:1]), ("two heads", HEADS)):
        found = torch.tensor(by_name()[name].steps[-1].value, dtype=torch.float64)
        expected = multi_head_self_attention(X, heads, W_O if len(heads) == 2 else torch.eye(2, dtype=torch.float64))
        torch.testing.assert_close(found, expected[0])


def test_errata_have_the_right_values() -> None:
    errata = all_errata()
    assert len(errata) == 10
    text = "\n".join(erratum.render() for erratum in errata)
    for right in (
        "[0.149, 0.740]",
        "[0.665, 0.245, 0.090]",
        "[0.889]",
        "[1.100]",
        "[0.665, 0.245, 0.090, 0, 0]",
        "[0.333]",
    ):
        assert right in text
    assert "weight elsewhere, m = 1000, d = 1024 = [0.998]" in text
    minimum = min(w for e in errata if "1.4" in e.where for values in e.values.values() for w in values)
    assert minimum >= 0


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_derivations_are_well_formed(form: str) -> None:
    for exercise in all_exercises():
        text = render(exercise, form)  # type: ignore[arg-type]
        assert text.count("{") == text.count("}")
        assert text.count(r"\begin{bmatrix}") == text.count(r"\end{bmatrix}")
        assert re.search(r"\de-\d", text) is None
    assert r"9.06143069 \times 10^{-9}" in render(by_name()["self-attention"], form)  # type: ignore[arg-type]


def test_formulas() -> None:
    formula = "Q1 @ K1.T / sqrt(2)"
    assert plain(formula) == "Q^1 K^1' / sqrt(2)"
    assert latex(formula) == r"\mathbf{Q}^{(1)}\,{\mathbf{K}^{(1)}}^\top / \sqrt{2}"
    assert latex("cat(Z1, Z2) @ W_O") == r"[\mathbf{Z}^{(1)},\;\mathbf{Z}^{(2)}]\,\mathbf{W}_O"
    assert latex("tanh(W_1 @ h)") == r"\tanh(\mathbf{W}_1\,\mathbf{h})"
    assert number(0.0) == "0"
    assert number(-0.0) == "0"


def test_new_exercises_are_friendly_and_reproducible() -> None:
    first, again, other = (new_exercise(seed=seed, positions=5, size=3, heads=2) for seed in (7, 7, 8))
    assert first == again
    assert first.given != other.given
    values = {plain(entry.symbol): torch.tensor(entry.value) for entry in (*first.given, *first.steps)}
    assert values["X"].shape == (5, 3)
    assert values["W_O"].shape == (4, 3)
    for head in "12":
        halves = 2 * values[f"S^{head}"]
        assert torch.equal(halves, halves.round())
        assert values[f"P^{head}"].max() < 0.999
    assert torch.allclose(torch.cat([values["Z^1"], values["Z^2"]], 1) @ values["W_O"].float(), values["Z"], atol=1e-5)


def test_problem_without_solution() -> None:
    exercise = new_exercise(seed=3, positions=2, size=4, heads=1)
    assert "softmax" not in render(exercise, "text", with_solution=False)
    assert "softmax" in render(exercise, "text")


def test_sizes_out_of_range() -> None:
    with pytest.raises(RegardError) as error:
        new_exercise(seed=1, heads=9)
    assert str(error.value) == "lab exercises heads: got 9, want 1 to 4."
