"""Training and decoding against OpenNMT-py and JoeyNMT: same data, same sizes, in one run and by turns.

    make peers                     # installs both into .peers/
    python -m benchmarks.peers [--rounds 2] [--seconds 15] [--threads 2] [--opennmt PYTHON] [--joeynmt PYTHON]

Data: Multi30k German to English if it is found through REGARD_DATA or in the cache, else the corpus `scenes`, as joint
BPE of 6,000 pieces, cut once for all sides. Sizes: embeddings of 256; OpenNMT-py's encoder 2 x 256, JoeyNMT's 2 x 512
GRU; decoder GRU 512 with Luong's general attention and input feeding. regard trains the same (`feeding`), and also the
wiring that knows all queries beforehand (`attentional`). All sides: Adam, batches of 2,500 tokens of the longer side,
dropout 0.3, gradient norm 1, float32 for the peers and for regard unless the processor has bfloat16.

Training is measured in target tokens a second, without padding, after start-up and the first steps; the peers run their
own training commands. Decoding: 1,000 test sentences in batches of 100, every side made to produce as many tokens for
each sentence as the references have on average. Start-up: the whole command that translates one sentence.

What the peers need to run is said in `benchmarks.toolkits`. A side that fails or is too slow is reported and left out.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.ours import write_run
from benchmarks.pieces import OPENNMT, Pieces, Sizes, config_of
from benchmarks.toolkits import JoeyNmt, OpenNmt, Peer
from benchmarks.turns import OUT, Result, Side, SideFailed, environment, record

WIRINGS = ("feeding", "attentional")
WIDTHS = {"greedy": 1, "beam 5": 5}
Turn = Callable[[], float]


@dataclass
class Comparison:
    """Sides that take turns, the peer first."""

    what: str
    unit: str
    turns: dict[str, Turn]
    is_time: bool = False
    values: dict[str, list[float]] = field(default_factory=dict)

    def round(self) -> None:
        """Let every side have its turn; one that fails has no further ones."""
        for side, turn in list(self.turns.items()):
            try:
                value = turn()
            except SideFailed as failure:
                say(f"{self.what}: {side} is left out: {failure}")
                del self.turns[side]
                self.values.pop(side, None)
                continue
            say(f"{self.what}: {side} {value:,.2f} {self.unit}")
            self.values.setdefault(side, []).append(value)

    @property
    def results(self) -> list[Result]:
        """What was measured, the peer first."""
        return [Result(side, values) for side, values in self.values.items()]

    def ratios(self) -> dict[str, float]:
        """Return how many times as fast as the peer each side of ours is; nothing where the peer failed."""
        peer, *ours = self.results or [Result("", [])]
        if peer.side.startswith("regard") or not ours:
            return {}
        return {one.side: (peer.median / one.median if self.is_time else one.median / peer.median) for one in ours}

    def print(self) -> None:
        """Print medians and ratios."""
        ratios = self.ratios()
        print(self.what)
        for result in self.results:
            ratio = f"{ratios[result.side]:8.2f} times as fast" if result.side in ratios else ""
            print(f"  {result.side:<20} {result.median:>10,.2f} {self.unit}{ratio}")


@dataclass(frozen=True)
class Bench:
    """What all comparisons share."""

    pieces: Pieces
    seconds: float
    patience: float
    threads: int
    stack: ExitStack
    """Ends our sides."""
    parameters: dict[str, int]
    """Of every side's model."""

    def side(self, sizes: Sizes, wiring: str, name: str) -> Side:
        """Start a side of ours and wait until it is warm."""
        command = [sys.executable, "-m", "benchmarks.ours", str(self.pieces.folder), str(sizes.encoder), wiring]
        side = Side(command, threads=self.threads)
        self.stack.callback(side.close)
        self.parameters[name] = int(side.ask("parameters", seconds=self.patience)[0])
        return side

    def training(self, peer: Peer, sides: dict[str, Side]) -> Comparison:
        """Compare training at a peer's sizes."""

        def train() -> float:
            speed, self.parameters[peer.name] = peer.train(self.seconds)
            return speed

        allowed = self.patience + self.seconds
        ours = {name: partial(side.speed, f"train {self.seconds}", seconds=allowed) for name, side in sides.items()}
        return Comparison(f"training at {peer.name}'s sizes", "target tokens/s", {peer.name: train, **ours})

    def decoding(self, peer: OpenNmt, sides: dict[str, Side]) -> list[Comparison]:
        """Compare greedy search, beam search and start-up."""
        peer.write_checkpoint()
        comparisons = []
        for search, width in WIDTHS.items():
            ours = {name: partial(side.speed, f"decode {width}", seconds=self.patience) for name, side in sides.items()}
            turns: dict[str, Turn] = {peer.name: partial(peer.decode, width), **ours}
            comparisons.append(Comparison(f"decoding, {search}, {peer.name}'s sizes", "tokens/s", turns))
        starts = {peer.name: peer.start_up, "regard feeding": self.start_up}
        return [*comparisons, Comparison("start-up, one sentence, beam 5", "s", starts, is_time=True)]

    def start_up(self) -> float:
        """Translate one sentence with the command line; return the seconds of the whole command."""
        length = str(self.pieces.decoded_length)
        run, sentence = self.pieces.folder / "run", self.pieces.folder / "one.text"
        if not run.exists():
            write_run(self.pieces, config_of(OPENNMT, "feeding"), run)
            words = self.pieces.lines("one.source")[0].split(" ")
            sentence.write_text(self.pieces.tokenizers.source.text(words) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "regard", "translate", str(run), str(sentence), "--beam", "5"]
        command += ["--min-length", length, "--max-length", length]
        began = time.perf_counter()
        try:
            subprocess.run(
                command, env=environment(self.threads), check=True, capture_output=True, timeout=self.patience
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise SideFailed(str(error)) from None
        return time.perf_counter() - began


def comparisons_of(bench: Bench, peer: Peer) -> list[Comparison]:
    """Return what there is to compare with a peer; nothing, and why, if it or we cannot begin."""
    try:
        names = {wiring: f"regard {wiring}" for wiring in WIRINGS}
        sides = {name: bench.side(peer.sizes, wiring, f"{name}, {peer.name}") for wiring, name in names.items()}
        decoding = bench.decoding(peer, sides) if isinstance(peer, OpenNmt) else []
    except SideFailed as failure:
        say(f"{peer.name} is left out: {failure}")
        return []
    return [bench.training(peer, sides), *decoding]


def say(text: str) -> None:
    """Tell whoever is waiting."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opennmt", default=".peers/opennmt/bin/python", help="Python that has OpenNMT-py 3.5")
    parser.add_argument("--joeynmt", default=".peers/joeynmt/bin/python", help="Python that has JoeyNMT 2.3")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=15.0, help="how long a side trains in its turn")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds a side may need beyond that")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="processor threads, for all sides alike")
    arguments = parser.parse_args()
    # An environment is known by its link: what the link points at has no peer.
    pythons = {OpenNmt: os.path.abspath(arguments.opennmt), JoeyNmt: os.path.abspath(arguments.joeynmt)}
    folder = (OUT / "peers").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # as an exception: the sides end too
    comparisons: list[Comparison] = []
    with ExitStack() as stack:
        pieces = Pieces.write(folder)
        bench = Bench(pieces, arguments.seconds, arguments.patience, arguments.threads, stack, {})
        stack.callback(lambda: tell(comparisons, bench))  # also of a run that is cut short
        for kind, python in pythons.items():
            if Path(python).exists():
                comparisons += comparisons_of(bench, kind(python, pieces, arguments.threads, arguments.patience))
            else:
                say(f"{kind.name} is left out: there is no {python}; `make peers` installs it.")
        for number in range(arguments.rounds):
            say(f"round {number + 1} of {arguments.rounds}")
            for comparison in comparisons:
                comparison.round()


def tell(comparisons: list[Comparison], bench: Bench) -> None:
    """Print what was measured and add it to the record."""
    for comparison in comparisons:
        if comparison.values:
            comparison.print()
            line = {"what": comparison.what, "unit": comparison.unit, "ratios": comparison.ratios()}
            about = {"parameters": bench.parameters, "corpus": bench.pieces.corpus}
            record("peers", {**line, "values": comparison.values, **about}, threads=bench.threads)


if __name__ == "__main__":
    main()
