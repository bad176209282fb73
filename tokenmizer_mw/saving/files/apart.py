"""Reads a file in a child process, so that a malicious file cannot exhaust the caller's memory or time.

Starts a new interpreter instead of a fork, because threads of the caller may hold locks. Redaction stays in the parent,
so that the child does not see its key. The child is not a sandbox: it has the caller's permissions.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from .digest import DigestLine, Report, format_size
from .reading import FileSource, Stopped

MEMORY_MAX: Final = 256 * 1024 * 1024
"""Bytes of memory that reading one file may take beyond what an interpreter takes."""

SECONDS_MAX: Final = 20.0
"""Seconds that reading one file may take."""

_GRACE: Final = 5.0
"""Seconds in which the process may report what it has read, once its time is over."""

_VALUE_MAX: Final = 32 * 1024 * 1024
"""Bytes of one value that the process sends."""

_ROOT: Final = str(Path(__file__).parents[3])
_CODE: Final = """
import sys
sys.path.insert(0, sys.argv[1])
import tokenmizer_mw
sys.path.append(sys.path.pop(0))
from tokenmizer_mw.saving.files.child import main
main()
"""
"""Loads this package from where the caller has it, and all else from where the interpreter looks first."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for reading one file: ``memory`` in bytes, ``seconds`` of time."""

    memory: int = MEMORY_MAX
    seconds: float = SECONDS_MAX


def read_apart(source: FileSource, name: str, limits: ReadingLimits) -> tuple[str, Report]:
    """Return the kind of the file and its report. If a limit is reached, the report is partial and ``broke`` names the
    limit."""
    with _share_file(source.file) as (path, handles), _start_process(handles) as process:
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            process.kill()

        watch = threading.Timer(limits.seconds + _GRACE, end)
        watch.daemon = True
        watch.start()
        try:
            job = {"file": path, "name": name, "memory": limits.memory, "seconds": limits.seconds}
            _send(process, job)
            result = _converse(process, source)
        except (OSError, ValueError):  # it is gone, or what it sends makes no sense
            result = None
        finally:
            watch.cancel()
        if result is None:
            process.kill()
            return "binary", Report("file", broke=_why(process.wait(), overdue.is_set(), limits))
    return result


def _converse(process: subprocess.Popen[bytes], source: FileSource) -> tuple[str, Report] | None:
    """Answer what the process asks until it reports; ``None`` when it ends before."""
    assert process.stdout is not None
    while line := process.stdout.readline(_VALUE_MAX):
        match json.loads(line):
            case ["advance", int(done)]:
                _send(process, _advance(source, done))
            case ["mask", str(name), str(value)]:
                _send(process, source.mask(name, value))
            case ["clean", str(text)]:
                _send(process, source.clean(text))
            case ["report", str(kind), dict(report)]:
                return kind, _report(report)
            case _:
                return None
    return None


def _advance(source: FileSource, done: int) -> bool:
    try:
        source.advance(done)
    except Stopped:
        return False
    return True


def _send(process: subprocess.Popen[bytes], value: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(value).encode() + b"\n")
    process.stdin.flush()


def _report(value: dict[str, Any]) -> Report:
    lines = tuple(DigestLine(str(one["text"]), float(one["weight"])) for one in value.get("lines", ()))
    return Report(
        str(value["title"]),
        lines,
        str(value.get("broke", "")),
        tuple(map(str, value.get("more", ()))),
        value.get("facts", {}),
    )


def _why(status: int, overdue: bool, limits: ReadingLimits) -> str:
    """Why a process ended without a report."""
    if overdue or -status == getattr(signal, "SIGXCPU", None):
        return f"reading it takes more than {limits.seconds:g} s"
    return f"reading it failed: its contents may take more than {format_size(limits.memory)} of memory"


@contextmanager
def _start_process(handles: tuple[int, ...]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _CODE, _ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=handles,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


@contextmanager
def _share_file(file: BinaryIO) -> Iterator[tuple[str | int, tuple[int, ...]]]:
    """What the process opens, and the handles that it inherits. A file without a handle is copied first."""
    handle = _handle(file)
    if handle is not None and os.name == "posix":
        yield handle, (handle,)
        return
    folder = tempfile.mkdtemp()
    try:
        copy = Path(folder) / "file"
        with copy.open("wb") as target:
            file.seek(0)
            shutil.copyfileobj(file, target)
        yield str(copy), ()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _handle(file: IO[bytes]) -> int | None:
    try:
        return file.fileno()
    except OSError:  # io.UnsupportedOperation is one
        return None
