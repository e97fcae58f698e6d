import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RegardError
from regard.metrics.signature import Signature, comparable

KEYS = st.from_regex(r"[a-z0-9_]+", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\n"), min_size=1)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_what_is_written_is_read_back(values):
    signature = Signature(tuple(values.items()))
    assert Signature.parse(str(signature)) == signature
    assert comparable(signature, signature) is None


def test_it_is_one_line_in_the_order_given():
    signature = Signature.of(split="test", search="beam5", note=None, seed=1) + Signature.of(regard="0.1.0")
    assert str(signature) == "split:test|search:beam5|seed:1|regard:0.1.0"
    assert signature.get("seed") == "1"
    assert signature.get("note") is None
    assert str(signature.without("search", "seed")) == "split:test|regard:0.1.0"


def test_values_may_hold_colons_and_nothing_is_an_empty_line():
    assert Signature.parse("corpus:files:de-en|nrefs:1").get("corpus") == "files:de-en"
    assert Signature.parse("") == Signature()
    assert str(Signature()) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("split", "Signature: got 'split:', want key:value without '|'."),
        ("Split:test", "Signature: got 'Split:test', want key:value without '|'."),
        ("a:1||b:2", "Signature: got ':', want key:value without '|'."),
        ("a:1\n2", r"Signature: got 'a:1\n2', want key:value without '|'."),
        ("a:1|b:2|a:3", "Signature: got a key twice in 'a:1|b:2|a:3', want each key once."),
    ],
)
def test_what_is_no_signature_is_refused(text, message):
    with pytest.raises(RegardError) as error:
        Signature.parse(text)
    assert str(error.value) == message


def test_a_bar_in_a_value_is_refused():
    with pytest.raises(RegardError, match=r"^Signature: got 'split:a\|b', want key:value without '\|'\.$"):
        Signature.of(split="a|b")


BASE = "metric:bleu|case:mixed|tok:13a|version:2.6.0|split:test|corpus:ab12|search:beam5|seed:1|regard:0.1.0"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("metric:bleu", "metric:ter", "different metric (bleu and ter)"),
        ("case:mixed", "case:lc", "different letter case (mixed and lc)"),
        ("tok:13a", "tok:split_words", "different tokenisation (13a and split_words)"),
        ("split:test", "split:validation", "different split (test and validation)"),
        ("corpus:ab12", "corpus:cd34", "different corpus (ab12 and cd34)"),
        ("version:2.6.0", "version:2.4.0", "different version of sacrebleu (2.6.0 and 2.4.0)"),
        ("|corpus:ab12", "", "different corpus (ab12 and not given)"),
        ("search:beam5", "tokens:word-9|search:beam5", "different vocabulary (not given and word-9)"),
        ("search:beam5", "bucket:up to 5|search:beam5", "different bucket (not given and up to 5)"),
    ],
)
def test_unlike_scores_are_told_apart(old, new, reason):
    assert comparable(Signature.parse(BASE), Signature.parse(BASE.replace(old, new))) == reason


def test_every_reason_is_told():
    other = BASE.replace("metric:bleu", "metric:bleu_lc").replace("case:mixed", "case:lc")
    want = "different metric (bleu and bleu_lc); different letter case (mixed and lc)"
    assert comparable(Signature.parse(BASE), Signature.parse(other)) == want


@pytest.mark.parametrize("change", [("beam5", "greedy"), ("seed:1", "seed:2"), ("regard:0.1.0", "run:a|regard:0.2.0")])
def test_what_a_table_compares_may_differ(change):
    assert comparable(Signature.parse(BASE), Signature.parse(BASE.replace(*change))) is None


def test_the_order_of_keys_does_not_count():
    backwards = "|".join(reversed(BASE.split("|")))
    assert comparable(Signature.parse(BASE), Signature.parse(backwards)) is None
