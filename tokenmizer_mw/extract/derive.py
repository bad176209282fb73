"""Derive events from new messages and the graph so far.

``derive`` reads each message once (``reading``) and turns what was read into events, by comparing it with the graph
(``resolve``). The events are final: ``graph.fold``, which applies them, decides nothing. The graph is never searched as
a whole: nodes are found by their id, by their slot (what the fact is a value of, such as "database@ord"), by shared
words among few candidates, or among the newest.
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
    """Return the events that ``messages`` (with their numbers, oldest first) add to a session whose graph is ``graph``.

    - ``context``: the last messages before them, oldest first; ``CONTEXT_MESSAGES`` of them are enough.
    - ``flagged``: maps the numbers of messages that look like prompt injection to the names of the patterns found in
      them; ``None``: no such message. They are recorded in ``Derived``. If ``settings.guard`` is "fence" or "block", no
      facts are taken from the sentences of these messages.

    Messages that the graph already covers (``graph.derived``) are skipped, and so are those up to one in which the
    client application says that they were only examples. The last event is ``Derived``; [] if there is no new message.
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
    """The situation of a message, ``numbered``, in a session with this graph, after the messages ``before`` it."""
    goal = graph.in_slot("goal")
    return read_situation(
        numbered,
        before,
        has_goal=graph.count_added(NodeType.GOAL) > 0,
        goal_asked=goal is not None and goal.confidence <= GOAL_ASKED,
    )


def _is_passed_over(message: Message) -> bool:
    """Whether a message is not read at all: a system message, the notice that the user interrupted the assistant, or a
    user's message that is empty without the host's texts."""
    return message.role is Role.SYSTEM or is_interruption(message.text) or _is_empty(message)


@lru_cache(maxsize=2 * CONTEXT_MESSAGES)
def _own_words(message: Message) -> Message:
    """``message`` without the texts that its host (the client application) inserted. What the assistant says to the
    user by a tool call, such as "ask_user", is appended to its text."""
    return add_voiced_text(without_host_texts(message))


def _is_empty(message: Message) -> bool:
    """Whether a user's message is empty without the texts that its host inserted."""
    return message.role is Role.USER and not (message.text.strip() or message.tool_results or message.attachments)


__all__ = ["CONTEXT_MESSAGES", "derive"]
