"""Events to bytes: lines, comments, pieces. Every byte that the scripted upstream streams is made here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .format import Event, as_json

KEEP_ALIVE: Final = ": keep-alive"
_END_OF_LINE: Final = {"crlf": "\r\n", "cr": "\r"}
_SPLIT: Final = {"split1": 1, "split7": 7}


def framed(events: Iterable[Event], media_type: str, modes: frozenset[str]) -> list[bytes]:
    """The events as a stream of ``media_type`` carries them, one item for each: joined, they are the body."""
    match media_type:
        case "text/event-stream":
            return list(_sse(events, modes))
        case "application/x-ndjson":
            end = "\r\n" if "crlf" in modes else "\n"
            return [(_escaped(as_json(event.data)) + end).encode() for event in events]
        case _:
            return list(_array(list(events), modes))


def pieces(body: Sequence[bytes], modes: frozenset[str]) -> list[bytes]:
    """The same bytes in the pieces in which they are written to the network."""
    size = next((_SPLIT[mode] for mode in modes if mode in _SPLIT), None)
    if size is None and "glue" not in modes:
        return list(body)
    joined = b"".join(body)
    size = size or max(1, len(joined))
    return [joined[start : start + size] for start in range(0, len(joined), size)]


def _sse(events: Iterable[Event], modes: frozenset[str]) -> Iterator[bytes]:
    end = next((_END_OF_LINE[mode] for mode in modes if mode in _END_OF_LINE), "\n")
    colon = ":" if "nospace" in modes else ": "
    for event in events:
        lines = [KEEP_ALIVE, ""] if "ka" in modes else []
        if event.bare:
            lines += json.dumps(event.data, indent=2).splitlines()
        else:
            lines += [f"event{colon}{event.name}"] if event.name else []
            lines += [f"data{colon}{line}" for line in _data(event, modes)]
        yield "".join(line + end for line in [*lines, ""]).encode()
        if "ping" in modes and event.name.startswith(("message_", "content_block_")):
            yield f'event{colon}ping{end}data{colon}{{"type": "ping"}}{end}{end}'.encode()


def _data(event: Event, modes: frozenset[str]) -> list[str]:
    """The lines of an event's data. Line ends within JSON text are escaped, so that only those between its parts
    tear it."""
    if isinstance(event.data, str):
        return [event.data]
    return (
        json.dumps(event.data, ensure_ascii=False, indent=1).split("\n") if "multi" in modes else [as_json(event.data)]
    )


def _array(events: list[Event], modes: frozenset[str]) -> Iterator[bytes]:
    end = "\r\n" if "crlf" in modes else "\n"
    for place, event in enumerate(events):
        start = "[" if place == 0 else f",{end}"
        indent = 2 if "multi" in modes else None
        text = json.dumps(event.data, ensure_ascii=False, indent=indent).replace("\n", end)
        yield (start + text + ("]" if event.terminal else "")).encode()


def _escaped(text: str) -> str:
    """As the encoder of Go's standard library writes JSON: line separators of Unicode never stand raw."""
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
