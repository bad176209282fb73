"""Standard input and output of the MCP server, with a clean end.

Adds two things that the SDK lacks. A thread copies standard input into a pipe that replaces it: an interrupt (Ctrl-C)
closes the pipe and so ends the session, where the SDK would wait for the next line. When the client closes the input,
the pipe is closed only after all requests are answered (a second thread counts the answers on the output), because the
SDK cancels unfinished work at the end of the input.
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
    """Counts requests received and answers sent, from pieces of lines as they pass. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._rest = {"in": b"", "out": b""}
        self._count = 0

    @property
    def count(self) -> int:
        """Number of requests without an answer."""
        with self._guard:
            return self._count

    def note_request(self, data: bytes) -> None:
        """Count the requests in a piece of the input."""
        self._count_lines("in", data)

    def note_answer(self, data: bytes) -> None:
        """Count the answers in a piece of the output."""
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
    """Close standard input at SIGINT while the context is active, and then raise ``KeyboardInterrupt``.

    When the client closes the input, it ends once all requests are answered. A SIGINT that is ignored or handled by
    other code is left alone. Does nothing on systems without ``select`` for files.
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
            unanswered.note_request(data)
            _write(writing, data)
    os.close(writing)


def _await_answers(waking: int, unanswered: Unanswered) -> None:
    for _ in range(int(ANSWER_SECONDS / _STEP)):
        if unanswered.count <= 0 or select.select([waking], [], [], _STEP)[0]:
            return


@contextmanager
def _output_through(unanswered: Unanswered) -> Iterator[None]:
    """Put a pipe in the place of standard output, which a thread empties into the real one.

    At the end the thread copies what is in the pipe and stops, even if other code (the SDK) keeps a duplicate open.
    """
    reading, writing = os.pipe()
    ended, ending = os.pipe()
    real = os.dup(1)
    os.dup2(writing, 1)
    os.close(writing)
    copying = threading.Thread(
        target=_copy_output, args=(reading, ended, real, unanswered), name="standard-output", daemon=True
    )
    copying.start()
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(real, 1)
        os.close(ending)
        copying.join(_JOIN_SECONDS)


def _copy_output(reading: int, ended: int, real: int, unanswered: Unanswered) -> None:
    """Copy ``reading`` into ``real`` until it ends, or until it is empty and ``ended`` is closed at its other side."""
    with suppress(OSError):
        while reading in select.select([reading, ended], [], [])[0] and (data := os.read(reading, _CHUNK)):
            _write(real, data)
            unanswered.note_answer(data)
    os.close(reading)
    os.close(ended)


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
