"""The own corpus is in order, and the reader of its format reads what the format allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.labelled import OWN, SECOND, THIRD, corpora, corpus, faults, read

FILES = sorted(OWN.glob("*.json"))
UNREAD_FILES = [path for folder in (SECOND, THIRD) for path in sorted(folder.glob("*.json"))]
"""Sessions on which nothing is trained or tuned."""


def _session(**changes: Any) -> dict[str, Any]:
    labels: dict[str, Any] = {
        "goal": ["speed up the import"],
        **{name: [] for name in ("tasks_done", "tasks_pending", "decisions", "rejected", "files")},
        **{name: [] for name in ("environment", "dependencies", "endpoints")},
        "superseded": [{"old": "csv", "new": "parquet", "reason": "size", "turn": 2}],
        "errors": [{"label": "timeout", "resolved": True}],
    }
    call = {"id": "c1", "name": "write_file", "arguments": {"edits": [{"path": "a.py", "text": "use parquet here"}]}}
    return {
        "id": "one",
        "domain": "coding",
        "register": "plain",
        "language": "en",
        "turns": [
            {"role": "user", "content": "speed up the import, it ran into a timeout"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ],
        "labels": labels,
        "evidence": {"goal": ["speed up the import"], "superseded": ["use parquet"], "errors": ["ran into a timeout"]},
        **changes,
    }


def test_the_sessions_of_the_corpus_are_in_order() -> None:
    for path in (*FILES, *UNREAD_FILES):
        raw = json.loads(path.read_text(encoding="utf-8"))
        assert raw["id"] == path.stem
        assert faults(raw) == [], path.stem


def test_the_corpus_is_read_as_one_set() -> None:
    found = corpora([OWN])
    assert [part.name for part in found] == ["corpus"]
    assert len(found[0].sessions) == len(FILES)
    assert found[0].evidence


def test_a_session_is_read() -> None:
    session = read(_session())
    assert session.gold["superseded"] == [("csv -> parquet", "use parquet")]
    assert session.gold["errors"] == [("timeout", "ran into a timeout")]
    assert session.open_errors == {"timeout": False}
    assert session.traits == {"register": "plain", "language": "en", "domain": "coding", "tool": ""}


def test_a_single_goal_and_evidence_of_another_form_are_read() -> None:
    session = read({"id": "two", "turns": [], "labels": {"goal": "ship it"}, "evidence": {"goal": [{"quote": "ship"}]}})
    assert session.gold == {"goal": [("ship it", "")]}


def test_a_session_in_order_has_no_faults() -> None:
    assert faults(_session()) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"domain": ""}, "domain is missing"),
        ({"turns": []}, "no turns"),
        ({"turns": [{"role": "system", "content": "x"}]}, "role 'system'"),
        ({"turns": [{"role": "tool", "content": "x", "tool_call_id": "c9"}]}, "a call that was not made"),
        ({"turns": [{"role": "user", "content": " "}]}, "says nothing"),
        ({"labels": {}}, "goal: no labels"),
        ({"evidence": {}}, "goal: 1 labels, 0 quotes"),
        ({"evidence_turn": {"goal": [2]}}, "not in turn 2"),
        ({"evidence": {"goal": ["slow"], "superseded": ["use parquet"], "errors": ["timeout"]}}, "not in any turn"),
        ({"labels": _session()["labels"] | {"errors": ["timeout"]}}, "a label has label, resolved"),
        (
            {"negatives": [{"category": "decisions", "text": "csv", "quote": "csv", "turn": 0}]},
            "negative: not in turn 0",
        ),
        ({"negatives": [{"category": "plan", "text": "csv", "quote": "ok", "turn": 2}]}, "negative: no category"),
        ({"labels": _session()["labels"] | {"goals": []}}, "unknown category goals"),
    ],
)
def test_faults_are_named(changes: dict[str, Any], says: str) -> None:
    assert any(says in fault for fault in faults(_session(**changes)))


def test_folders_are_searched_with_all_below_them(tmp_path: Path) -> None:
    (tmp_path / "late" / "sessions").mkdir(parents=True)
    (tmp_path / "late" / "sessions" / "one.json").write_text(json.dumps(_session()))
    (tmp_path / "late" / "other.json").write_text(json.dumps([1, 2]))
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "two.json").write_text(json.dumps(_session(evidence={})))
    assert [(part.name, part.evidence) for part in corpora([tmp_path])] == [("bare", False), ("late", True)]
    assert corpus(tmp_path, "none") is None
