"""Find what the newest turn of a request asks for, and after which message a reminder belongs. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.host_texts import is_continuation

from .asking import asks
from .terms import content_terms

QUERY_MAX: Final = 4_000
"""Characters of a message that are ranked: half from its start, half from its end, where the question stands."""

_THIN: Final = 2
"""A question with fewer words of its own than this takes up what was said right before it."""
_BEFORE_MAX: Final = 600


@dataclass(frozen=True, slots=True)
class Question:
    """What the newest turn of a request asks for.

    - ``place``: index of the message that opens the turn.
    - ``newest``: index of the newest message of a user or a tool.
    - ``text``: the text to search for; "" when the turn asks for nothing in words.
    - ``shortened``: ``text`` is only the beginning and the end of the message.
    - ``asks``: the message asks a question or refers to what was said before.
    """

    place: int
    newest: int
    text: str
    shortened: bool = False
    asks: bool = True

    @property
    def in_loop(self) -> bool:
        """Whether tools have answered since the turn began."""
        return self.newest > self.place


def read_question(request: ChatRequest, keep_from: int) -> Question | None:
    """Return the question of the newest turn of ``request``, among the messages from index ``keep_from`` on that are
    sent.

    ``None`` when none of them opens a turn. The text is "" when the turn begins with the summary of a client that
    compacted its chat.
    """
    messages, roles = request.messages, request.messages.roles
    newest: int | None = None
    for place in range(len(roles) - 1, keep_from - 1, -1):
        if newest is None and roles[place] in (Role.USER, Role.TOOL):
            newest = place
        if opens_turn(request, place):
            if is_continuation(messages[place]):
                return Question(place, newest or place, "", asks=False)
            text = messages[place].text.strip()
            thin = len(content_terms(text[:QUERY_MAX])) < _THIN
            before = _said_before(request, place, keep_from) if thin else ""
            query = shorten_query(text)
            whole = f"{query}\n{before}".strip()
            return Question(place, newest or place, whole, query != text, not thin and asks(text))
    return None


def opens_turn(request: ChatRequest, place: int) -> bool:
    """Whether message ``place`` opens a turn."""
    return request.messages.roles[place] is Role.USER and request.messages[place].opens_turn


def ask(text: str) -> Question:
    """Return the question for a text that is not a message of a request."""
    said = text.strip()
    query = shorten_query(said)
    return Question(0, 0, query, query != said, bool(content_terms(query)) and asks(said))


def add_question(request: ChatRequest, question: str) -> ChatRequest | None:
    """Return ``request`` (of a host, without bytes) with ``question`` as its newest message, unless that message asks
    it already. ``None`` when nothing is asked: no question, and the chat is empty or ends with a reply.
    """
    messages = request.messages
    last = messages[-1] if messages else None
    is_answered = last is None or (last.role is Role.ASSISTANT and not last.tool_calls)
    if not question.strip():
        return None if is_answered else request
    opener = next((one for one in reversed(messages) if one.role is Role.USER and one.opens_turn), None)
    if not is_answered and opener is not None and opener.text.strip() == question.strip():
        return request
    return replace(request, messages=messages.followed_by(Message(Role.USER, question)))


def shorten_query(text: str) -> str:
    """Return ``text``, or its first and last ``QUERY_MAX // 2`` characters if it is longer than ``QUERY_MAX``."""
    half = QUERY_MAX // 2
    return text if len(text) <= QUERY_MAX else f"{text[:half]}\n{text[-half:]}"


def text_of(message: Message) -> str:
    """Return the text of a message and of its tool results, as a query."""
    said = [message.text, *(result.text for result in message.tool_results)]
    return shorten_query("\n".join(filter(None, said)))


def _said_before(request: ChatRequest, place: int, keep_from: int) -> str:
    """The end of what the assistant said last before a message: what "yes, do that" agrees to."""
    for index in range(place - 1, keep_from - 1, -1):
        if request.messages.roles[index] is Role.ASSISTANT:
            return request.messages[index].text.strip()[-_BEFORE_MAX:]
    return ""
