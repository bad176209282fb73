"""A chat request with its passages condensed: the same request with other characters, ready to be cut or sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.context.window import sent_before
from tokenmizer_mw.model.saving import StageSaving
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.edits import edited
from tokenmizer_mw.wire.markers import message_markers
from tokenmizer_mw.wire.passages import Steps, spot_edits

from .chat import PlacedPassage, read, texts
from .history import pruned_before
from .passage import PassageKind
from .pipeline import Condensed, Options, condense

MARKED: Final = "compress_marked"
BOUND: Final = "compress_bound"

_MARKS: Final = ("cache_control", "cachePoint")
_NEVER: Final = frozenset(
    {"history_on_server", "provider_compacts", "messages_twice", "unknown_role", "not_rewritable", "no_list"}
)
"""Reasons to stand down for which not even a text is changed: what stands before the messages is not known, or who
speaks in them."""


@dataclass(frozen=True, slots=True)
class CondensedRequest:
    """``request`` is what goes on, the same object when nothing changed. ``state`` is known for the call after this
    one. ``savings`` are those of each stage. ``moved``: a step of ``history`` came since the call before."""

    request: ChatRequest
    state: Condensed
    savings: tuple[StageSaving, ...] = ()
    moved: Moved | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A step of ``history``: ``message`` is the first that went out otherwise in the call before, ``left_out`` the
    tokens that all stages left out of those before it."""

    message: int
    left_out: int


def refusal(request: ChatRequest, *, marked: bool) -> str:
    """Why a request passes with its texts as they are, as the name of a counter; "" when they may change.

    ``marked``: it may although its messages carry marks for a provider's cache. Where thinking is bound to what stood
    before it when it was thought, nothing before it may change.
    """
    if request.stand_down in _NEVER:
        return request.stand_down
    if request.bound:
        return BOUND
    return MARKED if not marked and _marked(request) else ""


def condense_request(
    request: ChatRequest,
    options: Options,
    counter: TokenCounter,
    *,
    start: int | None = None,
    before: Condensed | None = None,
    cut: int | None = None,
) -> CondensedRequest:
    """``request`` with the passages of its messages from ``start`` on condensed (``None``: all behind the prefix).

    ``before`` is the state of the session's last call; it is used up. ``cut``: the newest message when the cut in force
    was made, ``None`` for none.
    """
    placed = read(request.messages, request.prefix if start is None else start)
    state = condense(texts(placed), options, before, cut=cut)
    changed = changes(placed, state)
    if not changed:
        return CondensedRequest(request, state)
    edits = [edit for number, new in changed.items() for edit in spot_edits(request.text, request.spans[number], new)]
    return CondensedRequest(
        edited(request, edits), state, state.savings(counter), _moved(request, state, options, counter, cut)
    )


def _moved(
    request: ChatRequest, state: Condensed, options: Options, counter: TokenCounter, cut: int | None
) -> Moved | None:
    """The step between the session's call before, as far as this one tells of it, and this one."""
    if not state.pruned:
        return None
    known = sent_before(request)
    sent = [passage for passage in state.passages if passage.message < known]
    before = pruned_before(sent, keep=options.keep, step=options.step, cut=cut)
    if before >= state.pruned:
        return None
    first = state.passages[before].message
    found = zip(state.passages, state.texts, strict=True)
    changed = ((one.text, text) for one, text in found if one.message < first and text is not one.text)
    return Moved(first, sum(counter.count(whole) - counter.count(text) for whole, text in changed))


def changes(placed: Sequence[PlacedPassage], state: Condensed) -> dict[int, dict[Steps, str]]:
    """The texts that changed, by the number of their message and their place in it."""
    found: dict[int, dict[Steps, str]] = {}
    for one, text in zip(placed, state.texts, strict=True):
        if one.spot is not None and text is not one.passage.text and text != one.passage.text:
            found.setdefault(one.passage.message, {})[one.spot.steps] = one.spot.spelled(text)
    return found


def results(placed: Sequence[PlacedPassage], state: Condensed) -> dict[int, tuple[str, ...]]:
    """The texts of the results of each message in which one changed, in their order."""
    found: dict[int, list[str]] = {}
    changed = set()
    for one, text in zip(placed, state.texts, strict=True):
        if one.passage.kind is PassageKind.RESULT:
            found.setdefault(one.passage.message, []).append(text)
            if text != one.passage.text:
                changed.add(one.passage.message)
    return {number: tuple(texts) for number, texts in found.items() if number in changed}


def shares(state: Condensed, messages: int) -> list[float]:
    """The share of the text of each message that is left out."""
    whole, gone = [0] * messages, [0] * messages
    for passage, text in zip(state.passages, state.texts, strict=True):
        whole[passage.message] += len(passage.text)
        gone[passage.message] += len(passage.text) - len(text)
    return [left / size if size else 0.0 for left, size in zip(gone, whole, strict=True)]


def _marked(request: ChatRequest) -> bool:
    """Whether a message carries a mark, or a part of one."""
    if not any(f'"{name}"' in request.text for name in _MARKS):
        return False
    sent = [one for raw in request.messages.sent for one in (raw if isinstance(raw, tuple) else (raw,))]
    return any(True for _ in message_markers([{"content": [one]} for one in sent], _MARKS))
