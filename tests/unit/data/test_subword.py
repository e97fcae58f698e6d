import subprocess
import sys
import time
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from real_data import multi30k_folder
from regard.config import TokenizerConfig
from regard.data.multi30k import Multi30k
from regard.data.subword import SubwordTokenizer
from regard.data.vocabulary import UNK
from regard.errors import RegardError

TEXTS = [
    f"{noun} {verb} {adverb}."
    for noun in ("Der Mann", "Die Frau")
    for verb in ("rennt", "schläft")
    for adverb in ("schnell", "lange", "heute")
]


def trained(vocabulary: int = 60, *, lowercase: bool = False) -> SubwordTokenizer:
    return SubwordTokenizer.train(TokenizerConfig(kind="subword", vocabulary=vocabulary, lowercase=lowercase), TEXTS)


LEARNT = trained()


def test_training_is_deterministic_and_as_large_as_asked() -> None:
    assert trained().size == 60
    assert trained().model == trained().model
    assert trained().model != trained(59).model


def test_a_small_corpus_yields_fewer_pieces() -> None:
    tokenizer = trained(6000)
    assert 60 < tokenizer.size < 200
    assert tokenizer.tokens("Der Mann rennt.") == ["▁Der", "▁Mann", "▁rennt", "."]


def test_too_small_a_vocabulary_is_refused() -> None:
    characters = len(set("".join(TEXTS)))
    with pytest.raises(RegardError) as caught:
        trained(characters + 3)
    assert str(caught.value) == (
        f"tokenizer.vocabulary: got {characters + 3}, want at least {characters + 4}, "
        f"since the text has {characters} different characters and 4 pieces are special."
    )
    assert trained(characters + 4).size == characters + 4
    with pytest.raises(RegardError, match=r"^tokenizer: there is no text to learn subwords from\.$"):
        SubwordTokenizer.train(TokenizerConfig(kind="subword"), ["", " \n"])


@pytest.mark.parametrize("text", ["\x00 a", "▅ a", "▁ a", "a" * 20_000, "a\nb", "</s> a", "e\u0301 a"])
def test_odd_text_can_be_learnt(text: str) -> None:
    tokenizer = SubwordTokenizer.train(TokenizerConfig(kind="subword"), [text])
    assert UNK not in tokenizer.encode("a a")


def test_unknown_characters_stay_visible_and_white_space_is_plain() -> None:
    tokenizer = trained()
    assert tokenizer.decode(tokenizer.encode("Der ☃☃ rennt日本.")) == "Der ⁇ rennt⁇."
    assert tokenizer.text(["▁", "▁Der", "▁", "▁Mann", "▁"]) == "Der Mann"
    assert tokenizer.decode(tokenizer.encode(" Der\u00a0\tMann\u2028▁rennt ")) == "Der Mann rennt"


def test_random_cuts_are_a_function_of_the_seed() -> None:
    tokenizer = trained()
    cuts = {seed: tokenizer.sample_all(TEXTS, dropout=0.3, seed=seed) for seed in (0, 1, 2, 2**32, 2**63)}
    assert len({str(cut) for cut in cuts.values()}) == len(cuts)
    tokenizer.sample_all(TEXTS[:2], dropout=0.9, seed=5)
    for seed, cut in cuts.items():
        assert tokenizer.sample_all(TEXTS, dropout=0.3, seed=seed) == cut
        assert [tokenizer.decode(ids) for ids in cut] == TEXTS
    assert UNK not in [i for cut in cuts.values() for ids in cut for i in ids]
    assert sum(map(len, cuts[0])) > sum(map(len, tokenizer.encode_all(TEXTS)))
    assert tokenizer.sample_all(TEXTS, dropout=0, seed=1) == tokenizer.encode_all(TEXTS)


@given(st.text(alphabet=st.one_of(st.sampled_from(sorted(set("".join(TEXTS)))), st.characters(codec="utf-8"))))
@settings(max_examples=200, deadline=None)
def test_with_no_merge_skipped_words_are_cut_as_sentencepiece_does(text: str) -> None:
    assert LEARNT.sample_all([text], dropout=1e-12, seed=1) == LEARNT.encode_all([text])


def test_merges_are_skipped_as_often_as_asked() -> None:
    tokenizer = SubwordTokenizer.train(TokenizerConfig(kind="subword", vocabulary=9), ["ab ab b"])
    assert tokenizer.pieces(range(4, 9)) == ["ab", "▁ab", "b", "▁", "a"]
    sampled = [tokenizer.pieces(ids) for ids in tokenizer.sample_all(["ab"] * 20_000, dropout=0.2, seed=4)]
    assert sampled.count(["▁ab"]) / len(sampled) == pytest.approx(0.8 * 0.8, abs=0.01)
    assert sampled.count(["▁", "ab"]) / len(sampled) == pytest.approx(0.8 * 0.2, abs=0.01)
    assert sampled.count(["▁", "a", "b"]) / len(sampled) == pytest.approx(0.2, abs=0.01)


def test_another_process_cuts_alike(tmp_path: Path) -> None:
    tokenizer = trained()
    tokenizer.save(tmp_path, "tokens")
    program = (
        "import sys, pathlib; from regard.data.subword import SubwordTokenizer as S;"
        "t = S.load(pathlib.Path(sys.argv[1]), 'tokens', lowercase=False);"
        "print(t.sample_all(['Der Mann rennt lange.'] * 9, dropout=0.5, seed=3))"
    )
    out = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(tokenizer.sample_all(["Der Mann rennt lange."] * 9, dropout=0.5, seed=3))
    assert out.stderr == ""


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokens.model"
    with pytest.raises(RegardError) as caught:
        SubwordTokenizer.load(tmp_path, "tokens", lowercase=False)
    assert str(caught.value) == f"{path}: cannot read the subword model (No such file or directory)."
    for content in (b"", b"not a model", trained().model[:200]):
        path.write_bytes(content)
        with pytest.raises(RegardError) as caught:
            SubwordTokenizer.load(tmp_path, "tokens", lowercase=False)
        assert str(caught.value) == f"{path}: not a sentencepiece model."


def test_a_model_with_other_special_pieces_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "tokens.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXTS), model_writer=file, vocab_size=60, model_type="bpe", minloglevel=2
        )
    with pytest.raises(RegardError) as caught:
        SubwordTokenizer.load(tmp_path, "tokens", lowercase=False)
    wanted = "begins with the pieces <unk> <s> </s> r, want <pad> <unk> <s> </s>."
    assert str(caught.value).endswith(wanted.replace(" r,", f" {_fourth_piece(tmp_path)},"))


def _fourth_piece(folder: Path) -> str:
    model = (folder / "tokens.model").read_bytes()
    return str(sentencepiece.SentencePieceProcessor(model_proto=model).id_to_piece(3))


def test_training_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    trained().sample_all(TEXTS, dropout=0.1, seed=1)
    assert capfd.readouterr() == ("", "")


def test_multi30k_is_learnt_in_seconds_and_comes_back() -> None:
    split = Multi30k(directory=str(multi30k_folder())).load()["train"]
    start = time.perf_counter()
    tokenizer = SubwordTokenizer.train(TokenizerConfig(kind="subword"), [*split.sources, *split.targets])
    assert time.perf_counter() - start < 20
    assert tokenizer.size == 6000
    texts = split.sources[:3000] + split.targets[:3000]
    ids = tokenizer.encode_all(texts)
    assert tuple(map(tokenizer.decode, ids)) == texts
    assert tokenizer.sample_all(texts, dropout=1e-12, seed=1) == ids
