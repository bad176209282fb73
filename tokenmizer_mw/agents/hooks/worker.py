"""The long-running process behind the hooks: it keeps the package, the store and the sessions loaded, and exits after
some idle time.

Events are handled one after the other, so that everything recorded before a compaction is available after it. All state
is in the store and in the hosts' transcripts, so the process may be killed at any time.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tokenmizer_mw.errors import ConfigError, TokenMizerError, raised_at
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.settings import ENVIRONMENT_PREFIX, Settings
from tokenmizer_mw.store.choosing import resolve_store

from . import NOTHING, WorkerFiles, alone, receive_request, store_address
from .events import SEPARATOR, Event, read_event
from .handling import Hooks
from .start import path_of

_logger = logging.getLogger("tokenmizer_mw")

STATUS: Final = b"status"
"""Request instead of an event. The answer has three numbers: the worker's process id, the CPU seconds that it has used,
and those that it had used when it answered the last event."""

STOP: Final = b"stop"
"""Request instead of an event: the worker exits. The connection is closed when it has finished all work."""


class WorkerState:
    """The open store and the ``Hooks`` of a worker, for the store and settings in ``environ`` (environment variables).

    The store is opened at the first event. It is opened again when its file was replaced, or when the installation uses
    another store because a server started or stopped. ``spot``: the files of the worker; ``None`` if the event is
    handled without a worker.
    """

    def __init__(self, environ: Mapping[str, str], spot: WorkerFiles | None = None) -> None:
        self._environ = environ
        self._spot = spot
        self._hooks: Hooks | None = None
        self._memory: SessionMemory | None = None
        self._file: tuple[str, tuple[int, int] | None] | None = None
        self._event = ""
        self.answered_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, head: bytes, payload: bytes) -> bytes:
        """Handle an event, and then the work that need not be done before the answer. Returns "ok", a line end and the
        answer for the host (the coding agent), which may be empty; or "no", a line end and an error message. Never
        raises.

        ``head``: event name, host, project and folder, separated by 0x1F. ``payload``: the event in JSON.
        """
        answer, _ = self.answer_event(head, payload)
        self.finish()
        return answer

    def answer_event(self, head: bytes, payload: bytes) -> tuple[bytes, Event | None]:
        """Handle an event without the work that ``finish`` does. Returns the answer, as ``answer`` does, and the event
        if the answer has something for the host, else ``None``. Never raises."""
        try:
            name, host, project, folder = head.decode("utf-8", "surrogateescape").split("\x1f")
            self._event = name
            event = read_event(name, host, payload, project=project, folder=folder)
            values = self._open_hooks().handle(event)
        except TokenMizerError as error:
            return self._refuse(str(error)), None
        except ValueError as error:
            return self._refuse(f"the event cannot be read: {error}"), None
        except Exception as error:
            return self._refuse(f"a fault of tokenmizer-mw itself: {_place_of(error)}"), None
        return b"ok\n" + values.encode("utf-8", "replace"), event if values else None

    def complete(self, head: bytes, payload: bytes, answered: bytes) -> None:
        """Handle an event whose host already got the answer ``answered``, and finish its work. If that answer was empty
        although there is one for the host, the next prompt of the session gets the resume block. Never raises."""
        _, event = self.answer_event(head, payload)
        if event is not None and answered == NOTHING:
            self.note_unanswered(event)
        self.finish()

    def finish(self) -> None:
        """Do the work that was left over until the host had its answer. Never raises; errors are logged."""
        self.answered_at = time.process_time()
        if self._hooks is not None:
            self._run_logged(self._hooks.finish)

    def _run_logged(self, *steps: Callable[[], object]) -> None:
        """Call ``steps`` in order; the first error ends this and is logged."""
        try:
            for step in steps:
                step()
        except TokenMizerError as error:
            self._log_error(str(error))
        except Exception as error:
            self._log_error(f"a fault of tokenmizer-mw itself: {_place_of(error)}")

    def note_unanswered(self, event: Event) -> None:
        """Note that the host of ``event`` left before it got its answer; the next prompt of the session then gets the
        resume block."""
        if self._hooks is not None:
            self._hooks.note_unanswered(event, "unheard")

    def _refuse(self, sentence: str) -> bytes:
        """Return the answer that reports the error ``sentence`` to the host, and log it."""
        if self._spot is not None:  # the process that the host waits for prints the answer itself
            self._log_error(sentence)
        return b"no\n" + sentence.encode("utf-8", "replace")

    def _log_error(self, sentence: str) -> None:
        _logger.error("hook %s: %s", self._event or "without a name", " ".join(sentence.split())[:500])

    def _open_hooks(self) -> Hooks:
        address = resolve_store(store_address(self._environ), self._environ, extra="mcp")
        if self._hooks is None or self._file != (address, _identity(address)):
            self.close()
            self._memory = SessionMemory.open(address, _settings(self._environ))
            self._hooks = Hooks(
                self._memory,
                notes=Path(self._spot.folder) if self._spot else None,
                pending=Path(self._spot.pending) if self._spot else None,
                path=path_of(address),
                spot=self._spot,
            )
            self._file = (address, _identity(address))
        return self._hooks

    def close(self) -> None:
        """Do the work that is left over and build resume blocks in advance, unless the store's file was replaced; then
        close the store. The next event opens it again. Errors of that work are logged."""
        if self._hooks is not None and self._file is not None and self._file[1] == _identity(self._file[0]):
            self._run_logged(self._hooks.finish, self._hooks.prepare)
        if self._memory is not None:
            self._memory.close()
        self._memory = self._hooks = None


def _place_of(error: BaseException) -> str:
    """Return type and place of an exception, without its text, which may quote messages."""
    return f"{type(error).__name__} in {raised_at(error)}"


def _settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings that the environment names, with a project separator. Raises ``ConfigError``."""
    named = any(ENVIRONMENT_PREFIX + field.name.upper() in environ for field in fields(Settings))
    settings = Settings.load(None, environ) if named else Settings()  # reading them loads a library for that
    return settings.with_(project_separator=settings.project_separator or SEPARATOR)


def _identity(address: str) -> tuple[int, int] | None:
    """Return device and inode number of the store's file, to notice when it is replaced; ``None`` if there is no
    file."""
    try:
        path = path_of(address)
        found = os.stat(path) if path else None
    except (OSError, ConfigError):
        return None
    return (found.st_dev, found.st_ino) if found is not None else None


def serve(
    listener: socket.socket,
    spot: WorkerFiles,
    work: WorkerState,
    linger: float,
    first: tuple[socket.socket, bytes] | None = None,
) -> None:
    """Answer the events that arrive at ``listener`` until none arrives for ``linger`` seconds, or until a stop request
    arrives; then remove the socket's file and close ``work``.

    ``first``: a connection whose request was read already, and that request; ``None`` for none. The sender of a stop
    request gets its answer, the end of the connection, when all work is done.
    """
    stopping: list[socket.socket] = []
    if first is not None:
        _answer(*first, work, stopping)
    while not stopping:
        listener.settimeout(linger)
        try:
            link, _ = listener.accept()
        except TimeoutError:
            break
        _receive_and_answer(link, work, stopping)
    with alone(spot):
        with suppress(FileNotFoundError):
            os.unlink(spot.socket)
        listener.setblocking(False)
        with suppress(BlockingIOError):  # who came meanwhile
            while True:
                link, _ = listener.accept()
                _receive_and_answer(link, work, stopping)
    work.close()
    for link in stopping:
        link.close()


def _receive_and_answer(link: socket.socket, work: WorkerState, stopping: list[socket.socket]) -> None:
    try:
        request = receive_request(link)
    except OSError:
        link.close()
        work.finish()
        return
    _answer(link, request, work, stopping)


def _answer(link: socket.socket, request: bytes, work: WorkerState, stopping: list[socket.socket]) -> None:
    head, _, payload = request.partition(b"\n")
    if head == STOP:
        stopping.append(link)
        return
    event: Event | None = None
    answer = _status(work) if head == STATUS else b""
    if not answer:
        answer, event = work.answer_event(head, payload)
    try:
        link.sendall(answer)
    except OSError:
        if event is not None:
            work.note_unanswered(event)
    link.close()
    if head != STATUS:
        work.finish()


def _status(work: WorkerState) -> bytes:
    return f"ok\n{os.getpid()} {time.process_time():.6f} {work.answered_at:.6f}\n".encode()
