"""When to cut a transcript, where, and how a cut stays frozen until the next one.

A cut replaces the messages behind the system prefix, up to the start of a turn, by one message with the resume
block. Every later call of the session drops the same messages and carries the same bytes, so that a provider's
prompt cache keeps hitting; only when the window fills again is the cut moved forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import digest
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest

# fmt: off
WINDOWS: Final[tuple[tuple[str, int], ...]] = (
    ("gpt-5", 400_000), ("gpt-4.1", 1_047_576), ("gpt-4o", 128_000), ("gpt-4-turbo", 128_000), ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192), ("gpt-3.5-turbo", 16_385), ("o1-mini", 128_000), ("o1", 200_000), ("o3", 200_000),
    ("o4", 200_000), ("claude", 200_000), ("gemini", 1_048_576), ("deepseek", 128_000), ("mistral-large", 128_000),
    ("mistral-small", 128_000), ("codestral", 256_000), ("grok-4", 256_000), ("grok", 131_072), ("command", 128_000),
    ("llama3.1", 128_000), ("llama-3.1", 128_000), ("llama3", 8_192), ("qwen", 32_768),
)
# fmt: on
"""Tokens that a model takes in, by the start of its name, the first match counts. As published in November 2026; a
vendor's prefix ("openai/") is ignored. Where a family's models differ, the smallest counts."""

_ELSEWHERE: Final = frozenset({"history_on_server", "provider_compacts", "messages_twice"})
"""Reasons to stand down for which not even a cut of before is carried on."""

_MESSAGE_TOKENS: Final = 4


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How a request is shortened: messages from the system prefix up to ``keep_from`` give way to one message of
    ``role`` that carries ``block``."""

    keep_from: int
    block: str
    role: str


@dataclass(frozen=True, slots=True)
class Untouched:
    """The request goes out as it came."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The cut in force is carried on: the same messages dropped, the same block."""

    keep_from: int
    block: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The window is full: ``keep_from`` is the first message that stays as it is."""

    keep_from: int


Plan = Untouched | Replay | Cut


def budget_for(model: str, settings: Settings) -> int:
    """Tokens that a request to ``model`` may fill: the setting, else the table, else the default of the settings."""
    if settings.context_window is not None:
        return settings.context_window
    name = model.rpartition("/")[2].lower()
    return next((tokens for start, tokens in WINDOWS if name.startswith(start)), settings.default_window)


def plan(
    request: ChatRequest,
    counts: Sequence[int],
    *,
    overhead: int,
    frozen: Checkpointed | None,
    settings: Settings,
) -> Plan:
    """What is to be done with a request.

    ``counts`` are the tokens of its messages, ``overhead`` those of everything else in it, ``frozen`` the cut in
    force. New cuts are made only where a turn begins, never inside an open tool loop, never behind the newest user
    message.
    """
    if request.stand_down in _ELSEWHERE:
        return Untouched()
    budget = budget_for(request.model, settings)
    kept = _anchored(request, frozen)
    start, block = (kept, frozen.tokens) if frozen is not None and kept is not None else (request.prefix, 0)
    fixed = overhead + sum(counts[: request.prefix])
    standing = Replay(kept, frozen.block) if frozen is not None and kept is not None else Untouched()
    if request.stand_down or fixed + block + sum(counts[start:]) <= budget * settings.cut_at:
        return standing
    room = budget * settings.cut_to - fixed - settings.block_tokens - _MESSAGE_TOKENS
    keep_from = _boundary(request, counts, start, room)
    return standing if keep_from is None else Cut(keep_from)


def _boundary(request: ChatRequest, counts: Sequence[int], start: int, room: float) -> int | None:
    """The earliest start of a turn behind ``start`` whose tail fits into ``room``, else the newest; ``None`` when no
    turn starts there."""
    best: int | None = None
    tail = 0
    for index in range(len(request.messages) - 1, start, -1):
        tail += counts[index]
        if best is not None and tail > room:
            break
        if request.messages[index].opens_turn:
            best = index
    return best


def _anchored(request: ChatRequest, frozen: Checkpointed | None) -> int | None:
    """Where the first message that the cut in force kept stands in this request; ``None`` when it is not there.

    Clients trim their history or put something in: the place nearest to the expected one counts.
    """
    if frozen is None or not frozen.anchor:
        return None
    for index in _nearest(request.prefix + frozen.dropped, request.prefix + 1, len(request.messages)):
        message = request.messages[index]
        if message.opens_turn and digest(message) == frozen.anchor:
            return index
    return None


def _nearest(expected: int, start: int, stop: int) -> Iterator[int]:
    """The numbers ``[start, stop)``, nearest to ``expected`` first."""
    for distance in range(max(abs(expected - start), abs(stop - expected)) + 1):
        for index in {expected - distance, expected + distance}:
            if start <= index < stop:
                yield index
