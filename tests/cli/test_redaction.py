from __future__ import annotations

import json
import random
import string
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.settings import Settings

Run = Callable[..., tuple[int, str, str]]


def secret() -> str:
    return "sk-" + "proj-" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=80))


@pytest.fixture
def leaky(store: str) -> list[dict[str, str]]:
    """A session that was kept before there was redaction."""
    said = [
        {"role": "user", "content": f"We decided on Redis for the queue, its key is {secret()}."},
        {"role": "assistant", "content": f"Done: wrote {secret()} to .env"},
        {"role": "user", "content": "thanks"},
    ]
    with closing(SessionMemory.open(store, Settings(redact=False))) as memory:
        memory.record("hall", said)
        memory.record("clean", [{"role": "user", "content": "We decided on FastAPI."}])
    return said


def test_stored_secrets_are_taken_out(run: Run, store: str, leaky: list[dict[str, str]]) -> None:
    path = Path(store.removeprefix("sqlite:///"))
    assert secret().encode() in b"".join(file.read_bytes() for file in path.parent.iterdir())
    status, out, _ = run("redact", "--stored", "--json")
    told = json.loads(out)
    assert (status, told["sessions"], list(told["changed"])) == (0, 2, ["hall"])
    assert secret().encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert json.loads(run("redact", "--stored", "--json")[1])["changed"] == {}
    with closing(SessionMemory.open(store)) as memory:
        assert "Redis" in memory.resume("hall").text
        assert memory.record("hall", leaky) == 0  # the client's history is recognised


def test_one_session_by_its_name(run: Run, leaky: list[dict[str, str]]) -> None:
    assert "0 of 1 sessions" in run("redact", "--stored", "--session", "clean")[1]
    assert run("redact", "--stored", "--session", "nobody")[0] == 2
    assert run("redact", "--session", "hall")[0] == 2


def test_options_that_contradict_each_other_change_nothing(
    run: Run, store: str, leaky: list[dict[str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "log.txt"
    file.write_text("fine\n")
    for options in (["--explain"], [str(file)], ["--explain", "--session", "hall"]):
        status, out, err = run("redact", "--stored", *options)
        assert (status, out, err.count("\n")) == (2, "", 1)
    with closing(SessionMemory.open(store, Settings(redact=False))) as memory:
        assert secret() in memory.messages("hall")[0].message.text


def test_a_text(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text(f"OPENAI_API_KEY={secret()}\nfine\n")
    status, out, _ = run("redact", str(file))
    assert status == 0 and secret() not in out and out.endswith("\nfine\n") and "redacted:" in out
    assert secret() not in run("redact", str(file), "--json")[1]
    assert "redacted" in run("redact", str(file), "--explain")[1]
    [row] = [
        row for row in json.loads(run("redact", str(file), "--explain", "--json")[1]) if row["outcome"] == "redacted"
    ]
    assert row["span"][1] - row["span"][0] == len(secret())


@pytest.mark.parametrize("raw", [None, b"\xff\xfe"])
def test_what_is_no_text(run: Run, tmp_path: Path, raw: bytes | None) -> None:
    file = tmp_path / "x"
    if raw is not None:
        file.write_bytes(raw)
    status, _, err = run("redact", str(file))
    assert status == 2 and err.count("\n") == 1


def test_standard_input(store: str) -> None:
    command = [sys.executable, "-m", "tokenmizer_mw", "redact", "--store", store]
    ran = subprocess.run(command, input=f"it is {secret()}\n", capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("it is redacted:") and secret() not in ran.stdout
