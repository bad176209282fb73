"""Find what the newest turn of a request (the newest message of the user and all that answers it) asks about: its
words, or names that nothing else in the request explains. Find after which message a reminder belongs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import re2

from tokenmizer_mw.context.assembly import ReminderPart
from tokenmizer_mw.context.recall.passages import index_terms, is_function_word
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.host_texts import is_continuation


def content_terms(text: str) -> list[str]:
    """Return the distinct search terms of ``text`` in their order, without English function words and question words.

    A longer word gives several terms (see ``index_terms``): the word, its beginning ("post*"), the parts of a compound
    identifier; a script without spaces gives pairs of characters.
    """
    return [term for term in dict.fromkeys(index_terms(text)) if not is_function_word(term)]


def _count_words(terms: Sequence[str]) -> int:
    """Return how many words search terms stand for. Beginnings of words ("post*") do not count."""
    return sum(not term.endswith("*") for term in terms)


_LOOKED_AT: Final = 400
"""Characters at the end of a long message in which its question is looked for."""
_LONG: Final = 1_500
_MARKS: Final = ("?", "？", "؟", "¿")
_ASKS = re2.compile(
    r"(?i)^\W*(?:please |so |and |ok(?:ay)?,? |but )*(?:what|which|who|whose|where|when|why|how|did|do|does|is|are|was"
    r"|were|have|has|can|could|should|would|tell|remind|explain|list|show|summari[sz]e|recap|describe|recall"
    r"|was|wer|wo|wann|warum|wieso|wie|welche[rsmn]?|qu[eé]|quoi|quel(?:le)?s?|comment|pourquoi|o[uù]|quand|combien"
    r"|qui[eé]n|cu[aá]l(?:es)?|d[oó]nde|cu[aá]ndo|c[oó]mo|por qu[eé]|qual|quais|quem|onde|como|quanto"
    r"|что|кто|где|когда|почему|как|какой|какая|какие|какое|сколько|зачем|напомни)\b"
)
_TAKES_UP = re2.compile(
    r"(?i)\b(?:again|earlier|(?:as|like|from|than) before|previous(?:ly)?|remember"
    r"|as (?:we|i|you|discussed|agreed|decided|planned)"
    r"|we (?:had |have )?(?:agreed|decided|discussed|settled|said|chose|planned)|you (?:said|told|suggested|mentioned)"
    r"|i (?:said|told|mentioned)|same as|back to|the old|original(?:ly)?|nochmal|vorhin|fr[uü]her|wie besprochen"
    r"|comme convenu|d[eé]j[aà]|como acordamos|como combinado|como antes|ранее|раньше|снова|как договаривались)\b"
)
_TAKES_UP_AT_END = re2.compile(r"(?i)\b(?:before|antes)\W*(?:[.,;:!?)\n]|$)")
"""Matches words that refer to something earlier only at the end of a clause; elsewhere they do not
("before each commit")."""

_TAKES_UP_UNSPACED = re2.compile(
    "之前|刚才|剛才|上次|先前|我们说过|さっき|先ほど|以前|前に|何|どう|なぜ|いつ|どこ|誰|什么|怎么|哪|为什么|吗|呢"
)


_STATED = re2.compile(r"[.!…]\s|[。！]|\n")


def only_asks(text: str) -> bool:
    """Whether ``text`` is one question and nothing else: it ends with a question mark, and no sentence or line ends
    before that."""
    stripped = text.strip().encode("utf-8", "replace").decode()
    return stripped.endswith(_MARKS) and _STATED.search(stripped) is None


def asks(text: str) -> bool:
    """Whether ``text`` asks a question, or refers to something that was said before. Of a text of more than 1,500
    characters only the last 400 are examined."""
    stripped = text.strip()
    if len(stripped) > _LONG:
        stripped = stripped[-_LOOKED_AT:]
    stripped = stripped.encode("utf-8", "replace").decode()
    if any(mark in stripped for mark in _MARKS):
        return True
    return any(
        pattern.search(stripped) is not None for pattern in (_ASKS, _TAKES_UP, _TAKES_UP_AT_END, _TAKES_UP_UNSPACED)
    )


QUERY_MAX: Final = 4_000
"""Longest search query that is made from a message, in characters: half from its start, half from its end, where the
question usually stands."""

_THIN: Final = 2
"""A text takes up what was said right before it if it has fewer search terms than this ("Yes", "Why Go?"), or if it
asks nothing and has fewer words ("Continue"). One longer word is two terms: "Why Postgres?" is searched for by
itself."""
_BEFORE_MAX: Final = 600


@dataclass(frozen=True, slots=True)
class Question:
    """What the newest turn of a request asks for.

    - ``place``: index of the message that opens the turn.
    - ``newest``: index of the newest message of a user or a tool.
    - ``text``: the text to search for: that of the message, and, if it says little by itself ("yes, do that"), the end
      of the reply before it; "" when the turn asks for nothing in words.
    - ``shortened``: true if ``text`` is only the beginning and the end of the message.
    - ``asks``: true if the message asks a question or refers to what was said before.
    """

    place: int
    newest: int
    text: str
    shortened: bool = False
    asks: bool = True

    @property
    def in_loop(self) -> bool:
        """Whether the newest message of a user or a tool is not the one that opens the turn, for example because tools
        have returned results since."""
        return self.newest > self.place


def read_question(request: ChatRequest, keep_from: int) -> Question | None:
    """Return the question of the newest turn of ``request``. Only messages from index ``keep_from`` on, which are sent,
    are considered.

    ``None`` when none of them opens a turn. The question's text is "" when the turn begins with the summary of a client
    that compacted its chat.
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
            terms, is_asking = content_terms(text[:QUERY_MAX]), asks(text)
            thin = len(terms) < _THIN or (not is_asking and _count_words(terms) < _THIN)
            before = _find_answered_text(request, place, keep_from) if thin else ""
            query = shorten_query(text)
            whole = f"{query}\n{before}".strip()
            return Question(place, newest or place, whole, query != text, not thin and is_asking)
    return None


def opens_turn(request: ChatRequest, place: int) -> bool:
    """Whether message ``place`` of ``request`` begins a turn: a message that the user wrote, not one in which the
    client only returns tool results."""
    return request.messages.roles[place] is Role.USER and request.messages[place].opens_turn


def ask(text: str) -> Question:
    """Make a ``Question`` from ``text``, for questions that are not part of a chat request."""
    stripped = text.strip()
    query = shorten_query(stripped)
    return Question(0, 0, query, query != stripped, bool(content_terms(query)) and asks(stripped))


def add_question(request: ChatRequest, question: str) -> ChatRequest | None:
    """Return ``request``, made of a framework's message objects, with ``question`` as its newest message.

    With an empty ``question``: ``request`` unchanged if its chat waits for a reply, else (the chat is empty or ends
    with a reply) ``None``. ``request`` is also returned unchanged if the chat waits for the reply to this very
    question.
    """
    messages = request.messages
    last = messages[-1] if messages else None
    is_answered = last is None or (last.role is Role.ASSISTANT and not last.tool_calls)
    if not question.strip():
        return None if is_answered else request
    opener = next((one for one in reversed(messages) if one.role is Role.USER and one.opens_turn), None)
    if not is_answered and opener is not None and opener.text.strip() == question.strip():
        return request
    return replace(request, messages=messages.with_messages(Message(Role.USER, question)))


def shorten_query(text: str) -> str:
    """Return ``text``; if it is longer than ``QUERY_MAX`` characters, only its first and last ``QUERY_MAX // 2``,
    on separate lines."""
    half = QUERY_MAX // 2
    return text if len(text) <= QUERY_MAX else f"{text[:half]}\n{text[-half:]}"


def text_of(message: Message) -> str:
    """Return the text of a message and of its tool results, for use as a search query: on separate lines, and of more
    than ``QUERY_MAX`` characters only the beginning and the end."""
    texts = [message.text, *(result.text for result in message.tool_results)]
    return shorten_query("\n".join(filter(None, texts)))


def _find_answered_text(request: ChatRequest, place: int, keep_from: int) -> str:
    """Return the end of the assistant's last message before message ``place``, which "yes, do that" agrees to; "" if
    there is none from index ``keep_from`` on."""
    for index in range(place - 1, keep_from - 1, -1):
        if request.messages.roles[index] is Role.ASSISTANT:
            return request.messages[index].text.strip()[-_BEFORE_MAX:]
    return ""


NAMES_MAX: Final = 6
"""Most unknown names in a text that are searched for. A text with more is taken for a list that asks for none of
them."""

_CANDIDATES_MAX: Final = 60
_NAME_LEAST: Final = 5
_NAME = re2.compile(r"[A-Za-z_][A-Za-z0-9]*(?:[_./:-][A-Za-z0-9]+)+|[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")


def asked_names(
    request: ChatRequest, kept: Sequence[int], newest: int, block: str, given: Sequence[ReminderPart]
) -> list[str]:
    """Return the names in message ``newest``, and in the assistant's text directly before it, that occur nowhere else
    in the request: not in the messages at indexes ``kept``, not in ``block``, not in the reminders ``given``. ``[]`` if
    there are none, or more than ``NAMES_MAX``."""
    messages, roles = request.messages, request.messages.roles
    first = newest - 1 if newest > kept[0] and roles[newest - 1] is Role.ASSISTANT else newest
    found: dict[str, None] = {}
    for place in range(first, newest + 1):
        for match in _NAME.finditer(text_of(messages[place])):
            if len(match.group()) >= _NAME_LEAST and len(found) < _CANDIDATES_MAX:
                found[match.group()] = None
    around = [_join_texts(request, [place for place in kept if place < first]), block, *(part.text for part in given)]
    unknown = [name for name in found if not any(name in text for text in around)]
    return unknown if len(unknown) <= NAMES_MAX else []


def _join_texts(request: ChatRequest, places: Sequence[int]) -> str:
    """Return the texts of the messages at ``places``, in a request of bytes as the bytes spell them."""
    if request.text and places:
        return request.text[request.spans[places[0]][0] : request.spans[places[-1]][1]]
    return "\n".join(_message_texts(request, places))


def _message_texts(request: ChatRequest, places: Sequence[int]) -> Iterator[str]:
    for message in map(request.messages.__getitem__, places):
        yield message.text
        yield from (call.arguments for call in message.tool_calls)
        yield from (result.text for result in message.tool_results)
