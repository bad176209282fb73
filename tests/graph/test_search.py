import pytest

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.search import find_described, search
from tokenmizer_mw.graph.text import stem
from tokenmizer_mw.model.event import DecisionReplaced, NodeAdded
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Transition

CHOICE = {"kind": DecisionKind.CHOICE}


def fact(id: str, type_: NodeType, label: str, **more: object) -> NodeAdded:
    return NodeAdded(Node(id, type_, label, Status.ACTIVE, Source(1, "user", f"It says {label}."), **more))  # type: ignore[arg-type]


@pytest.fixture
def graph() -> SessionGraph:
    graph = SessionGraph()
    for event in (
        fact("goal", NodeType.GOAL, "Build a fridge monitor"),
        fact("old", NodeType.DECISION, "SQLite", slot="database", value="sqlite", **CHOICE),
        fact("speaks", NodeType.TASK, "The store now speaks PostgreSQL through psycopg with a pool of connections"),
        fact("backup", NodeType.TASK, "back up the database every night"),
        fact("bare", NodeType.TASK, "Redis"),
        fact("uses", NodeType.TASK, "Use Redis"),
        fact("cache", NodeType.DECISION, "Redis for sessions", slot="cache@session", value="redis", **CHOICE),
        fact("flask", NodeType.DECISION, "Flask", value="flask", **CHOICE),
        fact("option", NodeType.DECISION, "PostgreSQL cluster", kind=DecisionKind.OPTION),
        fact("rule", NodeType.DECISION, "never text at night", kind=DecisionKind.RULE),
        fact("new", NodeType.DECISION, "PostgreSQL 15", slot="database", value="postgresql", **CHOICE),
        DecisionReplaced(Transition("old", "new", 9, "locks")),
        fact("file", NodeType.FILE, "src/monitor.py"),
    ):
        graph.apply(event)
    return graph


MEANT = [
    ("old", "old"),
    ("PostgreSQL", "new"),
    ("postgres", "new"),
    ("Why PostgreSQL?", "new"),
    ("which database do we use?", "new"),
    ("what DB did we pick", "new"),
    ("storage", "new"),
    ("SQLite", "old"),
    ("redis", "cache"),
    ("use redis", "uses"),
    ("the cache", "cache"),
    ("which web framework do we use?", "flask"),
    ("what are the rules?", "rule"),
    ("what is the goal", "goal"),
    ("which files are there?", "file"),
    ("psycopg pool", "speaks"),
    ("why do we take PostgreSQL for the orders of the shop and nothing smaller?", "new"),
    ("why does the code talk through psycopg rather than something else?", "speaks"),
    ("why does the price of bananas stand in a file?", None),
    ("the moon every now and then", None),
    ("who built the garage, and with whose money?", None),
    ("xyzzy", None),
    ("which do we use?", None),
    ("", None),
]


@pytest.mark.parametrize("text, id", MEANT)
def test_what_a_text_means(graph: SessionGraph, text: str, id: str | None) -> None:
    node = find_described(graph, text)
    assert (node.id if node else None) == id


@pytest.mark.parametrize("question", ["which database do we use?", "what db", "which datastore?", "our storage"])
def test_a_slot_is_found_by_what_people_call_it(graph: SessionGraph, question: str) -> None:
    found = [hit.node.id for hit in search(graph, question)]
    assert found[0] == "new"
    assert "old" in found
    assert "goal" not in found


@pytest.mark.parametrize("question", ["which database", "which database do we use?", "what db"])
def test_a_decision_that_names_a_value_answers_for_its_category(question: str) -> None:
    graph = SessionGraph()
    for event in (
        fact("file", NodeType.FILE, "config/database.xml"),
        fact("task", NodeType.TASK, "read the pool size in the database section of the config"),
        fact("kept", NodeType.DECISION, "keep all readings in one SQLite file", **CHOICE),
        fact("plain", NodeType.DECISION, "keep the boards in English", **CHOICE),
    ):
        graph.apply(event)
    found = [hit.node.id for hit in search(graph, question)]
    assert found[0] == "kept"
    assert "plain" not in found


@pytest.mark.parametrize(
    ("forms", "found"),
    [
        ("cancel cancels cancelling cancelled cancellation cancellations", "cancel"),
        ("store stored storing", "stor"),
        ("run runs running", "run"),
        ("pass passes passing", "pas"),
        ("thing things", "thing"),
        ("café", "café"),
        ("v1.2", "v1.2"),
    ],
)
def test_inflected_forms_of_a_word_have_one_stem(forms: str, found: str) -> None:
    assert {stem(form) for form in forms.split()} == {found}


def test_facts_are_recalled_by_other_forms_of_their_words() -> None:
    graph = SessionGraph()
    for number, label in enumerate(["Cancellation is free up to 24 hours before", "Visitors pay by card"], 1):
        source = Source(number, "user", label)
        graph.apply(NodeAdded(Node(f"decision-{number}", NodeType.DECISION, label, Status.ACTIVE, source)))
    asked = "Until when can guests cancel?"
    assert [hit.node.id for hit in search(graph, asked, parts=False)] == ["decision-1"]
    assert search(graph, asked) == [], "descriptions of facts to edit are taken as they are"


def test_a_decision_that_has_the_words_comes_before_an_error_that_names_them() -> None:
    graph = SessionGraph()
    long = "SQLite for the readings of the sensors in the greenhouse, the beds, the shed and the yard behind it"
    graph.apply(fact("wish", NodeType.DECISION, long, **CHOICE))
    graph.apply(fact("error", NodeType.ERROR, "sqlite locked"))
    assert search(graph, "SQLite")[0].node.id == "error"
    assert find_described(graph, "SQLite") == graph.get("wish")
    assert find_described(graph, "sqlite locked") == graph.get("error")
    assert find_described(graph, "is sqlite locked again?") == graph.get("error")
