"""Reads a file in a child process, so that a malicious file cannot exhaust the caller's memory or time. This module has
the code of both processes.

The child is a new interpreter and not a fork, because threads of the caller may hold locks. Redaction stays in the
parent, so that the child does not see its key. The child is not a sandbox: it has the caller's permissions.

Each line of the protocol is one JSON value. The parent sends the job; the child asks for what only the parent can do
(report progress, redact secrets), waits for each answer, and sends its result last.
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from .digest import DigestLine, Report, format_size
from .kinds import reader_of
from .reading import FileSource, Stopped, open_source

MEMORY_MAX: Final = 256 * 1024 * 1024
"""Default for the memory in bytes that reading one file may take, beyond that of an interpreter."""

SECONDS_MAX: Final = 20.0
"""Default for the seconds that reading one file may take."""

_GRACE: Final = 5.0
"""Seconds that the child process still has to report what it has read, once its time is over; then it is killed."""

_VALUE_MAX: Final = 32 * 1024 * 1024
"""Largest size in bytes of one value that the child process may send."""

_ROOT: Final = str(Path(__file__).parents[3])
_CODE: Final = """
import sys
sys.path.insert(0, sys.argv[1])
import tokenmizer_mw
sys.path.append(sys.path.pop(0))
from tokenmizer_mw.saving.files.apart import main
main()
"""
"""Program of the child process. It imports this package from where the caller has it, and everything else as usual."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for reading one file in a child process: ``memory`` in bytes, beyond that of an interpreter, and
    ``seconds`` of time."""

    memory: int = MEMORY_MAX
    seconds: float = SECONDS_MAX


def read_apart(source: FileSource, name: str, limits: ReadingLimits) -> tuple[str, Report]:
    """Read a file in a child process; return its kind and its report. If a limit is reached, the report is partial and
    ``broke`` names the limit. If the child sends no report, the kind is "binary", and ``broke`` says why."""
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
    """Answer the child's questions until it sends its report, and return that; ``None`` if it ends before."""
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
    """Return why the child process ended without a report, as a text for the digest. ``status``: its exit status;
    ``overdue``: whether it was killed because its time was over."""
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
    """Context manager that yields what the child opens (a path or a file descriptor) and the descriptors that it
    inherits. A file without a descriptor is copied first."""
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


_SIGNAL_GRACE: Final = 1
"""Seconds of CPU time between the signal that ends the reading and the one that ends the process."""


class Dialogue:
    """The child process's connection to its parent, over standard input and output."""

    def __init__(self) -> None:
        self._requests, self._answers = sys.stdout.buffer, sys.stdin.buffer

    def receive(self) -> Any:
        """Return the parent's next value. Raises ``EOFError`` if the parent has exited."""
        line = self._answers.readline()
        if not line:
            raise EOFError
        return json.loads(line)

    def send(self, value: Any) -> None:
        """Send one value to the parent, as one line of JSON."""
        self._requests.write(json.dumps(value).encode() + b"\n")
        self._requests.flush()

    def advance(self, done: int) -> None:
        """Report to the parent that ``done`` more bytes were read. Raises ``Stopped`` if the parent wants to stop."""
        self.send(["advance", done])
        if not self.receive():
            raise Stopped

    def mask(self, name: str, value: str) -> str:
        """Have the parent redact secrets in ``value``, a value in a table or an object, and return the result.

        ``name``: the name of the value's column or field, which helps to detect a secret.
        """
        self.send(["mask", name, value])
        return str(self.receive())

    def clean(self, text: str) -> str:
        """Have the parent process redact secrets in ``text``, and return the result. Waits for the parent."""
        self.send(["clean", text])
        return str(self.receive())


class Deadline:
    """Raises ``Stopped`` in the code that reads the file, ``seconds`` after its construction; ``passed`` is true from
    then on. Without effect where the system has no interval timers."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.passed = seconds, False
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again, should a library have swallowed the first

    def _stop(self, *_: object) -> None:
        self.passed = True
        raise Stopped

    def cancel(self) -> None:
        """Cancel the deadline: from now on it does not raise ``Stopped`` any more."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def limit_process(memory: int, seconds: float) -> None:
    """Limit this process to ``memory`` more bytes and about ``seconds`` of CPU time, and forbid it to write files and
    core dumps, as far as the system supports that."""
    try:
        import resource
    except ImportError:
        return
    with suppress(ValueError, OSError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, used + memory)
    with suppress(ValueError, OSError):
        _lower(resource.RLIMIT_CPU, int(seconds) + 1 + _SIGNAL_GRACE)
    with suppress(ValueError, OSError):
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, 0)


def _lower(which: int, limit: int) -> None:
    import resource

    hard = resource.getrlimit(which)[1]
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(which, (limit, limit))


def main() -> None:
    """Run the child process: receive the job, read the file, send the result, and exit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent, which ends this process
    dialogue = Dialogue()
    job = dialogue.receive()
    file: BinaryIO = open(job["file"], "rb")  # noqa: SIM115 - the process ends with it
    limit_process(job["memory"], job["seconds"])
    deadline = Deadline(job["seconds"])
    try:
        result = _result(job, file, dialogue, deadline)
    except MemoryError:
        result = _report_failure(f"reading it takes more than {format_size(job['memory'])} of memory")
    except Stopped:
        result = _report_failure(_too_slow(deadline))
    except Exception as error:  # a hostile file may break any library; the reason is all that is left to report
        result = _report_failure(f"it cannot be read: {type(error).__name__}")
    deadline.cancel()
    dialogue.send(result)
    os._exit(0)  # nothing to tidy up, and freeing a tree of many objects takes time


def _result(job: Mapping[str, Any], file: BinaryIO, dialogue: Dialogue, deadline: Deadline) -> list[Any]:
    name, source = open_source(file, job["name"], dialogue.advance, dialogue.mask, dialogue.clean)
    kind, reader = reader_of(name, source)
    report = reader(source)
    deadline.cancel()
    broke = report.broke or source.broke
    if deadline.passed:
        broke = f"{broke}: {_too_slow(deadline)}" if broke else _too_slow(deadline)
    return ["report", kind, {**asdict(report), "broke": broke}]


def _too_slow(deadline: Deadline) -> str:
    return f"reading it takes more than {deadline.seconds:g} s"


def _report_failure(why: str) -> list[Any]:
    return ["report", "binary", {"title": "file", "broke": why}]
