import math
from collections import Counter

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from regard.data.words import split_words
from regard.metrics.bleu import Bleu, BleuLowercase, BleuTokenised
from regard.metrics.chrf import Chrf
from regard.metrics.ter import Ter

WORDS = [
    "Der",
    "der",
    "Mann,",
    "Hund.",
    "läuft",
    "«ja»",
    "3.5",
    "T-Shirt",
    "漢字",
    "e\u0301",
    "🙂",
    "\u200b",
    "&quot;",
    "<x>",
]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=12)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6)
ORACLES = [
    (Bleu, BLEU),
    (BleuLowercase, lambda: BLEU(lowercase=True)),
    (Chrf, CHRF),
    (Ter, TER),
]


def score(metric, hypotheses, references):
    return metric.score(metric.statistics(hypotheses, references)).value


@pytest.mark.parametrize(("metric", "oracle"), ORACLES)
@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS)
def test_the_score_is_sacrebleus(metric, oracle, pairs):
    hypotheses, references = zip(*pairs, strict=True)
    want = oracle().corpus_score(list(hypotheses), [list(references)]).score
    assert score(metric(), hypotheses, references) == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize(("metric", "oracle"), ORACLES)
def test_the_signature_is_sacrebleus(metric, oracle):
    scorer = oracle()
    scorer.corpus_score(["a"], [["a"]])
    assert str(metric().signature()) == f"metric:{metric.name}|{scorer.get_signature().format()}"


def test_signatures_tell_the_three_forms_apart():
    version = sacrebleu.__version__
    assert str(Bleu().signature()) == f"metric:bleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    assert str(BleuLowercase().signature()) == (
        f"metric:bleu_lc|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:{version}"
    )
    assert str(BleuTokenised().signature()) == (
        f"metric:bleu_tok_lc|nrefs:1|case:lc|eff:no|tok:split_words|smooth:none|version:{version}"
    )


def test_bleu_by_hand():
    # n-gram matches 5/6, 3/5, 2/4, 1/3; no brevity penalty
    want = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    for metric in (Bleu(), BleuLowercase(), BleuTokenised()):
        assert score(metric, ["the cat sat on the mat"], ["the cat sat on a mat"]) == pytest.approx(want)
    # one word short of 7: 6/6, 5/5, 4/4, 3/3 and a penalty of exp(1 - 7/6)
    assert score(Bleu(), ["a b c d e f"], ["a b c d e f g"]) == pytest.approx(100 * math.exp(-1 / 6))


def test_case_counts_only_in_cased_bleu():
    hypothesis, reference = ["der mann geht nach hause"], ["Der Mann geht nach Hause"]
    assert score(Bleu(), hypothesis, reference) < 50
    assert score(BleuLowercase(), hypothesis, reference) == pytest.approx(100)
    assert score(BleuTokenised(), hypothesis, reference) == pytest.approx(100)


def test_the_tokenised_score_is_not_smoothed():
    hypothesis, reference = ["ein mann geht nach hause"], ["ein hund geht nach draußen"]
    assert score(BleuTokenised(), hypothesis, reference) == 0
    assert score(BleuLowercase(), hypothesis, reference) > 0


def bleu_of_ready_made_tokens(hypotheses, references):
    """The retired library's score: clipped matches of orders 1 to 4, 0 if any order has none."""
    matched, total = [0] * 4, [0] * 4
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for n in range(4):
            have, want = (
                Counter(tuple(words[i : i + n + 1]) for i in range(len(words) - n)) for words in (hypothesis, reference)
            )
            matched[n] += sum((have & want).values())
            total[n] += sum(have.values())
    if min(matched) == 0:
        return 0.0
    length, wanted = sum(map(len, hypotheses)), sum(map(len, references))
    precision = math.prod(m / t for m, t in zip(matched, total, strict=True)) ** 0.25
    return 100 * math.exp(min(1 - wanted / length, 0)) * precision


@settings(max_examples=60, deadline=None)
@given(PAIRS.map(lambda pairs: [(h, h if len(r) % 2 else r) for h, r in pairs]))
def test_the_tokenised_score_is_the_old_one(pairs):
    hypotheses, references = zip(*pairs, strict=True)
    tokens = [[[w.lower() for w in split_words(text)] for text in texts] for texts in (hypotheses, references)]
    want = bleu_of_ready_made_tokens(*tokens)
    assert score(BleuTokenised(), hypotheses, references) == pytest.approx(want, abs=1e-9)


def test_chrf_by_hand():
    # precision = recall = mean of 2/3, 1/2 and 0/1 over the orders that exist
    assert score(Chrf(), ["abc"], ["abd"]) == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3)


def test_ter_by_hand():
    assert score(Ter(), ["a b c d"], ["a b x d"]) == pytest.approx(25)
    assert score(Ter(), ["c a b"], ["a b c"]) == pytest.approx(100 / 3)  # one shift
    assert score(Ter(), ["a b c d e f"], ["a b"]) == pytest.approx(200)


@pytest.mark.parametrize("metric", [Bleu, BleuLowercase, BleuTokenised, Chrf])
@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=5, max_size=9).map(" ".join), min_size=1, max_size=4))
def test_the_reference_itself_scores_100(metric, texts):
    assert score(metric(), texts, texts) == pytest.approx(100)
    assert score(Ter(), texts, texts) == 0


@pytest.mark.parametrize(
    ("metric", "empty_hypothesis", "empty_reference"),
    [(Bleu, 0, 0), (BleuLowercase, 0, 0), (BleuTokenised, 0, 0), (Chrf, 0, 0), (Ter, 100, 100)],
)
def test_empty_texts(metric, empty_hypothesis, empty_reference):
    assert score(metric(), [""], ["ein Mann geht nach Hause"]) == empty_hypothesis
    assert score(metric(), ["ein Mann geht nach Hause"], [""]) == empty_reference
    assert score(metric(), [""], [""]) == 0
