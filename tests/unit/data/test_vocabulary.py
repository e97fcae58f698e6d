import json
from typing import Any

import pytest

from regard.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary
from regard.errors import RegardError


def test_special_tokens_come_first_then_the_frequent_then_the_alphabet() -> None:
    vocabulary = Vocabulary.build({"rennt": 2, "Mann": 2, "der": 5, "selten": 1}, minimum_count=2)
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert vocabulary.tokens == ("<pad>", "<unk>", "<s>", "</s>", "der", "Mann", "rennt")
    assert len(vocabulary) == 7
    assert vocabulary.encode(["rennt", "selten", "der"]) == [6, UNK, 4]
    assert vocabulary.decode([4, EOS, UNK]) == ["der", "</s>", "<unk>"]


def test_text_that_reads_like_a_special_token_is_unknown() -> None:
    vocabulary = Vocabulary.build({"</s>": 9, "a": 1})
    assert vocabulary.tokens == (*SPECIALS, "a")
    assert vocabulary.encode([*SPECIALS, "a"]) == [UNK, UNK, UNK, UNK, 4]


def test_json_gives_the_vocabulary_back() -> None:
    vocabulary = Vocabulary.build({"ä": 1, "\u2028": 1, '"': 3})
    assert Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json()))) == vocabulary


@pytest.mark.parametrize(
    "values", [[], {}, {"tokens": ["a"]}, {"tokens": [*SPECIALS, "a", "a"]}, {"tokens": [*SPECIALS, 4]}]
)
def test_other_json_is_refused(values: Any) -> None:
    with pytest.raises(RegardError) as caught:
        Vocabulary.from_json(values)
    assert str(caught.value) == "Not a vocabulary: want distinct tokens that begin with <pad> <unk> <s> </s>."
