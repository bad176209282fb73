"""The situation of a message: who speaks, the messages before it, and what is known of the session's goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tokenmizer_mw.extract import CONTEXT_MESSAGES
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, read_order, strip_lead
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.extract.text.similar import SIMILAR_MAX, content
from tokenmizer_mw.model.message import Message, Role

from .offers import Offers

ASKED_MAX: Final = 2_000
"""How many characters of the user's last message are read to find out whether it was an order."""

TOLD_MAX: Final = 20_000
"""How many characters at the end of the assistant's last message are read for what a reply may refer to."""

QUESTION_MAX: Final = 400
"""How many characters at the end of the assistant's message are searched for its last question."""

Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""


@dataclass(frozen=True)
class Situation:
    """The situation in which message ``turn`` (its number in the session) is read. Only the last ``CONTEXT_MESSAGES``
    messages before it are looked at.

    - ``speaker``: who speaks; any message that is not the user's counts as the assistant's.
    - ``asked``: the user's last message before it, with its number; ``None`` if there is none among the messages looked
      at.
    - ``told``: the assistant's last message with text before it, with its number; only set for a message of the user,
      else ``None``.
    - ``proposed``: the assistant's last message with text before ``asked``, with its number; only set for a message of
      the assistant, else ``None``.
    - ``has_goal``: whether the goal of the session is known; ``goal_asked``: whether only a question gave it.
    - ``tooled``: whether the message, or one looked at, contains tool calls or results.
    """

    turn: int
    speaker: Speaker
    asked: Numbered | None = None
    told: Numbered | None = None
    has_goal: bool = False
    goal_asked: bool = False
    tooled: bool = False
    proposed: Numbered | None = None

    @cached_property
    def ordered(self) -> bool:
        """Whether the user's last message (``asked``) asks for work rather than only for an answer: it has a sentence
        that is no question, or an order in the form of a question ("can you fix the login?"). Only its first
        ``ASKED_MAX`` characters are read.

        If ``asked`` is ``None``: true if there are messages further back than those looked at, because the assistant
        has then been working for some time, else false.
        """
        if self.asked is None:
            return self.turn > CONTEXT_MESSAGES
        text = replace_surrogates(self.asked[1].text[:ASKED_MAX])
        said = [bound_sentence(text[start:end]) for start, end in find_sentences(text, 0, len(text))]
        return any(not is_question(sentence) or read_order(strip_lead(sentence)) for sentence in said)

    @cached_property
    def offers(self) -> Offers:
        """What the assistant's last message offers; nothing if ``told`` is ``None``."""
        return Offers(replace_surrogates(self.told[1].text[-TOLD_MAX:]) if self.told is not None else "")

    @cached_property
    def told_words(self) -> frozenset[str]:
        """Content stems (see ``text.similar``) of ``told``, the assistant's last message; empty if it is ``None``."""
        if self.told is None:
            return frozenset()
        return stems_in(self.told[1].text[-TOLD_MAX:])

    @cached_property
    def proposed_words(self) -> frozenset[str]:
        """Content stems (see ``text.similar``) of ``proposed``; empty if it is ``None``."""
        return stems_in(self.proposed[1].text[-TOLD_MAX:]) if self.proposed is not None else frozenset()

    @cached_property
    def asked_words(self) -> frozenset[str]:
        """Content stems (see ``text.similar``) of ``asked``, the user's last message; empty if it is ``None``."""
        return stems_in(self.asked[1].text[:ASKED_MAX]) if self.asked is not None else frozenset()


def stems_in(text: str) -> frozenset[str]:
    """Return the content stems (see ``text.similar``) of a text of any length; empty for a text without any."""
    text = " ".join(replace_surrogates(text).split())
    pieces = range(0, len(text), SIMILAR_MAX)
    return frozenset().union(*(content(text[start : start + SIMILAR_MAX]) for start in pieces))


def last_question(told: str) -> str:
    """Return the last sentence of ``told`` (the text of the assistant's last message) if it ends with a question mark;
    else ""."""
    tail = replace_surrogates(told[-QUESTION_MAX:]).rstrip()
    if not tail.endswith(("?", "\uff1f")):
        return ""
    start, end = find_sentences(tail, 0, len(tail))[-1]
    return bound_sentence(tail[start:end])


def read_situation(
    message: Numbered,
    before: Sequence[Numbered],
    *,
    has_goal: bool,
    goal_asked: bool = False,
) -> Situation:
    """Return the situation of ``message``. ``before``: the messages before it, oldest first; ``has_goal`` and
    ``goal_asked``: as in ``Situation``."""
    turn, said = message
    near = before[-CONTEXT_MESSAGES:]
    asked = next((item for item in reversed(near) if item[1].opens_turn), None)
    told = next((item for item in reversed(near) if item[1].role is Role.ASSISTANT and item[1].text.strip()), None)
    speaker = Speaker.USER if said.role is Role.USER else Speaker.ASSISTANT
    tooled = any(one.tool_calls or one.tool_results for one in (said, *(one for _, one in near)))
    heard = told if said.role is Role.USER else None
    proposed = None
    if asked is not None and said.role is Role.ASSISTANT:
        earlier = (one for one in reversed(near) if one[0] < asked[0] and one[1].role is Role.ASSISTANT)
        proposed = next((one for one in earlier if one[1].text.strip()), None)
    return Situation(turn, speaker, asked, heard, has_goal, goal_asked, tooled, proposed)
