import numpy as np
import pytest
import torch

from regard.config import ModelConfig
from regard.data.batches import Batch, EncodedPairs
from regard.models.build import build_model
from regard.models.seq2seq import Seq2Seq
from regard.training.shares import Shares


def model(dropout: float) -> Seq2Seq:
    torch.manual_seed(3)
    sizes = {"embedding": 6, "encoder_hidden": 5, "hidden": 7, "attention_size": 4}
    config = ModelConfig(**sizes, encoder_layers=2, dropout=dropout, feature_dropout=dropout)
    return build_model(config, source_words=13, target_words=11)


def batch(pairs: int) -> Batch:
    random = np.random.default_rng(5)
    sources = [random.integers(4, 13, random.integers(1, 9)).tolist() for _ in range(pairs)]
    targets = [random.integers(4, 11, random.integers(1, 9)).tolist() for _ in range(pairs)]
    return EncodedPairs.of(sources, targets).batch(np.arange(pairs))


def shares(of: Seq2Seq, threads: int) -> Shares:
    cpu = torch.device("cpu")
    return Shares(of, threads=threads, precision=torch.float32, smoothing=0.1, seed=2, device=cpu)


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("pairs", [1, 2, 9])
def test_shares_add_up_to_the_gradient_of_the_whole(threads: int, pairs: int) -> None:
    network = model(dropout=0)
    whole = shares(network, 1).gradient(batch(pairs), step=4)
    shared = shares(network, threads).gradient(batch(pairs), step=4)
    assert shared.nats == pytest.approx(whole.nats, rel=1e-5)
    for one, other in zip(shared.tensors, whole.tensors, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_dropout_depends_on_seed_step_and_share_alone() -> None:
    network = model(dropout=0.5)
    first = shares(network, 2).gradient(batch(9), step=4)
    again = shares(network, 2).gradient(batch(9), step=4)
    next_step = shares(network, 2).gradient(batch(9), step=5)
    assert first.nats == again.nats != next_step.nats
    assert all(torch.equal(*pair) for pair in zip(first.tensors, again.tensors, strict=True))


def test_the_trained_model_keeps_its_mode_and_its_parameters() -> None:
    network = model(dropout=0.5).eval()
    work = shares(network, 2)
    assert not network.training
    assert all(ours is theirs for ours, theirs in zip(network.parameters(), work.replicas[1].parameters(), strict=True))
