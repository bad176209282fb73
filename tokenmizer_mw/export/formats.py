"""The formats that a graph can be exported in, a row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.fold import SessionGraph

from .canvas import canvas
from .d3 import d3
from .graphml import graphml
from .layout import arrange
from .markdown import markdown_text
from .mermaid import mermaid
from .page import html_page
from .selection import NODES_MAX, selected
from .svg import draw
from .text import words_of


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


def _svg(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """The drawing as a file of its own."""
    chosen = selected(graph, most)
    layout = arrange(chosen.nodes, chosen.steps)
    return draw(graph, layout, title=words_of(title) or "Session graph", styled=True) + "\n"


FORMATS: Final[dict[str, Format]] = {
    "html": Format(html_page, ".html", "text/html; charset=utf-8", "a page that opens in any browser"),
    "markdown": Format(markdown_text, ".md", "text/markdown; charset=utf-8", "a document to read"),
    "d3": Format(d3, ".json", "application/json", "nodes and links as JSON"),
    "canvas": Format(canvas, ".canvas", "application/json", "a JSON Canvas, for Obsidian"),
    "graphml": Format(graphml, ".graphml", "application/xml", "GraphML, for graph tools"),
    "mermaid": Format(mermaid, ".mmd", "text/plain; charset=utf-8", "a Mermaid flowchart"),
    "svg": Format(_svg, ".svg", "image/svg+xml", "a picture"),
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
