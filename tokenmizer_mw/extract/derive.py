"""Derives events from new messages and the graph so far.

``derive`` reads each message once (``reading``), and resolves what was read against the graph (``resolve``), as events.
Fold only applies events, so that what is decided here is final. Nothing here scans the graph: nodes are found by key,
by slot, by shared words among few candidates, or among the newest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from tokenmizer_mw.extract import CONTEXT_MESSAGES
from tokenmizer_mw.extract.candidates.goal import GOAL_ASKED
from tokenmizer_mw.extract.dialogue.situation import Numbered, Situation, read_situation
from tokenmizer_mw.extract.reading import read_message
from tokenmizer_mw.extract.resolve.ledger import Ledger
from tokenmizer_mw.extract.resolve.message import resolve_message
from tokenmizer_mw.extract.structure.client import is_interruption
from tokenmizer_mw.extract.structure.speech_calls import add_voiced_text
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Derived, Event
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.host_texts import ends_examples, without_host_texts


def derive(
    graph: SessionGraph,
    messages: Sequence[Numbered],
    context: Sequence[Numbered],
    settings: Settings,
    flagged: Mapping[int, tuple[str, ...]] | None = None,
) -> list[Event]:
    """Return the events that ``messages`` (with their numbers, oldest first) add to a session with the graph ``graph``.

    - ``context``: the last messages before them, oldest first; ``CONTEXT_MESSAGES`` are enough.
    - ``flagged``: names of what is suspicious about messages, by number. It is recorded; if ``settings.guard`` fences,
      the prose of these messages counts as quoted.

    Messages that the graph already covers are skipped. The last event is ``Derived``; [] if there is no new message.
    Pure: ``graph`` is not changed.
    """
    ledger = Ledger(graph.fork())
    suspicious = flagged or {}
    examples = max((number for number, message in messages if ends_examples(message)), default=0)
    before = [(number, _own_words(message)) for number, message in list(context)[-CONTEXT_MESSAGES:]]
    for number, message in messages:
        numbered = (number, _own_words(message))
        if numbered[0] > max(graph.derived, examples):
            fenced = settings.guard in ("fence", "block") and numbered[0] in suspicious
            if not _is_passed_over(numbered[1]):
                read = read_message(
                    numbered, before, _situation(ledger.graph, numbered, before), settings, fenced=fenced
                )
                resolve_message(ledger, read, settings)
        before = [*before[1 - CONTEXT_MESSAGES :], numbered]
    last = messages[-1][0] if messages else 0
    if last > graph.derived:
        news = {turn: names for turn, names in suspicious.items() if graph.derived < turn <= last}
        ledger.emit(Derived(last, news))
    return ledger.events


def _situation(graph: SessionGraph, numbered: Numbered, before: Sequence[Numbered]) -> Situation:
    """The situation of a message in a session with this graph."""
    goal = graph.in_slot("goal")
    return read_situation(
        numbered,
        before,
        has_goal=graph.count_added(NodeType.GOAL) > 0,
        goal_asked=goal is not None and goal.confidence <= GOAL_ASKED,
    )


def _is_passed_over(message: Message) -> bool:
    """Whether a message says nothing of the session: a host's instructions, an interruption, or nothing."""
    return message.role is Role.SYSTEM or is_interruption(message.text) or _is_empty(message)


@lru_cache(maxsize=2 * CONTEXT_MESSAGES)
def _own_words(message: Message) -> Message:
    """``message`` without what a host put into it, with what tools say to the user."""
    return add_voiced_text(without_host_texts(message))


def _is_empty(message: Message) -> bool:
    """Whether nobody says anything in ``message``, because a host wrote all of it."""
    return message.role is Role.USER and not (message.text.strip() or message.tool_results or message.attachments)


__all__ = ["CONTEXT_MESSAGES", "derive"]
