"""The search as a tree agrees with the search."""

import json
from collections import Counter
from dataclasses import asdict

import pytest

from regard.data.vocabulary import BOS, EOS, PAD, UNK
from regard.search import Length, NoRepeat, NoUnknown, Plain, Ranking, Recorder, Rules, beam
from search_models import Look, TableStepper

RULES = Rules(longest=Length(offset=4), shortest=Length(offset=2), constraints=(NoUnknown(), NoRepeat(1)))


@pytest.mark.parametrize("width", [1, 2, 3, 50])
def test_the_tree_agrees_with_the_hypotheses(width: int) -> None:
    table = TableStepper(words=9, longest=4, lengths=[2, 3, 1], seed=width)
    recorder = Recorder()
    found = beam(table, table.source, width=width, n_best=width, rules=RULES, recorder=recorder)
    assert found == beam(table, table.source, width=width, n_best=width, rules=RULES)
    for sentence, best in enumerate(found):
        tree, look = recorder.tree(sentence), Look(table, sentence)
        ends = {tree.tokens(e): e for e in tree.expansions if e.fate in {"finished", "too long"}}
        assert set(ends) >= {h.tokens for h in best}
        assert [e.id for e in tree.expansions] == list(range(len(tree.expansions)))
        for h in best:
            assert h.is_finished == (ends[h.tokens].fate == "finished")
            assert ends[h.tokens].score == pytest.approx(h.score, abs=1e-6)
            assert ends[h.tokens].total == pytest.approx(h.log_prob, abs=1e-6)
        parents = {e.parent for e in tree.expansions}
        for e in tree.expansions:
            tokens = tree.tokens(e)
            assert len(tokens) == e.step
            assert e.log_prob == pytest.approx(look.token_log_probs(tokens)[-1], abs=1e-5)
            assert e.total == pytest.approx(look.log_prob(tokens), abs=1e-5)
            assert (e.id in parents) == (e.fate == "kept")
            assert e.is_kept == (e.fate in {"kept", "finished", "too long"})


def test_every_fate_is_told() -> None:
    table = TableStepper(words=8, longest=4, lengths=[2] * 30, seed=1)
    table.logits[:9, :, EOS] -= 9  # some would rather not end
    recorder = Recorder()
    beam(table, table.source, width=4, rules=RULES, ranking=Ranking(Plain()), recorder=recorder)
    fates = Counter()
    for sentence in range(30):
        tree = recorder.tree(sentence)
        for e in tree.expansions:
            fates[e.fate] += 1
            tokens = tree.tokens(e)
            assert (e.fate == "not a word") == (e.token in (PAD, BOS))
            assert (e.fate == "unknown word") == (e.token == UNK)
            assert (e.fate == "too short") == (tokens == (EOS,))
            assert (e.fate == "repeated") == (e.token in tokens[:-1] and e.token not in (PAD, BOS, UNK))
            assert (e.fate == "too long") <= (len(tokens) == 4 and e.token != EOS)
        for step in range(1, 5):
            by_rank = sorted((e for e in tree.expansions if e.step == step), key=lambda e: e.rank)
            assert [e.rank for e in by_rank] == list(range(len(by_rank)))
            allowed = [e for e in by_rank if e.is_kept or e.fate in {"beam full", "cannot win"}]
            assert allowed == by_rank[: len(allowed)]
            assert [e.total for e in allowed] == sorted((e.total for e in allowed), reverse=True)
            assert [e.fate == "beam full" for e in allowed] == [i >= 4 for i in range(len(allowed))]
    rules = {"not a word", "unknown word", "repeated", "too short"}
    assert set(fates) == {"kept", "finished", "too long", "beam full", "cannot win"} | rules


def test_what_the_prefix_rules_out_is_told() -> None:
    table = TableStepper(words=7, longest=4, lengths=[2], seed=1)
    recorder = Recorder()
    beam(table, table.source, width=3, prefix=[(UNK, 5)], rules=RULES, recorder=recorder)
    tree = recorder.tree()
    kept = [tree.tokens(e) for e in tree.expansions if e.fate == "kept" and e.step <= 2]
    assert kept == [(UNK,), (UNK, 5)]
    assert "not the prefix" in {e.fate for e in tree.expansions if e.step <= 2}


def test_a_tree_is_json() -> None:
    table = TableStepper(words=7, longest=4, lengths=[2], seed=1)
    recorder = Recorder()
    beam(table, table.source, width=2, rules=RULES, recorder=recorder)
    tree = json.loads(json.dumps(asdict(recorder.tree())))
    assert list(tree["expansions"][0]) == [
        "id", "parent", "step", "token", "log_prob", "total", "rank", "fate", "score"
    ]  # fmt: skip
    assert tree["expansions"][0]["parent"] is None
