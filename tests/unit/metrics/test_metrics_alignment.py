import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import RegardError
from regard.metrics.alignment import (
    Alignment,
    AlignmentErrorRate,
    AttentionAccuracy,
    AttentionEntropy,
    AttentionSpread,
    join_pieces,
    mutual_links,
    parse_pharaoh,
    read_pharaoh,
    row_entropies,
    strongest_links,
)

LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=6)
GOLD = st.builds(Alignment, LINKS, LINKS)
WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8], [0.0, 0.0, 0.0]])


def score(metric, *columns):
    return metric.score(metric.statistics(*columns)).value


def links(*pairs):
    return frozenset(pairs)


def test_pharaoh_by_hand():
    gold = parse_pharaoh(" 0-0  10-2 0p1\t1p0\r")
    assert gold.sure == links((0, 0), (10, 2))
    assert gold.possible == links((0, 0), (10, 2), (0, 1), (1, 0))
    assert str(gold) == "0-0 0p1 1p0 10-2"
    assert parse_pharaoh("") == Alignment(links())
    assert str(Alignment(links())) == ""


def test_a_link_both_sure_and_possible_is_sure():
    assert str(parse_pharaoh("0p0 0-0")) == "0-0"


@given(GOLD)
def test_pharaoh_is_read_as_written(gold):
    back = parse_pharaoh(str(gold))
    assert (back.sure, back.possible) == (gold.sure, gold.possible)


@pytest.mark.parametrize("word", ["0", "0-", "-1-0", "0:0", "a-b", "0-0-0", "0P1", "0.5-1", "²-0"])
def test_what_is_no_link_is_refused(word):
    with pytest.raises(RegardError) as error:
        parse_pharaoh(f"0-0 {word}")
    assert str(error.value) == f"got '{word}', want links such as 0-0 (sure) or 0p1 (possible)."


def test_a_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_bytes(b"\xef\xbb\xbf0-0 1-2\r\n\n0p1\n")
    assert [str(gold) for gold in read_pharaoh(path, sentences=3)] == ["0-0 1-2", "", "0p1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0-0\n1-1 x\n", "{path}, line 2: got 'x', want links such as 0-0 (sure) or 0p1 (possible)."),
        (b"0-0\n", "{path}: got 1 lines, want 2, one for each sentence pair."),
        (b"0-0\n\n\n", "{path}: got 3 lines, want 2, one for each sentence pair."),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path, content, message):
    path = tmp_path / "gold.txt"
    path.write_bytes(content)
    with pytest.raises(RegardError) as error:
        read_pharaoh(path, sentences=2)
    assert str(error.value) == message.format(path=path)


def test_a_missing_file_is_a_users_error(tmp_path):
    with pytest.raises(RegardError) as error:
        read_pharaoh(tmp_path / "none.txt", sentences=2)
    assert str(error.value).startswith(f"{tmp_path / 'none.txt'}: ")


def test_hard_links_by_hand():
    assert strongest_links(WEIGHTS) == links((0, 0), (0, 1), (2, 2))
    assert mutual_links(WEIGHTS) == links((0, 0), (2, 2))
    assert mutual_links(WEIGHTS[[1, 0]]) == links((0, 1))
    assert strongest_links(torch.tensor([[0.5, 0.5]], requires_grad=True)) == links((0, 0))


def test_alignment_error_rate_by_hand():
    gold = parse_pharaoh("0-0 1-1 2p1")
    # A = {0-0, 2-1, 3-3}: one sure, two possible of 3 + 2
    assert score(AlignmentErrorRate(), [links((0, 0), (2, 1), (3, 3))], [gold]) == pytest.approx(100 * (1 - 3 / 5))
    assert score(AlignmentErrorRate(), [links()], [gold]) == 100
    assert score(AlignmentErrorRate(), [links((5, 5))], [Alignment(links())]) == 100
    assert score(AlignmentErrorRate(), [links()], [Alignment(links())]) == 0


def test_alignment_error_rate_pools_the_links_of_all_sentences():
    columns = [links((0, 0)), links((0, 0), (1, 0), (1, 1))], [Alignment(links((0, 1))), Alignment(links((0, 0)))]
    assert score(AlignmentErrorRate(), *columns) == pytest.approx(100 * (1 - 2 / 6))


@given(st.lists(GOLD, min_size=1, max_size=4))
def test_the_gold_alignment_has_no_error(golds):
    assert score(AlignmentErrorRate(), [gold.sure for gold in golds], golds) == 0
    assert score(AlignmentErrorRate(), [gold.possible for gold in golds], golds) == 0


@given(LINKS, GOLD)
def test_alignment_error_rate_is_a_share(found, gold):
    assert 0 <= score(AlignmentErrorRate(), [found], [gold]) <= 100


def test_attention_accuracy_by_hand():
    # rows 0 and 2 hit, row 1 misses, row 3 is all zeros and does not count
    assert score(AttentionAccuracy(), [WEIGHTS], [parse_pharaoh("0-0 1-1 2p2 1-3")]) == pytest.approx(200 / 3)
    # target word 1 has no link and does not count
    assert score(AttentionAccuracy(), [WEIGHTS], [parse_pharaoh("0-0 2-2")]) == 100
    # any of several links is a hit
    assert score(AttentionAccuracy(), [torch.tensor(WEIGHTS)], [parse_pharaoh("0-1 1-1 2-1")]) == 100


def test_equal_weights_score_what_chance_does():
    assert score(AttentionAccuracy(), [np.full((2, 5), 0.2)], [parse_pharaoh("0-0 3-1 4-1")]) == pytest.approx(30)


def test_accuracy_of_no_attention_is_undefined():
    zeros = np.zeros((2, 3))
    assert math.isnan(score(AttentionAccuracy(), [zeros], [parse_pharaoh("0-0 1-1")]))
    assert math.isnan(score(AttentionAccuracy(), [WEIGHTS], [Alignment(links())]))
    assert math.isnan(score(AttentionAccuracy(), [np.zeros((0, 0))], [Alignment(links())]))
    # beside a sentence with attention it leaves no trace
    mixed = [zeros, np.array([[0.9, 0.1]])], [parse_pharaoh("0-0"), parse_pharaoh("0-0")]
    assert score(AttentionAccuracy(), *mixed) == 100


@pytest.mark.parametrize("link", ["3-0", "0-4"])
def test_a_gold_link_outside_the_sentence_is_told(link):
    with pytest.raises(RegardError) as error:
        AttentionAccuracy().statistics([WEIGHTS, WEIGHTS], [parse_pharaoh("0-0"), parse_pharaoh(link)])
    assert str(error.value) == (
        f"attention_accuracy, segment 2: got the gold link {link} for 3 source and 4 target words, "
        "want links within the sentences."
    )


def test_entropy_by_hand():
    weights = np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(row_entropies(weights), [0, math.log(4), math.log(2)])
    assert score(AttentionEntropy(), [weights]) == pytest.approx(math.log(8) / 3)
    assert score(AttentionSpread(), [weights]) == pytest.approx(50)
    assert score(AttentionEntropy(), [weights * 0.3]) == pytest.approx(math.log(8) / 3)  # rows are scaled to 1


def test_entropy_is_a_mean_over_rows_not_sentences():
    columns = [np.array([[0.5, 0.5]]), np.array([[1.0], [1.0], [1.0]])]
    assert score(AttentionEntropy(), columns) == pytest.approx(math.log(2) / 4)
    assert score(AttentionSpread(), columns) == pytest.approx(100)  # a one-word source could not be otherwise


def test_entropy_of_no_attention_is_undefined():
    assert math.isnan(score(AttentionEntropy(), [np.zeros((2, 3))]))
    assert math.isnan(score(AttentionSpread(), [np.zeros((2, 3))]))


def test_pieces_are_joined_by_hand():
    weights = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.1, 0.1], [0.0, 0.0, 0.2, 0.8]]
    # target pieces: word 0 twice, then end of sentence; source pieces: word 0 twice, word 1, end of sentence
    want = [[0.55, 0.2]]
    for kind in (np.array, torch.tensor):
        joined = join_pieces(kind(weights), [[0], [0], []], [[0], [0], [1], []], shape=(1, 2))
        np.testing.assert_allclose(joined, want, atol=1e-6)
    padded = join_pieces(np.array(weights), [[0], [0], []], [[0], [0], [1], []], shape=(2, 3))
    np.testing.assert_allclose(padded, [[0.55, 0.2, 0], [0, 0, 0]])


def test_words_without_pieces_and_pieces_without_words():
    joined = join_pieces(np.array([[0.25, 0.75]]), [[1]], [[2], [0]], shape=(2, 3))
    np.testing.assert_allclose(joined, [[0, 0, 0], [0.75, 0, 0.25]])
    assert join_pieces(np.array([[0.25, 0.75]]), [[]], [[], []], shape=(0, 0)).shape == (0, 0)


def test_a_piece_of_several_words_is_shared_out():
    joined = join_pieces(np.array([[0.2, 0.8], [1.0, 0.0]]), [[0, 0, 1], [1]], [[0], [1, 1, 1, 2]], shape=(2, 3))
    np.testing.assert_allclose(joined[0], [0.2, 0.6, 0.2])
    np.testing.assert_allclose(joined[1], [(0.2 / 3 + 1) / (4 / 3), 0.15, 0.05])


PIECES = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=7)


@settings(max_examples=30)
@given(PIECES, PIECES)
def test_joined_rows_are_still_distributions(targets, sources):
    weights = np.random.default_rng(len(targets)).dirichlet(np.ones(len(sources)), size=len(targets))
    joined = join_pieces(weights, targets, sources, shape=(5, 5))
    has_pieces = [any(word in each for each in targets) for word in range(5)]
    np.testing.assert_allclose(joined.sum(1), np.array(has_pieces, dtype=float))


def test_whole_words_are_joined_to_themselves():
    words = [[[word] for word in range(size)] for size in WEIGHTS.shape]
    np.testing.assert_allclose(join_pieces(WEIGHTS, *words, shape=WEIGHTS.shape), WEIGHTS)
