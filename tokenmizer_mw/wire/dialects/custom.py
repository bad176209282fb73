"""Dialect for chat routes with their own JSON format, described by dotted paths: requests, and replies streamed or
whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.errors import ConfigError, MalformedRequest
from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.dialects.openai_message import ROLES, read_content, read_message
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.json_text import Edit, Path, json_text, parse_path, put_at, storable, value_at
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.reply import error_text, parse_json
from tokenmizer_mw.wire.request import (
    HISTORY_ON_SERVER,
    NOT_REWRITABLE,
    JsonDialect,
    Shape,
    cut_edits,
    read_request,
    text_of,
)
from tokenmizer_mw.wire.spans import ObjectSpans, decode_body, read_object
from tokenmizer_mw.wire.sse import ServerSentEvent, lines_in, sent_events

_EVENT_STARTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
_NOT_TRUE: Final = (b"false", b"null", b'""', b"0,", b"0}", b"0 ", b"[]", b"{}")
_NAMED: Final = (b"data:", b"event:")
_JOINTS: Final = str.maketrans("", "", "._-")
_BEFORE: Final = 8
_BEHIND: Final = 24
_NOTHING: Final = Reply(None, Outcome.TRUNCATED)
_COMPLAINTS: Final = ("error", "detail", "message")


@dataclass(frozen=True, slots=True)
class Replies:
    """Where the text of a reply is, for a ``CustomChat``.

    - ``whole``: path of the text in a JSON body; ``piece``: path of it in each event of a stream; ``None``: the reply
      is plain text without JSON.
    - ``event``: name of the events that contain text; "": any.
    - ``done``: marks the last event, by its data, its name, or the value at ``done_path``; "": there is no such event.
    - ``mark``: bytes that every last event contains, to find it quickly; b"" without ``done``.
    """

    whole: Path | None
    piece: Path | None
    event: str
    done: str
    done_path: Path
    mark: bytes

    @classmethod
    def of(cls, reply: str | None, delta: str | None, event: str, done: str) -> Replies:
        """Make a ``Replies`` from the arguments of ``CustomChat`` that describe replies; ``None`` for a ``reply`` or
        ``delta`` that is not given. Raises ``ConfigError`` for invalid ones."""
        given = reply if reply is not None else delta
        if given is None:
            raise ConfigError("a custom chat has a reply, a delta, or both")
        for name, value in (("event", event), ("done", done)):
            if not isinstance(value, str):
                raise ConfigError(f"{name} is text, not {value!r}")
        done_path = parse_path(done, "done") if done.translate(_JOINTS).isalnum() else ()
        mark = done_path[-1] if done_path else done
        return cls(
            whole=_place(given, "reply" if reply is not None else "delta"),
            piece=_place(given if delta is None else delta, "delta" if delta is not None else "reply"),
            event=event,
            done=done,
            done_path=done_path,
            mark=mark.encode("utf-8", "replace"),
        )

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` may contain the mark of the last event of a stream (see ``Dialect.ends``); false if there is
        no such event."""
        place = tail.find(self.mark) if self.mark else -1
        while place >= 0:
            if not self.done_path or self._ends_at(tail, place):
                return True
            place = tail.find(self.mark, place + 1)
        return False

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body. Never raises. ``stream``: whether the request asked for a
        stream. If replies are plain text, the whole body is the text. See ``Dialect.collect``."""
        data = data.removeprefix(b"\xef\xbb\xbf")
        place = self.piece if stream else self.whole
        if data.lstrip().startswith(_EVENT_STARTS) and (stream or place is not None):
            return self._of_events(sent_events(data))
        if place is None:
            return _reply(data.decode("utf-8", "replace"), Outcome.COMPLETE)
        body = parse_json(data.decode("utf-8", "replace"))
        whole = body is not None and not self._is_line(body)
        if whole and not stream:
            return self._of_body(body)
        reply = self._of_events(map(ServerSentEvent, lines_in(data))) if self.piece is not None else _NOTHING
        return self._of_body(body) if whole and reply == _NOTHING else reply

    def _is_line(self, body: object) -> bool:
        """Whether a JSON body is only the first line of a stream that was sent with another media type."""
        if self.piece is None or not self.done:
            return False
        has_end = bool(self.done_path) and value_at(body, self.done_path) is not None
        if self.whole == self.piece:
            return has_end
        return value_at(body, self.whole or ()) is None and (has_end or value_at(body, self.piece) is not None)

    def _of_body(self, body: object) -> Reply:
        """Parse a complete body. One without text at the configured path counts as an error."""
        value = value_at(body, self.whole or ())
        if isinstance(value, str | list) and not _complaint(body, _COMPLAINTS[:1]):
            content = read_content(value)
            message = Message(Role.ASSISTANT, storable(content.text), thinking=storable(content.thinking))
            return Reply(message, Outcome.COMPLETE)
        return Reply(None, Outcome.ERROR, error=error_text(_complaint(body, _COMPLAINTS)))

    def _of_events(self, events: Iterable[ServerSentEvent]) -> Reply:
        """Parse the events of a stream. Events after the last one or after an error are ignored."""
        pieces: list[str] = []
        for event in events:
            value = None if self.piece is None else parse_json(event.data)
            error = value or event.data if event.event == "error" else _complaint(value, _COMPLAINTS[:1])
            if error:
                return _reply("".join(pieces), Outcome.ERROR, error=error_text(error))
            if self.done and self.done in (event.data, event.event, value):
                return _reply("".join(pieces), Outcome.COMPLETE, ended=True)
            if not self.event or event.event == self.event:
                pieces.append(event.data if self.piece is None else read_content(value_at(value, self.piece)).text)
            if self.done_path and (reason := value_at(value, self.done_path)):
                finish = storable(reason) if isinstance(reason, str) else ""
                return _reply("".join(pieces), Outcome.COMPLETE, finish=finish, ended=True)
        outcome = Outcome.TRUNCATED if self.done or not any(pieces) else Outcome.COMPLETE
        return _reply("".join(pieces), outcome)

    def _ends_at(self, tail: bytes, place: int) -> bool:
        """Whether the mark at ``place`` is a member whose value may be true, or the data or name of an event."""
        behind = place + len(self.mark)
        before, rest = tail[max(0, place - _BEFORE) : place], tail[behind : behind + _BEHIND]
        if before.endswith(b'"') and rest.startswith(b'"'):
            value = rest[1:].lstrip(b" \t:")
            return bool(value) and not value.startswith(_NOT_TRUE)
        return before.rstrip(b' "').endswith(_NAMED)


def _place(spelled: str, what: str) -> Path | None:
    return None if spelled == "" else parse_path(spelled, what)


def _reply(text: str, outcome: Outcome, *, finish: str = "", error: str = "", ended: bool = False) -> Reply:
    """Make a reply with this text. An empty text is a message only if the stream ended properly (``ended``)."""
    message = Message(Role.ASSISTANT, storable(text)) if text or ended else None
    return Reply(message, outcome, finish, error=error)


def _complaint(body: object, names: tuple[str, ...]) -> object:
    """Return the error in an object: the value of the first of ``names`` that has one; ``None`` for none."""
    return next(filter(None, map(body.get, names)), None) if isinstance(body, dict) else None


Where = str | Callable[[dict[str, Any]], Any]
"""A dotted path in the request's body, or a function that takes the value from the parsed body."""

_PASSED: Final = ("tool_calls", "tool_call_id")
_OF_A_CALLABLE: Final = (LookupError, TypeError, ValueError, AttributeError)
"""Errors that a user's function may raise for a body of another form."""


class CustomChat(JsonDialect):
    """The dialect of a chat route with its own JSON format, described by dotted paths such as "chat.turns" or
    "turns.-1.text".

    Request (a JSON object):

    - ``messages``: path to the list of messages; or ``question``: path to the user's newest text, if the request
      contains no earlier messages. Exactly one of the two is given. Instead of a path, it may be a function that
      returns the value from the parsed body.
    - ``role``, ``content``: paths in a message to its role and its text.
    - ``roles``: maps the application's role names to "user", "assistant", "system" and "tool"; these four need no
      entry.

    Reply:

    - ``reply``: path to the text in a JSON body; ``delta``: path to the next piece of text in each event of a stream or
      line of NDJSON. If only one is given, it is used for both. "$" is the JSON value itself, "" plain text without
      JSON.
    - ``event``: name of the server-sent events that contain text; "": all do.
    - ``done``: how a stream ends: the data or the name of its last event, or a path at which only the last event has a
      value that is not null, false, 0 or empty; "": with its last byte.

    If ``messages`` is the path of a top-level member, old messages are cut when the context window is full: one message
    with the resume block (a text with what they stated) replaces them; ``extra``: further members that the application
    requires in it. Messages in any other place are recorded, but never cut. Raises ``ConfigError`` for invalid or
    contradictory arguments.
    """

    name = "custom"
    linked = (b'"image_url"', b'"file_id"')
    media_types = frozenset(
        {b"text/plain", b"application/ndjson", b"application/jsonlines", b"application/x-jsonlines", b"text/ndjson"}
    )

    def __init__(
        self,
        *,
        messages: Where | None = None,
        question: Where | None = None,
        reply: str | None = None,
        delta: str | None = None,
        event: str = "",
        done: str = "",
        role: str = "role",
        content: str = "content",
        roles: Mapping[Any, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if (messages is None) == (question is None):
            raise ConfigError("a custom chat has either messages or a question, and not both")
        self._replies = Replies.of(reply, delta, event, done)
        self._role, self._content = parse_path(role, "role"), parse_path(content, "content")
        own = _check_roles(roles if roles is not None else {})
        self._roles: dict[Any, Role] = {**ROLES, **own}
        self._words: dict[str, Any] = {}
        for word, meant in own.items():
            self._words.setdefault(meant.value, word)
        self._extra = extra if extra is not None else {}
        self._check_element()
        self._finds = _finder(messages, "messages") if messages is not None else _finder(question, "question")
        self._asks = question is not None
        path = parse_path(messages, "messages") if isinstance(messages, str) else ()
        known_as = f"custom {path} {self._role} {self._content} {self._roles}"
        self.shape = Shape(
            known_as, self._role_of, self._roles_of, self._read_message, ".".join(path), content=self._content
        )
        self._cuts = len(path) == 1

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """Parse the request in ``body``. Raises ``MalformedRequest`` unless it is a JSON object that has, at the
        configured place, what is configured: a list of messages, or a question (a text). The argument ``path`` is not
        used. See ``Dialect.read``."""
        return read_request(self.shape, body, known) if self._cuts else self._read_only(read_object(decode_body(body)))

    def accepts(self, values: Mapping[str, Any]) -> bool:
        """Whether ``read`` surely returns a request for a JSON object with these members; false for one whose messages
        lie deeper."""
        return self._cuts and super().accepts(values)

    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits that replace old messages by ``block``. Raises ``ValueError`` if the messages are not in a
        top-level member of the body, and as ``JsonDialect.cut`` does."""
        if not self._cuts:
            raise ValueError("a history that lies deeper is not rewritten")
        return cut_edits(request, keep_from, self._block(request, keep_from, role, block) if block else "")

    def ends(self, tail: bytes) -> bool:
        """Whether ``tail`` may contain the end of a stream; always false if the argument ``done`` is not set. See
        ``Dialect.ends``."""
        return self._replies.ends(tail)

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """Parse the reply in a captured response body. Never raises. See ``Dialect.collect``."""
        return self._replies.collect(data, stream=stream)

    # -- the request -----------------------------------------------------------------------------------------

    def _read_only(self, found: ObjectSpans) -> ChatRequest:
        """Parse a request whose history lies deeper, or on the server, so that it cannot be cut."""
        try:
            value = self._finds(found.values)
        except _OF_A_CALLABLE as error:
            raise MalformedRequest(f"no messages: {type(error).__name__}") from None
        if self._asks and isinstance(value, str):
            messages = History([value], [Role.USER], _read_question, part=True)
        elif not self._asks and isinstance(value, list | tuple):
            messages = History(value, self._roles_of(value), self._read_message)
        else:
            raise MalformedRequest("no question" if self._asks else "no list of messages")
        return ChatRequest(
            text=found.text,
            messages=messages,
            array=0,
            fields=found.values,
            model=text_of(found.values, "model"),
            stream=found.values.get("stream") is True,
            stand_down=HISTORY_ON_SERVER if self._asks else NOT_REWRITABLE,
            members=found.members,
        )

    def _role_of(self, raw: Any) -> Role | None:
        word = value_at(raw, self._role)
        return self._roles.get(word) if isinstance(word, str | int) else None

    def _roles_of(self, sent: Sequence[Any]) -> list[Role]:
        if len(self._role) == 1:
            step, roles = self._role[0], self._roles
            try:
                return [roles[raw[step]] for raw in sent]  # nearly always, and faster than asking each one
            except (KeyError, TypeError, IndexError):
                pass
        return [self._role_of(raw) or Role.SYSTEM for raw in sent]

    def _read_message(self, raw: object, _: int) -> Message:
        if not isinstance(raw, dict):
            return Message(Role.SYSTEM)
        passed = {name: raw[name] for name in _PASSED if name in raw}
        role = self._role_of(raw) or Role.SYSTEM
        return read_message({**passed, "role": role.value, "content": value_at(raw, self._content)})

    def _block(self, request: ChatRequest, keep_from: int, role: str, block: str) -> str:
        """Return the message with the block as JSON text. Its content is a list if that of the first kept message is
        one."""
        kept = range(keep_from, len(request.messages))
        sample = json.loads(request.text[slice(*request.spans[kept[0]])]) if kept else {}
        return json_text(
            self._element(self._word(role), _spelled_like(value_at(sample, self._content), storable(block)))
        )

    def _element(self, word: object, content: object) -> dict[str, Any]:
        return put_at(content, self._content, put_at(word, self._role, json.loads(json.dumps(dict(self._extra)))))

    def _word(self, role: str) -> object:
        """Return how the application spells a role: the first word that ``roles`` maps to it, else the first one for
        the user, else ``role`` itself. "developer" counts as "system"."""
        own = "system" if role == "developer" else role
        return self._words.get(own, self._words.get("user", role))

    def _check_element(self) -> None:
        for path in (self._role, self._content):
            if not path or any(step.lstrip("-").isdigit() for step in path):
                raise ConfigError("role and content lead through members: of a list in an element, name the list")
        if not isinstance(self._extra, Mapping):
            raise ConfigError(f"extra holds members of an element, not {self._extra!r}")
        try:
            self._element("user", "")
        except (TypeError, ValueError) as error:
            raise ConfigError(f"no element can be made of role, content and extra: {error}") from None


def _check_roles(roles: Mapping[Any, str]) -> dict[Any, Role]:
    if not isinstance(roles, Mapping):
        raise ConfigError(f"roles maps words to roles; {roles!r} does not")
    for word, spelled in roles.items():
        if not isinstance(word, str | int) or not isinstance(spelled, str) or spelled not in ROLES:
            raise ConfigError(f"roles maps a word to user, assistant, system or tool, not {word!r} to {spelled!r}")
    return {word: ROLES[spelled] for word, spelled in roles.items()}


def _finder(where: Where | None, what: str) -> Callable[[dict[str, Any]], Any]:
    if callable(where):
        return where
    path = parse_path(where, what)
    return lambda body: value_at(body, path)


def _read_question(raw: object, _: int) -> Message:
    return Message(Role.USER, storable(raw) if isinstance(raw, str) else "")


def _spelled_like(sample: object, block: str) -> object:
    if not isinstance(sample, list):
        return block
    return [block] if sample and isinstance(sample[0], str) else [{"type": "text", "text": block}]
