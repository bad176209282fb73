"""Reads and runs the shell commands of a page: each one as it stands, in a folder and a home directory of its own.

Servers run in the background until the page is done. The ports of a page are replaced by free ones, because another
server of this machine may have them; the proxy asks a scripted provider. The application of a page is its first Python
that makes one, in a file ``app.py``. ``NOT_RUN`` lists what is left out, and why.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.upstream.server import Upstream

SECONDS: Final = 60.0
"""How long a command may take, and a server to start or to stop."""

NOT_RUN: Final = {
    r"^pipx? (un)?install ": "`make check-pages` installs what a page asks for; what the tests run in stays as it is",
    r"^~/\.tokenmizer/bin/": "the same in an environment beside: `make check-pages` installs what a page asks for",
    r"^make (demo|test)\b": "takes minutes, and sets up an environment; CI runs both",
    r"\bclaude( |$)(?!code)": "needs Claude Code; tests/hooks run it where it is installed",
    r"^codex ": "needs Codex; tests/hooks run it where it is installed",
    r"^(cd integrations/examples/deploy$|export POSTGRES_PASSWORD=|docker )": "needs Docker; CI builds the image",
    r"/api/compaction$": "needs the seal that stands in place of the dots; tests/compaction make one",
}
"""Commands that are not run here, as patterns, and the reason of each."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the reader of a page has. ``files``: by name; ``commands``: run before those of the page; ``python``: before
    its code; ``packages``: installed besides what the page asks for; ``environment``: variables that the page gives an
    example of; ``after``: commands that remove what the page has left, once its servers have ended."""

    files: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    python: str = ""
    packages: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()


POSTGRES: Final = os.environ.get("TOKENMIZER_TEST_POSTGRES") or "postgresql://postgres@127.0.0.1:5432/test"
"""The database of postgres.md, which gets a schema of its own and loses it again."""

_SCHEMA: Final = f"page_{os.getpid()}"
_DROP: Final = (
    f"import psycopg; psycopg.connect({POSTGRES!r}, autocommit=True).execute('DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE')"
)

_SESSION: Final = [
    {"role": "user", "content": "Why is the total wrong?"},
    {"role": "assistant", "content": "Great question! `total_12` is 0 in src/total.py. Hope this helps!"},
]

_STORED: Final = "tokenmizer-mw remember hall 'We use PostgreSQL' --create --store sqlite:///chat.db"

_TOO_LONG: Final = (
    "curl http://127.0.0.1:8787/v1/chat/completions -H content-type:application/json"
    " -H authorization:none -H x-session-id:$(printf %0300d 1)"
    """ -d '{"model": "fake", "messages": [{"role": "user", "content": "Use PostgreSQL."}]}'"""
)
"""A call whose session has no valid name, so that the counters show one."""

_COMPACTED: Final = (
    "curl http://127.0.0.1:8787/v1/responses/compact"
    " -H content-type:application/json -H authorization:none -H x-session-id:hall"
    """ -d '{"model": "fake", "input": [{"role": "user", "content": "Use PostgreSQL for the orders."}]}'"""
    " > conversation.json"
)
"""A chat that the proxy has compacted."""

_APPLICATION: Final = """\
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from starlette.applications import Starlette

from tokenmizer_mw import openai_client

app = Starlette()
messages = [{"role": "user", "content": "Use PostgreSQL for the orders."}]
model, tools, checkpointer = FakeListChatModel(responses=["Understood."]), [], InMemorySaver()
"""
"""What an application has at hand where README begins."""

_TOKEN: Final = """\
import os
import secrets

os.environ.setdefault("TOKENMIZER_DASHBOARD_TOKEN", secrets.token_urlsafe(24))
"""
"""What the reader of a page exports before the application starts."""

GIVEN: Final = {
    "README.md": Given(python=_APPLICATION, packages=("starlette",)),
    "access.md": Given({"proxy.yaml": "auth: true\n"}),
    "choosing.md": Given(packages=(".[mcp]",), commands=(_STORED.replace("chat.db", "memory.db"),)),
    "compaction.md": Given(
        packages=(".[proxy]",),
        commands=("tokenmizer-mw serve", _COMPACTED),
        environment={"TOKENMIZER_COMPACTION": "ours"},
    ),
    "compression.md": Given({"session.json": json.dumps(_SESSION)}),
    "dashboard.md": Given(commands=(_STORED,), python=_TOKEN, packages=("fastapi",)),
    "files.md": Given({"orders.csv": "id,price\n1,5\n2,99999\n3,7\n"}),
    "not-remembered.md": Given(packages=(".[proxy]",), commands=("tokenmizer-mw serve", _TOO_LONG)),
    "operations.md": Given(commands=(_STORED,)),
    "postgres.md": Given(
        environment={"TOKENMIZER_STORE": f"{POSTGRES}?schema={_SCHEMA}"}, after=(f'python -c "{_DROP}"',)
    ),
}
"""By page; where it is not named, the reader has nothing."""

_SERVERS: Final = {
    "tokenmizer-mw serve": 8787,
    "tokenmizer-mw mcp --http": 8788,
    "tokenmizer-mw dashboard": 8789,
    "tokenmizer-mw check": 8787,
    "uvicorn app:app": 8000,
}
"""The commands that take ``--port``, and its default; all but ``check`` run until they are stopped."""


def commands(page: str) -> list[str]:
    """Return the commands after the prompts of ``console`` blocks, and each ``sh`` or ``bash`` block as one command."""
    found: list[str] = []
    for language, block in re.findall(r"^```(console|sh|bash)\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        prompts = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block, flags=re.MULTILINE)
        found += prompts if language == "console" else [block.rstrip("\n")]
    return [re.sub(r"\s+# .*$", "", command) for command in found]


def application(page: str) -> str:
    """Return the first Python of a page that makes an ``app``; "" if there is none."""
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    return next((block for block in blocks if re.search(r"^app = ", block, flags=re.MULTILINE)), "")


def reason_not_run(command: str) -> str | None:
    """Return why this command is not run; None if it is."""
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, command)), None)


def run_commands(page: Path, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Run the page's commands in a folder; return what went wrong, one text for each command that failed.

    ``environment``: with ``PATH`` of the programs; the home directory is made in the folder.
    """
    given = GIVEN.get(page.name, Given())
    text = page.read_text(encoding="utf-8")
    program = {"app.py": application(text)} if application(text) else {}
    for name, content in {**program, **given.files}.items():
        (folder / name).write_text(content, encoding="utf-8")
    shown = (*given.commands, *commands(text))
    with Upstream() as provider:
        own = _environment(folder / "home", provider.url, environment) | given.environment
        with _servers() as servers:
            run = [each for each in shown if not (reason_not_run(each) or _is_given(each, given))]
            wrong = [line for each in run for line in _run(each, folder, own, servers)]
        return wrong + [line for each in given.after for line in _run(each, folder, own, servers)]


def needs_postgres(page: str) -> bool:
    """Whether a page, by its name, needs the database at ``POSTGRES``."""
    return POSTGRES in GIVEN.get(page, Given()).environment.get("TOKENMIZER_STORE", "")


def has_postgres() -> bool:
    """Whether something answers at ``POSTGRES``."""
    parts = urlsplit(POSTGRES)
    return _answers(parts.port or 5432, parts.hostname or "127.0.0.1")


def _is_given(command: str, given: Given) -> bool:
    """Whether a command exports what the reader has another value of."""
    found = re.fullmatch(r"export (\w+)=.*", command)
    return found is not None and found[1] in given.environment


def _environment(home: Path, provider: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a user without settings, whose proxy asks this provider in place of OpenAI."""
    home.mkdir()
    (home / ".curlrc").write_text("fail-with-body\nsilent\nno-buffer\nnoproxy=*\n", encoding="utf-8")
    configuration = home / "provider.yaml"
    configuration.write_text(json.dumps({"providers": {"openai": {"base_url": f"{provider}/v1"}}}), encoding="utf-8")
    plain = {name: value for name, value in environment.items() if not name.startswith("TOKENMIZER_")}
    places = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_RUNTIME_DIR": str(home)}
    return {**plain, **places, "TOKENMIZER_CONFIG": str(configuration), "OPENAI_API_KEY": "none"}


@dataclass(slots=True)
class _Servers:
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    ports: dict[int, int] = field(default_factory=dict)

    def replace_ports(self, command: str) -> str:
        for begin, port in _SERVERS.items():
            free = self.ports.setdefault(port, 0) or _free_port()
            self.ports[port] = free
            command = command.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free}")
            if command.startswith(begin):
                command += f" --port {free}"
        return command


@contextmanager
def _servers() -> Iterator[_Servers]:
    servers = _Servers()
    try:
        yield servers
    finally:
        for process in servers.running:
            process.send_signal(signal.SIGTERM)
        for process in servers.running:
            process.communicate(timeout=SECONDS)


def _run(command: str, folder: Path, environment: dict[str, str], servers: _Servers) -> Iterable[str]:
    bash = shutil.which("bash") or "/bin/bash"
    call = servers.replace_ports(command)
    environment |= _assigned(call, folder, environment)
    if re.fullmatch(r"export \w+=.*", command):
        return []
    asked = command.startswith("tokenmizer-mw install") and "--dry-run" not in command
    serves = next((port for begin, port in _SERVERS.items() if command.startswith(begin)), None)
    if serves is not None and "check" not in command:
        line = [bash, "-c", f"exec {call}"]
        return _start(command, line, folder, environment, servers, servers.ports[serves])
    with _answering("y\n" if asked else "") as stdin:
        done = subprocess.run(
            [bash, "-e", "-c", call],
            cwd=folder, env=environment, stdin=stdin, capture_output=True, text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
    return [f"$ {command}\n{done.stdout}{done.stderr}"] if done.returncode else []


def _assigned(command: str, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that the first line of a command sets for all that follow, with their values."""
    line = command.partition("\n")[0]
    if not re.fullmatch(r"export \w+=.*|(?:\w+=\S+ ?)+", line):
        return {}
    names = re.findall(r"(?:^|\s)(\w+)=", line)
    script = "\n".join((line, *(f'printf "%s\\n" "${name}"' for name in names)))
    done = subprocess.run(
        [shutil.which("bash") or "/bin/bash", "-c", script],
        cwd=folder, env=dict(environment), capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    return dict(zip(names, done.stdout.splitlines(), strict=True))


@contextmanager
def _answering(text: str) -> Iterator[int]:
    """A terminal on which a person has typed this text; no input if it is empty."""
    if not text:
        yield subprocess.DEVNULL
        return
    ours, theirs = pty.openpty()
    try:
        os.write(ours, text.encode())
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)


def _start(
    command: str, line: list[str], folder: Path, environment: dict[str, str], servers: _Servers, port: int
) -> Iterable[str]:
    with (folder / f"{port}.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True
        )
        servers.running.append(process)
        deadline = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if _answers(port):
                return []
            time.sleep(0.05)
        log.seek(0)
        return [f"$ {command}\ndoes not answer: {log.read()}"]


def _answers(port: int, host: str = "127.0.0.1") -> bool:
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
