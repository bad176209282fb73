"""The short-lived process that a host starts for an event: finds the files of the user's worker, in a directory that
only this user can access, passes the event to the worker, which it starts if none is listening, and prints the answer.

It imports almost nothing (no JSON, no argument parser, of this package only how store addresses are written), because
it starts with every event of every session. It always exits with status 0: other statuses have a meaning to hosts, such
as not to compact.
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
"""Environment variable: "0" does the work in the process that the host waits for."""

_PATH_MAX = 100


def place(environ: Mapping[str, str]) -> WorkerFiles | None:
    """Return the worker files for these settings; ``None`` if no worker is possible.

    That is so if the system has no Unix sockets, the user has switched the worker off, or the directory belongs to
    somebody else.
    """
    if environ.get(WORKER) == "0" or not hasattr(os, "fork"):
        return None
    for folder in hook_folders(environ):
        found = WorkerFiles(folder, f"{_key(environ):08x}")
        if len(os.fsencode(found.socket)) <= _PATH_MAX and _is_own(folder):
            return found
    return None


def _key(environ: Mapping[str, str]) -> int:
    """What tells workers apart: the installation, and all that settings are read from."""
    values = {name: value for name, value in environ.items() if name.startswith("TOKENMIZER_")}
    values[STORE], values[CONFIG] = store_address(environ), config_path(environ)
    homes = (environ.get("HOME", ""), environ.get("XDG_DATA_HOME", ""))
    spelled = "\x1f".join((_identify_installation(), *homes, *(f"{name}={values[name]}" for name in sorted(values))))
    return crc32(spelled.encode("utf-8", "surrogateescape"))


def _identify_installation() -> str:
    """An installation by its place and time: after an upgrade, nobody talks to a worker from before."""
    return f"{__file__} {os.stat(__file__).st_mtime_ns}"


def _is_own(folder: str) -> bool:
    """Whether ``folder``, made if need be, is a directory of this user's alone."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077


SWITCH = "TOKENMIZER_HOOKS"
"""Environment variable: "off" has hooks do nothing, in one project or everywhere."""

_OFF = ("0", "off", "false", "no")
_ON = ("", "1", "on", "true", "yes")

HOSTS = ("claude-code", "codex", "vscode", "cursor")

WAITS = {"sessionstart": 10.0, "precompact": 10.0}
"""Events whose answer the host is told, and how many seconds that may take. The others are handed over, and that is
all."""

WAIT_WHEN_ASKED = 5.0
"""Seconds that a prompt waits if the worker has something to add to it."""

PATIENCE = "TOKENMIZER_HOOK_WAIT"
"""Environment variable: seconds that a host waits for an answer, in place of those of ``WAITS``."""

SENDING = 10.0
"""Seconds that handing an event over may take."""

_ALIASES = {"beforesubmitprompt": "userpromptsubmit"}
"""What some hosts call an event that others have, too."""

_KNOWN = ("sessionstart", "userpromptsubmit", "stop", "precompact", "sessionend")
"""Events that the hooks are installed for. Any other one is recorded, too, if its transcript is named."""

_ATTEMPTS = 3
_USAGE = "usage: tokenmizer-mw hook EVENT [--host {claude-code,codex,vscode,cursor}] < event.json"


class Lost(Exception):
    """Raised when the worker exited before it answered."""


def run_hook(arguments: Sequence[str]) -> int:
    """Handle one event, whose JSON is on standard input. Always returns 0; errors are printed as one line on standard
    error."""
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
    """Whether the environment turns the hooks off. Any value but those of ``_ON`` and ``_OFF`` is named."""
    value = os.environ.get(SWITCH, "").strip().lower()
    if value not in _ON + _OFF:
        _complain(f"{SWITCH} is {value[:40]!r}, which is neither on nor off; the hooks are on")
    return value in _OFF


def _may_be_object(payload: bytes) -> bool:
    """Whether bytes begin and end as a JSON object does: the worker parses it, after this process has ended. No bytes
    are an event without members."""
    text = payload.strip()
    return not text or (text[:1] == b"{" and text[-1:] == b"}" and text[1:].lstrip()[:1] in (b'"', b"}"))


def _parse_arguments(arguments: Sequence[str]) -> tuple[str, str]:
    """The event's name as it was typed, and the host; "" for arguments that are not understood."""
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
    """The name of an event in lower-case letters."""
    name = typed.replace("-", "").replace("_", "").lower()
    return _ALIASES.get(name, name)


def _here(head: bytes, payload: bytes) -> bytes:
    """Do the work in this process, where there can be no other."""
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
    """Whether the worker may have something to add to the prompt of ``payload``, which is not parsed here: an id that
    JSON can only write in one way must occur in it."""
    try:
        with open(spot.pending, "rb") as file:
            waiting = file.read().splitlines()
    except OSError:
        return False
    return any(session in payload or not session.replace(b"-", b"").isalnum() for session in waiting)


def _exchange(spot: WorkerFiles, request: bytes, deadline: float | None) -> bytes:
    """What the worker answers; at once, and nothing, without a ``deadline``."""
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
    """Return a connection to the worker at ``spot``. Raises ``OSError`` if that is not possible."""
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
    """Start a worker on ``listener`` that outlives this process and holds nothing of its host's."""
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
