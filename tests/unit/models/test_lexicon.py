"""The way from attended source words to the output layer."""

import pytest
import torch

from regard.config import ModelConfig
from regard.data.batches import EncodedPairs
from regard.models.build import build_model
from regard.models.scoring import read_batch
from regard.models.seq2seq import Seq2Seq

SIZES = {"embedding": 8, "encoder_hidden": 6, "hidden": 10, "readout": 8, "attention_size": 8}
WIRINGS = ["after", "attentional", "before", "feeding", "deep"]


def model_of(strength: float, **changes: object) -> Seq2Seq:
    torch.manual_seed(1)
    config = ModelConfig(**{**SIZES, "tie": "all", "lexicon": strength, **changes})
    return build_model(config, source_words=15, target_words=15).eval()


def batch() -> EncodedPairs:
    return EncodedPairs.of([[5, 6, 7], [8]], [[9, 10], [11, 12, 13]])


@pytest.mark.parametrize("decoder", WIRINGS)
def test_what_is_looked_at_is_added_to_the_features(decoder: str) -> None:
    pairs = batch().batch(torch.arange(2).numpy())
    changes = {"decoder": decoder, "attention": "multi_head", "heads": 2}
    with_it, without = model_of(3.0, **changes), model_of(0.0, **changes)
    decoded, plain = read_batch(with_it, pairs), read_batch(without, pairs)
    words = with_it.encoder.embedding.weight[pairs.source]
    looked = torch.einsum("bts,bse->bte", decoded.weights.mean(dim=1), words)
    torch.testing.assert_close(decoded.features, plain.features + 3 * looked)
    torch.testing.assert_close(decoded.weights, plain.weights)


def test_rows_that_share_a_sentence_see_its_words() -> None:
    pairs, model = batch().batch(torch.arange(2).numpy()), model_of(3.0)
    source = model.encode(pairs.source, pairs.is_source)
    beam = source.select(torch.tensor([0, 0, 1, 1]))
    assert beam.copies == 2
    token, alone = torch.tensor([5, 9, 6, 4]), source.select(torch.tensor([1]))
    together = model.step(token, model.start(beam), beam).log_probs
    last = model.step(token[3:], model.start(alone), alone).log_probs
    torch.testing.assert_close(together[3:], last)


def test_no_rows_see_no_words() -> None:
    pairs, model = batch().batch(torch.arange(2).numpy()), model_of(3.0, lexicon_gate=True)
    none = model.encode(pairs.source, pairs.is_source).select(torch.empty(0, dtype=torch.long))
    assert model.step(torch.empty(0, dtype=torch.long), model.start(none), none).log_probs.shape == (0, 15)


def test_imposed_attention_moves_the_words_too() -> None:
    pairs, model = batch().batch(torch.arange(2).numpy()), model_of(50.0)
    source = model.encode(pairs.source, pairs.is_source)
    for position, word in enumerate([5, 6, 7]):
        imposed = torch.zeros(2, 1, 3)
        imposed[0, 0, position] = imposed[1, 0, 0] = 1
        step = model.step(torch.tensor([2, 2]), model.start(source), source, imposed)
        assert step.log_probs[0].argmax() == word  # one table for both sides: a word is most like itself


def test_meaning_is_learnt() -> None:
    pairs, model = batch().batch(torch.arange(2).numpy()), model_of(3.0)
    read_batch(model, pairs).features.sum().backward()
    assert model.lexicon is not None
    assert model.lexicon.meaning.weight.grad is not None
    assert model.lexicon.meaning.weight.grad.any()


def test_without_embeddings_in_the_output_layer_it_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lexicon: got 3 with tie 'none', want 0 unless tie is output or all\."):
        ModelConfig(lexicon=3.0)


def test_a_gate_says_how_much_the_words_count() -> None:
    pairs, changes = batch().batch(torch.arange(2).numpy()), {"lexicon_gate": True}
    gated, plain, without = model_of(3.0, **changes), model_of(3.0), model_of(0.0)
    for other in (plain, without):
        other.load_state_dict(gated.state_dict(), strict=False)
    as_ever, none = read_batch(plain, pairs).features, read_batch(without, pairs).features
    torch.testing.assert_close(read_batch(gated, pairs).features, as_ever)  # at first
    assert gated.lexicon is not None
    assert gated.lexicon.gate is not None
    torch.nn.init.constant_(gated.lexicon.gate.bias, -30)
    torch.testing.assert_close(read_batch(gated, pairs).features, none)
    torch.nn.init.constant_(gated.lexicon.gate.bias, 30)
    torch.testing.assert_close(read_batch(gated, pairs).features, none + 2 * (as_ever - none))


def test_the_gate_is_learnt_from_what_the_output_layer_sees() -> None:
    pairs, model = batch().batch(torch.arange(2).numpy()), model_of(3.0, lexicon_gate=True)
    read_batch(model, pairs).features.sum().backward()
    assert model.lexicon is not None
    assert model.lexicon.gate is not None
    assert model.lexicon.gate.weight.grad is not None
    assert model.lexicon.gate.weight.grad.any()
