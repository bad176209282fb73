"""How sessions were recorded: what pages say of a session without requests, and when hooks last recorded something.

Hooks, imports and ``SessionMemory.record`` store messages only. Cuts, reminders and cost belong to requests, which the
middleware, the proxy and the transports see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.log import SessionInfo

from .markup import Child, Markup, format_count, join_markup, link, message_link, moment, nothing, tag, to
from .page import PageRequest

HOOKED: Final = re.compile(r"[^/]+-[0-9a-f]{8}/.+")
"""Ids that hooks give to sessions: the project, a digest of its folder, and the agent's own id."""

SESSIONS_READ: Final = 200
"""Sessions, the most recently active first, among which one of hooks is looked for."""

_SEEN_NONE: Final = (
    "No request of this session was seen: hooks, an import or memory.record stored its messages. Cuts, reminders and"
    " cost belong to requests."
)


@dataclass(frozen=True, slots=True)
class MessagesOnly:
    """A session none of whose requests was seen: the number of its checkpoints, and the newest message of the last."""

    checkpoints: int = 0
    turn: int = 0


def messages_only(state: SessionState) -> MessagesOnly | None:
    """Return what is known of a session without requests; ``None`` if a request was seen, or a cut was made."""
    if state.outcomes or state.cut is not None:
        return None
    last = state.checkpoints[-1].checkpoint.turn if state.checkpoints else 0
    return MessagesOnly(len(state.checkpoints), last)


def explain_no_requests(request: PageRequest, found: MessagesOnly) -> Markup:
    """Return why there are no requests, what is known of compactions instead, and how to see requests."""
    return join_markup(nothing(_SEEN_NONE), _mention_compactions(request, found), _suggest_proxy())


def _mention_compactions(request: PageRequest, found: MessagesOnly) -> Markup:
    if not found.checkpoints:
        return tag("p", "A compaction by an agent itself leaves no trace here without hooks.", class_="hint")
    marks = link(to("history", id=request.id), format_count(found.checkpoints, "checkpoint"))
    place = message_link(request.id, found.turn) if found.turn else "the beginning"
    return tag(
        "p",
        *("Hooks set a checkpoint before each compaction of the agent; this session has ", marks),
        *(", the last one at ", place, "."),
        class_="hint",
    )


def _suggest_proxy() -> Markup:
    return tag(
        "p",
        *("To see an agent's requests and what they cost, let it use the proxy: ", tag("code", "tokenmizer-mw serve")),
        ".",
        class_="hint",
    )


class LastRecorded(NamedTuple):
    """The session that changed last, and the one of hooks that did; ``None``: hooks record nothing here."""

    newest: SessionInfo
    hooked: SessionInfo | None


def find_last_recorded(request: PageRequest) -> LastRecorded | None:
    """Return the sessions of the tenant that changed last; ``None`` for an empty store."""
    infos = request.memory.log.sessions(request.tenant, limit=SESSIONS_READ)
    if not infos:
        return None
    return LastRecorded(infos[0], next((info for info in infos if HOOKED.fullmatch(info.key.id)), None))


def name_session(request: PageRequest, info: SessionInfo) -> list[Child]:
    """Return when a session last changed, and a link to it, as the end of a sentence."""
    address = to("session", id=info.key.id)
    return [moment(info.updated_at, request.now), ", in ", link(address, tag("code", info.key.id)), "."]
