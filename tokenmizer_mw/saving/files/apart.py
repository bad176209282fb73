"""Reads a file in a child process, so that a malicious file cannot exhaust the caller's memory or time: both ends.

Starts a new interpreter instead of a fork, because threads of the caller may hold locks. Redaction stays in the parent,
so that the child does not see its key. The child is not a sandbox: it has the caller's permissions.

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
from tokenmizer_mw.saving.files.apart import main
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
        """Send one value to the parent."""
        self._requests.write(json.dumps(value).encode() + b"\n")
        self._requests.flush()

    def advance(self, done: int) -> None:
        """Report ``done`` more bytes. Raises ``Stopped`` if the parent wants to stop."""
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
        """Have the parent redact secrets in ``text``, and return the result."""
        self.send(["clean", text])
        return str(self.receive())


class Deadline:
    """Raises ``Stopped`` in the reader after ``seconds``; ``passed`` is then true."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.passed = seconds, False
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again, should a library have swallowed the first

    def _stop(self, *_: object) -> None:
        self.passed = True
        raise Stopped

    def cancel(self) -> None:
        """Cancel the deadline."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def limit_process(memory: int, seconds: float) -> None:
    """Limit this process to ``memory`` more bytes and ``seconds`` of CPU time, where the system supports that."""
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
    """Read the job from standard input, read the file, and send the result."""
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
