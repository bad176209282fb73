"""Start the MCP server with standard input and output that can be interrupted and that end cleanly.

Two things are added that the SDK lacks. First, a thread copies standard input into a pipe that takes its place: an
interrupt (Ctrl-C) closes the pipe and so ends the session, where the SDK would wait for the next line. Second, when the
client closes the input, the pipe is closed only after all requests are answered, because the SDK cancels unfinished
work at the end of the input; a second thread counts the answers on the output.

The ``initialize`` request is answered here, and the SDK is imported while the client already has that answer (see
``opening``). A line that is not a valid message is answered here, too, because the SDK only logs it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.collection import uncollected_imports

from . import KEY_VARIABLE, SERVER_VARIABLE, ServingOptions
from .opening import Opening, Unanswered

ANSWER_SECONDS: Final = 60.0
"""Seconds to wait for the answers to open requests after the input has ended."""

_CHUNK: Final = 64 * 1024
_STEP: Final = 0.05
_JOIN_SECONDS: Final = 5.0


class OutputWriter:
    """Writes the SDK's output to the file descriptor ``handle``, and lines of this package between the SDK's lines.
    Thread-safe."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._guard = threading.Lock()
        self._within_line = False
        self._waiting = b""

    def write(self, data: bytes) -> None:
        """Write a piece of the SDK's output."""
        with self._guard:
            if self._waiting and b"\n" in data:
                ended, _, data = data.partition(b"\n")
                data = ended + b"\n" + self._waiting + data
                self._waiting = b""
            _write(self._handle, data)
            if data:
                self._within_line = not data.endswith(b"\n")

    def insert(self, lines: bytes) -> None:
        """Write whole lines of this package, at once or as soon as the SDK's current line has ended."""
        with self._guard:
            if self._within_line:
                self._waiting += lines
            else:
                _write(self._handle, lines)


@contextmanager
def interruptible_input(opening: Opening) -> Iterator[None]:
    """While the context is active, SIGINT (Ctrl-C) closes standard input; at its end the context then raises
    ``KeyboardInterrupt``.

    ``opening``: answers the first requests of the client. When the client closes the input, the SDK's input ends as
    soon as all requests are answered, at the latest after ``ANSWER_SECONDS``. A SIGINT that is ignored or handled by
    other code is left alone. Does nothing on Windows.
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
    with _output_through(unanswered, opening) as output:
        _input_through(unanswered, opening, waking, output)
        try:
            yield
        finally:
            if ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            os.write(wake, b"\0")
    if interrupted.is_set():
        raise KeyboardInterrupt


def _input_through(unanswered: Unanswered, opening: Opening, waking: int, output: OutputWriter) -> None:
    """Replace standard input by a pipe, into which a thread copies the client's input. ``output``: for answers to
    it."""
    reading, writing = os.pipe()
    real = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    copying = threading.Thread(
        target=_copy_input,
        args=(real, waking, writing, output, unanswered, opening),
        name="standard-input",
        daemon=True,
    )
    copying.start()


def _copy_input(
    real: int, waking: int, writing: int, output: OutputWriter, unanswered: Unanswered, opening: Opening
) -> None:
    """Copy the input ``real`` into the pipe ``writing`` until either ends or until something is written to
    ``waking``."""
    with suppress(OSError):
        while waking not in (ready := select.select([real, waking], [], [])[0]) and ready:
            data = os.read(real, _CHUNK)
            passed, errors = unanswered.note_input(data)
            output.insert(opening.answer(passed) + errors)
            _write(writing, passed)
            if not data:
                _await_answers(waking, unanswered)
                break
    os.close(writing)


def _await_answers(waking: int, unanswered: Unanswered) -> None:
    for _ in range(int(ANSWER_SECONDS / _STEP)):
        if unanswered.count <= 0 or select.select([waking], [], [], _STEP)[0]:
            return


@contextmanager
def _output_through(unanswered: Unanswered, opening: Opening) -> Iterator[OutputWriter]:
    """Replace standard output by a pipe, which a thread copies to the real output; yield the writer to the real output.

    At the end the thread copies what is in the pipe and stops, even if other code (the SDK) keeps a duplicate open.
    """
    reading, writing = os.pipe()
    ended, ending = os.pipe()
    real = os.dup(1)
    os.dup2(writing, 1)
    os.close(writing)
    output = OutputWriter(real)
    copying = threading.Thread(
        target=_copy_output, args=(reading, ended, output, unanswered, opening), name="standard-output", daemon=True
    )
    copying.start()
    try:
        yield output
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(real, 1)
        os.close(ending)
        copying.join(_JOIN_SECONDS)


def _copy_output(reading: int, ended: int, output: OutputWriter, unanswered: Unanswered, opening: Opening) -> None:
    """Copy the pipe ``reading`` to ``output`` until it ends, or until it is empty and the other end of ``ended`` is
    closed."""
    with suppress(OSError):
        while reading in select.select([reading, ended], [], [])[0] and (data := os.read(reading, _CHUNK)):
            output.write(opening.filter_output(data))
            unanswered.note_output(data)
    os.close(reading)
    os.close(ended)


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def start_stdio(options: ServingOptions) -> None:
    """Serve one client on standard input and output until it disconnects.

    Raises ``KeyboardInterrupt`` at Ctrl-C, and ``ConfigError`` if the address or the API key of the server to use is
    invalid.
    """
    _check_server(options)
    with interruptible_input(Opening(options.version)):
        with uncollected_imports():
            from .serving import run_stdio
        run_stdio(options)


def start_http(options: ServingOptions, host: str, port: int) -> None:
    """Check ``options``, then serve over HTTP at ``host`` and ``port``, as ``serving.run_http`` does.

    Raises ``ConfigError`` also if the address or the API key of the server to use is invalid.
    """
    _check_server(options)
    with uncollected_imports():
        from .serving import run_http
    run_http(options, host, port)


def _check_server(options: ServingOptions) -> None:
    """Raise ``ConfigError`` if address or API key of the server to use is invalid, before the client has had an answer:
    after that the MCP server could only exit."""
    url = options.server or os.environ.get(SERVER_VARIABLE, "")
    key = os.environ.get(KEY_VARIABLE, "")
    if url and not _is_address(url):
        raise ConfigError(f"{url!r} is not the address of a server: give one such as http://127.0.0.1:8787")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{KEY_VARIABLE} has characters that no key has")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isascii()
    except ValueError:
        return False
