"""The health page: whether chats are being recorded, and what does not work."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tokenmizer_mw.store.address import hook_folders
from tokenmizer_mw.store.log import SessionInfo

from .markup import Child, Markup, card, join_markup, link, moment, nothing, tag, to
from .page import Page, PageRequest, heading

REASONS: Final = {
    "background_failed": "Work in the background failed: look at the log of the server.",
    "collect_failed": "A reply could not be read, so its turn was not remembered.",
    "commit_failed": "A turn could not be recorded: is the store reachable, and is there space?",
    "cut_failed": "A transcript could not be shortened and was sent as it is.",
    "draining": "The server is about to end.",
    "dropped_queue_full": "There was more work than the queue takes: raise queue_max, or add workers.",
    "extract_failed": "Facts could not be extracted; they are when somebody asks for them.",
    "extraction_not_kept": "Facts could not be recorded: is the store writable?",
    "flush_failed": "Work in the background did not end in time.",
    "guard_failed": "Messages could not be checked for attempts to take over the model.",
    "limits_not_shared": "Redis does not answer: each process counts limits for itself.",
    "limits_unavailable": "Redis does not answer: requests with keys that have limits are refused.",
    "open_failed": "A request could not be read and passed untouched.",
    "redaction_failed": "Secrets could not be looked for, so nothing of the request was kept.",
    "session_failed": "The session of a request could not be determined.",
    "store_damaged": "The database is damaged: restore a backup.",
    "store_disk_full": "The disk of the database is full: make room; the turns in the spool are written then.",
    "store_disk_unreadable": "The disk of the database cannot be read or written.",
    "store_late": "The store answers too slowly for chats to wait: their turns are written later.",
    "store_locked": "Another process holds the database locked: end it, or wait for it.",
    "store_no_access": "The database cannot be opened: look at its file's permissions, or at role and password.",
    "store_no_answer": "The database does not answer.",
    "store_overloaded": "The database has too many connections, or too little memory.",
    "store_read_only": "The database is read-only: look at its file, its directory and its file system.",
    "store_unreachable": "The database cannot be reached over the network.",
    "store_unavailable": "The store cannot be used at the moment: is the database there, and does it answer?",
    "turn_lost": "Turns of chats could not be recorded and are lost: look at the log of the server.",
    "turn_spooled": "Turns of chats were not recorded in time; they wait in memory for the store.",
}
"""Reason in the server's health (``HealthAnswer``) -> what it means, and what to do."""

UNRECORDED: Final = {
    "malformed_request": "The body of a request is not in the format that its path stands for.",
    "no_session": "Nothing in a request names its session: send the header x-session-id.",
    "request_encoded": "The body of a request is compressed: send it without content-encoding.",
    "request_too_large": "A request is larger than request_max.",
    "session_invalid": "The name of a session or tenant cannot be used: it has 1 to 256 printable characters.",
}
"""Name of a counter of requests that were forwarded without being recorded -> why they were not recorded, and what to
do."""

NOTED: Final = {
    "cut_without_block": (
        "Old messages were left out, and a block had no room: use a larger window, or shorten the system prompt or the"
        " tool definitions. The log names the sessions."
    ),
    "window_exceeded": (
        "Requests larger than the model's window were sent on: their newest message, or what may not be cut, does not"
        " fit. The log names the sessions."
    ),
}
"""Name of a counter of requests that did not fit the model's window, although the memory works -> what happened, and
what to do."""

_PAGE_ABOUT_IT: Final = "https://github.com/tokenmizer-mw/tokenmizer-mw/blob/main/docs/not-remembered.md"

_COUNTED_NOTHING: Final = (
    "This process has counted nothing yet. Each process counts its own requests: of several workers, one answers you."
)

_NEEDS_ADMIN: Final = "The counters are shown to callers with the scope admin."

_STATES: Final = {
    "ok": ("\u2713", "All is well", "The store answers, and nothing failed in the last minutes."),
    "noted": ("!", "It works, but not every request fits", "The store answers, and every turn is recorded."),
    "elsewhere": (
        "\u2713",
        "The store answers",
        "This process has recorded no request itself. What a proxy, an application or hooks failed to record cannot be"
        " seen from here: each of them counts and logs its own failures.",
    ),
    "degraded": ("!", "It works, with losses", "Chats go on; less is remembered than should be."),
    "unrecorded": (
        "!",
        "Nothing was remembered yet",
        "The store answers, but this process has recorded no turn of a chat.",
    ),
    "unready": ("\u2717", "It does not work", "Chats go on without memory until this is mended."),
}


def show_health(request: PageRequest) -> Page:
    """Return the page with the health of this process and its reasons. If the store can be used, the page also says
    when and in which session something was last recorded, and the same for hooks of coding agents. Callers with the
    scope "admin" also see the counters of this process."""
    is_admin = request.caller.may("admin")
    found = request.health.look(with_place=is_admin)
    counters = request.memory.counters() if is_admin else {}
    unrecorded = _reasons_of_no_turn(counters) if found["status"] == "ok" else []
    noted = sorted(NOTED.keys() & counters.keys())
    named = _state_of(found["status"], request.memory.counters(), unrecorded=bool(unrecorded), noted=bool(noted))
    mark, title, text = _STATES[named]
    known = REASONS | UNRECORDED | NOTED
    names = (*found["reasons"], *unrecorded, *noted)
    reasons = [tag("li", tag("code", name), " ", known.get(name, "")) for name in names]
    state = tag(
        "section",
        tag("p", tag("span", mark, class_="state-mark", aria_hidden="true"), tag("strong", title), class_="state"),
        tag("p", text),
        tag("ul", reasons, class_="reasons") if reasons else None,
        tag("p", tag("a", "Why is my chat not remembered", href=_PAGE_ABOUT_IT)) if unrecorded else None,
        tag("p", "The database: ", tag("code", found["place"])) if "place" in found else None,
        class_=f"card health is-{'degraded' if named in ('unrecorded', 'noted') else found['status']}",
    )
    recorded = _recording_card(request) if found["ready"] else None
    lead = tag("p", "Whether what was said is being remembered.", class_="lead")
    counted = _counters(counters, _COUNTED_NOTHING if is_admin else _NEEDS_ADMIN)
    return Page("Health", join_markup(heading("Health", lead), state, recorded, counted), "status")


def _state_of(status: str, counters: Mapping[str, int], *, unrecorded: bool, noted: bool) -> str:
    """Return the key in ``_STATES`` of the text that the page shows. If ``status`` (the health) is not "ok", it is
    ``status``.

    - ``unrecorded``: whether requests passed and none was recorded.
    - ``noted``: whether a counter in ``NOTED`` is not 0.
    - ``counters``: the counters of this process. If it has recorded turns of chats itself, the key is "ok", else
      "elsewhere".
    """
    if status != "ok":
        return status
    if unrecorded:
        return "unrecorded"
    if noted:
        return "noted"
    return "ok" if any(name.startswith("turn_") for name in counters) else "elsewhere"


def _recording_card(request: PageRequest) -> Markup | None:
    """Return the card that says when any process last recorded something in the store, and when hooks of coding agents
    last did, if they ever did. ``None`` if the store has no sessions."""
    found = _find_last_recorded(request)
    if found is None:
        return None
    last = tag("p", "The store last recorded something ", *_name_session(request, found.newest))
    if found.hooked is None:
        return card("Recorded by any process", last)
    hooked = tag("p", "Hooks of coding agents last recorded something ", *_name_session(request, found.hooked))
    place = _find_hook_logs() if request.caller.may("admin") else ""
    log = tag("p", "Errors of hooks are in a log of their own: ", tag("code", place), ".", class_="hint")
    return card("Recorded by any process", last, hooked, log if place else None)


def _find_hook_logs() -> str:
    """Return the path of the logs of this user's hooks, such as "/tmp/tokenmizer-mw-1000/*.log". It is derived from the
    environment variables of this process. "" on systems where hooks write no log."""
    folders = hook_folders(os.environ)
    written = [folder for folder in folders if any(Path(folder).glob("*.log"))]
    return os.path.join((written or folders)[0], "*.log") if folders else ""


def _reasons_of_no_turn(counters: Mapping[str, int]) -> list[str]:
    """Return the keys of ``UNRECORDED`` that say why requests were not recorded. ``[]`` if no such request was counted,
    or if any turn of a chat was recorded."""
    if any(name.startswith("turn_") for name in counters):
        return []
    return sorted(UNRECORDED.keys() & counters.keys())


def _counters(counters: dict[str, int], reason: str) -> Markup:
    """Return the card with the counters. ``reason``: the text to show if there are none."""
    rows = [
        tag("tr", tag("th", tag("code", name), scope="row"), tag("td", f"{count:,}", class_="number"))
        for name, count in sorted(counters.items())
    ]
    shown = tag("table", tag("tbody", rows), class_="counters") if rows else nothing(reason)
    return card("Counted by this process", shown)


_HOOKED: Final = re.compile(r"[^/]+-[0-9a-f]{8}/.+")
"""Matches the session ids that hooks of coding agents give: name of the project, digest of its folder, and the agent's
own session id."""

_SESSIONS_READ: Final = 200
"""Number of the most recently active sessions among which one that hooks recorded is searched."""


class _LastRecorded(NamedTuple):
    """``newest``: the session that changed last. ``hooked``: among those that hooks of coding agents recorded, the one
    that changed last; ``None`` if none was found."""

    newest: SessionInfo
    hooked: SessionInfo | None


def _find_last_recorded(request: PageRequest) -> _LastRecorded | None:
    """Return the sessions of the tenant that changed last; ``None`` if the tenant has no sessions."""
    infos = request.memory.log.sessions(request.tenant, limit=_SESSIONS_READ)
    if not infos:
        return None
    return _LastRecorded(infos[0], next((info for info in infos if _HOOKED.fullmatch(info.key.id)), None))


def _name_session(request: PageRequest, info: SessionInfo) -> list[Child]:
    """Return the end of a sentence: when a session last changed, and a link to the session."""
    address = to("session", id=info.key.id)
    return [moment(info.updated_at, request.now), ", in ", link(address, tag("code", info.key.id)), "."]
