"""Graphs to draw: a small one with everything in it, crowds of any size, and one whose texts attack who shows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced, EdgeAdded, Event, NodeAdded, StatusChanged
from tokenmizer_mw.model.node import DecisionKind, Edge, EdgeType, Node, NodeType, Source, Status, Transition

START: Final = 1_790_000_000.0
"""When the first event of a graph was recorded; each one after it a minute later."""


def graph_of(events: Sequence[Event]) -> SessionGraph:
    graph = SessionGraph()
    for index, event in enumerate(events):
        graph.apply(event, START + 60 * index)
    return graph


def added(id: str, label: str, status: Status = Status.ACTIVE, turn: int = 1, **more: object) -> NodeAdded:
    type_ = NodeType(id.rpartition("-")[0])
    source = Source(turn, "user", quote=str(more.pop("quote", "")))
    return NodeAdded(Node(id, type_, label, status, source, **more))  # type: ignore[arg-type]


def booking() -> SessionGraph:
    """A session about a booking service: every type, every status, a decision replaced twice."""
    return graph_of(
        [
            added("goal-1", "a booking service for the village hall", turn=1),
            added("decision-1", "SQLite", turn=2, kind=DecisionKind.CHOICE, quote="We use SQLite, it is one file."),
            added("decision-2", "never delete a booking without asking", turn=3, kind=DecisionKind.RULE),
            added("task-1", "write the schema", Status.PENDING, turn=3, order=1),
            added("file-1", "hall/schema.sql", turn=4),
            EdgeAdded(Edge("file-1", EdgeType.IMPLEMENTS, "task-1", 4)),
            StatusChanged("task-1", Status.COMPLETED, 5),
            added("error-1", "database is locked", turn=6, quote="sqlite3.OperationalError: database is locked"),
            added("decision-3", "PostgreSQL", turn=7, kind=DecisionKind.CHOICE, quote="We switch to PostgreSQL."),
            DecisionReplaced(Transition("decision-1", "decision-3", 7, "SQLite locks under load", "We switch.", 0.1)),
            EdgeAdded(Edge("decision-3", EdgeType.FIXES, "error-1", 7)),
            StatusChanged("error-1", Status.COMPLETED, 7),
            added("decision-4", "MongoDB", Status.PENDING, turn=8, kind=DecisionKind.OPTION),
            StatusChanged("decision-4", Status.INVALIDATED, 9, "nobody here knows it"),
            added("task-2", "move the bookings", Status.IN_PROGRESS, turn=9, order=2),
            EdgeAdded(Edge("task-2", EdgeType.DEPENDS_ON, "decision-3", 9)),
            added("test-1", "test_booking", Status.FAILED, turn=10),
            EdgeAdded(Edge("test-1", EdgeType.BLOCKS, "task-2", 10)),
            added("schema-1", "bookings", turn=10),
            added("dependency-1", "psycopg 3", turn=11),
            added("api-1", "calendar feed", turn=11),
            added("endpoint-1", "GET /bookings", turn=11),
            EdgeAdded(Edge("endpoint-1", EdgeType.PART_OF, "api-1", 11)),
            added("environment-1", "Debian 12", turn=12, valid_until=START + 3_000),
            added("project-1", "village hall", turn=12),
            added("concept-1", "double booking", turn=12),
            EdgeAdded(Edge("concept-1", EdgeType.RELATED_TO, "schema-1", 12)),
            added("agent-1", "the caretaker", Status.PENDING, turn=12),
            StatusChanged("agent-1", Status.ARCHIVED, 13),
            added("decision-5", "PostgreSQL 17", turn=14, kind=DecisionKind.CHOICE),
            DecisionReplaced(Transition("decision-3", "decision-5", 14, "the host offers it")),
        ]
    )


_TEXT: Final = "store the bookings in a table by day and room then check each one against the calendar"
_WORDS: Final = tuple(_TEXT.split())


def crowd(count: int, relations: int = 2) -> SessionGraph:
    """``count`` nodes of all types with ``relations`` edges each, and some decisions replaced. Labels and quotations
    have the lengths that they have in sessions."""
    kinds = list(islice(cycle(NodeType), count))
    ids = [f"{type_.value}-{index}" for index, type_ in enumerate(kinds)]
    events: list[Event] = []
    for index, id in enumerate(ids):
        label = f"{' '.join(_WORDS[(index + word) % len(_WORDS)] for word in range(3 + index % 7))} {index}"
        status = list(Status)[index % 5]
        quote = f"We want to {label}, please."
        events.append(added(id, label, status, turn=1 + index // 3, quote=quote))
        for step in range(1, relations + 1):
            if index >= step:
                kind = list(EdgeType)[(index + step) % 6]
                events.append(EdgeAdded(Edge(id, kind, ids[index * step // (relations + 1)], 1 + index // 3)))
    decided = [id for id in ids if id.startswith("decision-")]
    for old, new in zip(decided[::4], decided[1::4], strict=False):
        events.append(DecisionReplaced(Transition(old, new, count // 3, "it was too slow")))
    return graph_of(events)


ATTACKS: Final = (
    "<script>window.attacked = 1</script>",
    '"><img src=x onerror="window.attacked = 1">',
    "</script><script>window.attacked = 1</script>",
    "</title></svg><svg onload='window.attacked = 1'>",
    "<svg><animate onbegin='window.attacked=1' attributeName=x dur=1s></svg>",
    "]]></data></graph><!-- ",
    "--> <h1>loud</h1>",
    "javascript:window.attacked=1//",
    "[click](javascript:window.attacked=1) ![x](http://attacker.invalid/p.png)",
    "[[Other note]] #tag ^block %%hidden%% ==marked==",
    "`code` **bold** | a | b |\n# Heading\n- item",
    '"] end; click A "http://attacker.invalid" ; B["',
    "%%{init: {'theme': 'dark'}}%% graph TD; A-->B",
    "#quot;#60;script#62; &lt;b&gt; &#x3c;i&#x3e;",
    "\x1b[31mred\x1b[0m \x1b]8;;http://attacker.invalid\x07link\x1b]8;;\x07 \x9b2J",
    "[bold red]markup[/bold red] [link=http://attacker.invalid]x[/link] :skull:",
    "user\u202egnp.exe \u2066isolated\u2069 \u200bzero\u200dwidth",
    "line\u2028separator\u2029paragraph\r\nbreak\x00nul",
    "w" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 right to left",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334a\u0321\u0353l\u0363g\u030do",
    "<",
    "\ud800 half of a pair",
    '=HYPERLINK("http://attacker.invalid")',
    "{{constructor.constructor('window.attacked=1')()}} ${window.attacked=1}",
)
"""Labels that try to become something else where they are shown."""


def hostile() -> SessionGraph:
    """Every attack as a label, a detail, a quotation, a reason and a speaker."""
    events: list[Event] = []
    for index, attack in enumerate(ATTACKS):
        node = Node(
            f"decision-{index + 1}",
            NodeType.DECISION,
            attack,
            Status.ACTIVE,
            Source(index + 1, attack, attack),
            detail=attack,
            kind=DecisionKind.CHOICE,
            slot=attack,
            value=attack,
        )
        events.append(NodeAdded(node))
        if index % 2:
            step = Transition(f"decision-{index}", node.id, index + 1, attack, attack)
            events.append(DecisionReplaced(step))
        else:
            events.append(EdgeAdded(Edge(node.id, EdgeType.DEPENDS_ON, f"decision-{max(1, index)}", index + 1)))
    return graph_of(events)
