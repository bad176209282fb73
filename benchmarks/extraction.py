"""Precision, recall and F1 of the graph at the end of labelled sessions, per category.

Each session passes through the whole pipeline in memory, message by message with the history resent, including tool
calls and results. The labels of the final graph are compared with the given ones, leniently and strictly.

    python -m benchmarks extraction [--misses N]    own sessions, and those below TOKENMIZER_CORPUS
    python -m benchmarks.extraction [FOLDER ...]    sessions below these folders, else the same; for developers:
        --misses N        show up to N missed and N spurious labels of each category and set
        --category NAME   only of this category
        --session TEXT    only sessions whose id contains this text
        --by TRAIT        one line for each register, language, domain or tool
        --quick           without intervals
        --baselines       with the results of simpler methods
        --stages          with the results of fewer stages of extraction, and of all with the sentence model

The sentence model is the one in the directory TOKENMIZER_SEMANTIC; without it, its rows are left out.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings

from .acts import scenes
from .baselines import PLAIN, peer
from .extraction_figures import MATCHES, Scored, figures, matcher_for, scored
from .extraction_lines import beside, decisions_page, faults_of, grouped, precisions_of, stages, stages_page, table
from .labelled import TRAITS, Corpus, Labelled, corpora
from .measure import at_least, at_most
from .readout import labels_of
from .scoring import JUDGED, summary
from .sentence_model import WITH_MODEL, settings_with_model

STAGES: Final = {
    "rules": "rules",
    "and structure": "rules,structure",
    "and dialogue": "rules,structure,dialogue",
    "and the model": "rules,structure,dialogue,model",
}
"""Values of the setting ``stages``, each with one more stage than the one before, by the name of the row."""


def extracted(session: Labelled, settings: Settings | None = None) -> tuple[dict[str, list[str]], list[float]]:
    """Return the labels at a session's end, and the CPU time of each of its messages in milliseconds."""
    memory = SessionMemory.open("memory://", settings)
    costs = []
    gc.collect()
    for end in range(1, len(session.turns) + 1):
        start = time.process_time()
        memory.record(session.id, session.turns[:end])
        costs.append((time.process_time() - start) * 1e3)
    labels = labels_of(memory.graph(session.id))
    memory.close()
    return labels, costs


def warm() -> float:
    """Record the training scenes, whose texts are in no set, and return the CPU seconds that took. It builds the
    automata of the patterns, which a server does only once."""
    memory = SessionMemory.open("memory://")
    start = time.process_time()
    for scene in scenes():
        said = [turn for turn in scene.turns if turn.speaker != "tool"]
        memory.record(scene.name, [{"role": turn.speaker, "content": turn.text} for turn in said])
    memory.close()
    return time.process_time() - start


def measured(corpus: Corpus, settings: Settings | None = None) -> list[Scored]:
    """Return the scores of every session of a set."""
    matcher = matcher_for(corpus)
    rows = []
    gc.collect()
    gc.freeze()  # the labelled sessions: no server has them, and collections while messages are read would walk them
    for session in corpus.sessions:
        labels, costs = extracted(session, settings)
        rows.append(scored(session, labels, matcher, costs))
    return rows


def ablation(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Return the figures of a set with one stage of extraction after the other, and at last with the sentence model if
    there is one, without intervals."""
    found = {}
    ways = {name: Settings(stages=words) for name, words in STAGES.items()}
    if (settings := settings_with_model()) is not None:
        ways[WITH_MODEL] = settings
    for name, way in ways.items():
        rows = measured(corpus, way)
        found[name] = {match: summary([getattr(row, match) for row in rows], samples=0) for match in MATCHES}
    return found


def baselines(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Return the figures of the baselines by name, without intervals."""
    found = {name: [way(session) for session in corpus.sessions] for name, way in PLAIN.items()}
    others = peer(corpus.sessions)
    if others is not None:
        found["peer"] = others
    matcher = matcher_for(corpus)
    rows = {
        name: [scored(session, labels, matcher) for session, labels in zip(corpus.sessions, listed, strict=True)]
        for name, listed in found.items()
    }
    return {
        name: {match: summary([getattr(row, match) for row in some], samples=0) for match in MATCHES}
        for name, some in rows.items()
    }


def run(misses: int = 0) -> dict[str, Any]:
    """Return the benchmark's result, with its tables as lines and up to ``misses`` of each kind of fault."""
    found: dict[str, Any] = {}
    lines: list[str] = []
    seconds = warm()
    for corpus in corpora():
        rows = measured(corpus)
        found[corpus.name] = figures(corpus, rows) | {"baselines": baselines(corpus), "stages": ablation(corpus)}
        lines += [*table(corpus.name, found[corpus.name]), *faults_of(rows, misses)]
        lines += beside(corpus.name, found[corpus.name], found[corpus.name]["baselines"])
        lines += stages(corpus.name, found[corpus.name]["stages"])
    page = ["F1 lenient/strict with one stage of extraction after the other:", ""]
    page += stages_page({name: part["stages"] for name, part in found.items()})
    page += [
        "",
        "How much is right and found (lenient); no rule is written for `second` and `third`, and nothing is trained on"
        " them:",
        "",
    ]
    page += decisions_page(found)
    lines.append(f"reading the training scenes first took {seconds:.1f} s of CPU")
    return {"figures": found, "bars": _bars(found), "notes": NOTES, "page": page, "lines": lines}


NOTES: Final = (
    "One person labelled each session. A label may have a quote: the passage of the transcript that it is taken from. A"
    " fact matches a label if it contains at least half of the words of the label, or at least half of the words of its"
    ' quote. Common words ("the", "of") do not count. Two file paths match if they are equal or one is the end of the'
    " other. Lenient: a fact or label may match several. Strict: each is used once, and half of a fact's words must be"
    " words of the label or its quote. `research100` has a published matcher of its own.\n\n"
    "- `own`: the sessions in `benchmarks/corpus/sessions`, written and labelled by people of this project who did not"
    " look at the rules. Rules were tuned on them later, as on `real_dev`, `authored_dev` and `research100`, and the"
    " classifier is trained on their quotes.\n"
    "- `second`: sessions of one author who saw neither rules nor other sessions; no rule is written for them, and"
    " nothing is trained on them. `third`: the same, of another author. Both are counted after every step: thresholds"
    " of"
    " the classifier are chosen by their figures, and steps are kept or dropped by them, so they are no first look any"
    " more.\n"
    "- The other sets are below TOKENMIZER_CORPUS; their text is not part of the repository.\n"
    "- CPU: one message recorded with its history resent, store in memory, redaction included, in a process that has"
    " extracted the texts in `benchmarks/training` before; the first texts of a process cost several times as much."
)

BARS: Final = {"own": (0.5, 0.4), "second": (0.5, 0.4), "real_dev": (0.5, 0.4), "authored_dev": (0.6, 0.5)}
"""Lowest macro F1 of a set, lenient and strict."""
LEAST_CATEGORY: Final = 0.3
"""Lowest lenient F1 of a category in the sets of ``BARS``, and lowest macro F1 of sessions that are not in English."""
TOOL_BARS: Final = {"files": 0.9, "errors": 0.65, "tasks_done": 0.6, "tasks_pending": 0.5}
"""Lowest lenient F1 of categories in real sessions of agents with their tool traffic."""
RESEARCH_BARS: Final = {"all": 0.95, "implicit": 0.85}
"""Lowest mean F1 of the sessions of the research corpus by its own matcher: of all, and of those of the implicit
register."""

UNREAD: Final = ("second", "third")
"""Sets for which no rule is written and on which nothing is trained."""
PRECISE: Final = 0.6
"""Lowest precision of decisions in force, finished tasks and open errors in the sets ``UNREAD``."""


def _bars(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    bars = [bar for name in BARS if name in found for bar in _quality_bars(name, found[name])]
    tools = found.get("real_dev", {}).get("parts", {}).get("agentic")
    for category, bar in TOOL_BARS.items() if tools else ():
        reached = tools["lenient"]["categories"].get(category, {"f1": 0.0})["f1"]
        bars.append(at_least(f"real_dev, agentic: F1 of {category}", reached, bar))
    if "research100" in found:
        bars += _research_bars(found["research100"])
    for name in (one for one in UNREAD if one in found):
        bars += [
            at_least(f"{name}: precision of {what}", part, PRECISE) for what, part in precisions_of(found[name]).items()
        ]
    for name, part in found.items():
        bars.append(at_most(f"{name}: CPU per turn, median", part["cpu_ms"]["median"], 1.0, "ms"))
        bars.append(at_most(f"{name}: CPU per turn, p99", part["cpu_ms"]["p99"], 6, "ms"))
    return bars


def _research_bars(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    whole = {"all": part, **part["by"].get("register", {})}
    for name, bar in RESEARCH_BARS.items():
        if name in whole:
            yield at_least(f"research100, {name}: mean F1 of sessions", whole[name]["lenient"]["by_session"], bar)


def _quality_bars(name: str, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for match, bar in zip(MATCHES, BARS[name], strict=True):
        yield at_least(f"{name}: macro F1, {match}", part[match]["macro_f1"], bar)
    weakest, least = min(((category, one["f1"]) for category, one in part["lenient"]["categories"].items()), key=_f1)
    yield at_least(f"{name}: weakest category ({weakest}), F1", least, LEAST_CATEGORY)
    others = part["parts"].get("not English")
    if others:
        yield at_least(f"{name}, not English: macro F1", others["lenient"]["macro_f1"], LEAST_CATEGORY)


def _f1(named: tuple[str, float]) -> float:
    return named[1]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description="Extraction, measured.")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--category", choices=JUDGED, default="")
    parser.add_argument("--session", default="")
    parser.add_argument("--by", choices=TRAITS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--stages", action="store_true")
    given = parser.parse_args(arguments)
    for corpus in corpora(given.folders or None):
        chosen = [session for session in corpus.sessions if given.session in session.id]
        if not chosen:
            continue
        part = Corpus(corpus.name, chosen, corpus.evidence)
        rows = measured(part)
        found = figures(part, rows, samples=0 if given.quick else 1000)
        lines = [*table(part.name, found)]
        lines += beside(part.name, found, baselines(part)) if given.baselines else []
        lines += stages(part.name, ablation(part)) if given.stages else []
        lines += grouped(rows, given.by) if given.by else []
        lines += faults_of(rows, given.misses, given.category)
        print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
