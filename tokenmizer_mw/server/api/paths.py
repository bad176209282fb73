"""Matches request paths to routes. A session id is one percent-encoded path segment, so that it may contain slashes.

Servers pass the path decoded (``path``) and mostly also as received (``raw_path``). The latter is used only if both
agree; without it, a slash in an id cannot be distinguished from a separator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from .table import Route

_ID: Final = "{session_id}"


@dataclass(frozen=True, slots=True)
class Matched:
    """The routes of a path by method, and the session id in the path ("" if it has none)."""

    routes: Mapping[str, Route]
    session_id: str


def match_routes(scope: Mapping[str, Any], routes: Sequence[Route]) -> Matched | None:
    """Return the routes of a request's path below the mount point; ``None`` if no route matches."""
    longest = max(route.path.count("/") for route in routes)
    for path in _inner(scope):
        segments = _segments(path, scope.get("raw_path") or b"", longest)
        found = {route: id for route in routes if (id := _id_in(route.path, segments)) is not None}
        if found:
            return Matched({route.method: route for route in found}, next(iter(found.values())))
    return None


def _inner(scope: Mapping[str, Any]) -> list[str]:
    """The path without what it is mounted under, and as it stands, for hosts that have taken that off already."""
    path, root = scope["path"], scope.get("root_path", "")
    below = root and path.startswith(root) and path[len(root) : len(root) + 1] in ("", "/")
    return [path[len(root) :], path] if below else [path]


def _segments(path: str, raw: bytes, most: int) -> Sequence[str]:
    """The segments of ``path``, decoded one by one where ``raw`` ends in the same path before it was decoded. More
    than ``most`` of them lead nowhere."""
    pieces = raw.partition(b"?")[0].rsplit(b"/", most)[1:]
    for start in range(len(pieces)):
        told = list(_decode_segments(pieces[start:]))
        if "/" + "/".join(told) == path:
            return told
    return path.removeprefix("/").split("/", most)


def _decode_segments(pieces: Sequence[bytes]) -> Iterator[str]:
    """Each piece as text; one that is not UTF-8 is told as no server decodes it."""
    for piece in pieces:
        yield unquote_to_bytes(piece).decode("utf-8", "surrogateescape")


def _id_in(pattern: str, segments: Sequence[str]) -> str | None:
    """The session id where ``segments`` fit ``pattern``, "" where it has none; ``None`` when they do not fit."""
    parts = pattern.removeprefix("/").split("/")
    if len(parts) != len(segments):
        return None
    id = ""
    for part, segment in zip(parts, segments, strict=True):
        if part == _ID and segment:
            id = segment
        elif part != segment:
            return None
    return id
