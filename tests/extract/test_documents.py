"""Text that a user hands over says nothing in the user's name; the user's own words beside it do."""

from __future__ import annotations

import pytest

from benchmarks.handed_over import Payload, Wrapping, find_failure, find_lost_wishes, iterate_cases
from tokenmizer_mw.extract.documents import blank_out, find_documents

CASES = [case for case in iterate_cases(crossed=False) if case[1].name != "first_block"][::4]


@pytest.mark.parametrize(("payload", "wrapping", "reply", "start"), CASES)
def test_handed_over_text_says_nothing_for_the_user(
    payload: Payload, wrapping: Wrapping, reply: dict[str, str], start: list[dict[str, str]]
) -> None:
    assert find_failure(payload, wrapping, reply, start) is None


def test_own_words_beside_a_paste_are_read() -> None:
    assert find_lost_wishes() == []


def test_blanked_text_keeps_all_other_places() -> None:
    text = "Look: <doc>We use Redis.</doc> and we use Kafka."
    blank = blank_out(text, find_documents(text))
    assert len(blank) == len(text)
    assert "Redis" not in blank
    assert blank.index("Kafka") == text.index("Kafka")
