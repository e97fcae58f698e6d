"""`regard show`, and what a notebook shows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import regard
from regard.cli import main
from regard.data.corpus import load_corpus
from regard.data.vocabulary import EOS
from regard.training.grid import Grid
from tiny_runs import make_run

pytestmark = pytest.mark.slow
SENTENCE = "Der Hund schläft ."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show")
    make_run(folder / "reverse", "reverse")
    make_run(folder / "none", "reverse", "model.attention=none", is_evaluated=False)
    make_run(
        folder / "heads", "scenes", "model.attention=multi_head", "model.heads=2", "tokenizer.kind=subword",
        "tokenizer.vocabulary=90", is_evaluated=False,
    )  # fmt: skip
    return folder


def show(*words: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["show", *map(str, words)], input=stdin, catch_exceptions=False)


def lines_of(page: Path) -> list[tuple[str, str]]:
    """Return what a page tells in words, and what it calls it."""
    return re.findall(r"<small>(\w+)</small> <bdi>(.*?)</bdi>", page.read_text(encoding="utf-8"))


def test_the_terminal_shows_a_row_for_each_token(runs: Path) -> None:
    result = show(runs / "reverse", "abcd")
    assert result.exit_code == 0
    head, *rows, legend = result.stdout.splitlines()
    assert head.split() == ["a", "b", "c", "d"]
    assert [row.split()[0] for row in rows] == list(regard.load(runs / "reverse").translate("abcd").tokens)
    assert legend == "attention in percent"
    assert "\x1b" not in result.stdout
    assert (
        show(runs / "reverse", stdin="abcd\n").stdout
        == show(runs / "reverse", "-", stdin="abcd").stdout
        == result.stdout
    )


def test_a_sentence_alone_may_be_longer_than_a_file_name() -> None:
    words = ["Hund", "und", "Katze", "spielen"] * 20
    result = show(" ".join(words))
    assert result.exit_code == 0
    assert result.stdout.startswith("mean of 4 heads\n")
    told = "no such run. `regard train` makes one; a sentence of one word comes after its run."
    assert show("Hallo").stderr == f"Error: Hallo: {told}\n"
    assert show("de-en", stdin="Hallo\n").exit_code == 0


def test_pieces_are_joined_unless_asked_and_heads_shown_on_request(runs: Path) -> None:
    translation = regard.load(runs / "heads").translate(SENTENCE)
    assert len(translation.source_tokens) > len(translation.words.source) == 4
    words = show(runs / "heads", SENTENCE).stdout
    assert words.startswith("mean of 2 heads\n")
    assert "▁" not in words
    assert "▁" in show(runs / "heads", SENTENCE, "--tokens").stdout
    heads = show(runs / "heads", SENTENCE, "--heads", "all").stdout.splitlines()
    assert [line for line in heads if line.startswith("head")] == ["head 1", "head 2"]


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!doctype html>")]
)
@pytest.mark.parametrize("option", [("--tree",), ("--against", "none"), ()], ids=["tree", "against", "one"])
def test_a_file_is_of_the_kind_its_name_says(
    runs: Path, tmp_path: Path, suffix: str, start: bytes, option: tuple[str, ...]
) -> None:
    file = tmp_path / f"out.{suffix}"
    words = [runs / "none" if word == "none" else word for word in option]
    result = show(runs / "reverse", "abc", "-o", file, "--beam", "2", *words)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr.endswith(f"drawn in {file}\n")
    assert file.read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("suffix", "start"), [("gif", b"GIF89a"), ("png", b"\x89PNG"), ("html", b"<!doctype html>")]
)  # fmt: skip
def test_a_sentence_through_the_epochs(runs: Path, tmp_path: Path, suffix: str, start: bytes) -> None:
    file = tmp_path / f"out.{suffix}"
    result = show(runs / "reverse", "2", "--epochs", "-o", file)
    assert result.stderr == f"drawn in {file}\n"
    assert file.read_bytes().startswith(start)
    if suffix == "html":
        source, reference = lines_of(file)
        assert source == ("source", reference[1][::-1])
        assert reference[0] == "reference"
    lines = show(runs / "reverse", "--epochs").stdout.splitlines()
    assert [line for line in lines if line.startswith("epoch")] == ["epoch 1", "epoch 2"]
    assert show(runs / "reverse", "--epochs", "--tree").exit_code == 1


@pytest.fixture(scope="module")
def silent(runs: Path) -> Path:
    run = make_run(runs / "silent", "reverse", is_evaluated=False)
    weights, metadata = run.load_weights()
    weights["output.bias"][EOS] += 100
    run.save_weights(weights, **metadata)
    return run.path


def test_a_model_that_says_nothing_is_an_empty_panel_beside_others(runs: Path, silent: Path, tmp_path: Path) -> None:
    assert show(silent, "abc").stderr.endswith("produced no words for this sentence; there is nothing to show.\n")
    page = tmp_path / "both.html"
    assert show(runs / "reverse", "abc", "--against", silent, "-o", page).exit_code == 0
    assert "<b>silent (no words)</b>" in page.read_text(encoding="utf-8")
    assert show(silent, "abc", "--against", silent, "-o", page).exit_code == 0
    assert lines_of(page) == [("source", "abc")]
    assert "silent (no words)" in show(runs / "reverse", "abc", "--against", silent).stdout


def test_an_output_that_is_cut_off_is_told(runs: Path, tmp_path: Path) -> None:
    run = regard.Run.open(shutil.copytree(runs / "reverse", tmp_path / "endless"))
    weights, metadata = run.load_weights()
    weights["output.bias"][EOS] -= 100
    run.save_weights(weights, **metadata)
    told = f"{run.path}: did not end by itself; the output is cut off after 16 tokens.\n"  # 2x+10
    for options in ([], ["--tree", "-o", tmp_path / "tree.svg"], ["--against", runs / "none"]):
        assert show(run.path, "abc", *options).stderr.startswith(told)


def test_a_page_has_all_heads_on_request(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "heads.html"
    for heads, figures in (("mean", 1), ("all", 2)):
        show(runs / "heads", SENTENCE, "--heads", heads, "-o", page)
        assert page.read_text(encoding="utf-8").count("<figure class") == figures
        text = regard.load(runs / "heads").translate(SENTENCE).text
        assert lines_of(page) == [("source", SENTENCE), ("translation", text)]


def test_a_sentence_of_the_corpus_has_its_reference_and_gold(runs: Path) -> None:
    run = regard.Run.open(runs / "heads")
    reference = load_corpus(run.config.data)["test"].targets[2]
    result = show(run.path, "3", "--split", "test")
    assert "reference " + reference in " ".join(result.stdout.split())
    assert show(run.path, "3", "--split", "test", "--tree", "--beam", "2").stdout.startswith("start")
    want = "want the number of a sentence of test: 1 to 25."
    assert show(run.path, "26", "--split", "test").stderr == f"Error: sentence: got '26', {want}\n"
    assert "Unknown split 'tset'" in show(run.path, "1", "--split", "tset").stderr


def test_text_that_is_not_utf_8_is_refused_in_a_line() -> None:
    told = "text: not UTF-8 at character 5. Convert it to UTF-8."
    assert show("de-en", "Stra\udcdfe ist lang").stderr == f"Error: {told}\n"
    result = CliRunner().invoke(main, ["show", "de-en", "-"], input=b"x\xff")
    assert result.stderr == "Error: standard input, line 1: not UTF-8 (byte 0xff). Convert the file to UTF-8.\n"


def test_a_sentence_without_spaces_is_for_the_model_in_the_box() -> None:
    assert "狗" in show("两只狗在雪地里玩耍。").stdout
    for name in ("", " ", "实验1", "runs/实验"):
        assert show(name).exit_code == 1
    assert show("").stderr == "Error: RUN: got an empty text, want a run, or a sentence for the model in the box.\n"
    assert show("de-en", "", stdin="Hallo\n").stderr.startswith("Error: sentence: got no lines")


def test_a_dash_alone_is_a_sentence_for_the_model_in_the_box() -> None:
    assert show("-", stdin="Ein Hund.\n").stdout == show("Ein Hund.").stdout != ""


@pytest.mark.parametrize(("encoding", "told"), [("ascii", b"\\xe4"), ("latin-1", "ä".encode("latin-1"))])
def test_a_pipe_without_some_characters_gets_their_numbers(encoding: str, told: bytes) -> None:
    command = [sys.executable, "-m", "regard", "show", "Ein Mädchen in Čechy."]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, check=True)
    assert told in done.stdout
    assert b"girl" in done.stdout


def test_a_comparison_is_not_a_run(runs: Path, tmp_path: Path) -> None:
    Grid("reverse", (), {}, 1).save(tmp_path)
    assert show(tmp_path, "abc").stderr == f"Error: {tmp_path}: a comparison, want one of its runs.\n"
    shutil.copytree(runs / "reverse", tmp_path / "seed-1")
    told = f"{tmp_path}: a comparison, want one of its runs, such as {tmp_path / 'seed-1'}."
    assert show(tmp_path, "abc").stderr == f"Error: {told}\n"


def test_epochs_that_were_not_kept_are_explained(runs: Path) -> None:
    assert "has no attention to show" in show(runs / "none", "--epochs").stderr
    assert "does not know its training" in show("de-en", "--epochs").stderr


def test_several_models_are_named_and_one_without_attention_says_so(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    show(runs / "reverse", "abc", "--against", runs / "none", "-o", page)
    html = page.read_text(encoding="utf-8")
    assert re.findall(r"<b>(.*?)</b>", html) == ["reverse", "none (no attention)"]
    assert html.count("<small>source</small> <bdi>abc</bdi>") == 1
    assert html.count("<small>translation</small>") == 2
    assert html.count("<figure ") == 1


def test_the_tree_in_the_terminal_marks_the_winner(runs: Path) -> None:
    translation = regard.load(runs / "reverse").translate("abc", regard.Strategy(width=2))
    lines = show(runs / "reverse", "abc", "--tree", "--beam", "2").stdout
    assert lines.startswith("start\n")
    starred = [word.removeprefix("*") for word in lines.split() if word.startswith("*")]
    assert "".join(starred).removesuffix("</s>") == translation.text


def test_what_no_font_has_is_told(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.pictures.fonts._installed", tuple)
    result = show(runs / "reverse", "\U000103a0", "-o", tmp_path / "out.png")  # Old Persian
    assert "\nfonts: no installed font has 1 of the characters" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none", "abc"], "{runs}/none: has no attention to show (model.attention is none); --tree shows its search."),
        (["reverse", " "], "sentence: got no lines, want one sentence to translate."),
        (["reverse", "a\nb"], "sentence: got 2 lines, want one sentence to translate."),
        (["reverse", "a", "-o", "x.gif"], "-o: got 'x.gif', want a name that ends in .png, .svg, .pdf, .html."),
        (["reverse", "a", "-o", "no/x.png"], "-o: got 'no/x.png', but there is no directory 'no'; make it first."),
        (["reverse", "abc", "--epochs"], "sentence: got 'abc', want 1, 2 or 3: --epochs shows what training watched."),
        (["missing", "a"], "{runs}/missing: no such run. `regard train` makes one."),
    ],
)
def test_what_a_user_can_fix_is_one_line(runs: Path, words: list[str], message: str) -> None:
    result = show(runs / words[0], *words[1:])
    assert result.exit_code == 1
    assert result.stderr == f"Error: {message.format(runs=runs)}\n"


def test_a_beam_has_a_width(runs: Path) -> None:
    assert (
        "Invalid value for '--beam': 0 is not in the range x>=1." in show(runs / "reverse", "a", "--beam", "0").stderr
    )


def test_models_of_other_languages_are_told(runs: Path, tmp_path: Path) -> None:
    pairs = {
        "de": ("de", "en", False),
        "fr": ("fr", "en", False),
        "turned": ("en", "de", True),
        "en": ("en", "de", False),
    }
    for name, (source, target, swap) in pairs.items():
        path = shutil.copytree(runs / "reverse", tmp_path / name)
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        config["data"] = {"corpus": "multi30k", "source": source, "target": target, "swap": swap}
        (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    told = f"{tmp_path}/fr: translates fr into en, but {tmp_path}/de de into en.\n"
    assert show(tmp_path / "de", "abc", "--against", tmp_path / "fr").stderr.startswith(told)
    told = f"{tmp_path}/en: translates en into de, but {tmp_path}/turned de into en.\n"
    assert show(tmp_path / "turned", "abc", "--against", tmp_path / "en").stderr.startswith(told)
    result = show(tmp_path / "de", "abc", "--against", tmp_path / "turned", "--against", runs / "reverse")
    assert result.exit_code == 0
    assert "into" not in result.stderr


def test_options_about_attention_are_refused_with_a_tree(runs: Path) -> None:
    for option in (["--tokens"], ["--heads", "all"]):
        result = show(runs / "reverse", "abc", "--tree", *option)
        told = "--tree: not together with --tokens or --heads all, which are about attention."
        assert result.stderr == f"Error: {told}\n"


def test_one_model_options_refuse_a_second_model(runs: Path) -> None:
    result = show(runs / "reverse", "abc", "--against", runs / "none", "--tree")
    assert result.exit_code == 1
    assert result.stderr == "Error: --against: not together with --tree, which shows one model.\n"


def test_a_notebook_shows_translations_and_runs(runs: Path) -> None:
    html = regard.load(runs / "reverse").translate("a<b")._repr_html_()
    assert html.startswith("<p>a&lt;b → <b>")
    assert html.count('<figure class="regard-attention">') == 1
    assert "<figure" not in regard.load(runs / "none").translate("abc")._repr_html_()
    run = regard.Run.open(runs / "reverse")._repr_html_()
    assert "reverse, attention dot, decoder attentional, seed 1, finished</p>" in run
    assert "<td>token_accuracy</td>" in run
    assert run.count("<svg ") == 1
