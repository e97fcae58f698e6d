import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli import main
from regard.config import load_config
from regard.data.corpus import load_corpus
from regard.data.vocabulary import EOS
from regard.data.words import split_words
from regard.evaluate import Evaluator
from regard.pictures.examples import Pair
from regard.pictures.notebook import translation_html
from regard.report import report
from regard.report.sentences import by_frequency, choose, differing
from regard.run import Run
from regard.search.strategy import Strategy
from regard.training.session import Session
from regard.translate import load
from tiny_runs import SCENES, make_run


def rows(*texts: str) -> list[dict[str, str]]:
    return [{"source": text, "hypothesis": text, "reference": text} for text in texts]


def test_every_sentence_is_chosen_once() -> None:
    texts = [chr(97 + i) * (i + 1) for i in range(14)]
    scores = [float(10 * (i % 7)) for i in range(13)] + [None]
    chosen = choose(rows(*texts), scores)
    assert chosen["best"] == [6, 12, 5]
    assert chosen["worst"] == [7, 0, 8]
    assert chosen["longest"] == [11, 10, 9]
    everything = [i for indices in chosen.values() for i in indices]
    assert len(everything) == len(set(everything)) == 12
    assert 13 not in everything
    assert choose(rows("", " "), [None, None]) == {}
    assert choose([*rows("a", "b"), rows("ccc")[0] | {"hypothesis": ""}], [5.0, 4.0, 0.0])["best"] == [0, 1, 2]
    assert choose(rows("a"), [5.0]) == {"best": [0]}


def test_the_furthest_apart_come_first_and_equal_scores_not_at_all() -> None:
    assert differing([1.0, 50.0, None, 7.0, 0.0], [1.0, 90.0, 3.0, 0.0, 100.0]) == [4, 1, 3]


def test_words_are_counted_as_often_as_they_were_found() -> None:
    training = ["the dog"] * 5 + ["the cat"]
    found = [{"reference": "the the Dog cat emu", "hypothesis": "the dog dog cat"}]
    assert by_frequency(training, found, is_lower=False) == {"0": (0, 2), "1-4": (100, 1), "5-19": (50, 2)}
    lower = by_frequency(training, found, is_lower=True)
    assert lower == {"0": (0, 1), "1-4": (100, 1), "5-19": (pytest.approx(200 / 3), 3)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("report")
    runs = [make_run(folder / f"{name}<b>", "scenes", f"model.attention={name}") for name in ("additive", "none")]
    stored = runs[0].evaluations()["test-greedy"]
    values = [float(i) for i in range(len(stored["sentences"]))]  # so little training makes all models alike
    runs[0].save_evaluation("test-greedy", stored | {"sentence_scores": stored["sentence_scores"] | {"bleu": values}})
    return runs


def test_a_comparison_has_every_section_and_needs_nothing_from_elsewhere(runs: list[Run]) -> None:
    html = report(runs, title="two <b>", split="test", strategy=Strategy())
    assert re.findall(r"<h2>(.*?)</h2>", html) == [
        "Verdict", "Results", "Learning curves", "Entropy of attention", "By length of the source",
        "By frequency of the word", "Where the models differ most", "Sentences", "All sentences",
        "Scores and signatures", "Configuration and environment",
    ]  # fmt: skip
    assert "<h1>two &lt;b&gt;</h1>" in html
    assert "no attention" in html
    assert html.count("<svg ") == 5
    assert "metric:bleu" in html
    assert "corpus_sha256" in html
    assert len(re.findall(r">n=\d+</text>", html)) >= 4  # under each length and frequency
    printed = re.findall(r'<details class="printed">\n<summary>(.*?)<', html)
    assert sorted(printed) == ["additive, seed 1"] * 2 + ["none, seed 1"] * 2
    assert re.search(r"<details>\n<summary>25 sentences<", html)
    assert re.search(r'difference</th><th style="text-align: right">p corrected</th>', html)
    assert re.findall(r"<p>(\w+)</p>\n<div class=\"scroll\">", html)[:2] == ["bleu", "chrf"]
    differ = html.partition("<h2>Where the models differ most</h2>")[2].partition("<h2>")[0]
    blocks = differ.split('<div class="regard-sentence">')[1:]
    assert [block.count('<div class="model" ') for block in blocks] == [2] * 3
    assert [block.count("<small>reference</small>") for block in blocks] == [1] * 3
    outside = re.sub(r'xmlns(:\w+)?="[^"]*"', "", html)
    assert not re.search(r"(src|href)=\"(?!#)|@import|url\((?!#)", outside)


def test_a_single_run_has_a_report_too(runs: list[Run]) -> None:
    html = report(runs[:1], title="one", split="test", strategy=Strategy())
    names = re.findall(r"<h2>(.*?)</h2>", html)
    assert "Verdict" not in names
    assert "Where the models differ most" not in names
    assert "Scores and signatures" not in names
    results = html.partition("<h2>Results</h2>")[2].partition("<h2>")[0]
    assert "95 % interval" in results
    assert "metric:bleu|<wbr>" in results
    assert "validation_loss_best" in results
    assert "variance" not in results
    assert html.count('<figure class="regard-attention">') >= 9


def test_each_group_is_counted_in_its_own_training_data(runs: list[Run], tmp_path: Path) -> None:
    less = make_run(tmp_path / "less", "scenes", "data.train=15")
    counts = [re.findall(r">(n=\d+)</text>", frequencies(*each)) for each in ([runs[0]], [less], [runs[0], less])]
    assert counts[0] != counts[1]
    assert sorted(counts[2]) == sorted(counts[0] + counts[1])


def test_without_the_training_data_words_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "extra.tsv").write_text("Ja .\tYes .\n", encoding="utf-8")
    run = make_run(tmp_path / "run", "scenes", f"data.extra={tmp_path / 'extra.tsv'}")
    assert "<svg " in frequencies(run)
    copy = run.export(tmp_path / "copy")  # does not know of the extra pairs
    copy.keep_evaluation("test-greedy", run.evaluations()["test-greedy"])
    told = f"{copy.path}: the data that it was trained on are not at hand, so words cannot be counted."
    assert frequencies(copy) == f"\n<p>Left out: {told}</p>\n"


def frequencies(*runs: Run) -> str:
    html = report(runs, title="", split="test", strategy=Strategy())
    return html.partition("<h2>By frequency of the word</h2>")[2].partition("</section>")[0]


def test_a_thousand_sentences_fit_into_five_megabytes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "scenes", "data.test=1000", "train.epochs=1")
    assert len(report([run], title="run", split="test", strategy=Strategy()).encode()) < 5_000_000


def test_many_groups_show_the_sentences_of_the_best_only(runs: list[Run], tmp_path: Path) -> None:
    copies = [copy_with(runs[0], tmp_path / f"run-{number}", batch=100 + number) for number in range(14)]
    html = report(copies, title="many", split="test", strategy=Strategy())
    differ, sentences, everything = (
        html.partition(f"<h2>{name}</h2>")[2].partition("</section>")[0]
        for name in ("Where the models differ most", "Sentences", "All sentences")
    )
    assert len(re.findall("<summary>batch=113 and batch=", differ)) == differ.count("<summary>") == 10
    assert "Of 14 groups the best 11 are shown." in differ
    assert differ.count('<figure class="regard-attention">') == 10 * 3 * 2
    assert sentences.count(": best<") == 10
    assert everything.count("<th>batch=") == 10
    assert all("Of 14 groups the best 10 are shown." in part for part in (sentences, everything))
    verdict = html.partition("<h2>Verdict</h2>")[2].partition("</section>")[0]
    assert verdict.partition("<details")[0].count("<li>") == 10
    assert len(html.encode()) < 1_500_000


def copy_with(run: Run, path: Path, *, batch: int) -> Run:
    """Copy a run as one of another setting and other scores."""
    shutil.copytree(run.path, path)
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config | {"train": config["train"] | {"batch": batch}}))
    copy, stored = Run(path), run.evaluations()["test-greedy"]
    values = [float(batch + i * (batch % 10)) for i in range(len(stored["sentences"]))]
    score = stored["scores"]["bleu"] | {"value": float(batch)}
    copy.save_evaluation(
        "test-greedy",
        stored | {"scores": stored["scores"] | {"bleu": score}, "sentence_scores": {"bleu": values}},
    )
    return copy


def test_the_command_writes_a_file_and_names_a_wrong_suffix(runs: list[Run], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["report", str(runs[0].path), "-o", str(tmp_path / "out.html")])
    assert result.exit_code == 0
    assert result.stderr == f"written to {tmp_path / 'out.html'}\n"
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    wrong = CliRunner().invoke(main, ["report", str(runs[0].path), "-o", "out.pdf"])
    assert wrong.stderr == "Error: -o: got 'out.pdf', want a name that ends in .html.\n"
    (tmp_path / "file").touch()
    wrong = CliRunner().invoke(main, ["report", str(runs[0].path), "-o", str(tmp_path / "file" / "out.html")])
    assert wrong.stderr.endswith(f"/file/out.html', but '{tmp_path}/file' is no directory; choose another place.\n")


def test_a_run_without_its_weights_does_not_lose_the_others(runs: list[Run], tmp_path: Path) -> None:
    whole, damaged = (tmp_path / name for name in ("whole", "damaged"))
    for path in (whole, damaged):
        shutil.copytree(runs[0].path, path)
    (damaged / "best.safetensors").write_bytes(b"")
    out = tmp_path / "out.html"
    result = CliRunner().invoke(main, ["report", str(damaged), str(whole), "-o", str(out)])
    assert result.exit_code == 1
    assert f"Error: runs missing from the table: 1; put them right, or leave them out:\n{damaged}/" in result.stderr
    assert f"{damaged}/best.safetensors: damaged" in out.read_text(encoding="utf-8")


def test_what_is_wrong_with_all_runs_is_one_line(runs: list[Run], tmp_path: Path) -> None:
    words = ["report", str(runs[0].path), str(runs[1].path), "--split", "tset", "-o", str(tmp_path / "out.html")]
    (error,) = CliRunner().invoke(main, words).stderr.splitlines()
    assert error.startswith("Error: Unknown split 'tset' of corpus ")


def test_a_model_that_says_nothing_is_shown_as_such(runs: list[Run], tmp_path: Path) -> None:
    shutil.copytree(runs[0].path, tmp_path / "mute")
    mute = Run.open(tmp_path / "mute")
    weights, metadata = mute.load_weights()
    weights["output.bias"][EOS] += 1000
    mute.save_weights(weights, **metadata)
    evaluation = Evaluator(mute, "test").evaluate(Strategy())
    mute.save_evaluation(evaluation.name, evaluation.to_json())
    html = report([mute], title="mute", split="test", strategy=Strategy())
    assert html.count(" · no words") == 12  # best, worst, longest and random
    assert "no attention" not in html
    assert " · worst · bleu 0.0 · no words" in html


def test_characters_are_shown_as_such_everywhere(tmp_path: Path) -> None:
    run = make_run(tmp_path / "characters", "scenes", "tokenizer.kind=character")
    pair = Pair.of(load_corpus(run.config.data), "test", 3)
    assert pair.links
    translation = load(run.path).translate(pair.source, Strategy())
    assert pair.beside(translation).source == translation.source_tokens
    assert pair.beside(replace(translation, text=pair.reference)).links is None  # they count words
    html = report([run], title="characters", split="test", strategy=Strategy())
    for shown in (html, translation_html(translation)):
        assert '"source":["' in shown
        assert '"source":["' + split_words(pair.source)[0] + '"' not in shown


def test_a_corpus_that_has_changed_is_told(tmp_path: Path) -> None:
    corpus = load_corpus(load_config("scenes", SCENES).data)
    pairs, test = tmp_path / "pairs.tsv", tmp_path / "test.tsv"
    pairs.write_text(corpus["train"].table, encoding="utf-8")
    test.write_text(corpus["test"].table, encoding="utf-8")
    small = [word for word in SCENES if not word.startswith("data.")]
    config = load_config("scenes", [*small, "data.corpus=files", f"data.pairs={pairs}", f"data.test_pairs={test}"])
    session = Session.begin(config, tmp_path / "run")
    assert list(session.fit())
    path = str(session.run.path)
    assert CliRunner().invoke(main, ["report", path, "-o", str(tmp_path / "r.html")]).exit_code == 0
    test.write_text("".join(corpus["test"].table.splitlines(keepends=True)[:3]), encoding="utf-8")
    result = CliRunner().invoke(main, ["report", path, "-o", str(tmp_path / "again.html")])
    assert result.exit_code == 1
    told = "are not those that it was evaluated on any more; put them back, or evaluate a new run."
    assert result.stderr == f"Error: {path}: the sentences of 'test' {told}\n"
    assert not (tmp_path / "again.html").exists()
    kept = tmp_path / "kept.tsv"
    kept.write_text(corpus["test"].table, encoding="utf-8")
    words = ["report", path, "--split", str(kept), "-o", str(tmp_path / "own.html")]
    assert CliRunner().invoke(main, words).exit_code == 0, "a file is known by its content"
    html = (tmp_path / "own.html").read_text(encoding="utf-8")
    assert "split:kept-" in html
    assert "1 run, tested on kept-" in html
    test.write_text(corpus["test"].table, encoding="utf-8")
    pairs.write_text("".join(corpus["train"].table.splitlines(keepends=True)[:99]), encoding="utf-8")
    words = ["report", path, "-o", str(tmp_path / "other.html")]
    assert CliRunner().invoke(main, words).exit_code == 0, "what is trained on is not what is shown"
    assert "Left out: " in (tmp_path / "other.html").read_text(encoding="utf-8")
