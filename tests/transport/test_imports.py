"""What loading costs: an HTTP library is loaded when its transport is used, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tokenmizer_mw
from tokenmizer_mw import ConfigError

SDKS = ("httpx", "httpx2", "openai", "anthropic")


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import tokenmizer_mw, tokenmizer_mw.memory, tokenmizer_mw.transports.base", []),
        ("from tokenmizer_mw import Transport, AsyncTransport", ["httpx2"]),
        ("from tokenmizer_mw import HttpxTransport, AsyncHttpxTransport", ["httpx"]),
    ],
)
def test_only_what_is_used_is_loaded(code: str, loaded: list[str]) -> None:
    code = f"import sys; {code}; print([name for name in {SDKS!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == str(loaded)


@pytest.mark.parametrize(
    "name", ["Transport", "AsyncTransport", "HttpxTransport", "AsyncHttpxTransport", "anthropic_middleware"]
)
def test_a_face_without_a_memory_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"SessionMemory\.open"):
        getattr(tokenmizer_mw, name)("sqlite:///memory.db")
