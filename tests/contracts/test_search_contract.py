"""What every search promises, with every wiring of the decoder, with tables, and with several models as one."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from regard.config import ModelConfig
from regard.data.vocabulary import BOS, EOS, PAD
from regard.models.build import build_model
from regard.parts import DECODERS
from regard.search import (
    Ensemble,
    Gnmt,
    Hypothesis,
    Length,
    NoRepeat,
    NoUnknown,
    Plain,
    Ranking,
    Rules,
    Sampling,
    Sources,
    beam,
    generators,
    greedy,
    sample,
    score,
)
from search_models import Network, batch, memories

LENGTHS = [1 + (5 * i) % 7 for i in range(16)]
RULES = Rules(Length(1.0, 3))
COVERED = Ranking(Gnmt(0.8), coverage=0.3)
STRICT = Rules(Length(1.2, 3), Length(0.6, 1), (NoUnknown(), NoRepeat(2)))

Search = Callable[..., list[list[Hypothesis]]]
Encode = Callable[[list[int]], Any]


def drawn(model: Any, source: Any, *, numbers: list[int], **options: Any) -> list[list[Hypothesis]]:
    return sample(
        model,
        source,
        generators=generators(3, numbers),
        draws=2,
        sampling=Sampling(0.8, 9, 0.9),
        rules=RULES,
        **options,
    )


def found(search: Search, model: Any, source: Any, *, numbers: list[int], **options: Any) -> list[list[Hypothesis]]:
    return search(model, source, **options)


SEARCHES: dict[str, Search] = {
    "greedy": partial(found, partial(greedy, rules=RULES)),
    "greedy, strict": partial(found, partial(greedy, rules=STRICT)),
    "beam 5": partial(found, partial(beam, width=5, n_best=5, rules=RULES)),
    "beam 3, strict, coverage": partial(found, partial(beam, width=3, n_best=2, rules=STRICT, ranking=COVERED)),
    "beam 30, plain": partial(found, partial(beam, width=30, n_best=3, rules=RULES, ranking=Ranking(Plain()))),
    "sample": drawn,
}


def network() -> tuple[Any, Encode]:
    rows = memories(LENGTHS, 8, seed=4)
    return Network(words=23, hidden=8, seed=5), lambda which: batch([rows[i] for i in which])


def wiring(decoder: str) -> tuple[Any, Encode]:
    config = ModelConfig(
        decoder=decoder, embedding=7, encoder_hidden=4, hidden=6, attention="multi_head", attention_size=10, heads=2
    )
    model = build_model(config, source_words=31, target_words=23).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.8)
    generator = torch.Generator().manual_seed(6)
    sentences = [torch.randint(4, 31, (length,), generator=generator) for length in LENGTHS]

    def encode(which: list[int]) -> Any:
        tokens = torch.nn.utils.rnn.pad_sequence([sentences[i] for i in which], batch_first=True)
        lengths = torch.tensor([LENGTHS[i] for i in which])
        with torch.inference_mode():
            return model.encode(tokens, torch.arange(tokens.shape[1]) < lengths[:, None])

    return model, encode


def together() -> tuple[Any, Encode]:
    (one, encode_one), (other, encode_other) = wiring("after"), wiring("before")
    return Ensemble([one, other]), lambda which: Sources((encode_one(which), encode_other(which)))


MODELS: dict[str, Callable[[], tuple[Any, Encode]]] = {
    "network": network,
    **{decoder: partial(wiring, decoder) for decoder in DECODERS},
    "ensemble": together,
}
CASES = [("network", search) for search in SEARCHES] + [(model, "beam 5") for model in MODELS if model != "network"]
ALL = list(range(len(LENGTHS)))


@pytest.mark.parametrize(("model", "search"), CASES)
def test_hypotheses_are_well_formed_and_score_as_they_say(model: str, search: str) -> None:
    stepper, encode = MODELS[model]()
    source = encode(ALL)
    lists = SEARCHES[search](stepper, source, numbers=ALL)
    assert len(lists) == len(LENGTHS)
    for best, length in zip(lists, LENGTHS, strict=True):
        assert best
        for h in best:
            assert not {PAD, BOS} & set(h.tokens)
            assert EOS not in h.tokens[:-1]
            assert len(h.tokens) == len(h.token_log_probs)
            assert h.attention.shape[1:] == (len(h.tokens), length)
            torch.testing.assert_close(h.attention.sum(dim=2), torch.ones(h.attention.shape[:2]))
            assert h.log_prob == pytest.approx(sum(h.token_log_probs), abs=1e-4)
        if search != "sample":
            assert [h.score for h in best] == sorted((h.score for h in best), reverse=True)
            assert len({h.tokens for h in best}) == len(best)
    last = [best[-1] for best in lists]
    for h, again in zip(last, score(stepper, source, tokens=[h.tokens for h in last]), strict=True):
        assert again.log_prob == pytest.approx(h.log_prob, abs=1e-4)
        torch.testing.assert_close(again.attention, h.attention, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("model", "search"), CASES)
def test_a_translation_never_depends_on_its_batch(model: str, search: str) -> None:
    stepper, encode = MODELS[model]()
    wanted = SEARCHES[search](stepper, encode(ALL), numbers=ALL)
    shuffled = torch.randperm(len(ALL), generator=torch.Generator().manual_seed(1)).tolist()
    batches = [[i] for i in ALL[:4]] + [ALL[i : i + 7] for i in ALL[::7]] + [shuffled]
    for which in batches:
        for i, best in zip(which, SEARCHES[search](stepper, encode(which), numbers=which), strict=True):
            assert [h.tokens for h in best] == [h.tokens for h in wanted[i]]
            assert [h.score for h in best] == pytest.approx([h.score for h in wanted[i]], abs=1e-4)
            for h, w in zip(best, wanted[i], strict=True):
                torch.testing.assert_close(h.attention, w.attention, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_a_beam_of_one_is_greedy(model: str) -> None:
    stepper, encode = MODELS[model]()
    for ranking in (Ranking(Plain()), COVERED):
        options = {"rules": RULES, "ranking": ranking}
        assert beam(stepper, encode(ALL), width=1, **options) == greedy(stepper, encode(ALL), **options)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_prefix_is_kept_and_an_own_beginning_changes_nothing(search: str) -> None:
    stepper, encode = network()
    prefixes = [[4 + i % 3, 9, 17][: i % 4] for i in ALL]
    for best, prefix in zip(
        SEARCHES[search](stepper, encode(ALL), numbers=ALL, prefix=prefixes), prefixes, strict=True
    ):
        assert all(list(h.tokens[: len(prefix)]) == prefix for h in best)
    if "greedy" in search:
        wanted = SEARCHES[search](stepper, encode(ALL), numbers=ALL)
        own = [h.words[:2] for (h,) in wanted]
        assert SEARCHES[search](stepper, encode(ALL), numbers=ALL, prefix=own) == wanted


@pytest.mark.parametrize("model", MODELS)
def test_imposing_what_was_computed_changes_nothing_and_imposing_else_does(model: str) -> None:
    stepper, encode = MODELS[model]()
    source = encode(ALL)
    wanted = greedy(stepper, source, rules=RULES)
    heads, positions = wanted[0][0].attention.shape[0], max(LENGTHS)
    imposed = torch.full((len(ALL), heads, 2, positions), float("nan"))
    for i, (h,) in enumerate(wanted):
        imposed[i, :, 0] = 0
        imposed[i, :, 0, : LENGTHS[i]] = h.attention[:, 0]
    again = greedy(stepper, source, rules=RULES, imposed=imposed)
    if model != "ensemble":  # where each model has attention of its own, their mean is something else
        assert [h.tokens for (h,) in again] == [h.tokens for (h,) in wanted]
    imposed[:, :, 0] = 0
    imposed[:, :, 0, 0] = 1
    what_if = greedy(stepper, source, rules=RULES, imposed=imposed)
    assert all(h.attention[:, 0, 0].eq(1).all() for (h,) in what_if)
    assert [h.log_prob for (h,) in what_if] != [h.log_prob for (h,) in wanted]
