"""Generated conversations in every dialect: what a cut must never split, and the prefix that stays between two cuts."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.conversations import CLOSE, WRITERS, Answered, Asked, Called, Client, Item, Returned, Written
from benchmarks.dialects import REPLIES
from benchmarks.windows import FAULTS, Sent, conversations, dialects, faults, prefix_reuse
from tests.sampling import sample
from tokenmizer_mw.model.message import Outcome, Role

DIALECTS = dialects()
CONVERSATIONS = range(60)


def test_every_dialect_has_a_writer() -> None:
    assert DIALECTS.keys() == WRITERS.keys() == REPLIES.keys()


@pytest.mark.parametrize("name", sample(list(DIALECTS), 2))
def test_no_cut_splits_what_belongs_together(name: str) -> None:
    found = conversations(DIALECTS[name], WRITERS[name], CONVERSATIONS)
    assert {fault: found[fault] for fault in FAULTS} == dict.fromkeys(FAULTS, 0)
    assert found["cuts"] > len(CONVERSATIONS) / 10
    assert found["shortened"] > found["cuts"]


@pytest.mark.parametrize("name", sample(list(DIALECTS), 2))
def test_between_two_cuts_every_call_begins_with_the_one_before(name: str) -> None:
    found = prefix_reuse(DIALECTS[name], WRITERS[name], 60)
    assert found["reused_percent"] == 100.0
    assert found["cuts"] >= 3
    assert found["shortened"] > found["calls"] / 2


@pytest.mark.parametrize("name", sample(list(DIALECTS), 2))
def test_writers_spell_what_the_dialect_reads(name: str) -> None:
    items = _history(seed=1)
    written = WRITERS[name].write(items)
    messages = DIALECTS[name].read(written.body, path=WRITERS[name].path).messages
    calls = [call.name for message in messages for call in message.tool_calls]
    results = sum(len(message.tool_results) for message in messages)
    assert len(calls) == results > 3
    assert any(message.thinking for message in messages)
    assert {message.role for message in messages} >= {Role.USER, Role.ASSISTANT, Role.TOOL}


@pytest.mark.parametrize("name", sample(list(DIALECTS), 2))
def test_answers_of_the_benchmark_are_whole(name: str) -> None:
    reply = DIALECTS[name].collect(b"".join(REPLIES[name].pieces), stream=True)
    assert reply.outcome is Outcome.COMPLETE
    assert reply.message is not None
    assert reply.message.text


def _history(seed: int) -> tuple[Item, ...]:
    *_, last = Client(random.Random(seed)).calls(12)
    return last


# -- the checks find what is wrong -----------------------------------------------------------------------------

BLOCK = "what was said before"


def _cut_at(written: Written, place: int, head: str = f'{{"role": "user", "content": "{BLOCK}"}}') -> bytes:
    """A request that is cut before the element at ``place``, whatever that is."""
    start = written.body.index(written.elements[0].encode())
    return written.body[:start] + ", ".join([head, *written.elements[place:]]).encode() + CLOSE


def _found(body: bytes, written: Written, items: tuple[Item, ...]) -> Counter[str]:
    return +faults(WRITERS["openai_chat"], written, items, Sent(body, BLOCK, True))


CALLS = (Called("a", "read_file", {"path": "x"}), Called("b", "read_file", {"path": "y"}))
RETURNED = Returned(((CALLS[0], "one"), (CALLS[1], "two")))
ITEMS: tuple[Item, ...] = (
    Asked("first, and at some length"),
    Answered("", "think", CALLS),
    RETURNED,
    Answered("done"),
    Asked("second"),
    Answered("", calls=CALLS),
    RETURNED,
    Answered("done again"),
)
RIGHT = 5
"""The element with which the second turn begins."""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (1, {"split thinking turns"}),
        (2, {"split thinking turns", "orphaned tool results", "leading tool results"}),
        (3, {"split thinking turns", "orphaned tool results", "leading tool results"}),
        (4, {"split thinking turns"}),
        (RIGHT, set()),
        (6, {"lost newest user messages"}),
        (7, {"lost newest user messages", "orphaned tool results", "leading tool results"}),
        (9, {"lost newest user messages"}),
    ],
)
def test_checks_find_what_a_wrong_cut_splits(place: int, expected: set[str]) -> None:
    written = WRITERS["openai_chat"].write(ITEMS)
    assert set(_found(_cut_at(written, place), written, ITEMS)) == expected


def test_checks_find_bytes_that_changed() -> None:
    items, written = ITEMS, WRITERS["openai_chat"].write(ITEMS)
    good = _cut_at(written, RIGHT)
    assert _found(good, written, items) == Counter()
    foreign = {"bytes that are not the client's": 1}
    assert _found(good.replace(b'"gpt-4o"', b'"gpt-4"'), written, items) == foreign
    assert _found(good.replace(b"second", b"seconds"), written, items) == foreign
    assert _found(good + b" ", written, items) == foreign
    assert _found(_cut_at(written, RIGHT, '{"role": "user", "content": "else"}'), written, items) == foreign
    longer = _cut_at(written, 1, f'{{"role": "user", "content": "{BLOCK}", "x": "{"y" * len(written.body)}"}}')
    assert _found(longer, written, items)["outputs larger than inputs"] == 1
