"""Weights laid out for search."""

import copy

import pytest
import torch

from regard.config import load_config
from regard.models.build import build_model
from regard.models.layout import lay_out_for_search
from regard.models.seq2seq import Seq2Seq


@pytest.mark.parametrize("wiring", ["after", "attentional", "before", "feeding", "deep"])
@pytest.mark.parametrize("tie", ["none", "all"])
@pytest.mark.parametrize("cell", ["gru", "lstm", "rnn"])
def test_layout_changes_no_value(wiring: str, tie: str, cell: str) -> None:
    sizes = ["model.embedding=8", "model.readout=8", "model.hidden=12", "model.encoder_hidden=12"]
    words = [*sizes, "model.attention_size=8", f"model.decoder={wiring}", f"model.tie={tie}", f"model.cell={cell}"]
    plain = build_model(load_config("multi30k", words).model, source_words=20, target_words=20).eval()
    laid_out = copy.deepcopy(plain)
    lay_out_for_search(laid_out)
    tokens = torch.tensor([[4, 5, 6], [7, 8, 0]])
    with torch.inference_mode():
        found = [_first_step(model, tokens) for model in (plain, laid_out)]
    torch.testing.assert_close(found[1], found[0])
    assert laid_out.output.weight.stride() == (1, 20)
    assert laid_out.decoder.embedding.weight.is_contiguous()
    assert laid_out.encoder.layers[0].weight_ih_l0.is_contiguous() is (cell == "lstm")
    assert laid_out.output.weight is not laid_out.decoder.embedding.weight


def _first_step(model: Seq2Seq, tokens: torch.Tensor) -> torch.Tensor:
    source = model.encode(tokens, tokens != 0)
    return model.step(tokens[:, 0], model.start(source), source).log_probs
