"""Where the sources of the exercises are wrong, with the right values recomputed."""

import tomllib
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import torch

from regard.attention.functional import attend
from regard.lab.exercises import lecture_notes
from regard.lab.experiments import missed

Values = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Erratum:
    """A statement that does not hold, what does, and the numbers that show it."""

    where: str
    says: str
    right: str
    values: Values

    def to_json(self) -> dict[str, Any]:
        """Return the fields as they are."""
        return asdict(self)

    def render(self) -> str:
        """Write the erratum as one Markdown list item, which reads well as text too."""
        shown = [f"{name} = [{', '.join(map(_short, value))}]" for name, value in self.values.items()]
        return "\n  ".join([f"- {self.where}: {self.says}", f"Right: {self.right}", *shown])


def all_errata() -> tuple[Erratum, ...]:
    """Return the errata: lecture notes, homework write-ups, homework code."""
    texts = tomllib.loads(files("regard.lab").joinpath("errata.toml").read_text(encoding="utf-8"))
    values = _lecture_notes() | _homework()
    return tuple(Erratum(**text, values=values.get(name, {})) for name, text in texts.items())


def _lecture_notes() -> dict[str, Values]:
    values = {(exercise.name, step.symbol): step.value for exercise in lecture_notes() for step in exercise.steps}
    tanh, score, softmax = (
        torch.tensor(values[place], dtype=torch.float64).reshape(-1).tolist()
        for place in (("additive", "t"), ("additive", "score"), ("softmax", "alpha"))
    )
    return {
        "tanh": {"tanh(W_1 h + W_2 s)": tanh},
        "softmax": {"softmax(2, 1, 0)": softmax},
        "score": {"score as printed": tanh, "v . tanh(...) for v = (1, 1)": score},
    }


def _homework() -> dict[str, Values]:
    c, m, d = 20.0, 8, 16
    mu = torch.eye(m, d, dtype=torch.float64)
    queries = {"c (mu_a - mu_b)": mu[0] - mu[1], "c mu_a": mu[0], "c mu_b": mu[1]}
    unit = {"m = 8, d = 16": (m, d, 0.5**0.5), "m = 1000, d = 1024": (1000, 1024, 0.5**0.5), "c = 20": (m, d, c)}
    scores, zeros = torch.tensor([2.0, 1, 0, 0, 0]).double(), torch.zeros(4, 3).double()
    masked = scores.masked_fill(torch.arange(5) > 2, float("-inf"))
    padded = {"softmax(2, 1, 0) with two positions of padding": scores, "masked": masked}
    return {
        "difference": {
            f"weights of v_a, v_b for {q}": attend(c * v, mu, mu)[1][:2].tolist() for q, v in queries.items()
        },
        "unit": {f"weight elsewhere, {name}": [missed(asked=2, m=m, d=d, c=c)] for name, (m, d, c) in unit.items()},
        "square": {"E[lambda^2] for beta = 0.1": [1 + 0.1], "E[lambda]": [1.0]},
        "values": {"size of the value, wanted and given, for enc_hid_dim = 512": [1024.0, 512.0]},
        "padding": {name: z.softmax(0).tolist() for name, z in padded.items()},
        "mean": {name: [zeros.softmax(axis)[0, 0].item()] for name, axis in (("given", 0), ("right", 1))},
    }


def _short(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.3f}"
