"""What the README shows runs, with a server of the tests in the provider's place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.page_commands import GIVEN
from tests.upstream.server import Upstream

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


def test_its_snippets_run_one_after_the_other(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{upstream.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    names: dict[str, Any] = {}
    exec(GIVEN["README.md"].python, names)
    for snippet in SNIPPETS:
        exec(snippet, names)
    assert capsys.readouterr().out.count("PostgreSQL") >= 2
    names["client"].close()
    names["memory"].close()


def test_it_fits_a_few_screens() -> None:
    """Status and long tables are pages of their own."""
    assert len(README.splitlines()) <= 114
