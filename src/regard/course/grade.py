"""Findings, points and the report of one submission."""

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

PARTS = {
    "interface": "builds, runs, and returns value and weights in the right shapes",
    "distribution": "the weights of a sentence are positive and sum to 1",
    "score": "the score is the one that the assignment asks for",
    "scale": "the scores are scaled as the assignment asks",
    "value": "what is read is made from the values with the weights",
    "batch": "any batch size and length, and no sentence influences another",
    "training": "gradients reach the inputs and every weight, and all weights are registered",
    "robust": "the same input gives the same result, at large scores too; inputs stay as they are",
}


@cache
def texts() -> dict[str, dict[str, str]]:
    """Return what there is to say about each mistake."""
    return tomllib.loads(files("regard.course").joinpath("findings.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake by name: what was seen, why it is likely there, what to think about."""

    code: str
    part: str
    title: str
    seen: str
    likely: str
    hint: str


@dataclass(slots=True)
class Report:
    """What a submission got, and why."""

    file: str
    name: str
    kind: str
    points: dict[str, int]
    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    judged: set[str] = field(default_factory=set)
    walls: dict[str, bool] = field(default_factory=dict)
    printed: str = ""
    lesson: dict[str, Any] = field(default_factory=dict)
    """Losses of a training with the class, with ours and with none."""
    seconds: float = 0.0

    def blame(self, part: str, code: str, **facts: Any) -> None:
        """Note a mistake, once, with facts for its texts; the part it belongs to gets no points."""
        self.judged.add(part)
        if not any((finding.code, finding.part) == (code, part) for finding in self.findings):
            filled = {name: text.format(**facts) for name, text in texts()[code].items()}
            self.findings.append(Finding(code, part, **filled))

    def has(self, *codes: str) -> bool:
        """Say whether one of these mistakes was found."""
        return any(finding.code in codes for finding in self.findings)

    def got(self, part: str) -> int:
        """Return the points of a part: all or none."""
        is_passed = part in self.judged and not any(finding.part == part for finding in self.findings)
        return self.points[part] if is_passed else 0

    @property
    def total(self) -> int:
        """The points of all parts."""
        return sum(map(self.got, self.points))

    @property
    def full(self) -> int:
        """The points there are."""
        return sum(self.points.values())

    def to_json(self) -> dict[str, Any]:
        """Return the report for a grade book."""
        parts = {p: {"points": self.got(p), "of": of, "status": self._status(p)} for p, of in self.points.items()}
        return {
            "file": self.file, "class": self.name, "as": self.kind, "points": self.total, "of": self.full,
            "parts": parts, "findings": [asdict(each) for each in self.findings], "remarks": self.remarks,
            "contained": self.walls,
            "printed": self.printed, "lesson": self.lesson, "seconds": round(self.seconds, 2),
        }  # fmt: skip

    def render(self) -> str:
        """Write the report as a teaching assistant would."""
        lines = [f"{self.file}  {self.name or '(no class)'}  as {self.kind}:  {self.total} / {self.full} points"]
        for part, of in self.points.items():
            lines.append(f"  {self._status(part):10} {part:12} {self.got(part)} / {of}  {PARTS[part]}")
            for finding in (f for f in self.findings if f.part == part):
                lines += [f"      {finding.title}."]
                for label, text in (("seen", finding.seen), ("likely", finding.likely), ("hint", finding.hint)):
                    lines.append(f"        {label + ':':8}{text}")
        return "\n".join([*lines, *(f"  remark: {remark}" for remark in self.remarks), *self._render_lesson()])

    def _render_lesson(self) -> list[str]:
        if not self.lesson:
            return []
        curves = self.lesson["training"]
        lines = [f"  training on scenes, nats per token   {''.join(f'{name:>10}' for name in curves)}"]
        rows = [(f"after {step} steps", i) for i, step in enumerate(self.lesson["steps"])]
        lines += [f"    {label:35}{''.join(f'{curve[i]:10.3f}' for curve in curves.values())}" for label, i in rows]
        lines.append(f"    {'validation':35}{''.join(f'{loss:10.3f}' for loss in self.lesson['validation'].values())}")
        return [*lines, f"  {self.lesson['verdict']}"]

    def _status(self, part: str) -> str:
        if part not in self.judged:
            return "not judged"
        return "passed" if self.got(part) else "FAILED"


def table(reports: Iterable[Report]) -> list[list[str]]:
    """Return one row per submission under a header, for CSV and for the terminal."""
    rows = [["file", "class", "as", "points", "of", *PARTS, "findings", "seconds"]]
    for report in reports:
        by_part = [str(report.got(part)) if part in report.points else "" for part in PARTS]
        codes = " ".join(dict.fromkeys(finding.code for finding in report.findings))
        head = [report.file, report.name, report.kind, str(report.total), str(report.full)]
        rows.append([*head, *by_part, codes, f"{report.seconds:.1f}"])
    return rows
