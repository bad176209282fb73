"""What some tests need around them: servers, where they are, and what becomes of a test when nothing answers there; and
environments in which a library is not installed.

A test that needs one asks for its address inside the test or in a fixture. Where nothing answers, the test is
skipped with the reason; where ``TOKENMIZER_REQUIRE_SERVICES`` is "1" it fails.
"""

from __future__ import annotations

import functools
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NoReturn
from urllib.parse import urlsplit

import pytest

REQUIRED: Final = "TOKENMIZER_REQUIRE_SERVICES"
_SECONDS: Final = 5.0


def postgres() -> str:
    """The address of a PostgreSQL database in which tests may make schemas of their own, and must drop them."""
    return _answering("TOKENMIZER_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test", 5432)


def redis() -> str:
    """The address of a Redis in which tests may write keys with a prefix of their own, and must delete them."""
    return _answering("TOKENMIZER_TEST_REDIS", "redis://127.0.0.1:6379", 6379)


def program(name: str) -> str:
    """The path of a server's program that a test starts and stops by itself."""
    found = shutil.which(name)
    if found is None:
        missing(f"{name} is not installed")
    return found


def _answering(variable: str, default: str, port: int) -> str:
    address = os.environ.get(variable) or default
    parts = urlsplit(address)
    if not _answers(parts.hostname or "127.0.0.1", parts.port or port):
        missing(f"nothing answers at the address in {variable} or at its default")
    return address


@functools.cache
def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _SECONDS).close()
    except OSError:
        return False
    return True


def missing(reason: str) -> NoReturn:
    """Skip the test for this reason, or fail it where ``TOKENMIZER_REQUIRE_SERVICES`` is "1"."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{reason}, and {REQUIRED} is 1")
    pytest.skip(reason)


def run_without(library: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run this Python with ``arguments`` in the folder ``home``, where all that is installed here is installed except
    ``library``."""
    with TemporaryDirectory() as links:
        for installed in Path(sysconfig.get_path("purelib")).iterdir():
            if not installed.name.startswith(library):
                Path(links, installed.name).symlink_to(installed)
        paths = os.pathsep.join([str(Path(__file__).parents[1]), links])
        return _run_alone(arguments, home, paths)


def _run_alone(arguments: Sequence[str], home: Path, paths: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", *arguments],  # -S: nothing else is installed than what the variable names
        cwd=home,
        env={**os.environ, "HOME": str(home), "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
