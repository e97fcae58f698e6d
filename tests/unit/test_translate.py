"""Text in, text and attention out, whatever the text."""

import threading
import time
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import ModelConfig, TokenizerConfig
from regard.data.tokenizers import TokenizerPair
from regard.errors import RegardError
from regard.models.build import build_model
from regard.search.rules import Length, Rules
from regard.search.strategy import Strategy
from regard.translate import Translator, _even, load

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
    if one.source_tokens:
        is_seen = [bool(word.strip("▁")) for word in words.target]
        np.testing.assert_allclose(words.attention[0].sum(axis=1), is_seen, atol=1e-6)
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


def test_the_model_in_the_box_has_the_same_bits_in_any_batch_and_when_scored() -> None:
    translator = load()
    texts = [
        "Zwei Hunde.",
        "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.",
        "Ein Kind schläft.",
    ] * 3
    texts += [f"{text} Eine Frau schaut zu." for text in texts[:3]]
    strategy = Strategy(width=4)
    together = list(translator.translate_all(texts, strategy, batch=64))
    for i, text in enumerate(texts[:3] + texts[9:]):
        same = together[i if i < 3 else i + 6]
        assert same == translator.translate(text, strategy)
        assert same.attention.tobytes() == translator.translate(text, strategy).attention.tobytes()
    targets = [one.text for one in together]
    scored = (
        translator.score_all(texts, targets),
        [translator.score_all([s], [t])[0] for s, t in zip(texts, targets, strict=True)],
    )
    for one, *others in zip(together, *scored, strict=True):
        for other in others:
            assert other.tokens == one.tokens
            assert other.token_log_probs == one.token_log_probs
            assert other.log_prob == one.log_prob
            assert other.attention.tobytes() == one.attention.tobytes()


def test_an_ensemble_of_twins_is_one_of_them() -> None:
    single = TRANSLATORS["word"]
    twins = Translator([single.models[0], single.models[0]], single.tokenizers)
    texts = TEXTS[:3]
    one, two = (list(t.translate_all(texts, Strategy(width=2))) for t in (single, twins))
    assert [a.text for a in one] == [b.text for b in two]
    assert [a.score for a in one] == pytest.approx([b.score for b in two], abs=1e-5)
    scored = [t.score_all(texts, texts) for t in (single, twins)]
    assert [a.log_prob for a in scored[0]] == pytest.approx([b.log_prob for b in scored[1]], abs=1e-4)


def test_an_ensemble_scores_a_translation_by_the_mean_probability_of_each_token() -> None:
    translator = make("word", models=2)
    pair = ["Der Hund schläft."], ["Zwei Kinder spielen!"]
    (scored,) = translator.score_all(*pair)
    alone = [Translator([model], translator.tokenizers).score_all(*pair)[0] for model in translator.models]
    mean = np.log(np.mean([np.exp(one.token_log_probs) for one in alone], axis=0))
    np.testing.assert_allclose(scored.token_log_probs, mean, atol=1e-5)
    np.testing.assert_allclose(scored.attention, np.mean([one.attention for one in alone], axis=0), atol=1e-6)
    forced = translator.translate(pair[0][0], Strategy(), prefix=pair[1][0])
    np.testing.assert_allclose(forced.token_log_probs[:4], scored.token_log_probs[:4], atol=1e-4)


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


@pytest.mark.parametrize("unknown", ["show", "replace"])
@pytest.mark.parametrize(("kind", "prefix", "place"), [("word", "Ein Zaphod", 1), ("character", "Eqn", 1)])
def test_a_prefix_is_printed_as_given_whether_it_is_known_or_not(
    kind: str, prefix: str, place: int, unknown: str
) -> None:
    one = TRANSLATORS[kind].translate("Zwei Kinder", Strategy(width=2), prefix=prefix, unknown=unknown)  # type: ignore[arg-type]
    assert one.text.startswith(prefix)
    assert place in one.unknown
    assert "⁇" not in one.tokens[: place + 1]


def test_alignments_count_words_or_the_characters_of_a_model_of_characters() -> None:
    by_kind = {kind: TRANSLATORS[kind].translate("Zwei Kinder!", Strategy()) for kind in CONFIGS}
    for kind in ("word", "subword"):
        assert by_kind[kind].aligned == by_kind[kind].words
        assert by_kind[kind].aligned.source == ("Zwei", "Kinder", "!")
    characters = by_kind["character"]
    assert characters.aligned.source == tuple("Zwei Kinder!")
    assert characters.aligned.target == characters.tokens
    strongest = characters.attention[0].argmax(axis=1)
    assert characters.aligned.alignment.sure == {(int(s), t) for t, s in enumerate(strongest)}
    told = characters.to_json()
    assert told["source_words"] == list("Zwei Kinder!")
    assert told["translations"][0]["words"] == list(characters.tokens)
    assert told["translations"][0]["alignment"] == str(characters.aligned.alignment)


def test_attention_can_be_imposed_on_chosen_steps() -> None:
    translator = TRANSLATORS["word"]
    imposed = np.full((1, 2, 3), np.nan)
    imposed[0, 1] = [0, 0, 1]
    free, told = (translator.translate("Zwei Kinder!", Strategy(), imposed=x) for x in (None, imposed))
    np.testing.assert_allclose(told.attention[0, 0], free.attention[0, 0], atol=1e-6)
    np.testing.assert_array_equal(told.attention[0, 1], [0, 0, 1])
    assert told.token_log_probs[0] == pytest.approx(free.token_log_probs[0])
    assert told.token_log_probs[1] != pytest.approx(free.token_log_probs[1])


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 3), (1, 2, 4)])
def test_imposed_attention_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(RegardError) as caught:
        TRANSLATORS["word"].translate("Zwei Kinder!", imposed=np.ones(shape))
    assert str(caught.value) == (
        f"translate.imposed: got an array of shape {shape}, want (1, T, 3): heads, target tokens, source tokens."
    )


def test_a_wide_search_takes_fewer_sentences_at_a_time_and_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    translator, sizes = make("word"), []
    search = translator._search
    monkeypatch.setattr(translator, "_search", lambda ids, *a, **k: sizes.append(len(ids)) or search(ids, *a, **k))
    usual = [one.text for one in translator.translate_all(TEXTS, Strategy(width=3))]
    monkeypatch.setattr("regard.search.strategy.USUAL_CELLS", 2**14)
    assert [one.text for one in translator.translate_all(TEXTS, Strategy(width=3))] == usual
    assert sizes[0] == len(TEXTS)
    assert max(sizes[1:]) < len(TEXTS) / 2


def test_a_search_that_no_memory_holds_is_refused() -> None:
    strategy = Strategy(width=5_000, rules=Rules(longest=Length(offset=100_000)))
    for call, tokens, gigabytes in (
        (TRANSLATORS["word"].translate, 3, 41),
        (TRANSLATORS["word"].tree, 3, 41),
        (lambda *x: list(TRANSLATORS["word"].translate_all([x[0]], x[1], refused=print)), 1, 34),
    ):
        with pytest.raises(RegardError) as caught:
            call("Zwei Kinder!", strategy)
        assert str(caught.value) == (
            f"search: width 5000, up to 100000 tokens from {tokens}, needs about {gigabytes} GB of memory for a "
            "sentence, want at most 4. Shorten it, or lower the width or length."
        )


def test_a_sentence_too_long_for_the_memory_is_told_and_the_others_are_translated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator, told = TRANSLATORS["word"], []
    texts = ["Der Hund", "Hund " * 300, "", "Zwei Kinder"]
    monkeypatch.setattr("regard.search.strategy.MOST_CELLS", 2**18)
    found = list(translator.translate_all(texts, first=10, refused=lambda *x: told.append(x)))
    assert [one.source for one in found] == texts
    assert [bool(one.tokens) for one in found] == [True, False, False, True]
    assert [one.is_finished for one in found][1:3] == [False, True]
    (number, reason) = told[0]
    assert number == 11
    assert reason.startswith("search: width 1, up to 610 tokens from 300, needs about ")
    with pytest.raises(RegardError, match="up to 610 tokens from 300"):
        list(translator.translate_all(texts))


def test_unknown_words_of_a_given_translation_are_marked() -> None:
    (one,) = TRANSLATORS["word"].score_all(["Der Hund"], ["Der Zaphod schläft"])
    assert one.tokens == ("Der", "Zaphod", "schläft")
    assert one.unknown == (1,)
    assert one.to_json()["translations"][0]["unknown"] == [1]


@pytest.mark.parametrize(
    ("sentences", "most", "count", "size"),
    [(64, 64, 2, 32), (65, 64, 2, 33), (130, 64, 2, 33), (1, 64, 4, 1), (200, 64, 1, 50)],
)
def test_batches_keep_all_workers_equally_busy(sentences: int, most: int, count: int, size: int) -> None:
    assert _even(sentences, most=most, count=count) == size


@pytest.mark.parametrize(("room", "at_once"), [(1, 1), (2, 2)])
def test_sentences_that_fill_the_memory_are_searched_one_at_a_time(
    room: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator, lock, running, most = make("word"), threading.Lock(), 0, 0
    search = translator._search

    def watched(*words: Any, **settings: Any) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        found = search(*words, **settings)
        with lock:
            running -= 1
        return found

    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(translator, "_room", lambda *_: room)
    monkeypatch.setattr(translator, "_search", watched)
    assert len(list(translator.translate_all(["a b", "b c", "c a", "b"]))) == 4
    assert most == at_once


def test_translations_can_be_compared_kept_in_sets_and_read_at_a_prompt() -> None:
    one, again, other = (TRANSLATORS["word"].translate(text) for text in (TEXTS[0], TEXTS[0], TEXTS[1]))
    assert one == again
    assert one != other
    assert {one, again, other} == {one, other}
    assert one.words == again.words
    assert TEXTS[0] in repr(one)
    assert "array" not in repr(one)
