"""docs/exports.md: its table is the table of formats, and its commands run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.cli import main
from tokenmizer_mw.graph.export.formats import FORMATS
from tokenmizer_mw.graph.export.selection import NODES_MAX

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "exports.md").read_text(encoding="utf-8")


def test_the_formats_are_those_that_there_are() -> None:
    rows = [f"| `{name}` | `{one.suffix}` | {one.about} |" for name, one in FORMATS.items()]
    assert re.findall(r"^\| `.*$", PAGE, flags=re.MULTILINE) == rows


def test_the_number_of_facts_is_the_setting() -> None:
    assert Settings().export_nodes_max == NODES_MAX
    assert f"at most `export_nodes_max` facts (a setting, {NODES_MAX:,} by default)" in PAGE


def test_the_commands_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = SessionMemory.open("sqlite:///hall.db")
    memory.record("hall", [{"role": "user", "content": "We use SQLite for storage. Please write the schema."}])
    memory.close()
    [_, block] = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)  # the first one installs
    for line in block.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        if program == "export":
            name, _, value = arguments[0].partition("=")
            monkeypatch.setenv(name, value)
        else:
            assert program == "tokenmizer-mw"
            assert main(arguments) == 0
    assert "SQLite" in (tmp_path / "hall.html").read_text(encoding="utf-8")
    assert (tmp_path / "hall.md").read_text(encoding="utf-8").startswith("# hall")
    printed = capsys.readouterr().out
    assert "flowchart LR" in printed
    assert "\u2514\u2500\u2500" in printed


def test_pictures_are_small() -> None:
    [picture] = re.findall(r"!\[[^]]+\]\((images/[a-z_-]+\.png)\)", PAGE)
    assert 10_000 < (DOCS / picture).stat().st_size < 150_000
