"""The static files of the pages (scripts, styles)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from tokenmizer_mw.graph.export.svg import style

MEDIA: Final[Mapping[str, str]] = {
    "static/dashboard.css": "text/css; charset=utf-8",
    "static/graph.css": "text/css; charset=utf-8",
    "static/dashboard.js": "text/javascript; charset=utf-8",
    "static/icon.svg": "image/svg+xml",
}


@cache
def read(name: str) -> bytes:
    """Return the content of a file in ``MEDIA``."""
    if name == "static/graph.css":
        return style().encode()
    return files(__package__).joinpath(name).read_bytes()
