"""Statements for SQLite keep to what every Python takes."""

from __future__ import annotations

import re
from pathlib import Path

STORE = Path(__file__).parents[2] / "tokenmizer_mw"


def test_placeholders_have_names_or_none() -> None:
    """Numbered ones with a sequence of values warn under Python 3.12.1 and are an error from 3.14 on."""
    numbered = re.compile(r"[=(,<> ]\s*\?[0-9]")
    files = [path for path in STORE.rglob("*.py") if "sqlite" in path.read_text(encoding="utf-8")]
    assert files
    assert [path.name for path in files if numbered.search(path.read_text(encoding="utf-8"))] == []
