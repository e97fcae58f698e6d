import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from real_data import multi30k_folder
from regard.data.multi30k import Multi30k
from regard.data.words import clean, join_words, split_words, words_of_tokens

TYPESET = {
    "Der Mann, der rennt.": "Der|Mann|,|der|rennt|.",
    "I don't know: it’s his T-Shirt!": "I|don't|know|:|it’s|his|T-Shirt|!",
    "3.5 m, 1,000 € um 12:30 (1/2).": "3.5|m|,|1,000|€|um|12:30|(|1/2|)|.",
    "-5 Grad, 20°C, 50% und 50 %": "-5|Grad|,|20°C|,|50%|und|50|%",
    "The U.S. flag, z.B. at 5 p.m. here": "The|U.S.|flag|,|z.B.|at|5|p.m.|here",
    "Schwarz- und Weißfilm": "Schwarz-|und|Weißfilm",
    "Ein „Stop“-Schild": "Ein|„|Stop|“|-Schild",
    "„Ja“, sagt er. “No,” she says.": "„|Ja|“|,|sagt|er|.|“|No|,|”|she|says|.",
    '"Ja", sagt er, "nein."': '"|Ja|"|,|sagt|er|,|"|nein|.|"',
    "'Ja', the boys' team": "'|Ja|'|,|the|boys'|team",
    "the boys' team isn't 'off'": "the|boys'|team|isn't|'|off|'",
    "rock 'n' roll": "rock|'|n|'|roll",
    "»Nein«, «oui», ‚ja‘ ‘yes’": "»|Nein|«|,|«|oui|»|,|‚|ja|‘|‘|yes|’",
    "L'homme qu'il voit aujourd'hui": "L'|homme|qu'|il|voit|aujourd'hui",
    "and/or R&B, A&amp;M, me@x.org": "and|/|or|R&B|,|A&amp;M|,|me@x.org",
    "¿Qué? ¡No! Wirklich?!": "¿|Qué|?|¡|No|!|Wirklich|?|!",
    "Well... yes": "Well|...|yes",
    "他用Python写代码，很好。": "他|用|Python|写|代|码|，|很|好|。",
    "한국어 텍스트": "한국어|텍스트",
    "हिन्दी भाषा।": "हिन्दी|भाषा|।",
    "می‌خواهم، بله؟": "می‌خواهم|،|بله|؟",
    "👩‍👩‍👧🎉 toll": "👩‍👩‍👧🎉|toll",
    "été": "été",
}


@pytest.mark.parametrize(("text", "words"), TYPESET.items())
def test_typeset_text_is_cut_and_joined(text: str, words: str) -> None:
    assert split_words(text) == words.split("|")
    assert join_words(words.split("|")) == unicodedata.normalize("NFC", text)


def test_white_space_and_composition_do_not_matter() -> None:
    assert split_words(" a\u2028b\u00a0\tc\r\n") == ["a", "b", "c"]
    assert split_words("Ma\u0308nner") == ["M\u00e4nner"]
    assert clean(" Ma\u0308nner\u00a0\t da\r\n") == "M\u00e4nner da"
    assert split_words(" \n") == []
    assert join_words([]) == ""


def test_what_text_cannot_tell_is_set_the_usual_way() -> None:
    assert join_words(split_words("word—word")) == "word — word"
    assert join_words(split_words("Qui est là ?")) == "Qui est là?"
    assert join_words(["er", "ruft", '"']) == 'er ruft"'


@given(st.text())
@settings(max_examples=200)
def test_no_visible_character_is_lost(text: str) -> None:
    words = split_words(text)
    visible = "".join(unicodedata.normalize("NFC", text).split())
    assert "".join(words) == visible
    assert all(words)
    assert "".join(join_words(words).split()) == visible


@pytest.mark.parametrize(("language", "floor"), [("de", 0.998), ("en", 0.9995)])
def test_multi30k_survives_the_round_trip(language: str, floor: float) -> None:
    corpus = Multi30k(directory=str(multi30k_folder())).load()
    splits = [corpus[name] for name in ("train", "validation", "test")]
    texts = [text for split in splits for text in (split.sources if language == "de" else split.targets)]
    assert sum(join_words(split_words(text)) == text for text in texts) / len(texts) >= floor


def test_tokens_find_their_words() -> None:
    words = split_words("Ein T-Shirt, 你好.")
    assert words == ["Ein", "T-Shirt", ",", "你", "好", "."]
    shared = [[0, 0, 0], [1, 1], [1] * 5, [2], [3], [3, 4], [5]]
    assert words_of_tokens(["▁Ein", "▁T-", "Shirt", ",", "▁", "你好", "."], words) == shared
    assert words_of_tokens(list("Ein T-S"), words) == [[0], [0], [0], [1], [1], [1], [1]]
    assert words_of_tokens(["<s>", "▁", "a", "▁", "</s>", "<pad>"], ["a"]) == [[], [0], [0], [0], [], []]
    assert words_of_tokens(["⁇", "da"], ["⁇", "da"]) == [[0], [1, 1]]
    assert words_of_tokens(["▁"], []) == [[]]
    with pytest.raises(AssertionError):
        words_of_tokens(["Eine"], ["Ein"])


def test_case_and_composition_may_differ_between_tokens_and_words() -> None:
    assert words_of_tokens(["i\u0307", "x"], ["\u0130", "X"]) == [[0, 0], [1]]
    assert words_of_tokens(["Ma\u0308", "nner", "da"], ["M\u00e4nner", "da"]) == [[0] * 3, [0] * 4, [1, 1]]


@given(st.text())
@settings(max_examples=100)
def test_every_character_finds_a_word(text: str) -> None:
    words = split_words(text)
    owners = words_of_tokens(list(unicodedata.normalize("NFC", text)), words)
    assert all(owners) or not words
    found = [owner for each in owners for owner in each]
    assert found == sorted(found)
    assert set(found) >= {i for i, word in enumerate(words) if word.strip("▁")}
