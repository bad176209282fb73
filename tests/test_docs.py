"""Every example of README and documentation runs as it stands, page by page: Python and commands."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from scripts.page_commands import GIVEN, NOT_RUN, application, commands, needs_postgres, run_commands
from tests import services
from tokenmizer_mw import Settings
from tokenmizer_mw.context.window import block_budget

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ELSEWHERE = {
    "README.md": "needs names of an application: test_readme.py",
    "design.md": "its code is no program",
    "langchain.md": "integrations/langchain/tests",
    "llamaindex.md": "integrations/llama-index/tests",
    "postgres.md": "its commands serve it, where PostgreSQL answers",
}
"""Pages whose Python does not run here, and why."""


def python_of(page: Path) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL))


PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
SHOWN = [page for page in PAGES if commands(page.read_text(encoding="utf-8")) or python_of(page)]


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.stem)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python in one go, then its commands in the same folder."""
    monkeypatch.chdir(tmp_path)
    if needs_postgres(page.name):
        services.postgres()
    monkeypatch.setenv("TOKENMIZER_DASHBOARD_TOKEN", secrets.token_urlsafe(24))  # as dashboard.md says
    if page.name not in ELSEWHERE:
        exec(compile(python_of(page), str(page), "exec"), {"__name__": page.stem})
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert run_commands(page, tmp_path, {**os.environ, "PATH": programs}) == []


def test_lists_of_exceptions_are_current() -> None:
    """What no page shows any more leaves the lists."""
    shown = [each for page in PAGES for each in commands(page.read_text(encoding="utf-8"))]
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, each) for each in shown)] == []
    assert set(GIVEN) <= {page.name for page in PAGES if commands(page.read_text(encoding="utf-8"))}
    assert set(ELSEWHERE) <= {page.name for page in SHOWN}


def test_pages_that_start_an_application_have_one() -> None:
    serving = [page for page in PAGES if "$ uvicorn app:app" in page.read_text(encoding="utf-8")]
    assert {page.name for page in serving} == {"dashboard.md", "postgres.md", "rest.md"}
    assert all("app = " in application(page.read_text(encoding="utf-8")) for page in serving)


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


BEGINS_AN_EXAMPLE = re.compile(r"```|\||[-*] |\d+\. |    |.*:$")
"""What may follow a sentence that ends with a colon: a block, a table, a list, or a sentence that announces its own."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_announced_examples_are_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    pieces = text.split("\n\n")
    announced = [(one, after) for one, after in zip(pieces, [*pieces[1:], ""], strict=True) if one.endswith(":")]
    assert [one for one, after in announced if not BEGINS_AN_EXAMPLE.match(after)] == []


def test_blocks_are_as_small_as_the_page_says() -> None:
    text = " ".join((DOCS / "middleware.md").read_text(encoding="utf-8").split())
    found = re.search(r"(\d+) tokens with a window of ([\d,]+), (\d+) with ([\d,]+), and (\d+) from ([\d,]+) on", text)
    assert found is not None
    numbers = [int(number.replace(",", "")) for number in found.groups()]
    for tokens, window in zip(numbers[::2], numbers[1::2], strict=True):
        assert block_budget("", Settings(context_window=window)) == tokens
    assert block_budget("", Settings(context_window=2 * numbers[-1])) == numbers[-2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tags_of_a_shown_block_differ(page: Path) -> None:
    """As they do in every real block: a reader should not look for a pair of equal numbers."""
    text = page.read_text(encoding="utf-8")
    opened, closed = (re.findall(rf"^<{slash}session-record (\d+)>", text, flags=re.MULTILINE) for slash in ("", "/"))
    assert len(opened) == len(closed)
    assert all(len(one) == len(other) == 12 and one != other for one, other in zip(opened, closed, strict=True))
