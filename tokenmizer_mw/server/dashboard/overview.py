"""Parts of the overview page of a session: a card with current facts for each section of the resume block (the short
text that replaces old messages), and the card with the block itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from typing import Final

from tokenmizer_mw.context.resume import LEVELS, Resume
from tokenmizer_mw.context.resume.facts import sections_of
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.graph.explanation import Predecessors, qualify_replacement
from tokenmizer_mw.model.node import Node, Status, Transition
from tokenmizer_mw.session import SessionState

from .markup import (
    Markup,
    card,
    fact_link,
    format_count,
    is_repeated,
    join_markup,
    link,
    nothing,
    origin_link,
    pinned_badge,
    quote_line,
    rest_link,
    status_of,
    tag,
    to,
    type_of,
)
from .page import PageRequest

SHOWN: Final = 8
"""Maximum number of facts in a card of the overview. A link below leads to the rest."""

REPLACED: Final = 3
"""Maximum number of facts that are named as replaced by one fact ("instead of MySQL, before that SQLite"), as in the
resume block."""

OPEN_WORK: Final = "open work"


@dataclass(frozen=True, slots=True)
class Overview:
    """The facts that the overview of a session shows. A section is one of the resume block's; tasks in progress and
    tasks to do are the same section here, ``OPEN_WORK``.

    - ``newest``: name of a section -> at most ``SHOWN`` of its facts: pinned ones first, then decisions that replaced
      another or have a reason, then the newest.
    - ``counts``: name of a section -> number of all its facts.
    - ``replaced``: id of a fact -> the facts that it replaced, each with the replacement, newest first.
    - ``reasons``: id of a fact -> why its status changed last, such as why it was rejected; "" if unknown.
    """

    newest: Mapping[str, Sequence[Node]]
    counts: Counter[str]
    replaced: Mapping[str, Sequence[tuple[Transition, Node]]]
    reasons: Mapping[str, str]


def overview(state: SessionState) -> Overview:
    """Return the facts of a session that the overview page shows, by section of the resume block (the short text that
    replaces old messages)."""
    graph = state.graph
    replaced = Predecessors(graph)
    parts: dict[str, list[Node]] = defaultdict(list)
    for node, section in sections_of(graph, replaced):
        parts[OPEN_WORK if section in (Section.DOING, Section.TO_DO) else section.name].append(node)
    newest = {name: _newest(name, nodes, replaced) for name, nodes in parts.items()}
    shown = [node for nodes in newest.values() for node in nodes]
    olds = {node.id: list(islice(replaced.of(node), REPLACED)) for node in shown}
    reasons = {node.id: graph.life(node.id).reason_in_words for node in shown}
    return Overview(newest, Counter({name: len(nodes) for name, nodes in parts.items()}), olds, reasons)


def _newest(part: str, nodes: Sequence[Node], replaced: Predecessors) -> list[Node]:
    """Return the facts to list of the section ``part``, at most ``SHOWN``: pinned ones first, then decisions that
    replaced another or have a reason, then the newest. In the section of open work, tasks in progress come first."""

    def rank(node: Node) -> tuple[bool, int, int]:
        reasons = bool(node.detail) + any(True for _ in replaced.of(node)) if part == Section.DECISIONS.name else 0
        return not node.pinned, -reasons, -node.source.turn

    shown = nsmallest(SHOWN, nodes, key=rank)
    return sorted(shown, key=lambda node: node.status is not Status.IN_PROGRESS) if part == OPEN_WORK else shown


def cards(request: PageRequest, found: Overview, flagged: int) -> Markup:
    """Return a card for each section of the overview. If a section is empty, its card says so; only "Proposed" is then
    left out. ``flagged``: number of messages that read like an attempt to take control of the model; the card
    "Rejected" warns of them."""
    everywhere = (
        ("Goal", Section.GOAL.name, "goals", "goal", "current", "No goal was stated."),
        ("Decisions in force", Section.DECISIONS.name, "decisions", "choice", "current", "Nothing was decided."),
        ("Rules", Section.RULES.name, "rules", "rule", "current", "No standing rule."),
        ("Proposed", Section.PROPOSED.name, "proposed", "option", "current", ""),
        ("Open work", OPEN_WORK, "open", "task", "open", "Nothing is open."),
        ("Errors", Section.ERRORS.name, "errors", "error", "open", "No open error."),
        ("Rejected", Section.WARNINGS.name, "rejected", "", "invalidated", "Nothing was rejected."),
    )
    made = []
    for title, part, id, type_, status, empty in everywhere:
        rows = [_row(request, found, node, part) for node in found.newest.get(part, ())]
        if rows or empty:
            shown = tag("ul", rows, class_="facts") if rows else nothing(empty)
            rest = rest_link(found.counts[part] - len(rows), to("facts", id=request.id, type=type_, status=status))
            warning = _render_warning(flagged) if id == "rejected" else None
            made.append(card(title, warning, shown, rest, id=id, live=True))
    return join_markup(*made)


def _row(request: PageRequest, found: Overview, node: Node, part: str) -> Markup:
    olds = found.replaced.get(node.id, ())
    why = found.reasons.get(node.id) if part == Section.WARNINGS.name else ""
    given = node.detail or (olds[0][0].reason if olds else "")
    reason = why or ("" if is_repeated(given, node.label) else given)
    instead = f"{qualify_replacement(node, 'instead of')} "
    return tag(
        "li",
        type_of(node),
        fact_link(request.id, node),
        status_of(node) if part == OPEN_WORK else None,
        pinned_badge(node),
        origin_link(request.id, node),
        tag("span", _introduce(reason), quote_line(reason.removeprefix(_COMMAND)), class_="reason") if reason else None,
        tag("span", instead, _join_replaced(old.label for _, old in olds), class_="reason") if olds else None,
    )


def _join_replaced(labels: Iterable[str]) -> list[Markup | str]:
    parts = [part for label in dict.fromkeys(labels) for part in (", before that ", tag("del", quote_line(label)))]
    return parts[1:]


_COMMAND: Final = "$ "
"""Beginning of the ``detail`` of an error that a command reported; the rest of the detail is the command line."""


def _introduce(reason: str) -> str:
    return "from the command " if reason.startswith(_COMMAND) else "because "


def _render_warning(count: int) -> Markup | None:
    if not count:
        return None
    text = f"{count:,} message{' reads' if count == 1 else 's read'} like an attempt to take over the model."
    return tag("p", text, " Facts from there stay out of the smallest block.", class_="warning")


_DEFAULT = "standard"


def block_card(request: PageRequest) -> Markup:
    """Return the card with the resume block (the short text that replaces old messages) at the level that the query
    names: "critical", "standard" or "full". Without a level in the query, return a card whose content the browser loads
    later."""
    level = request.query.get("level", "")
    if not level:
        address = to("session", id=request.id, level=_DEFAULT)
        text = tag("p", link(f"{address}#resume", "Show the block"), class_="hint")
        return card("Resume block", _block_lead(), text, id="resume", live=True, load=address)
    return _render_levels(request, level if level in LEVELS else _DEFAULT)


def _block_lead() -> Markup:
    return tag("p", "As it would be sent right now in place of older messages.", class_="hint")


def _render_levels(request: PageRequest, level: str) -> Markup:
    blocks = request.memory.resumes(request.id, tenant=request.tenant)
    tabs = [tag("li", _level_tab(request, name, block, name == level)) for name, block in blocks.items()]
    block = blocks[level]
    text = tag("pre", block.text, class_="block", tabindex="0", aria_label="The block", dir="auto")
    exact = "as the model's own tokenizer counts" if block.exact else "estimated, rather too high than too low"
    foot = f"{format_count(block.tokens, 'token')}, {exact}; {format_count(len(block.node_ids), 'fact')}."
    shown = join_markup(text, tag("p", foot, class_="hint")) if block.text else nothing("There is nothing to send yet.")
    address = to("session", id=request.id, level=level)
    return card(
        "Resume block", _block_lead(), tag("ul", tabs, class_="levels"), shown, id="resume", live=True, load=address
    )


def _level_tab(request: PageRequest, name: str, block: Resume, current: bool) -> Markup:
    return link(
        f"{to('session', id=request.id, level=name)}#resume",
        tag("span", name.capitalize()),
        tag("small", f"{block.tokens} of {block.budget} tokens"),
        aria_current="true" if current else None,
    )
