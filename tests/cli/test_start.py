"""What the program does before it does anything: it starts fast and complains in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory

HEAVY = (
    *("fastapi", "starlette", "pydantic", "rich", "tiktoken", "uvicorn", "openai", "yaml", "platformdirs", "anyio"),
    *("dataclasses", "logging", "tokenmizer_mw.wire", "tokenmizer_mw.model.session"),
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tokenmizer_mw", *arguments], capture_output=True, text=True, timeout=60
    )


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom tokenmizer_mw.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


NOT_FOR_READING = (
    *("asyncio", "anyio", "ssl", "tokenmizer_mw.extract.derive", "tokenmizer_mw.safety.redact"),
    *("tokenmizer_mw.operations.backups", "tokenmizer_mw.saving.compress", "tokenmizer_mw.server"),
)


@pytest.mark.parametrize(
    "arguments", [["sessions"], ["why", "s", "postgres"], ["search", "s", "postgres"], ["edits", "s"], ["graph", "s"]]
)
def test_a_command_that_reads_does_not_load_what_records(arguments: list[str], tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'read.db'}"
    with SessionMemory.open(store) as memory:
        memory.record("s", [{"role": "user", "content": "Use postgres for the database."}])
    code = (
        "import sys\nfrom tokenmizer_mw.cli import main\n"
        f"assert main({[*arguments, '--store', store]!r}) == 0\n"
        f"print([name for name in {NOT_FOR_READING!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["--help"], ["resume", "--help"], ["demo", "--help"], ["--version"]])
def test_help_is_on_standard_output(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tokenmizer-mw" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["dance"], ["resume"], ["resume", "s", "--level", "huge"], ["resume", "s", "--budget", "x"], ["why", "s"]],
)
def test_misuse_is_one_line_and_status_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tokenmizer-mw: error: ")
    assert done.stderr.count("\n") == 1


def test_install_says_that_aider_works_through_the_proxy() -> None:
    done = run("install", "aider")
    assert (done.returncode, done.stdout) == (2, "")
    assert "aider has neither hooks nor MCP and works through the proxy" in done.stderr
    assert "aider --openai-api-base" in done.stderr and "github.com" not in done.stderr
    assert "docs/proxy.md" in done.stderr and done.stderr.count("\n") == 1
    assert "invalid choice: 'emacs'" in run("install", "emacs").stderr


def test_the_demo_says_what_is_missing_before_it_starts() -> None:
    code = (
        "import importlib.util as util; found = util.find_spec;"
        " util.find_spec = lambda name, *more: None if name == 'fastapi' else found(name, *more);"
        " from tokenmizer_mw.cli import main; raise SystemExit(main(['demo']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tokenmizer-mw: error: fastapi is not installed: pip install ")


@pytest.mark.parametrize(
    ("arguments", "whose"),
    [(["demo", "--json"], "demo "), (["export", "s", "--jsn"], "export "), (["--json", "sessions"], "")],
)
def test_an_unknown_option_points_to_the_help_that_lists_the_known_ones(arguments: list[str], whose: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.endswith(f"(see tokenmizer-mw {whose}--help)\n")
