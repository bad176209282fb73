"""Sentences that were read before a block needs them."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.context.resume.sentences import (
    CHARACTERS_MAX,
    READ_MAX,
    PreparedSentences,
    message_sentences,
)
from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import HistoryRevised, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.session.transcript_edits import HistoryMessages

TALK = [
    Message(
        Role.USER if number % 2 else Role.ASSISTANT, f"Part {number} of the report is about topic{number} and costs."
    )
    for number in range(1, 41)
]
NUMBERED = list(enumerate(TALK, 1))


def sentences_of(count: int) -> PreparedSentences:
    found = PreparedSentences()
    for number, message in NUMBERED[:count]:
        found.prepare(number, message)
    return found


@pytest.mark.parametrize("count", [0, 17, 40])
def test_a_block_is_the_same_whatever_was_read_before(count: int) -> None:
    def block(**read: object) -> str:
        return build_resume(
            SessionGraph(), budget=300, counter=counter_for(""), nonce="0" * 16, transcript=NUMBERED, **read
        ).text

    assert block(read=sentences_of(count).read) == block()


def test_a_message_that_says_something_else_is_read_anew() -> None:
    found = sentences_of(3)
    other = Message(Role.USER, "Something else was said here in the end.")
    assert found.read(2, other) == message_sentences(2, other)
    assert found.read(2, TALK[1]) == message_sentences(2, TALK[1])


def test_the_oldest_give_way() -> None:
    found, long = PreparedSentences(), Message(Role.USER, "A sentence about the retry of jobs. " * 300)
    for number in range(1, 101):
        found.prepare(number, long)
        assert found.size <= CHARACTERS_MAX[Role.USER] + READ_MAX
    assert 100 in found
    assert 1 not in found


def test_a_cut_reads_the_sentences_of_new_messages_alone() -> None:
    read: list[int] = []

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is message_sentences.__code__:
            read.append(frame.f_locals["number"])

    said = [{"role": one.role.value, "content": f"{number}. {one.text}"} for number, one in enumerate(TALK * 3)]
    with SessionMemory.open("memory://", Settings(context_window=1_200, block_tokens=500)) as memory:
        memory.record("s", said[:20])
        assert memory.shorten("s", said[:21]) is None
        memory.record("s", said[:80])
        assert memory.flush(30)
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            fit = memory.shorten("s", [*said, {"role": "user", "content": "And the next part?"}])
        finally:
            sys.setprofile(before)
    assert fit is not None
    assert "about topic21 and costs" in fit.block
    assert read
    assert min(read) > 80


def test_a_forgotten_session_leaves_no_sentences() -> None:
    with SessionMemory.open("memory://", Settings(context_window=800, block_tokens=400)) as memory:
        said = [{"role": one.role.value, "content": one.text} for one in TALK]
        memory.record("s", said[:20])
        memory.shorten("s", said[:21])
        memory.record("s", said)
        assert memory.flush(30)
        told = memory.service.access.messages.at_hand(memory.service.access.key_of("s", "local"))
        assert told is not None
        assert 40 in told.prepared
        memory.forget("s")
        assert memory.service.access.messages.at_hand(memory.service.access.key_of("s", "local")) is None


def history_of(count: int) -> HistoryMessages:
    found = HistoryMessages()
    for number, message in NUMBERED[:count]:
        found.apply(Recorded(number, 0.0, MessageRecorded(number, str(number), message)))
    return found


def prepare_all(history: HistoryMessages) -> list[Message]:
    """Prepare the sentences of all messages in small steps. Returns the messages that were split."""
    split: list[Message] = []

    def clean(message: Message) -> Message:
        split.append(message)
        return message

    while history.prepare_sentences(clean, 200):
        pass
    return split


def test_a_new_message_is_prepared_without_a_look_at_the_others() -> None:
    history, looked = history_of(39), []

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "_characters":
            looked.append(frame.f_locals["message"])

    assert len(prepare_all(history)) == 39
    history.apply(Recorded(40, 0.0, MessageRecorded(40, "40", TALK[39])))
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        assert prepare_all(history) == [TALK[39]]
    finally:
        sys.setprofile(before)
    assert looked == [TALK[39]]


def test_messages_that_get_room_by_a_withdrawal_are_prepared() -> None:
    long = Message(Role.USER, "A sentence about the retry of jobs. " * 300)
    history = HistoryMessages()
    for number in range(1, 31):
        history.apply(Recorded(number, 0.0, MessageRecorded(number, str(number), long)))
    prepare_all(history)
    assert 5 not in history.prepared
    history.apply(Recorded(31, 0.0, HistoryRevised(tuple(range(10, 31)), ())))
    assert prepare_all(history)
    assert 5 in history.prepared
