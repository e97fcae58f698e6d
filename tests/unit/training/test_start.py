"""Embeddings that begin with what occurs together."""

import numpy as np
import pytest
import torch

from regard.config import ModelConfig, TrainConfig
from regard.data.batches import EncodedPairs
from regard.data.vocabulary import EOS, PAD, SPECIALS
from regard.models.build import build_model
from regard.models.seq2seq import Seq2Seq
from regard.training.start import MOST_PAIRS, begin_with_cooccurrence
from regard.types import Tensor

FIRST = len(SPECIALS)
WORDS = 20
"""Source words of the toy language; the translation of each has a number WORDS higher, or the same on its own side."""


def dictionary_pairs(count: int = 300, *, shift: int) -> EncodedPairs:
    random = np.random.default_rng(1)
    sources = [random.choice(WORDS, size=5, replace=False) + FIRST for _ in range(count)]
    return EncodedPairs.of([s.tolist() for s in sources], [random.permutation(s + shift).tolist() for s in sources])


def model_of(source_words: int, target_words: int, size: int = 12, **changes: object) -> Seq2Seq:
    torch.manual_seed(1)
    config = ModelConfig(embedding=size, encoder_hidden=6, hidden=10, attention_size=7, **changes)
    return build_model(config, source_words=source_words, target_words=target_words)


def tables(model: Seq2Seq) -> tuple[Tensor, Tensor]:
    return model.encoder.embedding.weight.detach().clone(), model.decoder.embedding.weight.detach().clone()


def share_of_translations_found(source: Tensor, target: Tensor, *, shift: int) -> float:
    words = torch.arange(FIRST, FIRST + WORDS)
    likeness = source[words] @ target[words + shift].T
    return float((likeness.argmax(dim=1) == torch.arange(WORDS)).float().mean())


@pytest.mark.parametrize("shift", [WORDS, 0], ids=["one vocabulary", "one a side"])
@pytest.mark.parametrize("size", [12, 64], ids=["fewer dimensions than words", "more"])
def test_a_word_and_its_translation_begin_alike(shift: int, size: int) -> None:
    words = FIRST + WORDS + shift
    model = model_of(words, words, size)
    before = tables(model)
    begin_with_cooccurrence(model, dictionary_pairs(shift=shift), shared=bool(shift))
    assert share_of_translations_found(*tables(model), shift=shift) == 1
    assert share_of_translations_found(*before, shift=shift) < 0.5


def test_vectors_have_length_1_as_random_ones_do_and_those_of_other_words_stay() -> None:
    model = model_of(FIRST + WORDS + 3, FIRST + WORDS)
    before, ended = tables(model)
    begin_with_cooccurrence(model, dictionary_pairs(shift=0), shared=False)
    source, target = tables(model)
    torch.testing.assert_close(source[FIRST : FIRST + WORDS].norm(dim=1), torch.ones(WORDS))
    torch.testing.assert_close(target[FIRST:].norm(dim=1), torch.ones(WORDS))
    assert torch.equal(source[FIRST + WORDS :], before[FIRST + WORDS :])  # never seen
    assert torch.equal(target[EOS], ended[EOS])  # in every pair
    assert torch.equal(source[PAD], before[PAD])


def test_shared_embeddings_and_the_output_layer_follow() -> None:
    words = FIRST + 2 * WORDS
    model = model_of(words, words, tie="all", readout=12)
    begin_with_cooccurrence(model, dictionary_pairs(shift=WORDS), shared=True)
    assert model.encoder.embedding.weight is model.decoder.embedding.weight is model.output.weight
    assert share_of_translations_found(*tables(model), shift=WORDS) == 1


def test_the_same_seed_gives_the_same_vectors() -> None:
    first, second = model_of(FIRST + WORDS, FIRST + WORDS), model_of(FIRST + WORDS, FIRST + WORDS)
    for model in (first, second):
        torch.manual_seed(3)
        begin_with_cooccurrence(model, dictionary_pairs(shift=0), shared=False)
    assert all(torch.equal(a, b) for a, b in zip(tables(first), tables(second), strict=True))


def test_a_large_corpus_is_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_PAIRS > 29_000  # Multi30k is looked at whole
    monkeypatch.setattr("regard.training.start.MOST_PAIRS", 150)
    model = model_of(FIRST + WORDS, FIRST + WORDS)
    begin_with_cooccurrence(model, dictionary_pairs(1000, shift=0), shared=False)
    assert share_of_translations_found(*tables(model), shift=0) == 1


def test_a_start_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="start"):
        TrainConfig(start="lucky")
