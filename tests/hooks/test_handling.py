"""What events do to a memory, without the processes around it."""

from __future__ import annotations

import json
import os
import re
import secrets
import string
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.operations.test_agent_transcripts import assistant, cut, handed_out, lines, said, user
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.agents.hooks.events import project_named, read_event, root_of
from tokenmizer_mw.agents.hooks.handling import Hooks
from tokenmizer_mw.cli import main
from tokenmizer_mw.model.event import Checkpointed, Derived, MessageRecorded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.operations.imports import import_into
from tokenmizer_mw.operations.transcripts import read_transcript


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    found = SessionMemory.open("memory://", Settings(project_separator="/"))
    yield found
    found.close()


class Host:
    """A session of a host with its transcript."""

    def __init__(self, memory: SessionMemory, folder: Path, name: str = "one") -> None:
        self.memory = memory
        self.folder = folder
        self.name = name
        self.transcript = folder / f"{name}.jsonl"
        self.now = 0.0
        self.hooks = Hooks(memory, notes=folder / "notes", pending=folder / "pending", clock=lambda: self.now)

    def write(self, *values: object) -> None:
        with self.transcript.open("ab") as file:
            file.write(lines(*values))

    def event(self, name: str, host: str = "claude-code", **more: Any) -> str:
        told = {"session_id": self.name, "transcript_path": str(self.transcript), "cwd": str(self.folder), **more}
        answer = self.hooks.handle(read_event(name, host, json.dumps(told).encode()))
        self.hooks.finish()
        return answer

    @property
    def session(self) -> str:
        return f"{project_named(str(self.folder))}/{self.name}"

    @property
    def key(self) -> SessionKey:
        return SessionKey(LOCAL_TENANT, self.session)

    def recorded(self) -> list[str]:
        events = [item.event for item in self.memory.log.read(self.key)]
        return [event.message.text for event in events if isinstance(event, MessageRecorded)]

    def marks(self) -> int:
        return sum(isinstance(item.event, Checkpointed) for item in self.memory.log.read(self.key))


@pytest.fixture
def host(memory: SessionMemory, tmp_path: Path) -> Host:
    return Host(memory, tmp_path)


def context(answer: str) -> str:
    told = json.loads(answer)["hookSpecificOutput"]
    assert told["hookEventName"] in ("SessionStart", "UserPromptSubmit")
    return str(told["additionalContext"])


def turns(count: int, start: int = 0) -> list[object]:
    pairs = (
        (user(f"Question {number}?"), assistant(said(f"Answer {number}."))) for number in range(start, start + count)
    )
    return [line for pair in pairs for line in pair]


def test_a_transcript_is_recorded_once_however_often_it_is_told(host: Host) -> None:
    host.write(*turns(30))
    for _ in range(3):
        assert host.event("stop") == ""
    assert len(host.recorded()) == 60
    host.write(*turns(1, 30), user("yes"), assistant(said("Done.")), user("yes"), assistant(said("Done.")))
    host.event("stop")
    host.event("sessionend")
    assert host.recorded()[58:] == ["Question 29?", "Answer 29.", "Question 30?", "Answer 30.", *["yes", "Done."] * 2]


def test_another_process_goes_on_where_the_one_before_stopped(host: Host) -> None:
    host.write(*turns(20))
    host.event("stop")
    for step in range(20, 26):
        host.write(*turns(1, step))
        Host(host.memory, host.folder).event("stop")
    assert len(host.recorded()) == 52


def test_without_its_notes_it_records_nothing_twice(host: Host) -> None:
    host.write(*turns(250))
    host.event("stop")
    for note in (host.folder / "notes").iterdir():
        note.write_text("{}")
    Host(host.memory, host.folder).event("stop")
    assert len(host.recorded()) == 500


def test_a_long_transcript_is_read_piece_by_piece(tmp_path: Path) -> None:
    with closing(SessionMemory.open("memory://", Settings(project_separator="/", transcript_max=2_000))) as memory:
        host = Host(memory, tmp_path)
        host.write(*turns(60), user("x" * 5_000), *turns(30, 60))
        host.event("stop")
        host.event("stop")
        said = [text for text in host.recorded() if not text.startswith("x")]
    assert said == [
        f"{word} {number}{mark}" for number in range(90) for word, mark in (("Question", "?"), ("Answer", "."))
    ]


def test_only_what_is_new_is_read(host: Host) -> None:
    host.write(*turns(200))
    host.event("stop")
    raw = host.transcript.read_bytes()
    host.transcript.write_bytes(raw.replace(b"Answer 150.", b"Unseen 150."))
    host.write(*turns(1, 200))
    host.event("stop")
    assert host.recorded()[-2:] == ["Question 200?", "Answer 200."]
    assert "Unseen 150." not in host.recorded()


def test_a_transcript_that_was_written_anew_is_read_anew(host: Host) -> None:
    host.write(*turns(20))
    host.event("stop")
    host.transcript.write_bytes(lines(user("Another beginning."), assistant(said("Well."))))
    host.event("stop")
    assert host.recorded()[-2:] == ["Another beginning.", "Well."]


def test_a_compaction_is_marked_once(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine.")))
    assert "tokenmizer-mw keeps" in host.event("precompact", trigger="manual")
    assert "tokenmizer-mw keeps" in host.event("precompact", trigger="auto")
    assert host.marks() == 1
    host.write(user("Never push to main."))
    host.event("precompact", trigger="auto")
    assert host.marks() == 2
    assert host.event("precompact", host="codex") == ""


def test_the_block_comes_after_a_compaction(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine.")))
    host.event("precompact")
    block = context(host.event("sessionstart", source="compact"))
    assert "PostgreSQL" in block
    assert host.event("userpromptsubmit", prompt="Go on.") == ""


def test_the_block_is_never_handed_out_twice(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine."), uuid="a1"))
    block = context(host.event("sessionstart", source="resume"))
    host.write(handed_out_block(block))
    assert host.event("sessionstart", source="resume") == ""
    assert host.event("sessionstart", source="compact") == ""
    host.write(cut("a1", "b1"))
    assert host.event("userpromptsubmit", prompt="Go on.") == ""
    assert not (host.folder / "pending").exists()


def test_a_block_that_did_not_survive_comes_with_the_next_prompt(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine."), uuid="a1"))
    block = context(host.event("sessionstart", source="resume"))
    host.write(handed_out_block(block))
    assert host.event("sessionstart", source="compact") == ""
    host.write(cut("a1"))
    assert context(host.event("userpromptsubmit", prompt="Go on.")) == block
    assert host.event("userpromptsubmit", prompt="And then?") == ""


def test_a_host_that_did_not_wait_is_told_with_the_next_prompt(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine.")), cut())
    told = {"session_id": host.name, "transcript_path": str(host.transcript), "cwd": str(host.folder)}
    event = read_event("sessionstart", "claude-code", json.dumps(told | {"source": "compact"}).encode())
    host.hooks.note_unanswered(event, host.hooks.handle(event))
    assert "PostgreSQL" in context(host.event("userpromptsubmit", prompt="Go on."))


def test_two_configurations_that_start_us_side_by_side_get_one_block(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine.")))
    host.event("stop")
    assert "PostgreSQL" in context(host.event("sessionstart", source="resume"))
    assert host.event("sessionstart", source="resume") == ""
    host.now += 60.0
    assert "PostgreSQL" in context(host.event("sessionstart", source="resume"))
    host.event("sessionend")
    assert "PostgreSQL" in context(host.event("sessionstart", source="resume"))
    host.write(*turns(1))
    assert "PostgreSQL" in context(host.event("sessionstart", source="resume"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_transcript_that_is_no_file_stops_nobody(host: Host) -> None:
    pipe = host.folder / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero", str(host.folder)):
        assert host.event("stop", transcript_path=path, last_assistant_message=f"From {path}.") == ""
        host.event("sessionstart", transcript_path=path, source="resume")
    assert len(host.recorded()) == 3


@pytest.mark.parametrize("path", ["with\0null.jsonl", "half of a pair \ud800.jsonl"])
def test_a_path_that_no_file_can_have_stops_nobody(host: Host, path: str) -> None:
    host.event("userpromptsubmit", transcript_path=path, prompt="We decided on PostgreSQL for the orders.")
    assert "PostgreSQL" in context(host.event("sessionstart", transcript_path=path, source="resume"))
    assert len(host.recorded()) == 1


def test_a_compaction_waits_for_no_facts(tmp_path: Path) -> None:
    """Its messages are durable when the host has its answer; facts and the mark come behind it."""
    pause = Settings(project_separator="/", extract_pause_seconds=60, extract_wait_seconds=600)
    memory = SessionMemory.open("memory://", pause)
    host = Host(memory, tmp_path)
    host.write(user("We use PostgreSQL for the orders."), *turns(150))
    told = {"session_id": host.name, "transcript_path": str(host.transcript), "cwd": str(host.folder)}
    assert "keeps" in host.hooks.handle(read_event("precompact", "claude-code", json.dumps(told).encode()))
    assert len(host.recorded()) == 301
    assert not any(isinstance(item.event, Derived) for item in memory.log.read(host.key))
    assert host.marks() == 0
    host.hooks.finish()
    assert any(isinstance(item.event, Derived) for item in memory.log.read(host.key))
    assert host.marks() == 1
    memory.close()


def handed_out_block(block: str) -> dict[str, Any]:
    line = handed_out()
    line["attachment"]["content"] = [block]
    return line


def test_a_new_session_is_told_what_the_project_knows(memory: SessionMemory, host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders. Never push to main."), assistant(said("Fine.")))
    host.event("stop")
    block = context(Host(memory, host.folder, "two").event("sessionstart", source="startup"))
    assert "Never push to main" in block
    elsewhere = host.folder / "elsewhere"
    elsewhere.mkdir()
    assert Host(memory, elsewhere, "three").event("sessionstart", source="startup") == ""


def test_a_session_stays_itself_when_the_agent_goes_elsewhere(memory: SessionMemory, host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."))
    host.event("stop")
    host.write(assistant(said("Fine.")))
    Host(memory, host.folder).event("stop", cwd=str(host.folder / "deeper"))
    assert [info.key.id for info in memory.sessions()] == [host.session]
    assert len(host.recorded()) == 2


def test_events_carry_words_where_there_is_no_transcript(host: Host) -> None:
    for _ in range(2):
        host.event("userpromptsubmit", transcript_path=None, prompt="We use PostgreSQL for the orders.")
    host.event("stop", transcript_path="/nowhere/at/all.jsonl", last_assistant_message="Fine.")
    host.event("userpromptsubmit", transcript_path="", prompt="yes")
    host.event("stop", transcript_path="", last_assistant_message="Done.")
    host.event("userpromptsubmit", transcript_path="", prompt="yes")
    assert host.recorded() == ["We use PostgreSQL for the orders.", "Fine.", "yes", "Done.", "yes"]


def test_secrets_of_a_transcript_are_not_kept(host: Host) -> None:
    secret = "sk-proj-" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(48))
    host.write(user(f"The key is {secret}"), assistant(said("Fine.")))
    host.event("stop")
    host.event("stop")
    assert len(host.recorded()) == 2
    assert secret not in "".join(host.recorded())
    kept = b"".join(path.read_bytes() for path in (host.folder / "notes").iterdir())
    assert secret.encode() not in kept
    assert b"The key is" not in kept
    assert secret.encode().hex().encode() not in kept


def test_events_that_say_nothing_change_nothing(host: Host) -> None:
    assert host.hooks.handle(read_event("stop", "claude-code", b"{}")) == ""
    assert host.event("an event of next year") == ""
    assert host.event("sessionstart", source="startup") == ""
    assert host.event("precompact") == ""
    assert host.event("sessionstart", source=["compact"], session_id=7) == ""
    assert host.memory.sessions() == []
    with pytest.raises(ValueError, match="not a JSON object"):
        read_event("stop", "claude-code", b"[]")


def test_vs_code_and_cursor_spell_it_their_way(host: Host) -> None:
    host.write(user("We use PostgreSQL for the orders."), assistant(said("Fine.")))
    told = {"sessionId": "one", "session_id": None}
    assert "PostgreSQL" in context(host.event("sessionstart", host="vscode", source="resume", **told))
    told = {"conversation_id": "two", "session_id": None}
    spelled = json.loads(host.event("sessionstart", host="cursor", **told))
    assert "PostgreSQL" in spelled["additional_context"]


def written_at(start: float) -> list[object]:
    """A transcript whose lines were written at ``start`` and after it."""
    said_then = (
        user("We use SQLite for the orders."),
        assistant(said("Fine.")),
        user("Switch from SQLite to PostgreSQL because of locks."),
        assistant(said("PostgreSQL it is.")),
    )
    moments = [datetime.fromtimestamp(start + 60.0 * step, UTC).isoformat() for step in range(len(said_then))]
    return [{**line, "timestamp": moment} for line, moment in zip(said_then, moments, strict=True)]


@pytest.mark.parametrize("event", ["sessionstart", "stop", "userpromptsubmit"])
def test_lines_of_long_ago_have_their_own_times(memory: SessionMemory, host: Host, event: str) -> None:
    start = float(int(time.time()) - 20 * 86_400)
    host.write(*written_at(start))
    Host(memory, host.folder, "two").event("stop", transcript_path="", last_assistant_message="Hello.")
    host.event(event, source="resume")
    assert [info.key.id.partition("/")[2] for info in memory.sessions()] == ["two", "one"]

    values = [recorded for recorded in memory.log.read(host.key) if isinstance(recorded.event, MessageRecorded)]
    assert [recorded.recorded_at - start for recorded in values] == [0.0, 60.0, 120.0, 180.0]
    graph = memory.graph(host.session)
    added = {node.label: graph.life(node.id).added - start for node in graph.nodes("decision")}
    assert sorted(added.values()) == [0.0, 120.0]

    with closing(SessionMemory.open("memory://")) as other:
        transcript = read_transcript(host.transcript.read_bytes(), "one.jsonl")
        import_into(other, host.key, transcript, now=time.time())
        imported = other.graph(host.session)
    assert added == {node.label: imported.life(node.id).added - start for node in imported.nodes("decision")}


def test_new_lines_have_the_time_of_the_hook(memory: SessionMemory, host: Host) -> None:
    """Known lines of long ago, which are read again to find where new ones go on, change nothing of that."""
    host.write(*written_at(time.time() - 20 * 86_400))
    host.event("stop")
    host.write(user("Never push to main."))
    host.event("stop")
    assert len(host.recorded()) == 5
    assert memory.log.read(host.key)[-1].recorded_at > time.time() - 60.0


def test_a_compaction_of_a_session_from_before_the_hooks_waits_for_no_facts(memory: SessionMemory, host: Host) -> None:
    start = float(int(time.time()) - 20 * 86_400)
    host.write(*written_at(start))
    told = {"session_id": host.name, "transcript_path": str(host.transcript), "cwd": str(host.folder)}
    assert "keeps" in host.hooks.handle(read_event("precompact", "claude-code", json.dumps(told).encode()))
    values = [recorded for recorded in memory.log.read(host.key) if isinstance(recorded.event, MessageRecorded)]
    assert [recorded.recorded_at - start for recorded in values] == [0.0, 60.0, 120.0, 180.0]
    host.hooks.finish()
    graph = memory.graph(host.session)
    assert sorted(graph.life(node.id).added - start for node in graph.nodes("decision")) == [0.0, 120.0]
    assert host.marks() == 1


def test_the_rules_on_the_page_are_read_as_rules(host: Host) -> None:
    page = (Path(__file__).parents[2] / "docs" / "coding-agents.md").read_text(encoding="utf-8")
    (paragraph,) = (
        one for one in page.split("\n\n") if one.startswith("A sentence of yours is recorded as a standing rule")
    )
    rules, _, other = paragraph.partition("([library.md]")
    sentences = re.findall(r'"([^"]+)"', rules)
    assert len(sentences) == 5
    host.write(*(line for sentence in sentences for line in (user(f"{sentence}."), assistant(said("Fine.")))))
    host.event("stop")
    assert len(host.memory.graph(host.session).nodes("rule")) == 5
    host.write(user(re.findall(r'"([^"]+)"', other)[0]), assistant(said("Fine.")))
    host.event("stop")
    assert len(host.memory.graph(host.session).nodes("rule")) == 5


def test_the_project_is_where_the_repository_is(tmp_path: Path) -> None:
    deep = tmp_path / "shop" / "src" / "orders"
    deep.mkdir(parents=True)
    assert root_of(str(deep)) == str(deep)
    (tmp_path / "shop" / ".git").mkdir()
    assert root_of(str(deep)) == str(tmp_path / "shop")
    assert project_named("/") != project_named("/root") != ""


def test_a_session_that_a_proxy_has_recorded_is_gone_on_with(host: Host) -> None:
    """The proxy knows the host's id alone: what its hooks say joins the session that is there."""
    host.memory.record(host.name, [{"role": "user", "content": "Use PostgreSQL."}])
    host.write(user("Use PostgreSQL."), assistant(said("Understood.")))
    host.event("stop")
    assert [info.key.id for info in host.memory.sessions()] == [host.name]
    assert [one.message.text for one in host.memory.messages(host.name)] == ["Use PostgreSQL.", "Understood."]


def test_a_transcript_that_the_hooks_recorded_is_no_second_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, store = "6d0c5a1e-4b0f-4c7e-9d55-0a7b3c1f2e4d", f"sqlite:///{tmp_path / 'chat.db'}"
    with SessionMemory.open(store, Settings(project_separator="/")) as memory:
        host = Host(memory, tmp_path, name)
        host.write({"type": "summary", "summary": "a plan", "leafUuid": "b1"}, *turns(3))
        host.event("stop")
    session = host.session

    def imported() -> str:
        assert main(["import", str(host.transcript), "--store", store]) == 0
        return capsys.readouterr().out

    assert imported().startswith(f"session {session}: 6 messages, 0 new, ")
    assert imported().endswith("; all of it was recorded before\n")
    host.write(*turns(2, start=3))
    assert f"session {session}: 10 messages, 4 new, " in (done := imported())
    assert done.endswith("; the rest was recorded before\n")
    with SessionMemory.open(store) as memory:
        assert [info.id for info in memory.sessions()] == [session]
