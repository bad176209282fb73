"""What people say in ordinary words: standing rules, corrections, fragments, what belongs together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tokenmizer_mw.extract.compose.meaningless_labels import is_hollow
from tokenmizer_mw.extract.compose.validate import validate_findings
from tokenmizer_mw.extract.derive import derive
from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import DecisionKind, EdgeType, Node, NodeType, Status, Trust

from .talks import RULES_ONLY

SPEAKERS = {"u": Role.USER, "a": Role.ASSISTANT}


def judged(messages: Sequence[Message]) -> SessionGraph:
    graph = SessionGraph()
    for event in derive(graph, list(enumerate(messages, 1)), [], RULES_ONLY):
        graph.apply(event)
    return graph


def talk(*lines: str) -> SessionGraph:
    return judged([Message(SPEAKERS[line[0]], line[3:]) for line in lines])


def labels(graph: SessionGraph, type_: NodeType, *statuses: Status) -> list[str]:
    return [node.label for node in graph.nodes(type_) if not statuses or node.status in statuses]


def rules(graph: SessionGraph) -> list[Node]:
    return [node for node in graph.nodes(NodeType.DECISION) if node.kind is DecisionKind.RULE]


@pytest.mark.parametrize(
    "sentence",
    [
        "members' phone numbers must never appear on any page that isn't behind the admin login",
        "Phone numbers must never appear on public pages.",
        "We must not store credit card numbers.",
        "Secrets should never be committed.",
        "Nobody may see the phone numbers except the admin.",
        "I don't want anyone to see the addresses.",
        "Members are not allowed to see each other's addresses.",
        "One thing up front: the phone numbers must never appear on a public page.",
        "Important: secrets may only be read from the environment.",
        "Never write the addresses to a log, ok?",
    ],
)
@pytest.mark.parametrize("before", [(), ("u: Build a booking page", "a: Gladly.")], ids=["first", "later"])
def test_rules_in_ordinary_words(sentence: str, before: tuple[str, ...]) -> None:
    graph = talk(*before, f"u: {sentence}")
    (rule,) = rules(graph)
    assert (rule.status, rule.source.trust) == (Status.ACTIVE, Trust.STATED)
    assert graph.nodes(NodeType.ERROR) == []
    assert len(graph.nodes(NodeType.GOAL)) == (1 if before else 0)
    assert "up front" not in rule.label


@pytest.mark.parametrize(
    "sentence",
    ["I don't want to lose anything", "This should never have happened", "Nobody can log in", "I must not forget that"],
)
def test_no_rules(sentence: str) -> None:
    graph = talk("u: Build a booking page", "a: Gladly.", f"u: {sentence}")
    assert rules(graph) == []
    assert graph.nodes(NodeType.DECISION) == []


def test_background_is_no_goal_the_wish_is() -> None:
    graph = talk(
        "u: I run the tool library in our neighbourhood: 200 members, 300 tools, all in a spreadsheet. I'd like a"
        " little web thing where members reserve tools and I see what's overdue."
    )
    assert labels(graph, NodeType.GOAL) == ["a little web thing where members reserve tools and I see what's overdue"]


@pytest.mark.parametrize(
    "label",
    [
        *("go ahead with that", "fix it", "make it 10", "test it too", "The script", "Not tonight", "tonight then"),
        *("which you do on the weekend", "write down what is left", "test that one properly", "it", "later"),
    ],
)
def test_labels_that_say_nothing(label: str) -> None:
    assert is_hollow(label)


@pytest.mark.parametrize(
    "label",
    [
        *(
            "tests",
            "REST",
            "fix the login",
            "create the role on Thursday",
            "The calibration",
            "docs",
            "deploy to staging",
        ),
        *("write the endpoint for it", "keep 400 days", "port: 8471", "10 MB per upload", "Jest", "add 2FA"),
    ],
)
def test_labels_that_say_something(label: str) -> None:
    assert not is_hollow(label)


def test_a_pointer_gives_way_to_what_is_named_behind_it() -> None:
    graph = talk("u: Build a site", "a: I added that: the header with the logo.")
    assert labels(graph, NodeType.TASK) == ["the header with the logo"]


def test_the_reason_half_of_a_choice_is_no_choice() -> None:
    graph = talk("u: Build a newsletter", "a: Which?", "u: Let's use Postmark, the association already has an account")
    (choice,) = graph.nodes(NodeType.DECISION)
    assert (choice.label, choice.detail) == ("Postmark", "the association already has an account")


def test_relative_clauses_are_no_items() -> None:
    graph = talk("u: Build it", "a: TODO: calibration of freezer-b, which you do on the weekend, HTTPS for the office")
    assert labels(graph, NodeType.TASK) == ["calibration of freezer-b", "HTTPS for the office"]


def test_names_keep_their_signs() -> None:
    graph = talk("u: Build a site", "a: I added the page at `GET /` and listed the build in .gitignore.")
    assert labels(graph, NodeType.ENDPOINT) == ["GET /"]
    assert labels(graph, NodeType.FILE) == [".gitignore"]
    bare = Finding(NodeType.ENDPOINT, "GET", Status.ACTIVE, Trust.CLAIMED, 0.9)
    assert validate_findings([bare], RULES_ONLY) == []


def ran(command: str, output: str) -> list[Message]:
    call = ToolCall("c", "run_command", '{"command": "' + command + '"}')
    return [Message(Role.ASSISTANT, "", (call,)), Message(Role.TOOL, tool_results=(ToolResult("c", output),))]


FAILING = "FAILED tests/test_alerts.py::test_quiet - KeyError: 'x'\n1 failed, 3 passed in 0.2s"


@pytest.mark.parametrize("later", ["pytest", "pytest tests/test_alerts.py", "pytest -q"])
def test_a_later_run_that_passes_settles_what_failed(later: str) -> None:
    graph = judged(
        [
            Message(Role.USER, "Build an alarm"),
            *ran("pytest tests/test_alerts.py", FAILING),
            *ran(later, "9 passed in 0.3s"),
            Message(Role.ASSISTANT, "Nine tests pass."),
        ]
    )
    assert labels(graph, NodeType.TEST, Status.FAILED) == []
    assert labels(graph, NodeType.ERROR, Status.ACTIVE) == []
    assert "Nine tests pass" not in labels(graph, NodeType.TEST)


def test_another_run_settles_nothing() -> None:
    graph = judged(
        [
            Message(Role.USER, "Build an alarm"),
            *ran("pytest tests/test_alerts.py", FAILING),
            *ran("pytest tests/test_app.py", "9 passed in 0.3s"),
        ]
    )
    assert labels(graph, NodeType.TEST, Status.FAILED) == ["pytest tests/test_alerts.py"]


def test_the_newest_word_on_tests_replaces_the_one_before() -> None:
    graph = talk("u: Build it", "a: All four tests pass.", "u: go on", "a: Four of five pass.")
    assert labels(graph, NodeType.TEST, Status.FAILED) == ["Four of five pass"]
    graph = talk(
        "u: Build it", "a: Four of five pass.", "u: go on", "a: All nine tests pass.", "u: more", "a: 17 tests pass."
    )
    assert labels(graph, NodeType.TEST) == labels(graph, NodeType.TEST, Status.COMPLETED) == ["17 tests pass"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("your calibration of freezer-b", "Calibrate the sensor in freezer-b", True),
        ("the roster", "Roster export", False),
        ("the API", "API tests", False),
        ("the login page", "Test the login page", False),
        ("the export button", "fix the colour of the export button", False),
        ("the tests for the parser", "the tests for the lexer", False),
    ],
)
def test_open_work_that_is_named_again(one: str, other: str, same: bool) -> None:
    graph = talk("u: Build it", f"a: TODO: {other}", "u: ok", f"a: TODO: {one}")
    assert (len(set(labels(graph, NodeType.TASK))) < len([*one.split(", "), *other.split(", ")])) is same


def test_what_belongs_together_is_linked() -> None:
    call = ToolCall("w", "write_file", '{"path": "tests/test_alerts.py", "content": "x"}')
    graph = judged(
        [
            Message(Role.USER, "Build an alarm. Let's use PostgreSQL."),
            Message(Role.ASSISTANT, "Fine."),
            Message(Role.USER, "add PostgreSQL tests for the alerts"),
            Message(Role.ASSISTANT, "", (call,)),
            Message(Role.TOOL, tool_results=(ToolResult("w", "wrote it"),)),
            *ran("pytest tests/test_alerts.py", FAILING),
        ]
    )
    drawn = {(edge.type, edge.source.partition("-")[0], edge.target.partition("-")[0]) for edge in graph.edges()}
    assert {
        (EdgeType.RELATED_TO, "file", "task"),
        (EdgeType.BLOCKS, "error", "task"),
        (EdgeType.RELATED_TO, "test", "file"),
        (EdgeType.IMPLEMENTS, "task", "decision"),
    } <= drawn


@pytest.mark.parametrize(
    ("stated", "reply", "now"),
    [
        ("The deadline is 08:00.", "8 is too early, make it 10", ["The deadline is 10:00"]),
        ("the port is 8080", "make it 9090", ["the port is 9090"]),
        ("The limit is 8 degrees.", "make it 5", ["The limit is 5 degrees"]),
        ("Use Flask.", "make it 10", ["Flask"]),
    ],
)
def test_a_number_that_is_corrected(stated: str, reply: str, now: list[str]) -> None:
    graph = talk("u: Build a reminder", "a: Gladly.", f"u: {stated}", "a: Fine.", f"u: {reply}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == now
    assert labels(graph, NodeType.TASK) == []


def test_the_same_number_said_of_something_else_stays() -> None:
    graph = talk(
        "u: Build an alarm",
        "a: Gladly.",
        "u: The timeout is 15 minutes.",
        "a: Fine.",
        "u: What else is missing?",
        "a: Calling the second person.",
        "u: For the second person: 15 minutes is too long, make it 10.",
    )
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == ["The timeout is 15 minutes"]


@pytest.mark.parametrize(
    "answer",
    ["Continue.", "Proceed with the mock-ups then.", "Approved - print the poster", "Use the old one as this:"],
)
def test_what_lets_work_go_on_or_leads_on_is_no_decision(answer: str) -> None:
    told = "a: Three mock-ups of the poster are drawn, the old one is beside them."
    graph = talk("u: Please draw a poster for the fair.", told, f"u: {answer}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


@pytest.mark.parametrize(
    ("told", "decided"),
    [
        ("Decision: continue using Redis for the queue.", "continue using Redis for the queue"),
        ("Decided: proceed with Kafka.", "proceed with Kafka"),
        ("**Decision:** approve refunds by hand", "approve refunds by hand"),
    ],
)
def test_what_is_marked_as_a_decision_may_go_on_with_something(told: str, decided: str) -> None:
    graph = talk("u: Set up the pipeline", "a: Gladly.", f"u: {told}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == [decided]


def test_a_number_at_the_end_of_a_sentence_is_no_ordinal() -> None:
    graph = talk("u: Set up the pipeline", "a: Gladly.", "u: make it 22. the deploy job comes later, after the review")
    assert [node.label for node in graph.nodes(NodeType.TASK) if node.open and "deploy" in node.label] == [
        "the deploy job comes later, after the review"
    ]


def test_what_must_fail_is_no_failure() -> None:
    graph = talk("u: Set up the pipeline", "a: Gladly.", "u: warnings of the linter must fail the build")
    assert graph.nodes(NodeType.ERROR) == []


def test_a_runtime_that_was_raised_to_a_version() -> None:
    graph = talk("u: Set up the pipeline", "a: Gladly.", "u: I bumped Node from 20 to 22 on the runners")
    assert "Node 22" in [node.label for node in graph.nodes(NodeType.ENVIRONMENT)]


def test_the_reason_of_a_change_is_no_failure_besides() -> None:
    graph = talk(
        "u: Redis for the queue.", "a: Done.", "u: Operations won't run Redis. Let's use PostgreSQL instead of Redis."
    )
    assert graph.nodes(NodeType.ERROR) == []
    assert any("Operations" in step.reason for step in graph.transitions())


@pytest.mark.parametrize("said", ["should we move Node to 22?", "Node to 22 would be a big step"])
def test_a_version_that_is_only_spoken_of_does_not_run(said: str) -> None:
    graph = talk("u: Set up the pipeline", "a: Gladly.", f"u: {said}")
    assert graph.nodes(NodeType.ENVIRONMENT) == []
