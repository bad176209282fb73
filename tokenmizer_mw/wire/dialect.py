"""What dialects (API formats of providers) have in common: parsed request, collected reply, and the members of
a request that tell the provider what to do with its messages: prompt cache markers, and edits of the context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.json_text import Span
from tokenmizer_mw.wire.spans import element_spans

TEXT_PART: Final[Mapping[str, str]] = {"type": "text"}
"""A text part as most dialects spell it, without its text."""


@dataclass(frozen=True)
class ChatRequest:
    """A parsed chat request, with the position of each part in its text, so that a rewrite keeps all other bytes.

    A cut is a rewrite that removes the messages from index ``prefix`` up to but not including an index ``keep_from``,
    and usually puts a resume block (a text with what they stated) in their place.

    - ``text``: the request's body, decoded; all positions are offsets in it, in characters.
    - ``messages``: the messages, parsed on access; message i is at ``spans[i]`` of ``text``. A plain text in place of
      the list counts as one message.
    - ``array``: offset in ``text`` of the list of messages, or of the plain text in its place.
    - ``fields``: all top-level members but the messages, parsed. ``model``: the model's name, "" if the request names
      none. ``stream``: whether the client asked for a streamed reply.
    - ``prefix``: number of leading system and developer messages, which are never cut.
    - ``overhead``: other text that fills the context window (tool definitions, response formats), for counting tokens.
    - ``stand_down``: reason why the request must not be rewritten, as the name of a counter such as
      "history_on_server"; "" if it may be. ``cause``: the part of the request that is the reason, if the provider
      stores or shortens the transcript; else "".
    - ``members``: every top-level member in order, duplicates included: its name, and its span from the quote of the
      name to the end of the value.
    - ``known_spans``: spans of the first messages, if an earlier request with the same beginning is cached; else ().
    - ``sizes``: how many elements of the list each message takes; empty if it is one each.
    - ``bound``: number of leading messages up to and including the last one with a part that the provider accepts only
      after unchanged earlier messages (such as signed reasoning); 0 if there is none. A request that has such parts is
      cut only at an index of at least ``bound``, which removes all of them. ``binds``: true if the reply may contain
      such parts.
    - ``content``: path in a message to its content. ``part``: a text part of a content list, without its text.
    """

    text: str
    messages: History
    array: int
    fields: Mapping[str, Any]
    prefix: int = 0
    model: str = ""
    stream: bool = False
    overhead: str = ""
    stand_down: str = ""
    cause: str = ""
    members: tuple[tuple[str, Span], ...] = ()
    sizes: tuple[int, ...] = ()
    bound: int = 0
    binds: bool = False
    content: tuple[str, ...] = ("content",)
    part: Mapping[str, str] = field(default_factory=lambda: TEXT_PART)
    known_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Start and end offset of each message in ``text``; computed on first access."""
        if not self.text.startswith("[", self.array):
            return ((self.array, next(end for _, (start, end) in self.members if start < self.array < end)),)
        spans = element_spans(self.text, self.array, self.known_spans)
        if not self.sizes:
            return spans
        ends = list(accumulate(self.sizes))
        return tuple((spans[end - size][0], spans[end - 1][1]) for size, end in zip(self.sizes, ends, strict=True))

    def staying(self, keep_from: int) -> list[int]:
        """Return the indexes of the system messages that a cut at ``keep_from`` does not remove: those from ``prefix``
        up to but not including ``keep_from``. The leading system messages, which also stay, are not listed. A message
        of an unknown role counts as a system message."""
        roles = self.messages.roles
        if Role.SYSTEM not in roles:
            return []
        return [place for place in range(self.prefix, min(keep_from, len(roles))) if roles[place] is Role.SYSTEM]

    @property
    def spans_found(self) -> tuple[Span, ...]:
        """The spans that are known already: all of them if ``spans`` was computed, else ``known_spans`` (those of the
        first messages, perhaps none)."""
        found: tuple[Span, ...] = self.__dict__.get("spans", self.known_spans)
        return found


@dataclass(frozen=True, slots=True)
class Reply:
    """A collected response: the assistant's message, and how the response ended.

    - ``message``: ``None`` if there was nothing usable (an error, an empty body, or another format).
    - ``outcome``: ``COMPLETE`` if the reply reached its end, ``TRUNCATED`` if it broke off or reached a length limit,
      ``ERROR`` if the provider reported an error.
    - ``finish_reason``: the provider's word for why the reply ended; "" for none.
    - ``usage``: the provider's token counts under this package's names, such as "prompt_tokens"; empty if it gave none.
    - ``error``: the provider's error message in the body; "" for none.
    """

    message: Message | None
    outcome: Outcome
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    error: str = ""


DEPTH_MAX: Final = 3
"""How deeply nested parts are searched for markers: a document in a tool's result, and the texts in it."""

Marker = dict[str, Any]
"""A prompt cache marker: the field of a part that asks the provider to cache the prompt up to it, with its value, such
as {"cache_control": {"type": "ephemeral"}}."""


def markers(content: object, names: Sequence[str], depth: int = DEPTH_MAX) -> Iterator[Marker]:
    """Yield the prompt cache markers of the parts of ``content``, in order; those of nested parts before that of the
    outer part. A ``content`` that is not a list has none.

    - ``names``: the fields of a part that are markers, such as "cache_control". A field counts if its value is an
      object without objects or lists in it.
    - ``depth``: levels of parts to search; 1 searches the parts of ``content`` itself only.
    """
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        source = part.get("source")
        within = [part.get("content"), source.get("content") if isinstance(source, dict) else None]
        for inner in within if depth > 1 else ():
            yield from markers(inner, names, depth - 1)
        yield from marker(part, names)


def marker(holder: object, names: Sequence[str]) -> Iterator[Marker]:
    """Yield the prompt cache marker of one part, tool or request, if it has one: a dictionary with those of its fields
    that ``names`` lists. A field counts if its value is an object without objects or lists in it. Yields nothing
    otherwise, and for a ``holder`` that is not a dictionary."""
    if isinstance(holder, dict):
        found = {name: holder[name] for name in names if _is_marked(holder.get(name))}
        if found:
            yield found


def _is_marked(value: object) -> bool:
    return isinstance(value, dict) and not any(isinstance(member, dict | list) for member in value.values())


def message_markers(messages: Sequence[object], names: Sequence[str]) -> Iterator[Marker]:
    """Yield the prompt cache markers in the contents of ``messages``, in order. Skips messages that are not objects.
    ``names``: the fields of a content part that are markers, such as "cache_control" (see ``markers``)."""
    for message in messages:
        if isinstance(message, dict):
            yield from markers(message.get("content"), names)


def lost_marker(request: ChatRequest, keep_from: int, names: Sequence[str]) -> Marker:
    """Return the last prompt cache marker in the messages that a cut at ``keep_from`` removes; ``{}`` when they have
    none. The caller moves it to the resume block. Markers of system messages do not count, because a cut leaves those
    messages in place. ``names``: as for ``markers``."""
    staying = frozenset(request.staying(keep_from))
    taken = range(request.prefix, min(keep_from, len(request.messages)))
    gone = [request.messages.sent[place] for place in taken if place not in staying]
    return next(reversed(list(message_markers(gone, names))), {})


_CAUSES: Final = (
    ("compact", "compaction"),
    ("clear_tool_uses", "clear_tool_uses"),
    ("clear_thinking", "clear_thinking"),
)
"""Maps the start of an edit's type (the rest is a date) to the cause that it is reported as."""

UNKNOWN_EDIT: Final = "unknown_edit"


def removing_edit(value: object) -> str:
    """Return which edit in ``value`` removes or replaces messages or parts of them, as a counter name: "compaction",
    "clear_tool_uses", "clear_thinking" or "unknown_edit"; "" if none does. Of several, the first one counts.

    ``value``: the field of a request that lists the edits which the provider should make to the context: a list, one
    edit, or an object with the list under "edits". An edit of an unknown type counts as one that removes. One that
    clears thinking but keeps all of it does not.
    """
    edits = value.get("edits") if isinstance(value, dict) and "edits" in value else value
    if not edits:
        return ""
    listed = edits if isinstance(edits, list) else [edits]
    return next((cause for edit in listed if (cause := _cause(edit))), "")


def _cause(edit: Any) -> str:
    kind = edit.get("type") if isinstance(edit, dict) else None
    if not isinstance(kind, str):
        return UNKNOWN_EDIT
    cause = next((cause for start, cause in _CAUSES if kind.startswith(start)), UNKNOWN_EDIT)
    preserves_all = cause == "clear_thinking" and edit.get("keep") in ("all", {"type": "all"})
    return "" if preserves_all else cause
