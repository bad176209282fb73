"""The baselines find what they say they find."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import baselines
from benchmarks.extraction_lines import beside
from benchmarks.labelled import Labelled, read
from benchmarks.peer import message


def _session() -> Labelled:
    call = {"id": "c1", "name": "Write", "arguments": {"file_path": "src/pool.py", "content": "x = 1\n"}}
    return read(
        {
            "id": "one",
            "turns": [
                {"role": "user", "content": "We decided to use Redis for the pool. Look at docs/plan.md"},
                {"role": "assistant", "content": "Next I write it.", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "File created successfully"},
                {"role": "assistant", "content": "- Fixed the timeout error in the pool"},
            ],
            "labels": {},
        }
    )


def test_structure_reads_no_prose() -> None:
    found = baselines.structure(_session())
    assert found["files"] == ["src/pool.py"]
    assert not found.get("decisions")
    assert not found.get("goal")


def test_last_lines_are_offered_in_each_category() -> None:
    found = baselines.last(_session())
    assert found["tasks_done"] == found["decisions"]
    assert found["tasks_done"][-1] == "Fixed the timeout error in the pool"
    assert found["files"] == ["docs/plan.md"]


def test_cues_pick_lines_by_a_word() -> None:
    found = baselines.cues(_session())
    assert found["tasks_done"] == ["File created successfully", "Fixed the timeout error in the pool"]
    assert found["tasks_pending"] == ["Next I write it."]
    assert found["decisions"] == found["goal"] == ["We decided to use Redis for the pool. Look at docs/plan.md"]


def test_the_peer_is_left_out_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(baselines.PEER_VARIABLE, raising=False)
    assert baselines.peer([_session()]) is None


def test_the_peer_gets_the_sessions_and_gives_labels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "tokenmizer" / "graph_memory"
    package.mkdir(parents=True)
    (tmp_path / "tokenmizer" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "graph.py").write_text(
        "from types import SimpleNamespace as N\n"
        "def node(kind, status, label): return N(type=N(value=kind), status=N(value=status), label=label, _evicted=0)\n"
        "class GraphMemory:\n"
        "    def __init__(self, id, **options): self._nodes = {}\n"
        "    def extract_from_messages(self, messages):\n"
        "        self._nodes = dict(enumerate([node('task', 'completed', messages[0]['content'][:10]),\n"
        "            node('task', 'pending', 'later'), node('error', 'failed', 'boom'),\n"
        "            node('decision', 'superseded', 'gone'), node('decision', 'invalidated', 'refused')]))\n"
        "    def get_transitions(self): return [N(from_label='a', to_label='b')]\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv(baselines.PEER_VARIABLE, sys.executable)
    assert baselines.peer([_session()]) == [
        {
            "tasks_done": ["We decided"],
            "tasks_pending": ["later"],
            "errors": ["[open] boom"],
            "rejected": ["refused"],
            "superseded": ["a -> b"],
        }
    ]


def test_turns_are_handed_to_the_peer_as_openai_writes_them() -> None:
    shaped = message(dict(_session().turns[1]))
    assert shaped["tool_calls"][0]["function"]["name"] == "Write"
    assert isinstance(shaped["tool_calls"][0]["function"]["arguments"], str)
    assert message({"role": "tool", "tool_call_id": "c1"}) == {"role": "tool", "tool_call_id": "c1", "content": ""}


def test_figures_stand_side_by_side() -> None:
    part = {"macro_f1": 0.5, "categories": {"files": {"f1": 0.25}}}
    lines = list(beside("set", {"lenient": part, "strict": part}, {"cues": {"lenient": part, "strict": part}}))
    assert lines[-2].split() == ["files", ".25/.25", ".25/.25"]
    assert lines[-1].split() == ["macro", ".50/.50", ".50/.50"]
