"""Transcripts that a host stores here: edited, returned within a limit, and seen by others in excerpts."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tokenmizer_mw.context.assembly import Context, newest
from tokenmizer_mw.errors import ConfigError, InvalidSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session.transcript_edits import Revision, derived_before, make_revision
from tokenmizer_mw.store.memory import MemoryLog

LIMIT = 1_500


def user(text: str) -> Written:
    return Written(Message(Role.USER, text), f'"{text}"')


def assistant(text: str) -> Written:
    return Written(Message(Role.ASSISTANT, text), f'"{text}"')


def called(number: int) -> list[Written]:
    call = ToolCall(f"c{number}", "look", '{"at": "x"}')
    return [
        Written(Message(Role.ASSISTANT, tool_calls=(call,)), "{}"),
        Written(
            Message(Role.TOOL, tool_results=(ToolResult(call.id, f"seen {number} " + "far and wide " * 20),)), "{}"
        ),
    ]


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionMemory]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'memory.db'}"
    opened = SessionMemory.open(url)
    yield opened
    opened.close()


def texts(memory: SessionMemory, session: str = "s") -> list[str]:
    return [one.message.text for one in memory.messages(session)]


# -- revisions -------------------------------------------------------------------------------------------------

A, B, C = (Written(Message(Role.USER, text), number=number) for number, text in enumerate("abc", 1))
OLD = replace(A, archived=True)
NEW = Written(Message(Role.USER, "new"))


@pytest.mark.parametrize(
    ("current", "wanted", "expected"),
    [
        ([], [], Revision((), (), ())),
        ([A, B], [A, B], Revision((), (), ())),
        ([], [NEW], Revision((), (), (NEW,))),
        ([A, B], [A, B, NEW], Revision((), (), (NEW,))),
        ([A, B, C], [A, C], Revision((2,), (), ())),
        ([A, B, C], [], Revision((1, 2, 3), (), ())),
        ([A, B], [A, NEW, B], Revision((2,), (), (NEW, replace(B, number=0)))),
        ([A, B], [B, A], Revision((1,), (), (replace(A, number=0),))),
        ([A, B], [A, A, B], Revision((2,), (), (replace(A, number=0), replace(B, number=0)))),
        ([A, B], [OLD, B], Revision((), (1,), ())),
        ([OLD, B], [OLD, B], Revision((), (), ())),
        ([OLD, B], [A, B], Revision((1, 2), (), (replace(A, number=0), replace(B, number=0)))),
        ([A], [replace(C, number=9)], Revision((1,), (), (replace(C, number=0),))),
    ],
)
def test_one_history_becomes_another(current: list[Written], wanted: list[Written], expected: Revision) -> None:
    assert make_revision(current, wanted) == expected


class Shuffled:
    """Some of a history and of what is new, in any order; ``wanted`` are the texts of what came out last."""

    def __init__(self, stock: list[Written], picked: random.Random) -> None:
        self.stock, self.picked = stock, picked
        self.wanted: list[str] = []

    def __call__(self, history: Sequence[Written]) -> list[Written]:
        given = [*history, *self.stock]
        wanted = self.picked.sample(given, self.picked.randrange(len(given) + 1))
        self.wanted = [one.message.text for one in wanted]
        return wanted


def test_any_history_becomes_any_other(memory: SessionMemory) -> None:
    picked = random.Random(11)
    for round in range(60):
        stock = [user(f"{round}:{n}") for n in range(4)]

        change = Shuffled(stock, picked)
        memory.revise("s", change)
        assert texts(memory) == change.wanted


def test_facts_of_what_is_withdrawn_go_with_it(memory: SessionMemory) -> None:
    memory.add("s", [user("Use SQLite for storage."), assistant("Understood.")])
    memory.add("s", [user("Switch from SQLite to PostgreSQL because of concurrent writes."), assistant("Done.")])
    assert "PostgreSQL" in memory.resume("s").text
    memory.revise("s", lambda history: history[:2])
    assert "PostgreSQL" not in memory.resume("s").text
    assert [node.label for node in memory.graph("s").nodes("decision") if node.current] == ["SQLite for storage"]
    assert memory.recall("s", "PostgreSQL").text == ""
    memory.add("s", [user("Never push to main without a review.")])
    assert "Never push to main" in memory.resume("s").text
    assert memory.restore("s", [3]) == []


def test_what_was_drawn_before_stays_as_it_was(memory: SessionMemory) -> None:
    memory.add("s", [user("Use SQLite for storage."), assistant("Understood."), user("Use Redis for the cache.")])
    wrong = memory.search("s", "Redis", k=1)[0].node
    memory.invalidate("s", wrong.id, "the licence forbids it")
    memory.add("s", [user("Use Stripe for payments."), assistant("Understood.")])
    before = [node for node in memory.graph("s").nodes() if node.source.turn <= 3]
    memory.add("s", [user("Switch from SQLite to PostgreSQL because of concurrent writes.")])
    memory.revise("s", lambda history: history[:-1])
    memory.revise("s", lambda history: [one for one in history if one.message.text != "Use Stripe for payments."])
    assert [node for node in memory.graph("s").nodes() if node.source.turn <= 3] == before
    assert "the licence forbids it" in memory.resume("s", "full").text
    assert not memory.search("s", "Stripe")
    assert "SQLite" in memory.resume("s").text


@pytest.mark.parametrize("turns", [20, 80])
def test_withdrawing_the_newest_reads_no_old_message_anew(turns: int) -> None:
    log = MemoryLog()
    memory = SessionMemory(log)
    for number in range(turns):
        memory.add("s", [user(f"Use tool{number} for module{number}."), assistant("Understood.")])
        known = memory.graph("s").nodes("decision")
    memory.add("s", [user("Use Redis for the cache.")])
    assert len(memory.graph("s").nodes("decision")) > len(known)
    said = derived_before(log.read(SessionKey("local", "s")), 2 * turns + 1)
    assert max(event.turn for event in said if isinstance(event, Derived)) == 2 * turns
    memory.revise("s", lambda history: history[:-1])
    assert [node.label for node in memory.graph("s").nodes("decision")] == [node.label for node in known]
    memory.close()


def test_facts_of_what_is_archived_stay(memory: SessionMemory) -> None:
    memory.add("s", [user("Use SQLite for storage."), assistant("Understood."), user("What next?")])
    memory.revise("s", lambda history: [replace(one, archived=True) for one in history[:2]] + list(history[2:]))
    assert [one.archived for one in memory.messages("s")] == [True, True, False]
    assert "SQLite" in memory.resume("s").text
    assert [one.message.text for one in memory.context("s", limit=LIMIT).recent] == ["What next?"]


def test_new_messages_may_be_archived_at_once(memory: SessionMemory) -> None:
    old = replace(user("Use SQLite for storage."), archived=True)
    memory.revise("s", lambda history: [*history, old])
    assert [one.archived for one in memory.messages("s")] == [True]


def test_what_was_believed_before_a_revision_is_still_on_record(tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'memory.db'}")
    memory.add("s", [user("Use SQLite for storage.")])
    memory.flush()
    before = memory.sessions()[0].updated_at
    memory.revise("s", lambda _: [user("Use Redis for the cache.")])
    assert "SQLite" in " ".join(node.label for node in memory.graph("s", recorded_at=before).nodes())
    assert "SQLite" not in " ".join(node.label for node in memory.graph("s").nodes())
    memory.close()
    again = SessionMemory.open(f"sqlite:///{tmp_path / 'memory.db'}")
    assert texts(again) == ["Use Redis for the cache."]
    assert "SQLite" not in " ".join(node.label for node in again.graph("s").nodes())
    again.close()


def test_a_revision_and_additions_at_the_same_time_lose_nothing(memory: SessionMemory) -> None:
    def add() -> None:
        for number in range(30):
            memory.add("s", [user(f"added {number}")])

    def revise() -> None:
        for number in range(30):
            memory.revise("s", lambda history, n=number: [*history, user(f"revised {n}")])

    threads = [threading.Thread(target=each) for each in (add, revise)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = texts(memory)
    for name in ("added", "revised"):
        assert [text for text in kept if text.startswith(name)] == [f"{name} {number}" for number in range(30)]


def test_nothing_is_made_of_nothing(memory: SessionMemory) -> None:
    memory.revise("s", lambda history: history)
    assert memory.sessions() == []
    with pytest.raises(InvalidSession):
        memory.revise("", lambda history: history)


# -- contexts --------------------------------------------------------------------------------------------------


def told(context: Context) -> list[str]:
    return [one.message.text for one in (*context.instructions, *context.recent)]


def fill(memory: SessionMemory, turns: int, first: str = "Use SQLite for storage in the invoice service.") -> None:
    memory.add("s", [user(first), assistant("Understood.")])
    for number in range(turns):
        memory.add("s", [user(f"Explain detail {number}. " + "Words " * 40), assistant("Well. " * 40)])


def test_a_chat_that_fits_is_told_whole(memory: SessionMemory) -> None:
    fill(memory, 2)
    context = memory.context("s", limit=LIMIT)
    assert context.block == ""
    assert told(context) == texts(memory)
    assert memory.context("unknown", limit=LIMIT) == Context()


def test_a_long_chat_is_told_with_a_block_that_stays_the_same(memory: SessionMemory) -> None:
    fill(memory, 20)
    first = memory.context("s", limit=LIMIT)
    assert "SQLite" in first.block
    assert first.recent[0].message.opens_turn
    assert first.tokens <= LIMIT
    memory.add("s", [user("Thanks."), assistant("Welcome.")])
    second = memory.context("s", limit=LIMIT)
    assert second.block == first.block
    assert second.recent[: len(first.recent)] == first.recent
    assert memory.counters()["cut_made"] == 1


def test_every_context_of_a_growing_chat_fits_and_keeps_the_question(memory: SessionMemory) -> None:
    for number in range(60):
        memory.add("s", [user(f"Question {number}. " + "Words " * (number * 7 % 60))])
        if number % 3 == 0:
            memory.add("s", called(number))
        context = memory.context("s", limit=LIMIT, reserved=200)
        assert context.tokens <= LIMIT - 200
        kept = [one.message for one in context.recent]
        assert any(one.text.startswith(f"Question {number}.") for one in kept)
        assert all(before.tool_calls for before, after in pairwise(kept) if after.tool_results)
        assert not kept[0].tool_results
        memory.add("s", [assistant("Well. " * 30)])
    assert memory.counters()["cut_made"] >= 3


def test_instructions_stay_in_front(memory: SessionMemory) -> None:
    memory.add("s", [Written(Message(Role.SYSTEM, "Be brief."), "{}")])
    fill(memory, 20)
    context = memory.context("s", limit=LIMIT)
    assert [one.message.text for one in context.instructions] == ["Be brief."]
    assert context.block != ""


def test_a_turn_that_is_too_long_loses_its_middle(memory: SessionMemory) -> None:
    memory.add("s", [user("Use SQLite for storage. Look at everything.")])
    for number in range(60):
        memory.add("s", called(number))
    context = memory.context("s", limit=LIMIT)
    kept = [one.message for one in context.recent]
    assert kept[0].text.startswith("Use SQLite")
    assert kept[1].tool_calls
    assert kept[-1].tool_results[0].text.startswith("seen 59 ")
    assert context.tokens <= LIMIT
    assert all(before.tool_calls for before, after in pairwise(kept) if after.tool_results)


def test_one_message_that_is_too_long_is_left_to_the_model(memory: SessionMemory) -> None:
    fill(memory, 3)
    memory.add("s", [user("long " * 3_000)])
    context = memory.context("s", limit=LIMIT)
    assert [one.message.text for one in context.recent] == ["long " * 3_000]
    assert context.block == ""


def test_a_limit_too_small_for_a_block_leaves_the_newest(memory: SessionMemory) -> None:
    fill(memory, 5)
    memory.add("s", [user("Short?")])
    context = memory.context("s", limit=60)
    assert (context.block, told(context)) == ("", ["Short?"])
    with pytest.raises(ConfigError):
        memory.context("s", limit=0)


def test_what_a_revision_withdrew_is_in_no_block(memory: SessionMemory) -> None:
    fill(memory, 20)
    assert "SQLite" in memory.context("s", limit=LIMIT).block
    memory.revise("s", lambda history: history[2:])
    context = memory.context("s", limit=LIMIT)
    assert "SQLite" not in context.block
    assert context.tokens <= LIMIT


def test_a_block_that_comes_back_as_a_message_says_nothing_new(memory: SessionMemory) -> None:
    fill(memory, 20)
    block = memory.context("s", limit=LIMIT).block
    nodes = len(memory.graph("s"))
    memory.add("s", [Written(Message(Role.USER, block), "{}")])
    assert len(memory.graph("s")) == nodes


CALL = Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "f", "{}"),))
RESULT = Message(Role.TOOL, tool_results=(ToolResult("1", "r"),))
ASK, SAY = Message(Role.USER, "q"), Message(Role.ASSISTANT, "a")


@pytest.mark.parametrize(
    ("messages", "room", "places"),
    [
        ([ASK], 0, [0]),
        ([ASK, SAY], 2, [0, 1]),
        ([ASK, SAY, ASK], 1, [2]),
        ([ASK, SAY, ASK], 2, [2]),
        ([ASK, SAY, ASK], 3, [0, 1, 2]),
        ([ASK, CALL, RESULT, CALL, RESULT], 3, [0, 3, 4]),
        ([ASK, CALL, RESULT, CALL, RESULT], 4, [0, 3, 4]),
        ([ASK, CALL, RESULT, CALL, RESULT], 2, [3, 4]),
        ([ASK, CALL, RESULT, SAY, SAY], 3, [0, 3, 4]),
        ([CALL, RESULT, SAY], 2, [2]),
        ([RESULT], 0, [0]),
        ([ASK, RESULT], 1, [1]),
    ],
)
def test_the_newest_that_fits(messages: list[Message], room: int, places: list[int]) -> None:
    assert newest(messages, [1] * len(messages), 0, room) == places


# -- excerpts --------------------------------------------------------------------------------------------------


def test_excerpts_of_a_known_chat_add_nothing(memory: SessionMemory) -> None:
    chat = [one.message for n in range(6) for one in (user(f"question {n}"), assistant(f"answer {n}"))]
    assert memory.record("s", chat[:8], excerpt=True) == 8
    for start, end in [(0, 2), (2, 4), (3, 4), (0, 8), (7, 8), (0, 0)]:
        assert memory.record("s", chat[start:end], excerpt=True) == 0
    assert memory.record("s", chat[4:], excerpt=True) == 4
    assert len(memory.messages("s")) == 12


def test_excerpts_of_a_chat_that_is_kept_here_add_nothing(memory: SessionMemory) -> None:
    memory.add("s", [user("Use SQLite for storage.")])
    assert memory.record("s", [Message(Role.USER, "something else")], excerpt=True) == 0
    assert memory.record("s", [Message(Role.USER, "something else")]) == 1
