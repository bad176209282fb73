"""A graph as Markdown: sections by type, what each fact replaced and why, and the relations, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, NodeType, Status, Transition

from .appearance import EDGES, STATUSES, TYPES
from .markup import markdown
from .selection import NODES_MAX, Selection, select_facts
from .story import stories
from .text import label_of, said_by, words_of


def markdown_text(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """The document; ``title`` names the session. At most ``most`` facts, the most important ones."""
    chosen = select_facts(graph, most)
    return "\n".join(_document(graph, chosen, markdown(words_of(title)) or "Session")) + "\n"


def _document(graph: SessionGraph, chosen: Selection, title: str) -> Iterator[str]:
    yield f"# {title}"
    counts = f"Facts: {len(chosen.nodes):,}. Relations: {len(chosen.edges):,}."
    yield f"\n{counts} Replaced decisions: {len(chosen.steps):,}."
    if chosen.left_out:
        yield f"\nLess important facts that are left out: {chosen.left_out:,}."
    for type_, lane in chosen.by_type().items():
        yield f"\n## {TYPES[type_].title}\n"
        for node in lane:
            yield from _fact(graph, node)
    if not chosen.nodes:
        yield "\nNothing is known of this session yet: facts come with its messages."
    nodes = {node.id: node for node in chosen.nodes}
    yield from _story(chosen, nodes)
    yield from _relations(chosen, nodes)


def _fact(graph: SessionGraph, node: Node) -> Iterator[str]:
    """An item for a fact, and what is known beyond it underneath."""
    box = "[x] " if node.status is Status.COMPLETED else "[ ] "
    tick = box if node.type is NodeType.TASK and (node.open or node.status is Status.COMPLETED) else ""
    kind = f"{node.kind.value}, " if node.kind is not None else ""
    label = markdown(label_of(node))
    shown = label if node.current else f"~~{label}~~"
    yield f"- {tick}**{shown}** ({kind}{STATUSES[node.status].word}, {markdown(said_by(node.source))})"
    if node.detail and node.detail != node.label:
        yield f"  - {markdown(words_of(node.detail))}"
    if node.source.quote and node.source.quote != node.label:
        yield f"  > {markdown(words_of(node.source.quote))}"
    reason = "" if node.current or node.status is Status.SUPERSEDED else words_of(graph.life(node.id).reason)
    if reason:
        yield f"  - because: {markdown(reason)}"


def _story(chosen: Selection, nodes: Mapping[str, Node]) -> Iterator[str]:
    chains = stories(chosen.steps)
    if chains:
        yield "\n## How decisions changed"
    for chain in chains:
        yield f"\n### {markdown(label_of(nodes[chain[-1].new]))}\n"
        for step in chain:
            yield _step(step, nodes)


def _step(step: Transition, nodes: Mapping[str, Node]) -> str:
    old, new = (markdown(label_of(nodes[id])) for id in (step.old, step.new))
    because = f": {markdown(words_of(step.reason))}" if step.reason else ""
    quote = f"\n  > {markdown(words_of(step.evidence))}" if step.evidence else ""
    return f"- message {step.trigger}: {old} \u2192 {new}{because}{quote}"


def _relations(chosen: Selection, nodes: Mapping[str, Node]) -> Iterator[str]:
    if chosen.edges:
        yield "\n## Relations\n"
    for edge in chosen.edges:
        source, target = (markdown(label_of(nodes[id])) for id in (edge.source, edge.target))
        yield f"- {source} *{EDGES[edge.type].word}* {target}"
