"""Text in, text and attention out, whatever the text."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import ModelConfig, TokenizerConfig
from regard.data.tokenizers import TokenizerPair
from regard.errors import RegardError
from regard.models.build import build_model
from regard.search.strategy import Strategy
from regard.translate import Translator

TEXTS = ["Der Hund schläft, weil er müde ist.", "Zwei Kinder spielen im Schnee!", "Ein T-Shirt kostet 3.5 Euro."] * 4
CONFIGS = {
    "word": TokenizerConfig(),
    "character": TokenizerConfig(kind="character"),
    "subword": TokenizerConfig(kind="subword", vocabulary=60),
}
ODD = [
    "e\u0301a\u0308", "\u200bx\u200b", "👨‍👩‍👧 🇩🇪", "שלום עולם", "مرحبا، كيف", "▁ ▁▁", "...", "\tTab\u2028line",
    "中文字。", "\x00\x07", "ẞİı ﬁ", "</s> <pad>",
]  # fmt: skip


def make(kind: str, *, models: int = 1) -> Translator:
    pair = TokenizerPair.train(CONFIGS[kind], TEXTS, TEXTS)
    config = ModelConfig(embedding=6, encoder_hidden=4, hidden=7, attention_size=5)
    torch.manual_seed(3)
    sizes = {"source_words": pair.source.size, "target_words": pair.target.size}
    return Translator([build_model(config, **sizes) for _ in range(models)], pair)


TRANSLATORS = {kind: make(kind) for kind in CONFIGS}


def check(kind: str, text: str) -> None:
    translator = TRANSLATORS[kind]
    one = translator.translate(text, Strategy(width=2))
    assert one.attention.shape[1:] == (len(one.tokens), len(one.source_tokens))
    words = one.words
    assert words.attention.shape == (1, len(words.target), len(words.source))
    (given_back,) = translator.score_all([text], [one.text])
    assert given_back.words.attention.shape[1:] == (len(given_back.words.target), len(words.source))


@pytest.mark.parametrize("kind", list(CONFIGS))
@pytest.mark.parametrize("text", ODD)
def test_odd_text_is_translated_like_any_other(kind: str, text: str) -> None:
    check(kind, text)


@pytest.mark.parametrize("kind", list(CONFIGS))
@given(st.text(max_size=12))
@settings(max_examples=40, deadline=None)
def test_any_text_is_translated(kind: str, text: str) -> None:
    check(kind, text)


def test_an_empty_line_stays_empty_and_lines_stay_in_order() -> None:
    translator = TRANSLATORS["word"]
    texts = ["Der Hund", "", "Zwei Kinder spielen im Schnee!", "  ", "Hund"]
    found = list(translator.translate_all(texts, batch=2))
    assert [one.source for one in found] == texts
    assert [bool(one.tokens) or not one.source.strip() for one in found] == [True] * 5
    assert found[1].text == found[3].text == ""
    alone = [translator.translate(text, Strategy()) for text in texts]
    assert [one.text for one in alone] == [one.text for one in found]


def test_scoring_a_translation_gives_the_score_of_the_search() -> None:
    translator = TRANSLATORS["subword"]
    found = translator.translate("Der Hund schläft.", Strategy(width=3, n_best=3))
    for one in (found, *found.alternatives):
        if not one.is_finished:
            continue
        (scored,) = translator.score_all([one.source], [one.text])
        if scored.tokens == one.tokens:
            assert scored.log_prob == pytest.approx(one.log_prob, abs=1e-4)
            np.testing.assert_allclose(scored.attention, one.attention, atol=1e-5)


def test_an_ensemble_of_twins_is_one_of_them() -> None:
    single = TRANSLATORS["word"]
    twins = Translator([single.models[0], single.models[0]], single.tokenizers)
    texts = TEXTS[:3]
    one, two = (list(t.translate_all(texts, Strategy(width=2))) for t in (single, twins))
    assert [a.text for a in one] == [b.text for b in two]
    assert [a.score for a in one] == pytest.approx([b.score for b in two], abs=1e-5)
    with pytest.raises(RegardError) as caught:
        twins.score_all(texts, texts)
    assert str(caught.value) == "score: got an ensemble of 2 runs, want one run."


def test_unknown_words_are_shown_or_replaced_by_what_was_read() -> None:
    translator = make("word")
    with torch.no_grad():
        translator.models[0].output.bias[1] = 50.0  # always the unknown word
    shown = translator.translate("Der Hund", Strategy())
    assert set(shown.tokens) == {"⁇"}
    replaced = translator.translate("Der Hund", Strategy(), unknown="replace")
    assert set(replaced.tokens) <= {"Der", "Hund"}
    strongest = replaced.attention[0].argmax(axis=1)
    assert list(replaced.tokens) == [("Der", "Hund")[i] for i in strongest]


def test_a_prefix_begins_every_translation() -> None:
    one = TRANSLATORS["word"].translate("Zwei Kinder", Strategy(width=2), prefix="Ein Hund")
    assert one.tokens[:2] == ("Ein", "Hund")
