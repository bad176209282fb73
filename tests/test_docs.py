"""Every Python example of the documentation runs as it stands, page by page."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from tokenmizer_mw import Settings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    DOCS / name
    for name in (
        "access.md",
        "compression.md",
        "dashboard.md",
        "cache.md",
        "exports.md",
        "files.md",
        "library.md",
        "middleware.md",
        "outgoing.md",
        "refining.md",
        "safety.md",
        "savings.md",
        "translation.md",
    )
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": page.stem})


def test_the_page_of_settings_is_current() -> None:
    """Where it is not: ``make pages``."""
    code = "from settings_page import PAGE, page; raise SystemExit(page() != PAGE.read_text(encoding='utf-8'))"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = ['scripts', '.']; {code}"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_every_setting_has_one_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "settings.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(row for row in rows if row.islower()) == sorted(field.name for field in fields(Settings))


def test_every_extra_is_on_the_page() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    _, _, table = (DOCS / "installing.md").read_text(encoding="utf-8").partition("| extra |")
    rows = re.findall(r"^\| (`.*?) \|", table.partition("\n\n")[0], flags=re.MULTILINE)
    assert set(extras) == {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_installs_what_is_there(page: Path) -> None:
    """The packages are on no index: pages install from a checkout, and a page with code says what to install."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"pipx? install [^\n]*tokenmizer-mw(?:\[|\b)", text)
    assert "```python" not in text or page.stem == "design" or re.search(r"^\$ pip install ", text, flags=re.MULTILINE)
