"""Choices that replace one another: which value is in force at the end, what it replaced, and why.

The cases are in ``corpus/transitions.yaml``, which explains their fields. The current value of a case is right if each
value that holds is stated by a fact in force, and no value that is gone is. The predecessor is right if each link is a
transition of the graph; a case without links must have the right values and no transition. A reason is right if it
contains at least half of the words of the given one.

    python -m benchmarks.transitions [TEXT]     what went wrong, in the cases whose id or kind contains this text
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status

from .measure import at_least
from .scoring import free_covers, free_tokens

CASES: Final = Path(__file__).parent / "corpus" / "transitions.yaml"
BARS: Final = {"current": 0.9, "predecessor": 0.85, "reason": 0.85}
OPENING: Final = (
    {"role": "user", "content": "Hi, can you help me with the project from last week again?"},
    {"role": "assistant", "content": "Of course. I have your notes from last week open."},
)
"""Messages before each case, so that its first words are not taken for the goal of the session."""

_SPEAKERS: Final = {"U": "user", "A": "assistant"}
_STATING: Final = frozenset(
    {NodeType.DECISION, NodeType.ENVIRONMENT, NodeType.DEPENDENCY, NodeType.ENDPOINT, NodeType.API}
)
"""Types of facts that state a value. A goal says what was asked for, a task what is to be done."""


@dataclass(frozen=True, slots=True)
class Link:
    """A value that was replaced, the one that replaced it, and the reason ("" if none is given). ``old``, ``new``:
    spellings of the value, of which any counts."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Case:
    """A short chat (``turns``), and what is true at its end: values that hold, values that are gone, each in any of its
    spellings, and replacements (``links``)."""

    id: str
    kind: str
    turns: tuple[Mapping[str, str], ...]
    holds: tuple[tuple[str, ...], ...]
    gone: tuple[tuple[str, ...], ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is right in the graph of a case.

    - ``reasons``: for each link with a given reason, whether the graph's reason is right.
    - ``unfounded``: number of transitions that are no link of the case.
    """

    current: bool
    predecessor: bool
    reasons: tuple[bool, ...]
    unfounded: int


def cases(path: Path = CASES) -> list[Case]:
    """Return the cases of a file."""
    return [_case(raw) for raw in yaml.safe_load(path.read_text(encoding="utf-8"))]


def _case(raw: Mapping[str, Any]) -> Case:
    turns = tuple({"role": _SPEAKERS[line[0]], "content": line[3:]} for line in raw["turns"])
    links = tuple(Link(_spellings(link["old"]), _spellings(link["new"]), link.get("why", "")) for link in raw["links"])
    holds, gone = (tuple(map(_spellings, raw[name])) for name in ("holds", "gone"))
    return Case(raw["id"], raw["kind"], turns, holds, gone, links)


def _spellings(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split("|"))


def states(text: str, value: Iterable[str]) -> bool:
    """Whether a text contains all words of a value, in some spelling."""
    words = free_tokens(text)
    return any(free_tokens(spelling) <= words for spelling in value)


def graph_of(case: Case) -> SessionGraph:
    """Return the graph at the end of a case, recorded message by message."""
    memory = SessionMemory.open("memory://")
    turns = [*OPENING, *case.turns]
    for end in range(1, len(turns) + 1):
        memory.record(case.id, turns[:end])
    graph = memory.graph(case.id)
    memory.close()
    return graph


def verdict(case: Case, graph: SessionGraph) -> Verdict:
    """Compare a graph with what is true at the end of a case."""
    said = [_text(node) for node in graph.nodes() if _in_force(node)]
    stale = [text for text in said if not any(states(text, value) for value in case.holds)]
    current = all(any(states(text, value) for text in said) for value in case.holds) and not any(
        states(text, value) for text in stale for value in case.gone
    )
    steps = list(_steps(graph))
    led = [[step for step in steps if states(step[0], link.old) and states(step[1], link.new)] for link in case.links]
    reasons = [
        any(free_covers(reason, link.why) for _, _, reason in some)
        for link, some in zip(case.links, led, strict=True)
        if link.why
    ]
    founded = {step for some in led for step in some}
    unfounded = sum(step not in founded for step in steps)
    predecessor = all(led) if case.links else current and not steps
    return Verdict(current, predecessor, tuple(reasons), unfounded)


def _in_force(node: Node) -> bool:
    if node.type not in _STATING or not node.current or node.kind is DecisionKind.OPTION:
        return False
    return node.type is not NodeType.DECISION or node.status is Status.ACTIVE


def _text(node: Node) -> str:
    return f"{node.label} {node.value}"


def _steps(graph: SessionGraph) -> Iterator[tuple[str, str, str]]:
    """The transitions of a graph: old fact, new fact and reason."""
    for step in graph.transitions():
        old, new = graph.get(step.old), graph.get(step.new)
        if old is not None and new is not None:
            yield _text(old), _text(new), step.reason


def run() -> dict[str, Any]:
    """Return the benchmark's result; its lines are one per kind of case."""
    told = cases()
    by_kind: dict[str, list[Verdict]] = defaultdict(list)
    for case in told:
        by_kind[case.kind].append(verdict(case, graph_of(case)))
    kinds = {kind: shares(found) for kind, found in by_kind.items()}
    whole = shares([found for some in by_kind.values() for found in some])
    bars = [at_least(f"transitions: right {name}", whole[name], bar) for name, bar in BARS.items()]
    lines = [f"{kind:12} {_line(found)}" for kind, found in {**kinds, "all": whole}.items()]
    notes = "68 short chats, written for this project before the rules; 9 are not in English, or mixed."
    return {"figures": {"all": whole, "kinds": kinds}, "bars": bars, "notes": notes, "lines": lines}


def shares(found: Sequence[Verdict]) -> dict[str, float]:
    """Return shares of the verdicts: of right current values and predecessors over the cases, and of right reasons over
    the links that have one (1 if there are none); and the number of unfounded transitions."""
    reasons = [right for one in found for right in one.reasons]
    return {
        "cases": len(found),
        "current": round(sum(one.current for one in found) / len(found), 4),
        "predecessor": round(sum(one.predecessor for one in found) / len(found), 4),
        "reasons": len(reasons),
        "reason": round(sum(reasons) / len(reasons), 4) if reasons else 1.0,
        "unfounded": sum(one.unfounded for one in found),
    }


def _line(found: Mapping[str, float]) -> str:
    return (
        f"{found['cases']:3} cases  current {found['current']:.2f}  predecessor {found['predecessor']:.2f}"
        f"  reason {found['reason']:.2f} of {found['reasons']}  unfounded {found['unfounded']}"
    )


def main(arguments: Sequence[str]) -> int:
    """Print the wrong cases whose id or kind contains ``arguments[0]`` (all if it is missing), with their graphs.
    Returns 0."""
    text = arguments[0] if arguments else ""
    wrong: Counter[str] = Counter()
    for case in cases():
        if text not in case.id and text not in case.kind:
            continue
        graph = graph_of(case)
        found = verdict(case, graph)
        faults = [name for name in ("current", "predecessor") if not getattr(found, name)]
        faults += [] if all(found.reasons) else ["reason"]
        wrong.update(faults)
        if faults:
            print(f"\n{case.id} ({case.kind}): wrong {', '.join(faults)}; wanted {[list(v) for v in case.holds]}")
            for node in graph.nodes():
                print(f"    {node.type.value} {node.status.value}: {node.label!r} {node.value!r}")
            for old, new, reason in _steps(graph):
                print(f"    {old!r} -> {new!r}: {reason!r}")
    print(f"\n{dict(wrong)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
