from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from regard.attention.base import Attention, Source
from regard.config import ModelConfig
from regard.data.batches import Batch, EncodedPairs
from regard.data.vocabulary import PAD
from regard.models.build import build_model
from regard.models.decoders.after import After
from regard.models.embedding import Embedding
from regard.models.scoring import autocast, read_batch
from regard.models.seq2seq import Seq2Seq
from regard.training.shares import Shares
from regard.types import Tensor


def model(dropout: float, **others: Any) -> Seq2Seq:
    torch.manual_seed(3)
    sizes = {"embedding": 6, "encoder_hidden": 5, "hidden": 7, "attention_size": 4}
    config = ModelConfig(**sizes, encoder_layers=2, dropout=dropout, feature_dropout=dropout, **others)
    return build_model(config, source_words=13, target_words=13 if others.get("tie") == "all" else 11)


def batch(pairs: int, target_length: int | None = None) -> Batch:
    random = np.random.default_rng(5)
    sources = [random.integers(4, 13, random.integers(1, 9)).tolist() for _ in range(pairs)]
    targets = [random.integers(4, 11, target_length or random.integers(1, 9)).tolist() for _ in range(pairs)]
    return EncodedPairs.of(sources, targets).batch(np.arange(pairs))


def shares(of: Seq2Seq, threads: int, precision: torch.dtype = torch.float32) -> Shares:
    return Shares(of, threads=threads, precision=precision, smoothing=0.1, seed=2, device=torch.device("cpu"))


TIED: list[dict[str, Any]] = [
    {},
    {"tie": "output", "readout": 6},
    {"tie": "all", "readout": 6, "lexicon": 2.0},
    {"tie": "all", "readout": 6, "lexicon": 2.0, "lexicon_gate": True},
    {"decoder": "feeding", "cell": "lstm"},
    {"decoder": "before", "cell": "rnn", "attention": "additive"},
    {"decoder": "deep", "attention": "none"},
]
"""Models whose words are looked up in tables of their own, in the output layer, and in one table for all."""


def plain_gradient(network: Seq2Seq, of: Batch, precision: torch.dtype) -> list[Tensor]:
    """Return what torch finds without any help."""
    with autocast(torch.device("cpu"), precision):
        features = read_batch(network.train(), of).features[of.is_target]
        logits = network.output(features).float()
    targets = of.target_out[of.is_target]
    cross_entropy(logits, targets, label_smoothing=0.1, reduction="sum").backward()
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in network.parameters()]


@pytest.mark.parametrize("target_length", [None, 3], ids=["padding", "no padding"])
@pytest.mark.parametrize("others", TIED, ids=str)
def test_words_learn_where_they_were_looked_up(others: dict[str, Any], target_length: int | None) -> None:
    network = model(dropout=0, **others)
    found = shares(network, 2).gradient(batch(9, target_length), step=4).tensors
    expected = plain_gradient(network, batch(9, target_length), torch.float32)
    for (name, _), one, other in zip(network.named_parameters(), found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("others", TIED, ids=str)
def test_a_gradient_knows_nothing_of_the_batch_before(others: dict[str, Any]) -> None:
    network = model(dropout=0, **others)
    pairs = EncodedPairs.of([[4, 5, 6], [9, 8]], [[4, 5], [10, 9, 8]])
    fresh = shares(network, 2).gradient(pairs.batch(np.array([1])), step=4).tensors
    used = shares(network, 2)
    for gradient in used.gradient(pairs.batch(np.array([0])), step=3).tensors:
        gradient.mul_(7)  # as the optimiser, which writes to it
    for one, other in zip(used.gradient(pairs.batch(np.array([1])), step=4).tensors, fresh, strict=True):
        assert torch.equal(one, other)


class OneHot(After):
    """Reads its words without looking them up."""

    def embed(self, tokens: Tensor) -> Tensor:
        return one_hot(tokens, self.embedding.num_embeddings).to(self.embedding.weight.dtype) @ self.embedding.weight


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("tie", [{}, {"tie": "output", "readout": 6}], ids=str)
def test_tables_may_be_used_as_a_whole(tie: dict[str, Any], precision: torch.dtype) -> None:
    network = model(dropout=0, **tie)
    network.decoder.__class__ = OneHot
    found = shares(network, 2, precision).gradient(batch(9), step=4).tensors
    expected = plain_gradient(network, batch(9), precision)
    of_table = [name for name, _ in network.named_parameters()].index("decoder.embedding.weight")
    assert (found[of_table] - expected[of_table]).norm() <= 0.03 * expected[of_table].norm()


class Changing(After):
    """Looks its words up, uses the whole table, does both, or neither, as it is told."""

    way = "look"

    def embed(self, tokens: Tensor) -> Tensor:
        table = self.embedding.weight
        found = super().embed(tokens)  # recorded even where it has no part in the loss
        whole = one_hot(tokens, self.embedding.num_embeddings).to(table.dtype) @ table
        is_second = len(tokens) == 4  # of the nine pairs
        by_way = {"look": found, "whole": whole, "both": found + whole, "neither": torch.zeros_like(found)}
        return by_way.get(self.way, whole if is_second else found)


@pytest.mark.parametrize("tie", [{}, {"tie": "output", "readout": 6}], ids=str)
def test_a_table_may_be_used_otherwise_in_every_step_and_share(tie: dict[str, Any]) -> None:
    network = model(dropout=0, **tie)
    network.decoder.__class__ = Changing
    work = shares(network, 2)
    for way in ("look", "whole", "look", "both", "neither", "look", "whole in the second share", "look", "whole"):
        for one in (network, *work.replicas):
            one.decoder.way = way
        found = work.gradient(batch(9), step=4).tensors
        for parameter in network.parameters():
            parameter.grad = None
        network.decoder.way = "look" if "share" in way else way
        expected = plain_gradient(network, batch(9), torch.float32)
        for (name, _), one, other in zip(network.named_parameters(), found, expected, strict=True):
            kept = slice(PAD + 1, None) if "embedding" in name else slice(None)  # a whole table has padding, too
            torch.testing.assert_close(one[kept], other[kept], atol=2e-6, rtol=1e-4, msg=f"{way}, {name}")
            one.mul_(3)


@pytest.mark.parametrize(("decoder", "attention"), [("before", "additive"), ("feeding", "scaled_dot")])
def test_bits_do_not_depend_on_which_share_is_done_first(decoder: str, attention: str) -> None:
    torch.manual_seed(3)
    sizes = {"embedding": 64, "encoder_hidden": 64, "hidden": 128, "attention_size": 64}
    config = ModelConfig(**sizes, decoder=decoder, attention=attention, dropout=0.2)
    work = shares(build_model(config, source_words=200, target_words=200), 2, torch.bfloat16)
    random = np.random.default_rng(1)
    texts = [[random.integers(4, 200, random.integers(5, 20)).tolist() for _ in range(32)] for _ in range(2)]
    pairs = EncodedPairs.of(*texts).batch(np.arange(32))
    first, *others = ([one.clone() for one in work.gradient(pairs, step=0).tensors] for _ in range(12))
    assert all(torch.equal(*pair) for other in others for pair in zip(first, other, strict=True))


class Odd(Attention):
    """Its parameters have gradients that share memory, are one number many times, or are laid out otherwise."""

    def __init__(self) -> None:
        super().__init__(context=10)
        self.left, self.right = (nn.Parameter(torch.randn(10, 7)) for _ in range(2))
        self.gain = nn.Parameter(torch.ones(50))
        self.turned = nn.Parameter(torch.randn(7, 7))

    def weights(self, queries: Tensor, source: Source) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            asked = torch.einsum("bth,hg->btg", queries.float(), self.turned.t())
            scores = asked @ (self.left + self.right).T @ source.keys.float().mT * self.gain.sum() / 50
        return scores.masked_fill(~source.is_token[:, None], -torch.inf).softmax(dim=2)[:, None]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_gradient_has_memory_of_its_own_in_the_order_of_its_parameter(workers: int) -> None:
    network = model(dropout=0)
    network.decoder.attention = Odd()
    found = shares(network, workers).gradient(batch(9), step=4).tensors
    assert len({one.data_ptr() for one in found}) == len(found)
    expected = plain_gradient(network, batch(9), torch.float32)
    for parameter, one, other in zip(network.parameters(), found, expected, strict=True):
        assert one.stride() == parameter.stride()
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


class InFull(Attention):
    """Refuses weights that are not in single precision."""

    def __init__(self) -> None:
        super().__init__(context=10)
        self.layer = nn.Linear(7, 10)

    def weights(self, queries: Tensor, source: Source) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            scores = self.layer(queries.float()) @ source.keys.float().mT
        return scores.masked_fill(~source.is_token[:, None], -torch.inf).softmax(dim=2)[:, None]


def test_attention_and_the_output_bias_keep_their_precision() -> None:
    network = model(dropout=0)
    network.decoder.attention = InFull()
    work = shares(network, 1, torch.bfloat16)
    work.gradient(batch(4), step=4)
    replica = work.replicas[0]
    kept = [replica.decoder.attention.layer.weight, replica.output.bias, replica.encoder.embedding.weight]
    assert {weight.dtype for weight in kept} == {torch.float32}
    assert {replica.output.weight.dtype, replica.encoder.layers[0].weight_hh_l0.dtype} == {torch.bfloat16}


def test_nothing_is_remembered_after_a_step() -> None:
    work = shares(model(dropout=0), 2)
    work.gradient(batch(9), step=4)
    tables = [table for replica in work.replicas for table in replica.modules() if isinstance(table, Embedding)]
    assert tables
    assert all(table.found is None for table in tables)


@pytest.mark.parametrize("others", TIED, ids=str)
def test_converted_weights_follow_the_parameters(others: dict[str, Any]) -> None:
    network = model(dropout=0, **others)
    work = shares(network, 2, torch.bfloat16)
    work.gradient(batch(9), step=4)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1)
    found = work.gradient(batch(9), step=4).tensors
    expected = plain_gradient(network, batch(9), torch.bfloat16)
    for (name, parameter), one, other in zip(network.named_parameters(), found, expected, strict=True):
        assert one.dtype == parameter.dtype
        assert (one - other).norm() <= 0.05 * other.norm() + 1e-4, name


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
