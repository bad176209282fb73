"""The three sessions of the TokenMizer paper: how many of their labelled facts are in the graph, and the CPU it takes.

The protocol is the paper's: a fact counts as preserved if some text of its category matches it (lower case; one
contains the other, or they share half of the words, of three letters and more, of the one with fewer words). Precision
is ours: every current node of a category that matches no label of the category is wrong. The labels of these sessions
leave out some facts that their transcripts state; ``paper3_supplement.json`` lists those with quotes, and precision is
given with and without them.

The sessions were read while the rules were written. They are development data and show that the format of the paper is
understood, not how well extraction works on other text.

    python -m benchmarks.paper3 [FOLDER]     (or paper3 below TOKENMIZER_CORPUS; default: the copy in benchmarks/corpus)
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES, derive
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import Node, NodeType, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for
from tokenmizer_mw.settings import Settings

from .measure import at_least, at_most, cpu_seconds

CORPUS: Final = Path(__file__).parent / "corpus"
REPEATS: Final = 20
"""How often a session is measured; the fastest run counts."""

CATEGORIES: Final[Mapping[str, Callable[[Node], bool]]] = {
    "tasks_done": lambda node: node.type is NodeType.TASK and node.status is Status.COMPLETED,
    "tasks_pending": lambda node: node.type is NodeType.TASK and node.open,
    "decisions": lambda node: node.type is NodeType.DECISION and node.status is Status.ACTIVE,
    "files": lambda node: node.type is NodeType.FILE and node.current,
}
"""For each category of the labels, whether a node belongs to it. Decisions are those in force; options and dependencies
are none."""

_WORD: Final = re.compile(r"\w{3,}")
_ITEM: Final = re.compile(r"[;:,] ")


def matches(text: str, fact: str) -> bool:
    """Whether a text matches a fact, as the paper defines it (see the module)."""
    one, other = text.lower(), fact.lower()
    if one in other or other in one:
        return True
    mine, wanted = set(_WORD.findall(one)), set(_WORD.findall(other))
    shorter = min(mine, wanted, key=len)
    return bool(shorter) and len(mine & wanted) / len(shorter) >= 0.5


def sessions(folder: Path) -> list[dict[str, Any]]:
    """Return the sessions of a folder, ordered by file name; [] if there are none."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def messages(session: Mapping[str, Any]) -> list[tuple[int, Message]]:
    """Return a session's turns as messages, numbered from 1."""
    return [(index, Message(Role(turn["role"]), turn["content"])) for index, turn in enumerate(session["turns"], 1)]


def graph_of(numbered: Sequence[tuple[int, Message]]) -> SessionGraph:
    """Return the graph after these messages, extracted one at a time as in a live session."""
    graph = SessionGraph()
    settings = Settings()
    for index, message in enumerate(numbered):
        for event in derive(graph, [message], numbered[max(0, index - CONTEXT_MESSAGES) : index], settings):
            graph.apply(event)
    return graph


def labels_of(graph: SessionGraph) -> dict[str, list[str]]:
    """Return the labels of the graph's nodes by category."""
    nodes = graph.nodes()
    return {name: [node.label for node in nodes if belongs(node)] for name, belongs in CATEGORIES.items()}


def recall(texts: Iterable[str], facts: Sequence[str]) -> float | None:
    """Return the share of the facts that some text matches; ``None`` if there are no facts."""
    said = list(texts)
    return sum(any(matches(text, fact) for text in said) for fact in facts) / len(facts) if facts else None


def precision(texts: Sequence[str], facts: Sequence[str]) -> tuple[int, int]:
    """Return how many of the texts match a fact, and how many texts there are."""
    return sum(any(matches(text, fact) for fact in facts) for text in texts), len(texts)


def preserved(by_category: Mapping[str, Sequence[str]], labels: Mapping[str, Sequence[str]]) -> float:
    """Return the mean recall over the categories that have facts."""
    found = [recall(by_category[name], labels[name]) for name in CATEGORIES]
    return statistics.fmean(value for value in found if value is not None)


def score(session: Mapping[str, Any], supplement: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return all figures of one session. ``supplement``: by category, facts that the labels leave out."""
    numbered = messages(session)
    found = labels_of(graph_of(numbered))
    labels = session["labels"]
    wider = {name: [*labels[name], *(item["label"] for item in supplement.get(name, ()))] for name in CATEGORIES}
    return {
        "turns": len(numbered),
        "preserved": round(preserved(found, labels), 4),
        "recall": {name: recall(found[name], labels[name]) for name in CATEGORIES},
        "right_and_found": {name: precision(found[name], labels[name]) for name in CATEGORIES},
        "right_with_supplement": {name: precision(found[name], wider[name])[0] for name in CATEGORIES},
        "unmatched": {name: _unmatched(found[name], labels[name]) for name in CATEGORIES},
        **resumed(numbered, labels),
        "cpu_ms": _milliseconds(lambda: derive(SessionGraph(), numbered, [], Settings())),
        "cpu_ms_one_by_one": _milliseconds(lambda: graph_of(numbered)),
    }


def resumed(numbered: Sequence[tuple[int, Message]], labels: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the tokens of the standard resume block (by the tokenizer of gpt-4o), whether they are exact, and the
    share of information that it preserves. Each item of a list in the block is compared by itself; its category does
    not matter."""
    graph = graph_of(numbered)
    counter = counter_for("gpt-4o")
    nonce = nonce_for(b"benchmark", SessionKey("local", "paper3"), "checkpoint-1")
    block = build_resume(graph, counter=counter, nonce=nonce, turn=len(numbered))
    said = [item for line in block.text.splitlines()[2:-1] for item in _ITEM.split(line) if item.strip()]
    return {
        "resume_tokens": block.tokens,
        "resume_tokens_exact": counter.exact,
        "resume_preserved": round(preserved(dict.fromkeys(CATEGORIES, said), labels), 4),
    }


def _milliseconds(work: Callable[[], object]) -> float:
    return round(1_000 * cpu_seconds(work, repeat=REPEATS), 3)


def _unmatched(texts: Sequence[str], facts: Sequence[str]) -> list[str]:
    return [text for text in texts if not any(matches(text, fact) for fact in facts)]


def extraction(folder: Path) -> dict[str, Any]:
    """Return figures per session and over all of them; {} for a folder without sessions."""
    supplement = json.loads((CORPUS / "paper3_supplement.json").read_text(encoding="utf-8"))
    rows = {session["id"]: score(session, supplement.get(session["id"], {})) for session in sessions(folder)}
    if not rows:
        return {}
    return {
        "sessions": rows,
        "mean_preserved": round(statistics.fmean(row["preserved"] for row in rows.values()), 4),
        "precision": {name: _pooled(rows.values(), name, "right_and_found") for name in CATEGORIES},
        "precision_with_supplement": {
            name: _pooled(rows.values(), name, "right_with_supplement") for name in CATEGORIES
        },
        "mean_resume_preserved": round(statistics.fmean(row["resume_preserved"] for row in rows.values()), 4),
        "mean_resume_tokens": round(statistics.fmean(row["resume_tokens"] for row in rows.values()), 1),
        "most_resume_tokens": max(row["resume_tokens"] for row in rows.values()),
        "most_cpu_ms": max(row["cpu_ms"] for row in rows.values()),
    }


def _pooled(rows: Iterable[Mapping[str, Any]], name: str, key: str) -> float:
    listed = list(rows)
    right = [row[key][name] if key != "right_and_found" else row[key][name][0] for row in listed]
    total = sum(row["right_and_found"][name][1] for row in listed)
    return round(sum(right) / total, 4) if total else 1.0


def run(folder: Path | None = None) -> dict[str, Any]:
    """Return the benchmark's result; without sessions it has no figures and no bars. ``folder``: ``None`` for the
    default."""
    figures = extraction(folder or _folder())
    if not figures:
        return {"figures": {}, "bars": [], "notes": "skipped: no sessions in the corpus folder"}
    bars = [
        at_least("mean information preserved in the graph", figures["mean_preserved"], 0.95),
        at_least("mean information preserved in the resume block", figures["mean_resume_preserved"], 0.95),
        at_most("tokens of the standard resume block, mean", figures["mean_resume_tokens"], 180, digits=1),
        at_most("tokens of the longest standard resume block", figures["most_resume_tokens"], 300),
        *(
            at_least(f"precision of {name}, the paper's labels alone", value, 0.85)
            for name, value in figures["precision"].items()
        ),
        *(
            at_least(f"precision of {name}, labels and our supplement", value, 0.85)
            for name, value in figures["precision_with_supplement"].items()
        ),
        at_most("extraction of one session, CPU", figures["most_cpu_ms"], 5.0, "ms"),
    ]
    notes = (
        "Development data: three scripted sessions of the TokenMizer paper. The paper's labels leave out facts that the"
        " transcripts state; `paper3_supplement.json` lists these with quotes, and precision is given with and without"
        " them. CPU time is the fastest of several runs with empty caches: `cpu_ms` extracts the whole session at once,"
        " `cpu_ms_one_by_one` message by message, with each message's events folded."
    )
    return {"figures": figures, "bars": bars, "notes": notes}


def _folder() -> Path:
    roots = [Path(part) for part in os.environ.get("TOKENMIZER_CORPUS", "").split(os.pathsep) if part]
    named = [folder for root in roots for folder in (root, root / "paper3") if folder.name == "paper3"]
    return next(filter(Path.is_dir, named), CORPUS / "paper3")


def main(arguments: Sequence[str]) -> int:
    """Print the result for the folder ``arguments[0]``, or for the default one, as JSON. Returns 0."""
    result = run(Path(arguments[0]) if arguments else None)
    print(json.dumps(result, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
