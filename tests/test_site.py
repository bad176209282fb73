"""The site of ``docs/``: every page in its navigation, every link and anchor there, no warning of any kind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
built = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings")),
    reason="the extra docs is not installed: make site",
)


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"([\w-]+\.md)$", text.partition("\nnav:")[2], flags=re.MULTILINE)
    assert sorted(named) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_links_between_pages_lead_somewhere() -> None:
    for page in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@built
def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "SessionMemory.record" in (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
