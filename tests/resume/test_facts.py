from itertools import product

import pytest

from tokenmizer_mw.context.recall import describe_fact
from tokenmizer_mw.context.resume.facts import REASON_MAX, clause, facts_of
from tokenmizer_mw.context.resume.sections import Section, section_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced, NodeAdded, NodeRevised, StatusChanged
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Transition, Trust


def node(type_: NodeType, status: Status, kind: DecisionKind | None = None, trust: Trust = Trust.STATED) -> Node:
    return Node(f"{type_}-1", type_, "label", status, Source(1, "user", trust=trust), kind=kind)


SECTIONS = [
    (node(NodeType.GOAL, Status.ACTIVE), Section.GOAL),
    (node(NodeType.GOAL, Status.COMPLETED), Section.DONE),
    (node(NodeType.DECISION, Status.ACTIVE, DecisionKind.CHOICE), Section.DECISIONS),
    (node(NodeType.DECISION, Status.ACTIVE), Section.DECISIONS),
    (node(NodeType.DECISION, Status.ACTIVE, DecisionKind.RULE), Section.RULES),
    (node(NodeType.DECISION, Status.ACTIVE, DecisionKind.PREFERENCE), Section.RULES),
    (node(NodeType.DECISION, Status.ACTIVE, DecisionKind.RULE, Trust.PROPOSED), Section.PROPOSED),
    (node(NodeType.DECISION, Status.PENDING, DecisionKind.CHOICE), Section.PROPOSED),
    (node(NodeType.DECISION, Status.ACTIVE, DecisionKind.OPTION), Section.PROPOSED),
    (node(NodeType.DECISION, Status.INVALIDATED, DecisionKind.OPTION), Section.WARNINGS),
    (node(NodeType.DECISION, Status.FAILED, DecisionKind.CHOICE), Section.WARNINGS),
    (node(NodeType.DECISION, Status.SUPERSEDED, DecisionKind.CHOICE), None),
    (node(NodeType.TASK, Status.PENDING), Section.TO_DO),
    (node(NodeType.TASK, Status.PENDING, trust=Trust.PROPOSED), Section.TO_DO),
    (node(NodeType.TASK, Status.IN_PROGRESS), Section.DOING),
    (node(NodeType.TASK, Status.COMPLETED), Section.DONE),
    (node(NodeType.TASK, Status.FAILED), Section.ERRORS),
    (node(NodeType.TASK, Status.INVALIDATED), Section.WARNINGS),
    (node(NodeType.TASK, Status.ARCHIVED), None),
    (node(NodeType.ERROR, Status.ACTIVE), Section.ERRORS),
    (node(NodeType.ERROR, Status.COMPLETED), Section.DONE),
    (node(NodeType.ERROR, Status.INVALIDATED), None),
    (node(NodeType.TEST, Status.COMPLETED), Section.TESTS),
    (node(NodeType.TEST, Status.FAILED), Section.ERRORS),
    (node(NodeType.FILE, Status.ACTIVE), Section.FILES),
    (node(NodeType.DEPENDENCY, Status.ACTIVE), Section.USES),
    (node(NodeType.ENDPOINT, Status.ACTIVE), Section.ENDPOINTS),
    (node(NodeType.API, Status.ACTIVE), Section.ENDPOINTS),
    (node(NodeType.ENVIRONMENT, Status.ACTIVE), Section.ENVIRONMENT),
    (node(NodeType.SCHEMA, Status.ACTIVE), Section.SCHEMA),
    (node(NodeType.PROJECT, Status.ACTIVE), Section.ABOUT),
    (node(NodeType.CONCEPT, Status.ACTIVE), Section.ABOUT),
    (node(NodeType.AGENT, Status.ACTIVE), Section.ABOUT),
]


@pytest.mark.parametrize("given, section", SECTIONS)
def test_where_a_node_is_said(given: Node, section: Section | None) -> None:
    assert section_of(given) is section


def test_every_node_has_an_answer() -> None:
    for type_, status in product(NodeType, Status):
        assert section_of(node(type_, status)) in (*Section, None)


def decision(id: str, label: str, turn: int, detail: str = "") -> NodeAdded:
    return NodeAdded(Node(id, NodeType.DECISION, label, Status.ACTIVE, Source(turn, "user"), detail=detail))


def said(*events: object) -> list[tuple[str, tuple[str, ...]]]:
    graph = SessionGraph()
    for event in events:
        graph.apply(event)  # type: ignore[arg-type]
    return [(fact.text + fact.why, fact.ids + fact.why_ids) for fact in facts_of(graph)]


def test_what_a_decision_replaced_and_why() -> None:
    assert said(
        decision("d1", "SQLite", 1),
        decision("d2", "PostgreSQL", 4),
        DecisionReplaced(Transition("d1", "d2", 4, "concurrent writes")),
    ) == [("PostgreSQL (was SQLite: concurrent writes)", ("d2", "d1"))]


@pytest.mark.parametrize(
    ("old", "new", "reason", "text"),
    [
        ("SQLite", "50 users from now on", "50 users from now on", "50 users from now on (was SQLite)"),
        (
            "SQLite, there are many writers",
            "MySQL",
            "there are many writers",
            "MySQL (was SQLite: there are many writers)",
        ),
        ("tulips", "roses", "skip the tulips", "roses (was tulips)"),
        ("tulips", "roses", "tulips fade after two weeks", "roses (was tulips: tulips fade after two weeks)"),
    ],
)
def test_a_reason_says_what_nothing_else_in_the_line_says(old: str, new: str, reason: str, text: str) -> None:
    known = decision("d1", old, 1), decision("d2", new, 4)
    assert said(*known, DecisionReplaced(Transition("d1", "d2", 4, reason))) == [(text, ("d2", "d1"))]


def test_a_chain_of_decisions() -> None:
    assert said(
        decision("d1", "flat files", 1),
        decision("d2", "SQLite", 2),
        decision("d3", "PostgreSQL", 4),
        DecisionReplaced(Transition("d1", "d2", 2, "too slow")),
        DecisionReplaced(Transition("d2", "d3", 4)),
    ) == [("PostgreSQL (was SQLite, before that flat files)", ("d3", "d2", "d1"))]


def test_back_and_forth_ends() -> None:
    assert said(
        decision("d1", "REST", 1),
        decision("d2", "GraphQL", 2),
        DecisionReplaced(Transition("d1", "d2", 2)),
        DecisionReplaced(Transition("d2", "d1", 3, "simpler")),
        StatusChanged("d1", Status.ACTIVE, 3, quote="back to REST"),
    ) == [("REST (was GraphQL: simpler)", ("d1", "d2"))]


def test_a_reason_that_names_the_old_value_and_has_a_topic() -> None:
    reason = f"About the flights: TAP has a stop at night, {'and mum would hate that ' * 3}"
    step = Transition("d1", "d2", 3, reason, evidence="Let's go with Lufthansa after all.")
    assert said(
        decision("d1", "TAP", 1),
        decision("d2", "Lufthansa", 3),
        DecisionReplaced(step),
        decision("d3", "four nights", 4),
        decision("d4", "Boavista", 5),
        DecisionReplaced(Transition("d3", "d4", 5, "the old houses have no lift", evidence="Boavista then.")),
    ) == [
        ("Lufthansa (was TAP: TAP has a stop at night)", ("d2", "d1")),
        ("Boavista", ("d4",)),
    ]


def test_the_reason_of_a_decision() -> None:
    assert said(decision("d1", "Redis", 1, detail="faster revocation.")) == [("Redis (faster revocation)", ("d1",))]


def test_a_warning_with_its_reason() -> None:
    assert said(
        decision("d1", "GraphQL", 1),
        StatusChanged("d1", Status.INVALIDATED, 3, reason="too heavy for two endpoints"),
        decision("d2", "MongoDB", 4, detail="no transactions"),
        StatusChanged("d2", Status.INVALIDATED, 5),
        decision("d3", "XML", 6),
        StatusChanged("d3", Status.INVALIDATED, 7),
    ) == [
        ("GraphQL - too heavy for two endpoints", ("d1",)),
        ("MongoDB - no transactions", ("d2",)),
        ("XML", ("d3",)),
    ]


def test_a_fact_that_holds_again_has_no_reason_against_it() -> None:
    assert said(
        decision("d1", "GraphQL", 1),
        StatusChanged("d1", Status.INVALIDATED, 3, reason="too heavy"),
        StatusChanged("d1", Status.ACTIVE, 5, quote="GraphQL after all"),
    ) == [("GraphQL", ("d1",))]


def test_fixed_errors_and_failed_work() -> None:
    def added(id: str, type_: NodeType, label: str, status: Status) -> NodeAdded:
        return NodeAdded(Node(id, type_, label, status, Source(1, "user")))

    assert said(
        added("e1", NodeType.ERROR, "login returns 422", Status.COMPLETED),
        added("e2", NodeType.ERROR, "Fixed the race", Status.COMPLETED),
        added("t1", NodeType.TASK, "deploy", Status.FAILED),
        added("t2", NodeType.TEST, "test_login", Status.FAILED),
    ) == [
        ("fixed login returns 422", ("e1",)),
        ("Fixed the race", ("e2",)),
        ("failed: deploy", ("t1",)),
        ("failed: test_login", ("t2",)),
    ]


def test_a_label_without_visible_text_is_no_fact() -> None:
    assert said(decision("d1", "\u200b\u2060", 1)) == []
    assert said(decision("d1", "Redis", 1), NodeRevised("d1", {"label": "\u202e"}, 2)) == []


LONG = "word " * 40
CLAUSES = [
    ("", ""),
    ("short reason.", "short reason"),
    ("first line\nsecond line", "first line second line"),
    (f"it is slow, and {LONG}", "it is slow"),
    (f"One sentence. {LONG}", "One sentence"),
    (f"half of it (as {LONG})", "half of it"),
    (f"the flights: a stopover at night, {LONG}", "a stopover at night"),
    (f"what somebody found out: a stopover, {LONG}", "what somebody found out: a stopover"),
    (LONG, ""),
    ("x" * 500, ""),
]


@pytest.mark.parametrize("text, short", CLAUSES)
def test_reasons_are_cut_at_clauses(text: str, short: str) -> None:
    assert clause(text) == short
    assert len(clause(text)) <= REASON_MAX


@pytest.mark.parametrize(
    ("successor", "standing"), [(DecisionKind.CHOICE, True), (None, True), (DecisionKind.RULE, False)]
)
def test_only_a_rule_ends_a_rule_of_the_user(successor: DecisionKind | None, standing: bool) -> None:
    graph = SessionGraph()
    for id, label, kind in (("d1", "never push to main", DecisionKind.RULE), ("d2", "push to a branch", successor)):
        graph.apply(NodeAdded(Node(id, NodeType.DECISION, label, Status.ACTIVE, Source(1, "user"), kind=kind)))
    graph.apply(DecisionReplaced(Transition("d1", "d2", 4)))
    rules = [fact.text for fact in facts_of(graph) if fact.section is Section.RULES]
    assert ("never push to main" in rules) is standing
    assert any("was never push to main" in fact.why for fact in facts_of(graph)) is not standing


def test_long_predecessors_are_not_all_named() -> None:
    labels = [f"store {number} of the kind that needs very many words until it is described" for number in range(3)]
    ((text, ids),) = said(
        *(decision(f"d{at}", label, at + 1) for at, label in enumerate(labels)),
        DecisionReplaced(Transition("d0", "d1", 2)),
        DecisionReplaced(Transition("d1", "d2", 3)),
    )
    assert labels[1] in text and labels[0] not in text
    assert ids == ("d2", "d1")


def test_of_two_values_that_one_replaced_the_last_one_is_named_everywhere() -> None:
    events = [
        decision("d1", "Terra Lite", 1),
        decision("d2", "Terra Pro", 2),
        decision("d3", "Luna", 4),
        DecisionReplaced(Transition("d1", "d3", 4)),
        DecisionReplaced(Transition("d2", "d3", 4)),
    ]
    assert said(*events) == [("Luna (was Terra Pro)", ("d3", "d2"))]
    graph = SessionGraph()
    for event in events:
        graph.apply(event)
    assert describe_fact(graph, graph.nodes()[-1]).ids == ("d3", "d2")
