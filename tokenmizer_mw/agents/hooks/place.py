"""The files of a user's worker, in a directory that only this user can access."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from zlib import crc32

from tokenmizer_mw.store.address import absolute_address

STORE = "TOKENMIZER_STORE"
CONFIG = "TOKENMIZER_CONFIG"
WORKER = "TOKENMIZER_HOOK_WORKER"
"""Environment variable: "0" does the work in the process that the host waits for."""

RUNTIME = "TOKENMIZER_HOOK_DIR"
"""Environment variable: the directory, in place of the system's own."""

_PATH_MAX = 100


class WorkerFiles:
    """The files of one worker.

    ``socket``, ``lock``, ``log``; ``pending`` (exists while the worker has something to add to the next prompt);
    ``folder`` (the notes about transcripts).
    """

    __slots__ = ("folder", "lock", "log", "pending", "socket")

    def __init__(self, folder: str, name: str) -> None:
        self.folder = os.path.join(folder, name)
        self.socket = os.path.join(folder, f"{name}.sock")
        self.lock = os.path.join(folder, f"{name}.lock")
        self.log = os.path.join(folder, f"{name}.log")
        self.pending = os.path.join(folder, f"{name}.pending")


def place(environ: Mapping[str, str]) -> WorkerFiles | None:
    """Return the worker files for these settings; ``None`` if no worker is possible.

    That is so if the system has no Unix sockets, the user has switched the worker off, or the directory belongs to
    somebody else.
    """
    if environ.get(WORKER) == "0" or not hasattr(os, "fork"):
        return None
    for base in _bases(environ):
        folder = os.path.join(base, f"tokenmizer-mw-{os.getuid()}")
        found = WorkerFiles(folder, f"{_key(environ):08x}")
        if len(os.fsencode(found.socket)) <= _PATH_MAX and _own(folder):
            return found
    return None


def store_address(environ: Mapping[str, str]) -> str:
    """Return the store address in the environment, with a relative path made absolute; "" if there is none."""
    address = environ.get(STORE, "")
    return absolute_address(address, os.getcwd()) if address else ""


def config_path(environ: Mapping[str, str]) -> str:
    """Return the path of the proxy's configuration file in the environment, made absolute; "" if there is none."""
    path = environ.get(CONFIG, "")
    return os.path.abspath(path) if path else ""


def _bases(environ: Mapping[str, str]) -> list[str]:
    named = [environ[name] for name in (RUNTIME, "XDG_RUNTIME_DIR", "TMPDIR") if environ.get(name)]
    return [*named, "/tmp"]


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


def _own(folder: str) -> bool:
    """Whether ``folder``, made if need be, is a directory of this user's alone."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077
