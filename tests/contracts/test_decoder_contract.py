"""What every wiring promises, with every cell: the whole target at once = step by step; a sentence = alone."""

import pytest
import torch

from regard.config import ModelConfig
from regard.models.build import build_model
from regard.models.seq2seq import Seq2Seq
from regard.parts import ATTENTIONS, CELLS, DECODERS

B, S, T = 3, 5, 4
LENGTHS = [5, 2, 3]
WIRINGS = [(decoder, cell, layers) for decoder in DECODERS for cell in CELLS for layers in (1, 2)]


def make(decoder: str = "after", cell: str = "gru", layers: int = 1, attention: str = "scaled_dot") -> Seq2Seq:
    config = ModelConfig(
        decoder=decoder, cell=cell, decoder_layers=layers, encoder_layers=layers, attention=attention,
        embedding=7, encoder_hidden=4, hidden=8 if attention == "dot" else 6, attention_size=10,
        heads=2 if attention == "multi_head" else 1,
    )  # fmt: skip
    return build_model(config, source_words=11, target_words=13).double().eval()


def sentences() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    is_token = torch.arange(S) < torch.tensor(LENGTHS)[:, None]
    tokens = torch.randint(4, 11, (B, S)).masked_fill(~is_token, 0)
    return tokens, is_token, torch.randint(4, 13, (B, T))


@pytest.mark.parametrize(("decoder", "cell", "layers"), WIRINGS)
def test_all_steps_at_once_equal_one_after_the_other(decoder: str, cell: str, layers: int) -> None:
    model = make(decoder, cell, layers)
    tokens, is_token, target = sentences()
    source = model.encode(tokens, is_token)
    whole = model.decode(target, model.start(source), source)
    state = model.start(source)
    for t in range(T):
        step = model.step(target[:, t], state, source)
        logits = model.output(whole.features[:, t])
        torch.testing.assert_close(step.log_probs, torch.log_softmax(logits.float(), dim=1))
        torch.testing.assert_close(step.weights, whole.weights[:, :, t])
        state = step.state
    for one, other in zip(state, whole.state, strict=True):
        torch.testing.assert_close(one, other)
    step.log_probs.sum().backward()
    assert model.output.weight.grad is not None


@pytest.mark.parametrize(("decoder", "cell", "layers"), WIRINGS)
def test_a_sentence_does_not_depend_on_its_batch(decoder: str, cell: str, layers: int) -> None:
    model = make(decoder, cell, layers)
    tokens, is_token, target = sentences()
    source = model.encode(tokens, is_token)
    together = model.decode(target, model.start(source), source)
    for i, length in enumerate(LENGTHS):
        own = model.encode(tokens[i : i + 1, :length], is_token[i : i + 1, :length])
        alone = model.decode(target[i : i + 1], model.start(own), own)
        torch.testing.assert_close(alone.features[0], together.features[i])
        torch.testing.assert_close(alone.weights[0], together.weights[i, :, :, :length])
        assert (together.weights[i, :, :, length:] == 0).all()


@pytest.mark.parametrize("decoder", list(DECODERS))
@pytest.mark.parametrize("attention", list(ATTENTIONS))
def test_every_wiring_takes_every_mechanism_and_learns_from_it(decoder: str, attention: str) -> None:
    model = make(decoder, attention=attention)
    tokens, is_token, target = sentences()
    source = model.encode(tokens, is_token)
    decoded = model.decode(target, model.start(source), source)
    model.output(decoded.features).logsumexp(dim=2).sum().backward()
    heads = 2 if attention == "multi_head" else 1
    assert decoded.weights.shape == (B, heads, T, S)
    still = {name for name, p in model.named_parameters() if p.grad is None or not p.grad.isfinite().all()}
    # Without attention the keys are never asked for; a mean has nothing to learn.
    assert not {name for name in still if ".attention." not in name}


@pytest.mark.parametrize("decoder", list(DECODERS))
def test_imposed_attention_reaches_the_context(decoder: str) -> None:
    model = make(decoder)
    tokens, is_token, target = sentences()
    source = model.encode(tokens, is_token)
    imposed = torch.full((B, 1, T, S), float("nan"), dtype=torch.float64)
    imposed[0, 0, 2] = torch.eye(S, dtype=torch.float64)[4]
    plain = model.decode(target, model.start(source), source)
    forced = model.decode(target, model.start(source), source, imposed)
    torch.testing.assert_close(forced.weights[0, 0, 2], imposed[0, 0, 2])
    torch.testing.assert_close(forced.features[:, :2], plain.features[:, :2])
    torch.testing.assert_close(forced.features[1:], plain.features[1:])
    assert not torch.allclose(forced.features[0, 2], plain.features[0, 2])


@pytest.mark.parametrize("decoder", list(DECODERS))
def test_rows_of_the_state_come_first(decoder: str) -> None:
    model = make(decoder, "lstm", 2)
    tokens, is_token, _ = sentences()
    source = model.encode(tokens, is_token)
    assert all(tensor.shape[0] == B for tensor in model.start(source))
    assert model.step(torch.tensor([4, 5, 6]), model.start(source), source).state[0].shape[0] == B
