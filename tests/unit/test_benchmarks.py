import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.peers import Comparison
from benchmarks.pieces import OPENNMT, Pieces
from benchmarks.toolkits import JoeyNmt, OpenNmt, Peer
from benchmarks.turns import Side, SideFailed

REPORTS = """
import time
print("parameters 7", flush=True)
for speed in (1, 1, 1, 50, 50, 50):
    print("speed", speed, flush=True)
    time.sleep(0.05)
time.sleep(60)
"""


@dataclass(frozen=True)
class Scripted(Peer):
    script: str = ""
    name = "scripted"
    sizes = OPENNMT
    report = re.compile(r"speed (\d+)")
    parameters = re.compile(r"parameters (\d+)")

    def training(self) -> list[str]:
        return [sys.executable, "-c", self.script]


def peer(folder: Path, script: str, *, patience: float = 20) -> Scripted:
    return Scripted(sys.executable, Pieces(folder), threads=1, patience=patience, script=script)


def test_a_peer_is_timed_after_its_warm_up_and_then_ended(tmp_path: Path) -> None:
    speed, parameters = peer(tmp_path, REPORTS).train(0.06)
    assert speed == pytest.approx(50)
    assert parameters == 7


@pytest.mark.parametrize(
    ("script", "patience", "text"),
    [
        ("print('speed 1')", 20, "its training ended or was ended after 1 reports"),
        ("raise SystemExit(3)", 20, "ended with 3"),
        ("import time; time.sleep(60)", 0.5, "ended with -9"),
    ],
)
def test_a_peer_that_fails_is_told(tmp_path: Path, script: str, patience: float, text: str) -> None:
    with pytest.raises(SideFailed, match=text):
        peer(tmp_path, script, patience=patience).train(0.01)


def test_reports_of_the_toolkits_are_understood() -> None:
    line = "Step  2/1000000; acc: 4.1; lr: 0.00100; sents:     402; bsz: 2371/2287/201; 3251/3137 tok/s;     4 sec;"
    found = OpenNmt.report.search(line)
    assert found
    assert found[1] == "3137"
    found = JoeyNmt.report.search(
        "Epoch   1, Step:        8, Batch Acc: 0.063269, Tokens per Sec:     1144, Lr: 0.001000"
    )
    assert found
    assert found[1] == "1144"


def test_a_side_answers_or_is_ended() -> None:
    side = Side([sys.executable, "-c", "print(input() and 6, 2, flush=True); import time; time.sleep(60)"])
    assert side.speed("work") == 3
    with pytest.raises(SideFailed, match=r"gave no answer to more within 0 s"):
        side.ask("more", seconds=0.2)
    side.close()


def test_a_side_that_ends_is_not_said_to_be_late() -> None:
    side = Side([sys.executable, "-c", "input()"])
    with pytest.raises(SideFailed, match="ended; see above"):
        side.ask("anything", seconds=20)
    side.close()


def fail() -> float:
    raise SideFailed("it is broken")


def test_a_ratio_says_how_many_times_as_fast_and_a_failed_side_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    speeds = Comparison("training", "tokens/s", {"peer": lambda: 2.0, "regard a": lambda: 6.0, "regard b": fail})
    times = Comparison("start", "s", {"peer": lambda: 2.0, "regard a": lambda: 0.5}, is_time=True)
    alone = Comparison("alone", "s", {"peer": fail, "regard a": lambda: 1.0, "regard b": lambda: 2.0})
    for comparison in (speeds, times, alone):
        comparison.round()
    assert speeds.ratios() == {"regard a": 3.0}
    assert times.ratios() == {"regard a": 4.0}
    assert alone.ratios() == {}
    assert "training: regard b is left out: it is broken\n" in capsys.readouterr().err
