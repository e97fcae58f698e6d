import numpy as np
import pytest
import sacrebleu

from regard.errors import RegardError
from regard.metrics.signature import Signature
from regard.metrics.tables import check_column, share_out
from regard.parts import METRICS

OF_TRANSLATIONS = ["bleu", "bleu_lc", "bleu_tok_lc", "chrf", "ter", "token_accuracy", "sentence_accuracy",
                   "token_error_rate", "unknown_rate"]  # fmt: skip


def signatures(*names: str) -> dict[str, Signature]:
    return {name: METRICS[name]().signature() for name in names}


def test_forms_of_one_measure_get_tables_of_their_own_and_it_is_said_why() -> None:
    assert share_out(signatures("chrf", "bleu_lc", "bleu", "ter", "bleu_tok_lc")) == [
        ("", ["chrf", "bleu_lc", "ter"]),
        ("bleu does not compare with bleu_lc: different letter case (lc and mixed).", ["bleu"]),
        (
            "bleu_tok_lc does not compare with bleu_lc: different tokenisation (13a and split_words); different "
            "smoothing (exp and none).",
            ["bleu_tok_lc"],
        ),
    ]


def test_a_column_has_scores_of_one_kind() -> None:
    base = Signature.of(metric="bleu", split="test", search="greedy")
    check_column("bleu", {"greedy": base, "beam5": Signature.of(metric="bleu", split="test", search="beam5")})
    with pytest.raises(RegardError) as caught:
        check_column("bleu", {"a": base, "b": Signature.of(metric="bleu", split="validation", search="greedy")})
    assert str(caught.value) == (
        "bleu: a and b have different split (test and validation): such scores do not belong into one table."
    )


@pytest.mark.parametrize("name", METRICS)
def test_the_search_is_in_the_signature_where_translations_are_judged(name: str) -> None:
    metric = METRICS[name]()
    size = 12  # as many statistics as any metric has, or more
    score = metric.score(np.ones((1, {"chrf": 18, "ter": 2}.get(name, size if "bleu" in name else 2))),
                         context=Signature.of(search="greedy", split="test"))  # fmt: skip
    assert ("search:greedy" in score.signature) == (name in OF_TRANSLATIONS)
    assert "split:test" in score.signature


@pytest.mark.parametrize(
    ("hypothesis", "reference"), [("a dog", "a dog"), ("yes", "yes"), ("a red dog", "a dog"), ("no", "yes")]
)
def test_a_short_sentence_is_scored_up_to_the_longest_ngram_it_has(hypothesis: str, reference: str) -> None:
    metric = METRICS["bleu"]()
    statistics = metric.statistics([hypothesis] * 2, [reference] * 2)
    (value, _) = metric.each(statistics)
    assert value == pytest.approx(sacrebleu.sentence_bleu(hypothesis, [reference]).score)
    assert (value == pytest.approx(100)) == (hypothesis == reference)
    whole = sacrebleu.corpus_bleu([hypothesis] * 2, [[reference] * 2]).score
    assert metric.score(statistics).value == pytest.approx(whole), "the corpus score keeps all four orders"
