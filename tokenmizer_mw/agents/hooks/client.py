"""The short-lived process that a host (a coding agent) starts for each event: passes the event to the user's worker and
prints its answer.

It finds the worker by its files, in a directory that only this user can access, and starts a worker if none is
listening. It imports almost nothing (no JSON, no argument parser, of this package only how store addresses are
written), because it starts with every event of every session. It always exits with status 0, because hosts react to
other statuses, for example by not compacting.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from zlib import crc32

from tokenmizer_mw.store.address import hook_folders

from . import CONFIG, PAYLOAD_MAX, STORE, WorkerFiles, alone, config_path, store_address

TYPE_CHECKING = False  # as a type checker takes it, without the import of typing
if TYPE_CHECKING:
    import socket

WORKER = "TOKENMIZER_HOOK_WORKER"
"""Environment variable. If it is "0", no worker is used: the process that the host waits for handles the event
itself."""

_PATH_MAX = 100


def place(environ: Mapping[str, str]) -> WorkerFiles | None:
    """Return the files of the worker for these settings; ``None`` if no worker can be used.

    That is so if the system has no Unix sockets, if the user has switched the worker off (``WORKER``), or if there is
    no directory that only this user can access and whose path is short enough for a socket. ``environ``: the
    environment variables.
    """
    if environ.get(WORKER) == "0" or not hasattr(os, "fork"):
        return None
    for folder in hook_folders(environ):
        found = WorkerFiles(folder, f"{_key(environ):08x}")
        if len(os.fsencode(found.socket)) <= _PATH_MAX and _is_own(folder):
            return found
    return None


def _key(environ: Mapping[str, str]) -> int:
    """Return a number that is the same for hooks that can share a worker: same installation and same settings."""
    values = {name: value for name, value in environ.items() if name.startswith("TOKENMIZER_")}
    values[STORE], values[CONFIG] = store_address(environ), config_path(environ)
    homes = (environ.get("HOME", ""), environ.get("XDG_DATA_HOME", ""))
    spelled = "\x1f".join((_identify_installation(), *homes, *(f"{name}={values[name]}" for name in sorted(values))))
    return crc32(spelled.encode("utf-8", "surrogateescape"))


def _identify_installation() -> str:
    """Return text that identifies this installation and its version, so that nobody uses the worker of an older
    version."""
    return f"{__file__} {os.stat(__file__).st_mtime_ns}"


def _is_own(folder: str) -> bool:
    """Return whether ``folder`` is a directory that only this user can access. It is created if it does not exist."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077


SWITCH = "TOKENMIZER_HOOKS"
"""Environment variable: with "off", "0", "false" or "no" the hooks do nothing."""

_OFF = ("0", "off", "false", "no")
_ON = ("", "1", "on", "true", "yes")

HOSTS = ("claude-code", "codex", "vscode", "cursor")

WAITS = {"sessionstart": 10.0, "precompact": 10.0}
"""Events for which the client waits for the worker's answer, with the longest wait in seconds. For other events the
client ends as soon as it has sent them."""

WAIT_WHEN_ASKED = 5.0
"""Seconds that a prompt waits for the worker if its session is named in ``WorkerFiles.pending``."""

PATIENCE = "TOKENMIZER_HOOK_WAIT"
"""Environment variable: the longest wait for an answer in seconds, in place of those in ``WAITS`` and of
``WAIT_WHEN_ASKED``."""

SENDING = 10.0
"""Seconds that sending an event to the worker may take."""

_ALIASES = {"beforesubmitprompt": "userpromptsubmit"}
"""Other names that some hosts have for an event."""

_KNOWN = ("sessionstart", "userpromptsubmit", "stop", "precompact", "sessionend")
"""Events that hooks are installed for. For any other event, the transcript that it names is recorded."""

_ATTEMPTS = 3
_USAGE = "usage: tokenmizer-mw hook EVENT [--host {claude-code,codex,vscode,cursor}] < event.json"


class Lost(Exception):
    """Raised when the worker closed the connection without an answer."""


def run_hook(arguments: Sequence[str]) -> int:
    """Handle one event, whose JSON is on standard input, and print the answer for the host, if any, on standard output.
    ``arguments``: the event's name, and perhaps the option ``--host``. Always returns 0, the exit status; errors are
    printed as one line on standard error."""
    try:
        _run(arguments)
    except Exception as error:
        _complain(f"{type(error).__name__}: {error}")
    return 0


def _run(arguments: Sequence[str]) -> None:
    typed, host = _parse_arguments(arguments)
    if not typed:
        print(_USAGE, file=sys.stderr)
        return
    if _is_switched_off():
        return
    event = _name_of(typed)
    payload = sys.stdin.buffer.read(PAYLOAD_MAX + 1)
    if len(payload) > PAYLOAD_MAX:
        _complain(f"the event is larger than {PAYLOAD_MAX:,} bytes")
        return
    if not _may_be_object(payload):
        _complain("what is on standard input is no JSON object; nothing was recorded")
        return
    if event not in _KNOWN:
        _complain(f"unknown event {typed!r}; known: SessionStart, UserPromptSubmit, Stop, PreCompact, SessionEnd")
    spot = place(os.environ)
    values = (event, host, os.environ.get("CLAUDE_PROJECT_DIR", ""), os.getcwd())
    head = "\x1f".join(values).encode("utf-8", "surrogateescape")
    answer = _here(head, payload) if spot is None else _ask_worker(spot, event, head, payload)
    outcome, _, text = answer.partition(b"\n")
    if outcome != b"ok":
        _complain(text.decode("utf-8", "replace"))
        return
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _is_switched_off() -> bool:
    """Return whether the environment turns the hooks off. A value that is neither on nor off is reported, and counts as
    on."""
    value = os.environ.get(SWITCH, "").strip().lower()
    if value not in _ON + _OFF:
        _complain(f"{SWITCH} is {value[:40]!r}, which is neither on nor off; the hooks are on")
    return value in _OFF


def _may_be_object(payload: bytes) -> bool:
    """Return whether the bytes begin and end like a JSON object; the worker parses them later. Empty bytes count as an
    object without members."""
    text = payload.strip()
    return not text or (text[:1] == b"{" and text[-1:] == b"}" and text[1:].lstrip()[:1] in (b'"', b"}"))


def _parse_arguments(arguments: Sequence[str]) -> tuple[str, str]:
    """Return the event's name as it was typed, and the host; two empty strings for invalid arguments."""
    words = [word for word in arguments if not word.startswith("--host")]
    named = [word.partition("=")[2] for word in arguments if word.startswith("--host=")]
    if "--host" in arguments:
        at = list(arguments).index("--host")
        named = list(arguments[at + 1 : at + 2])
        words = [*arguments[:at], *arguments[at + 2 :]]
    host = named[0] if named else HOSTS[0]
    if len(words) != 1 or host not in HOSTS or words[0].startswith("-"):
        return "", ""
    return words[0], host


def _name_of(typed: str) -> str:
    """Return the name of an event in lower case, without hyphens and underscores; for a host's other name of an event,
    the usual one."""
    name = typed.replace("-", "").replace("_", "").lower()
    return _ALIASES.get(name, name)


def _here(head: bytes, payload: bytes) -> bytes:
    """Handle the event in this process, because no worker can be used."""
    from .worker import WorkerState

    with WorkerState(os.environ) as work:
        return work.answer(head, payload)


def _ask_worker(spot: WorkerFiles, event: str, head: bytes, payload: bytes) -> bytes:
    request = head + b"\n" + payload
    waits = WAITS.get(event, 0.0)
    if event == "userpromptsubmit" and _is_awaited(spot, payload):
        waits = WAIT_WHEN_ASKED
    if waits and os.environ.get(PATIENCE):
        waits = float(os.environ[PATIENCE])
    deadline = time.monotonic() + waits
    for _ in range(_ATTEMPTS):
        try:
            return _exchange(spot, request, deadline if waits else None)
        except (Lost, ConnectionError):
            continue
    return b"no\nthe worker keeps ending; its log is " + os.fsencode(spot.log)


def _is_awaited(spot: WorkerFiles, payload: bytes) -> bool:
    """Return whether the prompt has to wait for the worker, because its session is in ``WorkerFiles.pending``.

    The payload is not parsed: the session id must occur in it. An id with characters that JSON can escape always
    counts.
    """
    try:
        with open(spot.pending, "rb") as file:
            waiting = file.read().splitlines()
    except OSError:
        return False
    return any(session in payload or not session.replace(b"-", b"").isalnum() for session in waiting)


def _exchange(spot: WorkerFiles, request: bytes, deadline: float | None) -> bytes:
    """Send a request to the worker and return its answer; an error answer if there is none at ``deadline`` (monotonic
    seconds). ``None``: do not wait, and return an answer without text. Raises ``Lost`` if the worker closes the
    connection."""
    with connect_to_worker(spot) as link:
        link.settimeout(SENDING)
        link.sendall(request)
        link.shutdown(1)
        if deadline is None:
            return b"ok\n"
        pieces = []
        try:
            link.settimeout(max(0.1, deadline - time.monotonic()))
            while piece := link.recv(65536):
                pieces.append(piece)
        except TimeoutError:
            return b"no\nthe worker is busy; it goes on with this session by itself"
    if not pieces:
        raise Lost
    return b"".join(pieces)


def _complain(text: str) -> None:
    try:
        print("tokenmizer-mw hook:", " ".join(text.split())[:500], file=sys.stderr)
    except (OSError, ValueError):
        return


_GONE = (FileNotFoundError, ConnectionRefusedError)
_BACKLOG = 64
_LOG_MAX = 1024 * 1024
_FULL_PAUSE = 0.02
_FULL_ATTEMPTS = 50


def connect_to_worker(spot: WorkerFiles) -> socket.socket:
    """Return a connection to the worker with the files ``spot``; the worker is started if none is listening. Raises
    ``OSError`` if that fails."""
    import socket  # nothing else here needs it

    with suppress(*_GONE):
        return _connect(spot)
    with alone(spot):
        with suppress(*_GONE):
            return _connect(spot)
        with suppress(FileNotFoundError):
            os.unlink(spot.socket)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(spot.socket)
            listener.listen(_BACKLOG)
            link = _connect(spot)  # it waits in the queue until the worker is there
            _launch(listener, spot)
            return link


def _connect(spot: WorkerFiles) -> socket.socket:
    import socket

    for attempt in range(_FULL_ATTEMPTS):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(spot.socket)
            return link
        except BlockingIOError:  # its queue is full
            link.close()
            if attempt + 1 == _FULL_ATTEMPTS:
                raise
            time.sleep(_FULL_PAUSE)
        except BaseException:
            link.close()
            raise
    raise ConnectionRefusedError


def _launch(listener: socket.socket, spot: WorkerFiles) -> None:
    """Start a worker that accepts connections on ``listener``. It outlives this process and keeps none of its open
    files."""
    if os.fork():
        return
    try:
        os.setsid()
        if address := store_address(os.environ):
            os.environ[STORE] = address
        if config := config_path(os.environ):
            os.environ[CONFIG] = config
        os.chdir("/")
        log = os.open(spot.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(log).st_size > _LOG_MAX:
            os.ftruncate(log, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream, goes_to in ((0, nowhere), (1, nowhere), (2, log)):
            os.dup2(goes_to, stream)
        listener.set_inheritable(True)
        module = "tokenmizer_mw.agents.hooks.entry"
        os.execv(sys.executable, [sys.executable, "-P", "-m", module, str(listener.fileno()), spot.socket])
    finally:
        os._exit(1)
