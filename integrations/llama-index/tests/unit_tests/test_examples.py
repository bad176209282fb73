"""The examples run as they stand, and the page's and the README's too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
PAGES = [HERE / "README.md", HERE.parents[1] / "docs" / "llamaindex.md"]
EXPECTED = {
    "chat": (
        "0 messages from before",
        "PostgreSQL for storage in the invoice service (was SQLite for storage",
        "Never push to main without a review",
    ),
    "agent": ("42 messages are kept", "session-record"),
    "block": ("<session_record>", "PostgreSQL for storage (was SQLite for storage"),
}


def ran(*command: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=180, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXPECTED)
def test_an_example(name: str, tmp_path: Path) -> None:
    told = ran(str(HERE / "examples" / f"{name}.py"), folder=tmp_path)
    assert all(words in told for words in EXPECTED[name]), told
    again = ran(str(HERE / "examples" / f"{name}.py"), folder=tmp_path)
    assert name != "chat" or "30 messages from before" in again


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page(page: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    ran("page.py", folder=tmp_path)
