"""Can a model go on after a cut? How much of what a session needs is in the text that replaces its older messages.

An exam (``benchmarks/exams.py``) has questions about the older part of a labelled session. A text of the given size
replaces that part. The newest messages stay beside it, at most 800 tokens of them. Each question has *points*: the
values that an answer needs. A figure is the share of a question's points that the text or these newest messages
contain, as the mean of all questions. ``request3000`` and ``compacted3000`` are whole requests, so nothing is added to
them.

- ``block300``, ``block600``: the resume block of so many tokens.
- ``recall600``: the result of ``recall`` for the question.
- ``request3000``: the whole request as the middleware sends it, with the question as its newest message, in a window
  of 3,000 tokens. The question itself is not searched.
- ``handover600``: the block after refinement with recorded replies of a model.
- ``compaction600``, ``handover compaction600``: the block of a compaction through the provider's API, without and
  with refinement.
- ``compacted3000``: a whole request after such a compaction of the whole session, with its reminder, in as many
  tokens as ``request3000`` takes in the mean.

Each text is compared with baselines of as many tokens: the newest messages, tf-idf sentences, covering sentences,
BM25 passages, and the whole older part. ``tokens`` are counted as for gpt-4o. ``quarters`` are characters divided by
four; the baselines are filled up to a number of quarters. "with the sentence model": facts are extracted with the model
that TOKENMIZER_SEMANTIC names. The exams are below TOKENMIZER_CORPUS, on sessions of real_dev and authored_dev, and
are not part of the repository.

    python -m benchmarks continuation                       all texts, all baselines
    python -m benchmarks continuation --only block600       some texts, without baselines; writes no result
    python -m benchmarks.continuation --only block600 --misses 10
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.tokens import counter_for

from .continuation_compacted import CompactedRequests
from .continuation_requests import Requests
from .exams import Exam, Question, estimate_tokens, newest_messages, read_exams, score_text, whole_text
from .labelled import VARIABLE
from .llm_pass import recordings
from .measure import at_least
from .peer import message
from .selections import SELECTIONS, Selections
from .sentence_model import WITH_MODEL, settings_with_model

MODEL: Final = "gpt-4o"
"""Model in whose tokens the budgets of blocks and recalls are counted."""

REFINEMENTS: Final = {"refined": "llm_replies", "handover": "llm_handover"}
"""Folders of recorded replies to ``SessionMemory.refine``, by the name of the method that uses them."""

BASELINE_BUDGETS: Final = (300, 600, 1_000)
WINDOWS: Final = (3_000, 8_000)
ENGLISH, OTHER = "English", "not English"

BARS: Final = (
    ("block300", "all", 0.52),
    ("block600", "all", 0.75),
    ("block600", OTHER, 0.70),
    ("block300+recall600", "all", 0.90),
    ("request3000", "all", 0.93),
    ("request3000", OTHER, 0.88),
    ("handover600", "all", 0.92),
    ("compaction600", "all", 0.75),
    ("compacted3000", "all", 0.925),
    ("handover compaction600", "all", 0.92),
)
"""Method, group of questions and lowest share of points that the text must contain."""


class Case:
    """An exam with everything its methods share: memories of its head (the older part of the session), baselines and
    requests. Made when first used; call ``close`` afterwards. ``replies``: recorded replies by method and session."""

    def __init__(self, exam: Exam, replies: Mapping[str, Mapping[str, str]]) -> None:
        self.exam = exam
        self.tail = exam.tail
        self.replies = {name: found[exam.session] for name, found in replies.items() if exam.session in found}
        self._memories: dict[str, SessionMemory] = {}
        self._blocks: dict[tuple[str, int], str] = {}
        self._requests: dict[int, Requests] = {}
        self._compacted: dict[tuple[int, bool, str], CompactedRequests] = {}

    @cached_property
    def selections(self) -> Selections:
        return Selections(self.exam.head)

    @cached_property
    def whole(self) -> Selections:
        """Baselines over all messages, to be compared with whole requests."""
        return Selections(self.exam.turns)

    def has(self, variant: str) -> bool:
        """Whether a memory of the head can be made in this way: "" for the plain one (always), the name of a recorded
        reply for the refined one, ``WITH_MODEL`` for that with the sentence model."""
        return not variant or variant in self.replies or (variant == WITH_MODEL and settings_with_model() is not None)

    def memory(self, variant: str = "") -> SessionMemory:
        """Return a memory in which the head is recorded. ``variant``: as in ``has``."""
        if variant not in self._memories:
            self._memories[variant] = self._recorded(variant)
        return self._memories[variant]

    def block(self, budget: int, variant: str = "") -> str:
        """Return the resume block of the head with ``budget`` tokens. ``variant``: as in ``has``."""
        if (variant, budget) not in self._blocks:
            self._blocks[variant, budget] = self.memory(variant).resume("head", budget=budget, model=MODEL).text
        return self._blocks[variant, budget]

    def recall(self, question: Question, budget: int) -> str:
        """Return the result of ``recall`` for a question on the head, with ``budget`` tokens."""
        return self.memory().recall("head", question.text, budget=budget, model=MODEL).text

    def request(self, question: Question, window: int) -> str:
        """Return the text of the request that the middleware sends in a window of so many tokens, without the
        question."""
        if window not in self._requests:
            self._requests[window] = Requests([message(dict(turn)) for turn in self.exam.turns], window, MODEL)
        return self._requests[window].send(question.id, question.text)

    def compacted(self, question: Question, tokens: int, *, whole: bool, refinement: str = "") -> str:
        """Return the text of a request with the question after a compaction through the provider's API to ``tokens``
        tokens.

        ``whole``: the whole session was compacted and the request has a reminder; otherwise only the head was, without
        one. ``refinement``: name of the recorded reply with which it was refined before, "" for none.
        """
        given = (tokens, whole, refinement)
        if given not in self._compacted:
            turns = self.exam.turns if whole else self.exam.head
            messages = [message(dict(turn)) for turn in turns]
            reply = self.replies[refinement] if refinement else None
            self._compacted[given] = CompactedRequests(messages, MODEL, tokens, reply=reply, reminds=whole)
        return self._compacted[given].send(question.id, question.text)

    def _recorded(self, variant: str) -> SessionMemory:
        reply = self.replies.get(variant)
        settings = settings_with_model() if variant == WITH_MODEL else None
        memory = SessionMemory.open("memory://", settings, complete=None if reply is None else lambda _: reply)
        memory.record("head", self.exam.head)
        if reply is not None:
            memory.refine("head")
        return memory

    def close(self) -> None:
        """Release the memories."""
        opened: list[Any] = [*self._memories.values(), *self._requests.values(), *self._compacted.values()]
        for one in opened:
            one.close()


@dataclass(frozen=True, slots=True)
class Way:
    """A method that gives a text for a question. ``variant``: sessions for which this memory (see ``Case.has``) cannot
    be made are left out; ``complete``: the text is a whole request, to which the newest messages are not added."""

    text: Callable[[Case, Question], str]
    variant: str = ""
    complete: bool = False


def _block(budget: int, variant: str = "") -> Way:
    return Way(lambda case, question: case.block(budget, variant), variant)


def _recall(budget: int) -> Way:
    return Way(lambda case, question: case.recall(question, budget))


def _both(block: int, recall: int) -> Way:
    return Way(lambda case, question: f"{case.block(block)}\n{case.recall(question, recall)}")


def _request(window: int) -> Way:
    return Way(lambda case, question: case.request(question, window), complete=True)


def _reply(name: str) -> Way:
    return Way(lambda case, question: case.replies[name], name)


def _compaction(tokens: int, *, whole: bool = False, refinement: str = "") -> Way:
    def text(case: Case, question: Question) -> str:
        return case.compacted(question, tokens, whole=whole, refinement=refinement)

    return Way(text, refinement, complete=whole)


WAYS: Final[Mapping[str, Way]] = {
    **{f"block{budget}": _block(budget) for budget in (100, 300, 600, 1_000)},
    **{f"recall{budget}": _recall(budget) for budget in (300, 600)},
    **{f"block300+recall{budget}": _both(300, budget) for budget in (300, 600)},
    **{f"request{window}": _request(window) for window in WINDOWS},
    **{f"{WITH_MODEL} block{budget}": _block(budget, WITH_MODEL) for budget in (300, 600)},
    "compaction600": _compaction(600),
    "compacted3000": _compaction(1_128, whole=True),
    **{f"{name} compaction600": _compaction(600, refinement=name) for name in REFINEMENTS},
    **{f"{name}{budget}": _block(budget, name) for name in REFINEMENTS for budget in (300, 600, 1_000)},
    **{f"{name} reply": _reply(name) for name in REFINEMENTS},
}
"""Our methods by name; the last ones are the recorded replies themselves."""


@dataclass(slots=True)
class Score:
    """The shares of points that one method's texts contain, by group of questions, and the sizes of the texts."""

    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    tokens: list[int] = field(default_factory=list)
    quarters: list[int] = field(default_factory=list)

    def add(self, exam: Exam, question: Question, value: float, text: str) -> None:
        """Add the result of one question: ``value``, the share of its points that ``text`` (with the newest messages)
        contains."""
        for group in ("all", question.kind, ENGLISH if exam.language == "en" else OTHER):
            self.values[group].append(value)
        self.tokens.append(_COUNTER.count(text))
        self.quarters.append(estimate_tokens(text))

    def figures(self) -> dict[str, Any]:
        """Return the means as JSON-ready values; "questions" is their number."""
        groups = {group: round(fmean(values), 3) for group, values in sorted(self.values.items())}
        sizes = {"tokens": round(fmean(self.tokens)), "quarters": round(fmean(self.quarters))}
        return {"all": groups.pop("all"), **sizes, "questions": len(self.tokens), "by": groups}


_COUNTER: Final = counter_for(MODEL)

Missed = tuple[float, Question, str]
"""The value (below 1) of a question that a method does not answer fully, the question, and the method's name."""


class Results:
    """The results of all methods, question by question. ``names``: the methods; ``baselines``: whether baselines are
    run as well."""

    def __init__(self, names: Sequence[str], *, baselines: bool) -> None:
        self.names = names
        self.baselines = baselines
        self.scores: dict[str, Score] = defaultdict(Score)
        self.beside: dict[str, dict[str, Score]] = defaultdict(lambda: defaultdict(Score))
        self.missed: list[Missed] = []

    def add(self, case: Case) -> None:
        """Score the methods, and the baselines if wanted, on all questions of one exam."""
        for question in case.exam.questions:
            for name in self.names:
                way = WAYS[name]
                if case.has(way.variant):
                    self._add_way(case, question, name, way)
            if self.baselines:
                self._add_baselines(case, question)

    def _add_way(self, case: Case, question: Question, name: str, way: Way) -> None:
        text = way.text(case, question)
        value = score_text(text if way.complete else f"{case.tail}\n{text}", question.points)
        self.scores[name].add(case.exam, question, value, text)
        if value < 1:
            self.missed.append((value, question, name))
        if self.baselines and way.complete:
            newest = newest_messages(case.exam.turns, estimate_tokens(text))
            score = self.beside[name]["newest messages"]
            score.add(case.exam, question, score_text(newest, question.points), newest)
        elif self.baselines:
            _add_selections(case, question, self.beside[name], estimate_tokens(text))

    def _add_baselines(self, case: Case, question: Question) -> None:
        for budget in BASELINE_BUDGETS:
            _add_selections(case, question, self.beside[f"{budget} quarters"], budget)
        whole = whole_text(case.exam.head)
        value = score_text(f"{case.tail}\n{whole}", question.points)
        self.scores["whole head"].add(case.exam, question, value, whole)

    def figures(self) -> dict[str, Any]:
        """Return JSON-ready figures of all methods, and of the baselines beside each."""
        ways = {name: score.figures() for name, score in self.scores.items()}
        beside = {
            name: {other: score.figures() for other, score in found.items()} for name, found in self.beside.items()
        }
        return {"ways": ways, "baselines": beside}


def _add_selections(case: Case, question: Question, scores: dict[str, Score], budget: int) -> None:
    for name, select in SELECTIONS.items():
        text = select(case.selections, budget, question.text)
        value = score_text(f"{case.tail}\n{text}", question.points)
        scores[name].add(case.exam, question, value, text)


def run_exams(exams: Sequence[Exam], names: Sequence[str], *, baselines: bool) -> Results:
    """Return the results of the methods ``names`` on ``exams``."""
    replies = {name: recordings(folder=folder) for name, folder in REFINEMENTS.items()}
    results = Results(names, baselines=baselines)
    for exam in exams:
        case = Case(exam, replies)
        try:
            results.add(case)
        finally:
            case.close()
    return results


def run(only: str = "", misses: int = 0) -> dict[str, Any]:
    """Return the benchmark's result.

    ``only``: names of methods, joined by commas, which then run without baselines; "" for all. ``misses``: how many
    questions that are not fully answered are listed. Without exams it has no figures and no bars. Raises ``ValueError``
    for a method that does not exist.
    """
    names = only.split(",") if only else list(WAYS)
    if unknown := [name for name in names if name not in WAYS]:
        raise ValueError(f"no way {unknown[0]!r}; ways: {', '.join(WAYS)}")
    exams = read_exams()
    if not exams:
        missing = f"Not run: no continuation exams below {VARIABLE}."
        return {"figures": {}, "bars": [], "notes": missing, "lines": [missing]}
    results = run_exams(exams, names, baselines=not only)
    lines = [*_table(results), *_missed(results.missed, misses)]
    figures = {"sessions": len(exams), **results.figures()}
    return {"figures": figures, "bars": list(_bars(figures["ways"])), "notes": __doc__, "lines": lines}


def _bars(ways: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, group, least in BARS:
        if name in ways:
            found = ways[name]["all"] if group == "all" else ways[name]["by"].get(group, 0.0)
            yield at_least(f"{name}, {group}: share of points contained", found, least)


def _table(results: Results) -> Iterator[str]:
    yield f"{'':20}   all  tokens quarters"
    for name, score in results.scores.items():
        yield _row(name, score)
        for other, beside in results.beside.get(name, {}).items():
            yield _row(f"  {other}", beside)
    for budget in BASELINE_BUDGETS:
        for other, beside in results.beside.get(f"{budget} quarters", {}).items():
            yield _row(f"{other} {budget}", beside)


def _row(name: str, score: Score) -> str:
    found = score.figures()
    groups = "  ".join(f"{group} {value:.2f}" for group, value in found["by"].items())
    return f"{name:23} {found['all']:.3f} {found['tokens']:6} {found['quarters']:6}  {groups}"


def _missed(missed: Sequence[Missed], most: int) -> Iterator[str]:
    for value, question, name in missed[:most]:
        yield f"{value:.2f} {name} {question.id}: {question.text} {list(question.points)}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.continuation")
    parser.add_argument("--only", default="", help=f"names of ways, joined by commas: {', '.join(WAYS)}")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="show N questions that are not answered")
    given = parser.parse_args(arguments)
    print("\n".join(run(given.only, given.misses)["lines"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
