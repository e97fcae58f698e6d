"""Imports point one way, and the light parts stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "regard"
LAYERS = (
    {"types", "errors", "registry", "parts", "device", "disk", "exact"},
    {"config"},
    {"data", "attention", "metrics"},
    {"models"},
    {"search"},
    {"run"},
    {"translate", "translation", "evaluate", "groups"},
    {"training", "compare"},
    {"bench"},
    {"pictures", "report", "lab", "course"},
    {"serve"},
    {"cli"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def part_of(module: str) -> str:
    return ([*module.split("."), ""])[1]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {part_of(name) for name in found if name.startswith("regard.")}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own in {"__init__", "__main__"}:
        return
    assert own in LEVEL, f"give '{own}' a place in LAYERS"
    back = {name for name in imported(path) if name != own and LEVEL[name] > LEVEL[own]}
    assert not back, f"{own} must not import {sorted(back)}"


@pytest.mark.parametrize(
    "call", ["import regard", "import regard.cli, regard.cli.serve", "import regard.config, regard.parts"]
)
def test_light_imports_leave_torch_alone(call: str) -> None:
    code = f"{call}; import sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
