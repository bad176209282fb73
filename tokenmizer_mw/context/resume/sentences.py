"""Sentences of a transcript, as candidates for the quotations in a resume block. Texts are split into sentences, list
items and lines of code, if possible before a block needs them. What an assistant announces counts less than what it
then did.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tokenmizer_mw.graph.values import MONTHS_BEHIND_DAYS
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.wire.host_texts import remove_host_texts

_LAST: Final = 0.7
_INTENDED: Final = 0.5
_ANNOUNCED: Final = 0.15
"""Factors for the weight of a sentence: the last one before a tool is called, an announcement that names something
concrete, and one that does not. Set on development data."""

# Linear: anchored, and every repetition is bounded.
_INTENTION: Final = re.compile(
    r"(?i)^(?:\w+,? ){0,2}(?:let me|let['’]?s|let us|i['’]?ll|i will|we['’]?ll|i['’]?m going to|i am going to"
    r"|i (?:need|want) to|ich werde|lass(?:en sie)? mich|wir werden|je vais|laissez-moi|nous allons|voy a|vamos a|vou"
    r"|vamos|déjame|deixe-me|сейчас я|давайте|давай|я буду|nyní|teď|şimdi)\b"
    r"|^.{0,4}(?:让我|我来|我将|我会|我先|讓我|我來|我將|我會)"
)
"""Announcements in several languages, such as "Let me check" or "I will now", at the start of a sentence."""

_CONCRETE: Final = re.compile(r"[\d`]|\w[._/]\w|[a-z][A-Z]")
"""What makes an announcement concrete: a number, quoted code, or a name in code."""


def announces(sentence: str) -> bool:
    """Whether a sentence of an assistant announces what the assistant does next, such as "Let me check the tests"."""
    return _INTENTION.search(sentence) is not None


def weight_announcement(sentence: str, *, last: bool) -> float:
    """Return the weight of a sentence of an assistant: 1; less if it directly precedes the tool calls of its message
    (``last``); even less if it announces something, least of all without naming anything."""
    if not announces(sentence):
        return _LAST if last else 1.0
    return _INTENDED if _CONCRETE.search(sentence) else _ANNOUNCED


SENTENCE_MAX: Final = 300
"""Longest part that is quoted, in characters."""

UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
"""A run of characters of a script without spaces between words, or that is treated like one (Korean)."""

_PLACEHOLDERS: Final = frozenset({"()", "[]", "<>", "\uff08\uff09", "\u3010\u3011"})
"""First and last character of a line that stands for something that is not text: "[interrupted by user]"."""

_LETTERS_MIN: Final = 16
_SIGNS_MIN: Final = 6
"""Shortest part that is quoted: in letters, and in characters of a script without spaces."""

COLONS: Final = ":\uff1a"
_CLAUSE_ENDS: Final = (*COLONS, "\uff1b")

LEFT_OUT: Final = "..."
"""Marks text that is left out of a quotation."""

_FRAGMENT: Final = 24
_JOINED_MAX: Final = 100
_SIGN_LETTERS: Final = 4
_STATEMENT_MIN: Final = 40
"""Length below which a sentence is a fragment; longest text of joined fragments; how many letters a character of a
script without spaces counts as; shortest statement that is quoted without the question after it. Set on development
data."""

# These patterns are linear: classes of characters and single words, one behind the other.
_ORDINAL: Final = rf"(?<!\d\.)|(?!\s+(?:{'|'.join(MONTHS_BEHIND_DAYS)})\b)"
_TITLES: Final = (
    "dr", "mr", "ms", "mrs", "prof", "fr", "hr", "st", "vs", "approx", "ca", "bzw", "e.g", "i.e", "z.b", "d.h",
)  # fmt: skip
_TITLE: Final = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in _TITLES)
_END: Final = re.compile(rf"(?i)(?<=[.!?:]){_TITLE}(?:{_ORDINAL})\s+|(?<=[。！？；：])|(?<=\u0964)\s*")
_INNER_END: Final = re.compile(r"[.!?:]\s|[。！？；：\u0964]")
_REQUEST: Final = re.compile(
    r"(?i), (?:(?:and|so|but|or) )?(?:(?:can|could|would|will|do|does|is|are|should) (?:you|we|i|it|this|that|there)\b"
    r"|(?:how|what|what's|which|where|when|why|who)\b"
    r"|(?:kannst|können|könntest|könnten|peux|pouvez|pourriez|podrías|puedes|puede|pode|poderia|você pode)\b"
    r"|(?:wie|was|welche[rs]?|comment|quel(?:le)?s?|cómo|qué|cuál|como|qual|можешь|можете|как|какой|какая)\b)"
)
"""The place where a question begins after a statement in the same sentence."""


_OLD_LINES: Final = re.compile(r"[<-]{5,9} SEARCH\b")
_NEW_LINES: Final = re.compile(r"={5,9}$|[>+]{5,9} REPLACE$|```")
"""Lines of an edit block (the format in which models write edits for aider and Cline): the line before the lines to
replace, and the lines after these and after the new ones."""


class Part(NamedTuple):
    """A part of a message: sentences or a line.

    ``code``: it is in a code block. ``within``: it begins within a sentence, behind a colon. ``gap``: text that is no
    part (too short, too long or replaced) stands directly before it.
    """

    text: str
    code: bool = False
    within: bool = False
    gap: bool = False


def split_parts(text: str, *, person: bool) -> Iterator[Part]:
    """Split ``text`` into parts, in order. Short sentences of one line stay together, and so do an introduction with a
    colon and what follows.

    ``person``: true if the user wrote the text. Of a sentence that states something and then asks, only the statement
    is returned. Of an edit block (SEARCH and REPLACE), only the new lines are.
    """
    gap = False
    for part in _all_parts(text, person):
        if part.text and _is_long_enough(part.text):
            yield part._replace(gap=gap)
            gap = False
        else:
            gap = True


def _all_parts(text: str, person: bool) -> Iterator[Part]:
    """All parts, also those that are too short or too long; old lines of an edit block as parts without text."""
    code = False
    old = False
    for line in map(str.strip, text.split("\n")):
        old = bool(_OLD_LINES.match(line)) or (old and _NEW_LINES.match(line) is None)
        if old:
            yield Part("", True)
        elif line.startswith("```"):
            code = not code
        elif code:
            yield from (Part(line, True),) if line else ()
        elif line:
            parts = (state_before_question(part) if person else part for part in _split_sentences(line))
            joined = list(join_fragments(parts))
            before = ["", *joined]
            yield from (
                Part(part, False, lead.endswith(_CLAUSE_ENDS)) for lead, part in zip(before, joined, strict=False)
            )


def state_before_question(sentence: str) -> str:
    """Return a sentence without the question at its end, if it states something before ("..." stands for the question);
    else the whole sentence."""
    if not sentence.endswith("?"):
        return sentence
    found = _REQUEST.search(sentence, _STATEMENT_MIN)
    return f"{sentence[: found.start()]} {LEFT_OUT}" if found else sentence


def join_fragments(parts: Iterable[str]) -> Iterator[str]:
    """Join short parts of one line, and introductions with the part that follows, never with the one before. A part
    that announces the next step is not joined, because it counts less."""
    waiting = ""
    for part in parts:
        if waiting and _belong_together(waiting, part) and not announces(part):
            waiting = f"{waiting} {part}"
            continue
        if waiting:
            yield waiting
        waiting = part
    if waiting:
        yield waiting


def _belong_together(before: str, part: str) -> bool:
    sizes = _size(before), _size(part)
    introduced = before[-1] in COLONS or (min(sizes) < _FRAGMENT and part[-1] not in COLONS)
    return introduced and sum(sizes) <= _JOINED_MAX


def _size(part: str) -> int:
    """Return the length of a part in characters; one of a script without spaces, such as Chinese, counts as several."""
    return len(part) * (_SIGN_LETTERS if UNSPACED.search(part) else 1)


def _split_sentences(line: str) -> Iterator[str]:
    if _INNER_END.search(line) is None:
        return iter((line,))
    return filter(None, map(str.strip, _END.split(line)))


def _is_long_enough(part: str) -> bool:
    if part[:1] + part[-1:] in _PLACEHOLDERS:
        return False
    if not part.isascii() and UNSPACED.search(part):
        return _SIGNS_MIN <= len(part) <= SENTENCE_MAX
    return _LETTERS_MIN <= len(part) <= SENTENCE_MAX


Numbered = tuple[int, Message]
"""A message with its number in the session, from 1."""

CHARACTERS_MAX: Final[dict[Role, int]] = {Role.USER: 120_000, Role.ASSISTANT: 120_000, Role.TOOL: 40_000}
"""At most this many characters of the transcript are read, by speaker; the newest messages first."""

_ENDS_MAX: Final[dict[Role, int]] = {Role.USER: 4_000, Role.ASSISTANT: 4_000, Role.TOOL: 800}
"""This many characters are read at the beginning of a message and at its end, by speaker."""

READ_MAX: Final = 2 * max(_ENDS_MAX.values())
"""At most this many characters of one message are read, whoever speaks."""

_WEIGHTS: Final[dict[Role, float]] = {Role.USER: 1.75, Role.ASSISTANT: 1.0, Role.TOOL: 0.15}
_CODE: Final = 0.2
_SYMBOLS: Final = "=(){}[]<>|\\\"';\u2192"
_SYMBOLS_SHARE: Final = 0.05
_LETTERS_SHARE: Final = 0.6
_PREFERRED: Final = 12.0
_HEADING: Final = 0.3
_INTRODUCTION: Final = 0.5
_QUESTION: Final = 0.4
_NUMBER: Final = 1.4
_PLACE_HALF: Final = 6
_PLACE_POWER: Final = 0.7
"""Factors for the weight of a sentence: by speaker, inside a code block, as a heading, as an introduction of what
follows, as a question, with a number in it, and by its place in the message. Set on development data."""

_WORD: Final = re.compile(r"[\w./-]{2,}")
_MARKUP: Final = re.compile(r"\*\*|`")
_LEAD: Final = re.compile(r"^(?:#+ |[-*\u2022] )+")
_NUMBERED: Final = re.compile(r"\d+ ?[\u2192:|]")
_PREFERENCE: Final = re.compile(
    r"(?i)\b(?:i|we)(?:['\u2019](?:ve|d|m|re))?(?: (?:have|would|always|also|really|still|am|are))? ?"
    r"(?:prefer|prioriti[sz]e|rather|chose|chosen|decided|never|always|committed)\w*\b"
    r"|\b(?:ich bevorzuge|mir (?:ist|wäre) lieber|je préfère|nous préférons|prefiero|preferimos|prefiro|preferisco"
    r"|preferimos|предпочита\w+|wolę)\b|更喜欢|偏好|宁愿|の方がいい|の方が好き|선호"
)
_DIGIT: Final = re.compile(r"\d")
_FIGURE: Final = re.compile(r"(?i)(?<![a-z])[0-9a-f]*\d[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of message ``number``.

    - ``place``: its position in the message, from 0; ``text``: as it was written.
    - ``words``: the words by which sentences are compared; ``salience``: a factor for its weight, higher for what
      matters more.
    - ``note``: a remark for the reader, such as "replaced by PostgreSQL"; "" for none.
    - ``within``: true if it begins in the middle of a sentence, after a colon; the sentence before it is the beginning.
    - ``gap``: true if text that is no sentence stands directly before it.
    """

    number: int
    role: Role
    place: int
    text: str
    words: frozenset[str]
    salience: float
    note: str = ""
    within: bool = False
    gap: bool = False

    def follows(self, before: Sentence | None) -> bool:
        """Whether this sentence stands directly after ``before``, a sentence of the same message; false for
        ``None``."""
        return before is not None and self.place == before.place + 1 and not self.gap

    def render(self) -> str:
        """Return the sentence as one line without Markdown, of at most ``SENTENCE_MAX`` characters, with what may be an
        access key masked; then the note in brackets if it has one."""
        from tokenmizer_mw.safety.redact.strict import mask_opaque  # all redaction rules: not before a block has prose

        line = flatten(mask_opaque(_MARKUP.sub("", _LEAD.sub("", self.text))), SENTENCE_MAX)
        return f"{line} ({self.note})" if self.note else line


@dataclass(frozen=True, slots=True)
class MessageSentences:
    """The sentences of one message. ``characters``: how many characters of it were read."""

    characters: int
    sentences: tuple[Sentence, ...]


def message_sentences(number: int, message: Message) -> MessageSentences:
    """Return the sentences of a message; of a long message, those of its beginning and its end."""
    text = _readable(message)
    return MessageSentences(len(text), tuple(_sentences(number, message.role, text, bool(message.tool_calls))))


ReadSentences = Callable[[int, Message], MessageSentences]
"""A function that returns what ``message_sentences`` returns, for example from a cache."""


def transcript_sentences(
    transcript: Sequence[Numbered], without: frozenset[int] = frozenset(), read: ReadSentences = message_sentences
) -> list[Sentence]:
    """Return the sentences of ``transcript`` in order, except those of system messages and of the messages ``without``,
    and of lines of tool output that more than one message contains, be it with other numbers.

    Of long messages the beginning and the end are read, and of long transcripts the newest messages of each speaker.
    ``read``: returns the sentences of a message, for example from a cache.
    """
    room = dict(CHARACTERS_MAX)
    chosen: list[tuple[Sentence, ...]] = []
    for number, message in reversed(transcript):
        if number in without or room.get(message.role, 0) <= 0:
            continue
        found = read(number, message)
        room[message.role] -= found.characters
        chosen.append(found.sentences)
    return _without_printed_again([sentence for sentences in reversed(chosen) for sentence in sentences])


def _without_printed_again(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return ``sentences`` without the lines of tool output that more than one message contains. Numbers are not
    compared: lines that differ in these alone count as equal, and all of them are left out."""
    numbers: dict[str, int] = {}
    repeated: set[str] = set()
    for one in sentences:
        if one.role is Role.TOOL and numbers.setdefault(shape := _FIGURE.sub("0", one.text), one.number) != one.number:
            repeated.add(shape)
    if not repeated:
        return list(sentences)
    return [one for one in sentences if one.role is not Role.TOOL or _FIGURE.sub("0", one.text) not in repeated]


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of ``text`` in lower case, of two or more letters, digits and "./-_"; for scripts
    without spaces, pairs of adjacent characters. "" may be among them, for a run of "./-_" alone."""
    if text.isascii():
        return frozenset([word.strip("./-_") for word in _WORD.findall(text.lower())])
    low = unicodedata.normalize("NFKC", text).lower()
    found = {word.strip("./-_") for word in _WORD.findall(UNSPACED.sub(" ", low))}
    for run in UNSPACED.findall(low):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return frozenset(found)


def _readable(message: Message) -> str:
    """Return the text of a message, else of its tool results, without the middle of a long one and without texts that
    client applications insert."""
    text = message.text or "\n".join(result.text for result in message.tool_results)
    most = _ENDS_MAX[message.role]
    text = text if len(text) <= 2 * most else f"{text[:most]}{LEFT_OUT}\n{LEFT_OUT}{text[-most:]}"
    return remove_host_texts(text, role=message.role if message.text else Role.TOOL)


def _sentences(number: int, role: Role, text: str, calls: bool) -> Iterator[Sentence]:
    parts = list(split_parts(text, person=role is Role.USER))
    for place, (part, code, within, gap) in enumerate(parts):
        words = words_of(part) - _EMPTY
        if words and not (role is Role.TOOL and _is_listing(part)):
            salience = _salience(role, part, place, code)
            if role is Role.ASSISTANT and not code:
                salience *= weight_announcement(part, last=calls and place == len(parts) - 1)
            yield Sentence(number, role, place, part, words, salience, within=within, gap=gap)


_EMPTY: Final = frozenset({""})


def _salience(role: Role, part: str, place: int, code: bool) -> float:
    weight = _WEIGHTS[role] * math.pow(1 + place / _PLACE_HALF, -_PLACE_POWER)
    last = part[-1]
    if code:
        weight *= _CODE
    elif role is Role.USER and _PREFERENCE.search(part):
        weight *= _PREFERRED
    if part[0] == "#":
        weight *= _HEADING
    if last in COLONS:
        weight *= _INTRODUCTION
    elif last in "?\uff1f":
        weight *= _QUESTION
    return weight * _NUMBER if _DIGIT.search(part) else weight


def _is_listing(part: str) -> bool:
    """Whether ``part``, a line of a tool's output, is code, a numbered line or a row of a table rather than prose: it
    begins with a line number, or has many symbols or few letters."""
    if _NUMBERED.match(part):
        return True
    letters = sum(map(str.isalpha, part))
    return sum(map(part.count, _SYMBOLS)) > _SYMBOLS_SHARE * len(part) or letters < _LETTERS_SHARE * len(part)


class PreparedSentences:
    """Cache of the sentences of messages, by number. Holds, for each speaker, about as many characters as one resume
    block reads; the oldest messages are dropped first. One thread may add while others read."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Message, MessageSentences]] = {}
        self._sizes = dict.fromkeys(CHARACTERS_MAX, 0)

    def __contains__(self, number: int) -> bool:
        return number in self._found

    @property
    def size(self) -> int:
        """Number of characters of all messages in the cache, as far as they were read."""
        return sum(self._sizes.values())

    def prepare(self, number: int, message: Message) -> int:
        """Split message ``number`` into sentences and cache them. Returns how many of its characters were read (of a
        long message, those of its beginning and its end)."""
        found = message_sentences(number, message)
        self._found[number] = (message, found)
        if message.role in self._sizes:
            self._sizes[message.role] += found.characters
            self._prune(message.role)
        return found.characters

    def drop(self, number: int) -> None:
        """Remove message ``number`` from the cache, if it is there."""
        found = self._found.pop(number, None)
        if found is not None and found[0].role in self._sizes:
            self._sizes[found[0].role] -= found[1].characters

    def _prune(self, role: Role) -> None:
        while self._sizes[role] > CHARACTERS_MAX[role] + READ_MAX:
            oldest = min(number for number, (message, _) in self._found.items() if message.role is role)
            self._sizes[role] -= self._found.pop(oldest)[1].characters

    def read(self, number: int, message: Message) -> MessageSentences:
        """Return the sentences of message ``number``. If it is not in the cache, or ``message`` differs from the cached
        one, it is split now; the result is not cached."""
        found = self._found.get(number)
        return found[1] if found is not None and found[0] == message else message_sentences(number, message)
