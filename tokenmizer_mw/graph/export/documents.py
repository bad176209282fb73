"""A graph for people to read: an outline or a ``rich`` tree for terminals, a Markdown document, HTML for notebooks."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.graph.explanation import mark_uncertain, qualify_replacement
from tokenmizer_mw.graph.export.appearance import STATUSES, TYPES, name_relation, name_status
from tokenmizer_mw.graph.export.layout import arrange
from tokenmizer_mw.graph.export.selection import NODES_MAX, Selection, chain_replacements, select_facts
from tokenmizer_mw.graph.export.svg import draw
from tokenmizer_mw.graph.export.text import escape_markdown, label_of, speaker_of, step_place, words_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Transition
from tokenmizer_mw.runtime.installing import install_hint

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

_MARKS: Final[dict[Status, str]] = {
    Status.PENDING: "[ ]", Status.IN_PROGRESS: "[~]", Status.COMPLETED: "[x]", Status.FAILED: "[!]",
    Status.ACTIVE: " * ", Status.SUPERSEDED: " - ", Status.INVALIDATED: " - ", Status.ARCHIVED: " - ",
}  # fmt: skip


def outline(graph: SessionGraph, *, ids: bool = False, whole: SessionGraph | None = None) -> list[str]:
    """Return the lines of an indented outline: a heading for each type that has nodes, its facts with message numbers
    (and with their ids if ``ids`` is true), and below each fact what it replaced and why. Empty for an empty graph.

    ``whole``: if ``graph`` has only the facts that were valid at a time, the graph with all facts, from which the
    labels of replaced facts are taken. ``None``: ``graph`` has all of them.
    """
    titles = {type_: look.title.lower() for type_, look in TYPES.items()} | {NodeType.GOAL: "goal"}
    labels = {node.id: node.label for node in (whole or graph).nodes()}
    return [
        line
        for type_, title in titles.items()
        for line in _section(graph, title, _list_facts(graph, type_), labels, ids)
    ]


def _list_facts(graph: SessionGraph, type_: NodeType) -> list[Node]:
    """The facts of a type without those whose addition by hand was undone."""
    return [node for node in graph.nodes(type_) if not graph.is_undone(node)]


def _section(
    graph: SessionGraph, title: str, nodes: Sequence[Node], labels: Mapping[str, str], ids: bool
) -> Iterator[str]:
    steps = graph.standing_transitions()
    into = {step.old: step for step in steps}
    past: dict[str, list[Transition]] = {}
    for step in reversed(steps):
        past.setdefault(step.new, []).append(step)
    shown = [node for node in nodes if not _is_shown_elsewhere(graph, into, node)]
    folder = _shared_folder(shown)
    if shown:
        yield f"{title} ({len(nodes)}{', below ' + folder if folder else ''})"
    for node in sorted(shown, key=lambda node: (not node.current, node.order or 0)):
        yield f"  {_MARKS[node.status]} {_outline_fact(graph, node, ids).removeprefix(folder)}"
        yield from _iter_replaced_lines(graph, past, node.id, labels, ids)


def _shared_folder(nodes: Sequence[Node]) -> str:
    """Return the folder, with a slash at its end, that all absolute file paths among ``nodes`` have in common; the
    outline names it once and shows the paths relative to it. "" if there are fewer than two such paths, or if they have
    only the first folder in common."""
    paths = [node.label for node in nodes if node.type is NodeType.FILE and node.label.startswith("/")]
    if len(paths) < _PATHS_MIN:
        return ""
    folder = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    return f"{folder}/" if folder.count("/") > 1 else ""


_PATHS_MIN: Final = 2
"""The outline names the common folder only if there are at least this many absolute paths."""


def _is_shown_elsewhere(graph: SessionGraph, into: Mapping[str, Transition], node: Node) -> bool:
    """Whether the outline shows ``node`` below the fact that replaced it, so that it has no line of its own."""
    step = into.get(node.id)
    heir = graph.get(step.new) if step is not None and not node.current else None
    return heir is not None and heir.type is node.type


def _outline_fact(graph: SessionGraph, node: Node, ids: bool) -> str:
    kind = f"{node.kind.value}: " if node.kind not in (None, DecisionKind.CHOICE) else ""
    if node.current:
        ended = ""
    else:
        reason = graph.life(node.id).reason
        ended = f", {node.status_word}{': ' + reason if reason else ''}"
    return f"{kind}{node.label}{_detail(node)} ({_mark(node.source.mark, node.id, ids)}){ended}"


def _mark(where: str, id: str, ids: bool) -> str:
    """Where a fact was stated or replaced, and its id if wanted."""
    return f"{where}, {id}" if ids else where


def _detail(node: Node) -> str:
    return f" - {node.detail}" if node.detail and node.detail != node.label else ""


def _iter_replaced_lines(
    graph: SessionGraph, past: Mapping[str, Sequence[Transition]], id: str, labels: Mapping[str, str], ids: bool
) -> Iterator[str]:
    """Yield a line for each fact that the fact ``id`` replaced, directly or through others, newest first, each once."""
    seen, waiting = {id}, list(reversed(past.get(id, ())))
    while waiting:
        step = waiting.pop()
        if step.old in seen:
            continue
        seen.add(step.old)
        label = labels.get(step.old, step.old)
        new = graph.get(step.new)
        where = new.source.mark if new is not None and new.source.is_by_hand else f"#{step.trigger}"
        because = f": {step.reason}" if step.reason else ""
        yield f"       {qualify_replacement(new, 'replaced')} {label} ({_mark(where, step.old, ids)}){because}"
        waiting.extend(reversed(past.get(step.old, ())))


def markdown_text(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """Return the graph as a Markdown document, with at most ``most`` facts, the most important ones. ``title``: the
    name of the session; "" gives the heading "Session"."""
    chosen = select_facts(graph, most)
    return "\n".join(_document(graph, chosen, escape_markdown(words_of(title)) or "Session")) + "\n"


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
            yield from _changes(graph, chosen.steps, node)
    if not chosen.nodes:
        yield "\nNothing is known of this session yet: facts come with its messages."
    nodes = {node.id: node for node in chosen.nodes}
    yield from _story(chosen, nodes)
    yield from _relations(chosen, nodes)


def _fact(graph: SessionGraph, node: Node) -> Iterator[str]:
    """Yield a list item for a fact, and below it its reason, its quote and why it is no longer in force."""
    box = "[x] " if node.status is Status.COMPLETED else "[ ] "
    tick = box if node.type is NodeType.TASK and (node.open or node.status is Status.COMPLETED) else ""
    kind = f"{node.kind.value}, " if node.kind is not None else ""
    label = escape_markdown(label_of(node))
    shown = label if node.current else f"~~{label}~~"
    yield f"- {tick}**{shown}** ({kind}{name_status(node)}, {escape_markdown(speaker_of(node.source))})"
    if node.detail and node.detail != node.label:
        because = "because: " if node.type is NodeType.DECISION else ""
        yield f"  - {because}{escape_markdown(words_of(node.detail))}"
    if node.source.quote and node.source.quote != node.label:
        yield f"  > {escape_markdown(words_of(node.source.quote))}"
    reason = "" if node.current or node.status is Status.SUPERSEDED else words_of(graph.life(node.id).reason)
    if reason and reason != words_of(node.detail):
        yield f"  - {f'{name_status(node)} ' if node.detail else ''}because: {escape_markdown(reason)}"


def _changes(graph: SessionGraph, steps: Sequence[Transition], node: Node) -> Iterator[str]:
    """Yield a line for each replacement of ``node`` and by ``node``, with its reason."""
    for step in steps:
        if node.id not in (step.old, step.new):
            continue
        other = graph.get(step.old if node.id == step.new else step.new)
        word = qualify_replacement(graph.get(step.new), "replaced" if node.id == step.new else "replaced by")
        reason = words_of(step.reason) if step.reason and step.reason != node.detail else ""
        because = f", because: {escape_markdown(reason)}" if reason else ""
        yield f"  - {word}: {escape_markdown(label_of(other)) if other is not None else '?'}{because}"


def _story(chosen: Selection, nodes: Mapping[str, Node]) -> Iterator[str]:
    chains = chain_replacements(chosen.steps)
    if chains:
        yield "\n## How decisions changed"
    for chain in chains:
        yield f"\n### {escape_markdown(label_of(nodes[chain[-1].new]))}\n"
        for step in chain:
            yield _step(step, nodes)


def _step(step: Transition, nodes: Mapping[str, Node]) -> str:
    old, new = (escape_markdown(label_of(nodes[id])) for id in (step.old, step.new))
    because = f": {escape_markdown(words_of(step.reason))}" if step.reason else ""
    quote = f"\n  > {escape_markdown(words_of(step.evidence))}" if step.evidence else ""
    was = f"{old}{mark_uncertain(nodes[step.new])}"
    return f"- {step_place(step, nodes[step.new])}: {was} \u2192 {new}{because}{quote}"


def _relations(chosen: Selection, nodes: Mapping[str, Node]) -> Iterator[str]:
    if chosen.edges:
        yield "\n## Relations\n"
    for edge in chosen.edges:
        source, target = (escape_markdown(label_of(nodes[id])) for id in (edge.source, edge.target))
        yield f"- {source} *{name_relation(edge, nodes[edge.source])}* {target}"


_DRAWN: Final = 120
"""The picture in a notebook shows at most this many facts."""

_COLUMNS: Final = 4
_COLOURS: Final = {
    NodeType.GOAL: "yellow", NodeType.DECISION: "magenta", NodeType.TASK: "blue", NodeType.ERROR: "red",
    NodeType.TEST: "green", NodeType.ENDPOINT: "cyan", NodeType.API: "cyan",
}  # fmt: skip
"""Names of the terminal's own colours, which its user has chosen to be readable on its background."""

_STYLE: Final = ".tm-notebook{max-height:640px;overflow:auto;margin:0}"


def notebook(graph: SessionGraph) -> str:
    """Return HTML for a notebook's output cell: a drawing of the 120 most important facts, and how many facts and
    relations there are. It contains no script and no URL."""
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
    """Return the graph as a tree of the library ``rich``: types, their facts, and under each fact what it replaced and
    why. At most ``most`` facts, the most important ones. ``title``: the name of the session. Raises ``ConfigError`` if
    ``rich`` is not installed."""
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
    """Add below a fact what it replaced, and below that what that had replaced; each fact once."""
    seen.add(id)
    for step in past.get(id, ()):
        if step.old not in seen:
            line = _replacement_text(step, nodes[step.old], nodes[step.new])
            _grow(branch.add(line), step.old, nodes, past, seen)


def _line(node: Node) -> Text:
    from rich.text import Text

    look = STATUSES[node.status]
    kind = f"{node.kind.value}, " if node.kind is not None else ""
    text = Text().append(f"{look.mark} ", style=_colour(node))
    text.append(label_of(node), style="" if node.current else "strike dim")
    return text.append(f"  {kind}{name_status(node)}, {speaker_of(node.source)}, {node.id}", style="dim")


def _replacement_text(step: Transition, old: Node, new: Node) -> Text:
    from rich.text import Text

    because = f": {words_of(step.reason)}" if step.reason else ""
    text = Text(f"{qualify_replacement(new, 'replaced')} ", style="dim").append(label_of(old), style="strike")
    place = step_place(step, new)
    return text.append(f" {place if new.source.is_by_hand else f'in {place}'}{because}", style="dim")


def _colour(node: Node) -> str:
    return _COLOURS.get(node.type, "default")
