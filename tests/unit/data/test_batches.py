import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from real_data import multi30k_folder
from regard.config import TokenizerConfig
from regard.data.batches import ROWS, EncodedPairs, Flat, plan
from regard.data.multi30k import Multi30k
from regard.data.tokenizers import TokenizerPair
from regard.data.vocabulary import BOS, EOS, PAD

SENTENCES = [[5, 6, 7], [8], [9, 10]]


def test_flat_holds_sentences_end_to_end() -> None:
    flat = Flat.of(SENTENCES)
    assert flat.ids.tolist() == [5, 6, 7, 8, 9, 10]
    assert flat.lengths.tolist() == [3, 1, 2]
    ids, is_token = flat.padded(np.array([2, 0]))
    assert ids.tolist() == [[9, 10, PAD], [5, 6, 7]]
    assert is_token.tolist() == [[True, True, False], [True, True, True]]


def test_a_target_is_read_one_behind_what_is_predicted() -> None:
    batch = EncodedPairs.of(SENTENCES, [[4, 5], [6, 7, 8], []]).batch(np.array([0, 1, 2]))
    assert batch.target_in.tolist() == [[BOS, 4, 5, PAD], [BOS, 6, 7, 8], [BOS, PAD, PAD, PAD]]
    assert batch.target_out.tolist() == [[4, 5, EOS, PAD], [6, 7, 8, EOS], [EOS, PAD, PAD, PAD]]
    assert batch.is_target.sum(1).tolist() == [3, 4, 1]
    assert batch.target_tokens == 8


def test_empty_and_long_pairs_are_left_out() -> None:
    pairs = EncodedPairs.of([[5], [], [5, 5, 5], [6]], [[5], [5], [5], [6, 6, 6]])
    assert pairs.within(2).tolist() == [0]
    assert pairs.within(3).tolist() == [0, 2, 3]


def lengths() -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)


@given(lengths(), st.integers(1, 100), st.sampled_from(["sentences", "tokens"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_pair_is_in_one_batch_and_no_batch_is_too_large(
    sizes: list[tuple[int, int]], size: int, unit: str, is_shuffled: bool
) -> None:
    pairs = EncodedPairs.of([[4] * s for s, _ in sizes], [[4] * t for _, t in sizes])
    generator = np.random.default_rng(1) if is_shuffled else None
    batches = plan(pairs, np.arange(len(pairs)), size=size, unit=unit, generator=generator)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
    for rows in batches:
        longer = max(max(sizes[i][0], sizes[i][1] + 1) for i in rows)
        assert len(rows) == 1 or len(rows) * (longer if unit == "tokens" else 1) <= size


def test_batches_of_tokens_have_few_numbers_of_sentences() -> None:
    sizes = np.random.default_rng(0).integers(5, 40, size=2000)
    pairs = EncodedPairs.of([[4] * s for s in sizes], [[4] * s for s in sizes])
    *batches, _ = plan(pairs, np.arange(2000), size=1000, unit="tokens")
    assert all(len(rows) % (ROWS if len(rows) >= 2 * ROWS else ROWS // 4) == 0 for rows in batches)
    tokens = [len(rows) * (sizes[rows].max() + 1) for rows in batches]
    assert min(tokens) > 600
    assert np.mean(tokens) > 850
    assert [len(rows) for rows in plan(pairs, np.arange(100), size=30, unit="sentences")] == [30, 30, 30, 10]


def test_the_order_is_fixed_by_the_generator() -> None:
    random = np.random.default_rng(0)
    sizes = random.integers(3, 20, size=(500, 2))
    pairs = EncodedPairs.of([[4] * s for s, _ in sizes], [[4] * t for _, t in sizes])

    def order(seed: int) -> list[list[int]]:
        rows = plan(pairs, np.arange(500), size=16, unit="sentences", generator=np.random.default_rng(seed))
        return [batch.tolist() for batch in rows]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert {frozenset(batch) for batch in order(1)} != {frozenset(batch) for batch in order(2)}


def test_multi30k_has_less_than_a_tenth_padding() -> None:
    corpus = Multi30k(directory=str(multi30k_folder())).load()["train"]
    pair = TokenizerPair.train(TokenizerConfig(minimum_count=2), corpus.sources, corpus.targets)
    pairs = EncodedPairs.of(pair.source.encode_all(corpus.sources), pair.target.encode_all(corpus.targets))
    for size, unit in ((128, "sentences"), (2500, "tokens")):
        generator = np.random.default_rng(1)
        batches = [
            pairs.batch(rows) for rows in plan(pairs, np.arange(29_000), size=size, unit=unit, generator=generator)
        ]
        tokens = sum(int(b.is_source.sum()) + int(b.is_target.sum()) for b in batches)
        places = sum(b.is_source.numel() + b.is_target.numel() for b in batches)
        assert 1 - tokens / places < 0.10


def test_padding_never_reaches_the_tensors_as_a_word() -> None:
    batch = EncodedPairs.of(SENTENCES, SENTENCES).batch(np.arange(3))
    assert torch.equal(batch.source == PAD, ~batch.is_source)
    assert torch.equal(batch.target_out == PAD, ~batch.is_target)
