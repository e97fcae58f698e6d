"""What every attention mechanism promises, whatever its equation."""

import pytest
import torch

from regard.attention.base import Attention, Source
from regard.config import ModelConfig
from regard.models.build import build_attention
from regard.parts import ATTENTIONS, NORMALISERS

B, S, T, H, M, K = 2, 3, 4, 5, 6, 8
CASES = [(name, normaliser) for name in ATTENTIONS for normaliser in NORMALISERS]


def make(name: str, normaliser: str) -> Attention:
    hidden = M if name == "dot" else H
    config = ModelConfig(
        attention=name, normalise=normaliser, hidden=hidden, encoder_hidden=M // 2, attention_size=K,
        heads=2 if name == "multi_head" else 1,
    )  # fmt: skip
    return build_attention(config).double()


def encode(attention: Attention, memory: torch.Tensor, lengths: list[int]) -> Source:
    is_token = torch.arange(memory.shape[1]) < torch.tensor(lengths)[:, None]
    return Source(attention.keys(memory), attention.values(memory), memory[:, 0], is_token)


def inputs(name: str, *, sentences: int = B, positions: int = S) -> tuple[torch.Tensor, torch.Tensor]:
    hidden = M if name == "dot" else H
    return (
        torch.randn(sentences, T, hidden, dtype=torch.float64),
        torch.randn(sentences, positions, M, dtype=torch.float64),
    )


@pytest.mark.parametrize(("name", "normaliser"), CASES)
def test_weights_are_a_distribution_over_the_real_tokens(name: str, normaliser: str) -> None:
    attention = make(name, normaliser)
    queries, memory = inputs(name)
    attended = attention(queries * 3, encode(attention, memory, [S, 2]))
    assert attended.weights.shape == (B, attention.heads, T, S)
    assert attended.context.shape == (B, T, attention.context)
    assert (attended.weights >= 0).all()
    assert (attended.weights[1, :, :, 2] == 0).all()
    total = 0.0 if name == "none" else 1.0
    torch.testing.assert_close(attended.weights.sum(-1), torch.full((B, attention.heads, T), total).double())


@pytest.mark.parametrize(("name", "normaliser"), CASES)
def test_padding_changes_nothing(name: str, normaliser: str) -> None:
    attention = make(name, normaliser)
    queries, memory = inputs(name)
    alone = attention(queries, encode(attention, memory, [S, S]))
    padding = torch.full((B, 4, M), 1e3, dtype=torch.float64)
    padded = attention(queries, encode(attention, torch.cat((memory, padding), dim=1), [S, S]))
    torch.testing.assert_close(padded.context, alone.context)
    torch.testing.assert_close(padded.weights[..., :S], alone.weights)
    assert (padded.weights[..., S:] == 0).all()


@pytest.mark.parametrize(("name", "normaliser"), CASES)
def test_a_sentence_is_the_same_alone_and_in_a_batch(name: str, normaliser: str) -> None:
    attention = make(name, normaliser)
    queries, memory = inputs(name, sentences=5)
    lengths = [3, 1, 2, 3, 2]
    together = attention(queries, encode(attention, memory, lengths))
    for i, length in enumerate(lengths):
        alone = attention(queries[i : i + 1], encode(attention, memory[i : i + 1, :length], [length]))
        torch.testing.assert_close(alone.context[0], together.context[i])
        torch.testing.assert_close(alone.weights[0], together.weights[i, :, :, :length])


@pytest.mark.parametrize(("name", "normaliser"), CASES)
def test_a_query_is_the_same_alone_and_among_others(name: str, normaliser: str) -> None:
    attention = make(name, normaliser)
    queries, memory = inputs(name)
    source = encode(attention, memory, [S, 2])
    together = attention(queries, source)
    for t in range(T):
        alone = attention(queries[:, t : t + 1], source)
        torch.testing.assert_close(alone.weights[:, :, 0], together.weights[:, :, t])
        torch.testing.assert_close(alone.context[:, 0], together.context[:, t])


@pytest.mark.parametrize(("name", "normaliser"), CASES)
def test_gradients_are_right(name: str, normaliser: str) -> None:
    attention = make(name, normaliser)
    queries, memory = inputs(name)

    def context(queries: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = attention(queries, encode(attention, memory, [S, 2])).context
        return out

    assert torch.autograd.gradcheck(context, (queries.requires_grad_(), memory.requires_grad_()))


@pytest.mark.parametrize("name", list(ATTENTIONS))
def test_nothing_is_remembered_between_calls(name: str) -> None:
    attention = make(name, "softmax")
    queries, memory = inputs(name)
    source = encode(attention, memory, [S, 2])
    first = attention(queries, source)
    other_queries, other_memory = inputs(name)
    attention(other_queries, encode(attention, other_memory, [S, S]))
    again = attention(queries, source)
    assert torch.equal(first.context, again.context)
    assert set(attention.__dict__) == set(make(name, "softmax").__dict__)


@pytest.mark.parametrize("name", list(ATTENTIONS))
def test_imposed_weights_replace_computed_ones_where_given(name: str) -> None:
    attention = make(name, "softmax")
    queries, memory = inputs(name)
    source = encode(attention, memory, [S, 2])
    imposed = torch.full((B, attention.heads, T, S), float("nan"), dtype=torch.float64)
    imposed[0, :, 1] = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    computed, changed = attention(queries, source), attention(queries, source, imposed)
    torch.testing.assert_close(changed.weights[0, 0, 1], torch.tensor([0.0, 1.0, 0.0]).double())
    torch.testing.assert_close(changed.context[0, 0], computed.context[0, 0])
    torch.testing.assert_close(changed.context[1], computed.context[1])
    one_hot = torch.eye(S, dtype=torch.float64)[1].expand(1, attention.heads, 1, S)
    torch.testing.assert_close(changed.context[0, 1], attention.read(one_hot, source.values[:1])[0, 0])


@pytest.mark.parametrize("normaliser", list(NORMALISERS))
def test_a_large_score_is_no_danger(normaliser: str) -> None:
    attention = make("scaled_dot", normaliser)
    queries, memory = inputs("scaled_dot")
    attended = attention(queries * 1e4, encode(attention, memory, [S, 1]))
    assert attended.weights.isfinite().all()


@pytest.mark.parametrize(("rows", "copies"), [([1, 1, 0, 0], 2), ([0, 0, 0], 3), ([0, 1, 1], 1), ([1, 0], 1)])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_rows_that_share_a_sentence_are_read_as_if_each_had_its_own(name: str, rows: list[int], copies: int) -> None:
    attention = make(name, "softmax")
    queries, memory = inputs(name, sentences=len(rows))
    memory, lengths = memory[:1].repeat(B, 1, 1) * torch.tensor([1.0, -2.0])[:, None, None], [S, 2]
    shared = encode(attention, memory, lengths).select(torch.tensor(rows))
    own = encode(attention, memory[rows], [lengths[row] for row in rows])
    assert (shared.copies, own.copies) == (copies, 1)
    imposed = torch.full((len(rows), attention.heads, T, S), torch.nan, dtype=torch.float64)
    imposed[0, :, 1] = torch.tensor([0.25, 0.75, 0])
    for given in (None, imposed):
        found, wanted = attention(queries, shared, given), attention(queries, own, given)
        torch.testing.assert_close(found.weights, wanted.weights)
        torch.testing.assert_close(found.context, wanted.context)
    again = shared.select(torch.arange(len(rows)).repeat_interleave(2))
    assert again.is_token.tolist() == shared.is_token.repeat_interleave(2, dim=0).tolist()
    twice = attention(queries.repeat_interleave(2, dim=0), again)
    torch.testing.assert_close(twice.context[::2], attention(queries, own).context)
