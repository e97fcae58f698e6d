"""The service answers as the command line does, and says what is wrong in one line."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from regard.cli import main
from regard.cli.translate import translate
from regard.errors import RegardError
from regard.serve.api import MOST_CHARACTERS, MOST_TEXTS, ChoicesQuestion, Models, Question, TranslateQuestion
from serving import ask, serving
from tiny_runs import make_run

DOGS = "Zwei Hunde spielen im Schnee."
GIRL = "Ein kleines Mädchen sitzt auf einer Bank."


@pytest.fixture(scope="module")
def box() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("runs")
    runs = [
        make_run(folder / "additive", "scenes", is_evaluated=False),
        make_run(folder / "none", "scenes", "model.attention=none", is_evaluated=False),
        make_run(folder / "letters", "reverse"),
    ]
    with serving(*(run.path for run in runs)) as url:
        yield url


def command_line(*words: str, text: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, ["translate", "--json", *words], input=text, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_text_is_answered_with_the_object_of_the_command_line(box: str) -> None:
    assert ask(f"{box}api/translate", {"text": DOGS}) == (200, command_line(text=DOGS)[0])


def test_a_list_is_answered_with_a_list_and_options_mean_the_same(box: str) -> None:
    question = {
        "text": [DOGS, "", GIRL], "beam": 3, "n_best": 2, "length_penalty": 0.6, "gnmt": True, "max_length": "1x+2",
        "no_repeat": 2, "unknown": "forbid", "prefix": "A",
    }  # fmt: skip
    words = (
        "--beam 3 --n-best 2 --length-penalty 0.6 --gnmt --max-length 1x+2 --no-repeat 2 --unknown forbid --prefix A"
    )
    assert ask(f"{box}api/translate", question) == (200, command_line(*words.split(), text=f"{DOGS}\n\n{GIRL}\n"))


def test_sampling_is_the_command_lines(box: str) -> None:
    question = {"text": [DOGS, GIRL], "sample": True, "temperature": 1.5, "top_k": 40, "seed": 7, "n_best": 2}
    words = "--sample --temperature 1.5 --top-k 40 --seed 7 --n-best 2"
    assert ask(f"{box}api/translate", question) == (200, command_line(*words.split(), text=f"{DOGS}\n{GIRL}\n"))


def test_every_key_is_an_option_of_the_command_line_with_its_default() -> None:
    options = translate.make_context("translate", []).params
    keys = {name: field.default for name, field in TranslateQuestion.model_fields.items()}
    assert {name: options[name] for name in keys.keys() - {"model", "text"}} == {
        name: default for name, default in keys.items() if name not in {"model", "text"}
    }


def test_attention_is_joined_to_words_or_left_in_tokens(box: str) -> None:
    _, words = ask(f"{box}api/show", {"text": "Ein Snowboarder springt.", "n_best": 2})
    _, tokens = ask(f"{box}api/show", {"text": "Ein Snowboarder springt.", "tokens": True})
    (first, second), (one,) = words["translations"], tokens["translations"]
    assert first["diagram"]["source"] == ["Ein", "Snowboarder", "springt", "."]
    assert one["diagram"]["source"][0] == "▁Ein"
    assert one["text"] == first["text"] != second["text"]
    assert [each["name"] for each in first["diagram"]["maps"]] == [
        "mean of 4 heads", *(f"head {number}" for number in range(1, 5))
    ]  # fmt: skip
    assert first["diagram"]["target"] == first["words"]


def test_the_tree_ends_in_the_translation(box: str) -> None:
    _, found = ask(f"{box}api/search-tree", {"text": DOGS, "beam": 3, "pruned": 2})
    _, translation = ask(f"{box}api/translate", {"text": DOGS, "beam": 3})
    won = [node for step in found["steps"] for node in step["nodes"] if node["is_on_best_path"]]
    assert [node["text"] for node in won[1:]] == [*translation["translations"][0]["tokens"], "</s>"]
    assert won[-1]["total"] == pytest.approx(translation["translations"][0]["log_prob"], abs=1e-4)
    assert found["text"] == translation["translations"][0]["text"]
    assert [len([n for n in step["nodes"] if n["is_kept"]]) for step in found["steps"][:4]] == [1, 3, 3, 3]
    assert all(len([n for n in step["nodes"] if not n["is_kept"]]) <= 2 for step in found["steps"])
    assert [step["weighed"] for step in found["steps"][:3]] == [1, 3, 9]


def test_the_tree_of_a_given_beginning_keeps_to_it(box: str) -> None:
    _, found = ask(f"{box}api/search-tree", {"text": DOGS, "prefix": "Some dogs"})
    assert found["text"].startswith("Some dogs")
    assert [n["text"] for step in found["steps"][1:3] for n in step["nodes"] if n["is_kept"]] == ["▁Some", "▁dogs"]


def test_choices_are_the_models_most_probable_next_words(box: str) -> None:
    _, translation = ask(f"{box}api/translate", {"text": DOGS, "beam": 1})
    best = translation["translations"][0]
    _, found = ask(f"{box}api/choices", {"text": DOGS, "prefix": "Two dogs", "count": 5})
    first, *others = found["choices"]
    assert first["token"] == best["tokens"][2]
    assert first["text"] == best["text"]
    assert first["words"][first["word"]] == best["words"][2]
    assert -0.01 < first["probability"] - 2.718281828 ** best["token_log_probs"][2] < 0.01
    assert [each["probability"] for each in others] == sorted((e["probability"] for e in others), reverse=True)
    assert len(others) == 4
    assert all(each["text"].startswith("Two dogs") for each in others)
    assert len({each["text"] for each in found["choices"]}) == 5


def test_the_end_of_the_sentence_is_a_choice_without_a_text(box: str) -> None:
    _, found = ask(f"{box}api/choices", {"text": DOGS, "prefix": "Two dogs play in the snow."})
    assert found["choices"][0]["token"] == "</s>"
    assert found["choices"][0]["text"] is None
    assert found["choices"][0]["probability"] > 0.5


def test_models_tell_what_they_are(box: str) -> None:
    status, (model,) = ask(f"{box}api/models")
    assert status == 200
    assert (model["name"], model["source"], model["target"], model["heads"]) == ("de-en", "de", "en", 4)
    assert model["weights"] == pytest.approx(4.10e6, rel=0.01)
    assert model["scores"]["test-beam5-power1"]["bleu"]["signature"].startswith("metric:bleu|")
    assert model["card"].startswith("# de-en")
    assert ask(f"{box}api/health")[1]["models"] == ["de-en"]


def test_several_models_are_asked_by_name(several: str) -> None:
    _, models = ask(f"{several}api/models")
    assert [model["name"] for model in models] == ["additive", "none", "letters"]
    question = {"text": "abcd", "min_length": 3}  # models that have learnt little might say nothing
    shown = {name: ask(f"{several}api/show", question | {"model": name})[1] for name in ("", "none", "letters")}
    assert [each["model"] for each in shown.values()] == ["additive", "none", "letters"]
    assert [each["has_attention"] for each in shown.values()] == [True, False, True]
    assert shown["letters"]["translations"][0]["diagram"]["source"] == list("abcd")
    assert ask(f"{several}api/choices", {"text": "abcd", "model": "letters", "prefix": "d"})[1]["choices"]
    status, answer = ask(f"{several}api/translate", {"text": "a", "model": "nona"})
    assert (status, answer) == (400, {"error": "model: got 'nona'. Did you mean 'none'?"})


def test_an_empty_text_has_nothing_to_show(box: str) -> None:
    _, found = ask(f"{box}api/show", {"text": " "})
    assert (found["translations"][0]["text"], found["translations"][0]["diagram"]) == ("", None)


@pytest.mark.parametrize(
    ("path", "question", "status", "error"),
    [
        ("translate", {}, 422, "text: missing, and has no default."),
        ("translate", {"text": 5}, 422, "text: want a sentence, or a list of sentences."),
        ("translate", {"text": ["a", None]}, 422, "text: want a sentence, or a list of sentences."),
        ("translate", {"text": "a\nb"}, 422,
         "text: got several lines, want one sentence; a list of texts may hold several."),
        ("translate", {"text": "a" * (MOST_CHARACTERS + 1)}, 422,
         "text: got 1,001 characters, want at most 1,000 a sentence."),
        ("translate", {"text": ["a"] * (MOST_TEXTS + 1)}, 422,
         "text: got 101 texts, want at most 100; ask several times."),
        ("translate", {"text": "a", "baem": 2}, 422, "baem: unknown key. Did you mean 'beam'?"),
        ("translate", {"text": "a", "beam": 51}, 422, "beam: got 51. Input should be less than or equal to 50."),
        ("translate", {"text": "a", "n_best": 6}, 400, "search.n_best: got 6, want an integer from 1 to the width, 5."),
        ("translate", {"text": "a", "max_length": "long"}, 422,
         "max_length: got 'long', want a number of tokens such as 40, or relative to the source: 1.5x+10."),
        ("translate", {"text": "a", "max_length": 0}, 400, "search.max_length: got 0, want at least 1."),
        ("translate", {"text": "a", "max_length": 1001}, 422, "max_length: got '1001', want at most 4x+1000."),
        ("translate", {"text": "a", "min_length": "4.1x"}, 422, "min_length: got '4.1x', want at most 4x+1000."),
        ("translate", {"text": "a", "temperature": 0.5}, 400, "temperature: has no effect without sample."),
        ("translate", {"text": "a", "seed": 1}, 400, "seed: has no effect without sample."),
        ("translate", {"text": "a", "sample": True, "beam": 5}, 400,
         "beam: has no effect with sample, which draws translations and compares none."),
        ("translate", {"text": "a", "beam": 1, "gnmt": True}, 400,
         "gnmt: has no effect on greedy search, which has nothing to compare; want a beam >= 2."),
        ("show", {"text": "a", "beam": 1, "length_penalty": 0.5}, 400,
         "length_penalty: has no effect on greedy search, which has nothing to compare; want a beam >= 2."),
        ("translate", {"text": "a", "length_penalty": float("nan")}, 422,
         "length_penalty: got nan. Input should be a finite number."),
        ("translate", b"{", 422,
         "request: not valid JSON (Expecting property name enclosed in double quotes)."),
        ("translate", [], 422, "request: got [], want a JSON object."),
        ("search-tree", {"text": "a", "beam": 21}, 422, "beam: got 21. Input should be less than or equal to 20."),
        ("search-tree", {"text": ["a"]}, 422, "text: got ['a']. Input should be a valid string."),
        ("choices", {"text": "a", "prefix": "b" * 1001}, 422,
         "prefix: got 1,001 characters, want at most 1,000 a sentence."),
        ("choices", {"text": "a", "beam": 5}, 422,
         "beam: unknown key. Choose from: count, model, prefix, text."),
        ("choices", {"text": " "}, 422, "text: got nothing, want a sentence."),
        ("nothing", {}, 404, "POST /api/nothing: Not Found."),
        ("translate", None, 405, "GET /api/translate: Method Not Allowed."),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(box: str, path: str, question: Any, status: int, error: str) -> None:
    assert ask(f"{box}api/{path}", question) == (status, {"error": error})


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_a_question_is_json_whatever_it_is_called(box: str, kind: str) -> None:
    assert ask(f"{box}api/translate", {"text": DOGS}, {"Content-Type": kind})[0] == 200


def test_questions_asked_together_are_answered_as_if_alone(box: str) -> None:
    questions = [{"text": text, "beam": beam} for text in (DOGS, GIRL, f"{GIRL} {DOGS}") for beam in (1, 2, 5)]
    alone = [ask(f"{box}api/translate", question) for question in questions]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda question: ask(f"{box}api/translate", question), questions * 3))
    assert together == alone * 3


def test_runs_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    first, second = (make_run(tmp_path / name / "run", "reverse", is_evaluated=False).path for name in "ab")
    with serving(first, second, first) as url:
        assert [model["name"] for model in ask(f"{url}api/models")[1]] == [str(first), str(second)]


def test_limits_hold_wherever_a_number_is_asked_for() -> None:
    for model in (Question, ChoicesQuestion):
        for name, field in model.model_fields.items():
            if field.annotation in (int, float):
                assert {type(limit).__name__ for limit in field.metadata} >= {"Ge", "Le"}, name


def test_damaged_scores_are_told_before_anybody_asks(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "reverse")
    (damaged := run.path / "evaluations" / "test-greedy.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RegardError, match=f"^{re.escape(str(damaged))}: damaged"):
        Models([run.path])
