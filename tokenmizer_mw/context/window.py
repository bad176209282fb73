"""Decides when and where to cut a transcript, and keeps a cut unchanged until the next one.

A cut replaces the messages after the system messages, up to the start of a turn (or of a later step of a finished
turn), by one message with the resume block. Every later call of the session drops the same messages and contains the
same block, so that the provider's prompt cache stays valid. The cut is moved forward only when the window is full again
or, with ``Settings.cut`` "economy", when that saves money.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Final

from tokenmizer_mw.context.assembly import Reminder, pair
from tokenmizer_mw.context.prices import PUBLISHED, ChatCost, CutInForce, rates
from tokenmizer_mw.context.tokens.counter import ATTACHMENT_TOKENS, MESSAGE_TOKENS
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import Message, Role, digest
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest

# fmt: off
WINDOWS: Final[tuple[tuple[str, int], ...]] = (
    ("gpt-6-luna", 272_000), ("gpt-6", 922_000),
    ("gpt-5.6-luna", 272_000), ("gpt-5.6", 922_000), ("gpt-5.5", 922_000),
    ("gpt-5.4-mini", 272_000), ("gpt-5.4-nano", 272_000), ("gpt-5.4", 922_000),
    ("gpt-5.3-chat", 128_000), ("gpt-5.2-chat", 128_000), ("gpt-5.1-chat", 128_000), ("gpt-5-chat", 128_000),
    ("gpt-5", 272_000), ("gpt-oss", 131_072), ("gpt-4.1", 1_047_576), ("gpt-4o", 128_000), ("chatgpt-4o", 128_000),
    ("gpt-4-turbo", 128_000), ("gpt-4-1106", 128_000), ("gpt-4-0125", 128_000), ("gpt-4-32k", 32_768),
    ("gpt-4", 8_192), ("gpt-3.5-turbo", 16_385), ("gpt-35-turbo", 16_385),
    ("o1-mini", 128_000), ("o1-preview", 128_000), ("o1", 200_000), ("o3", 200_000), ("o4", 200_000),
    ("claude-opus-4-6", 1_000_000), ("claude-opus-4-7", 1_000_000), ("claude-opus-4-8", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000), ("claude-opus-5", 1_000_000), ("claude-sonnet-5", 1_000_000),
    ("claude-fable-5", 1_000_000), ("claude-mythos-5", 1_000_000), ("claude-haiku-5-5", 1_000_000),
    ("claude", 200_000),
    ("gemini", 1_048_576), ("gemma", 131_072),
    ("deepseek", 128_000), ("codestral", 256_000), ("mistral", 128_000), ("ministral", 128_000), ("magistral", 40_000),
    ("devstral", 128_000), ("mixtral", 32_768),
    ("grok-4", 256_000), ("grok", 131_072), ("command-a", 256_000), ("command", 128_000),
    ("llama-4", 1_000_000), ("llama-3.1", 128_000), ("llama-3.2", 128_000), ("llama-3.3", 128_000),
    ("llama3.1", 128_000), ("llama3.2", 128_000), ("llama3.3", 128_000), ("llama3", 8_192), ("llama-3", 8_192),
    ("qwen", 32_768),
)
# fmt: on
"""Tokens that a request to a model may hold, by the start of its name; the first match counts. As published in November
2026: the window, or its part for input where that is limited. A vendor's prefix ("openai/", "us.anthropic.") is
ignored. Where the models of a family differ, the smallest counts."""

_BLOCK_SHARE: Final = 0.4

_ECONOMY_SHARE: Final = 0.4
"""With ``Settings.cut`` "economy", a cut keeps at most this share of the messages that were sent unchanged so far, even
if ``cut_to`` allows more. It keeps more only if the rest would be too short for the provider's cache."""

_WORTH_LEAST: Final = 4
"""With ``Settings.cut`` "economy", a request is checked for a cut once it has this many times the tokens of a resume
block."""

_CACHED_LEAST: Final = 1.2
"""A cut to save money leaves at least this many times the tokens of the shortest prompt that the provider caches,
because providers count differently."""

_ELSEWHERE: Final = frozenset({"history_on_server", "provider_compacts", "messages_twice", "not_rewritable"})
"""Values of ``ChatRequest.stand_down`` with which a request is not changed at all: not even the current cut is
repeated."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How a request is shortened: the messages between the system prefix and index ``keep_from`` are replaced by one
    message of ``role`` with ``block``.

    - ``made``: the cut was made for this request.
    - ``through``: index of the newest message when it was made; ``None`` if unknown.
    - ``reminder``: texts to add after messages; ``None`` for none.
    """

    keep_from: int
    block: str
    role: str
    made: bool = field(default=False, compare=False)
    through: int | None = field(default=None, compare=False)
    reminder: Reminder | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Untouched:
    """Decision of ``plan``: send all messages of the request, without a resume block."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Decision of ``plan``: repeat the current cut. ``block``, the text of its resume block, replaces the messages
    between the leading system messages and index ``keep_from``. ``through``: index of the newest message when the cut
    was made; ``None`` if unknown."""

    keep_from: int
    block: str
    through: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Cut:
    """Decision of ``plan``: make a new cut. ``keep_from``: index of the first message that stays. ``otherwise``: the
    decision to use if no resume block is built, or the built block does not make the request shorter."""

    keep_from: int
    otherwise: Replay | Untouched = Untouched()


Plan = Untouched | Replay | Cut


def reason_not_to_cut(request: ChatRequest) -> str:
    """Return why a request must never be cut (the provider itself stores or shortens its history), in a word for a
    counter's name; "" if it may be cut."""
    if request.stand_down not in _ELSEWHERE:
        return ""
    return request.cause or request.stand_down


def count_resent_messages(request: ChatRequest) -> int:
    """Return how many messages of ``request`` the session's previous call presumably contained: the number of messages
    before the model's newest message; 0 if the request has no message of the model."""
    roles = request.messages.roles
    return next((place for place in reversed(range(len(roles))) if roles[place] is Role.ASSISTANT), 0)


def budget_for(model: str, settings: Settings) -> int:
    """Return how many tokens a request to ``model`` may have: ``Settings.context_window`` if it is set, else the
    published window of the model (``WINDOWS``), else, for an unknown model, ``Settings.default_window``."""
    if settings.context_window is not None:
        return settings.context_window
    return _published_window(model) or settings.default_window


@lru_cache(maxsize=256)
def _published_window(model: str) -> int | None:
    """Return the context window of ``model`` in tokens, as listed in ``WINDOWS``; ``None`` for a model not listed."""
    name = model.rpartition("/")[2].lower()
    return next((tokens for start, tokens in WINDOWS if name.startswith(start) or f".{start}" in name), None)


def smallest_budget(settings: Settings) -> int:
    """Return the number of tokens that a request may have whatever its model: ``Settings.context_window`` if it is set,
    else the smallest number in ``WINDOWS``, or ``Settings.default_window`` if that is smaller."""
    return settings.context_window or min(settings.default_window, *(tokens for _, tokens in WINDOWS))


def cut_check_threshold(budget: int, settings: Settings) -> float:
    """Return the number of tokens above which a request is checked for a cut. ``budget``: tokens that it may have.

    With ``Settings.cut`` "window" this is the share ``Settings.cut_at`` of ``budget``; with "economy" four times
    ``Settings.block_tokens`` if that is less."""
    full = budget * settings.cut_at
    return full if settings.cut == "window" else min(full, float(_WORTH_LEAST * settings.block_tokens))


def block_budget(model: str, settings: Settings) -> int:
    """Return the maximum number of tokens of a cut's resume block for ``model``: ``Settings.block_tokens``, but at most
    two fifths of the size to which a cut reduces a request (the share ``Settings.cut_to`` of the window)."""
    return min(settings.block_tokens, int(budget_for(model, settings) * settings.cut_to * _BLOCK_SHARE))


def could_exceed(request: ChatRequest, settings: Settings, *, reserved: int = 0) -> bool:
    """Whether ``request``, with ``reserved`` further tokens, could be long enough for a cut.

    A quick check that may be true wrongly: no token is shorter than a byte, except in content that is not text.
    """
    least = cut_check_threshold(budget_for(request.model, settings), settings)
    room = least - reserved - len(request.overhead.encode("utf-8", "replace"))
    for message in request.messages:
        room -= MESSAGE_TOKENS + len(message.attachments) * ATTACHMENT_TOKENS
        room -= sum(len(text.encode("utf-8", "replace")) for text in _texts(message))
        if room < 0:
            return True
    return False


def _texts(message: Message) -> Iterator[str]:
    yield from (message.text, message.thinking, message.refusal)
    for call in message.tool_calls:
        yield from (call.name, call.arguments)
    yield from (result.text for result in message.tool_results)


def plan(
    request: ChatRequest,
    counts: Sequence[int],
    *,
    overhead: int,
    frozen: Checkpointed | None,
    settings: Settings,
    anchor: int | None = None,
    shortest: Sequence[int] = (),
) -> Plan:
    """Decide how a request is shortened: not at all, by the cut in force, or by a new cut.

    - ``counts``: tokens of each message; ``overhead``: tokens of everything else in the request.
    - ``frozen``: the cut in force; ``anchor``: index in the request of the first message that it kept (its anchor), if
      known. ``None`` for none.
    - ``shortest``: tokens of each message after compression for a full window; empty if compression is off.

    The cut in force is repeated whenever its anchor is found. A block that replaces nothing is repeated only while the
    request fits the window with it. A new cut is made when the request would exceed its share of the window, or, with
    ``Settings.cut`` "economy", when a cut pays.

    A new cut lies after the cut in force and at the start of a turn; in a full window it may also lie in a finished
    turn, where the model continues after tool results. It never lies inside an open tool loop, between a tool call and
    its result, after the newest user message, or before parts that are bound to removed messages, and it is made only
    if the request gets smaller. Later system messages stay in any case, so they count as overhead.
    """
    if request.stand_down in _ELSEWHERE:
        return Untouched()
    budget = budget_for(request.model, settings)
    staying = request.staying(len(counts))
    overhead += sum(counts[place] for place in staying)
    counts, shortest = _without(counts, staying), _without(shortest, staying)
    before = list(accumulate(counts, initial=0))
    standing = _carry_on_cut(request, before, frozen, anchor)
    sent = overhead + _count_sent_tokens(request, before, standing, frozen)
    if isinstance(standing, Replay) and standing.keep_from == request.prefix and sent > budget:
        standing, sent = Untouched(), overhead + before[-1]
    full = sent > budget * settings.cut_at
    if request.stand_down or not (full or settings.cut == "economy"):
        return standing
    block = block_budget(request.model, settings) + MESSAGE_TOKENS
    start = standing.keep_from if isinstance(standing, Replay) else request.prefix
    first = max(start, request.bound - 1)
    if full:
        room = budget * settings.cut_to - overhead - before[request.prefix] - block
        before = list(accumulate(shortest or counts, initial=0))
        rooms = room, room + budget * (settings.cut_at - settings.cut_to) / 2
        keep_from = _find_roomy_boundary(request, before, first, rooms, steps=settings.block_role == "user")
    else:
        chat = _build_ledger(request, before, standing, frozen, overhead, block)
        keep_from = _find_worthwhile_cut(request, chat, (start, first), settings)
    if keep_from is None or overhead + before[request.prefix] + block + before[-1] - before[keep_from] >= sent:
        return standing
    return Cut(keep_from, standing)


def _without(counts: Sequence[int], places: Sequence[int]) -> Sequence[int]:
    """Return ``counts`` with 0 at the indexes ``places``; ``counts`` itself if either is empty."""
    if not (places and counts):
        return counts
    empty = frozenset(places)
    return [0 if place in empty else count for place, count in enumerate(counts)]


def _find_roomy_boundary(
    request: ChatRequest, before: Sequence[int], start: int, rooms: tuple[float, float], *, steps: bool
) -> int | None:
    """Return the index of the first message to keep in a full window; ``None`` if there is no place to cut after index
    ``start``.

    The messages from there on fit into the first of ``rooms`` (tokens). If they use less than half of it, because a
    turn is long, the index is chosen for the second, larger of ``rooms``. ``before``: tokens before each message.
    ``steps``: true if the index may also lie within a finished turn; must be false if the block is no user message,
    because some models do not accept an assistant message directly after such a block."""
    keep_from = _find_boundary(request, before, start, rooms[0], steps=steps)
    if keep_from is None or before[-1] - before[keep_from] >= rooms[0] / 2:
        return keep_from
    return _find_boundary(request, before, start, rooms[1], steps=steps)


def _build_ledger(
    request: ChatRequest, before: Sequence[int], standing: Plan, frozen: Checkpointed | None, overhead: int, block: int
) -> ChatCost:
    """Return the costs of the chat's calls so far, by which is decided whether another cut saves money.

    ``before``: tokens before each message. ``standing``: the decision if no new cut is made. ``frozen``: the current
    cut, ``None`` for none. ``overhead``: tokens of the request besides its messages; ``block``: tokens of a new
    block."""
    cut = None
    if isinstance(standing, Replay) and frozen is not None and frozen.dropped:
        made = standing.keep_from + max(0, frozen.turn - frozen.anchor_turn)
        gone = before[standing.keep_from] - before[request.prefix] - frozen.tokens - MESSAGE_TOKENS
        cut = CutInForce(standing.keep_from, min(made, len(before) - 2), gone)
    roles = request.messages.roles
    calls = [place for place in range(request.prefix, len(roles)) if roles[place] is Role.ASSISTANT]
    head = 0 if PUBLISHED.caching(request.model).anywhere else overhead + before[request.prefix]
    return ChatCost(before, calls, overhead, block, rates(request.model), head, cut)


def _find_worthwhile_cut(
    request: ChatRequest, chat: ChatCost, starts: tuple[int, int], settings: Settings
) -> int | None:
    """Return the index of the first message to keep if a cut saves money now; ``None`` if it does not yet.

    ``starts``: index where the messages that are sent unchanged begin, and the earliest index to keep from. Keeps as
    much as the chat can bear, at most its share. Waits for a boundary before the newest turn if keeping one more turn
    stays within the share. Keeps more if the rest would be too short for the provider's cache.
    """
    start, first = starts
    before, bearable = chat.before, chat.bearable(start, settings.cut_risk)
    share = min(settings.cut_to, _ECONOMY_SHARE) * (before[-1] - before[start])
    wanted = _find_boundary(request, before, first, share)
    keep_from = _find_boundary(request, before, first, min(share, bearable))
    if keep_from is not None and _is_too_short(request, chat, keep_from):
        keep_from = _find_boundary(request, before, first, bearable)
    if wanted is None or keep_from is None or before[-1] - before[keep_from] > bearable:
        return None
    newest = keep_from == _find_boundary(request, before, first, 0)
    waits = (newest and wanted < keep_from) or _is_too_short(request, chat, keep_from)
    return None if waits or not chat.pays(start, keep_from) else keep_from


def _is_too_short(request: ChatRequest, chat: ChatCost, keep_from: int) -> bool:
    """Whether the rest after a cut could be too short for the provider's cache, counted without the block, which may be
    small."""
    left = chat.overhead + chat.before[request.prefix] + chat.before[-1] - chat.before[keep_from]
    return left < _CACHED_LEAST * PUBLISHED.caching(request.model).least


def _count_sent_tokens(request: ChatRequest, before: Sequence[int], standing: Plan, frozen: Checkpointed | None) -> int:
    """Return the tokens of the messages that are sent with the decision ``standing``: all of them, or with a repeated
    cut those before it, its block and those that it keeps. ``before``: tokens before each message."""
    if not isinstance(standing, Replay) or frozen is None:
        return before[-1]
    return before[request.prefix] + frozen.tokens + MESSAGE_TOKENS + before[-1] - before[standing.keep_from]


def _carry_on_cut(
    request: ChatRequest, before: Sequence[int], frozen: Checkpointed | None, anchor: int | None
) -> Replay | Untouched:
    """Return the decision to repeat the current cut, if it still applies: the first message that it kept is in the
    request, and the block is shorter than what it replaces. A block that replaces nothing must precede the whole
    transcript."""
    if frozen is None or not frozen.anchor:
        return Untouched()
    if anchor is None:
        anchor = _find_anchor(request, frozen)
    if anchor is None:
        return Untouched()
    if not frozen.dropped:
        return (
            Replay(anchor, frozen.block, find_newest_at_cut(frozen, anchor))
            if anchor == request.prefix
            else Untouched()
        )
    if before[anchor] - before[request.prefix] <= frozen.tokens + MESSAGE_TOKENS:
        return Untouched()
    return (
        Untouched()
        if _has_orphaned_result(request, anchor)
        else Replay(anchor, frozen.block, find_newest_at_cut(frozen, anchor))
    )


def find_newest_at_cut(cut: Checkpointed, keep_from: int) -> int | None:
    """Return the index, in the request, of the message that was the newest one when ``cut`` was made; ``None`` if the
    cut does not record how many messages it kept. ``keep_from``: index of the first message that it kept."""
    return keep_from + cut.kept - 1 if cut.kept else None


def _find_anchor(request: ChatRequest, frozen: Checkpointed) -> int | None:
    """Index of the first message that the current cut kept; ``None`` if it is not in the request.

    The expected index is tried first, then all from the front, for clients that trim or extend their transcript: of
    several equal messages ("continue") the first one drops only what the block replaces. For the same reason an index
    counts only if at least as many messages follow as at the cut.
    """
    expected = request.prefix + frozen.dropped
    last = len(request.messages) - 1 - max(0, frozen.turn - frozen.anchor_turn)
    places: list[int] = [expected, *range(request.prefix, last + 1)]
    messages = request.messages
    anchors = (index for index in places if index <= last and can_anchor(messages[index]))
    return next((index for index in anchors if digest(messages[index]) == frozen.anchor), None)


def can_anchor(message: Message) -> bool:
    """Whether ``message`` may be the first message that a cut keeps: it starts a turn (a user message that is no mere
    tool result), or is an assistant message."""
    return message.opens_turn or message.role is Role.ASSISTANT


_STEP_LEAST: Final = 1 / 16
"""The kept messages begin within a turn only if the part of that turn which they then contain takes at least this share
of the room. Otherwise they begin with the next user message."""


def _find_boundary(
    request: ChatRequest, before: Sequence[int], start: int, room: float, *, steps: bool = False
) -> int | None:
    """Index of the first turn after ``start`` such that the messages from there on fit in ``room`` tokens; the last
    turn if none fits; ``None`` if there is no turn.

    ``steps``: an index within a finished turn counts as well, where the model continues after tool results without
    thinking, if that keeps clearly more than the next turn's start.
    """
    roles = request.messages.roles
    best = turn = len(request.messages)
    thinks = True
    answered: set[str] = set()
    called = _called_ids(request, len(request.messages))
    for index in range(len(request.messages) - 1, start, -1):
        message = request.messages[index]
        if best < len(request.messages) and before[-1] - before[index] > room:
            break
        pair(answered, message)
        if not answered.isdisjoint(called):
            continue
        if message.opens_turn:
            best, turn, thinks = index, index, not steps or _has_thinking_before(request, index)
        elif not thinks and roles[index] is Role.ASSISTANT and request.messages[index - 1].tool_results:
            best = index if before[turn] - before[index] > _STEP_LEAST * room else best
    return best if best < len(request.messages) else None


def _has_thinking_before(request: ChatRequest, opener: int) -> bool:
    """Whether the model's thinking is in the turn that ends before message ``opener``."""
    for index in range(opener - 1, request.prefix - 1, -1):
        message = request.messages[index]
        if message.thinking:
            return True
        if message.opens_turn:
            break
    return False


def _has_orphaned_result(request: ChatRequest, start: int) -> bool:
    """Whether a tool result at or after ``start`` answers a call before it. Only results before the next assistant
    message can."""
    for index in range(start, len(request.messages)):
        if request.messages.roles[index] is Role.ASSISTANT:
            return False
        if results := request.messages[index].tool_results:
            return not _called_ids(request, start).isdisjoint(result.call_id for result in results)
    return False


def _called_ids(request: ChatRequest, end: int) -> AbstractSet[str]:
    """Return the ids of all tool calls in the messages before index ``end``. Tool results with other ids have no call
    there: some clients send results without their call."""
    return {call.id for index in range(end) for call in request.messages[index].tool_calls}
