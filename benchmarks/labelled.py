"""Labelled sessions: reads and checks the format of the corpus.

``benchmarks/corpus/README.md`` describes the format.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .scoring import CATEGORIES, Gold

OWN: Final = Path(__file__).parent / "corpus" / "sessions"
SECOND: Final = OWN.with_name("second")
"""Sessions of an author who saw neither the rules nor other sessions. Nothing is trained on them; thresholds are chosen
by their figures."""
THIRD: Final = OWN.with_name("third")
"""The same, of another author."""
VARIABLE: Final = "TOKENMIZER_CORPUS"
"""Environment variable with further folders, separated as in PATH. Each is searched with its subfolders."""

TRAITS: Final = ("register", "language", "domain", "tool")
_ROLES: Final = frozenset({"user", "assistant", "tool"})


@dataclass(frozen=True, slots=True)
class Labelled:
    """A session and its labels.

    - ``traits``: register, language, domain and tool; "" if the session does not say. ``turns``: its messages.
    - ``gold``: label and quote ("" for none) by category; ``open_errors``: by label of an error, whether it is open at
      the end.
    - ``traced``: whether the session comes with what its tool traffic shows for certain.
    - ``negatives``: category, text and quote of what must not become a label.
    """

    id: str
    traits: Mapping[str, str]
    turns: Sequence[Mapping[str, Any]]
    gold: Mapping[str, Sequence[Gold]]
    open_errors: Mapping[str, bool]
    traced: bool = False
    negatives: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sessions of one folder. ``evidence``: whether some session has quotes as evidence for its labels."""

    name: str
    sessions: Sequence[Labelled]
    evidence: bool


def read(raw: Mapping[str, Any]) -> Labelled:
    """Return a session from its JSON object."""
    labels = raw.get("labels", {})
    evidence = raw.get("evidence", {})
    errors = [error for error in _many(labels.get("errors", [])) if isinstance(error, Mapping)]
    return Labelled(
        id=raw["id"],
        traits={trait: str(raw.get(trait) or "") for trait in TRAITS},
        turns=raw["turns"],
        gold={name: list(_gold(_many(items), evidence.get(name))) for name, items in labels.items()},
        open_errors={error["label"]: not error.get("resolved", False) for error in errors},
        traced="truth_from_structure" in raw,
        negatives=[(one["category"], one["text"], one["quote"]) for one in raw.get("negatives", [])],
    )


def text_of(label: object) -> str:
    """Return a label as one line: "old -> new" for a replacement, an error's name, or the label itself; "" for an error
    without a name."""
    if isinstance(label, Mapping):
        return f"{label['old']} -> {label['new']}" if "old" in label else str(label.get("label", ""))
    return str(label)


def _many(labels: object) -> list[Any]:
    return labels if isinstance(labels, list) else [labels]


def _gold(labels: Sequence[object], quotes: object) -> Iterator[Gold]:
    given = quotes if isinstance(quotes, list) else []
    for at, label in enumerate(labels):
        quote = given[at] if at < len(given) and isinstance(given[at], str) else ""
        if text_of(label):
            yield text_of(label), quote


def corpus(folder: Path, name: str) -> Corpus | None:
    """Return the labelled sessions directly in a folder as a set called ``name``; ``None`` if there are none."""
    loaded = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    raws = [raw for raw in loaded if isinstance(raw, dict) and raw.get("turns") and raw.get("labels")]
    return Corpus(name, [read(raw) for raw in raws], any(raw.get("evidence") for raw in raws)) if raws else None


def corpora(given: Sequence[Path] | None = None) -> list[Corpus]:
    """Return all sets: the repository's own three and those below the folders that ``VARIABLE`` names. With ``given``,
    only those below these folders."""
    if given is not None:
        return [found for root in given for found in _below(root)]
    folders = {"own": OWN, "second": SECOND, "third": THIRD}
    own = [found for name, folder in folders.items() if (found := corpus(folder, name))]
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    return [*own, *corpora(named)]


def _below(root: Path) -> Iterator[Corpus]:
    for folder in [root, *sorted(path for path in root.rglob("*") if path.is_dir())]:
        plain = folder.parent if folder.name == "sessions" else folder
        found = corpus(folder, plain.name)
        if found is not None:
            yield found


def faults(raw: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a session of the own corpus, as texts for people; [] if nothing is."""
    found = [f"{name} is missing" for name in ("id", "domain", "register", "language") if not raw.get(name)]
    found += [f"unknown category {name}" for name in raw.get("labels", {}) if name not in CATEGORIES]
    found += [*_turn_faults(raw.get("turns", []))]
    for name in CATEGORIES:
        found += _category_faults(raw, name)
    for negative in raw.get("negatives", []):
        found += _negative_faults(raw, negative)
    return found


def _turn_faults(turns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not turns:
        yield "no turns"
    called: set[str] = set()
    for at, turn in enumerate(turns):
        calls = turn.get("tool_calls") or []
        called |= {call["id"] for call in calls}
        if turn.get("role") not in _ROLES:
            yield f"turn {at}: role {turn.get('role')!r}"
        if turn.get("role") == "tool" and turn.get("tool_call_id") not in called:
            yield f"turn {at}: answers a call that was not made"
        if not str(turn.get("content") or "").strip() and not calls and turn.get("role") != "tool":
            yield f"turn {at}: says nothing"


def _category_faults(raw: Mapping[str, Any], name: str) -> Iterator[str]:
    if name not in raw.get("labels", {}):
        yield f"{name}: no labels, not even an empty list"
        return
    labels, quotes = _many(raw["labels"][name]), _many(raw.get("evidence", {}).get(name, []))
    places = _many(raw.get("evidence_turn", {}).get(name, [None] * len(quotes)))
    if not len(labels) == len(quotes) == len(places):
        yield f"{name}: {len(labels)} labels, {len(quotes)} quotes, {len(places)} turns"
        return
    for label, quote, place in zip(labels, quotes, places, strict=True):
        yield from _label_faults(name, label)
        if not _occurs(quote, raw["turns"], place):
            yield f"{name}: not in {_where(place)}: {quote!r}"


def _negative_faults(raw: Mapping[str, Any], negative: Mapping[str, Any]) -> Iterator[str]:
    if negative.get("category") not in CATEGORIES or not negative.get("text"):
        yield f"negative: no category or no text: {negative!r}"
    if not _occurs(negative.get("quote"), raw.get("turns", []), negative.get("turn")):
        yield f"negative: not in {_where(negative.get('turn'))}: {negative.get('quote')!r}"


def _where(place: object) -> str:
    return "any turn" if place is None else f"turn {place}"


def _label_faults(name: str, label: object) -> Iterator[str]:
    wanted = {"superseded": {"old", "new", "reason", "turn"}, "errors": {"label", "resolved"}}.get(name)
    if wanted is None and not (isinstance(label, str) and label.strip()):
        yield f"{name}: a label is text, not {label!r}"
    if wanted is not None and not (isinstance(label, Mapping) and wanted <= set(label)):
        yield f"{name}: a label has {', '.join(sorted(wanted))}: {label!r}"


def _occurs(quote: object, turns: Sequence[Mapping[str, Any]], place: object) -> bool:
    if not isinstance(quote, str) or not quote.strip():
        return False
    chosen = turns if place is None else turns[place : place + 1] if isinstance(place, int) else []
    return any(quote in text for turn in chosen for text in _texts(turn))


def _texts(turn: Mapping[str, Any]) -> Iterator[str]:
    """The content of a message, and each text in the arguments of its tool calls."""
    yield str(turn.get("content") or "")
    waiting: list[Any] = [call.get("arguments") for call in turn.get("tool_calls") or []]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
