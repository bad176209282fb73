"""Recorded replies through the pass, and what is made of the figures."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.labelled import Corpus, read
from benchmarks.llm_pass import FOLDER, WAYS, figures, labels_in, recordings, replayed

SESSION = {
    "id": "kiln",
    "language": "en",
    "turns": [
        {"role": "user", "content": "The kiln log should go to a CSV file per firing. No databases, please."},
        {"role": "assistant", "content": "I wrote kiln/log.py, which appends a line a minute to firing.csv."},
        {"role": "user", "content": "Good. The pressure column is still missing."},
    ],
    "labels": {
        "goal": ["kiln log as a CSV file per firing"],
        "tasks_done": ["kiln/log.py appends a line a minute"],
        "tasks_pending": ["pressure column is missing"],
        "decisions": ["no databases", "a CSV file per firing"],
        "files": ["kiln/log.py", "firing.csv"],
    },
    "evidence": {"goal": ["The kiln log should go to a CSV file per firing."]},
}
REPLY = json.dumps(
    {
        "goal": ["kiln log to a CSV file per firing"],
        "tasks_done": ["kiln/log.py appends a line a minute to firing.csv"],
        "tasks_pending": ["pressure column still missing"],
        "decisions": ["no databases"],
        "superseded": [{"old": "stone tablets", "new": "CSV file", "reason": "lighter"}],
        "files": ["kiln/log.py", "firing.csv"],
    }
)


def test_replies_are_found_by_the_id_of_their_session(tmp_path: Path) -> None:
    folder = tmp_path / "set" / FOLDER
    folder.mkdir(parents=True)
    (folder / "kiln.json").write_text(REPLY)
    (tmp_path / "other.json").write_text("{}")
    assert recordings([tmp_path]) == {"kiln": REPLY}
    assert recordings([folder]) == {"kiln": REPLY}


def test_a_reply_by_itself_becomes_labels() -> None:
    assert labels_in(REPLY)["superseded"] == ["stone tablets -> CSV file"]
    assert labels_in("no record") == {}


def test_a_session_goes_all_ways() -> None:
    corpus = Corpus("set", [read(SESSION), read(SESSION | {"id": "other"})], True)
    found = replayed(corpus, {"kiln": REPLY})
    assert {way: len(rows) for way, rows in found.rows.items()} == dict.fromkeys(WAYS, 1)
    part = figures(found)
    assert part["counts"]["outcome refined"] == 1
    assert part["worse"] == 0
    assert part["merged"]["lenient"]["macro_f1"] >= part["without"]["lenient"]["macro_f1"]
    assert part["merged"]["lenient"]["categories"]["tasks_pending"]["f1"] == 1.0
    assert part["prompt_tokens"]["most"] > 0
