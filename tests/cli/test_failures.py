"""Every failure is one clear line and a status that says whose fault it is."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import services
from tests.sampling import sample
from tests.store.postgres_database import Database
from tokenmizer_mw.cli import main
from tokenmizer_mw.cli.running import parser
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.store.open import open_log

Run = Callable[..., tuple[int, str, str]]


def complaint(result: tuple[int, str, str], status: int) -> str:
    code, out, err = result
    assert (code, out) == (status, "")
    assert err.startswith("tokenmizer-mw: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    "command",
    [
        ["resume", "x"],
        ["graph", "x"],
        ["why", "x", "y"],
        ["checkpoint", "x"],
        ["export", "x"],
        ["forget", "x", "--yes"],
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_session(filled: Run, command: list[str]) -> None:
    told = complaint(filled(*command), 2)
    assert "no session 'x'" in told
    assert "`tokenmizer-mw sessions --store sqlite:" in told


@pytest.mark.parametrize(
    "command",
    [
        ["sessions"],
        ["resume", "x"],
        ["recall", "x", "which database?"],
        ["search", "x", "database"],
        ["edits", "x"],
        ["correct", "x", "decision-1", "--text", "y"],
        ["remember", "x", "Use Redis."],
        ["checkpoint", "x"],
        ["backup", "elsewhere.db"],
    ],
    ids=lambda command: command[0],
)
def test_a_store_that_is_not_there_is_named_and_not_created(run: Run, command: list[str], tmp_path: Path) -> None:
    err = complaint(run(*command), 2)
    assert "no such file" in err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def postgres_schema() -> Iterator[Database]:
    database = Database(services.postgres())
    yield database
    database.drop()


def is_there(schema: Database) -> bool:
    return bool(schema.fetch("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = '{schema}')")[0][0])


@pytest.mark.parametrize(
    ("command", "status"),
    [(["keys", "list"], 0), (["keys", "revoke", "none"], 2), (["retain", "--older-than", "9d"], 0)],
    ids=str,
)
def test_maintenance_makes_no_schema_in_postgresql(command: list[str], status: int, postgres_schema: Database) -> None:
    assert main([*command, "--store", postgres_schema.url()]) == status
    assert not is_there(postgres_schema)
    assert main(["keys", "create", "--tenant", "shop", "--store", postgres_schema.url()]) == 0
    assert is_there(postgres_schema)
    assert main(["keys", "list", "--store", postgres_schema.url()]) == 0


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        (["sessions"], 2, "there is no store in postgresql://"),
        (["sessions", "--json"], 2, "there is no store in postgresql://"),
        (["stats"], 2, "there is no store in postgresql://"),
        (["resume", "x"], 2, "no session 'x' in postgresql://"),
        (["recall", "x", "which database?"], 2, "no session 'x' in postgresql://"),
        (["dashboard"], 2, "there is no store in postgresql://"),
    ],
    ids=str,
)
def test_reading_makes_no_schema_in_postgresql(
    command: list[str], status: int, says: str, postgres_schema: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--store", postgres_schema.url()]) == status
    err = complaint((status, *capsys.readouterr()), status)
    assert says in err and f"(no tables in the schema {postgres_schema.schema})" in err
    assert not is_there(postgres_schema)
    assert main(["remember", "x", "Use Redis.", "--create", "--store", postgres_schema.url()]) == 0
    assert is_there(postgres_schema)
    assert main(["sessions", "--store", postgres_schema.url()]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("x ")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["why", "hall", "zebra crossing"], "no fact of session 'hall' matches 'zebra crossing'"),
        (["why", "hall", "zebra crossing"], "`tokenmizer-mw recall hall 'zebra crossing' --store sqlite:"),
        (["graph", "hall", "--recorded-at", "yesterday"], "is not a time"),
        (["resume", "hall", "--budget", "1"], ""),
        (["resume", "", "--budget", "100"], "session id"),
        (["resume", "x" * 10_000], "session id"),
        (["resume", "a\nb"], "session id"),
        (["sessions", "--tenant", ""], "tenant"),
        (["import", "missing.json"], "No such file"),
        (["import", "/"], "directory"),
    ],
    ids=str,
)
def test_a_fault_of_the_caller(filled: Run, command: list[str], says: str) -> None:
    assert says in complaint(filled(*command), 2)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "the file is empty"),
        (b'[\n{"role": }\n]', "line 2"),
        (b"[" * 20_000, "nested too deeply"),
        (b"\x00\xff", "not UTF-8"),
        (b'[{"role": "wizard"}]', "message 1"),
    ],
)
def test_a_file_that_cannot_be_read_leaves_no_store_behind(run: Run, tmp_path: Path, raw: bytes, says: str) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(raw)
    assert says in complaint(run("import", str(path)), 2)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("address", sample(["postgresql://u:hunter2@h/d", "nonsense", "ftp://x", "sqlite://x"], 3))
def test_a_store_address_that_is_not_one(address: str) -> None:
    done = program("sessions", "--store", address)
    assert "hunter2" not in complaint((done.returncode, done.stdout, done.stderr), 1)


@pytest.mark.parametrize(
    ("address", "quoted"),
    [
        ("nonsense", "'nonsense'"),
        ("ftp://ann:hunter2@host/d?key=hunter2", "'ftp://ann@host/d'"),
        ("sqlite://x.db", "'sqlite://x.db'"),
        ("host=db password=hunter2", "'...'"),
    ],
)
def test_an_invalid_store_address_is_quoted_without_a_password(address: str, quoted: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_log(address)
    assert str(refused.value).endswith(f"not {quoted}")
    assert "hunter2" not in str(refused.value)


def test_an_unknown_command_names_the_nearest(run: Run) -> None:
    told = complaint(run("resumee", "hall"), 2)
    assert "no command 'resumee'; nearest: resume" in told
    assert "compaction" not in told
    assert "no command 'doctor'; nearest: check" in complaint(run("doctor"), 2)
    assert "nearest: checkpoint, graph ID --message N for each moment, edits" in complaint(run("diff", "hall"), 2)
    assert "no command 'zzzz' (see " in complaint(run("zzzz"), 2)


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "resume" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["recall", "search", "why"])
@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_question_is_refused(filled: Run, command: str, text: str) -> None:
    assert "empty" in complaint(filled(command, "hall", text), 2)


def test_a_folder_that_is_made_for_a_store_is_named(run: Run, chat: Path, tmp_path: Path) -> None:
    status, _, err = run("import", str(chat))
    assert (status, err) == (0, f"created the folder {tmp_path / 'data'} for the store\n")
    assert run("import", str(chat))[2] == ""


def test_a_setting_that_is_not_one(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "settings.yaml"
    config.write_text("cut_att: 0.5")
    assert "cut_att" in complaint(run("sessions", "--config", str(config)), 1)


@pytest.mark.parametrize(
    "rules", ["rules: [", "rules: [{nam: x}]", "rules: [{name: x, pattern: '('}]", "without: [none]"]
)
def test_rules_that_are_none_are_named_with_their_file(run: Run, chat: Path, tmp_path: Path, rules: str) -> None:
    (tmp_path / "rules.yaml").write_text(rules)
    config = tmp_path / "settings.yaml"
    config.write_text(f"redact_rules: {tmp_path / 'rules.yaml'}")
    assert "rules.yaml: redaction" in complaint(run("import", str(chat), "--config", str(config)), 1)


def database(store: str) -> Path:
    return Path(store.removeprefix("sqlite:///"))


def test_a_corrupt_database(filled: Run, store: str) -> None:
    database(store).write_bytes(b"this is no database at all, and never was one" * 100)
    assert "name another file, or restore a backup" in complaint(filled("sessions"), 1)


def test_a_database_of_a_newer_version(filled: Run, store: str) -> None:
    with sqlite3.connect(database(store)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    connection.close()
    told = complaint(filled("sessions"), 1)
    assert "newer" in told
    assert "upgrade tokenmizer-mw" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to read-only files")
def test_a_folder_that_cannot_be_written(run: Run, chat: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        complaint(run("import", str(chat)), 1)
    finally:
        tmp_path.chmod(0o700)


def test_a_place_where_no_database_can_be(run: Run, chat: Path, tmp_path: Path) -> None:
    done = program("import", str(chat), "--store", f"sqlite:///{chat}/chat.db")
    complaint((done.returncode, done.stdout, done.stderr), 1)


def test_a_full_disk_under_the_store(tmp_path: Path, store: str) -> None:
    (tmp_path / "data").mkdir()
    chat = tmp_path / "long.json"
    chat.write_text(json.dumps([{"role": "user", "content": f"{n} " + "word " * 2_000} for n in range(100)]))
    code = (
        "import resource, sys\nfrom tokenmizer_mw.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\nsys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "import", str(chat), "--store", store]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    complaint((done.returncode, done.stdout, done.stderr), 1)
    assert program("sessions", "--store", store).returncode == 0


def program(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tokenmizer_mw", *arguments]
    return subprocess.run(command, text=True, timeout=60, **{"capture_output": True, **options})  # type: ignore[call-overload]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_the_output(filled: Run, store: str) -> None:
    with open("/dev/full", "w") as full:
        done = program("export", "hall", "--store", store, stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 1
    assert done.stderr == "tokenmizer-mw: error: output: No space left on device\n"


def test_a_reader_that_goes_away(filled: Run, store: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = program("export", "hall", "--store", store, stdout=writing, stderr=subprocess.PIPE, capture_output=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.fixture
def heeded() -> Iterator[None]:
    """Children heed SIGINT: a job that a shell started in the background has inherited that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_an_interrupt(store: str) -> None:
    command = [sys.executable, "-m", "tokenmizer_mw", "import", "-", "--session", "s", "--store", store]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        running.stdin.write("[" + " " * 300_000)  # more than a pipe holds: it returns once the command reads
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "tokenmizer-mw: error: interrupted\n")


@pytest.mark.usefixtures("heeded")
def test_an_interrupt_ends_the_mcp_server(store: str) -> None:
    """Ctrl-C while it waits for a client's next line, which nobody sends and no thread stops waiting for."""
    command = [sys.executable, "-m", "tokenmizer_mw", "mcp", "--store", store]
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(json.dumps(hello) + "\n")
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["id"] == 1
        running.send_signal(signal.SIGINT)
        try:
            running.wait(timeout=20)
        finally:
            running.kill()
        assert running.stderr is not None
        assert (running.returncode, running.stderr.read()) == (130, "tokenmizer-mw: error: interrupted\n")


def test_servers_listen_at_ports_of_their_own() -> None:
    ports = [parser().parse_args(command).port for command in (["mcp"], ["dashboard"])]
    assert len({8787, *ports}) == 3
