"""Every example runs as it stands and says what it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAYS = {
    "agent": ("messages in the thread: 84", "agent's own: 0", "PostgreSQL"),
    "summarization": ("calls of the model: 16 for 16 turns", "Here is a summary", "SQLite"),
    "conversation": ("calls of the model: 3 for 3 turns", "Never push to main", "PostgreSQL"),
    "history": ("messages kept of five runs: 10",),
    "graph": ("Decided: PostgreSQL",),
    "watching": ("Decided: SQLite for storage",),
}


def test_all_examples_are_tried() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"scripted"} == set(SAYS)


@pytest.mark.nightly
@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True, timeout=120)
    if name == "summarization" and "no summarizer= in SummarizationMiddleware" in done.stderr:
        pytest.skip("this langchain takes no summarizer")
    assert done.returncode == 0, done.stderr
    for said in SAYS[name]:
        assert said in done.stdout
