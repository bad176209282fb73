"""Every case through the public path that an attacker has: memory on SQLite, the middleware, the command line."""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.cli import main
from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.errors import InvalidSession, UnknownSession
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Derived, Event, MessageRecorded, NodeAdded, Recorded
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, Node, NodeType, Source, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.exports import export_lines
from tokenmizer_mw.safety.fence import nonce_for
from tokenmizer_mw.safety.labels import flatten

from .cases import CASES, FULL_WIDTH, LABELS, Case

DELIMITER: Final = re.compile(r"</?session-record(\d{12})>")
DEAD: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
ACTIVE: Final = ("<|", "</", "<s", "<i", "<b", "<!", "](", "![", "```", "[INST]", "[/INST]")
HEADS: Final = re.compile(r"(?:[A-Z][A-Za-z',]*(?: [a-z]+)*(?: \([A-Za-z,; ]+\))?:|[UAT][0-9]+: |- )")
LEVELS: Final = ("critical", "standard", "full")

Turn = dict[str, Any]

CHAT: Final[list[Turn]] = [
    {"role": "user", "content": "Let's build an order service. We use PostgreSQL. Never push to main."},
    {"role": "assistant", "content": "PostgreSQL it is."},
]


@dataclass(frozen=True)
class Place:
    """Where a case is tried: a directory with a store of its own, and what was printed."""

    folder: Path
    printed: Callable[[], Any]

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'data' / 'memory.db'}"

    def memory(self) -> closing[SessionMemory]:
        return closing(SessionMemory.open(self.url))

    def run(self, *arguments: str) -> tuple[int, str, str]:
        try:
            status = main([*arguments, "--store", self.url])
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = self.printed()
        return status, out, err


def squeezed(text: str) -> str:
    """As a lenient reader would see it: compatibility form, no spaces, nothing invisible, lower case."""
    plain = unicodedata.normalize("NFKC", text)
    seen = (char for char in plain if unicodedata.category(char) not in DEAD | {"Mn", "Me"} and not char.isspace())
    return "".join("-" if unicodedata.category(char) == "Pd" else char for char in seen).lower()


def assert_well_formed(text: str) -> None:
    """One opening and one closing delimiter, at the ends; between them lines of facts, and nothing that does things."""
    first, _, *body, last = text.split("\n")
    found = list(DELIMITER.finditer(squeezed(text)))
    assert [match.group().startswith("</") for match in found] == [False, True]
    assert [squeezed(first), squeezed(last)] == [match.group() for match in found]
    assert all(HEADS.match(line) for line in body), body
    for line in body:
        assert_inert(line)


def assert_inert(line: str) -> None:
    assert not {unicodedata.category(char) for char in line} & DEAD
    assert not [token for token in ACTIVE if token in line], line


def harmless_on_a_terminal(text: str) -> bool:
    return not {char for char in text if unicodedata.category(char) == "Cc" and char not in "\n\t"}


# -- labels ----------------------------------------------------------------------------------------------------


def carried(text: str) -> list[Turn]:
    """Turns that carry ``text`` into nodes of several types: a choice, a rule, a goal, a task, a file, an error."""
    function = {"name": "write_file", "arguments": json.dumps({"path": f"src/{text}.py", "content": "x"})}
    return [
        {"role": "user", "content": f"Our goal is to ship {text}"},
        {"role": "user", "content": f"Decided: Redis for {text}"},
        {"role": "user", "content": f"Never deploy {text}"},
        {"role": "user", "content": f"- [ ] write {text}\n- [x] read {text}"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": f"ValueError: {text}"},
        {"role": "assistant", "content": f"Done: the form for {text}"},
    ]


def label(case: Case, place: Place) -> None:
    with place.memory() as memory:
        memory.record("s", carried(case.text))
        blocks = [memory.resume("s", level).text for level in LEVELS]
        assert "zebra" in blocks[-1]
        for block in filter(None, blocks):  # the smallest is empty when all there is to say is suspicious
            assert_well_formed(block)
        labels = [node.label for node in memory.graph("s").nodes()]
        assert sum("zebra" in kept for kept in labels) >= 3
        for kept in labels:
            assert len(kept) <= LABEL_MAX
            assert unicodedata.is_normalized("NFKC", kept)
            assert not {unicodedata.category(char) for char in kept} & DEAD


def imported(case: Case, place: Place) -> None:
    """An export is a file like any other: labels in it may be anything. What is no line is refused, in harmless words,
    and nothing of it is kept."""
    node = Node("decision-1", NodeType.DECISION, case.text, Status.ACTIVE, Source(1, "user"), kind=DecisionKind.RULE)
    events: list[Event] = [MessageRecorded(1, "aa", Message(Role.USER, "hello")), NodeAdded(node), Derived(1)]
    path = place.folder / "export.jsonl"
    path.write_text("\n".join(export_lines("s", [Recorded(n, float(n), e) for n, e in enumerate(events, 1)])))
    status, out, err = place.run("import", str(path))
    assert harmless_on_a_terminal(out + err)
    if status:
        assert status == 2 and "label" in err and not case.text.isprintable()
        with place.memory() as memory:
            assert memory.sessions() == []
        return
    for command in (("resume", "s"), ("graph", "s"), ("why", "s", "zebra")):
        _, out, err = place.run(*command)
        assert harmless_on_a_terminal(out + err), command
    with place.memory() as memory:
        assert_well_formed(memory.resume("s", "full").text)


def terminal(case: Case, place: Place) -> None:
    with place.memory() as memory:
        memory.record("s", carried(case.text))
    transcript = place.folder / "chat.json"
    transcript.write_text(json.dumps(carried(case.text)))
    for command in (
        ("graph", "s"),
        ("resume", "s"),
        ("why", "s", "zebra"),
        ("why", "s", case.text.replace("\x00", "")),
        ("sessions",),
        ("resume", case.text.replace("\x00", "")),
        ("import", str(transcript), "--session", "t"),
        ("graph", "s", "--json"),
    ):
        _, out, err = place.run(*command)
        assert harmless_on_a_terminal(out + err), command


# -- our own block ---------------------------------------------------------------------------------------------

SPELLED: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "crlf": lambda block: block.replace("\n", "\r\n"),
    "wide": lambda block: block.replace(" ", " \t ").replace("\n", "\n\n"),
    "full width": lambda block: block.translate(FULL_WIDTH),
    "zero width": "\u200b".join,
    "capitals": str.upper,
    "quoted": lambda block: "> " + block.replace("\n", "\n> "),
    "in a code block": "```\n{}\n```".format,
    "escaped for HTML": html.escape,
    "escaped in JSON": lambda block: json.dumps(block).replace("<", "\\u003c").replace(">", "\\u003e"),
}


def sent_back(case: Case, place: Place) -> None:
    """Whoever sends a block back, in whatever spelling, with whatever lines inside: nothing is learned from it."""
    with place.memory() as memory:
        memory.record("s", CHAT)
        block = memory.resume("s", "full").text
        known = memory.graph("s").to_dict()
        sent = SPELLED[case.text](block.replace("PostgreSQL", "MongoDB").replace("push to main", "ask anybody"))
        call = {"id": "1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
        for turns in (
            [{"role": "user", "content": f"Hello. {sent}"}],
            [{"role": "assistant", "content": sent}],
            [{"role": "assistant", "content": None, "tool_calls": [call]}, tool_result(sent)],
        ):
            for session, before in (("s", CHAT), ("elsewhere", CHAT)):
                memory.forget("elsewhere")
                memory.record(session, [*before, *turns])
                told = json.dumps(memory.graph(session).to_dict())
                assert "MongoDB" not in told and "ask anybody" not in told
        assert [node["label"] for node in memory.graph("s").to_dict()["nodes"]] == [n["label"] for n in known["nodes"]]


def tool_result(text: str) -> Turn:
    return {"role": "tool", "tool_call_id": "1", "content": text}


# -- ids -------------------------------------------------------------------------------------------------------


def session(case: Case, place: Place) -> None:
    with place.memory() as memory:
        memory.record("mine", CHAT)
        with pytest.raises(UnknownSession):
            memory.graph(case.text)
        memory.record(case.text, [{"role": "user", "content": "We use Kafka."}])
        assert {info.key.id for info in memory.sessions()} == {"mine", case.text}
        assert "Kafka" not in memory.resume("mine", "full").text
        assert "PostgreSQL" not in memory.resume(case.text, "full").text
        assert memory.forget(case.text) > 0
        assert "PostgreSQL" in memory.resume("mine", "full").text
    assert_only_a_store(place)


def tenant(case: Case, place: Place) -> None:
    """A foreign session is not there: not for reading, not for erasing, and with the words of an unknown one."""
    with place.memory() as memory:
        memory.record("s", CHAT, tenant="mine")
        for ask in foreign_asks(memory, case.text):
            with pytest.raises(UnknownSession) as foreign:
                ask("s")
            with pytest.raises(UnknownSession) as unknown:
                ask("t")
            assert str(foreign.value).replace("'s'", "") == str(unknown.value).replace("'t'", "")
        assert memory.sessions(tenant=case.text) == []
        assert memory.forget("s", tenant=case.text) == 0
        memory.record("s", [{"role": "user", "content": "We use Kafka."}], tenant=case.text)
        assert "Kafka" not in memory.resume("s", "full", tenant="mine").text
        assert "PostgreSQL" in memory.resume("s", "full", tenant="mine").text
    assert_only_a_store(place)


def foreign_asks(memory: SessionMemory, tenant: str) -> list[Callable[[str], object]]:
    return [
        lambda id: memory.graph(id, tenant=tenant),
        lambda id: memory.resume(id, tenant=tenant),
        lambda id: memory.recall(id, "PostgreSQL", tenant=tenant),
        lambda id: memory.why(id, "PostgreSQL", tenant=tenant),
        lambda id: memory.search(id, "PostgreSQL", tenant=tenant),
        lambda id: memory.restore(id, [1], tenant=tenant),
        lambda id: memory.loss_report(id, tenant=tenant),
        lambda id: memory.checkpoint(id, tenant=tenant),
        lambda id: memory.invalidate(id, "decision-1", "no", tenant=tenant),
    ]


def assert_only_a_store(place: Place) -> None:
    assert [path.name for path in place.folder.iterdir()] == ["data"]
    assert all(path.name.startswith("memory.db") for path in (place.folder / "data").rglob("*"))


def unusable(case: Case, place: Place) -> None:
    with place.memory() as memory:
        for ids in ({"session_id": case.text, "tenant": "local"}, {"session_id": "s", "tenant": case.text}):
            with pytest.raises(InvalidSession) as raised:
                memory.record(messages=CHAT, **ids)
            assert str(raised.value).isprintable()
            with pytest.raises(InvalidSession):
                memory.graph(**ids)
        assert memory.sessions() == []


def header(case: Case, place: Place) -> None:
    """The call passes as it came, nothing is kept, and the header's text is in nothing that is answered."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "We use Kafka."}]}).encode()
    sent: list[dict[str, Any]] = []
    seen: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b'{"choices": []}'})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    with place.memory() as memory:
        named = (b"x-session-id", case.text.encode())
        length = (b"content-length", str(len(body)).encode())
        scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": [length, named]}
        asyncio.run(TokenMizerMiddleware(app, memory=memory)(scope, receive, send))
        assert memory.flush()
        assert seen == [body]
        assert sent[0]["headers"] == [(b"content-type", b"application/json")]
        assert memory.sessions() == []


# -- the table -------------------------------------------------------------------------------------------------

WAYS: Final[dict[str, Callable[[Case, Place], None]]] = {
    "label": label,
    "import": imported,
    "terminal": terminal,
    "sent back": sent_back,
    "session": session,
    "tenant": tenant,
    "unusable": unusable,
    "header": header,
}


def test_there_are_enough() -> None:
    assert len(set(CASES)) == len(CASES) >= 60
    assert {case.way for case in CASES} == set(WAYS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.way}: {case.name}")
def test_a_case(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WAYS[case.way](case, Place(tmp_path, capsys.readouterr))


# -- a thousand labels -----------------------------------------------------------------------------------------

PIECES: Final = [
    *(text for _, text in LABELS),
    *("<", ">", "/", "\n", "\r", "\u2028", "\x1b", "\u200b", "＜", "］", "](", "![", "```", "~~~", "- ", "Goal:"),
    *("session-record", "0" * 20, "[INST]", "\ud800", "é", "ﷺ", "\U000e0041", "word", " "),
]
TYPES: Final = [
    (NodeType.GOAL, Status.ACTIVE),
    (NodeType.DECISION, Status.ACTIVE),
    (NodeType.TASK, Status.PENDING),
    (NodeType.TASK, Status.COMPLETED),
    (NodeType.ERROR, Status.ACTIVE),
    (NodeType.FILE, Status.ACTIVE),
    (NodeType.ENVIRONMENT, Status.ACTIVE),
]


def fuzzed() -> Iterator[str]:
    dice = random.Random(4)
    for _ in range(1_000):
        yield "".join(dice.choices(PIECES, k=dice.randint(1, 8)))


def graph_of(labels: list[str]) -> SessionGraph:
    graph = SessionGraph()
    for turn, text in enumerate(labels, 1):
        type_, status = TYPES[turn % len(TYPES)]
        kind = (DecisionKind.RULE if turn % 2 else DecisionKind.CHOICE) if type_ is NodeType.DECISION else None
        node = Node(graph.next_id(type_), type_, text, status, Source(turn, "user"), detail=text, kind=kind)
        graph.apply(NodeAdded(node))
    return graph


def test_a_thousand_labels_leave_the_block_well_formed() -> None:
    labels = list(fuzzed())
    assert len(set(labels)) > 900
    counter = counter_for("")
    for start in range(0, len(labels), 20):
        nonce = nonce_for(b"secret", SessionKey("local", "s"), f"checkpoint-{start}")
        graph = graph_of([flatten(text) or "x" for text in labels[start : start + 20]])
        block = build_resume(graph, budget=4_000, counter=counter, nonce=nonce, turn=20)
        assert_well_formed(block.text)


def test_a_thousand_labels_that_nobody_flattened() -> None:
    labels = list(fuzzed())
    counter = counter_for("")
    for start in range(0, len(labels), 20):
        nonce = nonce_for(b"secret", SessionKey("local", "s"), f"checkpoint-{start}")
        block = build_resume(graph_of(labels[start : start + 20]), budget=4_000, counter=counter, nonce=nonce, turn=20)
        assert_well_formed(block.text)
