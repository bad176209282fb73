"""What each route does, through HTTP, in an application of somebody else."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from tests.uncertain import CERTAIN, UNCERTAIN
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.graph.export.formats import FORMATS
from tokenmizer_mw.server.api import api
from tokenmizer_mw.server.api.shapes import GraphQuery

from .hosts import CHAT, HOSTS, ask, starlette, who, who_later


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("authorize", [who, who_later])
def test_mounted_two_prefixes_deep(host: Any, authorize: Any, filled: SessionMemory) -> None:
    app = host(api(filled, authorize=authorize))
    answer = ask(app, "GET", "/api/resume/hall?level=full")
    assert answer.status_code == 200
    assert "PostgreSQL" in answer.json()["text"]
    assert ask(app, "GET", "/api/openapi.json").json()["servers"] == [{"url": "/desk/memory"}]
    assert ask(app, "GET", "/health").json()["status"] == "ok"
    assert ask(app, "GET", "/nothing").json()["error"]["code"] == "not_found"


def test_resume(filled: SessionMemory, app: Any) -> None:
    told = ask(app, "GET", "/api/resume/hall?budget=120&query=schema").json()
    assert (told["session_id"], told["level"], told["budget"]) == ("hall", "custom", 120)
    assert 0 < told["tokens"] <= 120
    assert "Never delete a booking" in told["text"]
    assert told["turn"] == len(CHAT)


def test_graph_and_transitions(filled: SessionMemory, app: Any) -> None:
    told = ask(app, "GET", "/api/graph/hall").json()
    assert told["graph"] == json.loads(json.dumps(filled.graph("hall", tenant="tenant-a").to_dict()))
    steps = ask(app, "GET", "/api/graph/hall/transitions").json()
    labels = {node["id"]: node["label"] for node in steps["nodes"]}
    assert any("SQLite" in labels[one["old"]] and "PostgreSQL" in labels[one["new"]] for one in steps["transitions"])


def test_history_as_recorded_and_as_valid(app: Any, memory: SessionMemory) -> None:
    memory.record("hall", CHAT[:2], tenant="tenant-a")
    (first,) = memory.sessions(tenant="tenant-a")
    memory.record("hall", CHAT, tenant="tenant-a")
    decision = memory.why("hall", "PostgreSQL", tenant="tenant-a")
    assert decision is not None
    past = first.updated_at - 3_600
    memory.date("hall", decision.node.id, valid_from=past, tenant="tenant-a")

    def decided(by: str, at: object) -> set[str]:
        told = ask(app, "GET", f"/api/graph/hall/history?at_time={at}&as={by}").json()
        assert told["as"] == by
        return {node["value"] for node in told["graph"]["nodes"] if node.get("slot") == "database"}

    assert decided("recorded", first.updated_at) == {"sqlite"}
    assert decided("valid", past + 60) == {"postgresql"}
    assert decided("recorded", past) == set()
    for later in ("2999-01-01T00:00:00Z", "9999-12-30T00:00:00Z", 253402300798):
        assert decided("recorded", later) == {"sqlite", "postgresql"}
        assert decided("valid", later) == {"postgresql"}


def test_history_after_a_message(app: Any, memory: SessionMemory) -> None:
    memory.record("hall", CHAT, tenant="tenant-a")
    for number in range(1, len(CHAT) + 1):
        answer = ask(app, "GET", f"/api/graph/hall?message={number}").json()
        expected = memory.graph("hall", message=number, tenant="tenant-a").to_dict()
        assert answer["graph"] == json.loads(json.dumps(expected))
    assert "PostgreSQL" not in ask(app, "GET", "/api/graph/hall?message=1&format=markdown").text
    late = ask(app, "GET", "/api/graph/hall?message=99")
    assert (late.status_code, late.json()["error"]["code"]) == (404, "unknown_message")


@pytest.mark.parametrize("format", FORMATS)
def test_the_graph_as_a_file(filled: SessionMemory, app: Any, format: str) -> None:
    answer = ask(app, "GET", f"/api/graph/hall?format={format}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == FORMATS[format].media_type
    assert answer.headers["content-disposition"] == f'attachment; filename="session-graph{FORMATS[format].suffix}"'
    assert answer.headers["content-security-policy"] == "sandbox"
    assert answer.text == filled.export("hall", format, tenant="tenant-a")
    assert "PostgreSQL" in answer.text


def test_a_file_of_a_graph_is_refused_where_it_has_to_be(filled: SessionMemory, app: Any) -> None:
    assert ask(app, "GET", "/api/graph/hall?format=json").json() == ask(app, "GET", "/api/graph/hall").json()
    assert ask(app, "GET", "/api/graph/hall?format=pdf").json()["error"]["field"] == "format"
    assert ask(app, "GET", "/api/graph/hall?format=html", token="b").status_code == 404


def test_the_formats_of_the_route_are_those_that_there_are() -> None:
    assert get_args(GraphQuery.model_fields["format"].annotation) == ("json", *FORMATS)


def test_why_and_search(filled: SessionMemory, app: Any) -> None:
    told = ask(app, "GET", "/api/graph/hall/why?text=PostgreSQL").json()
    assert told["node"]["value"] == "postgresql"
    assert [step["from"]["value"] for step in told["chain"]] == ["sqlite"]
    assert "SQLite" in told["text"]
    hits = ask(app, "GET", "/api/graph/hall/search?text=database&k=2").json()["hits"]
    assert len(hits) == 2
    assert {hit["node"]["value"] for hit in hits} == {"sqlite", "postgresql"}
    assert hits[0]["score"] >= hits[1]["score"] > 0
    assert ask(app, "GET", "/api/graph/hall/why?text=zebra").json()["error"]["code"] == "unknown_node"
    near = ask(app, "GET", "/api/graph/hall/why?text=the+zebra+table+in+the+hall+of+mirrors").json()["error"]["message"]
    assert near.startswith("The session has no such fact; nearest: ")


def test_why_says_whether_a_replacement_is_uncertain(app: Any, memory: SessionMemory) -> None:
    for session, chat in (("uncertain", UNCERTAIN), ("certain", CERTAIN)):
        memory.record(session, chat, tenant="tenant-a")
        told = ask(app, "GET", f"/api/graph/{session}/why?text=Hetzner").json()
        assert ("(perhaps replaced) -> " in told["text"]) is (session == "uncertain")
        assert [step["replaces_perhaps"] for step in told["chain"]] == [session == "uncertain"]
        (heir,) = ask(app, "GET", f"/api/graph/{session}/why?text=decision-1").json()["successors"]
        assert heir["replaces_perhaps"] is (session == "uncertain")


def test_checkpoints_and_what_changed_between_them(app: Any, memory: SessionMemory) -> None:
    memory.record("hall", CHAT[:2], tenant="tenant-a")
    first = ask(app, "POST", "/api/checkpoint", body={"session_id": "hall"})
    assert first.status_code == 201
    memory.record("hall", CHAT, tenant="tenant-a")
    second = ask(app, "POST", "/api/checkpoint", body={"session_id": "hall"}).json()
    marks = ask(app, "GET", "/api/checkpoints/hall").json()["checkpoints"]
    assert [(mark["id"], mark["seq"]) for mark in marks] == [
        ("checkpoint-1", first.json()["seq"]),
        ("checkpoint-2", second["seq"]),
    ]
    by_name = ask(app, "GET", "/api/graph/hall/diff?from=checkpoint-1&to=checkpoint-2").json()
    by_number = ask(app, "GET", f"/api/graph/hall/diff?from={marks[0]['seq']}&to={marks[1]['seq']}").json()
    assert by_name == by_number
    assert by_name["diff"] == second["diff"]
    assert [old["value"] for old, _ in by_name["diff"]["changed"]] == ["sqlite"]
    assert ask(app, "GET", "/api/graph/hall/diff").json()["to"] == second["seq"]
    unknown = ask(app, "GET", "/api/graph/hall/diff?from=checkpoint-9")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_checkpoint")


@pytest.mark.usefixtures("filled")
def test_remember(app: Any) -> None:
    body = {"session_id": "hall", "text": "Answer in French", "reason": "the village is in France"}
    told = ask(app, "POST", "/api/remember", body=body)
    assert told.status_code == 201
    assert told.json()["node"]["label"] == "Answer in French"
    assert "Answer in French" in ask(app, "GET", "/api/resume/hall").json()["text"]
    back = ask(app, "POST", "/api/undo", body={"session_id": "hall", "number": told.json()["number"]}).json()
    assert back["node"]["status"] == "archived"
    assert ask(app, "POST", "/api/remember", body=body).json()["number"] == back["number"] + 1
    new = {**body, "session_id": "a new one"}
    assert ask(app, "POST", "/api/remember", body=new).status_code == 404
    assert ask(app, "POST", "/api/remember", body={**new, "create": True}).status_code == 201
    assert ask(app, "POST", "/api/remember", body={**body, "kind": "poem"}).status_code == 422
    assert ask(app, "POST", "/api/remember", body={**body, "text": "\u200b"}).status_code == 422


def test_invalidate(filled: SessionMemory, app: Any) -> None:
    node = ask(app, "GET", "/api/graph/hall/why?text=PostgreSQL").json()["node"]
    body = {"session_id": "hall", "node_id": node["id"], "reason": "the hall has no server"}
    told = ask(app, "POST", "/api/invalidate", body=body).json()
    assert told["node"]["status"] == "invalidated"
    assert "the hall has no server" in ask(app, "GET", "/api/resume/hall?level=full").json()["text"]
    unknown = ask(app, "POST", "/api/invalidate", body={**body, "node_id": "decision-99"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_node")


@pytest.mark.usefixtures("filled")
def test_a_fact_that_never_was_true_is_in_no_block(app: Any) -> None:
    body = {"session_id": "hall", "node_id": "postgresql", "reason": "misread", "never_true": True}
    told = ask(app, "POST", "/api/invalidate", body=body).json()
    assert (told["node"]["status"], told["node"]["confidence"], told["number"]) == ("invalidated", 0.0, 1)
    assert "PostgreSQL" not in ask(app, "GET", "/api/resume/hall?level=full").json()["text"]
    why = ask(app, "GET", "/api/graph/hall/why?text=postgresql").json()
    assert "withdrawn as never true by hand (change 1): misread" in why["text"]
    assert ask(app, "GET", "/api/graph/hall/why?text=sqlite").json()["chain"] == []
    assert ask(app, "POST", "/api/invalidate", body={**body, "never_true": "perhaps"}).status_code == 422


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("route", "more"),
    [("invalidate", {"reason": "wrong"}), ("archive", {}), ("pin", {}), ("correct", {"text": "We use MariaDB"})],
)
def test_a_fact_is_named_as_in_the_library(app: Any, route: str, more: dict[str, str]) -> None:
    node = ask(app, "GET", "/api/graph/hall/why?text=PostgreSQL").json()["node"]
    for named in (node["id"], node["label"], "postgresql", "the database of the hall"):
        told = ask(app, "POST", f"/api/{route}", body={"session_id": "hall", "node_id": named, **more})
        assert told.json()["node"]["id"] == node["id"], told.text
        ask(app, "POST", "/api/undo", body={"session_id": "hall", "number": told.json()["number"]})
    unknown = ask(app, "POST", f"/api/{route}", body={"session_id": "hall", "node_id": "decision-99", **more})
    error = unknown.json()["error"]
    assert (unknown.status_code, error["code"], error["field"]) == (404, "unknown_node", "node_id")
    assert error["message"].startswith("The session has no fact 'decision-99'; nearest: ")
    assert "Never delete a booking" in error["message"]


@pytest.mark.usefixtures("filled")
def test_explanations_and_recall_say_when_messages_were_recorded(app: Any) -> None:
    why = ask(app, "GET", "/api/graph/hall/why?text=PostgreSQL").json()
    assert {str(why["node"]["source"]["turn"]), str(why["chain"][0]["transition"]["trigger"])} == why["times"].keys()
    recalled = ask(app, "GET", "/api/recall/hall?query=What%20locks%20under%20load%3F").json()
    assert list(recalled["times"]) == [str(number) for number in recalled["messages"]] != []
    listed = ask(app, "GET", "/api/sessions").json()["sessions"][0]
    times = [*why["times"].values(), *recalled["times"].values()]
    assert all(listed["created_at"] <= time <= listed["updated_at"] for time in times)


@pytest.mark.usefixtures("filled")
def test_every_change_by_hand_has_a_number_and_can_be_undone(app: Any) -> None:
    node = ask(app, "GET", "/api/graph/hall/why?text=PostgreSQL").json()["node"]
    named = {"session_id": "hall", "node_id": node["id"]}

    def change(route: str, **more: Any) -> dict[str, Any]:
        answer = ask(app, "POST", f"/api/{route}", body={**named, **more})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    assert change("pin")["node"]["pinned"] is True
    corrected = change("correct", text="Use MariaDB")
    assert (corrected["node"]["label"], corrected["before"]) == ("Use MariaDB", {"label": node["label"]})
    done = change("archive", reason="the hall is closed")
    assert done["node"]["status"] == "archived"
    undone = ask(app, "POST", "/api/undo", body={"session_id": "hall", "number": done["number"]}).json()
    assert undone["node"]["status"] == node["status"]
    assert undone["number"] == done["number"] + 1
    assert undone["before"] == {"status": "archived"}
    assert change("pin")["number"] == 0, "it was pinned already"
    newest = ask(app, "POST", "/api/undo", body={"session_id": "hall"}).json()
    assert newest["node"]["label"] == node["label"], "the correction is the newest change in force"
    assert newest["number"] == undone["number"] + 1
    assert ask(app, "POST", "/api/archive", body={**named, "node_id": "task-99"}).status_code == 404
    assert ask(app, "POST", "/api/complete", body=named).status_code in (409, 422), "it is a decision"
    added = ask(app, "POST", "/api/remember", body={"session_id": "hall", "text": "Sweep the hall", "kind": "task"})
    completed = change("complete", node_id=added.json()["node"]["id"], reason="swept")
    assert (completed["node"]["status"], completed["before"]) == ("completed", {"status": "pending"})
    unknown = ask(app, "POST", "/api/undo", body={"session_id": "hall", "number": 99})
    assert unknown.status_code in (409, 422)
    assert unknown.json()["error"]["message"] == "The session has no change 99."
    assert ask(app, "POST", "/api/pin", body={**named, "session_id": "nobody"}).status_code == 404


@pytest.mark.usefixtures("filled")
def test_recall_answers_within_its_budget(app: Any) -> None:
    told = ask(app, "GET", "/api/recall/hall?query=Which%20database%3F&budget=60").json()
    assert "PostgreSQL" in told["text"]
    assert told["tokens"] <= 60
    assert ask(app, "GET", "/api/recall/hall").status_code == 422


@pytest.mark.usefixtures("filled")
def test_sessions_with_details(app: Any) -> None:
    (plain,) = ask(app, "GET", "/api/sessions").json()["sessions"]
    assert "goal" not in plain
    (listed,) = ask(app, "GET", "/api/sessions?details=true").json()["sessions"]
    assert listed["open_work"] >= 0
    assert isinstance(listed["goal"], str)


def test_forget(filled: SessionMemory, app: Any) -> None:
    events = len(filled.log.read(filled.sessions(tenant="tenant-a")[0].key))
    told = ask(app, "DELETE", "/api/sessions/hall").json()
    assert told == {"session_id": "hall", "events": events, "backups": 0}
    assert filled.sessions(tenant="tenant-a") == []
    assert ask(app, "DELETE", "/api/sessions/hall").status_code == 404


def test_an_export_imported_elsewhere_gives_the_same_graph(filled: SessionMemory, app: Any) -> None:
    exported = ask(app, "GET", "/api/sessions/hall/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    lines = {"content-type": "application/x-ndjson; charset=utf-8"}
    done = ask(app, "POST", "/api/sessions/copy/import", token="b", raw=exported.content, headers=lines)
    assert done.status_code == 201
    events = exported.content.count(b"\n") - 1
    assert done.json() == {"session_id": "copy", "what": "events", "count": events, "new": events}
    told = ask(app, "GET", "/api/graph/copy", token="b").json()["graph"]
    assert told == ask(app, "GET", "/api/graph/hall").json()["graph"]
    again = ask(app, "POST", "/api/sessions/copy/import", token="b", raw=exported.content, headers=lines)
    assert again.json()["new"] == 0


def test_messages_are_imported_and_what_differs_is_refused(filled: SessionMemory, app: Any) -> None:
    done = ask(app, "POST", "/api/sessions/new/import", body=CHAT)
    assert done.json() == {"session_id": "new", "what": "messages", "count": 5, "new": 5}
    assert ask(app, "GET", "/api/graph/new").json()["graph"] == ask(app, "GET", "/api/graph/hall").json()["graph"]
    exported = ask(app, "GET", "/api/sessions/hall/export").content
    ask(app, "POST", "/api/sessions/other/import", body=CHAT[2:])
    refused = ask(
        app, "POST", "/api/sessions/other/import", raw=exported, headers={"content-type": "application/x-ndjson"}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "session_differs")


def test_sessions_page_by_page(small: SessionMemory) -> None:
    app = starlette(api(small, authorize=who))
    for number in range(7):
        small.record(f"s/{number}", CHAT[:1], tenant="tenant-a")
    small.record("theirs", CHAT[:1], tenant="tenant-b")
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = ask(app, "GET", f"/api/sessions?limit=100{cursor}").json()
        seen += [one["session_id"] for one in page["sessions"]]
        cursor = f"&cursor={page['next']}"
    assert page["next"] is None
    assert seen == [f"s/{number}" for number in reversed(range(7))]
    assert ask(app, "GET", "/api/sessions?limit=2").json()["next"]


def test_stats(filled: SessionMemory, app: Any) -> None:
    told = ask(app, "GET", "/api/stats").json()
    assert told["sessions"] == 1 and told["oldest"] <= told["newest"]
    assert "counters" not in told
    assert "counters" in ask(app, "GET", "/api/stats", token="admin").json()
    others = ask(app, "GET", "/api/stats", token="b").json()
    assert others.pop("savings")["calls"] == 0
    assert others == {
        "sessions": 0,
        "events": 0,
        "oldest": None,
        "newest": None,
    }


@pytest.mark.usefixtures("filled")
def test_a_correction_takes_the_names_of_the_library_and_the_command_line(app: Any) -> None:
    body = {"session_id": "hall", "node_id": "PostgreSQL"}
    told = ask(app, "POST", "/api/correct", body={**body, "label": "We use MariaDB", "because": "it is there"}).json()
    assert (told["node"]["label"], told["node"]["detail"]) == ("We use MariaDB", "it is there")
    error = ask(app, "POST", "/api/correct", body={**body, "words": "We use MariaDB"}).json()["error"]
    assert error["field"] == "words"
    assert error["message"] == (
        "words: there is no such field; the fields are: session_id, node_id, text, detail, reason."
    )
    error = ask(app, "GET", "/api/graph/hall/diff?begin=0").json()["error"]
    assert error["message"] == "begin: there is no such field; the fields are: from, to."


@pytest.mark.usefixtures("filled")
def test_the_list_of_edits_has_the_numbers_for_undo(app: Any) -> None:
    assert ask(app, "GET", "/api/edits/hall").json() == {"session_id": "hall", "edits": []}
    body = {"session_id": "hall", "node_id": "PostgreSQL"}
    ask(app, "POST", "/api/correct", body={**body, "text": "We use MariaDB", "reason": "misread"})
    ask(app, "POST", "/api/undo", body={"session_id": "hall"})
    corrected, undo = ask(app, "GET", "/api/edits/hall").json()["edits"]
    assert (corrected["number"], corrected["operation"], corrected["reason"]) == (1, "correct", "misread")
    assert corrected["after"]["label"] == "We use MariaDB"
    assert (corrected["undone"], corrected["undoes"]) == (True, 0)
    assert (undo["number"], undo["operation"], undo["undoes"], undo["undone"]) == (2, "undo", 1, False)


def test_messages_word_for_word_and_page_by_page(app: Any, memory: SessionMemory) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    tools = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "locked"},
    ]
    memory.record("hall", [*CHAT, *tools], tenant="tenant-a")
    told = ask(app, "GET", "/api/messages/hall").json()
    assert told["next"] is None
    assert [one["number"] for one in told["messages"]] == list(range(1, len(CHAT) + 3))
    assert [one["text"] for one in told["messages"][: len(CHAT)]] == [one["content"] for one in CHAT]
    assert told["messages"][0].keys() == {"number", "role", "text", "recorded_at"}
    assert told["messages"][-2]["tool_calls"] == [{"id": "c1", "name": "look", "arguments": "{}"}]
    assert told["messages"][-1]["tool_results"] == [{"call_id": "c1", "text": "locked", "is_error": False}]
    page = ask(app, "GET", "/api/messages/hall?after=2&limit=2").json()
    assert ([one["number"] for one in page["messages"]], page["next"]) == ([3, 4], 4)
    assert ask(app, "GET", "/api/messages/hall?after=99").json()["messages"] == []
    assert ask(app, "GET", "/api/messages/hall?after=-1").status_code == 422


def test_the_loss_report_is_that_of_the_library(app: Any, memory: SessionMemory) -> None:
    memory.record("hall", CHAT, tenant="tenant-a")
    told = ask(app, "GET", "/api/loss-report/hall").json()
    assert told == {"session_id": "hall", **memory.loss_report("hall", tenant="tenant-a").to_dict()}
    assert told["checkpoint"] == ""
