import pytest

from tokenmizer_mw.context.resume.facts import facts_of
from tokenmizer_mw.context.resume.order import condense_facts
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Source, Status

DONE = Status.COMPLETED


def added(id: str, type_: NodeType, label: str, status: Status = Status.ACTIVE, detail: str = "") -> NodeAdded:
    return NodeAdded(Node(id, type_, label, status, Source(1, "user"), detail=detail))


def fixes(task: str, error: str) -> EdgeAdded:
    return EdgeAdded(Edge(task, EdgeType.FIXES, error))


def said(*events: NodeAdded | EdgeAdded) -> list[tuple[str, tuple[str, ...]]]:
    graph = SessionGraph()
    for event in events:
        graph.apply(event)
    return [(fact.text + fact.why, fact.ids + fact.why_ids) for fact in condense_facts(graph, facts_of(graph))]


FIXES = [
    (
        [
            added("e", NodeType.ERROR, "login returns 422", DONE),
            added("t", NodeType.TASK, "Fix: login returns 422: email was not checked", DONE),
            fixes("t", "e"),
        ],
        [("Fix: login returns 422: email was not checked", ("t", "e"))],
    ),
    (
        [
            added("e", NodeType.ERROR, "login returns 422", DONE),
            added("t", NodeType.TASK, "check the email", DONE),
            fixes("t", "e"),
        ],
        [("fixed login returns 422", ("e",)), ("check the email", ("t",))],
    ),
    (
        [
            added("e", NodeType.ERROR, "login returns 422"),
            added("t", NodeType.TASK, "Fix login returns 422", DONE),
            fixes("t", "e"),
        ],
        [("login returns 422", ("e",)), ("Fix login returns 422", ("t",))],
    ),
    (
        [
            added("a", NodeType.TASK, "same words", DONE),
            added("b", NodeType.TASK, "same words", DONE),
            fixes("a", "b"),
            fixes("b", "a"),
            fixes("a", "a"),
        ],
        [("same words", ("a",)), ("same words", ("b",))],
    ),
]


@pytest.mark.parametrize("events, texts", FIXES)
def test_an_error_goes_with_the_work_that_names_it(events: list[NodeAdded | EdgeAdded], texts: list[object]) -> None:
    assert said(*events) == texts


OPTIONS = [
    ("not localStorage - XSS safe", "localStorage", True),
    ("no extra library", "extra library", True),
    ("not DB: faster", "db", True),
    ("not localStorage", "local", False),
    ("faster than MongoDB", "MongoDB", False),
    ("", "MongoDB", False),
]


@pytest.mark.parametrize("detail, option, once", OPTIONS)
def test_an_option_goes_with_the_reason_that_rules_it_out(detail: str, option: str, once: bool) -> None:
    texts = said(
        added("d", NodeType.DECISION, "JWT", detail=detail),
        added("o", NodeType.DECISION, option, Status.INVALIDATED),
    )
    assert len(texts) == (1 if once else 2)
    assert {id for _, ids in texts for id in ids} == {"d", "o"}


LISTS = [
    ("project structure: app.py, api/auth.py", "project structure"),
    ("created: `app.py` and api/auth.py.", "created"),
    ("created: app.py, other.py", "created: app.py, other.py"),
    ("created: app.py with tests", "created: app.py with tests"),
    (": app.py", ": app.py"),
    ("app.py", "app.py"),
]


@pytest.mark.parametrize("label, text", LISTS)
def test_a_list_of_files_is_left_to_the_files(label: str, text: str) -> None:
    files = [added("f1", NodeType.FILE, "app.py"), added("f2", NodeType.FILE, "api/auth.py")]
    assert said(*files, added("t", NodeType.TASK, label, DONE))[-1] == (text, ("t",))
