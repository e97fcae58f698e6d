"""translate, evaluate and score through the command line, on runs that were trained for a second."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from regard.cli import main
from tiny_runs import make_run


def call(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin, catch_exceptions=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("runs")
    cells = {"strings": ("reverse",), "scenes": ("scenes",), "twin": ("scenes", "train.seed=2")}
    return {name: str(make_run(folder / name, *words, is_evaluated=False).path) for name, words in cells.items()}


SAMPLED = "has no effect with --sample, which draws translations and compares none."
GREEDY = "has no effect on greedy search, which has nothing to compare; want --beam 2 or more."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("translate {scenes} --temperature 0.5", "--temperature: has no effect without --sample."),
        ("translate {scenes} --top-k 3", "--top-k: has no effect without --sample."),
        ("translate {scenes} --top-p 0.5", "--top-p: has no effect without --sample."),
        ("translate {scenes} --seed 3", "--seed: has no effect without --sample."),
        ("translate {scenes} --sample --beam 3", f"--beam: {SAMPLED}"),
        ("translate {scenes} --sample --coverage 1", f"--coverage: {SAMPLED}"),
        ("translate {scenes} --beam 1 --length-penalty 0.5", f"--length-penalty: {GREEDY}"),
        ("evaluate {scenes} --beam 1 --gnmt", f"--gnmt: {GREEDY}"),
        ("translate {scenes} --json --scores", "--scores: has no effect with --json, which has everything."),
        ("translate {scenes} --n-best 6", "--n-best: got 6, want an integer from 1 to the width, 5."),
        ("translate {scenes} --max-length 0", "--max-length: got 0, want at least 1."),
        ("translate {scenes} --length-penalty -1", "--length-penalty: got -1.0, want a number >= 0."),
        ("translate {scenes} --coverage -1", "--coverage: got -1.0, want a number >= 0."),
        ("translate {scenes} --no-repeat 0", "--no-repeat: got 0, want an integer >= 1."),
        ("translate {scenes} --sample --temperature 0", "--temperature: got 0.0, want a number > 0."),
        ("translate {scenes} --sample --top-k 0", "--top-k: got 0, want an integer >= 1."),
        ("translate {scenes} --sample --top-p 2", "--top-p: got 2.0, want a number above 0 and at most 1."),
        ("translate {scenes} --beam 5000 --max-length 100000",
         "search: width 5000, up to 100000 tokens from 1, needs about 34 GB of memory for a sentence, want at most 4. "
         "Shorten it, or lower the width or length."),
        ("translate {scenes} --also {strings}",
         "{strings}: has another vocabulary than {scenes}; an ensemble needs one."),
        ("evaluate {scenes} --beam 0", "--beam: got 0, want an integer >= 1."),
        ("evaluate {scenes} --alignments nowhere", "nowhere: cannot read the file (No such file or directory)."),
        ("evaluate {scenes} --split tset", "Unknown split 'tset' of corpus scenes. Did you mean 'test'?"),
        ("score {scenes} --split tset", "Unknown split 'tset' of corpus scenes. Did you mean 'test'?"),
        ("score {scenes} a b --split test", "--split: has no effect with files."),
    ],
)  # fmt: skip
def test_what_would_be_ignored_or_cannot_be_done_is_one_line(runs: dict[str, str], words: str, message: str) -> None:
    result = call(*words.format(**runs).split(), stdin="Ein Hund\n")
    assert result.exit_code == 1
    assert result.stderr == f"Error: {message.format(**runs)}\n"
    assert result.stdout == ""


def test_widths_give_a_table_with_intervals_and_search_errors(runs: dict[str, str]) -> None:
    result = call("evaluate", runs["scenes"], "--beam", "1", "2", "3")
    first, others, lower, tokenised = result.stdout.split("\n\n")
    head, *rows = first.splitlines()
    assert head.split("  ")[0] == "search"
    assert "95 % interval" in head
    assert "score up on greedy" in head
    assert [row.split()[0] for row in rows] == ["greedy", "beam2-power0.7", "beam3-power0.7"]
    stored = json.loads((Path(runs["scenes"]) / "evaluations" / "test-beam3-power0.7.json").read_text())
    errors = stored["search_errors"]
    assert list(errors) == ["greedy", "beam2-power0.7"]
    counts = [errors[name][key] for name in errors for key in ("better_score", "worse_quality")]
    assert rows[2].split()[-4:] == [str(count) for count in counts]
    assert "bleu" not in others
    assert lower.startswith("bleu_lc does not compare with bleu: different letter case (mixed and lc).\nsearch")
    assert tokenised.startswith("bleu_tok_lc does not compare with bleu: ")
    printed = json.loads(call("evaluate", runs["scenes"], "--beam", "1", "2", "3", "--json").stdout)
    assert printed[2]["search_errors"] == errors


def test_one_search_gives_every_metric_and_the_lengths(runs: dict[str, str]) -> None:
    result = call("evaluate", runs["scenes"])
    main_table, _, tokenised, lengths = result.stdout.split("\n\n")
    names = [row.split()[0] for row in main_table.splitlines()]
    assert names[:2] == ["metric", "bleu"]
    assert {"bleu_lc", "bleu_tok_lc"} & {*names} == set()
    assert "tok:split_words" in tokenised
    head, *rows = lengths.splitlines()
    assert head.split() == ["source", "length", "sentences", "bleu", "95", "%", "interval"]
    assert sum(int(re.split(" {2,}", row)[1]) for row in rows) == 25
    assert all(" to " in row for row in rows)


def test_an_ensemble_is_evaluated_and_scored_with_the_option_of_translate(runs: dict[str, str]) -> None:
    result = call("evaluate", runs["scenes"], "--also", runs["twin"])
    assert "|ensemble:2-" in result.stdout
    names = [path.stem for path in (Path(runs["scenes"]) / "evaluations").glob("test-greedy-ensemble2-*.json")]
    assert len(names) == 1
    alone, both = (call("score", runs["scenes"], *words).stdout for words in ((), ("--also", runs["twin"])))
    assert alone.count("\n") == both.count("\n") == 25
    assert alone != both


def test_score_reads_the_references_and_names_unknown_words(runs: dict[str, str], tmp_path: Path) -> None:
    lines = [line.split("\t") for line in call("score", runs["scenes"], "--split", "validation").stdout.splitlines()]
    assert len(lines) == 20
    assert all(len(line) == 4 and float(line[0]) < 0 for line in lines)
    source, target = tmp_path / "de", tmp_path / "en"
    source.write_text("der Hund\n")
    target.write_text("the Zaphod dog Beeblebrox\n")
    (line,) = call("score", runs["scenes"], str(source), str(target)).stdout.splitlines()
    assert line.split("\t")[3].split() == ["Zaphod", "Beeblebrox"]
    told = json.loads(call("score", runs["scenes"], str(source), str(target), "--json").stdout)
    assert told["translations"][0]["unknown"] == [1, 3]
    alone = call("score", runs["scenes"], str(source))
    assert alone.exit_code == 1
    told = f"got SOURCE {source} without TARGET; want both, or neither for the run's corpus."
    assert alone.stderr == f"Error: {told}\n"


def test_alignments_of_strings_count_characters(runs: dict[str, str]) -> None:
    text, links = call("translate", runs["strings"], "--alignments", stdin="abcd\n").stdout.rstrip("\n").split("\t")
    assert sorted(int(link.split("-")[1]) for link in links.split()) == list(range(len(text)))
    told = json.loads(call("translate", runs["strings"], "--json", stdin="abcd\n").stdout)
    assert told["translations"][0]["alignment"] == links
    assert told["source_words"] == list("abcd")


def test_a_line_too_long_is_left_empty_and_named_and_the_rest_goes_on(
    runs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.search.strategy.MOST_CELLS", 2**20)
    kept = tmp_path / "attention.jsonl"
    words = ["translate", runs["strings"], "--attention", str(kept), "--batch", "1"]
    result = call(*words, stdin="ab\n" + "abcd" * 200 + "\n\nba\n")
    lines = result.stdout.split("\n")
    assert [bool(line) for line in lines] == [True, False, False, True, False]
    assert result.exit_code == 1
    reason = "search: width 5, up to 1610 tokens from 800, needs about 0 GB of memory for a sentence, want at most 0."
    assert result.stderr == (
        f"standard input, line 2: left empty. {reason} Shorten it, or lower the width or length.\n"
        "Error: standard input: 1 of 4 lines left empty, since they are too long.\n"
    )
    told = [json.loads(line)["translations"][0] for line in kept.read_text().splitlines()]
    assert [(bool(one["text"]), one["finished"]) for one in told][1:3] == [(False, False), (False, True)]
    many = call("translate", runs["strings"], stdin=("abcd" * 200 + "\n") * 12 + "ab\n")
    assert many.stdout.count("\n") == 13
    assert many.stderr.count("left empty. ") == 10
    assert many.stderr.endswith("Error: standard input: 12 of 13 lines left empty, since they are too long.\n")


def test_a_file_that_is_not_text_is_refused_before_its_first_line(runs: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"ab\n" * 5000 + b"\xe4\n")
    result = call("translate", runs["strings"], str(file))
    assert result.stdout == ""
    assert result.stderr == f"Error: {file}, line 5001: not UTF-8 (byte 0xe4). Convert the file to UTF-8.\n"


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def test_a_reader_that_goes_away_is_no_error(runs: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "many.txt"
    file.write_text("abcd\n" * 10_000)
    command = [sys.executable, "-m", "regard", "translate", runs["strings"], str(file), "--beam", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as one:
        assert one.stdout is not None
        assert one.stderr is not None
        assert len(one.stdout.readline()) > 1
        one.stdout.close()
        assert one.stderr.read() == ""
        one.wait(timeout=60)


def typed(*words: str) -> bytes:
    """What a terminal shows of a command that is given a line."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "regard", *words]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=ENVIRONMENT) as one:
        os.close(theirs)
        os.write(ours, b"ab\n\x04")
        shown = b""
        while one.poll() is None or select.select([ours], [], [], 0)[0]:
            try:
                shown += os.read(ours, 1024)
            except OSError:  # what Linux says when the other side is closed
                break
    return shown


def test_a_terminal_is_told_what_to_type_and_no_bar_runs_over_it(runs: dict[str, str]) -> None:
    shown = typed("translate", runs["strings"])
    assert b"Type a sentence and Enter; Ctrl-D ends." in shown
    assert b"translating" not in shown
    assert b"\x1b" not in shown
    assert b"Type a sentence and Enter; Ctrl-D ends." in typed("show", runs["strings"])


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_a_closed_stream_is_one_line(runs: dict[str, str], closed: str, name: str) -> None:
    line = f'echo ab | {{ exec "{sys.executable}" -m regard translate "{runs["strings"]}" {closed}; }}'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.stderr == f"Error: standard {name}: closed, want it open.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["translate", "RUN"], ["evaluate", "RUN", "--json"], ["--help"], ["list", "--help"]])
def test_output_that_finds_no_room_is_one_line(runs: dict[str, str], words: list[str]) -> None:
    command = [sys.executable, "-m", "regard", *(runs["strings"] if word == "RUN" else word for word in words)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, input="ab\n", stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False
        )
    assert done.stderr == "Error: standard output: No space left on device.\n"
    assert done.returncode == 1


PEAK = """
import resource, sys
from regard.cli import main
main(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak(run: str, file: Path, lines: int) -> int:
    """Translate so many lines; return the greatest memory, in kilobytes."""
    file.write_text("".join(f"{'abcd'[i % 4]}{'ab' * (i % 3)}\n" for i in range(lines)))
    words = ["translate", run, str(file), "--beam", "1", "--max-length", "8"]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *words], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stdout.count("\n") == lines
    return int(done.stderr.split()[-1])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(runs: dict[str, str], tmp_path: Path) -> None:
    sizes = [peak(runs["strings"], tmp_path / "lines.txt", lines) for lines in (10_000, 100_000)]
    print(f"peak memory: {sizes[0] / 1024:.1f} MB for 10,000 lines, {sizes[1] / 1024:.1f} MB for 100,000")
    assert sizes[1] < 1.1 * sizes[0]


def test_scores_that_cannot_be_stored_are_printed_all_the_same(runs: dict[str, str], tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(runs["strings"], run)
    shutil.rmtree(run / "evaluations", ignore_errors=True)
    (run / "evaluations").write_text("in the way")
    result = call("evaluate", str(run))
    assert result.exit_code == 0
    assert result.stdout.startswith("metric")
    told = f"{run / 'evaluations' / 'test-greedy.json'}: cannot be written ("
    assert result.stderr.startswith(told)
    assert result.stderr.endswith("). The evaluation is not stored.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_place_without_room_for_attention_is_named(runs: dict[str, str]) -> None:
    result = call("translate", runs["strings"], "--attention", "/dev/full", stdin="ab\n")
    assert result.exit_code == 1
    assert result.stderr == "Error: /dev/full: cannot be written (No space left on device).\n"


@pytest.mark.parametrize("width", ["²", "1" * 5000], ids=["raised", "long"])
def test_a_width_is_a_plain_number(runs: dict[str, str], width: str) -> None:
    result = call("evaluate", runs["strings"], "--beam", "5", width)
    assert result.exit_code == 1
    assert result.stderr == f"Error: want one run, got 2: {runs['strings']} {width}.\n"


def test_a_home_that_is_not_there_is_one_line(runs: dict[str, str]) -> None:
    result = call("score", runs["strings"], "~nobody-here/a", "~nobody-here/b")
    assert result.stderr == "Error: ~nobody-here/a: cannot read the file (No such file or directory).\n"


def test_files_of_ones_own_are_scored_and_shown(runs: dict[str, str], tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("abc\tcba\n\nab\tba\n", encoding="utf-8")
    assert len(call("score", runs["strings"], "--split", str(own)).stdout.splitlines()) == 2
    shown = call("show", runs["strings"], "2", "--split", str(own))
    assert shown.exit_code == 0
    assert "ba" in shown.stdout
    for number in ("3", "1" * 5000):
        told = f"Error: sentence: got '{number}', want the number of a sentence of {own}: 1 to 2.\n"
        assert call("show", runs["strings"], number, "--split", str(own)).stderr == told
