"""Gemini: POST {base}/models/{model}:generateContent and :streamGenerateContent. The path gives the model and whether
the reply streams.

A cut applies to ``contents``. With ``cachedContent`` the provider adds a stored beginning before them, which is the
same in every call and not resent by the client, so the contents can be cut as usual.

A response is server-sent events, a streamed JSON array, or one object. Each chunk of a stream is a complete response
object; the texts of the first candidate in all of them, in order, are the reply. Nothing marks the last chunk: some
models and relays give a finish reason in every chunk, or in the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.dialects.gemini_message import GeminiContent, group, member, read_message, role_of, roles_of
from tokenmizer_mw.wire.json_text import Edit, decode_value, json_text, storable
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.reply import error_text, parse_json, token_counts
from tokenmizer_mw.wire.request import JsonDialect, Shape, cut_edits, number_of, read_request
from tokenmizer_mw.wire.sse import lines_in, sent_events
from tokenmizer_mw.wire.unparsed import find_models

UNFINISHED: Final = "FINISH_REASON_UNSPECIFIED"
"""The finish reason that means that there is none yet."""

_CUT: Final = frozenset({"MAX_TOKENS", "CONTINUATION"})
_MAY_BE_SILENT: Final = _CUT | {"STOP"}
"""Finish reasons with which an empty reply is a message. With any other reason it is an error."""

_COUNTS: Final = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount",
                  "cachedContentTokenCount", "totalTokenCount")  # fmt: skip
_COUNT_TABLE: Final = tuple((name, name) for name in _COUNTS)
_BETWEEN: Final = " \t\r\n,[]"
_EVENT_LINES: Final = ("data", "event", "id", "retry", ":")


def collect_stream(data: bytes) -> Reply:
    """Parse a response of server-sent events, which may be incomplete. Does not raise.

    A provider may send an error as lines of plain JSON between the events. ``Reply.error`` then has its message, and
    ``Reply.outcome`` is ``ERROR``. Text before the error is kept. These lines are parsed only if no event gives a
    finish reason or an error.
    """
    reply = _ReplyBuilder()
    for event in sent_events(data):
        reply.add(parse_json(event.data))
        if reply.error:
            break
    if not reply.finished and not reply.error:
        bare = (line for line in lines_in(data) if not line.startswith(_EVENT_LINES))
        reply.add_all(_values("\n".join(bare)))
    return reply.close()


def collect_json(data: bytes) -> Reply:
    """Parse the reply in a JSON object or an array of objects; objects behind a point where the JSON breaks off are
    ignored. JSON without candidates has the outcome ``ERROR``. Never raises."""
    reply = _ReplyBuilder()
    reply.add_all(_values(data.decode("utf-8-sig", "replace")))
    reply.failed = reply.foreign
    return reply.close()


@dataclass(slots=True)
class _Candidate:
    """One of several answers of the model, as far as it was received."""

    content: GeminiContent = field(default_factory=GeminiContent)
    finish_reason: str = ""
    finish_message: str = ""

    def add(self, raw: dict[str, Any]) -> None:
        self.content.add(raw.get("content"))
        reason, message = member(raw, "finishReason"), member(raw, "finishMessage")
        if isinstance(reason, str) and reason != UNFINISHED:
            self.finish_reason = storable(reason)
        if isinstance(message, str):
            self.finish_message = message


@dataclass(slots=True)
class _ReplyBuilder:
    """What was received of a response so far. ``foreign``: true if it has JSON objects, but none with a candidate or a
    reason why the prompt was blocked."""

    candidates: dict[int, _Candidate] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    blocked: str = ""
    blocked_message: str = ""
    error: str = ""
    failed: bool = False
    foreign: bool = False

    @property
    def finished(self) -> bool:
        return any(candidate.finish_reason for candidate in self.candidates.values())

    def add_all(self, chunks: Iterator[object]) -> None:
        for chunk in chunks:
            self.add(chunk)
            if self.error:
                return

    def add(self, chunk: object) -> None:
        if not isinstance(chunk, dict):
            return
        if error := chunk.get("error"):
            self.error = error_text(error)
        for index, raw in _number_candidates(chunk.get("candidates")):
            self.candidates.setdefault(index, _Candidate()).add(raw)
        feedback = member(chunk, "promptFeedback")
        if isinstance(feedback, dict):
            self._add_feedback(feedback)
        self.counts.update(token_counts(_camel_counts(member(chunk, "usageMetadata")), _COUNT_TABLE))
        self.foreign = not self.candidates and not self.blocked

    def close(self) -> Reply:
        """Return the reply: the candidate with the lowest index. Other candidates are dropped.

        - Message: ``None`` if the candidate is empty, unless it ended with a reason of ``_MAY_BE_SILENT``.
        - Error: the provider's; else, for an empty candidate, the text or the name of the reason why it ended or why
          the prompt was blocked; else "".
        - Outcome: ``ERROR`` for an error or a body that is no reply; ``TRUNCATED`` without a finish reason, or for one
          of ``_CUT``; else ``COMPLETE``.
        """
        candidate = self.candidates[min(self.candidates)] if self.candidates else _Candidate()
        reason = candidate.finish_reason or self.blocked
        message: Message | None = candidate.content.message(Role.ASSISTANT)
        if message == Message(Role.ASSISTANT) and reason not in _MAY_BE_SILENT:
            message = None
            if reason and not self.error:
                self.error = error_text(candidate.finish_message or self.blocked_message or reason)
        return Reply(message, self._outcome(reason), reason, _usage(self.counts), self.error)

    def _add_feedback(self, raw: dict[str, Any]) -> None:
        reason, message = member(raw, "blockReason"), member(raw, "blockReasonMessage")
        if isinstance(reason, str):
            self.blocked, self.blocked_message = storable(reason), message if isinstance(message, str) else ""

    def _outcome(self, reason: str) -> Outcome:
        if self.error or self.failed:
            return Outcome.ERROR
        return Outcome.TRUNCATED if not reason or reason in _CUT else Outcome.COMPLETE


def _number_candidates(candidates: object) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the candidates with their indexes. A candidate without an index beside others that have one has index 0,
    because zeros may be left out."""
    given = [raw for raw in candidates if isinstance(raw, dict)] if isinstance(candidates, list) else []
    numbered = any(type(raw.get("index")) is int for raw in given)
    for place, raw in enumerate(given):
        yield number_of(raw.get("index"), 0 if numbered else place), raw


def _usage(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts under this package's names. Thoughts count as output, and what the provider's tools read as
    input."""
    sums = (
        ("prompt_tokens", ("promptTokenCount", "toolUsePromptTokenCount")),
        ("completion_tokens", ("candidatesTokenCount", "thoughtsTokenCount")),
        ("total_tokens", ("totalTokenCount",)),
        ("cached_tokens", ("cachedContentTokenCount",)),
        ("reasoning_tokens", ("thoughtsTokenCount",)),
    )
    return {
        name: sum(counts.get(part, 0) for part in parts)
        for name, parts in sums
        if any(part in counts for part in parts)
    }


def _camel_counts(raw: object) -> dict[str, object]:
    return {name: member(raw, name) for name in _COUNTS} if isinstance(raw, dict) else {}


def _values(text: str) -> Iterator[object]:
    """Yield the JSON values in a text, one after the other or in arrays, until one cannot be parsed."""
    place, end = 0, len(text)
    while True:
        while place < end and text[place] in _BETWEEN:
            place += 1
        try:
            value, place = decode_value(text, place)
        except (ValueError, RecursionError):
            return
        yield value


REPLY_CONTINUED: Final = "reply_continued"
"""Reason why a request that asks for the rest of a reply must not be rewritten: it must repeat the request before
it."""

_STREAMS: Final = {"generateContent": False, "streamGenerateContent": True}
_BOM: Final = b"\xef\xbb\xbf"

_SHAPE: Final = Shape(
    "gemini",
    role_of,
    roles_of,
    read_message,
    messages="contents",
    overhead=("systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config",
              "generationConfig", "generation_config"),
    elsewhere={"continuationToken": REPLY_CONTINUED, "continuation_token": REPLY_CONTINUED},
    group=group,
    content=("parts",),
    part={},
)  # fmt: skip


class Gemini(JsonDialect):
    """The dialect of Gemini. The model and whether the reply streams are taken from the URL path; from the body if the
    path does not say."""

    name = _SHAPE.name
    shape = _SHAPE
    linked = (b'"fileData"', b'"file_data"')

    def models(self, body: bytes, path: str = "") -> tuple[str, ...]:
        """Return the model that the URL path ``path`` names; if it names none, the models that the unparsed request may
        name, empty when it could be any model."""
        model = _model(path)
        return (model,) if model else find_models(body)

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """Parse the request in ``body``, sent to the URL path ``path``. Raises ``MalformedRequest`` unless it is a JSON
        object with a list of contents. See ``Dialect.read``."""
        stream = _STREAMS.get(path.rpartition(":")[2])
        return read_request(_SHAPE, body, known, model=_model(path) or None, stream=stream)

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits of a cut, as ``JsonDialect.cut`` does. Whatever ``role`` is, the block becomes a content of
        the user, because a list of contents must begin with one."""
        content = {"role": "user", "parts": [{"text": storable(block)}]}
        return cut_edits(request, keep_from, json_text(content) if block else "")

    def ends(self, tail: bytes) -> bool:
        """Return false, always: nothing marks the last event of a stream. A finish reason may occur in every chunk, or
        before the text."""
        return False

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body. Never raises. The content decides how it is parsed: a stream
        consists of events or of JSON, and its errors are JSON. See ``Dialect.collect``."""
        start = data.removeprefix(_BOM).lstrip()
        return collect_json(data) if start.startswith((b"{", b"[")) else collect_stream(data)


def _model(path: str) -> str:
    """Return the model that a path names before the method, without its collection ("models/"); "" if there is no
    method."""
    target, _, method = path.rpartition(":")
    return storable(target.rpartition("/")[2]) if method in _STREAMS else ""
