"""What methods return is shown as one short line that says what matters."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.model.message import REPR_MAX, Message, Role, Written, short_repr
from tokenmizer_mw.session.refinement.plan import Refinement
from tokenmizer_mw.store.memory import MemoryLog

CHAT = [
    {"role": "user", "content": "We use SQLite for storage.\nNever push to main."},
    {"role": "assistant", "content": "Understood. " + "I go on. " * 40},
    {"role": "user", "content": "Switch to PostgreSQL for storage, because " + "it scales and " * 30 + "runs."},
]


def results(memory: SessionMemory) -> Iterator[tuple[Any, str]]:
    """Results of methods, each with words of its representation."""
    graph = memory.graph("s")
    (step,) = graph.transitions()
    memory.pin("s", "push to main")
    why = memory.why("s", "SQLite")
    yield memory.resume("s"), "standard,"
    yield memory.recall("s", "storage"), "PostgreSQL"
    yield why, "replaced"
    yield memory.loss_report("s"), "no cut"
    yield graph.nodes("decision")[0], "decision-1 "
    yield step, "SQLite for storage -> PostgreSQL for storage, message 3"
    yield graph, f"{len(graph)} facts"
    yield memory.sessions()[0], "'s' of 'local'"
    yield memory.search("s", "storage")[0], "PostgreSQL"
    yield memory.checkpoint("s"), "checkpoint-1"
    yield memory.diff(memory.sessions()[0].key, 0, 5), "added"
    yield memory.edits("s")[0], "1: pin decision-2"
    yield memory.savings(), "0 calls"
    yield memory.context("s", limit=100), "recent messages"
    yield memory.messages("s")[1], "2 <Message assistant: 'Understood."
    yield Refinement("refined", {"added": 2, "moved": 0}), "refined: added 2>"


def test_results_are_shown_in_one_short_line() -> None:
    with SessionMemory.open("memory://", Settings(context_window=1_000)) as memory:
        memory.add("s", [Written(Message(Role(one["role"]), one["content"])) for one in CHAT])
        for result, words in results(memory):
            shown = repr(result)
            assert len(shown) <= REPR_MAX, shown
            assert shown.isprintable()
            assert shown.startswith(f"<{type(result).__name__} ")
            assert words in shown


def test_results_with_a_text_are_printed_as_it() -> None:
    with SessionMemory.open() as memory:
        memory.record("s", CHAT)
        for result in (memory.resume("s"), memory.recall("s", "storage"), memory.why("s", "SQLite")):
            assert result is not None
            assert str(result) == result.text != ""


def test_explanations_and_recalled_messages_have_the_times_at_which_they_were_said() -> None:
    now = [datetime(2026, 11, 20, 14, 3).timestamp()]
    memory = SessionMemory(MemoryLog(clock=lambda: now[0]))
    memory.record("s", CHAT[:2])
    now[0] += 3_600
    memory.record("s", CHAT)
    why = memory.why("s", "SQLite")
    assert why is not None
    assert "said by: user in message 1, 2026-11-20 14:03" in why.text
    assert "message 3, 2026-11-20 15:03: SQLite for storage -> PostgreSQL" in why.text
    assert why.times == {1: now[0] - 3_600, 3: now[0]}
    found = memory.recall("s", "which storage?")
    assert found.times == {turn: why.times[turn] for turn in found.turns} != {}
    memory.close()


@pytest.mark.parametrize("said", ["", "x" * 500, "a\nb\u2028c\x1b[31m"])
def test_a_representation_is_clipped_and_printable(said: str) -> None:
    shown = short_repr(Message(Role.USER), said)
    assert shown.isprintable()
    assert len(shown) <= REPR_MAX


def test_a_memory_shows_its_store_without_a_password(tmp_path: Path) -> None:
    with SessionMemory.open(f"sqlite:///{tmp_path / 'm.db'}") as memory:
        assert repr(memory).startswith("<SessionMemory sqlite:///")
    password = secrets.token_hex(8)
    with SessionMemory(MemoryLog(), url=f"postgresql://ann:{password}@db/chat") as memory:
        assert repr(memory) == "<SessionMemory postgresql://ann@db/chat>"


def test_an_edit_shows_its_operation_and_its_fact() -> None:
    with SessionMemory.open() as memory:
        id = memory.remember("s", "We deploy on Nomad", create=True).id
        memory.pin("s", id)
        memory.pin("s", id, False)
        memory.correct("s", id, label="We deploy on Nomad 1.8", reason="misheard")
        memory.undo("s")
        memory.invalidate("s", id, "too old")
        shown = list(map(repr, memory.edits("s")))
    said = ["remember", "pin", "unpin", "correct", "undo of 4 on", "invalidate"]
    for number, (words, one) in enumerate(zip(said, shown, strict=True), 1):
        assert f"{number}: {words} {id}" in one
    assert "to 'We deploy on Nomad 1.8': misheard" in shown[3]
