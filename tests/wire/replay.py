"""Replaying the bytes of a response through an exchange, in any pieces, as a shell does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.request import Dialect

LINE_ENDS = (b"\n", b"\r\n", b"\r")


def replay(dialect: Dialect, request: bytes, pieces: Iterable[bytes], content_type: bytes, path: str = "") -> Reply:
    """The reply that is committed when the response comes in these pieces: at the first piece that settles it, or at
    the end."""
    forwarding = open_exchange(dialect, (), request, Settings(), path=path, session_id="s").forward()
    forwarding.start_reply(200, [(b"content-type", content_type)])
    for piece in (*filter(None, pieces), b""):
        if forwarding.receive(piece):
            closed = forwarding.close()
            if closed.settled or not piece:
                assert closed.reply is not None
                return closed.reply
    raise AssertionError("the end of a response always completes it")


def chunkings(data: bytes, *, every: bool = True) -> Iterator[list[bytes]]:
    """Splits into two pieces, and byte by byte. Not ``every`` split: those beside ends of lines and of characters that
    are not ASCII, and some others."""
    for place in range(len(data)):
        if every or place % 23 == 0 or _is_edge(data[max(0, place - 2) : place + 2]):
            yield [data[:place], data[place:]]
    yield [data[place : place + 1] for place in range(len(data))]


def _is_edge(around: bytes) -> bool:
    return b"\n" in around or b"\r" in around or not around.isascii()


def cut_at(data: bytes, places: Iterable[int]) -> list[bytes]:
    """The pieces between these places, which may lie anywhere."""
    ordered = sorted({place % max(1, len(data)) for place in places})
    return [data[start:end] for start, end in zip([0, *ordered], [*ordered, len(data)], strict=True)]


def replaced(draw: Any, value: Any, by: st.SearchStrategy[Any]) -> Any:
    """``value`` with one part of it, at any depth, replaced by a drawn value."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: replaced(draw, value[name], by)}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], replaced(draw, value[place], by), *value[place + 1 :]]
    return draw(by)
