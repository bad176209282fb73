"""Requests after a cut, with questions about what the cut took out: what the application sees, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, Recorded, Reminded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.safety.fence import PREAMBLE
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.store.memory import MemoryLog

from .driving import SESSION
from .recorded import said
from .test_cutting import _ask, _body, _history

WINDOW = 3_000
KEY = SessionKey(LOCAL_TENANT, SESSION)
ASKED = "Which timeout did we settle on for the invoice importer?"
SAID = "The invoice importer gets a timeout of 45 seconds, because the bank's gateway answers slowly on Mondays."
FENCE = "<session-record "
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "notes.txt"}'}}

OpenMemory = Callable[..., SessionMemory]


def _long(asked: Any = ASKED, turns: int = 40, first: str = SAID) -> list[dict[str, Any]]:
    system, *filler = _history(turns)[:-1]
    begins = [{"role": "user", "content": first}, {"role": "assistant", "content": "Noted."}]
    return [system, *begins, *filler, {"role": "user", "content": asked}]


def _messages(memory: SessionMemory, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    sent, _ = _ask(memory, _body(list(history)))
    messages = json.loads(sent)["messages"]
    assert isinstance(messages, list)
    return messages


def _reminders(log: MemoryLog) -> list[Reminded]:
    return [one.event for one in log.read(KEY) if isinstance(one.event, Reminded)]


def test_request_says_again_what_the_cut_took_out(open_memory: OpenMemory, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    newest = _messages(memory, _long())[-1]["content"]
    assert newest.startswith(f"{ASKED}\n\n{FENCE}")
    assert PREAMBLE in newest
    assert "[1 user]" in newest
    assert "45 seconds" in newest
    assert said(log)[-2] == ("user", ASKED)
    (event,) = _reminders(log)
    assert 1 in event.messages
    assert 0 < event.tokens <= memory.settings.reminder_tokens
    assert memory.counters()["reminder_sent"] == 1


def test_reminder_can_be_switched_off(open_memory: OpenMemory, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, reminder_tokens=0)
    assert _messages(memory, _long())[-1]["content"] == ASKED
    assert not _reminders(log)


def test_calls_of_one_turn_carry_the_same_bytes_and_the_next_turn_carries_none(
    open_memory: OpenMemory, log: MemoryLog
) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    history = _long()
    first, _ = _ask(memory, _body(history))
    history += [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    history += [{"role": "tool", "tool_call_id": "c1", "content": "It is in the notes."}]
    second, _ = _ask(memory, _body(history))
    assert second.startswith(first.removesuffix(b"]}"))
    assert json.loads(second)["messages"][-1] == history[-1]
    history += [{"role": "assistant", "content": "45 seconds."}, {"role": "user", "content": "Thanks a lot."}]
    third = _messages(memory, history)
    assert FENCE not in json.dumps(third[1:][2:])
    assert len(_reminders(log)) == 1


def test_reminder_that_a_client_sends_back_is_not_recorded(open_memory: OpenMemory, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    history = _long()
    newest = _messages(memory, history)[-1]
    echoed = [*history[:-1], newest, {"role": "assistant", "content": "45 seconds."}]
    _messages(memory, [*echoed, {"role": "user", "content": "And which table holds the orders?"}])
    assert not [text for _, text in said(log) if FENCE in text]
    assert [text for _, text in said(log)].count(ASKED) == 1


def test_tool_result_that_names_what_was_removed_gets_a_reminder(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    history = _long("Go on with the work, please.", first="We begin with the orders.")
    history[4:4] = [
        {"role": "user", "content": "Look at the configuration, too."},
        {"role": "assistant", "content": "The configuration has retry_budget_ms with 4500, since the outage in May."},
    ]
    assert FENCE not in _messages(memory, history)[-1]["content"]
    history += [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    history += [{"role": "tool", "tool_call_id": "c1", "content": "KeyError: retry_budget_ms"}]
    result = _messages(memory, history)[-1]
    assert result["tool_call_id"] == "c1"
    assert result["content"].startswith(f"KeyError: retry_budget_ms\n\n{FENCE}")
    assert "4500" in result["content"]


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize(
    ("asked", "counter"),
    [
        ("", "reminder_nothing_relevant"),
        ("Thanks.", "reminder_nothing_relevant"),
        ("Add a translator to the museum portal.", "reminder_nothing_relevant"),
        ("Où avons-nous rangé le parapluie rouge ?", "reminder_nothing_relevant"),
        ([IMAGE], "reminder_no"),
        ([], "reminder_nothing_relevant"),
        ("Zug " * 50_000, "reminder_no_room"),
    ],
    ids=["empty", "thanks", "new work", "another language", "image", "no parts", "200 kB"],
)
def test_message_that_asks_for_nothing_goes_on_as_it_is(
    asked: Any, counter: str, open_memory: OpenMemory, log: MemoryLog
) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    newest = _messages(memory, _long(asked))[-1]
    assert newest == {"role": "user", "content": asked}
    assert not _reminders(log)
    assert any(name.startswith(counter) for name in memory.counters()), memory.counters()


def test_long_question_is_ranked_by_its_start_and_its_end(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=30_000, block_tokens=80)
    newest = _messages(memory, _long("lorem ipsum " * 3_000 + ASKED, turns=300))[-1]["content"]
    assert "45 seconds" in newest[-3_000:]
    assert memory.counters()["reminder_question_shortened"] == 1


def _pasted(pages: int, asked: str) -> list[dict[str, Any]]:
    """A history with long pastes, 8,000 characters each."""
    system, first, noted, *_ = _long(turns=1)
    history = [system, first, noted]
    for page in range(pages):
        history += [{"role": "user", "content": f"Page {page}:\n" + f"{page} of orders, " * 620}]
        history += [{"role": "assistant", "content": f"I have page {page}."}]
    return [*history, {"role": "user", "content": asked}]


def test_long_session_is_indexed_before_a_cut_needs_it(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=95_000, block_tokens=80)
    for pages in (20, 24):
        _messages(memory, _pasted(pages, "Go on, please."))
    assert "cut_made" not in memory.counters()
    newest = _messages(memory, _pasted(34, ASKED))[-1]["content"]
    assert memory.counters()["cut_made"] == 1
    assert "45 seconds" in newest
    assert "reminder_index_late" not in memory.counters()


def test_index_grows_by_as_much_as_is_asked_for() -> None:
    told = HistoryMessages()
    for number in range(1, 11):
        message = Message(Role.USER, f"Page {number} of the orders. " * 40)
        told.apply(Recorded(number, 0.0, MessageRecorded(number, "0" * 32, message)))
    whole, sizes = told.unindexed, []
    while told.unindexed:
        sizes.append(told.unindexed)
        told.passages(lambda message: message, 1_000, most=whole // 5)
    assert len(sizes) == 4
    assert told.passages(lambda message: message, 1_000).last == 10


def test_long_session_that_nobody_knew_is_indexed_behind_the_request(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=60_000, block_tokens=80)
    history = _pasted(34, ASKED)
    assert _messages(memory, history)[-1]["content"] == ASKED
    assert memory.counters()["reminder_index_late"] == 1
    history += [{"role": "assistant", "content": "I will look."}, {"role": "user", "content": f"So: {ASKED}"}]
    assert "45 seconds" in _messages(memory, history)[-1]["content"]


@pytest.mark.parametrize("budget", [1, 30])
def test_budget_below_the_fence_gives_no_reminder(budget: int, open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=WINDOW, reminder_tokens=budget)
    assert _messages(memory, _long())[-1]["content"] == ASKED
    assert memory.counters()["reminder_nothing_relevant"] == 1


def test_session_of_one_message_has_nothing_to_be_reminded_of(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=WINDOW)
    history = [{"role": "user", "content": "words " * 4_000}]
    assert _messages(memory, history) == history


def test_reminder_that_fails_leaves_the_cut(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=WINDOW)
    memory.service.reminders.remind = None  # calling it fails; no request is known that breaks a reminder
    history = _long()
    sent = _messages(memory, history)
    assert sent[-1] == history[-1]
    assert len(sent) < len(history)
    assert memory.counters()["reminder_failed"] == 1


def test_reminders_stay_where_a_cache_serves_whole_requests_only(open_memory: OpenMemory, log: MemoryLog) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    history = _long()

    def sent() -> bytes:
        body, _ = _ask(memory, _body(history, model="gpt-5.6"))
        return body

    first = sent()
    assert FENCE in json.loads(first)["messages"][-1]["content"]
    for asked in ("Thanks a lot.", "And why did we settle on that timeout for the importer?"):
        history += [{"role": "assistant", "content": "45 seconds."}, {"role": "user", "content": asked}]
        second = sent()
        assert second.startswith(first.removesuffix(b"}]}").removesuffix(b'"'))
        first = second
    assert memory.counters()["cut_made"] == 1


def test_reminders_that_stay_go_together_when_they_take_too_much_of_the_window(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80)
    counter = counter_for("gpt-5.6")
    history, carried = _long(), []
    for turn in range(14):
        body, _ = _ask(memory, _body(history, model="gpt-5.6"))
        texts = [message["content"] for message in json.loads(body)["messages"]]
        assert sum(map(counter.count, texts)) <= WINDOW
        carried.append(sum(text.count(FENCE) for text in texts) - 1)  # the block has a fence, too
        asked = f"And which timeout did we settle on for the invoice importer, in case {turn}?"
        history += [{"role": "assistant", "content": "45 seconds."}, {"role": "user", "content": asked}]
    assert memory.counters()["cut_made"] == 1
    assert carried[:3] == [1, 2, 3]
    assert 1 in carried[3:]


def test_reminder_that_would_make_a_request_longer_is_neither_sent_nor_counted(open_memory: OpenMemory) -> None:
    memory = open_memory(context_window=WINDOW, block_tokens=80, cut_at=0.8, cut_to=0.78)
    history, sent = _long(turns=30), []
    for turn in range(6):
        texts = [str(one["content"]) for one in _messages_of("gpt-5.6", memory, history)]
        sent.append(sum(FENCE in text for text in texts) > 1)  # the block has a fence, too
        asked = f"And which timeout did we settle on for the invoice importer, in case {turn}?"
        history += [{"role": "assistant", "content": "45 seconds."}, {"role": "user", "content": asked}]
    assert memory.counters()["cut_made"]
    assert False in sent
    assert memory.counters()["reminder_sent"] == sum(sent) > 0


def _messages_of(model: str, memory: SessionMemory, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    body, _ = _ask(memory, _body(list(history), model=model))
    messages = json.loads(body)["messages"]
    assert isinstance(messages, list)
    return messages
