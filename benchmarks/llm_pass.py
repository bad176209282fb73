"""Refinement without a model: recorded replies are parsed, placed and merged as those of a real model are.

Folders named ``llm_replies`` below the folders of TOKENMIZER_CORPUS hold, for some sessions, as ``<id>.json``, what a
model replied to one prompt about the whole session. Each session is recorded and refined with that reply
(``SessionMemory.refine``). Its graph is compared with the labels, beside the graph without refinement and the reply
alone.

    python -m benchmarks.llm_pass [--misses N]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.session.refinement.reply import ReplyStatement, read_reply

from .extraction_figures import MATCHES, Scored, matcher_for, scored
from .extraction_lines import faults_of
from .labelled import VARIABLE, Corpus, Labelled, corpora
from .measure import at_least, percentile
from .readout import labels_of
from .scoring import Matcher, by_session, summary

FOLDER: Final = "llm_replies"
WAYS: Final = ("without", "reply", "merged", "kept")
"""The graph without refinement; the reply alone; the graph after refinement; the same if facts that the model does not
state are kept."""

BARS: Final = {"real_dev": 0.7, "authored_dev": 0.7}
"""Lowest lenient macro F1 with refinement."""

_REPLY_MAX: Final = 1_000_000
_ITEMS_MAX: Final = 1_000

NOTES: Final = (
    "Replies of a strong model, recorded once with a prompt of the same schema, are parsed and merged into the graph."
    " The bars compare F1 with refinement to that without it; how a reply weighs against extraction was tuned on these"
    " sessions. In the figures, `without` is the graph without a model, `reply` the entries of the reply alone,"
    " `merged`"
    " the graph after refinement, `kept` the same with `llm_keeps_unconfirmed`, `worse` the sessions whose mean F1"
    " becomes lower, and CPU the time to parse and merge one reply. The sets are below TOKENMIZER_CORPUS; their text is"
    " not part of the repository."
)


@dataclass(slots=True)
class Replayed:
    """The results of one set: ``rows`` by the names in ``WAYS``, ``counts`` of what refinement did, ``costs`` in CPU
    milliseconds and ``tokens`` of the prompt, per session."""

    rows: dict[str, list[Scored]] = field(default_factory=lambda: {way: [] for way in WAYS})
    counts: Counter[str] = field(default_factory=Counter)
    costs: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


def recordings(roots: Iterable[Path] | None = None, folder: str = FOLDER) -> dict[str, str]:
    """Return the recorded replies in folders called ``folder``, by the id of their session. ``roots``: where to look,
    ``None`` for the folders of TOKENMIZER_CORPUS."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    below = [found for root in (named if roots is None else roots) for found in (root, *sorted(root.rglob(folder)))]
    folders = [found for found in below if found.name == folder]
    return {path.stem: path.read_text(encoding="utf-8") for found in folders for path in sorted(found.glob("*.json"))}


def labels_in(reply: str) -> dict[str, list[str]]:
    """Return the entries of a reply as labels by category, unchanged; {} if the reply cannot be read."""
    read = read_reply(reply, chars_max=_REPLY_MAX, items_max=_ITEMS_MAX)
    found: dict[str, list[str]] = {}
    for stated in read.stated if read is not None else ():
        found.setdefault(stated.category, []).append(_label(stated))
    return found


def _label(stated: ReplyStatement) -> str:
    return f"{stated.old} -> {stated.text}" if stated.old else stated.text


def replay(session: Labelled, reply: str, matcher: Matcher, found: Replayed) -> None:
    """Add the results of one session, by all of ``WAYS``, to ``found``."""
    found.rows["reply"].append(scored(session, labels_in(reply), matcher))
    for way in ("merged", "kept"):
        memory = SessionMemory.open(
            "memory://", Settings(llm_keeps_unconfirmed=way == "kept"), complete=lambda _: reply
        )
        memory.record(session.id, session.turns)
        if way == "merged":
            found.rows["without"].append(scored(session, labels_of(memory.graph(session.id)), matcher))
        start = time.process_time()
        refinement = memory.refine(session.id)
        if way == "merged":
            found.costs.append((time.process_time() - start) * 1e3)
            found.tokens.append(refinement.tokens)
            found.counts.update(refinement.counts)
            found.counts[f"outcome {refinement.outcome}"] += 1
        found.rows[way].append(scored(session, labels_of(memory.graph(session.id)), matcher))
        memory.close()


def replayed(corpus: Corpus, replies: Mapping[str, str]) -> Replayed:
    """Return the results of all sessions of a set that have a recorded reply."""
    found = Replayed()
    matcher = matcher_for(corpus)
    for session in corpus.sessions:
        if session.id in replies:
            replay(session, replies[session.id], matcher, found)
    return found


def figures(found: Replayed) -> dict[str, Any]:
    """Return the JSON-ready figures of a set. At least one session must have been replayed."""
    ways = {
        way: {match: summary([getattr(row, match) for row in rows]) for match in MATCHES}
        for way, rows in found.rows.items()
    }
    before, after = ([by_session([row.lenient]) for row in found.rows[way]] for way in ("without", "merged"))
    return {
        **ways,
        "worse": sum(late < early for early, late in zip(before, after, strict=True)),
        "counts": dict(sorted(found.counts.items())),
        "cpu_ms": {"median": round(percentile(found.costs, 0.5), 1), "most": round(max(found.costs), 1)},
        "prompt_tokens": {"median": percentile(sorted(map(float, found.tokens)), 0.5), "most": max(found.tokens)},
    }


def run(misses: int = 0) -> dict[str, Any]:
    """Return the benchmark's result; without recorded replies it has no figures and no bars. ``misses``: how many
    missed and spurious labels of each category are listed."""
    replies = recordings()
    parts: dict[str, Any] = {}
    lines: list[str] = []
    for corpus in corpora():
        found = replayed(corpus, replies)
        if found.costs:
            parts[corpus.name] = figures(found)
            lines += [*_table(corpus.name, parts[corpus.name]), *faults_of(found.rows["merged"], misses)]
    if not parts:
        lines = [f"no recorded replies: {VARIABLE} names no folder with {FOLDER}"]
    return {"figures": parts, "bars": list(_bars(parts)), "notes": NOTES, "lines": lines}


def _table(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    for match in MATCHES:
        for way in WAYS:
            row = part[way][match]
            cells = "  ".join(f"{category} {one['f1']:.2f}" for category, one in row["categories"].items())
            yield f"{name:13} {way:8} {match:8} {row['macro_f1']:.3f}  {cells}"
    yield f"{name:13} worse in {part['worse']} of {part['merged']['lenient']['sessions']} sessions; {part['counts']}"


def _bars(parts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, part in parts.items():
        if name in BARS:
            yield at_least(
                f"{name}: macro F1 with refinement, lenient", part["merged"]["lenient"]["macro_f1"], BARS[name]
            )
        for match in MATCHES:
            without, merged = part["without"][match]["macro_f1"], part["merged"][match]["macro_f1"]
            yield at_least(f"{name}: macro F1 with refinement, {match} (bar: without it)", merged, without)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.llm_pass", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--misses", type=int, default=0)
    print("\n".join(run(parser.parse_args(arguments).misses)["lines"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
