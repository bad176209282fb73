import re
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import examples
from tokenmizer_mw.cli.demo.script import load_script
from tokenmizer_mw.context.resume import LEVELS, Resume, build_resume
from tokenmizer_mw.context.resume.layout import QUOTES_HEAD
from tokenmizer_mw.context.tokens import TokenCounter, counter_for, estimate
from tokenmizer_mw.errors import BudgetTooSmall, CallerError
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import DecisionReplaced, NodeAdded
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Source, Status, Transition, Trust
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import frame, nonce_for, own_blocks
from tokenmizer_mw.safety.labels import flatten

NONCE = nonce_for(b"secret", SessionKey("local", "s"), "checkpoint-1")
FRAME = frame(NONCE)
THIRDS = TokenCounter("thirds of characters", False, lambda text: -(-len(text) // 3))
FRAME_TOKENS = THIRDS.count("".join(FRAME))
COUNTERS = [counter_for("gpt-4o"), TokenCounter("estimate", False, estimate), THIRDS]

RULE = {"kind": DecisionKind.RULE}
CHOICE = {"kind": DecisionKind.CHOICE}
Row = tuple[NodeType, str, Status, int, dict[str, Any]]

SESSION: list[Row] = [
    (NodeType.GOAL, "Build an invoice service", Status.ACTIVE, 1, {}),
    (NodeType.FILE, "api/app.py", Status.ACTIVE, 2, {}),
    (NodeType.DECISION, "never push to main", Status.ACTIVE, 3, RULE),
    (NodeType.DECISION, "PostgreSQL", Status.ACTIVE, 4, CHOICE | {"detail": "concurrent writes"}),
    (NodeType.DECISION, "MongoDB", Status.INVALIDATED, 4, CHOICE | {"detail": "no transactions"}),
    (NodeType.TASK, "rate limiting", Status.PENDING, 5, {"order": 2}),
    (NodeType.TASK, "refresh tokens", Status.PENDING, 6, {"order": 1}),
    (NodeType.TASK, "login form", Status.IN_PROGRESS, 7, {}),
    (NodeType.TASK, "user model", Status.COMPLETED, 8, {}),
    (NodeType.ERROR, "login returns 422", Status.ACTIVE, 9, {}),
    (NodeType.ERROR, "build breaks on Windows", Status.COMPLETED, 9, {}),
    (NodeType.ENVIRONMENT, "Python 3.12", Status.ACTIVE, 10, {}),
    (NodeType.DEPENDENCY, "slowapi", Status.ACTIVE, 10, {}),
    (NodeType.ENDPOINT, "POST /login", Status.ACTIVE, 11, {}),
    (NodeType.SCHEMA, "users: id, email", Status.ACTIVE, 12, {}),
    (NodeType.TEST, "12 tests pass", Status.COMPLETED, 12, {}),
    (NodeType.DECISION, "weekly digest", Status.PENDING, 13, {"kind": DecisionKind.OPTION}),
    (NodeType.CONCEPT, "double-entry", Status.ACTIVE, 14, {}),
    (NodeType.TASK, "old idea", Status.ARCHIVED, 1, {}),
]


def graph_of(rows: Sequence[Row]) -> SessionGraph:
    graph = SessionGraph()
    for type_, label, status, turn, more in rows:
        graph.apply(NodeAdded(Node(graph.next_id(type_), type_, label, status, Source(turn, "user"), **more)))
    return graph


def resume_of(graph: SessionGraph, counter: TokenCounter = THIRDS, **more: Any) -> Resume:
    return build_resume(graph, counter=counter, nonce=NONCE, **more)


def lines_of(resume: Resume) -> list[str]:
    assert resume.text.startswith(FRAME[0])
    assert resume.text.endswith(FRAME[1])
    return resume.text[len(FRAME[0]) : len(resume.text) - len(FRAME[1])].split("\n")


def test_sections_in_order() -> None:
    assert lines_of(resume_of(graph_of(SESSION), budget=250)) == [
        "Goal: Build an invoice service",
        "User's rules:",
        "- never push to main",
        "Decided: PostgreSQL (concurrent writes)",
        "Rejected: MongoDB - no transactions",
        "In progress: login form",
        "To do: refresh tokens; rate limiting",
        "Open errors: login returns 422",
        "Done: user model; fixed build breaks on Windows",
        "Files: api/app.py",
        "Environment: Python 3.12",
        "Uses: slowapi",
        "Endpoints: POST /login",
        "Schema: users: id, email",
        "Tests passed: 12 tests pass",
        "Proposed, not agreed: weekly digest",
        "About: double-entry",
    ]


def test_receipts_where_the_budget_allows() -> None:
    lines = lines_of(resume_of(graph_of(SESSION), budget=4_000))
    assert "Goal: Build an invoice service [1]" in lines
    assert "To do: refresh tokens [6]; rate limiting [5]" in lines
    assert "Files: api/app.py" in lines
    letters = TokenCounter("letters", False, len)
    full, bare = (resume_of(graph_of(SESSION), letters, budget=budget) for budget in (4_000, 750))
    budget = int((full.tokens + bare.tokens) / 2 / 0.4)
    some = resume_of(graph_of(SESSION), letters, budget=budget)
    assert 0 == bare.text.count(" [") < some.text.count(" [") < full.text.count(" [")
    assert some.tokens <= 0.4 * budget


def test_what_a_resume_says_of_itself() -> None:
    graph = graph_of(SESSION)
    resume = resume_of(graph, level="full", turn=14)
    assert (resume.level, resume.budget, resume.exact, resume.turn) == ("full", 600, False, 14)
    assert resume.tokens == THIRDS.count(resume.text) <= 600
    assert set(resume.node_ids) == {node.id for node in graph.nodes()} - {graph.nodes()[-1].id}
    assert resume_of(graph, budget=250).level == "custom"
    assert {level: resume_of(graph, level=level).budget for level in LEVELS} == LEVELS


def test_the_core_comes_first() -> None:
    rows = [row for row in SESSION for _ in range(1)]
    rows += [(NodeType.FILE, f"src/part_{i}.py", Status.ACTIVE, 20 + i, {}) for i in range(50)]
    resume = resume_of(graph_of(rows), level="critical", counter=counter_for("gpt-4o"))
    for text in ("Build an invoice service", "login form", "never push to main", "PostgreSQL"):
        assert text in resume.text


def test_nothing_to_say() -> None:
    for graph in (SessionGraph(), graph_of(SESSION[-1:])):
        resume = resume_of(graph, level="full")
        assert (resume.text, resume.tokens, resume.node_ids) == ("", 0, ())


def test_no_fact_fits() -> None:
    graph = graph_of([(NodeType.GOAL, "word " * 39, Status.ACTIVE, 1, {})])
    assert resume_of(graph, budget=FRAME_TOKENS + 3).text == ""


@pytest.mark.parametrize("graph", [SessionGraph(), graph_of(SESSION)], ids=["empty", "full"])
@pytest.mark.parametrize("budget", [-1, 0, 19, 20, FRAME_TOKENS - 1])
def test_a_budget_below_the_fence(graph: SessionGraph, budget: int) -> None:
    with pytest.raises(BudgetTooSmall, match=f"at least {FRAME_TOKENS} tokens, .* not {budget}$"):
        resume_of(graph, budget=budget)
    assert resume_of(graph, budget=FRAME_TOKENS).text == ""


def test_an_unknown_level() -> None:
    with pytest.raises(CallerError, match="critical, standard, full"):
        resume_of(graph_of(SESSION), level="enormous")


RULES: list[Row] = [
    (NodeType.DECISION, "British spelling", Status.ACTIVE, 90, {"kind": DecisionKind.PREFERENCE, "confidence": 1.0}),
    (NodeType.DECISION, "it has to work offline", Status.ACTIVE, 80, RULE),
    (NodeType.DECISION, "never call the live service from a test", Status.ACTIVE, 1, RULE | {"confidence": 0.6}),
    (NodeType.DECISION, "Redis", Status.ACTIVE, 95, CHOICE),
    (NodeType.FILE, "src/live.py", Status.ACTIVE, 96, {}),
]


@pytest.mark.parametrize("query", [None, "what is in src/live.py?"])
def test_rules_come_before_decisions_the_strictest_first(query: str | None) -> None:
    texts = ["never call the live service from a test", "it has to work offline", "British spelling", "Redis"]
    letters = TokenCounter("letters", False, len)
    room = len("".join(FRAME)) + len("\nUser's rules:\n- ")
    for count in range(1, 4):
        budget = room + len("\n- ".join(texts[:count]))
        text = resume_of(graph_of(RULES), letters, budget=budget, query=query).text
        assert [part in text for part in texts] == [place < count for place in range(4)]


def test_a_query_takes_no_rule_s_place() -> None:
    graph = graph_of([*SESSION, *RULES])
    rules = [node.id for node in graph.nodes("decision") if node.kind in (DecisionKind.RULE, DecisionKind.PREFERENCE)]
    for budget in range(FRAME_TOKENS, 300, 7):
        plain, asked = (resume_of(graph, budget=budget, query=query) for query in (None, "which files and which live?"))
        assert set(rules) & set(plain.node_ids) <= set(asked.node_ids)


def test_the_brackets_of_a_goal_give_way() -> None:
    label = "Build an invoice service (with a dashboard, a nightly export and a login for the accountant)"
    graph = graph_of([(NodeType.GOAL, label, Status.ACTIVE, 1, {}), *RULES])
    small = resume_of(graph, budget=95).text
    assert "Goal: Build an invoice service\n" in small
    assert "never call" in small
    assert f"Goal: {label}" in resume_of(graph, budget=300).text


def test_the_demonstration_keeps_its_strictest_rule_in_the_smallest_block() -> None:
    memory = SessionMemory.open()
    memory.record("coldwatch", load_script().transcript())
    for query in (None, "which port does it listen on?"):
        assert "never send a real text message" in memory.resume("coldwatch", "critical", query=query).text
    assert "PostgreSQL" in memory.resume("coldwatch", "standard").text


def test_no_block_of_the_demonstration_states_a_fact_twice() -> None:
    memory = SessionMemory.open()
    memory.record("coldwatch", load_script().transcript())
    labels = [node.label for node in memory.graph("coldwatch").nodes()]
    for budget in range(300, 2_001, 25):
        resume = memory.resume("coldwatch", budget=budget)
        assert not [label for label in labels if len(label) > 3 and label + label in resume.text], budget
        typed = resume.text.partition(QUOTES_HEAD)[0]
        stated = re.split(r"; |\n- |\n[A-Z][^:\n]+: ", typed)
        assert len(stated) == len(set(stated)), budget


def test_a_query_comes_first() -> None:
    rows = SESSION + [(NodeType.CONCEPT, f"topic number {i}", Status.ACTIVE, 20, {}) for i in range(60)]
    graph = graph_of(rows)
    assert "topic number 7" not in resume_of(graph, level="critical").text
    assert "topic number 7" in resume_of(graph, level="critical", query="what about topic 7?").text


def test_a_query_finds_what_was_replaced() -> None:
    graph = graph_of([*SESSION, (NodeType.DECISION, "SQLite", Status.ACTIVE, 2, CHOICE)])
    old, new = graph.find(NodeType.DECISION, "SQLite"), graph.find(NodeType.DECISION, "PostgreSQL")
    assert old is not None and new is not None
    graph.apply(DecisionReplaced(Transition(old.id, new.id, 4, "concurrent writes")))
    resume = resume_of(graph, level="critical", query="SQLite")
    assert "PostgreSQL (was SQLite: concurrent writes)" in resume.text
    assert {old.id, new.id} <= set(resume.node_ids)


SAME = [
    ((NodeType.DECISION, "Python 3.12 runtime"), (NodeType.ENVIRONMENT, "python 3.12"), 1),
    ((NodeType.GOAL, "Build an app with FastAPI, JWT"), (NodeType.DEPENDENCY, "FastAPI"), 1),
    ((NodeType.GOAL, "Add dark mode"), (NodeType.TASK, "add dark mode"), 1),
    ((NodeType.DECISION, "Redis for tokens"), (NodeType.DEPENDENCY, "redis-py"), 2),
    ((NodeType.TASK, "tests in api/a.py"), (NodeType.FILE, "api/a.py"), 2),
    ((NodeType.DECISION, "use main.py"), (NodeType.TASK, "main.py"), 2),
]


@pytest.mark.parametrize("first, second, texts", SAME)
def test_nothing_is_said_twice(first: tuple[NodeType, str], second: tuple[NodeType, str], texts: int) -> None:
    graph = graph_of([(type_, label, Status.ACTIVE, 1, {}) for type_, label in (first, second)])
    resume = resume_of(graph)
    assert len(lines_of(resume)) == texts
    assert len(resume.node_ids) == 2


def test_what_was_ruled_out_does_not_tell_what_is_used() -> None:
    rows: list[Row] = [
        (NodeType.DECISION, "Redis", Status.INVALIDATED, 1, CHOICE),
        (NodeType.DEPENDENCY, "Redis", Status.ACTIVE, 2, {}),
    ]
    assert lines_of(resume_of(graph_of(rows), budget=100)) == ["Rejected: Redis", "Uses: Redis"]


# -- properties ------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["api", "login", "PostgreSQL", "tokens", "数据库", "отчёт", "<|x|>", "](", "\u202e", "a" * 90])
LABELS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=20).map(" ".join).filter(lambda text: len(text) <= 200),
    st.text(min_size=1, max_size=60),
)
NODES = st.tuples(
    st.sampled_from(NodeType),
    LABELS,
    st.sampled_from(Status),
    st.integers(1, 99),
    st.fixed_dictionaries(
        {},
        optional={
            "kind": st.sampled_from(DecisionKind),
            "detail": LABELS,
            "order": st.integers(0, 9),
            "confidence": st.floats(0, 1),
        },
    ),
)


@st.composite
def graphs(draw: st.DrawFn) -> SessionGraph:
    graph = graph_of(draw(st.lists(NODES, max_size=40)))
    ids = [node.id for node in graph.nodes()]
    if len(ids) > 1:
        for old, new in draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=5)):
            if old != new:
                graph.apply(DecisionReplaced(Transition(old, new, draw(st.integers(1, 99)), draw(LABELS))))
    return graph


@examples(150)
@given(graphs(), st.sampled_from(COUNTERS), st.lists(st.integers(90, 900), min_size=2, max_size=5), LABELS)
def test_budgets_hold_and_nest(graph: SessionGraph, counter: TokenCounter, budgets: list[int], query: str) -> None:
    for asked in (None, query):
        smaller: set[str] = set()
        for budget in sorted([*budgets, *LEVELS.values()]):
            resume = resume_of(graph, counter, budget=budget, query=asked)
            assert resume.tokens == (counter.count(resume.text) if resume.text else 0) <= budget
            assert smaller <= set(resume.node_ids)
            smaller = set(resume.node_ids)


@examples(150)
@given(graphs(), st.integers(90, 900))
def test_what_is_carried_stands_whole_in_the_text(graph: SessionGraph, budget: int) -> None:
    resume = resume_of(graph, budget=budget)
    text = resume.text.casefold()
    for id in resume.node_ids:
        node = graph.get(id)
        assert node is not None
        assert flatten(node.label).casefold() in text or all(word in text for word in flatten(node.label).split())
    if resume.text:
        assert own_blocks(resume.text, b"secret") == [(0, len(resume.text))]
        heads = [line.partition(":")[0] for line in lines_of(resume) if not line.startswith("- ")]
        assert len(heads) == len(set(heads))


@examples(100)
@given(graphs())
def test_the_same_graph_gives_the_same_bytes(graph: SessionGraph) -> None:
    assert resume_of(graph, turn=99) == resume_of(graph.copy(), turn=99) == resume_of(graph.fork(), turn=99)


def test_the_cost_grows_with_the_graph_at_most() -> None:
    def cost(size: int) -> float:
        graph = graph_of([(NodeType.FILE, f"src/{i}/part_{i}.py", Status.ACTIVE, i + 1, {}) for i in range(size)])
        start = time.process_time()
        resume_of(graph, level="full")
        return time.process_time() - start

    assert min(cost(4_000) for _ in range(3)) <= 8 * min(cost(1_000) for _ in range(3)) + 5e-3


def test_proposals_are_no_decisions() -> None:
    source = Source(1, "assistant", trust=Trust.PROPOSED)
    graph = SessionGraph()
    graph.apply(NodeAdded(Node("d", NodeType.DECISION, "Kafka", Status.ACTIVE, source, kind=DecisionKind.CHOICE)))
    assert lines_of(resume_of(graph, budget=100)) == ["Proposed, not agreed: Kafka"]


def test_open_work_is_told_as_open_though_a_sentence_says_it() -> None:
    memory = SessionMemory.open()
    said = ["Use Redis for the queue.", "OK.", "Leave test_retry for tomorrow.", "OK.", "What next?", "The tests."]
    memory.record("s", [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)])
    assert "To do: Leave test_retry for tomorrow" in memory.resume("s", budget=600).text
    memory.close()


def test_words_that_stand_in_every_sentence_mark_nothing_as_replaced() -> None:
    memory = SessionMemory.open()
    said = ["Use Redis for the queue.", "OK.", "The invoices are for customers in Norway.", "OK."]
    said += ["Let's move the queue to PostgreSQL instead of Redis."]
    said += ["Done.", "What next?", "The tests."]
    memory.record("s", [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)])
    assert "Norway. (replaced" not in memory.resume("s", budget=600).text
    memory.close()


def test_a_predecessor_that_nobody_stated_is_not_told_as_what_holds() -> None:
    named = resume_of(graph_of([(NodeType.DECISION, "directly as it was", Status.ACTIVE, 1, CHOICE)]))
    assert "as it was" not in named.text
    quote = "Leave the layout as it was."
    graph = SessionGraph()
    node = Node("decision-1", NodeType.DECISION, quote[:-1], Status.ACTIVE, Source(1, "user", quote), **CHOICE)
    graph.apply(NodeAdded(node))
    assert "Leave the layout as it was" in resume_of(graph).text
