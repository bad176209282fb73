"""Texts that client applications (coding agents, chat interfaces; "hosts") insert into messages: a table with a row for
each.

Such applications send their own texts as messages of the user: compaction prompts, notices that a conversation
continues, reminders, the editor's state, lists of files, requests for a title. Some also answer in place of the model,
or add remarks to tool results. The user, model or tool did not write these texts. ``find_host_texts`` returns their
positions, ``remove_host_texts`` the text without them, and ``is_side_call`` whether a whole request is the
application's own. All patterns are RE2, so the time is linear in the text.

A new row needs an example and a source; ``tests/wire/test_host_texts.py`` checks both, and that no row matches what
people write themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from operator import is_
from typing import Final

from tokenmizer_mw.model.message import Message, Role, ToolResult
from tokenmizer_mw.runtime.lazy import expression
from tokenmizer_mw.wire.host_rows import HOST_TEXTS, Extent, HostText, HostTextKind


@dataclass(frozen=True, slots=True)
class HostSpan:
    """A text in a message that a client application inserted: characters ``[start, end)`` of the message's text, and
    the row of ``HOST_TEXTS`` that matches it."""

    start: int
    end: int
    row: HostText


_WHOLE_CALLS: Final = frozenset({HostTextKind.SIDE_CALL, HostTextKind.COMPACTION_PROMPT})
_SYSTEM_LOOK: Final = 4_096
"""Characters at the start of a system prompt in which the sign of a side call is looked for."""


_INDENT: Final = r"[ \t]*"
_ROWS: Final = {
    role: [row for row in HOST_TEXTS if row.role is role and not row.system]
    for role in (Role.USER, Role.ASSISTANT, Role.TOOL)
}
_IN_MESSAGES: Final = {
    role: expression("(?m)" + "|".join(f"(?:{row.pattern})" for row in rows)) for role, rows in _ROWS.items()
}
_IN_SYSTEM: Final = expression("(?m)" + "|".join(f"(?:{row.pattern})" for row in HOST_TEXTS if row.system))
_EACH: Final = {role: [(row, expression(f"(?m){row.pattern}")) for row in rows] for role, rows in _ROWS.items()}
_NOTICES_IN_JSON: Final = expression(
    "|".join(
        f"(?:{row.pattern.removeprefix('^').removeprefix(_INDENT)})"
        for row in HOST_TEXTS
        if row.kind is HostTextKind.CONTINUATION_NOTICE
    ).encode()
)
"""Matches continuation notices in the bytes of a JSON body, where line ends are escaped."""

_CONTEXT_MARKS: Final = tuple(mark for row in HOST_TEXTS for mark in row.context)
_OWN_REPLIES: Final = ("Ok.", "Ok,")
"""Beginnings of the replies that an application itself gives to its messages beside the chat. Models begin with
"Okay"."""
_OWN_REPLY_IN_JSON: Final = '"Ok'

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MATCHES_CACHED: Final = 256
_EXAMPLES_MAX: Final = 32
"""Messages at the beginning of a chat among which a client application's examples end."""
_ENDS: Final = {row.end: expression(f"(?m)^(?:{row.end})[^\n]*") for row in HOST_TEXTS if row.end}


def find_host_texts(text: str, role: Role = Role.USER) -> list[HostSpan]:
    """Return the texts that client applications inserted into ``text``, in order, without overlaps; [] when there are
    none.

    ``role``: who the message is from: the user, the assistant, or a tool. A system message raises ``KeyError``.
    """
    spans: list[HostSpan] = []
    end = 0
    if not text.isascii():
        text = without_surrogates(text)
    raw = text.encode()
    rows = _IN_MESSAGES[role]
    if rows.find(raw, 0, len(raw))[0][0] < 0:  # nearly always
        return spans
    for match in rows.finditer(text):
        if match.start() >= end:
            row = _row_of(role, match.group())
            end = _end_of(row, text, match.start(), match.end())
            spans.append(HostSpan(match.start(), end, row))
    return spans


def remove_host_texts(
    text: str, kinds: Collection[HostTextKind] = frozenset(HostTextKind), role: Role = Role.USER
) -> str:
    """Return ``text`` without the texts of ``kinds`` that client applications inserted; the same object if there are
    none.

    What remains is stripped of white space, piece by piece, and the pieces are joined by blank lines. ``role``: as for
    ``find_host_texts``.
    """
    found = find_host_texts(text, role)
    spans = [span for span in found if span.row.kind in kinds] if found else found
    if not spans:
        return text
    starts, ends = [0, *(span.end for span in spans)], [*(span.start for span in spans), len(text)]
    pieces = (text[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return "\n\n".join(filter(None, pieces))


def without_host_texts(message: Message) -> Message:
    """Return ``message`` without the texts that client applications inserted into its text and tool results; the same
    object if there are none."""
    text, results = message.text, message.tool_results
    if text and message.role in _ROWS:
        text = remove_host_texts(text, role=message.role)
    if results:
        results = tuple([_without_remarks(result) for result in results])
    same = text is message.text and all(map(is_, results, message.tool_results))
    return message if same else replace(message, text=text, tool_results=results)


def _without_remarks(result: ToolResult) -> ToolResult:
    own = remove_host_texts(result.text, role=Role.TOOL)
    return result if own is result.text else replace(result, text=own)


def is_continuation(message: Message) -> bool:
    """Whether a user's ``message`` contains the notice of a client application that the chat continues an earlier one,
    given as a summary. False for messages of other roles."""
    if message.role is not Role.USER:
        return False
    return any(span.row.kind is HostTextKind.CONTINUATION_NOTICE for span in find_host_texts(message.text))


def may_continue(body: bytes) -> bool:
    """Whether the JSON ``body`` may contain a notice that ``is_continuation`` finds. A quick check: true may be wrong,
    false never is."""
    return _NOTICES_IN_JSON.search(body) is not None


def is_side_call(messages: Sequence[Message]) -> bool:
    """Whether a request was made by the client application itself, and not for the user's chat: it asks for a title,
    tags, a commit message, or a summary to continue from.

    Checks the leading system prompt, and the newest message that is not a system message if it is the user's. False for
    no messages.
    """
    try:
        first, last = messages[0], messages[-1]
    except IndexError:
        return False
    if last.role is Role.SYSTEM:
        last = next((message for message in reversed(messages) if message.role is not Role.SYSTEM), first)
    if first.role is Role.SYSTEM and _IN_SYSTEM.search(without_surrogates(first.text[:_SYSTEM_LOOK])) is not None:
        return True
    if last.role is not Role.USER:
        return False
    spans = find_host_texts(last.text)
    return bool(spans) and any(span.row.kind in _WHOLE_CALLS for span in spans)


def without_surrogates(text: str) -> str:
    """Return ``text`` with U+FFFD in place of each lone surrogate, because RE2 cannot read those."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return _SURROGATE.sub("\ufffd", text)


def ends_examples(message: Message) -> bool:
    """Whether a client application says in ``message`` that the messages before it were only examples."""
    return message.role is Role.USER and any(span.row.examples for span in find_host_texts(message.text))


def first_own_message(messages: Sequence[Message]) -> int | None:
    """Return the index of the first of ``messages`` in which the user wrote or attached something. Texts of the client
    application, and its example conversation at the beginning, do not count. ``None`` when there is none."""
    start = max((place + 1 for place, one in enumerate(messages[:_EXAMPLES_MAX]) if ends_examples(one)), default=0)
    for place in range(start, len(messages)):
        message = messages[place]
        if message.opens_turn and (message.attachments or without_host_texts(message).text.strip()):
            return place
    return None


def may_have_context(text: str, start: int = 0) -> bool:
    """Whether the JSON ``text`` may contain, from character ``start`` on, messages that ``find_context`` returns. A
    quick check: true may be wrong."""
    if text.find(_OWN_REPLY_IN_JSON, start) < 0:  # nearly always
        return False
    return max(map(text.find, _CONTEXT_MARKS, repeat(start))) >= 0  # without a call of ours for each mark


def find_context(messages: Sequence[Message], start: int = 0) -> set[int]:
    """Return the indexes of the messages that a client application sends beside the chat, in each request anew: files,
    a map of the repository, and its example conversation at the beginning, each with the reply that it gives itself.

    Only messages from index ``start`` on are examined.
    """
    found: set[int] = set()
    for place in range(start, len(messages) - 1):
        row = _context_row(messages[place], messages[place + 1])
        if row is not None:
            found.update((place, place + 1))
            if row.examples and place < _EXAMPLES_MAX:
                found.update(range(place))
    return found


def _context_row(message: Message, reply: Message) -> HostText | None:
    """Return the row of a message that is sent beside the chat and answered by the application itself; ``None`` for
    others."""
    if message.role is not Role.USER or reply.role is not Role.ASSISTANT or not reply.text.startswith(_OWN_REPLIES):
        return None
    spans = find_host_texts(message.text)
    return spans[0].row if spans and spans[0].row.context and not message.text[: spans[0].start].strip() else None


@lru_cache(maxsize=_MATCHES_CACHED)
def _row_of(role: Role, matched: str) -> HostText:
    """Return the row whose pattern matched this text. Trying each row is faster than capturing groups in every text."""
    return next(row for row, pattern in _EACH[role] if pattern.match(matched) is not None)


def _end_of(row: HostText, text: str, start: int, end: int) -> int:
    match row.extent:
        case Extent.MATCH:
            return end
        case Extent.TAG:
            name = text[start:end].partition("<")[2].partition(">")[0]
            closing = f"</{name}>"
            if (closed := text.find(closing, end)) < 0:
                closing = f"</{name.partition(' ')[0]}>"
                closed = text.find(closing, end)
            return closed + len(closing) if closed >= 0 else len(text)
        case Extent.REST:
            return max((place for place in _line_ends(row, text, end)), default=len(text))


def _line_ends(row: HostText, text: str, start: int) -> Iterator[int]:
    if row.end:
        for match in _ENDS[row.end].finditer(text, start):
            yield match.end()
