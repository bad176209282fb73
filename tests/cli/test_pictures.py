from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenmizer_mw.cli.arguments import FORMATS as NAMES
from tokenmizer_mw.graph.export.formats import FORMATS
from tokenmizer_mw.memory import SessionMemory

Run = Callable[..., tuple[int, str, str]]


def test_the_formats_of_the_command_are_those_that_there_are() -> None:
    assert {name: format.suffix for name, format in FORMATS.items()} == NAMES


@pytest.mark.parametrize("format", FORMATS)
def test_a_graph_goes_to_standard_output_or_into_a_file(filled: Run, tmp_path: Path, store: str, format: str) -> None:
    memory = SessionMemory.open(store)
    expected = memory.export("hall", format)
    memory.close()
    assert filled("export", "hall", "--format", format) == (0, expected, "")
    path = tmp_path / f"hall{FORMATS[format].suffix}"
    assert filled("export", "hall", "--format", format, "-o", str(path)) == (0, f"wrote {path}\n", "")
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("hall.html", "<!doctype html>"),
        ("hall.MD", "# hall"),
        ("hall.mmd", "flowchart"),
        ("hall.jsonl", '{"tokenmizer'),
    ],
)
def test_the_name_of_the_file_says_the_format(filled: Run, tmp_path: Path, name: str, begin: str) -> None:
    assert filled("export", "hall", "-o", str(tmp_path / name))[0] == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


def test_the_log_stays_the_default(filled: Run) -> None:
    assert filled("export", "hall")[1].startswith('{"tokenmizer_export"')
    assert filled("export", "hall", "--format", "log")[1] == filled("export", "hall")[1]


def test_a_graph_of_an_earlier_time(filled: Run) -> None:
    told = json.loads(filled("export", "hall", "--format", "d3", "--recorded-at", "1000000000")[1])
    assert told["nodes"] == []
    status, _, err = filled("export", "hall", "--recorded-at", "1000000000")
    assert (status, err) == (
        2,
        "tokenmizer-mw: error: the log is always whole: "
        "--message and times are for the graph, pass --format html or another\n",
    )


def test_what_was_written_is_told_as_json(filled: Run, tmp_path: Path) -> None:
    path = str(tmp_path / "hall.mmd")
    told = json.loads(filled("export", "hall", "-o", path, "--json")[1])
    assert told == {"session": "hall", "format": "mermaid", "file": path}


def test_an_unknown_session_and_a_folder_that_is_not_there(filled: Run, tmp_path: Path) -> None:
    path = tmp_path / "no" / "hall.html"
    assert filled("export", "nobody", "--format", "html")[0] == 2
    status, _, err = filled("export", "hall", "-o", str(path))
    assert (status, err) == (1, f"tokenmizer-mw: error: {path.parent}: No such file or directory\n")


def test_a_tree(filled: Run) -> None:
    status, out, err = filled("graph", "hall", "--tree")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "hall"
    assert any(re.search("Decisions \\(\\d+\\)", line) for line in lines)
    assert any("replaced" in line and "SQLite" in line for line in lines)
    assert "\x1b" not in out


def test_an_outline_of_a_moment_names_what_was_replaced_by_its_words(filled: Run) -> None:
    shown = filled("graph", "hall", "--valid-at", str(time.time()))[1]
    whole = filled("graph", "hall")[1]
    (replaced,) = (line for line in whole.splitlines() if line.startswith("       replaced "))
    assert "replaced SQLite" in replaced
    assert replaced in shown.splitlines()
