"""Search against enumeration of everything there is, on random probability tables."""

import math

import pytest
import torch

from regard.data.vocabulary import BOS, EOS, PAD
from regard.search import Gnmt, Length, Plain, Power, Ranking, Rules, beam, greedy, score
from search_models import Look, TableStepper

RANKINGS = {
    "plain": Ranking(Plain()),
    "mean": Ranking(Power(1.0)),
    "root": Ranking(Power(0.5)),
    "steep": Ranking(Power(1.7)),
    "gnmt": Ranking(Gnmt(0.6)),
    "plain, coverage": Ranking(Plain(), coverage=0.7),
    "gnmt, coverage": Ranking(Gnmt(1.2), coverage=0.2),
}
SENTENCES = [1 + i % 4 for i in range(32)]


def rules(longest: int) -> Rules:
    return Rules(longest=Length(offset=longest))


def by_hand(ranking: Ranking, look: Look, tokens: tuple[int, ...]) -> float:
    """The score of a translation, from its definition."""
    length = len(tokens)
    match ranking.normalisation:
        case Plain():
            divisor = 1.0
        case Power(alpha):
            divisor = length**alpha
        case Gnmt(alpha):
            divisor = ((5 + length) / 6) ** alpha
    score = look.log_prob(tokens) / divisor
    if not ranking.coverage:
        return score
    covered = look.attention(tokens).mean(dim=0).sum(dim=0).tolist()
    return score + ranking.coverage * sum(math.log(min(1, c)) for c in covered)


@pytest.mark.parametrize("name", RANKINGS)
@pytest.mark.parametrize(("words", "longest"), [(5, 5), (6, 4), (8, 3)])
def test_a_beam_wide_enough_finds_the_optimum(words: int, longest: int, name: str) -> None:
    table = TableStepper(words=words, longest=longest, lengths=SENTENCES, seed=words)
    ranking = RANKINGS[name]
    found = beam(table, table.source, width=words**longest, n_best=4, rules=rules(longest), ranking=ranking)
    for sentence, best in enumerate(found):
        look = Look(table, sentence)
        scores = {tokens: by_hand(ranking, look, tokens) for tokens in look.finished(longest)}
        assert [h.tokens for h in best] == sorted(scores, key=lambda tokens: -scores[tokens])[:4]
        for hypothesis in best:
            assert hypothesis.score == pytest.approx(scores[hypothesis.tokens], abs=1e-5)
            assert hypothesis.log_prob == pytest.approx(look.log_prob(hypothesis.tokens), abs=1e-5)
            assert hypothesis.token_log_probs == pytest.approx(look.token_log_probs(hypothesis.tokens), abs=1e-5)
            torch.testing.assert_close(hypothesis.attention, look.attention(hypothesis.tokens))


def textbook(look: Look, *, width: int, longest: int, ranking: Ranking) -> list[tuple[int, ...]]:
    """Beam search with loops and lists, which never stops early; everything that ended, best first."""
    ended: list[tuple[int, ...]] = []
    beams: list[tuple[int, ...]] = [()]
    for _ in range(longest):
        grown = [(*tokens, v) for tokens in beams for v in range(look.words) if v not in (PAD, BOS)]
        best = sorted(grown, key=look.log_prob, reverse=True)[:width]
        ended += [tokens for tokens in best if tokens[-1] == EOS]
        beams = [tokens for tokens in best if tokens[-1] != EOS]
    return sorted(ended or beams, key=lambda tokens: by_hand(ranking, look, tokens), reverse=True)


@pytest.mark.parametrize("name", RANKINGS)
@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_stopping_early_changes_nothing(width: int, name: str) -> None:
    table = TableStepper(words=7, longest=4, lengths=SENTENCES, seed=width)
    settings = {"width": width, "rules": rules(4), "ranking": RANKINGS[name]}
    many = beam(table, table.source, n_best=width, **settings)
    few = beam(table, table.source, n_best=1, **settings)
    for sentence, best in enumerate(many):
        wanted = textbook(Look(table, sentence), width=width, longest=4, ranking=RANKINGS[name])
        assert [h.tokens for h in best] == wanted[:width]
        assert [h.tokens for h in few[sentence]] == wanted[:1]


@pytest.mark.parametrize("name", RANKINGS)
def test_a_beam_of_one_is_greedy_under_every_ranking(name: str) -> None:
    table = TableStepper(words=9, longest=4, lengths=SENTENCES, seed=9)
    greedily = greedy(table, table.source, rules=rules(4), ranking=RANKINGS[name])
    assert greedily == beam(table, table.source, width=1, rules=rules(4), ranking=RANKINGS[name])
    assert {h.is_finished for (h,) in greedily} == {True, False}
    for sentence, (one,) in enumerate(greedily):
        look, tokens = Look(table, sentence), ()
        while len(tokens) < 4 and tokens[-1:] != (EOS,):
            tokens = max(((*tokens, v) for v in range(9) if v not in (PAD, BOS)), key=look.log_prob)
        assert one.tokens == tokens
        assert one.is_finished == (tokens[-1] == EOS)


@pytest.mark.parametrize("name", RANKINGS)
def test_scoring_a_hypothesis_again_gives_its_score(name: str) -> None:
    table = TableStepper(words=8, longest=4, lengths=SENTENCES, seed=8)
    found = beam(table, table.source, width=4, rules=rules(4), ranking=RANKINGS[name])
    again = score(table, table.source, tokens=[best.tokens for (best,) in found], ranking=RANKINGS[name])
    for (one,), other in zip(found, again, strict=True):
        assert other.tokens == one.tokens
        assert other.score == pytest.approx(one.score, abs=1e-5)
        assert other.log_prob == pytest.approx(sum(one.token_log_probs), abs=1e-5)
        torch.testing.assert_close(other.attention, one.attention)


def test_any_translation_can_be_scored() -> None:
    table = TableStepper(words=8, longest=4, lengths=[3, 1, 4], seed=8)
    given = [(5, 1, EOS), (7, 7, 6, 5), (EOS,)]
    for sentence, hypothesis in enumerate(score(table, table.source, tokens=given, ranking=Ranking(Gnmt(0.9)))):
        look = Look(table, sentence)
        assert hypothesis.tokens == given[sentence]
        assert hypothesis.is_finished == (sentence != 1)
        assert hypothesis.token_log_probs == pytest.approx(look.token_log_probs(given[sentence]), abs=1e-5)
        assert hypothesis.score == pytest.approx(by_hand(Ranking(Gnmt(0.9)), look, given[sentence]), abs=1e-5)
        torch.testing.assert_close(hypothesis.attention, look.attention(given[sentence]))


def test_unfinished_hypotheses_are_a_last_resort() -> None:
    table = TableStepper(words=6, longest=3, lengths=[2, 3], seed=3)
    table.logits[0, :, EOS] = -60  # sentence 0 would rather not end
    never, ends = beam(table, table.source, width=3, n_best=3, rules=rules(3))
    assert [h.is_finished for h in never] == [False] * 3
    assert [len(h.tokens) for h in never] == [3] * 3
    assert never[0].words == never[0].tokens
    assert ends
    assert all(h.is_finished and h.words == h.tokens[:-1] for h in ends)


def test_no_sentences_no_hypotheses() -> None:
    table = TableStepper(words=6, longest=3, lengths=[2, 3], seed=3)
    empty = table.source.select(torch.arange(0))
    assert beam(table, empty) == greedy(table, empty) == score(table, empty, tokens=[]) == []
