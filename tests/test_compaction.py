"""A client compacts its chat by itself: the block is put in front of its new history, once, and stays there."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from benchmarks.conversations import WRITERS, Answered, Asked, Item
from benchmarks.windows import dialects
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.model.event import Checkpointed, Reminded
from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.safety.fence import own_blocks
from tokenmizer_mw.session.reminder.content import HEAD
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.wire.dialect import Reply

SUMMARY = (
    "The user builds a shop in parts. The orders are kept in PostgreSQL, one row each, and part seven is in work. "
    "What is left: the tests of the payment, the page of the cart, a report for the warehouse. The user wants no "
    "part to be skipped, and asked for a list of open questions at the end of each part. Nothing of it is deployed "
    "yet; the machine for that comes next month, together with a second one for the warehouse and its scanners."
)
NOTICE = f"This session is being continued from a previous conversation that was too long.\n\nSummary:\n{SUMMARY}"
KEY = SessionKey(LOCAL_TENANT, "s")
OLD: list[Item] = [
    each
    for number in range(12)
    for each in (
        Asked(f"Use PostgreSQL for part {number}. Never skip a test of part {number}. " + "Mind the orders. " * 30),
        Answered(f"Part {number} is done. " + "It keeps the orders sorted. " * 20),
    )
]


class Chat:
    """One session in one dialect, as the middleware carries it."""

    def __init__(self, dialect: str, settings: Settings | None = None) -> None:
        self.log = MemoryLog()
        self.settings = settings or Settings()
        self.memory = SessionMemory(self.log, self.settings)
        self._writer, self._dialect = WRITERS[dialect], dialects()[dialect]

    def restart(self) -> None:
        """Another process goes on with the same store."""
        self.memory = SessionMemory(self.log, self.settings)

    def send(self, items: Sequence[Item], *, tools: str = "", answer: str = "") -> str:
        """What the model is sent of a request with these messages, which it answers with ``answer``."""
        body = self._writer.write(items).body
        if tools:
            body = json.dumps({**json.loads(body), "tools": [{"name": tools}]}, ensure_ascii=False).encode()
        opened = open_exchange(self._dialect, (), body, self.settings, path=self._writer.path, session_id=KEY.id)
        assert self.memory.service.prepare(opened)
        self.memory.service.commit(opened, last=True)
        reply = Reply(Message(Role.ASSISTANT, answer), Outcome.COMPLETE) if answer else None
        self.memory.service.turns.commit_turn(KEY, opened.request.messages, reply)
        assert opened.forwarded is not None
        return opened.forwarded.decode()

    def blocks(self, sent: str) -> list[str]:
        """The blocks in what was sent, without reminders."""
        return [block for block in self._fenced(sent) if HEAD not in block]

    def reminders(self, sent: str) -> list[str]:
        """The reminders in what was sent."""
        return [block for block in self._fenced(sent) if HEAD in block]

    def _fenced(self, sent: str) -> list[str]:
        text = "\n".join(_strings(json.loads(sent)))
        return [text[start:end] for start, end in own_blocks(text, self.log.secret())]

    def handed_back(self) -> int:
        events = [item.event for item in self.log.read(KEY)]
        return sum(isinstance(event, Checkpointed) and event.anchor != "" and not event.dropped for event in events)


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for member in value for text in _strings(member)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("dialect", dialects())
def test_the_block_is_handed_back_once_and_stays_where_it_is(dialect: str) -> None:
    chat = Chat(dialect)
    assert not chat.blocks(chat.send(OLD))
    new: list[Item] = [Asked(f"{NOTICE}\n\nNow do part 12.")]
    sent = [chat.send(new)]
    for number in range(3):
        new += [Answered(f"Part 1{number} is done."), Asked("Go on.")]
        sent.append(chat.send(new))
    blocks = [chat.blocks(each) for each in sent]
    assert [len(each) for each in blocks] == [1, 1, 1, 1]
    assert len({each[0] for each in blocks}) == 1
    assert "PostgreSQL" in blocks[0][0]
    assert SUMMARY[:40] in sent[0].partition("</session-record")[2]
    assert chat.handed_back() == 1
    start = sent[1].index("Part 10 is done")
    assert sent[2][: start - 60] == sent[1][: start - 60]


@pytest.mark.parametrize("kept", [1, 3])
@pytest.mark.parametrize("dialect", dialects())
def test_messages_that_a_client_keeps_behind_its_summary_are_recorded_once(dialect: str, kept: int) -> None:
    chat = Chat(dialect)
    chat.send([*OLD[:-1]], answer=OLD[-1].text)
    new: list[Item] = [Asked(NOTICE), *OLD[-kept:]]
    blocks = []
    for number in range(4):
        if number == 2:
            chat.restart()
        new.append(Asked(f"Now do part {number + 20}."))
        blocks.append(chat.blocks(chat.send(new, answer=f"Part {number + 20} is done.")))
        new.append(Answered(f"Part {number + 20} is done."))
    said = [written.message.text for written in chat.memory.messages("s")]
    assert said[: len(OLD)] == [item.text for item in OLD]
    assert said[len(OLD) :] == [NOTICE, *(item.text for item in new[kept + 1 :])]
    assert [len(each) for each in blocks] == [1, 1, 1, 1]
    assert len({each[0] for each in blocks}) == 1
    assert chat.handed_back() == 1


COURIER = "The courier of the orders is called Hermine and drives a green van."
WHO = "Who is the courier of the orders, and what does she drive?"


@pytest.mark.parametrize("dialect", dialects())
def test_what_the_summary_left_out_comes_back_with_the_question_for_it(dialect: str) -> None:
    chat = Chat(dialect, Settings(block_tokens=64))
    old = [*OLD[:2], Asked("Who brings them?"), Answered(COURIER), *OLD[2:], Asked("Go on, please.")]
    chat.send(old)
    new: list[Item] = [Asked(NOTICE)]
    assert len(chat.blocks(chat.send(new))) == 1
    assert chat.memory.counters()["reminder_no_question"] == 1
    asked = [*new, Answered("Yes."), Asked(WHO)]
    (reminder,) = chat.reminders(chat.send(asked))
    assert "green van" in reminder
    third = chat.send([*asked, Answered("Hermine."), Asked("Thanks.")])
    assert len(chat.blocks(third)) == 1
    assert not chat.reminders(third)
    events = [item.event for item in chat.log.read(KEY)]
    (event,) = (event for event in events if isinstance(event, Reminded))
    assert 4 in event.messages


def test_after_the_next_compaction_it_is_handed_back_again() -> None:
    chat = Chat("anthropic")
    chat.send(OLD)
    first = chat.blocks(chat.send([Asked(NOTICE)]))
    grown: list[Item] = [Asked(NOTICE), Answered("Done."), *OLD[:8], Asked("Use Redis for the cart.")]
    chat.send(grown)
    second = chat.blocks(chat.send([Asked(f"{NOTICE} The cart is done."), Answered("Yes."), Asked("Go on.")]))
    assert len(first) == len(second) == 1
    assert first != second
    assert chat.handed_back() == 2


def test_another_process_finds_the_block() -> None:
    chat = Chat("openai_chat")
    chat.send(OLD)
    first = chat.send([Asked(NOTICE)])
    chat.restart()
    again = chat.send([Asked(NOTICE), Answered("Done."), Asked("Go on.")])
    assert chat.blocks(first) == chat.blocks(again) != []


def test_a_summary_that_the_session_has_as_a_reply_is_known_without_a_notice() -> None:
    chat = Chat("openai_chat")
    chat.send([*OLD, Asked("Please write down where we are.")], answer=SUMMARY)
    lines = SUMMARY.replace(". ", ".\n")
    sent = chat.send([Asked(f"Where we are:\n{lines}"), Answered("I see."), Asked("Go on.")])
    assert len(chat.blocks(sent)) == 1


NOT_COMPACTED: dict[str, tuple[list[Item], str]] = {
    "a new short chat": ([Asked("What is a monad?")], ""),
    "a new chat that quotes a sentence": ([Asked(f"What did you mean by this: {SUMMARY[40:110]}?")], ""),
    "the same chat, trimmed": ([*OLD[-4:], Asked("Go on.")], ""),
    "a subagent with other tools": ([Asked(NOTICE)], "search"),
    "a session of its own": ([], ""),
}


@pytest.mark.parametrize(("items", "tools"), NOT_COMPACTED.values(), ids=NOT_COMPACTED)
def test_other_short_requests_stay_as_they_are(items: list[Item], tools: str) -> None:
    chat = Chat("openai_chat")
    if items:
        chat.send(OLD, answer=SUMMARY)
    sent = chat.send(items or [Asked(NOTICE)], tools=tools)
    assert not chat.blocks(sent)
    assert chat.handed_back() == 0


def test_a_side_call_gets_no_block_and_the_chat_keeps_its_own() -> None:
    chat = Chat("anthropic")
    chat.send(OLD)
    first = chat.blocks(chat.send([Asked(NOTICE)]))
    prompt = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to summarize."
    assert not chat.blocks(chat.send([Asked(f"{NOTICE}\n\nx"), Answered("Done."), Asked(prompt)]))
    assert chat.blocks(chat.send([Asked(NOTICE), Answered("Done."), Asked("Go on.")])) == first
    assert chat.handed_back() == 1


def test_a_request_never_grows_above_its_window() -> None:
    """A chat that is handed its block back fills the window slowly: it is cut before the block makes it too long."""
    chat = Chat("openai_chat", Settings(context_window=3_000, block_tokens=200))
    for end in range(2, len(OLD), 2):
        chat.send(OLD[: end - 1])
    items: list[Item] = [Asked(NOTICE)]
    seen = []
    for number in range(40):
        sent = chat.send(items)
        seen.append(len(chat.blocks(sent)))
        assert len(sent) < 3_000 * 4.5
        items += [Answered(f"Part {number} is in work. " * 12), Asked(f"Mind the orders of part {number}. " * 8)]
    assert set(seen) <= {1, 2}  # a reminder may follow the newest message
    assert chat.handed_back() == 1
    assert chat.memory.counters()["cut_made"] >= 1


def test_a_compacted_chat_that_fills_the_window_gets_no_block() -> None:
    chat = Chat("openai_chat", Settings(context_window=3_000, block_tokens=200))
    for end in range(2, len(OLD), 2):
        chat.send(OLD[: end - 1])
    assert not chat.blocks(chat.send([Asked(NOTICE + " It keeps the orders in one table." * 450)]))
    assert chat.handed_back() == 0
