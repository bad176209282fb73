"""Completes errors that the user has left behind for other work as probably fixed, and reopens them when mentioned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.compose.validate import format_quote
from tokenmizer_mw.extract.dialogue.situation import Numbered
from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.rules.acknowledgement_words import FAULT_WORDS
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.event import WENT_ON
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .ledger import Ledger
from .session_course import NEWEST_MAX, move_as_gone_past, words_of_postponing_sentences

ERROR_MESSAGES: Final = 3
OTHER_MATTERS: Final = 2
"""An error counts as probably fixed when this many messages of the user (``ERROR_MESSAGES``) have passed without it,
and this many of the user's messages since (``OTHER_MATTERS``) have stated other work or errors. In labelled sessions,
one of 24 errors closed in this way was still open at the end."""

MENTION_WORDS: Final = 2
"""A message that has this many content stems of an error mentions it."""
MENTION_MAX: Final = 4000
"""Number of characters of a message in which mentions are looked for."""


def close_errors_left_behind(ledger: Ledger, message: Message, before: Sequence[Numbered]) -> None:
    """Complete the open errors that the user has left behind, as probably fixed (see ``OTHER_MATTERS``).

    An error stays open if its message postponed it, if one of the newest messages mentions it or, said by the user, has
    one of ``FAULT_WORDS``, or if the assistant's last message was a question. Call it after the findings of the user's
    ``message`` were placed. ``before``: the messages before it, with their numbers.
    """
    asked = [number for number, said in before if said.role is Role.USER]
    told = next((said.text for _, said in reversed(before) if said.role is Role.ASSISTANT), "")
    if len(asked) < ERROR_MESSAGES - 1 or told.rstrip().endswith(("?", "\uff1f")):
        return
    begin, messages = asked[1 - ERROR_MESSAGES], [*before, (ledger.turn, message)]
    for error in list(islice(ledger.graph.newest_unfinished(), NEWEST_MAX)):
        is_error = error.type is NodeType.ERROR and error.status is Status.ACTIVE
        if is_error and _is_left(ledger, error, begin) and not _is_kept_open(error, messages, begin):
            move_as_gone_past(ledger, error, Status.COMPLETED)


def reopen_mentioned_errors(ledger: Ledger, text: str) -> None:
    """Reopen the errors that counted as fixed only because the session went on, and that the user's message ``text``
    mentions. Call it before the findings of the message are placed, which may say that they are fixed."""
    words = content(text[:MENTION_MAX])
    for error in list(islice(ledger.graph.newest_settled(), NEWEST_MAX)):
        if error.type is NodeType.ERROR and ledger.graph.life(error.id).reason == WENT_ON and _mentions(words, error):
            quote = format_quote(text)
            again = Finding(error.type, error.label, Status.ACTIVE, Trust.STATED, error.confidence, quote=quote)
            ledger.move(error, Status.ACTIVE, again)


def _is_left(ledger: Ledger, error: Node, begin: int) -> bool:
    """Whether no message from number ``begin`` on has touched an error, and enough messages since that have stated
    other work."""
    touched, graph = ledger.last_touched(error), ledger.graph
    newest = (*islice(graph.newest_unfinished(), NEWEST_MAX), *islice(graph.newest_settled(), NEWEST_MAX))
    others = {node.source.turn for node in newest if node.source.turn > touched and _is_work_of_user(node)}
    return touched < begin and len(others) >= OTHER_MATTERS


def _is_work_of_user(node: Node) -> bool:
    """Whether a node is work or an error that the user stated."""
    return node.source.role == "user" and node.type in (NodeType.TASK, NodeType.GOAL, NodeType.ERROR)


def _is_kept_open(error: Node, messages: Iterable[Numbered], begin: int) -> bool:
    """Whether the message that states an error postpones it, or one of ``messages`` from number ``begin`` on may be
    about it."""
    for number, message in messages:
        text = message.text[:MENTION_MAX]
        if number == error.source.turn and words_of_postponing_sentences(text):
            return True
        if number >= begin and message.role is not Role.TOOL and _may_concern(error, text, message.role):
            return True
    return False


def _may_concern(error: Node, text: str, role: Role) -> bool:
    """Whether a text mentions an error or, said by the user, has a word that may be about any error."""
    words = (word.strip(",.!?:;") for word in text.casefold().split())
    return _mentions(content(text), error) or (role is Role.USER and not FAULT_WORDS.isdisjoint(words))


def _mentions(words: frozenset[str], error: Node) -> bool:
    """Whether a text with these content stems mentions an error."""
    known = content(error.label)
    return len(words & known) >= min(MENTION_WORDS, len(known)) > 0
