"""The session graph: the facts of a session (nodes) and their relations (edges), computed from the session's events,
and queries on it."""

from __future__ import annotations

from typing import Any

from tokenmizer_mw.graph.fold import DISPLAYS, SessionGraph


def _notebook(graph: SessionGraph) -> str:
    from tokenmizer_mw.graph.export.documents import notebook  # not before a notebook asks for it

    return notebook(graph)


def _tree(graph: SessionGraph) -> Any:
    from tokenmizer_mw.graph.export.documents import tree

    return tree(graph)


DISPLAYS.update(notebook=_notebook, tree=_tree)
