"""Conversations whose last message has labelled effects: what it replaces, settles, finishes, leaves open, or nothing.

``corpus/effects/author-*.json``:
``{"talks": [{"language", "subject", "talk": [[role, text], ...], "cases": [{"message", "effects": [...]}]}]}``. Each
case is one more message after the talk, tried by itself. An effect names the words that carry it:

- ``replaces`` (``old`` in the talk, ``new`` in the message), ``withdraws`` (``old``), ``settles`` (``new``)
- ``rule`` (a standing instruction), ``rejects`` (something is turned down that was not settled before)
- ``done``, ``open``, ``fails`` and ``fixed`` (``what``)

A message without effects changes no fact. Only the authors ``av`` to ``bg`` label rules and rejections; the others
label a rule as settled.

The authors saw neither the program nor other cases. ``corpus/effects_last`` is by four other authors; nobody reads it
and nothing is fitted on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Node, NodeType, Status

FITTED: Final = Path(__file__).parent / "corpus" / "effects"
LAST: Final = Path(__file__).parent / "corpus" / "effects_last"


@dataclass(frozen=True, slots=True)
class Trial:
    """One conversation (``turns``: pairs of role and text) and the user's message after it, with its labelled
    effects."""

    author: str
    language: str
    turns: tuple[tuple[str, str], ...]
    message: str
    effects: tuple[Mapping[str, str], ...]

    @property
    def changes(self) -> set[tuple[str, str]]:
        """What the message changes: the old words and the new ones, "" if nothing replaces the old ones."""
        named = ("replaces", "withdraws")
        return {(one["old"], one.get("new", "")) for one in self.effects if one["effect"] in named}


def load_trials(folder: Path) -> list[Trial]:
    """Return the trials of all files ``author-*.json`` of a folder."""
    trials = []
    for path in sorted(folder.glob("author-*.json")):
        for talk in json.loads(path.read_text(encoding="utf-8"))["talks"]:
            turns = tuple((role, text) for role, text in talk["talk"])
            for case in talk["cases"]:
                trials.append(Trial(path.stem, talk["language"], turns, case["message"], tuple(case["effects"])))
    return trials


def states_clause(node: Node, clause: str) -> bool:
    """Whether a fact states a clause (see ``states_words``)."""
    return states_words(node.label, node.source.quote, clause)


def states_words(label: str, quote: str, clause: str) -> bool:
    """Whether a fact with this label and quote states a clause: label and clause contain one the other, or the quote
    contains the clause, and at least the share ``SHARED`` of the content stems of the shorter one are in the other
    one."""
    mine, wanted = label.casefold(), clause.casefold()
    if wanted not in mine and mine not in wanted and wanted not in quote.casefold():
        return False
    asked, other = content(clause), content(label)
    return bool(asked) and len(asked & other) >= SHARED * min(len(asked), max(1, len(other)))


SHARED: Final = 0.4


def graph_after(trial: Trial, settings: Settings | None = None) -> SessionGraph:
    """Return the graph after the trial's message; the session is recorded message by message in a new memory."""
    turns = [{"role": role, "content": text} for role, text in (*trial.turns, ("user", trial.message))]
    with SessionMemory.open("memory://", settings) as memory:
        for end in range(1, len(turns) + 1):
            memory.record("trial", turns[:end])
        return memory.graph("trial")


def count_effects(trials: Sequence[Trial], settings: Settings | None = None) -> dict[str, dict[str, float]]:
    """Return number of cases and share, by what happened: changes that replaced the old fact, or only another one;
    messages without a change that replaced something; messages without effects that became a decision; and, by effect,
    those that a fact states correctly."""
    seen: dict[str, list[bool]] = {}
    for trial in trials:
        for name, right in _judge(trial, graph_after(trial, settings)):
            seen.setdefault(name, []).append(right)
    return {name: {"cases": len(some), "share": round(sum(some) / len(some), 4)} for name, some in seen.items()}


def _judge(trial: Trial, graph: SessionGraph) -> Iterator[tuple[str, bool]]:
    number = len(trial.turns) + 1
    gone = [graph.get(step.old) for step in graph.transitions() if step.trigger == number]
    gone += [node for node in graph.nodes() if _is_withdrawn(node) and graph.life(node.id).touched == number]
    if trial.changes:
        right = any(node and states_clause(node, old) for node in gone for old, _ in trial.changes)
        yield "change: the old fact is replaced", right
        yield "change: only another fact is replaced", bool(gone) and not right
    else:
        yield "no change: something is replaced", bool(gone)
    if not trial.effects:
        yield (
            "no effect: a new decision",
            any(_is_decision(node) and node.source.turn == number for node in graph.nodes()),
        )

    for effect in trial.effects:
        kind = effect["effect"]
        if kind in _KNOWN:
            clause = effect.get("what") or effect["new"]
            yield f"{kind}: known so", any(_KNOWN[kind](node) and states_clause(node, clause) for node in graph.nodes())


def _is_withdrawn(node: Node) -> bool:
    return node.type in (NodeType.DECISION, NodeType.CONCEPT) and node.status is Status.INVALIDATED


def _is_decision(node: Node) -> bool:
    return node.type is NodeType.DECISION and node.status is Status.ACTIVE


def _is_finished(node: Node) -> bool:
    return node.type in _WORK and node.status is Status.COMPLETED


def _is_failing(node: Node) -> bool:
    return node.type in (NodeType.ERROR, NodeType.TEST, NodeType.TASK) and node.status in (Status.ACTIVE, Status.FAILED)


_WORK: Final = (NodeType.TASK, NodeType.ERROR, NodeType.TEST)
_KNOWN: Final[Mapping[str, Callable[[Node], bool]]] = {
    "settles": _is_decision,
    "done": _is_finished,
    "open": lambda node: node.type is NodeType.TASK and node.open,
    "fails": _is_failing,
    "fixed": _is_finished,
}
"""Maps an effect to the test whether a fact has the type and status that it should have after that effect."""
