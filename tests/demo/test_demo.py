"""The whole demonstration, as a person starts it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.services import run_without
from tokenmizer_mw.cli.demo.app import StartedResponse, create_app, serve_app
from tokenmizer_mw.cli.demo.script import ScriptTurn, load_script
from tokenmizer_mw.cli.demo.scripted_model import MODEL, ScriptedModel
from tokenmizer_mw.cli.running import parser
from tokenmizer_mw.context.tokens import MessageCounter, counter_for
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, MessageRecorded
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.open import open_log


def program(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "tokenmizer_mw", *arguments]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COLUMNS"))}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=plain | environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder: Path) -> subprocess.CompletedProcess[str]:
    return program("demo", "--fast", "--keep", str(folder))


@pytest.fixture
def shown(demo: subprocess.CompletedProcess[str]) -> str:
    return demo.stdout


def test_it_succeeds(demo: subprocess.CompletedProcess[str]) -> None:
    assert (demo.returncode, demo.stderr) == (0, ""), demo.stdout


@pytest.mark.parametrize(
    "promised",
    [
        "context full at turn",
        "== The session graph",
        "== Decisions that replaced others",
        "== Resume block, critical",
        "== Resume block, standard",
        "== Resume block, full",
        "== Loss report",
        "== A compaction, as clients ask for it by contract",
        "time to the first byte of a reply, median",
        "The context window is set to 8,000 tokens",
        "The limit is 6,800 tokens, 85% of the window",
        "milliseconds from the turn's first request",
        "old facts asked for: 3 of 3 known",
        "tokenmizer-mw graph coldwatch",
        "tokenmizer-mw dashboard",
        "The session outlived its context",
    ],
)
def test_it_shows_what_it_promises(shown: str, promised: str) -> None:
    assert promised in shown


def test_it_reads_well_without_a_terminal(shown: str) -> None:
    """Blocks and paths are shown as they are, not wrapped; all else fits a narrow terminal."""
    assert "\x1b" not in shown
    words = re.sub(r"<session-record \d+>.*?</session-record \d+>", "", shown, flags=re.DOTALL)
    words = re.sub(r"    --store \S+\n", "", words)
    assert max(map(len, words.splitlines())) <= 80


def test_the_transcript_is_cut_more_than_once(shown: str) -> None:
    assert shown.count(">>> context full at turn") >= 2


def test_every_message_of_the_session_is_in_the_database(shown: str, folder: Path) -> None:
    log = open_log(f"sqlite:///{folder / 'demo.db'}")
    events = [recorded.event for recorded in log.read(SessionKey("local", "coldwatch"))]
    log.close()
    script = load_script()
    probes = sum(turn.probe is not None for turn in script.turns)
    assert sum(isinstance(event, MessageRecorded) for event in events) == len(list(script.transcript())) + probes
    assert sum(isinstance(event, Checkpointed) and event.anchor != "" for event in events) == shown.count(
        ">>> context full at turn"
    )


def test_the_database_can_be_looked_at_as_it_says(shown: str) -> None:
    """Each command names the store itself: a variable would stay set for the user's own chats."""
    assert "TOKENMIZER_STORE" not in shown
    commands = re.findall(r"^  \S+ ((?:graph|resume|why) .*) \\\n    (--store .+)$", shown, flags=re.MULTILINE)
    assert [command.split()[0] for command, _ in commands] == ["graph", "resume", "why"]
    for command, store in commands:
        done = program(*shlex.split(f"{command} {store}"))
        assert done.returncode == 0
        assert "PostgreSQL" in done.stdout


def test_reminders_are_printed_short(shown: str) -> None:
    lines = shown.splitlines()
    starts = [at for at, line in enumerate(lines) if "After the newest message" in line]
    assert starts
    for at in starts:
        told = [line for line in lines[at + 1 : at + 6] if line.startswith("      | ")]
        assert 1 <= len(told) <= 4
        assert all(line.removeprefix("      | ").startswith(("[", "- ", "... and ")) for line in told)


def test_it_does_not_overwrite_an_earlier_one(shown: str, folder: Path) -> None:
    done = program("demo", "--fast", "--keep", str(folder))
    assert done.returncode == 1
    assert "exists" in done.stderr


def test_by_itself_it_leaves_one_database_and_nothing_temporary(tmp_path: Path) -> None:
    temporary, before = tmp_path / "temporary", tmp_path / "home" / "tokenmizer-mw" / "demo" / "demo.db"
    temporary.mkdir()
    before.parent.mkdir(parents=True)
    before.write_text("of an earlier run", encoding="utf-8")
    done = program("demo", "--fast", TMPDIR=str(temporary), XDG_DATA_HOME=str(tmp_path / "home"))
    assert done.returncode == 0, done.stdout
    assert not list(temporary.iterdir())
    assert [path.name for path in (tmp_path / "home").rglob("*.db")] == ["demo.db"]


def test_live_without_a_key_is_refused(tmp_path: Path) -> None:
    done = program("demo", "--live", "--keep", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == "tokenmizer-mw: error: --live needs your key in OPENAI_API_KEY\n"


def test_live_asks_the_model_that_the_pages_use() -> None:
    page = (Path(__file__).parents[2] / "docs" / "middleware.md").read_text(encoding="utf-8")
    assert f'"model": "{parser().parse_args(["demo"]).model}"' in page


@pytest.mark.nightly
def test_live_asks_the_provider(tmp_path: Path) -> None:
    model = ScriptedModel(load_script(), MessageCounter(counter_for(MODEL)))
    with serve_app(create_app(model)) as address:
        done = program(
            *("demo", "--live", "--model", MODEL, "--keep", str(tmp_path)),
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=f"{address}/v1",
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert "at the provider" in done.stdout
    assert "3 of 3 known" in done.stdout


def test_a_provider_that_refuses_ends_it_with_its_reason(tmp_path: Path) -> None:
    model = ScriptedModel(load_script(), MessageCounter(counter_for(MODEL)), window=600)
    with serve_app(create_app(model)) as address:
        done = program(
            *("demo", "--live", "--model", MODEL, "--keep", str(tmp_path)),
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=f"{address}/v1",
        )
    assert done.returncode == 1
    assert "maximum context length is 600" in done.stdout
    assert "The demonstration failed: a request of turn 3 was refused." in done.stdout


class RefusingModel(ScriptedModel):
    """Refuses the request that begins the turn ``refused`` of the script."""

    def __init__(self, refused: ScriptTurn) -> None:
        super().__init__(load_script(), MessageCounter(counter_for(MODEL)))
        self._refused = refused

    async def open(self, body: bytes) -> StartedResponse:
        if json.loads(body)["messages"][-1]["content"].startswith(self._refused.user):
            return StartedResponse(429, "application/json", stream_of(b'{"error": {"message": "rate limit"}}'))
        return await super().open(body)


async def stream_of(body: bytes) -> AsyncIterator[bytes]:
    yield body


def test_a_session_that_was_refused_halfway_has_not_succeeded(tmp_path: Path) -> None:
    turns = load_script().turns
    asked = next(turn.number for turn in turns if turn.probe is not None)
    with serve_app(create_app(RefusingModel(turns[asked]))) as address:
        done = program(
            *("demo", "--live", "--model", MODEL, "--keep", str(tmp_path)),
            OPENAI_API_KEY="none",
            OPENAI_BASE_URL=f"{address}/v1",
        )
    assert "context full at turn" in done.stdout
    assert "1 of 1 known" in done.stdout
    assert done.returncode == 1
    assert f"The demonstration failed: a request of turn {asked + 1} was refused." in done.stdout
    assert "outlived" not in done.stdout


def test_the_application_remembers_only_with_a_session(tmp_path: Path) -> None:
    from tokenmizer_mw.cli.demo.conversation import Client, Conversation, ask

    script = load_script()
    memory = SessionMemory.open()
    conversation = Conversation(MODEL, script)
    conversation.messages.append({"role": "user", "content": script.turns[0].user})
    model = ScriptedModel(script, MessageCounter(counter_for(MODEL)))
    with serve_app(create_app(model, memory)) as address:
        for session in (None, "s"):
            client = Client(address, session=session)
            said: list[str] = []
            reply = ask(client, conversation.request(), said.append)
            client.close()
            assert "".join(said) == reply.message["content"] == script.turns[0].reply
    assert [info.key.id for info in memory.sessions()] == ["s"]
    memory.close()


def test_what_it_sent_is_accounted(demo: subprocess.CompletedProcess[str], folder: Path) -> None:
    """Without a price, as the scripted model has none."""
    with closing(SessionMemory.open(f"sqlite:///{folder / 'demo.db'}")) as memory:
        whole = memory.savings("coldwatch").whole
    assert whole.calls == whole.unpriced > 40
    assert whole.saved_tokens > 0


def test_nobody_is_asked_to_install_prices_for_it(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from tokenmizer_mw import SessionMemory, Settings\n"
        "from tokenmizer_mw.cli.demo.run import leave_out_price_warning\n"
        "with leave_out_price_warning():\n"
        "    SessionMemory.open('memory://', Settings(savings=True)).close()\n"
        "print('elsewhere', file=sys.stderr, flush=True)\n"
        "SessionMemory.open('memory://', Settings(savings=True)).close()"
    )
    done = run_without("genai_prices", "-c", code, home=tmp_path)
    of_demo, _, elsewhere = done.stderr.partition("elsewhere\n")
    assert (done.returncode, of_demo) == (0, "")
    assert "no prices of models are known" in elsewhere
