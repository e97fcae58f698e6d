import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.config import TokenizerConfig
from regard.data.tokenizers import CharacterTokenizer, Tokenizer, TokenizerPair, WordTokenizer
from regard.data.vocabulary import BOS, EOS, PAD, UNK
from regard.data.words import split_words, words_of_tokens
from regard.errors import RegardError
from regard.parts import TOKENIZERS

SOURCES = ("Der Mann, der rennt.", "Die Männer rennen.", "Der Hund bellt.")
TARGETS = ("The man who runs.", "The men run!")


def pair(kind: str, *, lowercase: bool = False, minimum_count: int = 1) -> TokenizerPair:
    config = TokenizerConfig(kind=kind, lowercase=lowercase, minimum_count=minimum_count)
    return TokenizerPair.train(config, SOURCES, TARGETS)


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_known_text_comes_back(kind: str, lowercase: bool) -> None:
    tokenizers = pair(kind, lowercase=lowercase)
    for tokenizer, texts in ((tokenizers.source, SOURCES), (tokenizers.target, TARGETS)):
        for text in texts:
            expected = text.lower() if lowercase else text
            ids = tokenizer.encode(text)
            assert tokenizer.decode([BOS, *ids, EOS, PAD]) == expected
            assert tokenizer.text(tokenizer.tokens(text)) == expected
            assert tokenizer.pieces(ids) == tokenizer.tokens(text)
            assert UNK not in ids
            assert max(ids) < tokenizer.size
        assert tokenizer.encode_all(texts) == [tokenizer.encode(text) for text in texts]


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_composition_does_not_matter(kind: str) -> None:
    tokenizer = pair(kind).source
    assert tokenizer.encode("Die Ma\u0308nner") == tokenizer.encode("Die M\u00e4nner")
    assert UNK not in tokenizer.encode("Die Ma\u0308nner")


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_special_and_unknown_tokens_are_shown_and_never_read_from_text(kind: str) -> None:
    tokenizer = pair(kind).source
    assert tokenizer.pieces([PAD, UNK, BOS, EOS]) == ["<pad>", "⁇", "<s>", "</s>"]
    assert tokenizer.decode(tokenizer.encode("☃")) == "⁇"
    assert not {PAD, BOS, EOS} & set(tokenizer.encode("</s> <s> <pad> <unk>"))
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(text=st.text())
@settings(max_examples=60)
def test_odd_unicode_keeps_its_place(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    tokens, ids = tokenizer.tokens(text), tokenizer.encode(text)
    assert len(tokens) == len(ids) == len(tokenizer.pieces(ids))
    assert "".join(tokenizer.text(tokens).split()) == "".join(
        unicodedata.normalize("NFC", text).replace("▁", " ").split()
    )
    assert not {PAD, BOS, EOS} & set(ids)
    owners = [owner for each in words_of_tokens(tokens, split_words(text)) for owner in each]
    assert owners == sorted(owners)
    shown = tokenizer.decode(ids)
    words_of_tokens(tokenizer.pieces(ids), split_words(shown))


TRAINED: dict[str, Tokenizer] = {}


def trained(kind: str) -> Tokenizer:
    return TRAINED.setdefault(kind, pair(kind).source)


@given(st.text())
@settings(max_examples=60)
def test_characters_give_every_text_back_exactly(text: str) -> None:
    tokenizer = CharacterTokenizer.train(TokenizerConfig(kind="character"), [text])
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize("NFC", text)


def test_lower_case_is_composed_again() -> None:
    tokenizer = CharacterTokenizer.train(TokenizerConfig(kind="character", lowercase=True), ["J\u030c"])
    assert tokenizer.tokens("J\u030c") == ["\u01f0"]


def test_rare_words_are_unknown() -> None:
    tokenizers = pair("word", minimum_count=2)
    assert tokenizers.source.size == 4 + len({".", "Der"})
    assert tokenizers.source.decode(tokenizers.source.encode("Der Hund bellt.")) == "Der ⁇ ⁇."
    assert tokenizers.target.size == 4 + len({"The"})


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_files_give_the_same_tokenizers_back(kind: str, lowercase: bool, tmp_path: Path) -> None:
    tokenizers = pair(kind, lowercase=lowercase)
    tokenizers.save(tmp_path)
    files = {path.name for path in tmp_path.iterdir()}
    assert files == ({"tokens.model"} if kind == "subword" else {"source_tokens.json", "target_tokens.json"})
    loaded = TokenizerPair.load(tmp_path, TokenizerConfig(kind=kind, lowercase=lowercase))
    assert loaded.shared == tokenizers.shared == (kind == "subword")
    assert loaded.source.encode_all(SOURCES) == tokenizers.source.encode_all(SOURCES)
    assert loaded.target.encode_all(TARGETS) == tokenizers.target.encode_all(TARGETS)


def test_a_file_that_is_no_vocabulary_is_named(tmp_path: Path) -> None:
    path = tmp_path / "source_tokens.json"
    with pytest.raises(RegardError) as caught:
        WordTokenizer.load(tmp_path, "source_tokens", lowercase=False)
    assert str(caught.value) == f"{path}: cannot read the vocabulary (No such file or directory)."
    path.write_text("{")
    with pytest.raises(RegardError, match=r"source_tokens\.json: Not valid JSON: Expecting property name"):
        WordTokenizer.load(tmp_path, "source_tokens", lowercase=False)
    path.write_text(json.dumps({"tokens": []}))
    with pytest.raises(RegardError) as caught:
        WordTokenizer.load(tmp_path, "source_tokens", lowercase=False)
    assert str(caught.value) == f"{path}: Not a vocabulary: want distinct tokens that begin with <pad> <unk> <s> </s>."


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizers = pair("word")
    tokenizers.save(tmp_path)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        pair("word", lowercase=True).save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"source_tokens.json", "target_tokens.json"}
    assert TokenizerPair.load(tmp_path, TokenizerConfig()).source.encode_all(SOURCES) == tokenizers.source.encode_all(
        SOURCES
    )


@pytest.mark.parametrize("kind", ["word", "character"])
def test_words_and_characters_are_never_cut_at_random(kind: str) -> None:
    tokenizer = pair(kind).source
    assert tokenizer.sample_all(SOURCES, dropout=0.5, seed=7) == tokenizer.encode_all(SOURCES)
