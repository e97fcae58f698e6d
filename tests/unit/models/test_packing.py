"""Models made ready to translate."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.config import load_config
from regard.data.batches import EncodedPairs
from regard.device import has_tiles, longest_short_product
from regard.models import packing
from regard.models.build import build_model
from regard.models.packing import ENGINES, Bfloat16Linear, ByteLinear, HalfLinear, pack_for_search
from regard.models.scoring import token_log_probs
from regard.models.seq2seq import Seq2Seq
from regard.parts import ATTENTIONS, DECODERS
from regard.search.beam import beam
from regard.search.hypothesis import Hypothesis
from regard.search.strategy import Strategy
from regard.types import Tensor

HAS_HALF = torch.backends.quantized.engine in ENGINES
TOKENS = torch.tensor([[4, 5, 6], [7, 8, 0]])
needs_half = pytest.mark.skipif(not HAS_HALF, reason="this processor has no packed products")
needs_short = pytest.mark.skipif(not longest_short_product(), reason="this processor has no products in bfloat16")


@pytest.mark.parametrize("wiring", ["after", "attentional", "before", "feeding", "deep"])
@pytest.mark.parametrize("tie", ["none", "all"])
@pytest.mark.parametrize("cell", ["gru", "lstm", "rnn"])
def test_packing_weights_that_half_precision_holds_changes_nothing(wiring: str, tie: str, cell: str) -> None:
    plain = _model(f"model.decoder={wiring}", f"model.tie={tie}", f"model.cell={cell}", "model.decoder_layers=2")
    with torch.no_grad():
        for parameter in plain.parameters():
            parameter.copy_(parameter.half())
    packed = pack_for_search(copy.deepcopy(plain))
    weights = dict(packed.named_parameters())
    assert all(torch.equal(weights[name], parameter) for name, parameter in plain.named_parameters())
    with torch.inference_mode():
        torch.testing.assert_close(_two_steps(packed), _two_steps(plain), atol=1e-4, rtol=0)  # attention is on a grid
    assert (packed.output.weight is packed.decoder.embedding.weight) is (tie == "all")


@needs_half
@pytest.mark.parametrize("decoder", [*DECODERS])
@pytest.mark.parametrize("make", ["_model", "_large_model"])
def test_what_is_looked_up_has_the_bits_of_what_is_computed(
    decoder: str, make: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = globals()[make](f"model.decoder={decoder}")
    computed, looked_up = copy.deepcopy(model), copy.deepcopy(model).train()  # as after a training: it is made ready
    monkeypatch.setattr(packing, "MOST_PROJECTIONS", 0)
    pack_for_search(computed)
    monkeypatch.undo()
    pack_for_search(looked_up)
    assert computed.decoder.projections is None
    assert looked_up.decoder.projections is not None
    with torch.inference_mode():
        assert torch.equal(_two_steps(looked_up), _two_steps(computed))


@needs_half
def test_all_linear_layers_are_packed() -> None:
    model = pack_for_search(_model())
    assert {type(layer) for layer in model.modules() if isinstance(layer, nn.Linear)} == {HalfLinear}


@needs_short
def test_all_linear_layers_of_a_model_of_usual_sizes_are_packed_in_few_bits() -> None:
    model = pack_for_search(_large_model())
    inner = [layer for layer in model.modules() if isinstance(layer, nn.Linear) and layer is not model.output]
    assert {type(layer) for layer in inner if layer.out_features > 1} == {Bfloat16Linear}
    assert {type(layer) for layer in inner if layer.out_features == 1} == {HalfLinear}  # the gate of the lexicon
    assert type(model.output) is ByteLinear
    additive = pack_for_search(_large_model("model.attention=additive")).decoder.attention
    assert type(additive.reduce) is HalfLinear  # scores are not rounded


@needs_half
@pytest.mark.parametrize("sizes", [(12, 36), (100, 33), (64, 281)])
def test_a_row_in_half_precision_has_the_same_bits_among_any_number_of_rows(sizes: tuple[int, int]) -> None:
    layer = HalfLinear(nn.Linear(*sizes))
    rows = torch.randn(333, sizes[0], generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        product = layer(rows)
        for few in (*range(1, 80), 128, 320):  # what is left of six at a time, and of other numbers at a time
            assert torch.equal(layer(rows[:few]), product[:few]), few
        assert torch.equal(layer(rows[:14].view(2, 7, -1)), product[:14].view(2, 7, -1))
        assert layer(rows[:0]).shape == (0, sizes[1])


@needs_half
def test_steps_agree_with_the_whole_sentence() -> None:
    model = pack_for_search(_model())
    with torch.inference_mode():
        source = model.encode(TOKENS, TOKENS != 0)
        decoded = model.decode(TOKENS[:, :2], model.start(source), source)
        whole = torch.log_softmax(model.output(decoded.features), dim=2)
        torch.testing.assert_close(whole, _two_steps(model))


@pytest.mark.parametrize("weight", [1e5, float("nan")])
@pytest.mark.parametrize("size", [12, 64])
def test_weights_without_a_half_stay_as_they_are(weight: float, size: int) -> None:
    model = _model("model.tie=none") if size == 12 else _large_model("model.tie=none")
    with torch.no_grad():
        model.output.weight[3, 3] = weight
    pack_for_search(pack_for_search(model))
    assert type(model.output) is nn.Linear
    torch.testing.assert_close(model.output.weight[3, 3].item(), weight, equal_nan=True)


@needs_short
def test_bytes_are_near_the_product_and_bits_do_not_depend_on_other_rows() -> None:
    layer = nn.Linear(96, 70)
    rows = torch.randn(75, 96, generator=torch.Generator().manual_seed(1)) * torch.logspace(-3, 3, 75)[:, None]
    with torch.inference_mode():
        packed = ByteLinear(layer)
        product = packed(rows)
        assert product.dtype == torch.float32
        error = (product - layer(rows)).abs() / rows.abs().amax(dim=1, keepdim=True)
        assert 0 < error.max() < 0.02  # 96 roundings of half a 127th, most of which cancel
        for few in (0, 1, 2, 31, 33, 64):
            assert torch.equal(packed(rows[:few]), product[:few])
        assert torch.equal(packed(torch.zeros(2, 96)), layer.bias.expand(2, -1))
        assert packed(torch.full((1, 96), float("nan"))).isnan().all()


@needs_short
def test_weights_that_are_bytes_already_are_multiplied_exactly() -> None:
    layer = nn.Linear(64, 50)
    with torch.inference_mode():
        layer.weight.copy_(torch.randint(-127, 128, layer.weight.shape))
        layer.weight[:, 0] = 127
        rows = torch.randint(-127, 128, (9, 64)).float()
        rows[:, 1] = -127
        torch.testing.assert_close(ByteLinear(layer)(rows), layer(rows), rtol=1e-6, atol=0)


@pytest.mark.skipif(not has_tiles(), reason="this processor has no tiles")
def test_tiles_multiply_bytes_with_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, rows = nn.Linear(160, 70), torch.randn(75, 160, generator=torch.Generator().manual_seed(5))
    with torch.inference_mode():
        by_tiles = ByteLinear(layer)
        monkeypatch.setattr(packing, "has_tiles", lambda: False)
        plain = ByteLinear(layer)
        for few in (1, 2, 33, 75):
            assert torch.equal(by_tiles(rows[:few]), plain(rows[:few]))


@needs_short
def test_bfloat16_rounds_once() -> None:
    layer = nn.Linear(64, 40)
    rows = torch.randn(3, 5, 64, generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        packed = Bfloat16Linear(layer)
        rounded = nn.functional.linear(
            rows.bfloat16().double(), layer.weight.bfloat16().double(), layer.bias.bfloat16().double()
        )
        torch.testing.assert_close(packed(rows).double(), rounded, rtol=2**-8, atol=1e-6)
        assert packed(rows).dtype == torch.float32


@needs_short
@pytest.mark.parametrize("size", [32, 64, 256, 512, 768, 1024, 1536])
def test_bits_of_long_products_do_not_depend_on_other_rows(size: int) -> None:
    generator = torch.Generator().manual_seed(3)
    layer = nn.Linear(size, 96, bias=False)  # a bias would hide the last digits
    half = torch.randn(600, size // 2, generator=generator)
    rows = torch.cat((half, half), dim=1)
    with torch.inference_mode():
        layer.weight[:, size // 2 :] = -layer.weight[:, : size // 2]  # what cancels shows the order of adding
        packed = Bfloat16Linear(layer)
        many = packed(rows)
        for few in (1, 2, 5, 33, 40, 64, 129, 333):
            assert torch.equal(packed(rows[:few]), many[:few])
        assert torch.equal(packed(rows[0]), many[0])
        assert torch.equal(packed(rows[:1, None]), many[:1, None])


@needs_short
def test_long_products_are_added_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, rows = nn.Linear(320, 40), torch.randn(7, 320, generator=torch.Generator().manual_seed(2))
    monkeypatch.setattr(packing, "longest_short_product", lambda: 128)
    with torch.inference_mode():
        packed = Bfloat16Linear(layer)
        assert [packed.size] * len(packed.packed) == [128, 128, 128]
        exact = nn.functional.linear(rows.bfloat16().double(), layer.weight.bfloat16().double(), layer.bias.double())
        torch.testing.assert_close(packed(rows).double(), exact, rtol=0, atol=3 * 2**-8)


LENGTHS = (3, 15, 16, 17, 9, 33, 1, 24, 12, 40, 7)


@needs_short
@pytest.mark.parametrize("attention", [*ATTENTIONS])
@pytest.mark.parametrize("decoder", [*DECODERS])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_translation_has_the_same_bits_in_any_batch_and_when_it_is_scored(
    attention: str, decoder: str, cell: str
) -> None:
    model = _large_model(f"model.attention={attention}", f"model.decoder={decoder}", f"model.cell={cell}")
    pack_for_search(model)
    _check_bits(model)


@needs_short
@pytest.mark.parametrize("normalise", ["sparsemax", "entmax15"])
@pytest.mark.parametrize("attention", ["scaled_dot", "multi_head"])
def test_sparse_attention_has_the_same_bits_in_any_batch(normalise: str, attention: str) -> None:
    _check_bits(pack_for_search(_large_model(f"model.normalise={normalise}", f"model.attention={attention}")))


@needs_short
def test_many_heads_with_a_lexicon_and_layers_have_the_same_bits_in_any_batch() -> None:
    _check_bits(pack_for_search(_large_model("model.heads=8", "model.lexicon=20", "model.decoder_layers=2")))


@needs_half
def test_a_gated_lexicon_has_the_same_bits_in_any_batch() -> None:
    model = _large_model("model.lexicon=20", "model.lexicon_gate=true")
    assert model.lexicon is not None
    assert model.lexicon.gate is not None
    nn.init.normal_(model.lexicon.gate.weight, generator=torch.Generator().manual_seed(1))
    _check_bits(pack_for_search(model))


@needs_half
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_no_sentences_are_no_translations(cell: str) -> None:
    model = pack_for_search(_large_model("model.attention=scaled_dot", f"model.cell={cell}"))
    with torch.inference_mode():
        none = torch.empty(0, 5, dtype=torch.long)
        assert beam(model, model.encode(none, none.bool()), width=3) == []


@needs_half
def test_packing_twice_is_packing_once() -> None:
    model = pack_for_search(_large_model())
    before = [*model.modules()]
    assert [*pack_for_search(model).modules()] == before


@needs_half
def test_half_precision_is_used_where_there_is_nothing_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "longest_short_product", lambda: 0)
    model = pack_for_search(_large_model())
    assert {type(layer) for layer in model.modules() if isinstance(layer, nn.Linear)} == {HalfLinear}


@needs_half
@pytest.mark.parametrize("attention", ["scaled_dot", "additive", "multi_head"])
@pytest.mark.parametrize("decoder", ["attentional", "before", "deep"])
def test_half_precision_has_the_same_bits_in_any_batch(
    monkeypatch: pytest.MonkeyPatch, attention: str, decoder: str
) -> None:
    monkeypatch.setattr(packing, "longest_short_product", lambda: 0)
    _check_bits(pack_for_search(_large_model(f"model.attention={attention}", f"model.decoder={decoder}")))


def _check_bits(model: Seq2Seq) -> None:
    sentences = [list(range(4 + length, 4 + 2 * length)) for length in LENGTHS]
    strategy = Strategy(width=3, n_best=2)

    def found(which: list[int]) -> list[list[Hypothesis]]:
        tokens = nn.utils.rnn.pad_sequence([torch.tensor(sentences[i]) for i in which], batch_first=True)
        with torch.inference_mode():
            return strategy(model, model.encode(tokens, tokens != 0), numbers=which)

    together = found([*range(len(LENGTHS))])
    for which in ([0], [1], [6], [2, 3], [8, 5, 4], [10, 9, 7, 1, 0]):
        for i, best in zip(which, found(which), strict=True):
            assert [_bits(h) for h in best] == [_bits(h) for h in together[i]]
    best = [one for one, *_ in together]
    pairs = EncodedPairs.of(sentences, [list(h.tokens) for h in best])
    for rows in (np.arange(len(best)), np.array([3, 1])):
        log_probs, weights = token_log_probs(model, pairs.batch(rows))
        for row, i in enumerate(rows.tolist()):
            length = len(best[i].tokens)
            assert tuple(log_probs[row, :length].tolist()) == best[i].token_log_probs
            assert torch.equal(weights[row, :, :length, : LENGTHS[i]], best[i].attention)


def _bits(hypothesis: Hypothesis) -> tuple[Any, ...]:
    return hypothesis.tokens, hypothesis.token_log_probs, hypothesis.score, hypothesis.attention.numpy().tobytes()


def _model(*overrides: str) -> Seq2Seq:
    sizes = ["model.embedding=8", "model.readout=8", "model.hidden=12", "model.encoder_hidden=12"]
    config = load_config("multi30k", [*sizes, "model.attention_size=8", *overrides])
    return build_model(config.model, source_words=20, target_words=20).eval()


def _large_model(*overrides: str) -> Seq2Seq:
    """Return a model whose sizes are as usual: multiples of what a processor computes at a time."""
    sizes = ["model.embedding=64", "model.readout=64", "model.hidden=64", "model.encoder_hidden=32"]
    config = load_config("multi30k", [*sizes, "model.attention_size=64", *overrides])
    torch.manual_seed(4)
    return build_model(config.model, source_words=300, target_words=300).eval()


def _two_steps(model: Seq2Seq) -> Tensor:
    """Return the log-probabilities of the first two steps."""
    source = model.encode(TOKENS, TOKENS != 0)
    first = model.step(TOKENS[:, 0], model.start(source), source)
    return torch.stack((first.log_probs, model.step(TOKENS[:, 1], first.state, source).log_probs), dim=1)
