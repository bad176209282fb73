"""Summaries of sessions, as lists of sessions show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.model.node import GOAL_CHANGED, NodeType
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.wire.host_texts import remove_host_texts

_TITLE_MAX: Final = 100
_EVENTS_READ: Final = 20
"""Number of a session's first events that are searched for the user's first question."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a list shows about a session.

    - ``goal``: the newest goal that still holds, as it is stored, "" if none was stated.
    - ``title``: the goal's current wording, beginning with a capital letter, else the start of the first question, else
      "".
    - ``project``: the part of the session id before the last "/", "" if there is none.
    - ``open_work``: number of unfinished tasks and errors.
    """

    goal: str
    title: str
    project: str
    open_work: int


def summarize_session(memory: SessionMemory, key: SessionKey) -> SessionSummary:
    """Return what a list shows about a session: goal, title, project, and the number of unfinished tasks and errors.
    Raises ``UnknownSession`` if the store does not have the session, and ``StoreError`` if the store fails."""
    goal, open_work = memory.view(key.id, _goal_and_open_work, tenant=key.tenant)
    title = _goal_title(goal) or find_first_question(memory.log, key)
    return SessionSummary(goal, title, key.id.rpartition("/")[0], open_work)


def _goal_title(goal: str) -> str:
    """Return ``goal`` as a title: without its former wording if it was changed, and with a capital first letter, unless
    its first word is a name such as "iOS" or "setup.py". "" gives ""."""
    _, changed, now = goal.partition(GOAL_CHANGED)
    text = now.removesuffix(")") if changed else goal
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


def _goal_and_open_work(state: SessionState) -> tuple[str, int]:
    goals = [node.label for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return (goals[-1] if goals else ""), len(state.graph.unfinished_nodes())


def find_first_question(log: EventLog, key: SessionKey) -> str:
    """Return the start of the user's first message in the session as one line of at most 100 characters, without texts
    that the client application added; "" if the session's first 20 events contain no such message."""
    for recorded in log.read(key, upto=_EVENTS_READ):
        event = recorded.event
        if isinstance(event, MessageRecorded) and event.message.role is Role.USER:
            words = flatten(remove_host_texts(event.message.text), _TITLE_MAX)
            if words:
                return words
    return ""
