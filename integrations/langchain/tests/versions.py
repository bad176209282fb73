"""Runs the tests on the oldest and the newest versions that are supported, each in a virtual environment of its own.

    python integrations/langchain/tests/versions.py [LINE ...]

``oldest-classic``: chat history, callbacks and memory of chains on the first 1.0 releases, without agents.
``oldest``: agents on the oldest supported LangChain. ``resolved``: what pip chooses today. ``newest``: the newest of
everything, also where a requirement of theirs is newer than what an index has.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TESTS = HERE / "unit_tests"
WITHOUT_AGENTS = ("test_messages.py", "test_history.py", "test_memory.py", "test_callbacks.py")


@dataclass(frozen=True)
class Line:
    """``pins`` are installed with the distribution, ``forced`` after it and without their requirements."""

    pins: tuple[str, ...]
    forced: tuple[str, ...] = ()
    tests: tuple[str, ...] = ("",)
    extras: str = "agents,classic"


LINES = {
    "oldest-classic": Line(("langchain-core==1.0.0", "langchain-classic==1.0.0"), (), WITHOUT_AGENTS, "classic"),
    "oldest": Line(("langchain==1.2.18", "langchain-core==1.3.3", "langgraph==1.1.10", "langchain-classic==1.0.0")),
    "resolved": Line(()),
    "newest": Line((), ("langchain", "langchain-core", "langchain-classic", "langgraph")),
}


def run(name: str, line: Line) -> int:
    """The exit status of the tests on one line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        distribution = f"{HERE.parent}[{line.extras}]"
        subprocess.run([*install, "-e", str(ROOT), "-e", distribution, "pytest>=8.4", *line.pins], check=True)
        if line.forced:
            subprocess.run([*install, "--no-deps", "--upgrade", *line.forced], check=True)
        names = ("langchain", "langchain-core", "langchain-classic", "langgraph", "pydantic")
        asked = "from importlib.metadata import distributions as d; "
        asked += f"print(*sorted(f'{{x.name}} {{x.version}}' for x in d() if x.name in {names}), sep=', ')"
        found = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
        print(f"{name}: {found}", flush=True)
        tests = [str(TESTS / test) for test in line.tests]
        # Old releases warn about newer ones of what they need; that is not ours to answer for.
        return subprocess.run([python, "-m", "pytest", "-o", "filterwarnings=default", *tests], cwd=ROOT).returncode


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(LINES)
    failed = [name for name in chosen if run(name, LINES[name])]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
