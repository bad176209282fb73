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

    - ``messages``: the messages, parsed on access; message i is at ``spans[i]`` of ``text``. A plain text in place of
      the list counts as one message.
    - ``array``: offset in ``text`` of the list of messages, or of the plain text in its place.
    - ``fields``: all top-level members but the messages, parsed.
    - ``prefix``: number of leading system and developer messages, which are never cut.
    - ``overhead``: other text that fills the context window (tool definitions, response formats), for counting tokens.
    - ``stand_down``: reason why the request must not be rewritten; "" if it may be. ``cause``: the part of the request
      that is the reason, if the provider stores or shortens the transcript; else "".
    - ``members``: every top-level member in order, duplicates included: its name, and its span from the quote of the
      name to the end of the value.
    - ``known_spans``: spans of the first messages, if an earlier request with the same beginning is cached.
    - ``sizes``: how many elements of the list each message takes; empty if it is one each.
    - ``bound``: number of leading messages up to the last part that is valid only after an unchanged history (such as
      signed reasoning); a further cut keeps none of them. ``binds``: true if the reply will contain such parts.
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
        """Return the indexes of the system messages that a cut before message ``keep_from`` leaves in place, behind the
        leading ones. Messages of unknown roles count as system messages."""
        roles = self.messages.roles
        if Role.SYSTEM not in roles:
            return []
        return [place for place in range(self.prefix, min(keep_from, len(roles))) if roles[place] is Role.SYSTEM]

    @property
    def spans_found(self) -> tuple[Span, ...]:
        """The spans of the first messages that are known without computing ``spans``."""
        found: tuple[Span, ...] = self.__dict__.get("spans", self.known_spans)
        return found


@dataclass(frozen=True, slots=True)
class Reply:
    """A collected response: the assistant's message, and how the response ended.

    - ``message``: ``None`` if there was nothing usable (an error, an empty body, or another format).
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
    """Yield the prompt cache markers of a content's parts, in order; those of nested parts before that of the outer
    part. ``names``: the fields that are markers, such as "cache_control". ``depth``: how deep nested parts are
    searched; 1: not at all."""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        source = part.get("source")
        within = [part.get("content"), source.get("content") if isinstance(source, dict) else None]
        for inner in within if depth > 1 else ():
            yield from markers(inner, names, depth - 1)
        yield from marker(part, names)


def marker(holder: object, names: Sequence[str]) -> Iterator[Marker]:
    """Yield the prompt cache marker of a part, a tool or a request, if it has one: a dictionary with those of its
    fields that ``names`` lists."""
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
    """Return the last prompt cache marker of the messages that a cut before ``keep_from`` removes, which the resume
    block then gets; empty when there is none. System messages stay with their markers. ``names``: as for
    ``markers``."""
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
    """Return which edit in ``value`` removes or replaces messages or parts of them, as a counter name such as
    "compaction"; "" if none does. ``value``: a request's field with the edits that the provider should make to the
    context. An edit of an unknown type counts as one that removes."""
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
