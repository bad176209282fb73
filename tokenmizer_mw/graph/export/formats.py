"""The formats that a graph can be exported in, a row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.fold import SessionGraph

from .canvas import canvas
from .d3 import d3
from .markdown import markdown_text
from .mermaid import mermaid
from .page import html_page
from .selection import NODES_MAX


class Write(Protocol):
    """Turns a graph into the text of a file."""

    def __call__(self, graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
        """The text; ``title`` names the session, at most ``most`` facts are in it."""


@dataclass(frozen=True, slots=True)
class Format:
    """``suffix`` is what names of such files end in, ``media_type`` how servers call them, ``about`` one line for
    people."""

    write: Write
    suffix: str
    media_type: str
    about: str


FORMATS: Final[dict[str, Format]] = {
    "html": Format(html_page, ".html", "text/html; charset=utf-8", "a page that opens in any browser"),
    "markdown": Format(markdown_text, ".md", "text/markdown; charset=utf-8", "a document to read"),
    "d3": Format(d3, ".json", "application/json", "nodes and links as JSON"),
    "canvas": Format(canvas, ".canvas", "application/json", "a JSON Canvas, for Obsidian"),
    "mermaid": Format(mermaid, ".mmd", "text/plain; charset=utf-8", "a Mermaid flowchart"),
}


def export_graph(graph: SessionGraph, format: str = "html", *, title: str = "", most: int = NODES_MAX) -> str:
    """``graph`` as text in one of ``FORMATS``; ``title`` names the session, "" leaves it unnamed. At most ``most``
    facts, the most important ones. Raises ``CallerError`` for an unknown format."""
    return format_named(format).write(graph, title, most=most)


def format_named(name: str) -> Format:
    """The format of this name. Raises ``CallerError``."""
    if name not in FORMATS:
        raise CallerError(f"unknown format {name[:40]!r}: one of {', '.join(FORMATS)}")
    return FORMATS[name]
