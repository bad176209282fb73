"""The page of one fact: where it comes from, what it replaced or was replaced by, its relations, its manual edits, and
forms that change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tokenmizer_mw.errors import UnknownNode
from tokenmizer_mw.graph.explanation import Why, why
from tokenmizer_mw.graph.export.appearance import EDGES
from tokenmizer_mw.graph.fold import Life
from tokenmizer_mw.model.node import HAND, LABEL_MAX, REJECTABLE, Node, NodeType, Status, Trust, may_move
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import RecordedEdit, SessionState
from tokenmizer_mw.session.manual_edits import can_be_completed, edits_in_force

from .actions import edits_card
from .caches import title_of
from .markup import (
    Markup,
    card,
    fact_link,
    format_exact_time,
    message_link,
    moment,
    pinned_badge,
    quote_line,
    status_of,
    tag,
    type_of,
)
from .page import Page, PageRequest, session_page
from .session import step_row


@dataclass(frozen=True, slots=True)
class FactView:
    """What the page of a fact shows.

    - ``title``: the goal of the session, "" if there is none. ``seq``: number of the session's newest event.
    - ``why``: the explanation of the fact. ``life``: when the fact was recorded and changed.
    - ``flags``: signs that its message tries to take control of the model.
    - ``edits``: its manual edits, newest first.
    """

    title: str
    seq: int
    why: Why
    life: Life
    flags: tuple[str, ...]
    edits: tuple[RecordedEdit, ...]


def show_fact(request: PageRequest) -> Page:
    """Return the page of the fact whose id is ``node`` in the query. Raises ``UnknownNode`` if the session has no such
    fact."""
    node_id = request.query.get("node", "")

    def look(state: SessionState) -> FactView:
        node = state.graph.get(node_id)
        if node is None:
            raise UnknownNode(f"the session has no fact {node_id[:60]!r}")
        edits = tuple(one for one in state.edits.values() if one.edit.id == node_id)[::-1]
        graph = state.graph
        in_force = edits_in_force([one.edit for one in state.edits.values()])
        explained = why(graph, node, in_force)
        return FactView(title_of(state), state.seq, explained, graph.life(node_id), graph.flags(node), edits)

    found = request.memory.view(request.id, look, tenant=request.tenant)
    node = found.why.node
    sides = tag(
        "div",
        tag("div", _fact(request, found), _chain(request, found), _relations(request, found), class_="main-side"),
        tag(
            "div",
            _render_changes(request, node),
            edits_card(request, found.edits, {}, of_fact=True),
            class_="other-side",
        ),
        class_="sides",
    )
    return replace(session_page(request, "", found.title, sides, seq=found.seq), title=flatten(node.label))


def _fact(request: PageRequest, found: FactView) -> Markup:
    node, life = found.why.node, found.life
    rows: list[tuple[str, object]] = [
        ("Type", type_of(node)),
        ("Status", status_of(node)),
        *([("Withdrawn", "it never was true: it is shown to no model")] if node.is_withdrawn else []),
        _source_row(request, found.why),
        ("Known since", moment(life.added, request.now)),
    ]
    if node.detail:
        head = "From" if node.type is NodeType.ERROR else "Because"
        rows.append((head, quote_line(node.detail)))
    if node.value and node.type is not NodeType.GOAL:  # whose value is its words
        rows.append(("Value", tag("span", quote_line(_spell_value(node)))))
    if life.closed is not None:
        rows.append(("Until", moment(life.closed, request.now)))
    if life.reason and not _is_in_force_for_another(node):
        rows.append(("Reason", quote_line(life.reason)))
    rows += [(title, format_exact_time(time)) for title, time in _validity(node)]
    rows.append(("Confidence", f"{node.confidence:.0%}"))
    if found.flags:
        rows.append(("Warning", "its message reads like an attempt to take over the model"))
    listed = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows]  # type: ignore[arg-type]
    quote = tag("blockquote", quote_line(node.source.quote)) if node.source.quote else None
    title, about, goal = flatten(node.label), tag("dl", listed, class_="about"), node.type is NodeType.GOAL
    return card(title, quote, about, id="fact", live=True, more=pinned_badge(node), goal=goal)


def _is_in_force_for_another(node: Node) -> bool:
    """Return whether the fact is a decision in force that states its own reason (``detail``). The reason of its last
    change of status is then outdated and not shown."""
    return node.type is NodeType.DECISION and node.status is Status.ACTIVE and bool(node.detail)


def _spell_value(node: Node) -> str:
    """Return the value of a fact, after the name of what it is a value of: "database: PostgreSQL" for the slot
    "database@timetabl". The value alone if the fact has no slot."""
    name = node.slot.partition("@")[0]
    return f"{name}: {node.value}" if name else node.value


def _source_row(request: PageRequest, explained: Why) -> tuple[str, Markup]:
    """Return the heading and the content of the row about the source of a fact: who stated it and in which message, or
    that it was added by hand."""
    source = explained.node.source
    if source.is_by_hand:
        return "Added", tag("span", "by hand")
    how = "; corrected by hand" if source.role == HAND else _TRUST[source.trust]
    return "Said by", tag("span", f"{explained.speaker or 'nobody'} in ", message_link(request.id, source.turn), how)


_TRUST: Final[Mapping[Trust, str]] = {
    Trust.STRUCTURE: ", as a tool call or its result shows",
    Trust.STATED: "",
    Trust.ADOPTED: ": proposed, then agreed or carried out",
    Trust.CLAIMED: ", on its own word",
    Trust.PROPOSED: ": proposed, not agreed",
    Trust.QUOTED: ", quoted from a tool, a file or somebody else",
}
"""How reliable a statement is -> text to show after the speaker and the message of the fact."""


def _validity(node: Node) -> list[tuple[str, float]]:
    bounds = (("True from", node.valid_from), ("True until", node.valid_until))
    return [(title, time) for title, time in bounds if time is not None]


def _chain(request: PageRequest, found: FactView) -> Markup | None:
    steps = (*found.why.chain, *found.why.successors)
    if not steps:
        return None
    rows = [step_row(request, step, old, new) for old, step, new in steps]
    return card(
        "How it came to this" if found.why.chain else "What replaced it",
        tag("ol", rows, class_="steps"),
        id="chain",
        live=True,
    )


def _relations(request: PageRequest, found: FactView) -> Markup | None:
    rows = []
    for edge, far in found.why.relations[:50]:
        word = EDGES[edge.type].word
        parts = [word, " ", fact_link(request.id, far)]
        if edge.source != found.why.node.id:
            parts.reverse()
        rows.append(tag("li", parts, " ", status_of(far)))
    return card("Related", tag("ul", rows, class_="facts"), id="relations", live=True) if rows else None


def _render_changes(request: PageRequest, node: Node) -> Markup | None:
    if not request.caller.may("write"):
        return None
    forms = [_separate(request, node), _complete(request, node), _invalidate(request, node), _archive(request, node)]
    return card(
        "Change it",
        tag("p", "Each change is recorded and can be undone.", class_="hint"),
        _pin(request, node),
        _correct(request, node),
        *forms,
        id="change",
    )


def _pin(request: PageRequest, node: Node) -> Markup:
    do, text = ("unpin", "Unpin") if node.pinned else ("pin", "Pin")
    hint = "Blocks state a pinned fact early."
    return request.form_of("change", tag("button", text), tag("span", hint, class_="hint"), **_of(request, node), do=do)


def _correct(request: PageRequest, node: Node) -> Markup:
    def field(name: str, title: str, value: str, most: int) -> Markup:
        given = tag("textarea", value, name=name, maxlength=most, rows=2, dir="auto")
        return tag("label", tag("span", title), given, class_="field")

    form = request.form_of(
        "change",
        field("label", "What it should say", node.label, LABEL_MAX),
        field("detail", "Because", node.detail, 1_000),
        tag("button", "Correct"),
        **_of(request, node),
        do="correct",
    )
    return tag("details", tag("summary", "Correct the words"), form)


def _invalidate(request: PageRequest, node: Node) -> Markup | None:
    """Return the form that marks a fact as wrong. For a fact that is marked already, the form can only say that it
    never was true. ``None`` if the fact cannot be marked."""
    is_wrong = node.status is Status.INVALIDATED
    if node.is_withdrawn or not (is_wrong or may_move(node.status, Status.INVALIDATED, evidence=True)):
        return None
    listed = node.type in REJECTABLE
    wrong = "It is rejected: blocks list it, so that no model proposes it" if listed else "Blocks no longer state it"
    choices = tag(
        "div",
        None if is_wrong else _choice(wrong, "no"),
        _choice("It never was true, such as something misread: no model is shown it", "yes", checked=is_wrong),
    )
    return _render_status_form(request, node, "invalidate", "Invalidate", "Why is it wrong?", choices)


def _choice(text: str, value: str, *, checked: bool = False) -> Markup:
    """Return a radio button for one meaning of "wrong"; the user must select one. ``text``: its label. ``value``: "yes"
    for "it never was true", else "no"."""
    box = tag("input", type="radio", name="never_true", value=value, checked=checked, required=True)
    return tag("label", box, f" {text}", class_="choice")


def _separate(request: PageRequest, node: Node) -> Markup | None:
    if node.status is not Status.SUPERSEDED:
        return None
    return _render_status_form(
        request, node, "separate", "Keep both", "Why do the two have nothing to do with each other?"
    )


def _complete(request: PageRequest, node: Node) -> Markup | None:
    if not can_be_completed(node):
        return None
    return _render_status_form(request, node, "complete", "Complete", "How was it done?")


def _archive(request: PageRequest, node: Node) -> Markup | None:
    if not may_move(node.status, Status.ARCHIVED, evidence=True):
        return None
    return _render_status_form(request, node, "archive", "Archive", "Why is it of no interest any more?")


def _render_status_form(
    request: PageRequest, node: Node, do: str, text: str, question: str, choice: Markup | None = None
) -> Markup:
    """Return a form, hidden until it is unfolded, that changes the status of a fact.

    ``do``: name of the edit, as in ``apply_edit``. ``text``: heading and button. ``question``: label of the field for
    the reason. ``choice``: a further field; if there is one, a reason is required.
    """
    given = tag("input", name="reason", maxlength=1_000, required=choice is not None, dir="auto")
    form = request.form_of(
        "change",
        tag("label", tag("span", question), given, class_="field"),
        choice,
        tag("button", text, class_="danger" if choice is not None else None),
        **_of(request, node),
        do=do,
    )
    return tag("details", tag("summary", text), form)


def _of(request: PageRequest, node: Node) -> dict[str, str]:
    return {"id": request.id, "node": node.id}
