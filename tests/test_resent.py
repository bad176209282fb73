"""Clients that spell their history anew when they send it back: one transcript, and the cut in force is carried on."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from benchmarks import respelled
from benchmarks.conversations import WRITERS, Client
from benchmarks.windows import dialects
from tests.sampling import covering
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.event import Checkpointed, MessageRecorded
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.session import ResentMessages, Transcript
from tokenmizer_mw.session.resent import Spelling, spelling_of
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects import OpenAIChat

CALLS = 40
WINDOW = 1_500
SETTINGS = Settings(context_window=WINDOW, block_tokens=120)


def user(text: str, *attachments: str) -> Message:
    return Message(Role.USER, text, attachments=attachments)


def assistant(text: str, *calls: ToolCall) -> Message:
    return Message(Role.ASSISTANT, text, calls)


def result(id: str, text: str) -> Message:
    return Message(Role.TOOL, tool_results=(ToolResult(id, text),))


def transcript_of(messages: Sequence[Message]) -> Transcript:
    transcript = Transcript()
    for place, message in enumerate(messages):
        transcript.add(digest(message), place - 1, spelling_of(message))
    return transcript


CALL = ToolCall("c1", "read_file", '{"path": "a.py", "lines": 3}')
HISTORY = [
    user("Use SQLite. No network.", "image_url"),
    assistant("<think>\nSmall is fine.\n</think>\n\nSQLite it is. I read the file.", CALL),
    result("c1", "x = 1"),
    assistant("Done. It holds x."),
    user("And the tests?"),
    assistant("They pass. All of them."),
]

RESPELLED = {
    "thoughts dropped": [*HISTORY[:1], assistant("SQLite it is. I read the file.", CALL), *HISTORY[2:]],
    "a thought whose start the template wrote": [
        *HISTORY[:1],
        assistant("Small is fine.</think>SQLite it is. I read the file.", CALL),
        *HISTORY[2:],
    ],
    "spaces": [
        user("Use SQLite.  No\u00a0network.\n", "image_url"),
        *HISTORY[1:5],
        assistant("They pass.\nAll of them."),
    ],
    "images dropped": [user("Use SQLite. No network."), *HISTORY[1:]],
    "calls renumbered, keys reordered": [
        HISTORY[0],
        assistant(HISTORY[1].text, ToolCall("n7", "read_file", '{"lines":3,"path":"a.py"}')),
        result("n7", "x = 1"),
        *HISTORY[3:],
    ],
    "old results cleared": [*HISTORY[:2], result("c1", "[cleared]"), *HISTORY[3:]],
    "tool use left out": [HISTORY[0], assistant(HISTORY[1].text), *HISTORY[3:]],
    "messages split": [
        user("Use SQLite."),
        user("No network."),
        *HISTORY[1:5],
        assistant("They pass."),
        assistant("All of them."),
    ],
    "messages joined": [
        HISTORY[0],
        assistant(f"{HISTORY[1].text}\n\nDone. It holds x."),
        *HISTORY[4:],
    ],
    "host text taken out": [user("Use SQLite. No network.<system-reminder>Be brief</system-reminder>"), *HISTORY[1:]],
    "an agent's language behind a message": [user("Use SQLite. No network.\n\nReply in English.\n"), *HISTORY[1:]],
    "an agent's rules behind a message": [
        user("Use SQLite. No network.\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block begins with a path."),
        *HISTORY[1:],
    ],
}


@pytest.mark.parametrize("sent", RESPELLED.values(), ids=RESPELLED)
def test_a_history_that_is_spelled_anew_is_known(sent: list[Message]) -> None:
    transcript = transcript_of(HISTORY)
    for news in ([], [user("What is next?")]):
        messages = [*sent, *news]
        start, place = transcript.first_new(messages)
        assert (start, place) == (len(sent), len(HISTORY) - 1)
        placed = transcript.locate(ResentMessages(messages), start, place)
        assert placed.changed is None
        assert messages[placed.index_of(4) or 0].text == "And the tests?"


CHANGED = {
    "another question": ([*HISTORY[:4], user("And the docs?"), assistant("There are none.")], 4, 3),
    "another answer": ([*HISTORY[:5], assistant("They fail.")], 5, 4),
    "another result of the same call": ([*HISTORY[:2], result("c1", "x = 2")], 2, 1),
    "another call": ([HISTORY[0], assistant(HISTORY[1].text, ToolCall("c1", "read_file", "{}"))], 1, 0),
    "more said in the newest message": ([*HISTORY[:4], user("And the tests? And the docs?")], 4, 3),
}


@pytest.mark.parametrize(("sent", "start", "place"), CHANGED.values(), ids=CHANGED)
def test_what_is_another_message_stays_one(sent: list[Message], start: int, place: int) -> None:
    assert transcript_of(HISTORY).first_new(sent) == (start, place)


def test_an_edit_inside_is_found_beside_other_spellings() -> None:
    transcript = transcript_of([*HISTORY, *HISTORY[4:], *HISTORY[4:]])
    sent = [user("Use MariaDB.", "image_url"), *RESPELLED["thoughts dropped"][1:], *HISTORY[4:], *HISTORY[4:]]
    start, place = transcript.first_new(sent)
    assert start == len(sent)
    assert transcript.locate(ResentMessages(sent), start, place).changed == (0, -1)


def test_a_spelling_is_one_short_text() -> None:
    for message in HISTORY:
        assert Spelling.from_key(spelling_of(message).to_key()) == spelling_of(message)


def test_a_history_that_comes_back_as_it_was_is_not_spelled() -> None:
    history = [message for number in range(500) for message in (user(f"question {number}"), assistant(f"{number}"))]
    resent = ResentMessages([*history, user("the new one")])
    assert transcript_of(history).first_new([*history, user("the new one")], resent=resent) == (1_000, 999)
    assert len(resent._spellings) <= 1


@pytest.mark.parametrize(("dialect", "habit"), covering(dialects(), respelled.HABITS))
def test_each_habit_in_each_dialect(dialect: str, habit: str) -> None:
    """As few cuts as for a client that resends word for word, and each message recorded once."""
    calls = list(Client(random.Random(dialect), plain=True).calls(CALLS))[:CALLS]
    changes = respelled.HABITS[habit]
    send = partial(respelled.sent, dialects()[dialect], WRITERS[dialect], calls, window=WINDOW)
    found = send(changes)
    verbatim = respelled.Habit(made=changes.made, again=changes.made, late=changes.late)
    bar = send(verbatim)["cuts"]
    assert bar >= 2
    assert found["cuts"] <= bar + 2
    assert found["recorded"] == found["said"]


def chat(messages: list[dict[str, str]]) -> Any:
    return OpenAIChat().read(json.dumps({"model": "m", "messages": messages}).encode())


def test_a_real_edit_of_the_user_inside_the_cut_ends_it_for_good() -> None:
    log = MemoryLog()
    memory, key = SessionMemory(log, Settings(context_window=1_000, cut_to=0.5)), SessionKey(LOCAL_TENANT, "s")
    talk: list[dict[str, str]] = []
    rewrite = None
    while rewrite is None:
        talk.append({"role": "user", "content": f"Part {len(talk)}: " + "we keep the orders in one table. " * 6})
        rewrite, cut = memory.service.cuts.prepare(key, chat(talk))
        answer = f"<think>\nHm.\n</think>\nUnderstood, part {len(talk)}."
        memory.service.turns.commit_turn(
            key, chat(talk).messages, Reply(Message(Role.ASSISTANT, answer), Outcome.COMPLETE), cut=cut
        )
        talk.append({"role": "assistant", "content": answer.partition("</think>\n")[2]})
    again = memory.service.cuts.prepare(key, chat([*talk, {"role": "user", "content": "go on"}])).rewrite
    assert again == rewrite
    edited = [{"role": "user", "content": "Use MariaDB. " * 20}, *talk[1:], {"role": "user", "content": "go on"}]
    for _ in range(2):
        other, cut = memory.service.cuts.prepare(key, chat(edited))
        assert other is None or other.block != rewrite.block
        memory.service.turns.commit_turn(key, chat(edited).messages, None, cut=cut)
    texts = [item.event.message.text for item in log.read(key) if isinstance(item.event, MessageRecorded)]
    assert texts.count(edited[0]["content"]) == 1
    assert sum(isinstance(item.event, Checkpointed) for item in log.read(key)) >= 1
    memory.close()


def test_hosts_without_bytes_spell_anew_too() -> None:
    """``record`` and ``shorten``, as frameworks use them: with the thoughts at first, later without."""
    memory = SessionMemory.open("memory://", SETTINGS)
    talk: list[dict[str, str]] = []
    cuts = 0
    for number in range(30):
        talk.append({"role": "user", "content": f"{number}. Use Redis for part {number}. " * 6})
        memory.shorten("s", talk)
        answer = f"<think>\nWell, {number}.\n</think>\nPart {number} uses Redis now."
        memory.record("s", [*talk, {"role": "assistant", "content": answer}])
        talk.append({"role": "assistant", "content": answer.partition("</think>\n")[2]})
    cuts = memory.counters()["cut_made"]
    assert 1 <= cuts <= 6
    assert len(memory.restore("s", range(1, 200))) == len(talk)
    memory.close()
