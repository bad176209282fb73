"""Reminders in chats of a host that sends its requests itself: ``shorten``, ``context`` and ``remind``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.assembly import Shortened
from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.safety.fence import PREAMBLE

WINDOW = 2_000
COURIER = "The courier of the parcels is called Hermine and drives a green van."
ASKED = "Who is the courier of the parcels, and what does she drive?"


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def chat(*, turns: int = 30) -> list[Message]:
    begin = [user("We begin with the orders."), assistant("Good."), user("Who brings the parcels?"), assistant(COURIER)]
    work = [m for at in range(turns) for m in (user(f"Part {at} is in work. " * 6), assistant("Well. " * 30))]
    return [*begin, *work]


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    with_settings = SessionMemory.open("memory://", Settings(context_window=WINDOW, block_tokens=80))
    yield with_settings
    with_settings.close()


def reminded(memory: SessionMemory) -> list[Reminded]:
    events = memory.log.read(SessionKey(LOCAL_TENANT, "s"))
    return [one.event for one in events if isinstance(one.event, Reminded)]


def behind(fit: Shortened | None, place: int) -> str:
    assert fit is not None
    return fit.reminder.text_behind(place) if fit.reminder is not None else ""


def test_newest_message_gets_what_was_left_out(memory: SessionMemory) -> None:
    asked = [*chat(), user(ASKED)]
    fit = memory.shorten("s", asked)
    text = behind(fit, len(asked) - 1)
    assert PREAMBLE in text
    assert "green van" in text
    assert "[4 assistant]" in text
    assert fit is not None
    assert fit.reminder is not None
    assert 0 < fit.reminder.tokens <= memory.settings.reminder_tokens


def test_calls_of_a_turn_carry_the_same_and_it_is_on_record_once(memory: SessionMemory) -> None:
    asked = [*chat(), user(ASKED)]
    first = behind(memory.shorten("s", asked), len(asked) - 1)
    call = Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "look", "{}"),))
    looked = [*asked, call, Message(Role.TOOL, tool_results=(ToolResult("c1", "Nothing new."),))]
    memory.record("s", looked)
    assert behind(memory.shorten("s", looked), len(asked) - 1) == first
    memory.record("s", [*looked, assistant("Hermine.")])
    (event,) = reminded(memory)
    assert event.turn == len(looked)
    assert 4 in event.messages


def test_reminder_tells_nothing_that_was_withdrawn(memory: SessionMemory) -> None:
    works = ("queue", "sessions", "orders", "search", "parcels", "invoices", "returns", "customers", "reports", "stock")
    decided = [user(f"Use Tool{at} for the {work} of the shop. It is known here.") for at, work in enumerate(works)]
    said = [*decided, *chat()]

    def told(at: int, question: str) -> str:
        fit = memory.shorten("s", [*said, user(f"{question} for the {works[at]} of the shop?")])
        assert fit is not None
        return fit.block + behind(fit, len(said))

    block = memory.shorten("s", said)
    assert block is not None
    at = next(at for at in range(len(works)) if f"Tool{at}" not in block.block)
    assert f"Tool{at}" in told(at, "Which tool did we choose")
    memory.invalidate("s", f"Tool{at}", "misread", never_true=True)
    assert f"Tool{at}" not in told(at, "Which tool was chosen")


def test_reminder_that_comes_back_is_not_recorded(memory: SessionMemory) -> None:
    asked = [*chat(), user(ASKED)]
    text = behind(memory.shorten("s", asked), len(asked) - 1)
    memory.record("s", [*asked[:-1], user(f"{ASKED}\n\n{text}"), assistant("Hermine.")])
    memory.add("s", [Written(user(f"Thanks.\n\n{text}"))])
    assert [one.message.text for one in memory.messages("s")][-3:-1] == [ASKED, "Hermine."]
    assert "green van" not in memory.resume("s", budget=2_000, query="van").text.replace(COURIER, "")


def test_question_that_is_asked_next_has_a_place_behind_the_chat(memory: SessionMemory) -> None:
    said = chat()
    plain, asked = memory.shorten("s", said), memory.shorten("s", said, question=ASKED)
    assert plain is not None
    assert plain.reminder is None
    assert "green van" in behind(asked, len(said))
    assert memory.shorten("s", [*said, user(ASKED)], question=ASKED) == memory.shorten("s", [*said, user(ASKED)])


def test_context_counts_its_reminder_and_stays_within_the_limit(memory: SessionMemory) -> None:
    memory.add("s", [Written(message) for message in [*chat(), user(ASKED)]])
    for limit in range(200, 2_000, 150):
        context = memory.context("s", limit=limit)
        assert context.tokens <= limit
        if context.reminder is not None:
            assert context.reminder.text_behind(len(context.recent) - 1)
    assert "green van" in _text(memory.context("s", limit=1_500))
    asked = memory.context("s", limit=1_500, question="Which van does the courier of the parcels drive?")
    assert asked.reminder is not None
    assert "green van" in asked.reminder.text_behind(len(asked.recent))


def _text(context: Any) -> str:
    return context.reminder.text_behind(len(context.recent) - 1) if context.reminder is not None else ""


IMAGE = replace(user(""), attachments=("image",))


@pytest.mark.parametrize(
    "newest",
    [
        user(""),
        user("Thanks."),
        user("Add a translator to the museum portal."),
        user("Où avons-nous rangé le parapluie rouge ?"),
        IMAGE,
        user("Zug " * 50_000),
        Message(Role.TOOL, tool_results=(ToolResult("c9", "green van"),)),
    ],
    ids=["empty", "thanks", "new work", "another language", "image", "200 kB", "result of no call"],
)
def test_message_that_asks_for_nothing_goes_on_as_it_is(newest: Message, memory: SessionMemory) -> None:
    asked = [*chat(), newest]
    fit = memory.shorten("s", asked)
    assert behind(fit, len(asked) - 1) == ""
    memory.record("s", [*asked, assistant("Well.")])
    assert not reminded(memory)


@pytest.mark.parametrize("messages", [[], [user("words " * 4_000)]], ids=["none", "one"])
def test_session_of_at_most_one_message_has_no_reminder(messages: list[Message], memory: SessionMemory) -> None:
    fit = memory.shorten("s", messages, question=ASKED)
    assert fit is None or fit.reminder is None
    memory.record("s", messages)
    assert not messages or memory.remind("s", ASKED).text == ""


@pytest.mark.parametrize("budget", [0, 1, 30])
def test_budget_below_the_fence_gives_none(budget: int) -> None:
    memory = SessionMemory.open("memory://", Settings(context_window=WINDOW, reminder_tokens=budget))
    asked = [*chat(), user(ASKED)]
    assert behind(memory.shorten("s", asked), len(asked) - 1) == ""
    assert memory.remind("s", ASKED, budget=budget).text == ""
    assert memory.remind("s", ASKED).text == ""


def test_reminder_beside_a_block_tells_what_the_block_does_not(memory: SessionMemory) -> None:
    memory.record("s", chat())
    resume = memory.resume("s", budget=64)
    reminder = memory.remind("s", ASKED, beside=resume)
    assert "green van" in reminder.text
    assert 4 in reminder.turns
    assert memory.remind("s", ASKED, beside=resume, before=3).text == ""
    full = memory.resume("s", budget=600, query=ASKED)
    assert "green van" in full.text
    assert "green van" not in memory.remind("s", ASKED, beside=full).text
    assert reminded(memory) == []
    memory.record("s", [*chat(), user(ASKED), assistant("Hermine.")])
    assert reminded(memory)[0].messages == reminder.turns
    assert reminded(memory)[0].cut == f"resume-{len(chat())}"


def test_record_that_fails_keeps_what_was_carried(memory: SessionMemory) -> None:
    asked = [*chat(), user(ASKED)]
    memory.shorten("s", asked)
    with pytest.raises(Exception, match="message"):
        memory.record("s", [*asked, {"role": "nobody"}])
    memory.record("s", [*asked, assistant("Hermine.")])
    assert len(reminded(memory)) == 1
