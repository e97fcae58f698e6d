"""What a student's process can and cannot do. Every attempt here is bounded, should a wall not stand."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli.check import check as command
from regard.course.check import check
from regard.course.grade import Report
from regard.course.sandbox import Limits, Sandbox, Stopped

SUBMISSIONS = Path(__file__).parents[2] / "submissions"
HOSTILE = {
    "allocates_100_gb": "exception",
    "closes_every_pipe": "died",
    "endless_loop": "timeout",
    "forks": "exception",
    "os_exit": "died",
    "prints_without_end": "timeout",
    "tries_everything": "forbidden",
    "writes_to_every_pipe": "garbled",
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits need POSIX")


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    def run(stem: str) -> Report:
        seconds = 2 if HOSTILE.get(stem) == "timeout" else 30
        return check(SUBMISSIONS / "hostile" / f"{stem}.py", limits=Limits(seconds=seconds))

    stems = [*HOSTILE, "reads_above"]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(stems, pool.map(run, stems), strict=True))


@pytest.mark.parametrize(("stem", "code"), HOSTILE.items())
def test_hostile_code_is_survived_and_named(reports: dict[str, Report], stem: str, code: str) -> None:
    assert code in [finding.code for finding in reports[stem].findings]
    assert reports[stem].total < reports[stem].full


def test_refusals_are_told(reports: dict[str, Report]) -> None:
    assert "It tried what is not allowed here: os.scandir ..." in reports["reads_above"].remarks
    assert "Refused: os.fork." in [finding.seen for finding in reports["forks"].findings]
    everything = reports["tries_everything"]
    assert [finding.seen for finding in everything.findings] == [
        "Refused: os.remove /etc/hostname, writing ../regard-was-here, subprocess.Popen, os.kill, import regard."
    ]
    assert any("socket" in remark for remark in everything.remarks)
    assert everything.total == 18


def test_print_is_kept_apart_from_results(reports: dict[str, Report]) -> None:
    assert reports["reads_above"].total == 20
    assert reports["reads_above"].printed.startswith('{"ok": {"points": 20, "files": []}}')
    assert len(reports["prints_without_end"].printed) == 2000


RAW = """
import ctypes, os
print(os.getcwd())
api = ctypes.pythonapi  # past Python's own checks, straight to the kernel
def fork():
    child = api.fork()
    if child == 0:
        os._exit(0)
    return child
print([fork() for _ in range(3)])
print([api.open(path, 0) for path in (b"/etc/passwd", b"SOLUTION")])
print(api.open(b"VICTIM", 1), api.unlink(b"VICTIM"))
print(api.kill(os.getppid(), 0))
print(api.open(b"own", 65, 384) > 0)
print("SECRET_OF_THE_GRADER" in os.environ)
"""


def test_the_kernel_refuses_what_python_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "42")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    solution = Path(sys.modules["regard.course.check"].__file__ or "").with_name("homework.py")
    source = RAW.replace("VICTIM", str(victim)).replace("SOLUTION", str(solution))
    with Sandbox(Limits(seconds=30)) as sandbox:
        if not all(sandbox.walls.values()):
            pytest.skip(f"this system has not all walls: {sandbox.walls}")
        assert sandbox.ask({"op": "load", "source": source, "name": "raw.py"})["ok"]["note"] is None
        with pytest.raises(Stopped, match=r"^exit code 3$"):
            sandbox.ask({"op": "load", "source": "import os\nos._exit(3)", "name": "gone.py"})
    folder, *rest = sandbox.printed.splitlines()
    assert rest == ["[-1, -1, -1]", "[-1, -1]", "-1 -1", "-1", "True", "False"]
    assert victim.read_text() == "precious"
    assert not Path(folder).exists()


def test_command_with_one_file() -> None:
    result = CliRunner().invoke(command, [str(SUBMISSIONS / "wrong" / "scale_missing.py")])
    assert result.exit_code == 1
    assert "18 / 20 points" in result.stdout


def test_command_with_a_folder(tmp_path: Path) -> None:
    for place in ("right/einsum.py", "wrong/return_order.py"):
        (tmp_path / Path(place).name).write_text((SUBMISSIONS / place).read_text())
    result = CliRunner().invoke(command, [str(tmp_path), "--csv"])
    assert result.exit_code == 1
    rows = [line.split(",") for line in result.stdout.splitlines()]
    assert [row[:5] for row in rows[1:]] == [
        ["einsum.py", "SingleQueryScaledDotProductAttention", "single_query", "20", "20"],
        ["return_order.py", "SingleQueryScaledDotProductAttention", "single_query", "18", "20"],
    ]
    as_json = CliRunner().invoke(command, [str(tmp_path / "einsum.py"), "--json", "--as", "single_query"])
    assert as_json.exit_code == 0
    assert json.loads(as_json.stdout)[0]["points"] == 20


def test_command_with_nothing_there(tmp_path: Path) -> None:
    for place, what in (("nowhere.py", "is not there"), (str(tmp_path), "holds no submission")):
        result = CliRunner().invoke(command, [place])
        assert result.exit_code == 2
        assert f"'{place}' {what}. Want a Python file, FILE.py:Class, a notebook, or a folder." in result.stderr


def test_command_prints_one_form() -> None:
    result = CliRunner().invoke(command, ["x.py", "--json", "--csv"])
    assert result.exit_code == 2
    assert "--json and --csv: choose one." in result.stderr


def test_a_file_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xff\xfe")
    (tmp_path / "b.py").write_text((SUBMISSIONS / "right" / "dot_product.py").read_text())
    result = CliRunner().invoke(command, [str(tmp_path), "--json", "--train"])
    unreadable, right = json.loads(result.stdout)
    assert unreadable["findings"][0]["code"] == "unreadable"
    assert unreadable["findings"][0]["seen"].endswith(
        "a.py: got bytes that are no text, want a readable Python file or notebook."
    )
    assert right["points"] == 20
    assert right["remarks"] == ["b.py: --train got a dot_product class, want one with the homework's signature."]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("anna", "ben", "ben/.ipynb_checkpoints"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "homework.py").write_text("x = 1\n")
    for given in ([str(tmp_path)], [str(tmp_path / name / "homework.py") for name in ("anna", "ben")]):
        rows = CliRunner().invoke(command, [*given, "--csv"]).stdout.splitlines()[1:]
        assert [row.partition(",")[0] for row in rows] == ["anna/homework.py", "ben/homework.py"]


@pytest.mark.parametrize(
    "content",
    [json.dumps({"cells": [{"cell_type": "code", "source": "-" * 200_000 + "1"}]}), "[" * 100_000],
    ids=["cell", "file"],
)
def test_what_is_nested_too_deeply_does_not_end_the_grading(tmp_path: Path, content: str) -> None:
    path = tmp_path / "deep.ipynb"
    path.write_text(content, encoding="utf-8")
    report = check(path, limits=Limits(seconds=30))
    assert report.findings
    assert report.total < report.full


@pytest.mark.parametrize("error", [AttributeError("text"), OverflowError("infinity")])
def test_a_reply_that_makes_no_sense_is_a_finding(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def forged(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("regard.course.check.grade", forged)
    report = check(SUBMISSIONS / "hostile" / "reads_above.py")
    assert [finding.code for finding in report.findings] == ["garbled"]
