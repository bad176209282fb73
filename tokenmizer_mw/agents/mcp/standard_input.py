"""Standard input and output of a server that is asked by one client.

Two things that the SDK does not do. A thread copies the real input into a pipe, which takes its place: an interrupt
(Ctrl-C) ends the pipe, and with it the session, where the SDK would wait for the client's next line. And where the
client has closed the input, the pipe ends when all requests are answered, as another thread sees that copies the
output: the SDK cancels whatever is still at work when the input ends.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

ANSWER_SECONDS: Final = 60.0
"""How long requests are waited for once the input has ended."""

_CHUNK: Final = 64 * 1024
_STEP: Final = 0.05
_JOIN_SECONDS: Final = 5.0


class Unanswered:
    """Counts requests that went in and answers that came out, in pieces of lines as they pass. Safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._rest = {"in": b"", "out": b""}
        self._count = 0

    @property
    def count(self) -> int:
        """Requests without an answer."""
        with self._guard:
            return self._count

    def asked(self, data: bytes) -> None:
        """The client wrote this."""
        self._count_lines("in", data)

    def answered(self, data: bytes) -> None:
        """The server wrote this."""
        self._count_lines("out", data)

    def _count_lines(self, side: str, data: bytes) -> None:
        with self._guard:
            *lines, self._rest[side] = (self._rest[side] + data).split(b"\n")
            for line in lines:
                if side == "in":
                    self._count += _has(line, "method")
                else:
                    self._count -= _has(line, "result", "error")


def _has(line: bytes, *members: str) -> bool:
    """Whether a line is a message with an id and one of these members."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "id" in message and any(member in message for member in members)


@contextmanager
def interruptible_input() -> Iterator[None]:
    """Standard input ends at SIGINT while the context lasts, and then ``KeyboardInterrupt`` is raised; when the client
    closes it, it ends once all requests are answered.

    SIGINT stays as it is where it is ignored or handled by somebody else. Nothing changes on systems without ``select``
    for files.
    """
    if os.name != "posix":
        yield
        return
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    waking, wake = os.pipe()
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        interrupted.set()
        os.write(wake, b"\0")

    if ours:
        signal.signal(signal.SIGINT, interrupt)
    unanswered = Unanswered()
    with _output_through(unanswered):
        _input_through(unanswered, waking)
        try:
            yield
        finally:
            if ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            os.write(wake, b"\0")
    if interrupted.is_set():
        raise KeyboardInterrupt


def _input_through(unanswered: Unanswered, waking: int) -> None:
    """Put a pipe in the place of standard input, which a thread fills."""
    reading, writing = os.pipe()
    real = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    copying = threading.Thread(
        target=_copy_input, args=(real, waking, writing, unanswered), name="standard-input", daemon=True
    )
    copying.start()


def _copy_input(real: int, waking: int, writing: int, unanswered: Unanswered) -> None:
    """Copy ``real`` into ``writing`` until either ends or ``waking`` says so."""
    with suppress(OSError):
        while waking not in (ready := select.select([real, waking], [], [])[0]) and ready:
            data = os.read(real, _CHUNK)
            if not data:
                _await_answers(waking, unanswered)
                break
            unanswered.asked(data)
            _write(writing, data)
    os.close(writing)


def _await_answers(waking: int, unanswered: Unanswered) -> None:
    for _ in range(int(ANSWER_SECONDS / _STEP)):
        if unanswered.count <= 0 or select.select([waking], [], [], _STEP)[0]:
            return


@contextmanager
def _output_through(unanswered: Unanswered) -> Iterator[None]:
    """Put a pipe in the place of standard output, which a thread empties into the real one."""
    reading, writing = os.pipe()
    real = os.dup(1)
    os.dup2(writing, 1)
    os.close(writing)
    copying = threading.Thread(
        target=_copy_output, args=(reading, real, unanswered), name="standard-output", daemon=True
    )
    copying.start()
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(real, 1)  # the last writer of the pipe: the thread comes to its end
        copying.join(_JOIN_SECONDS)


def _copy_output(reading: int, real: int, unanswered: Unanswered) -> None:
    with suppress(OSError):
        while data := os.read(reading, _CHUNK):
            _write(real, data)
            unanswered.answered(data)
    os.close(reading)


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
