"""What may be configured, and what is said when it may not."""

from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from regard.cli import main
from regard.config import Config, load_config, presets
from regard.data.corpus import Recipe
from regard.errors import RegardError


def problems(experiment: str, *overrides: str) -> list[str]:
    with pytest.raises(RegardError) as caught:
        load_config(experiment, overrides)
    return str(caught.value).split("\n")


@pytest.mark.parametrize("name", list(presets()))
def test_every_preset_is_valid_and_says_how_to_run_it(name: str) -> None:
    config = load_config(name)
    assert isinstance(config.data, Recipe)
    lines = presets()[name].splitlines()
    assert lines[0].startswith("# ")
    assert any(line.startswith(f"# Run:    regard train {name}") for line in lines)
    assert any(line.startswith("# Expect:") for line in lines)


def test_the_homework_preset_has_the_published_sizes() -> None:
    config = load_config("homework")
    model, train = config.model, config.train
    assert (model.embedding, model.encoder_hidden, model.hidden, model.attention_size) == (256, 512, 512, 512)
    assert (model.cell, model.bidirectional, model.decoder, model.attention) == ("gru", True, "after", "scaled_dot")
    assert (model.dropout, train.batch, train.epochs, train.learning_rate, train.clip) == (0.5, 128, 10, 1e-3, 1.0)
    assert (config.tokenizer.kind, config.tokenizer.minimum_count, config.tokenizer.lowercase) == ("word", 2, True)
    assert (train.schedule, train.weight_decay, train.label_smoothing, train.ema) == ("constant", 0, 0, 0)


def test_a_value_is_read_as_toml_or_as_a_word() -> None:
    config = load_config("scenes", ["model.attention=additive", "train.minutes=1.5", "tokenizer.lowercase=true"])
    assert (config.model.attention, config.train.minutes, config.tokenizer.lowercase) == ("additive", 1.5, True)


def test_another_corpus_leaves_the_keys_of_the_first_behind() -> None:
    config = load_config("homework", ["data.corpus=reverse", "data.letters=3"])
    assert config.data.model_dump()["letters"] == 3


@pytest.mark.parametrize(
    "overrides", list(permutations(["data.corpus=reverse", "data.letters=3", " data . seed = 5 "]))
)
def test_the_order_of_overrides_does_not_matter(overrides: tuple[str, ...]) -> None:
    data = load_config("homework", overrides).data.model_dump()
    assert (data["corpus"], data["letters"], data["seed"]) == ("reverse", 3, 5)


def test_the_last_of_equal_keys_counts() -> None:
    assert load_config("scenes", ["train.epochs=3", "train.epochs =4"]).train.epochs == 4


def test_another_attention_leaves_the_heads_of_the_preset_behind() -> None:
    assert load_config("multi30k").model.heads == 4
    assert load_config("multi30k", ["model.attention=multi_head"]).model.heads == 4
    assert load_config("scenes", ["model.attention=multi_head"]).model.heads == 4  # one would be scaled_dot
    assert load_config("scenes", ["model.attention=multi_head", "model.heads=1"]).model.heads == 1
    assert load_config("multi30k", ["model.attention=scaled_dot"]).model.heads == 1
    message = "multi30k: model: heads: got 4 with attention 'scaled_dot', want 1 or multi_head."
    assert problems("multi30k", "model.heads=4", "model.attention=scaled_dot") == [message]


def test_a_time_budget_alone_decides_unless_epochs_are_given(tmp_path: Path) -> None:
    def decided(*overrides: str, experiment: str = "scenes") -> tuple[int, float]:
        train = load_config(experiment, overrides).train
        return train.epochs, train.minutes

    assert decided("train.minutes=5") == (0, 5)
    assert decided("train.epochs=3", "train.minutes=5") == decided("train.minutes=5", "train.epochs=3") == (3, 5)
    assert decided("train.minutes=0") == decided()
    path = tmp_path / "mine.toml"
    path.write_text('[data]\ncorpus = "scenes"\n[train]\nminutes = 5\n')
    assert decided(experiment=str(path)) == (0, 5)
    assert decided("train.minutes=0", experiment=str(path)) == (10, 0)


def test_a_configuration_survives_json() -> None:
    config = load_config("multi30k")
    from regard.config import resolve

    assert resolve(config.model_dump(mode="json"), where="x") == config


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.hiden=3"], "scenes: model.hiden: unknown key. Did you mean 'hidden'?"),
        (["modle.hidden=3"], "scenes: modle: unknown key. Did you mean 'model'?"),
        (["data.trian=3"], "scenes: data.trian: unknown key. Did you mean 'train'?"),
        (["data.corpus=scene"], "scenes: data.corpus: got 'scene'. Did you mean 'scenes'?"),
        (["model.attention=aditive"], "scenes: model.attention: got 'aditive'. Did you mean 'additive'?"),
        (["model.cell=gur"], "scenes: model.cell: got 'gur'. Did you mean 'gru'?"),
        (["train.epochs=0"], "scenes: train: epochs: got 0, want at least 1, or minutes to train for."),
        (["model.dropout=1"], "scenes: model.dropout: got 1. Input should be less than 1."),
        (["train.precision=half"],
         "scenes: train.precision: got 'half'. Input should be 'auto', 'float32' or 'bfloat16'."),
        (["model.heads=2"], "scenes: model: heads: got 2 with attention 'additive', want 1 or multi_head."),
        (
            ["model.attention=multi_head", "model.heads=3"],
            "scenes: model: attention_size: got 128, want a multiple of heads = 3.",
        ),
        (["tokenizer.dropout=0.1"],
         "scenes: tokenizer: dropout: got 0.1 with kind 'word', want 0 unless kind is subword."),
        (["model.tie=all"], "scenes: model.tie: got 'all', want 'output' or 'none' unless tokenizer.kind is subword."),
    ],
)  # fmt: skip
def test_a_wrong_value_gets_one_line(overrides: list[str], message: str) -> None:
    assert problems("scenes", *overrides) == [message]


def test_all_problems_are_told_at_once() -> None:
    told = problems("scenes", "model.hiden=3", "train.epochs=-1", "data.seed=-1")
    assert len(told) == 3
    assert {line.split(": ")[1] for line in told} == {"model.hiden", "train.epochs", "data.seed"}


@pytest.mark.parametrize(
    ("experiment", "overrides", "message"),
    [
        ("homewrok", [], "Unknown preset 'homewrok'. Did you mean 'homework'? A file's name must end in .toml."),
        ("no/such.toml", [], "no/such.toml: cannot read the configuration (No such file or directory)."),
        ("scenes", ["epochs"], "'epochs': want key=value, such as train.epochs=5."),
        ("scenes", ["model..hidden=3"], "'model..hidden=3': want key=value, such as train.epochs=5."),
        ("scenes", ["train.seed=1\nepochs=5"], "train.seed: got a value of several lines, want one line."),
        (
            "scenes",
            ["model={hidden=3}"],
            "'model={hidden=3}': want one value for one key, such as train.epochs=5.",
        ),
        ("scenes", ["data=5"], "'data=5': want one value for one key, such as train.epochs=5."),
        (
            "scenes",
            ["train.epochs={a=1}"],
            "'train.epochs={a=1}': want one value for one key, such as train.epochs=5.",
        ),
        ("scenes", ["model.hidden.x=1"], "'model.hidden.x=1': 'hidden' is a value, not a section."),
    ],
)
def test_what_cannot_be_read_gets_one_line(experiment: str, overrides: list[str], message: str) -> None:
    assert problems(experiment, *overrides) == [message]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[model\n")
    assert problems(str(path))[0].startswith(f"{path}: not valid TOML: ")
    path.write_text("[model]\nhidden = 8\n")
    assert problems(str(path)) == [f"{path}: data.corpus: missing, and has no default."]


def test_a_user_error_is_one_line_on_stderr_and_exit_code_1() -> None:
    result = CliRunner().invoke(main, ["train", "scenes", "model.hiden=3"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: scenes: model.hiden: unknown key. Did you mean 'hidden'?\n"


def test_a_config_is_closed_and_frozen() -> None:
    config = load_config("scenes")
    with pytest.raises(ValueError, match="frozen"):
        config.model = config.model  # type: ignore[misc]
    assert set(Config.model_fields) == {"data", "tokenizer", "model", "train"}


def test_a_configuration_is_flat_by_whole_keys() -> None:
    flat = load_config("reverse", ["train.epochs=3", "data.max_length=7"]).flat()
    assert (flat["train.epochs"], flat["data.max_length"], flat["data.corpus"]) == (3, 7, "reverse")


def test_another_corpus_keeps_what_belongs_to_no_corpus(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[data]\ncorpus = "scenes"\nswap = true\nbare = 0.1\ntrain = 50\n')
    data = load_config(str(file), ["data.corpus=reverse"]).data
    assert (data.corpus, data.swap, data.bare) == ("reverse", True, 0.1)
    assert data.model_dump()["train"] == 10_000
