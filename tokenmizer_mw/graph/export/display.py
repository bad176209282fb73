"""Show a graph in notebooks (HTML) and terminals (a ``rich`` tree)."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.graph.export.appearance import STATUSES, TYPES
from tokenmizer_mw.graph.export.layout import arrange
from tokenmizer_mw.graph.export.selection import NODES_MAX, select_facts
from tokenmizer_mw.graph.export.svg import draw
from tokenmizer_mw.graph.export.text import label_of, speaker_of, words_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, NodeType, Transition
from tokenmizer_mw.runtime.installing import install_hint

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

_DRAWN: Final = 120
"""Facts in the picture of a notebook: more of them are a file of their own."""

_COLUMNS: Final = 4
_COLOURS: Final = {
    NodeType.GOAL: "yellow",
    NodeType.DECISION: "magenta",
    NodeType.TASK: "blue",
    NodeType.ERROR: "red",
    NodeType.TEST: "green",
    NodeType.ENDPOINT: "cyan",
    NodeType.API: "cyan",
}
"""The terminal's own colours, which its owner has made readable on its ground."""

_STYLE: Final = ".tm-notebook{max-height:640px;overflow:auto;margin:0}"


def notebook(graph: SessionGraph) -> str:
    """Return HTML for a notebook's output cell: a drawing of the most important facts, and their number. It contains no
    script and no URL.
    """
    chosen = select_facts(graph, _DRAWN)
    layout = arrange(chosen.nodes, chosen.steps, columns=_COLUMNS)
    caption = f"{len(graph):,} facts, {len(graph.edges()):,} relations"
    more = f"; {chosen.left_out:,} less important facts are not in the picture" if chosen.left_out else ""
    drawing = draw(graph, layout, styled=True) if chosen.nodes else ""
    return (
        f'<style>{_STYLE}</style><figure class="tm-notebook" tabindex="0">'
        f"<figcaption>{escape(caption + more)}</figcaption>{drawing}</figure>"
    )


def tree(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> Tree:
    """Return the graph as a ``rich`` tree: types, their facts, and under each fact what it replaced and why. At most
    ``most`` facts. Raises ``ConfigError`` if ``rich`` is not installed.
    """
    try:
        from rich.text import Text
        from rich.tree import Tree
    except ImportError:
        raise ConfigError(f"a tree needs rich: {install_hint('cli')}") from None
    chosen = select_facts(graph, most)
    past: dict[str, list[Transition]] = {}
    for step in chosen.steps:
        past.setdefault(step.new, []).append(step)
    nodes = {node.id: node for node in chosen.nodes}
    past_only = {step.old for step in chosen.steps if nodes[step.old].type is nodes[step.new].type}
    seen: set[str] = set()
    root = Tree(Text(words_of(title) or "session", style="bold"), guide_style="dim")
    for type_, lane in chosen.by_type().items():
        branch = root.add(Text(f"{TYPES[type_].title} ({len(lane)})", style=f"bold {_colour(lane[0])}"))
        roots = [node for node in lane if node.current or node.id not in past_only]
        for node in (*roots, *lane):  # what replaced each other in a circle has no root
            if node.id not in seen:
                _grow(branch.add(_line(node)), node.id, nodes, past, seen)
    if chosen.left_out:
        root.add(Text(f"{chosen.left_out:,} less important facts are not shown", style="dim"))
    return root


def _grow(branch: Tree, id: str, nodes: dict[str, Node], past: dict[str, list[Transition]], seen: set[str]) -> None:
    """Under a fact what it replaced, and under that what that had replaced; each once."""
    seen.add(id)
    for step in past.get(id, ()):
        if step.old not in seen:
            _grow(branch.add(_replacement_text(nodes[step.old], step)), step.old, nodes, past, seen)


def _line(node: Node) -> Text:
    from rich.text import Text

    look = STATUSES[node.status]
    kind = f"{node.kind.value}, " if node.kind is not None else ""
    text = Text().append(f"{look.mark} ", style=_colour(node))
    text.append(label_of(node), style="" if node.current else "strike dim")
    return text.append(f"  {kind}{look.word}, {speaker_of(node.source)}", style="dim")


def _replacement_text(node: Node, step: Transition) -> Text:
    from rich.text import Text

    because = f": {words_of(step.reason)}" if step.reason else ""
    text = Text("replaced ", style="dim").append(label_of(node), style="strike")
    return text.append(f" in message {step.trigger}{because}", style="dim")


def _colour(node: Node) -> str:
    return _COLOURS.get(node.type, "default")
