"""Collecting the reply of a chat route with a shape of its own, streamed or whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.message import Message, Outcome, Role
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.paths import Path, at, path_of
from tokenmizer_mw.wire.reply import error_text, parse_json
from tokenmizer_mw.wire.sse import LineDecoder, ServerSentEvent, SSEDecoder
from tokenmizer_mw.wire.text import storable

from .openai_message import read_content

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
    """Where the text of a reply is: ``whole`` in a JSON body, ``piece`` in each event of a stream (``None``: plain
    text without JSON). ``event`` is the name of the events that carry text ("": any); ``done`` tells the last one by
    its data, its name, or the value at ``done_path`` ("": there is no last one)."""

    whole: Path | None
    piece: Path | None
    event: str
    done: str
    done_path: Path
    mark: bytes

    @classmethod
    def of(cls, reply: str | None, delta: str | None, event: str, done: str) -> Replies:
        """As an owner spells it. Raises ``ConfigError``."""
        given = reply if reply is not None else delta
        if given is None:
            raise ConfigError("a custom chat has a reply, a delta, or both")
        for name, value in (("event", event), ("done", done)):
            if not isinstance(value, str):
                raise ConfigError(f"{name} is text, not {value!r}")
        done_path = path_of(done, "done") if done.translate(_JOINTS).isalnum() else ()
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
        """Whether ``tail`` may hold what tells the last event of a stream."""
        place = tail.find(self.mark) if self.mark else -1
        while place >= 0:
            if not self.done_path or self._ends_at(tail, place):
                return True
            place = tail.find(self.mark, place + 1)
        return False

    def collect(self, data: bytes, *, stream: bool) -> Reply:
        """The reply in the bytes of a response. Never raises."""
        data = data.removeprefix(b"\xef\xbb\xbf")
        place = self.piece if stream else self.whole
        if data.lstrip().startswith(_EVENT_STARTS) and (stream or place is not None):
            decoder = SSEDecoder(event_max=max(1, len(data)))
            return self._of_events([*decoder.receive_data(data), *decoder.receive_data(b"")])
        if place is None:
            return _reply(data.decode("utf-8", "replace"), Outcome.COMPLETE)
        body = parse_json(data.decode("utf-8", "replace"))
        whole = body is not None and not self._is_line(body)
        if whole and not stream:
            return self._of_body(body)
        reply = self._of_events(_lines(data)) if self.piece is not None else _NOTHING
        return self._of_body(body) if whole and reply == _NOTHING else reply

    def _is_line(self, body: object) -> bool:
        """Whether a JSON body is but the first line of a stream that has another media type."""
        if self.piece is None or not self.done:
            return False
        tells_end = bool(self.done_path) and at(body, self.done_path) is not None
        if self.whole == self.piece:
            return tells_end
        return at(body, self.whole or ()) is None and (tells_end or at(body, self.piece) is not None)

    def _of_body(self, body: object) -> Reply:
        """The reply in a whole body; one that has no text where it should be is somebody's error."""
        value = at(body, self.whole or ())
        if isinstance(value, str | list) and not _complaint(body, _COMPLAINTS[:1]):
            content = read_content(value)
            message = Message(Role.ASSISTANT, storable(content.text), thinking=storable(content.thinking))
            return Reply(message, Outcome.COMPLETE)
        return Reply(None, Outcome.ERROR, error=error_text(_complaint(body, _COMPLAINTS)))

    def _of_events(self, events: Iterable[ServerSentEvent]) -> Reply:
        """The reply in a stream's events; what follows the last one or an error is not looked at."""
        pieces: list[str] = []
        for event in events:
            value = None if self.piece is None else parse_json(event.data)
            error = value or event.data if event.event == "error" else _complaint(value, _COMPLAINTS[:1])
            if error:
                return _reply("".join(pieces), Outcome.ERROR, error=error_text(error))
            if self.done and self.done in (event.data, event.event, value):
                return _reply("".join(pieces), Outcome.COMPLETE, ended=True)
            if not self.event or event.event == self.event:
                pieces.append(event.data if self.piece is None else _text(at(value, self.piece)))
            if self.done_path and (reason := at(value, self.done_path)):
                finish = storable(reason) if isinstance(reason, str) else ""
                return _reply("".join(pieces), Outcome.COMPLETE, finish=finish, ended=True)
        outcome = Outcome.TRUNCATED if self.done or not any(pieces) else Outcome.COMPLETE
        return _reply("".join(pieces), outcome)

    def _ends_at(self, tail: bytes, place: int) -> bool:
        """Whether the mark at ``place`` is a member with a value that may be true, or the data or name of an event."""
        behind = place + len(self.mark)
        before, rest = tail[max(0, place - _BEFORE) : place], tail[behind : behind + _BEHIND]
        if before.endswith(b'"') and rest.startswith(b'"'):
            value = rest[1:].lstrip(b" \t:")
            return bool(value) and not value.startswith(_NOT_TRUE)
        return before.rstrip(b' "').endswith(_NAMED)


def _place(spelled: str, what: str) -> Path | None:
    return None if spelled == "" else path_of(spelled, what)


def _reply(text: str, outcome: Outcome, *, finish: str = "", error: str = "", ended: bool = False) -> Reply:
    """A reply with this text. Without text there is a message only where the end of one was told."""
    message = Message(Role.ASSISTANT, storable(text)) if text or ended else None
    return Reply(message, outcome, finish, error=error)


def _lines(data: bytes) -> list[ServerSentEvent]:
    """Lines of NDJSON as events without a name."""
    decoder = LineDecoder(max(1, len(data)))
    lines = [*decoder.receive_data(data), *decoder.receive_data(b"")]
    return [ServerSentEvent(line.decode("utf-8", "replace")) for line in lines if line]


def _text(value: object) -> str:
    return read_content(value).text if isinstance(value, str | list) else ""


def _complaint(body: object, names: tuple[str, ...]) -> object:
    """What an object says went wrong, under the first of these names that says anything."""
    return next(filter(None, map(body.get, names)), None) if isinstance(body, dict) else None
