"""Which facts of a labelled session are in a small text at its end, compared with simpler methods.

- Facts are the labels of goal, finished and open work, decisions, errors and files, and the new values of replaced
  decisions. A fact *survives* if a line of the text contains most of its words (``probes.covers``; files by their
  name).
- A replaced decision is *stale* if a statement (an item under a typed heading, or a quoted line) contains its old
  value, and no such statement says that it was replaced, or by what.
- Efficiency: surviving facts per 100 tokens. ``right``: share of the items under the typed headings of our block that
  match a label of the session, lenient and of any category.
- The best simpler method is the best of: the newest messages, half from the beginning and half from the end, and the
  users' sentences that are nearest to the whole (``benchmarks/blocks.py``).

Sets: the sessions of this repository, and those below TOKENMIZER_CORPUS.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for

from .blocks import RESUMES
from .labelled import Corpus, Labelled, corpora
from .measure import at_least, at_most
from .probes import QUARTERS, content, covers, tokens
from .scoring import free_covers, free_tokens, same_file

BUDGETS: Final = (100, 300, 600, 2_000)
JUDGED: Final = ("goal", "tasks_done", "tasks_pending", "decisions", "files", "errors")
SETS: Final = frozenset({"sessions", "authored_dev", "real_dev"})
_NONCE: Final = nonce_for(b"benchmark", SessionKey("local", "resume"), "checkpoint-1")
_SENTENCES: Final = frozenset({"Decided", "In progress", "To do", "Open errors", "Done", "About", "Goal", "Rejected"})
_LISTS: Final = ("Files", "Uses", "Endpoints")
_REPLACED: Final = ("was ", "not ", "instead", "rejected", "ruled out", "replaced", "->", "no longer", "before that")

Way = Callable[[int], str]


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for corpus in corpora():
        if corpus.name in SETS:
            figures[corpus.name] = _of(corpus)
    return {"figures": figures, "bars": list(_bars(figures)), "notes": __doc__}


def _bars(figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, ways in figures.items():
        best = max(rows[300]["survives"] for way, rows in ways.items() if way != "tokenmizer-mw")
        ours = ways["tokenmizer-mw"][300]
        yield at_least(f"{name}: facts in 300 tokens / those of the best simpler method", ours["survives"] / best, 1.0)
        if name == "real_dev":
            right = ways["tokenmizer-mw"][600]["right"]
            yield at_least(f"{name}: typed items that a label covers, 600 tokens", right, 0.75)
        yield at_most(f"{name}: stale share of replaced choices in 300 tokens", ours["stale"], 0.05)


def _of(corpus: Corpus) -> dict[str, Any]:
    rows: dict[str, dict[int, list[tuple[float, float | None, float]]]] = {}
    items: dict[int, list[bool]] = {}
    for session in corpus.sessions:
        for name, way in _ways(session):
            for budget in BUDGETS:
                text = way(budget)
                rows.setdefault(name, {}).setdefault(budget, []).append(judged(session, text))
                if name == "tokenmizer-mw":
                    items.setdefault(budget, []).extend(right_items(session, text))
    means = {name: {budget: _mean(found) for budget, found in by.items()} for name, by in rows.items()}
    for budget, found in items.items():
        means["tokenmizer-mw"][budget]["right"] = statistics.fmean(found) if found else 1.0
    return means


def right_items(session: Labelled, text: str) -> list[bool]:
    """Return, for each item under a typed heading of a block, whether a label of the session covers it."""
    golds = [gold for named in session.gold.values() for gold in named]
    return [
        any(free_covers(item, _newer(label), quote) or same_file(item, _newer(label)) for label, quote in golds)
        for item in typed_items(text)
    ]


def typed_items(text: str) -> list[str]:
    """Return the items under the typed headings of a block. Lines that it quotes from the transcript are none."""
    typed = text.partition("\nSaid (")[0].split("\n")[2:]
    found: list[str] = []
    for line in typed:
        head, _, rest = line.partition(": ")
        if line.startswith("- "):
            found.append(line.removeprefix("- "))
        elif not line.startswith("</"):
            found += rest.split(", " if head in _LISTS else "; ")
    return [item.partition(" (was ")[0] for item in found if item.strip()]


def _newer(label: str) -> str:
    return label.rpartition(" -> ")[2]


def _ways(session: Labelled) -> Iterator[tuple[str, Way]]:
    memory = SessionMemory.open("memory://")
    memory.record(session.id, session.turns)
    graph = memory.graph(session.id)
    transcript = [(written.number, written.message) for written in memory.messages(session.id)]
    memory.close()
    count = len(session.turns)
    yield (
        "tokenmizer-mw",
        lambda budget: (
            build_resume(graph, budget=budget, counter=QUARTERS, nonce=_NONCE, turn=count, transcript=transcript).text
        ),
    )
    for name, way in RESUMES.items():
        yield name, _bound(way, session.turns)


def _bound(way: Callable[[Any, int], str], turns: Sequence[Mapping[str, Any]]) -> Way:
    return lambda budget: way(turns, budget)


def judged(session: Labelled, text: str) -> tuple[float, float | None, float]:
    """Return the share of facts that survive in ``text``, the share of replaced choices that are stale (``None`` if
    there are none), and surviving facts per 100 tokens."""
    facts = [label for name in JUDGED for label, _ in session.gold.get(name, ())]
    replaced = [tuple(label.split(" -> ", 1)) for label, _ in session.gold.get("superseded", ())]
    kept = sum(_survives(text, fact) for fact in facts)
    stale = [_stale(text, *pair) for pair in replaced if len(pair) == 2]
    share = kept / len(facts) if facts else 1.0
    return share, (sum(stale) / len(stale) if stale else None), 100 * kept / max(1, tokens(text))


def _survives(text: str, fact: str) -> bool:
    if "/" in fact or ("." in fact and " " not in fact):
        return fact.rsplit("/", 1)[-1].casefold() in text.casefold()
    return covers(text, fact)


def _stale(text: str, old: str, new: str) -> bool:
    """Whether a statement of a text contains the old choice, and no such statement says that it was replaced or
    contains the new one."""
    was, now = _words(old), _words(new)
    mine, theirs = was - now, now - was
    telling = [(said, words) for said in _statements(text) if mine and mine <= (words := _words(said))]
    gone = any(mark in said.casefold() for said, _ in telling for mark in _REPLACED)
    return bool(telling) and not gone and not any(2 * len(theirs & words) > len(theirs) for _, words in telling)


def _words(text: str) -> set[str]:
    """The content stems of a text, and its words in scripts other than Latin."""
    return {*content(text), *(word for word in free_tokens(text) if not word.isascii())}


def _statements(text: str) -> Iterator[str]:
    """The items under the typed headings of a text, and its other lines."""
    for line in text.splitlines():
        head, _, rest = line.partition(": ")
        yield from rest.split("; ") if head in _SENTENCES else (line,)


def _mean(found: Sequence[tuple[float, float | None, float]]) -> dict[str, float]:
    stale = [one for _, one, _ in found if one is not None]
    return {
        "survives": statistics.fmean(share for share, _, _ in found),
        "stale": statistics.fmean(stale) if stale else 0.0,
        "facts_per_100_tokens": statistics.fmean(rate for _, _, rate in found),
    }
