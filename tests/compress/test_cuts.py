"""Where compression is switched on, old outputs in what a cut keeps give way before messages do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import pytest

from tests.sampling import sample
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, decode, encode
from tokenmizer_mw.saving.compress.chat import ChatPassage, PassageKind
from tokenmizer_mw.saving.compress.tool_results import pruned_before
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.memory import MemoryLog

from .chats import BODIES, Messages, agent_chat
from .test_middleware import seen_by_app

PATHS: Final = {
    "openai_chat": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-2.5-pro:generateContent",
    "cohere": "/v2/chat",
    "ollama": "/api/chat",
}
WINDOW: Final = 7_000
OLD: Final = "of this output are left out"


def growing(rounds: int = 24) -> Iterator[Messages]:
    """The history of each call of an agent."""
    chat = agent_chat(rounds)
    yield from (chat[: at + 1] for at, message in enumerate(chat) if message["role"] in ("user", "tool"))


def opened(log: MemoryLog, compress: str, **changes: Any) -> SessionMemory:
    return SessionMemory(log, Settings(context_window=WINDOW, reminder_tokens=0, compress=compress, **changes))


def sent(dialect: str, compress: str, histories: Sequence[Messages]) -> list[tuple[list[Any], int]]:
    """What goes on of each request: its messages, and how many cuts there were by then."""
    memory = opened(MemoryLog(), compress)
    found = []
    for history in histories:
        body = json.loads(seen_by_app(memory, BODIES[dialect](history), PATHS[dialect]))
        elements = next(body[name] for name in ("messages", "input", "contents") if name in body)
        found.append((elements, memory.counters().get("cut_made", 0)))
    memory.close()
    return found


def behind_cuts(found: Sequence[tuple[list[Any], int]]) -> float:
    sizes = [len(elements) for elements, cuts in found if cuts]
    return sum(sizes) / len(sizes)


@pytest.mark.parametrize("dialect", sample(list(PATHS), 2))
def test_more_messages_stay_and_the_prefix_is_stable(dialect: str) -> None:
    histories = list(growing())
    plain, shorter = sent(dialect, "", histories), sent(dialect, "all", histories)
    assert plain[-1][1] > 0
    assert shorter[-1][1] > 0
    assert behind_cuts(shorter) > 1.2 * behind_cuts(plain)
    assert any(OLD in json.dumps(elements) for elements, cuts in shorter if cuts)
    changed = 0
    for (before, cuts), (after, later) in pairwise(shorter):
        changed += later == cuts and after[: len(before)] != before
    assert changed <= 2  # steps of the history, of thousands of tokens each


@pytest.mark.parametrize("dialect", sample(list(PATHS), 2))
def test_another_process_sends_the_same_bytes(dialect: str) -> None:
    """Where the old outputs end follows from the request and the log alone."""
    histories, log = list(growing()), MemoryLog()
    one = opened(log, "all")
    for history in histories[:-1]:
        seen_by_app(one, BODIES[dialect](history), PATHS[dialect])
    assert one.counters()["cut_made"] > 0
    last = BODIES[dialect](histories[-1])
    other = opened(log, "all")
    fresh = seen_by_app(other, last, PATHS[dialect])
    assert seen_by_app(one, last, PATHS[dialect]) == fresh


def test_where_nothing_is_to_be_shortened_a_cut_is_the_same() -> None:
    said = "Please describe the pier and its gauge at noon, as the sailors of the bay know them. " * 9
    talk = [{"role": ("user", "assistant")[at % 2], "content": f"{at}: {said}"} for at in range(61)]
    bodies = []
    for compress in ("", "all"):
        memory = opened(MemoryLog(), compress)
        seen = [seen_by_app(memory, BODIES["openai_chat"](talk[:end])) for end in range(1, 62, 2)]
        bodies.append(
            [re.sub(rb"session-record \d+", b"", body) for body in seen]
        )  # each memory has numbers of its own
        assert memory.counters()["cut_made"] > 0
        memory.close()
    assert bodies[0] == bodies[1]


def passages(results: int, size: int = 2_000) -> list[ChatPassage]:
    """Results, each in a message of its own behind a call of its own."""
    pairs = (
        (ChatPassage(2 * at, PassageKind.FIXED, "call"), ChatPassage(2 * at + 1, PassageKind.RESULT, "x" * size))
        for at in range(results)
    )
    return [one for pair in pairs for one in pair]


def test_a_cut_is_a_step_and_the_next_one_is_counted_from_there() -> None:
    some = passages(9)
    assert pruned_before(some, keep=3, step=4_000) == 0
    assert pruned_before(some, keep=3, step=4_000, cut=17) == pruned_before(some, keep=3, step=1)
    at_cut = pruned_before(some, keep=3, step=4_000, cut=11)
    assert at_cut == pruned_before(some[:12], keep=3, step=1) > 0
    assert pruned_before(passages(13), keep=3, step=4_000, cut=11) == at_cut
    assert pruned_before(passages(18), keep=3, step=4_000, cut=11) > at_cut
    assert pruned_before(some, keep=3, step=4_000, cut=1) == 0


def test_what_a_cut_kept_is_in_its_event_and_old_events_are_read() -> None:
    cut = Checkpointed("checkpoint-1", 9, 40, "block", "ab", 5, 4, ("node-1",), 6)
    kind, version, payload = encode(cut)
    assert decode(kind, version, payload) == cut
    old = json.loads(payload)
    del old["kept"]
    assert decode(kind, version, json.dumps(old)).kept == 0  # type: ignore[union-attr]
