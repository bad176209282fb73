"""Every Python example of the documentation runs as it stands, page by page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = [
    Path(__file__).parent.parent / "docs" / name
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
