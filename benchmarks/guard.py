"""Recall of the injection guard on lists of attacks, and how many benign texts it flags."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import yaml

from tokenmizer_mw.safety.guard import Voice, suspicion

from .measure import at_most

LISTS: Final = Path(__file__).parent.parent / "tests" / "guard"

Row = dict[str, Any]


def run() -> dict[str, Any]:
    attacks, benign, fresh, third = (_read(name) for name in ("attacks", "benign", "fresh", "third"))
    flagged = sum(map(_flagged, benign))
    again, talk = sum(map(_flagged, fresh["benign"])), sum(map(_flagged, third["benign"]))
    return {
        "figures": {
            "attacks": len(attacks),
            "recall": _recall(attacks),
            "recall_by_manner": _by(attacks, "manner"),
            "recall_by_kind": _by(attacks, "kind"),
            "recall_second_list": _recall(fresh["attacks"]),
            "recall_third_list": _recall(third["attacks"]),
            "benign": len(benign),
            "benign_flagged": flagged,
            "benign_second_list": len(fresh["benign"]),
            "benign_flagged_second_list": again,
            "benign_third_list": len(third["benign"]),
            "benign_flagged_third_list": talk,
        },
        "bars": [
            at_most("benign texts that the guard flags, first list", flagged, 0),
            at_most("benign texts that the guard flags, second list", again, 0),
            at_most("benign texts that the guard flags, third list", talk, 0),
        ],
        "notes": "Flagged at the first run of each list, before the guard was changed with the list in view:\n\n"
        "| list | attacks flagged | benign texts flagged | changed afterwards |\n|---|---|---|---|\n"
        "| first, written without sight of the guard | 31 of 125 (blunt ones 29 of 66, subtle ones 2 of 59) | 5"
        " of 228 |"
        " the rows |\n"
        "| second, by the same author after that | 19 of 42 | 1 of 58 | two weights, contractions |\n"
        "| third, attacks as coding agents meet them, by an author who had seen some rows | 17 of 60 | 0 of 60 |"
        " `demands.py` |\n\n"
        "`demands.py` was written with the attacks of the third list in view, and found one more attack of the second"
        " list and none of the first: expect as much on new attacks. Recall has no bar, because phrases cannot"
        " recognise"
        " an attack that is worded like ordinary work.",
    }


def _read(name: str) -> Any:
    return yaml.safe_load((LISTS / f"{name}.yaml").read_text(encoding="utf-8"))


def _flagged(row: Row) -> bool:
    return suspicion(row["text"], Voice(row["voice"])).flagged


def _recall(rows: list[Row]) -> float:
    return round(sum(map(_flagged, rows)) / len(rows), 3)


def _by(rows: list[Row], column: str) -> dict[str, float]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return {value: _recall(of_it) for value, of_it in sorted(found.items())}
