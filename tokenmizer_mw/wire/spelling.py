"""Compare messages in the form in which clients resend them.

``digest`` recognises an unchanged message. Clients also drop thinking, trim white space, omit images, renumber tool
calls, clear old tool results, and join or split messages. A ``Spelling`` leaves out what they change.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final, NamedTuple

import re2

from tokenmizer_mw.model.message import Message, Role, canonical_arguments
from tokenmizer_mw.wire.host_rows import HostTextKind
from tokenmizer_mw.wire.host_texts import find_host_texts, remove_host_texts, without_surrogates

_DIGEST_BYTES: Final = 8
_ASCII_SPACE: Final = bytes(code for code in range(128) if chr(code).isspace())
_THOUGHTS = re2.compile(
    r"(?is)<(?:think|thinking|thought|reasoning)>.*?</(?:think|thinking|thought|reasoning)>"
    r'|<details type="reasoning"[^>]*>.*?</details>'
)
_THOUGHT_ENDS = re2.compile(r"(?is)^.*</(?:think|thinking)>")
"""The end of a thought whose beginning the model's template has written."""

_HOST_BLOCKS = re2.compile(
    r"(?is)<(?:system-reminder|environment_details)>.*?</(?:system-reminder|environment_details)>"
)
"""What hosts put into a line of the user's words."""

_FORMAT_TAIL = re2.compile(r"\n\s*(?:Reply in [^\n.]{2,40}\.|NEVER RETURN CODE!)\s*\z")
"""What aider puts behind the newest message where its format has no rules. A user may write the same, so it is left out
only for the comparison."""

_TAIL_MAX: Final = 80
"""Characters at the end of a message in which such a text is looked for."""

_PASSING: Final = frozenset({HostTextKind.REMINDER, HostTextKind.ENVIRONMENT})
"""What hosts put beside the words of the user, and take out again later."""


class Spelling(NamedTuple):
    """What identifies a message even if a client changed its form.

    - ``side``: "a" for the assistant, "u" for all others.
    - ``length``, ``text``: length and digest of its text without spaces; 0 and "" for none.
    - ``calls``, ``results``: digests of its tool calls and tool results without their ids; "" for none.
    """

    side: str
    length: int
    text: str
    calls: str
    results: str

    @property
    def silent(self) -> bool:
        """Whether the message has neither text nor tool calls: a tool result, an image, or thinking."""
        return not (self.length or self.calls)

    def to_key(self) -> str:
        """Return the fields joined by dots, as ``from_key`` reads them: a key for caches and events."""
        return f"{self.side}.{self.length}.{self.text}.{self.calls}.{self.results}"

    @classmethod
    def from_key(cls, key: str) -> Spelling:
        """Parse what ``to_key`` returned. Raises ``ValueError`` for text of other shape."""
        side, length, text, calls, results = key.split(".")
        return cls(side, int(length), text, calls, results)

    def repeats(self, other: Spelling) -> bool:
        """Whether this message may be ``other`` resent by a client: it has the same text, and the same calls or none.
        Tool results may have been cleared."""
        same_text = (self.side, self.length, self.text) == (other.side, other.length, other.text)
        return same_text and (not self.calls or self.calls == other.calls)


def canonical_text(message: Message) -> str:
    """Return the text of a message without white space, thinking and texts inserted by hosts."""
    text = message.text + message.refusal
    if not text.isascii():
        text = without_surrogates(text)
    if message.role is Role.ASSISTANT:
        text = str(_THOUGHT_ENDS.sub("", _THOUGHTS.sub("", text))) if "</" in text else text
        if find_host_texts(text, Role.ASSISTANT):
            text = remove_host_texts(text, role=Role.ASSISTANT)
    else:
        text = _HOST_BLOCKS.sub("", text) if "<" in text else text
        if find_host_texts(text):
            text = remove_host_texts(text, _PASSING)
        text = text[:-_TAIL_MAX] + str(_FORMAT_TAIL.sub("", text[-_TAIL_MAX:]))
    if text.isascii():  # the same, in a sixth of the time
        return text.encode().translate(None, _ASCII_SPACE).decode()
    return unicodedata.normalize("NFC", "".join(text.split()))


def spelling_of(message: Message) -> Spelling:
    """Return what identifies a message even if a client changed its form."""
    text = canonical_text(message)
    calls = results = ""
    if message.tool_calls:
        calls = "\n".join([f"{call.name} {canonical_arguments(call.arguments)}" for call in message.tool_calls])
    if message.tool_results:
        results = "\n".join(["".join(result.text.split()) for result in message.tool_results])
    return Spelling(
        "a" if message.role is Role.ASSISTANT else "u",
        len(text),
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest() if text else "",
        text_digest(calls) if calls else "",
        text_digest(results) if message.tool_results else "",
    )


def text_digest(text: str) -> str:
    """Return 16 hexadecimal digits that identify a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
