"""Words with which people change something."""

from __future__ import annotations

import re

import pytest

from tokenmizer_mw.extract.rules.change_words import CHANGES, EXPLICIT, PERMITS, RECONSIDERS
from tokenmizer_mw.extract.score.contrast import has_change_words


@pytest.mark.parametrize("sentence", ["the salary band goes up to 46", "groceries go up to 750"])
def test_what_goes_up_to_a_value_changes(sentence: str) -> None:
    assert has_change_words(sentence)


@pytest.mark.parametrize("sentence", ["the road goes uphill", "up to 46 guests", "we go up the hill"])
def test_what_only_has_one_of_the_words(sentence: str) -> None:
    assert not has_change_words(sentence)


def test_no_pattern_has_words_twice_in_a_row() -> None:
    doubled = re.compile(r"\b(\w+(?: \w+)*) \1\b")
    assert [pattern for pattern in (*CHANGES, *EXPLICIT, *RECONSIDERS, *PERMITS) if doubled.search(pattern)] == []
