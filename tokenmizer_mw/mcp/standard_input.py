"""Standard input that ends when the user presses Ctrl-C.

The SDK reads it in a thread that no cancellation stops: without this, the process waits for the client's next line. A
thread copies the real input into a pipe, which takes its place; an interrupt ends the pipe, and with it the session, as
if the client had gone.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_CHUNK: Final = 64 * 1024


@contextmanager
def interruptible_input() -> Iterator[None]:
    """Standard input ends at SIGINT while the context lasts; then ``KeyboardInterrupt`` is raised.

    Nothing changes where SIGINT is ignored or handled by somebody else, and on systems without ``select`` for files.
    """
    if os.name != "posix" or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    waking, wake = os.pipe()
    reading, writing = os.pipe()
    real = os.dup(0)
    os.dup2(reading, 0)
    os.close(reading)
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        interrupted.set()
        os.write(wake, b"\0")

    signal.signal(signal.SIGINT, interrupt)
    threading.Thread(target=_copy, args=(real, waking, writing), name="standard-input", daemon=True).start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.write(wake, b"\0")
    if interrupted.is_set():
        raise KeyboardInterrupt


def _copy(real: int, waking: int, writing: int) -> None:
    """Copy ``real`` into ``writing`` until either ends or ``waking`` says so."""
    with suppress(OSError):
        while waking not in (ready := select.select([real, waking], [], [])[0]) and ready:
            data = os.read(real, _CHUNK)
            if not data:
                break
            while data:
                data = data[os.write(writing, data) :]
    os.close(writing)
