"""Every tool, over three transports, in two versions of the protocol."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.sampling import covering
from tests.uncertain import CERTAIN, UNCERTAIN
from tokenmizer_mw import SessionMemory, Settings

from .conftest import CHAT, MODES, TRANSPORTS, Desk, in_process, over_stdio, record, served

TOOLS = {
    "analyze_file",
    "archive",
    "checkpoint_session",
    "complete",
    "correct",
    "forget_session",
    "get_graph_stats",
    "get_savings_stats",
    "invalidate",
    "list_sessions",
    "pin",
    "recall",
    "remember",
    "resume_session",
    "search",
    "separate",
    "undo",
    "why_decision",
}
CHANGES = {"archive", "complete", "correct", "invalidate", "pin", "separate", "undo"}
READ_ONLY = TOOLS - {"checkpoint_session", "forget_session", "remember"} - CHANGES
TOOL_LIST_MAX = 6_000


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structure of an answer, which its text says, too."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]
    assert not result.is_error, text
    assert json.loads(text) == result.structured_content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


async def use_every_tool(client: Client, session: str) -> None:
    listed = await told(client, "list_sessions")
    assert [one["session_id"] for one in listed["sessions"]] == [session]
    assert session.startswith(f"{listed['project']}/")
    assert "PostgreSQL" in (await told(client, "resume_session"))["text"]
    assert (await told(client, "resume_session", session_id=session, level="critical"))["tokens"] <= 100
    stats = await told(client, "get_graph_stats")
    assert stats["by_type"]["decision"] == 3
    assert stats["transitions"] == 1
    saved = await told(client, "get_savings_stats")
    assert saved["sessions"] == 1 and "No savings" in saved["note"]
    assert datetime.fromisoformat(saved["figures"]["newest"]).tzinfo is not None
    assert not {"savings", "answered_by"} & {*saved, *saved["figures"]}
    why = await told(client, "why_decision", text="PostgreSQL")
    assert "concurrent writes" in why["text"]
    assert why["text"].count("concurrent writes") == 1
    recalled = await told(client, "recall", query="Which database?")
    assert "PostgreSQL" in recalled["text"]
    assert recalled["tokens"] <= 200
    found = await told(client, "search", text="review", k=1)
    assert [fact["label"] for fact in found["facts"]] == ["Never push to main without a review"]
    assert all(value not in (None, "", 0) for fact in found["facts"] for value in fact.values())
    assert await told(client, "search_session", text="review", k=1) == found  # its former name
    first = await told(client, "checkpoint_session")
    assert (first["id"], len(first["added"])) == ("checkpoint-1", stats["facts"])
    stored = await told(client, "remember", text="Database: CockroachDB", kind="choice", reason="regions")
    fact = stored["fact"]
    assert fact["status"] == "active"
    said = f"Stored as choice {fact['id']}: Database: CockroachDB, because regions. It replaced decision-"
    assert stored["text"].startswith(said) and stored["text"].endswith(" Change 1 can be undone.")
    assert stored["number"] == 1
    second = await told(client, "checkpoint_session")
    assert [one["label"] for one in second["added"]] == ["Database: CockroachDB"]
    assert [one["status"] for one in second["changed"]] == ["superseded"]
    digest = await told(client, "analyze_file", path="orders.csv")
    assert "501 lines" in digest["text"] or "500 rows" in digest["text"]
    assert "more:" not in digest["text"] and "--lines" not in digest["text"]
    assert (await told(client, "forget_session", session_id=session))["events"] > 0
    for tool in ("resume_session", "checkpoint_session"):
        assert "Nothing was recorded in this project" in await refused(client, tool)
    assert "list_sessions names" in await refused(client, "resume_session", session_id=session)


async def look_at_resources(client: Client, session: str) -> None:
    spelled = session.replace("/", "%2F")
    templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
    base = "tokenmizer://sessions/{session_id}"
    assert templates == {f"{base}/resume", f"{base}/resume/{{level}}", f"{base}/graph"}

    async def read(uri: str) -> str:
        return str((await client.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]

    assert json.loads(await read("tokenmizer://sessions"))["sessions"][0]["session_id"] == session
    assert "PostgreSQL" in await read(f"tokenmizer://sessions/{spelled}/resume")
    assert "PostgreSQL" in await read(f"tokenmizer://sessions/{spelled}/resume/critical")
    assert json.loads(await read(f"tokenmizer://sessions/{spelled}/graph"))["nodes"]
    with pytest.raises(MCPError, match="list_sessions names"):
        await read("tokenmizer://sessions/nobody/resume")
    prompt = await client.get_prompt("resume", {})
    assert "PostgreSQL" in prompt.messages[0].content.text  # type: ignore[union-attr]


def test_a_client_with_mcp_alone_begins_the_session_of_its_project(tmp_path: Path) -> None:
    async def use() -> None:
        async with in_process(Desk(tmp_path, "memory://"), "2026-07-28") as client:
            assert "remember begins its session" in await refused(client, "checkpoint_session")
            assert "remember without session_id" in await refused(client, "remember", session_id="new", text="Flask")
            own = f"{(await told(client, 'list_sessions'))['project']}/mcp"
            for text in ("We use Flask", "Answer in French"):
                assert (await told(client, "remember", text=text))["session_id"] == own
            assert "We use Flask" in (await told(client, "resume_session"))["text"]
            assert (await told(client, "checkpoint_session"))["session_id"] == own

    anyio.run(use)


@pytest.mark.parametrize(("mode", "transport"), covering(MODES.values(), TRANSPORTS))
def test_every_tool_and_resource(desk: Desk, transport: str, mode: str) -> None:
    async def use() -> None:
        async with TRANSPORTS[transport](desk, mode) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            await look_at_resources(client, desk.session)
            await use_every_tool(client, desk.session)

    anyio.run(use)


def test_every_tool_and_resource_over_http(desk: Desk) -> None:
    async def use(url: str, mode: str) -> None:
        async with Client(url, mode=mode) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            await look_at_resources(client, desk.session)
            await use_every_tool(client, desk.session)

    with served(desk) as url:
        for mode in MODES.values():
            anyio.run(use, url, mode)
            record(desk)
        names_of_other_machines_are_refused(url)


def names_of_other_machines_are_refused(url: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"accept": "application/json, text/event-stream"}
    for headers in ({"host": "evil.test"}, {"host": "127.0.0.1:1"}, {"origin": "http://evil.test"}):
        refusal = httpx2.post(url, json=body, headers={**accepted, **headers})
        assert refusal.status_code in (403, 421), headers


def test_tools_say_what_they_do(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            for tool in (await client.list_tools()).tools:
                assert tool.description and tool.annotations is not None
                assert bool(tool.annotations.read_only_hint) is (tool.name in READ_ONLY)
                assert bool(tool.annotations.destructive_hint) is (tool.name == "forget_session")
                assert tool.annotations.open_world_hint is False

    anyio.run(use)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_the_list_of_tools_is_short(desk: Desk, mode: str) -> None:
    async def use() -> None:
        async with in_process(desk, mode) as client:
            listed = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)
            assert len(json.dumps(listed, separators=(",", ":"))) <= TOOL_LIST_MAX
            assert all("description" in tool for tool in listed["tools"])

    anyio.run(use)


def test_empty_fields_are_left_out(desk: Desk) -> None:
    """Apart from the list or the text that was asked for."""

    def empty(values: Any) -> list[str]:
        members = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
        named = [str(name) for name, value in members if value in ("", [], {}) or value is None]
        return named + [one for _, value in members for one in empty(value)]

    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            for tool, arguments in {
                "list_sessions": {},
                "pin": {"node_id": "push to main"},
                "recall": {"query": "zebra crossing"},
                "checkpoint_session": {},
                "get_graph_stats": {},
                "search": {"text": "review"},
            }.items():
                assert empty(await told(client, tool, **arguments)) == [], tool
            assert (await told(client, "search", text="zebra"))["facts"] == []

    anyio.run(use)


def test_sessions_are_listed_with_what_they_are_about(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            await told(client, "remember", text="Move the shop to the cloud", kind="goal")
            await told(client, "remember", text="write the migration", kind="task")
            (listed,) = (await told(client, "list_sessions"))["sessions"]
            assert listed["goal"] == "Move the shop to the cloud"
            assert "title" not in listed
            assert listed["project"] == desk.session.rpartition("/")[0]
            assert listed["open_work"] >= 1
            assert datetime.fromisoformat(listed["updated"]).tzinfo is not None

    anyio.run(use)


def test_facts_are_changed_by_hand_and_changes_undone(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            found = (await told(client, "search", text="review", k=1))["facts"][0]

            async def now() -> dict[str, Any]:
                facts = (await told(client, "search", text="push to main", k=20))["facts"]
                return next(dict(fact) for fact in facts if fact["id"] == found["id"])

            for tool, more, field, value in (
                ("invalidate", {"reason": "nobody said so"}, "status", "invalidated"),
                ("archive", {}, "status", "archived"),
                (
                    "correct",
                    {"text": "Never push to main without two reviews"},
                    "label",
                    "Never push to main without two reviews",
                ),
            ):
                done = await told(client, tool, node_id=found["id"], **more)
                assert ("is rejected now" in done["text"]) == (tool == "invalidate")
                assert (await now())[field] == value
                assert f"Change {done['number']} can be undone" in done["text"]
                was = done.get("was", "")
                assert was == (found["label"] if tool == "correct" else "") and was in done["text"]
                back = await told(client, "undo", number=done["number"])
                said = f"Change {done['number']} is undone: the rule {found['label']!r} is active now"
                assert back["text"].startswith(said)
                assert back["text"].endswith(f". To make it again, undo change {back['number']}.")
                assert (await now())[field] == found[field]
            added = await told(client, "remember", text="Never log emails")
            assert (await told(client, "undo", number=added["number"]))["node_id"] == added["fact"]["id"]
            task = await told(client, "remember", text="Get the weather data", kind="task")
            completed = await told(client, "complete", node_id=task["fact"]["id"], reason="it arrived")
            assert "is completed now. Change" in completed["text"]
            assert "is pending now" in (await told(client, "undo", number=completed["number"]))["text"]
            instead = await told(client, "remember", text="We use MariaDB for the database", kind="choice")
            again = await told(client, "undo")
            assert "is replaced" not in again["text"] and "in force again: " in again["text"], (instead, again)
            pinned = await told(client, "pin", node_id=found["id"])
            assert "is active now, and pinned." in pinned["text"]
            unpinned = await told(client, "undo")
            assert unpinned["node_id"] == found["id"]
            assert "is active now, and no longer pinned." in unpinned["text"]
            assert "no change 99" in await refused(client, "undo", number=99)
            assert "no fact 'task-99'" in await refused(client, "pin", node_id="task-99")

    anyio.run(use)


def test_a_fact_that_never_was_true_is_in_no_answer_as_the_reason_of_another(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            news = await told(client, "remember", text="Bad news from the hoster")
            await told(client, "remember", text="Move to a second server", reason="Bad news from the hoster")
            await told(client, "invalidate", node_id=news["fact"]["id"], reason="misread", never_true=True)
            told_of = [
                await told(client, "resume_session", level="full"),
                await told(client, "search", text="second server", k=20),
                await told(client, "recall", query="Why a second server?", budget=400),
                await told(client, "why_decision", text="Move to a second server"),
                await told(client, "checkpoint_session"),
            ]
            spelled = desk.session.replace("/", "%2F")
            read = await client.read_resource(f"tokenmizer://sessions/{spelled}/graph")
            answers = [*map(json.dumps, told_of), read.contents[0].text]  # type: ignore[union-attr]
            assert all("second server" in one and "hoster" not in one for one in answers)

    anyio.run(use)


def test_why_says_whether_a_replacement_is_uncertain(desk: Desk) -> None:
    with closing(SessionMemory.open(desk.address, Settings(project_separator="/"))) as memory:
        memory.record("uncertain", UNCERTAIN)
        memory.record("certain", CERTAIN)

    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            for session, uncertain in (("uncertain", True), ("certain", False)):
                why = await told(client, "why_decision", text="Hetzner", session_id=session)
                assert ("(perhaps replaced) -> " in why["text"]) is uncertain

    anyio.run(use)


def test_a_fact_that_never_was_true_is_in_no_answer(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            before = await told(client, "checkpoint_session")
            done = await told(client, "invalidate", node_id="postgresql", reason="misread", never_true=True)
            assert "is withdrawn as never true" in done["text"] and "rejected" not in done["text"]
            told_of = [
                await told(client, "get_graph_stats"),
                await told(client, "resume_session", level="full"),
                await told(client, "search", text="PostgreSQL", k=20),
                await told(client, "recall", query="Which database: PostgreSQL or SQLite?", budget=400),
                await told(client, "why_decision", text="sqlite"),
                await told(client, "checkpoint_session"),
            ]
            spelled = desk.session.replace("/", "%2F")
            read = await client.read_resource(f"tokenmizer://sessions/{spelled}/graph")
            graph = json.loads(read.contents[0].text)  # type: ignore[union-attr]
            assert done["node_id"] in json.dumps(before)
            assert all("PostgreSQL" not in json.dumps(one) for one in (*told_of, graph))
            ids = {node["id"] for node in graph["nodes"]}
            assert graph["nodes"] and done["node_id"] not in ids
            assert all({edge["source"], edge["target"]} <= ids for edge in graph["edges"])
            assert all({step["old"], step["new"]} <= ids for step in graph["transitions"])
            assert told_of[0]["facts"] == len(ids)
            assert "it never was true" in await refused(client, "why_decision", text=done["node_id"])
            await told(client, "undo", number=done["number"])
            assert "PostgreSQL" in (await told(client, "resume_session"))["text"]

    anyio.run(use)


def test_changes_take_words_and_name_the_nearest_facts(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            found = (await told(client, "search", text="review", k=1))["facts"][0]
            for tool, more in (
                ("invalidate", {"reason": "x"}),
                ("archive", {}),
                ("pin", {}),
                ("correct", {"text": "y"}),
            ):
                done = await told(client, tool, node_id="push to main", **more)
                assert done["node_id"] == found["id"]
                await told(client, "undo", number=done["number"])
                sentence = await refused(client, tool, node_id="decision-99", **more)
                assert sentence.startswith("The session has no fact 'decision-99'; nearest: decision-")
                assert "\n" not in sentence and found["label"] in sentence

    anyio.run(use)


def test_arguments_are_taken_by_the_names_of_other_tools(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            (fact,) = (await told(client, "search", query="review", limit=1))["facts"]
            assert (await told(client, "search", question="review", k=1))["facts"] == [fact]
            assert (await told(client, "why_decision", query=fact["id"]))["node_id"] == fact["id"]
            assert "PostgreSQL" in (await told(client, "recall", text="Which database?"))["text"]
            for name in ("fact_id", "fact", "id"):
                assert (await told(client, "pin", **{name: fact["id"]}))["node_id"] == fact["id"]
            assert len((await told(client, "list_sessions", k=1))["sessions"]) == 1
            assert "no argument 'text'" in await refused(client, "recall", query="database", text="storage")

    anyio.run(use)


def test_a_session_is_named_by_the_only_beginning_of_its_id(desk: Desk) -> None:
    project = desk.session.rpartition("/")[0]
    with closing(SessionMemory.open(desk.address, Settings(project_separator="/"))) as memory:
        memory.record(f"{project}/tuesday-1", CHAT[:1])
        memory.record(f"{project}/tuesday-10", CHAT[:1])

    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            for given in ("mon", "monday", desk.session[:-2]):
                assert (await told(client, "resume_session", session_id=given))["session_id"] == desk.session
            for given in ("tuesday-1", "tues"):
                assert f"2 sessions begin with '{given}'" in await refused(client, "resume_session", session_id=given)
            whole = f"{project}/tuesday-1"
            assert (await told(client, "resume_session", session_id=whole))["session_id"] == whole
            whole = await refused(client, "forget_session", session_id="mon")
            assert "'mon' is no whole id: name one of " in whole and "monday" in whole

    anyio.run(use)


def test_long_work_tells_how_far_it_is(desk: Desk) -> None:
    (desk.folder / "large.log").write_text("12:00:00 INFO all is well\n" * 60_000)
    steps: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            await client.call_tool("analyze_file", {"path": "large.log"}, progress_callback=note)

    anyio.run(use)
    assert len(steps) > 3
    assert [progress for progress, _ in steps] == sorted(progress for progress, _ in steps)
    assert steps[-1] == (1_560_000, 1_560_000)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("resume_session", {"session_id": "nobody"}, "There is no such session: list_sessions names"),
        ("resume_session", {"session_id": "a\nb"}, "There is no such session"),
        ("resume_session", {"session_id": ".."}, "There is no such session"),
        ("why_decision", {"text": "unheard of zebras"}, "recall searches its messages"),
        ("forget_session", {"session_id": "nobody"}, "There is no such session"),
        ("resume_session", {"budget": 63}, "A resume needs a budget of at least 64 tokens, not 63."),
        ("resume_session", {"level": "huge"}, "level should be 'critical', 'standard' or 'full'."),
        ("resume_session", {"sesion_id": "x"}, "resume_session knows no argument 'sesion_id': it takes session_id,"),
        ("remember", {"kind": "rule"}, "remember needs text."),
        ("invalidate", {"node_id": "task-1", "reason": ""}, "reason should have at least 1 character."),
        ("remember", {"text": "\u200b"}, "needs words"),
        ("list_sessions", {"cursor": "forged"}, "cursor"),
        ("analyze_file", {"path": "missing.txt"}, "cannot be opened: No such file"),
        ("analyze_file", {"path": "."}, "is not a file"),
        ("analyze_file", {"path": "a\0b"}, "is not a path"),
        ("analyze_file", {"path": "/etc/hostname"}, "outside of what may be read"),
        ("analyze_file", {"path": "../sessions.db"}, "outside of what may be read"),
        ("analyze_file", {"path": "link"}, "outside of what may be read"),
        ("analyze_file", {"path": "pipe"}, "is not a file"),
    ],
)
def test_bad_input_is_a_sentence(desk: Desk, tool: str, arguments: Mapping[str, Any], sentence: str) -> None:
    import os

    (desk.folder / "link").symlink_to("/etc/hostname")
    os.mkfifo(desk.folder / "pipe")

    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            said = await refused(client, tool, **arguments)
            assert sentence in said
            assert "\n" not in said
            assert "--" not in said

    anyio.run(use)


NEEDED: dict[str, dict[str, Any]] = {
    "analyze_file": {"path": "orders.csv"},
    "archive": {"node_id": "decision-9"},
    "complete": {"node_id": "decision-9"},
    "correct": {"node_id": "decision-9", "text": "x"},
    "forget_session": {"session_id": "nobody"},
    "invalidate": {"node_id": "decision-9", "reason": "x"},
    "pin": {"node_id": "decision-9"},
    "recall": {"query": "x"},
    "remember": {"text": "Use Redis"},
    "search": {"text": "x"},
    "separate": {"node_id": "decision-9"},
    "why_decision": {"text": "x"},
}
"""What tools cannot be called without."""

WRONG: tuple[Any, ...] = ([1], {"a": 1}, 1.5, "x" * 5_000, "", -1, 10**30)
RAW = re.compile(
    r"--\w|\n|\b(str|int|bool|float|dict|list|NoneType|string|integer|boolean)\b|[A-Z]\w+Error|pydantic|\. \w"
)
"""What no sentence has: options of commands, names of types and errors, a second sentence."""


def bad_calls(schemas: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of each tool without arguments, with an unknown one, of unknown sessions, and with arguments of other
    types and sizes."""
    for tool, properties in schemas.items():
        needed = NEEDED.get(tool, {})
        yield from [(tool, {}), (tool, {**needed, "extra": 1}), (tool, {**needed, "session_id": "nobody"})]
        yield from ((tool, {**needed, argument: value}) for argument in properties for value in WRONG)


def test_each_bad_call_of_each_tool_is_a_sentence(desk: Desk) -> None:
    async def use() -> set[str]:
        async with in_process(desk, "legacy") as client:
            schemas = {one.name: one.input_schema["properties"] for one in (await client.list_tools()).tools}
            assert schemas.keys() == TOOLS
            results = [await client.call_tool(*call) for call in bad_calls(schemas)]
            return {one.content[0].text for one in results if one.is_error}  # type: ignore[union-attr]

    sentences = anyio.run(use)
    assert len(sentences) > 50
    assert [one for one in sentences if RAW.search(one) or not one.endswith(".")] == []


WORK_WITHOUT_A_SESSION = {"analyze_file", "get_savings_stats", "list_sessions", "remember"}


@pytest.mark.parametrize("tool", sorted(TOOLS - WORK_WITHOUT_A_SESSION))
def test_an_empty_store_is_a_sentence(tool: str, tmp_path: Path) -> None:
    async def use() -> str:
        async with in_process(Desk(tmp_path, "memory://"), "legacy") as client:
            return await refused(client, tool, **NEEDED.get(tool, {}))

    sentence = anyio.run(use)
    assert sentence.startswith(("There is no ", "Nothing was recorded "))
    assert sentence.count(". ") == 0 and sentence.endswith(".")


def test_a_locked_store_is_a_sentence(desk: Desk) -> None:
    async def use() -> str:
        async with in_process(desk, "legacy") as client:
            with closing(sqlite3.connect(desk.address.removeprefix("sqlite:///"), isolation_level=None)) as other:
                other.execute("begin exclusive")
                return await refused(client, "remember", text="Use Redis")

    sentence = anyio.run(use)
    assert sentence == "The store cannot be used at the moment: try again in a moment."


def test_remember_begins_no_session(desk: Desk) -> None:
    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            assert "no such session" in await refused(client, "remember", session_id="empty", text="Answer in French")

    anyio.run(use)


def test_secrets_of_a_file_are_not_told(desk: Desk) -> None:
    import secrets
    import string

    secret = "ghp_" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(36))
    (desk.folder / "deploy.env").write_text(f"TOKEN={secret}\nPORT=8080\n")

    async def use() -> None:
        async with in_process(desk, "2026-07-28") as client:
            assert secret not in json.dumps(await told(client, "analyze_file", path="deploy.env"))

    anyio.run(use)


def test_roots_can_be_named(desk: Desk) -> None:
    async def use() -> None:
        async with over_stdio(desk, "legacy", "--root", str(desk.folder.parent), TOKENMIZER_ROOTS="/etc") as client:
            assert (await told(client, "analyze_file", path="shop/orders.csv"))["text"]
            assert (await told(client, "analyze_file", path="/etc/hostname"))["text"]

    anyio.run(use)
