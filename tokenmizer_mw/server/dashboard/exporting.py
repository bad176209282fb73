"""Export of a session's graph in any of the file formats."""

from __future__ import annotations

import re

from tokenmizer_mw.graph.export.formats import FORMATS, format_named

from .asked import File, PageRequest
from .markup import Markup, tag
from .words import link, to


def export(asked: PageRequest) -> File:
    """Return the graph as a file in the format that the query names; by default a self-contained HTML page."""
    name = asked.query.get("format", "html")
    format_ = format_named(name)
    text = asked.memory.export(asked.id, name, tenant=asked.tenant)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", asked.id)[:80].strip("-.") or "session"
    return File(f"{stem}{format_.suffix}", format_.media_type, text.encode("utf-8", "replace"))


def formats(asked: PageRequest) -> Markup:
    """Return links to the graph in every format."""
    links = [link(to("export", id=asked.id, format=name), name, title=one.about) for name, one in FORMATS.items()]
    return tag("p", "Save the graph as ", *[part for one in links for part in (one, " ")], class_="hint")
