"""What ``make check-pages`` installs for a page can be installed; nothing is installed here."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.check_pages import ROOT, wanted
from scripts.page_commands import GIVEN, Given

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def check_requirement(text: str) -> None:
    """Raise an error unless this is a folder of ours with extras that it has, or a valid requirement."""
    folder, _, extras = text.rstrip("]").partition("[")
    if folder != "." and "/" not in folder:
        Requirement(text)
        return
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {*filter(None, extras.split(","))} <= {*project["optional-dependencies"]}, text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_asks_for_are_requirements(page: Path) -> None:
    for text in wanted(page):
        check_requirement(text)


@pytest.mark.parametrize(
    ("name", "line", "asked"),
    [
        ("README.md", '$ pip install ".[proxy,mcp]" && tokenmizer-mw serve  # two commands', [".[proxy,mcp]"]),
        ("README.md", "as `pip install . fastapi` does", [".", "fastapi"]),
        ("page.md", "$ pip install . uvicorn; uvicorn app:app", [".", "uvicorn"]),
        ("page.md", '$ pipx install ".[mcp]" | cat', [".[mcp]"]),
    ],
)
def test_the_next_command_of_a_line_is_not_installed(tmp_path: Path, name: str, line: str, asked: list[str]) -> None:
    page = tmp_path / name
    page.write_text(f"```console\n{line}\n```\n", encoding="utf-8")
    assert wanted(page) == [*asked, *GIVEN.get(name, Given()).packages]
