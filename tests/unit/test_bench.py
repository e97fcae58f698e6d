import json

import pytest
import torch
from click.testing import CliRunner

from regard import bench
from regard.cli import main
from regard.config import Config, load_config

SMALL = ["model.embedding=8", "model.encoder_hidden=6", "model.hidden=10", "model.attention_size=4", "train.batch=16"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "SIZES", (64,))
    monkeypatch.setattr(bench, "SENTENCES", 128)
    monkeypatch.setattr(bench, "WORDS", 50)


@pytest.fixture
def config() -> Config:
    return load_config("homework", SMALL)


def test_the_limit_is_a_rate_of_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_seconds", lambda work: 0.5)
    assert bench.machine_limit() == 2 * 64**3 / 0.5


def test_training_is_measured_against_the_limit(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "machine_limit", lambda dtype: 1e12)
    _, _, at_1e12 = bench.training(config, seconds=0.3)
    monkeypatch.setattr(bench, "machine_limit", lambda dtype: 1e9)
    limit, _, at_1e9 = bench.training(config, seconds=0.3)
    assert limit.value == 1
    assert at_1e12.value > 0
    assert at_1e9.share_of_limit / at_1e9.value == pytest.approx(1000 * at_1e12.share_of_limit / at_1e12.value)


def test_training_is_measured_at_first_and_then_warmed_up(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = iter((1.0, 2.0))
    monkeypatch.setattr(bench, "_tokens_per_second", lambda trainer, batches, seconds: next(speeds))
    _, at_first, later = bench.training(config, seconds=0.1)
    assert (at_first.value, later.value) == (1.0, 2.0)
    assert later.share_of_limit == pytest.approx(2 * at_first.share_of_limit)


def test_operations_are_those_of_the_matrix_products(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    output_only = 3 * 2 * (10 + 12) * 50  # forward and twice backward, [context 12, state 10] to 50 words
    monkeypatch.setattr(bench, "machine_limit", lambda dtype: 1.0)
    _, _, speed = bench.training(config, seconds=0.1)
    operations_per_token = speed.share_of_limit / speed.value
    states = 3 * 2 * (3 * 10 * (8 + 10) + 2 * 3 * 6 * (8 + 6))  # decoder and both ways of the encoder
    assert output_only + 0.8 * states < operations_per_token < 1.4 * (output_only + states)


def test_operations_are_counted_with_a_lexicon_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "machine_limit", lambda dtype: 1.0)
    tied = [*SMALL, "model.readout=8", "tokenizer.vocabulary=50", "train.batch=100"]
    _, _, without = bench.training(load_config("multi30k", [*tied, "model.lexicon=0"]), seconds=0.1)
    _, _, speed = bench.training(load_config("multi30k", tied), seconds=0.1)
    assert speed.share_of_limit / speed.value > without.share_of_limit / without.value


def test_a_profile_names_what_takes_most(config: Config) -> None:
    shares = list(bench.profile(config, steps=2, most=5))
    assert [each.value for each in shares] == sorted((each.value for each in shares), reverse=True)
    assert 0 < sum(each.value for each in shares) <= 100


@pytest.mark.parametrize("threads", [1, 2])
def test_a_profile_sees_all_products_of_a_step_and_leaves_the_threads(threads: int) -> None:
    config = load_config("homework", [*SMALL, "model.hidden=64", "train.batch=64", f"train.threads={threads}"])
    before = torch.get_num_threads()
    shares = {each.what: each.value for each in bench.profile(config, steps=2, most=100)}
    assert shares["mm"] + shares["addmm"] > shares["_fused_adamw_"]
    assert torch.get_num_threads() == before


def test_decoding_and_latency(config: Config) -> None:
    slow = bench.decoding(config, width=50, sentences=8, batch=4)
    assert slow.what == "beam 50, batches of 4"
    assert 0 < slow.value < bench.decoding(config, width=1, sentences=64, batch=64).value
    assert bench.latency(config, width=1, tokens=3, repetitions=2).unit == "ms"


def test_a_real_sentence_is_translated_with_the_model_in_the_box() -> None:
    speed = bench.sentence(width=2, repetitions=2)
    assert speed.what == "beam 2, a sentence of 12 words, model in the box"
    assert 0 < speed.value < 60_000


def test_the_command_prints_one_object_a_line() -> None:
    arguments = ["bench", "homework", *SMALL, "--only", "training", "--seconds", "1", "--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    limit, training, later = map(json.loads, result.stdout.splitlines())
    precision = "bfloat16" if torch.cpu.get_capabilities().get("avx512_bf16") else "float32"
    assert limit["what"] == f"limit of matrix products, {precision}"
    assert [training["what"], later["what"]] == ["training", "training, warmed up"]
    assert training["experiment"] == "homework"
    assert training["share_of_limit"] > 0
    assert training["threads"] == torch.get_num_threads()
    assert training["torch"] == torch.__version__
    assert training["machine"]


@pytest.mark.parametrize("cell", ["gru", "lstm", "rnn"])
def test_all_recurrent_networks_are_counted(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "machine_limit", lambda dtype: 1.0)
    gates = {"gru": 3, "lstm": 4, "rnn": 1}[cell]
    _, _, speed = bench.training(load_config("homework", [*SMALL, f"model.cell={cell}"]), seconds=0.1)
    output = 3 * 2 * (10 + 12) * 50
    states = 3 * 2 * gates * (10 * (8 + 10) + 2 * 6 * (8 + 6))
    assert output + 0.8 * states < speed.share_of_limit / speed.value < 1.4 * (output + states)


def test_the_threads_of_the_experiment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(bench, "machine_limit", lambda dtype: seen.append(torch.get_num_threads()) or 1.0)
    before = torch.get_num_threads()
    bench.training(load_config("homework", [*SMALL, "train.threads=1"]), seconds=0.1)
    torch.set_num_threads(before)
    assert seen == [1, 1]


def test_whatever_is_measured_has_the_threads_of_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    result = CliRunner().invoke(main, ["bench", "homework", *SMALL, "train.threads=1", "--only", "latency", "--json"])
    torch.set_num_threads(before)
    assert [json.loads(line)["threads"] for line in result.stdout.splitlines()] == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--seconds", "nan"], "--seconds: got nan, want a number of seconds, at least 1."),
        (["multi30k", "tokenizer.vocabulary=4"], "tokenizer.vocabulary: got 4, want more than the 4 special pieces."),
    ],
)
def test_what_cannot_be_measured_is_told(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(main, ["bench", *arguments])
    assert result.exit_code == 1
    assert told in result.stderr


def test_an_unknown_preset_is_told() -> None:
    result = CliRunner().invoke(main, ["bench", "homwork"])
    assert result.exit_code == 1
    assert "homework" in result.stderr
