"""Models made ready to translate."""

import copy

import pytest
import torch

from regard.config import load_config
from regard.models.build import build_model
from regard.models.packing import ENGINES, Packed, pack_for_search
from regard.models.seq2seq import Seq2Seq
from regard.types import Tensor

HAS_PACKING = torch.backends.quantized.engine in ENGINES
TOKENS = torch.tensor([[4, 5, 6], [7, 8, 0]])


@pytest.mark.parametrize("wiring", ["after", "attentional", "before", "feeding", "deep"])
@pytest.mark.parametrize("tie", ["none", "all"])
@pytest.mark.parametrize("cell", ["gru", "lstm", "rnn"])
def test_packing_rounds_weights_and_changes_nothing_else(wiring: str, tie: str, cell: str) -> None:
    plain = _model(f"model.decoder={wiring}", f"model.tie={tie}", f"model.cell={cell}", "model.decoder_layers=2")
    packed = copy.deepcopy(plain)
    pack_for_search(packed)
    weights = dict(packed.named_parameters())
    with torch.no_grad():
        for name, parameter in plain.named_parameters():
            torch.testing.assert_close(weights[name], parameter, atol=1e-6, rtol=2**-11)
            parameter.copy_(weights[name])
    with torch.inference_mode():
        torch.testing.assert_close(_two_steps(packed), _two_steps(plain))
    assert (packed.output.weight is packed.decoder.embedding.weight) is (tie == "all")


@pytest.mark.skipif(not HAS_PACKING, reason="this processor has no packed products")
def test_all_linear_layers_are_packed() -> None:
    model = _model()
    pack_for_search(model)
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    assert {type(layer) for layer in layers} == {Packed}
    assert torch.equal(model.output.weight, model.output.weight.half().float())


@pytest.mark.skipif(not HAS_PACKING, reason="this processor has no packed products")
def test_steps_agree_with_the_whole_sentence_and_with_gradients() -> None:
    model = _model()
    pack_for_search(model)
    with torch.inference_mode():
        by_steps = _two_steps(model)
    source = model.encode(TOKENS, TOKENS != 0)
    decoded = model.decode(TOKENS[:, :2], model.start(source), source)
    logits = model.output(decoded.features)
    torch.testing.assert_close(torch.log_softmax(logits, dim=2), by_steps)
    logits.sum().backward()  # type: ignore[no-untyped-call]
    assert model.output.weight.grad is not None


@pytest.mark.parametrize("weight", [1e5, float("nan")])
def test_weights_without_a_half_stay_as_they_are(weight: float) -> None:
    model = _model("model.tie=none")
    with torch.no_grad():
        model.output.weight[3, 3] = weight
    pack_for_search(pack_for_search(model))
    assert type(model.output) is torch.nn.Linear
    torch.testing.assert_close(model.output.weight[3, 3].item(), weight, equal_nan=True)


def _model(*overrides: str) -> Seq2Seq:
    sizes = ["model.embedding=8", "model.readout=8", "model.hidden=12", "model.encoder_hidden=12"]
    config = load_config("multi30k", [*sizes, "model.attention_size=8", *overrides])
    return build_model(config.model, source_words=20, target_words=20).eval()


def _two_steps(model: Seq2Seq) -> Tensor:
    """Return the log-probabilities of the first two steps."""
    source = model.encode(TOKENS, TOKENS != 0)
    first = model.step(TOKENS[:, 0], model.start(source), source)
    return torch.stack((first.log_probs, model.step(TOKENS[:, 1], first.state, source).log_probs), dim=1)
