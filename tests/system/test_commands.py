"""The whole way through the command line: train, translate, evaluate, resume."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

import regard
from regard.cli import COMMANDS, INTERRUPTED, main
from regard.data.reverse import Reverse
from regard.disk import lock
from regard.run import Run

SMALL = [
    "data.max_length=8", "data.train=3000", "data.validation=200", "data.test=200", "model.embedding=32",
    "model.hidden=64", "model.encoder_hidden=32", "model.bidirectional=true", "train.epochs=6", "train.batch=32",
    "train.learning_rate=5e-3", "train.threads=1",
]  # fmt: skip
LONG = "Wort " * 60
DRAWING = "regard.pictures.examples.draw_attention"
pytestmark = pytest.mark.slow


def call(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin, catch_exceptions=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "reverse"
    result = call("train", "reverse", *SMALL, "--run", str(path))
    assert result.exit_code == 0, result.output
    assert "token_accuracy" in result.stdout
    assert "attention diagrams in" in result.stderr
    return path


def test_training_leaves_a_complete_run(run: Path) -> None:
    names = {path.name for path in run.iterdir()}
    assert {"run.json", "config.json", "log.jsonl", "best.safetensors", "last.safetensors", "examples"} <= names
    assert len(list((run / "examples").glob("*.png"))) == 8
    opened = Run.open(run)
    assert opened.description["status"] == "finished"
    events = [event["event"] for event in opened.events()]
    assert events[0] == "began"
    assert events[-1] == "ended"
    assert events.count("epoch") == 6
    assert opened.evaluations()["test-greedy"]["scores"]["token_accuracy"]["value"] > 60


def test_translate_gives_a_line_for_a_line(run: Path, tmp_path: Path) -> None:
    source = "ab\n\nabcd\n  \nd\n"
    result = call("translate", str(run), stdin=source)
    assert result.exit_code == 0
    lines = result.stdout.split("\n")
    assert len(lines) == 6
    assert lines[1] == lines[3] == lines[5] == ""
    file = tmp_path / "in.txt"
    file.write_text(source)
    assert call("translate", str(run), str(file)).stdout == result.stdout
    assert call("translate", str(run), stdin="").stdout == ""


def test_translations_do_not_depend_on_the_batch(run: Path, tmp_path: Path) -> None:
    assert Run.open(run).config.model.bidirectional
    lines = Reverse(train=1, validation=1, test=1000).load()["test"].sources  # of 1 to 20 letters: batches have padding
    assert len(set(lines)) == 1000
    orders = {"given": list(lines), "shuffled": random.Random(1).sample(lines, 1000)}
    for name, order in orders.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in order))
    asked = [("given", 1), ("given", 7), ("given", 64), ("shuffled", 64)]
    search = ["--beam", "5", "--n-best", "5", "--json", "--max-length", "4"]
    calls = [["translate", str(run), str(tmp_path / name), *search, "--batch", str(batch)] for name, batch in asked]
    # In a process of its own, without the checks of shapes: three times as fast.
    code = f"from regard.cli import main\nfor words in {calls!r}: main(words, standalone_mode=False)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 4000
    wanted = {one["source"]: one["translations"] for one in told[:1000]}
    assert len({translations[0]["text"] for translations in wanted.values()}) > 100
    for one in told[1000:]:
        best = wanted[one["source"]]
        assert [each["tokens"] for each in one["translations"]] == [each["tokens"] for each in best]
        assert [each["score"] for each in one["translations"]] == pytest.approx([b["score"] for b in best], abs=1e-4)


def test_translate_prints_what_it_is_asked_for(run: Path, tmp_path: Path) -> None:
    (scored,) = call("translate", str(run), "--scores", stdin="abc\n").stdout.splitlines()
    assert float(scored.split("\t")[0]) < 0
    best = call("translate", str(run), "--n-best", "3", "--scores", stdin="abc\nd\n").stdout.splitlines()
    assert [line.split("\t")[0] for line in best] == ["1", "1", "1", "2", "2", "2"]
    scores = [float(line.split("\t")[1]) for line in best[:3]]
    assert scores == sorted(scores, reverse=True)
    kept = tmp_path / "attention.jsonl"
    call("translate", str(run), "--attention", str(kept), stdin="abc\n\n")
    first, second = map(json.loads, kept.read_text().splitlines())
    rows = first["translations"][0]["attention"][0]
    assert len(rows) == len(first["translations"][0]["tokens"])
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in rows)
    assert second["translations"][0]["text"] == ""
    printed = json.loads(call("translate", str(run), "--json", stdin="abc\n").stdout)
    assert printed["translations"] == first["translations"]
    drawn = [call("translate", str(run), "--sample", "--seed", "3", stdin="abcd\n" * 4).stdout for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert call("translate", str(run), "--prefix", "ddd", stdin="abc\n").stdout.startswith("ddd")


def test_evaluate_prints_scores_with_signatures_and_stores_them(run: Path) -> None:
    result = call("evaluate", str(run), "--split", "validation")
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line}
    assert "split:validation|" in rows["token_accuracy"]
    assert "search:greedy" in rows["token_accuracy"]
    assert {"sentence_accuracy", "perplexity", "attention_accuracy", "alignment_error_rate"} <= set(rows)
    stored = json.loads((run / "evaluations" / "validation-greedy.json").read_text())
    assert len(stored["sentences"]) == 200
    several = call("evaluate", str(run), "--beam", "1", "3", "--json")
    names = [evaluation["search"] for evaluation in json.loads(several.stdout)]
    assert names == ["greedy", "beam3-power0.7"]
    table = call("evaluate", str(run), "--beam", "1", "3").stdout.split("\n\n")[0].splitlines()
    assert table[0].split()[:2] == ["search", "token_accuracy"]
    assert len(table) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["translate", "nowhere"], "Error: nowhere: no such file, and no such run; `regard train` makes one."),
        (["translate", "{run}", "Ein Hund"],
         "Error: Ein Hund: no such file. A sentence comes through standard input: echo SENTENCE | regard translate"),
        (["translate", "{run}", "missing.txt"],
         "Error: missing.txt: cannot read the file (No such file or directory)."),
        (["translate", "{run}", "--beam", "0"], "Error: Invalid value for '--beam': 0 is not in the range x>=1."),
        (["evaluate", "{run}", "--split", "tset"],
         "Error: Unknown split 'tset' of corpus reverse. Did you mean 'test'?"),
        (["evaluate", "{run}", "--unknown", "replace"],
         "Error: --unknown: got 'replace', want 'show' or 'forbid' to evaluate; translate can replace."),
        (["translate", "{run}", "--min-length", "2x+9", "--max-length", "1x+9"],
         "Error: --min-length: got more than the greatest length, whatever the sentence; want no more."),
        (["resume", "{run}"], "Error: {run}: finished; there is nothing to resume."),
        (["train", "reverse", "--run", "{run}"],
         "Error: {run}: exists already. Choose another directory, or remove it."),
        (["list", "atention"], "Error: Unknown kind 'atention'. Did you mean 'attention'?"),
    ],
)  # fmt: skip
def test_what_a_user_can_fix_is_one_line(run: Path, words: list[str], message: str) -> None:
    result = call(*(word.format(run=run) for word in words), stdin="ab\n")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == message.format(run=run)


def test_mistakes_in_the_words_of_a_command_are_one_line() -> None:
    for words, message in {
        ("trian",): "No such command 'trian'. Did you mean 'train'?",
        ("train",): "Missing argument 'EXPERIMENT'.",
        ("compare", "reverse", "--seeds", "0"): "Invalid value for '--seeds': 0 is not in the range x>=1.",
    }.items():
        result = call(*words)
        assert result.exit_code == 1
        assert result.stderr == f"Error: {message}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("show", LONG, "a"), ("show", "de-en", "a", "--against", LONG), ("translate", LONG), ("evaluate", LONG),
        ("score", LONG), ("serve", LONG), ("export", LONG, "copy"), ("report", LONG, "-o", "x.html"),
        ("compare", LONG), ("compare", "reverse", "--dir", LONG, "--jobs", "1"), ("train", "reverse", "--run", LONG),
        ("translate", "de-en", LONG), ("show", "de-en", "Hund.", "-o", f"{LONG}.png"),
    ],
)  # fmt: skip
def test_a_name_too_long_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*words)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert os.listdir(tmp_path) == []


def test_input_that_is_not_utf8_is_named(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"ab\n\xe4\n")
    result = call("translate", str(run), str(file))
    assert result.exit_code == 1
    assert result.stderr.endswith(f"{file}, line 2: not UTF-8 (byte 0xe4). Convert the file to UTF-8.\n")


def test_ctrl_c_then_resume_ends_with_the_weights_of_an_uninterrupted_run(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "interrupted"
    command = [sys.executable, "-m", "regard", "train", "reverse", *SMALL, "--run", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("epoch   2"):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    assert f"go on with: regard resume {path}" in rest
    assert Run.open(path).description["status"] == "interrupted"
    assert call("resume", str(path)).exit_code == 0
    for name in ("best", "last"):
        one, other = Run.open(path).load_weights(name)[0], Run.open(run).load_weights(name)[0]
        assert set(one) == set(other)
        assert all(torch.equal(one[key], other[key]) for key in one)


def test_a_second_ctrl_c_is_not_told(run: Path) -> None:
    command, pipe = [sys.executable, "-m", "regard", "translate", str(run)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, stdout=pipe) as process:
        time.sleep(2)  # torch is being imported, or the input waited for
        process.send_signal(signal.SIGINT)
        assert process.stderr
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        told += process.stderr.read()
    assert (process.returncode, told) == (INTERRUPTED, b"stopped\n")


def test_a_run_is_trained_by_one_process_at_a_time(run: Path, tmp_path: Path) -> None:
    for path, words in ((run, ["resume", str(run)]), (tmp_path / "new", ["train", "reverse", "--run"])):
        with lock(path):
            result = call(*words, *([str(path)] if words[0] == "train" else []))
        told = "another process is training this run; let it end, or stop it first."
        assert (result.exit_code, result.stderr) == (1, f"Error: {path}: {told}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lacks", ["examples", "evaluations"])
def test_a_trained_run_without_its_results_gets_them_by_resume(
    run: Path, tmp_path: Path, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    shutil.copytree(run, path)
    shutil.rmtree(path / lacks)
    weights = (path / "best.safetensors").read_bytes()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("regard.cli.evaluate.evaluate_run" if lacks == "evaluations" else DRAWING, interrupted)
        result = call("resume", str(path))
    assert result.exit_code == 130
    said = f"stopped; the model is trained, and this makes its scores and diagrams: regard resume {path}"
    assert result.stderr.splitlines()[-1] == said
    assert not (path / lacks).exists()
    result = call("resume", str(path))
    assert result.exit_code == 0
    assert "token_accuracy" in result.stdout
    assert len(list((path / "examples").glob("*.png"))) == 8
    assert (path / "best.safetensors").read_bytes() == weights
    assert call("resume", str(path)).exit_code == 1


def test_a_training_that_diverges_says_so_and_keeps_nothing_broken(tmp_path: Path) -> None:
    path = tmp_path / "wild"
    result = call("train", "reverse", *SMALL, "train.learning_rate=1e30", "train.clip=0", "--run", str(path))
    assert result.exit_code == 1
    assert "is not a number; what was stored before is kept. Try a lower train.learning_rate." in result.stderr
    assert Run.open(path).description["status"] == "diverged"


def test_python_can_do_what_the_command_line_does(run: Path) -> None:
    translation = regard.load(run).translate("abcd")
    assert translation.text == "".join(translation.tokens)
    assert translation.attention.shape == (1, len(translation.tokens), 4)
    assert regard.Run.open(run).config.model.attention == "dot"


def test_help_needs_no_torch_and_names_every_command() -> None:
    call = "main(['--help'], standalone_mode=False)"
    code = f"import sys; from regard.cli import main; {call}; print('torch' in sys.modules)"
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.rstrip().endswith("False")
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "told"), [("", ["changed", "frozen at the end"]), ("['list']", ["as it was", "not frozen"])]
)
def test_garbage_collection_is_left_alone_where_regard_is_not_the_whole_process(words: str, told: list[str]) -> None:
    code = f"""
import atexit, gc, sys
from regard.cli import main
before, sys.argv = gc.get_threshold(), ['regard', 'list']
atexit.register(lambda: print('frozen at the end' if gc.get_freeze_count() else 'not frozen'))
try:
    main({words})
except SystemExit:
    print('changed' if gc.get_threshold() != before else 'as it was')
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "presets" in done.stdout
    assert done.stdout.splitlines()[-2:] == told


def test_ctrl_c_stops_at_once_and_is_told_once_while_a_library_is_imported(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("""
import time
print('importing', flush=True)
try:
    time.sleep(60)
except BaseException:
    raise ImportError('something else')
""")
    code = """
import sys
from regard.cli import COMMANDS, main
COMMANDS['list'], sys.argv = 'library:none', ['regard', 'list']
main()
"""
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        told = process.stderr.readline() if process.stderr else ""
        process.send_signal(signal.SIGINT)
        told += process.communicate(timeout=30)[1]
    assert (process.returncode, told) == (INTERRUPTED, "stopped\n")


@pytest.mark.parametrize("kind", ["presets", "keys", "attention", "corpora", "decoders", "metrics"])
def test_list_describes_every_part(kind: str) -> None:
    result = call("list", kind)
    assert result.exit_code == 0
    assert all(len(line.split()) > 2 for line in result.stdout.splitlines())
    assert kind in call("list").stdout
