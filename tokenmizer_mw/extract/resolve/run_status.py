"""Records test runs in the graph: one node for each command or test suite, with the result of its newest run."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.structure import is_covering
from tokenmizer_mw.extract.text.similar import split_words
from tokenmizer_mw.model.event import NodeRevised
from tokenmizer_mw.model.node import LABEL_MAX, Node, NodeType, Status, Trust

from .facts import find_same_fact, is_asked_now
from .ledger import Ledger

RUNS_MAX: Final = 24
"""A run or a report is compared with at most twice this many test nodes, the newest ones."""

_REACH: Final = 64
_COUNTS: Final = (
    *("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_NUMBERS: Final = {word: number for number, word in enumerate(_COUNTS)} | {"all": -1, "half": 0, "most": 0, "some": 0}
_ANY_SUITE: Final = split_words(
    "all the both of them tests test specs spec checks check suite pass passes passed passing green succeed succeeds"
    " succeeded is are now still again locally in ci my our these those every whole full and"
)

_TEST_NAME: Final = re.compile(r"\b(?:test_\w+|\w+_tests?|Test[A-Z]\w+)")
_OF_TESTS: Final = re.compile(r"\btests?\b|\b\d+ (?:still )?fail", re.IGNORECASE)
"""Matches errors about tests without their names: "2 pass, 3 still fail"."""


def note_test(ledger: Ledger, finding: Finding) -> Node:
    """Record a test run, or somebody's report of one, and return its node. The newest result replaces earlier ones. A
    report that tests pass also completes reported errors of these tests."""
    if finding.certain:
        return _ran(ledger, finding)
    node = _find_reported_test(ledger, finding)
    if finding.status is Status.COMPLETED and not _has_partly_passed(finding.label):
        _close_errors_of_tests(ledger, finding)
    return node


def _close_errors_of_tests(ledger: Ledger, finding: Finding) -> None:
    """Close the reported errors of tests that pass now: of the tests that the finding names, or of all if it says that
    all pass. An assistant's report that all pass does not close what the user reported."""
    passing = set(_TEST_NAME.findall(finding.label))
    if not passing and not _is_whole_suite(finding.label):
        return
    for error in [one for one in islice(ledger.graph.newest_unfinished(), _REACH) if one.type is NodeType.ERROR]:
        failing = set(_TEST_NAME.findall(error.label))
        if passing:
            closes = bool(failing) and failing <= passing
        else:
            own = ledger.role in ("user", error.source.role)
            closes = own and (bool(failing) or _OF_TESTS.search(error.label) is not None)
        if closes and _is_earlier(ledger, error):
            ledger.move(error, Status.COMPLETED, finding)


def _is_earlier(ledger: Ledger, error: Node) -> bool:
    """Whether an error was reported in words, and an earlier message was the last to mention it."""
    return error.source.trust is not Trust.STRUCTURE and ledger.last_touched(error) < ledger.turn


def _is_whole_suite(label: str) -> bool:
    """Whether a report is about all tests, such as "all 12 tests pass": it names no suite."""
    return (
        not _read_suite(label)
        and "locally" not in label
        and label.casefold().startswith(("all ", "the tests", "tests", "everything "))
    )


def _ran(ledger: Ledger, finding: Finding) -> Node:
    known = find_same_fact(ledger, finding)
    if finding.status is Status.COMPLETED:
        for other in _tests(ledger):
            if other.status is Status.FAILED and is_covering(f"$ {finding.label}", f"$ {other.label}"):
                ledger.move(other, Status.COMPLETED, finding)
                if other.id != (known.id if known is not None else ""):
                    _renew(ledger, other, finding, detail=f"passes in {finding.label}"[:LABEL_MAX])
    if known is None:
        return ledger.add(finding)
    ledger.move(known, finding.status, finding)
    _renew(ledger, known, finding, detail=finding.detail)
    return known


def _find_reported_test(ledger: Ledger, finding: Finding) -> Node:
    """The node for a report such as "17 tests pass": the run that a tool just showed, else an earlier report of the
    same suite, else a new node."""
    partly = _has_partly_passed(finding.label)
    tests = _tests(ledger)
    suite = _read_suite(finding.label)
    for node in tests:
        if node.source.trust is Trust.STRUCTURE and is_asked_now(ledger, node) and not suite:
            ledger.touch(node)
            return node
    said = replace(finding, status=Status.FAILED if partly else finding.status)
    for node in tests:
        if node.source.trust is not Trust.STRUCTURE and _read_suite(node.label) == suite:
            ledger.move(node, said.status, said)
            _renew(ledger, node, said, label=said.label)
            return node
    return ledger.add(said)


def _renew(ledger: Ledger, node: Node, finding: Finding, **said: Any) -> None:
    changes = {name: value for name, value in said.items() if value and value != getattr(node, name)}
    if changes:
        ledger.emit(NodeRevised(node.id, changes | {"source": ledger.make_source(finding)}, ledger.turn))
    else:
        ledger.touch(node)


def _tests(ledger: Ledger) -> list[Node]:
    orders = (ledger.graph.newest_unfinished(), ledger.graph.newest_settled())
    near = (node for order in orders for node in islice(order, _REACH))
    return [node for node in near if node.type is NodeType.TEST][: 2 * RUNS_MAX]


def _read_suite(label: str) -> frozenset[str]:
    """The words that name the suite in a report: "api" for "the API tests pass"; empty for "all 12 tests pass"."""
    words = (word.strip(".,;:!?()").casefold() for word in label.split())
    return frozenset(
        word for word in words if word and word not in _ANY_SUITE and word not in _NUMBERS and not word[0].isdigit()
    )


def _has_partly_passed(label: str) -> bool:
    """Whether a report says that fewer tests passed than there are: "Four of five pass", "3/5 passed"."""
    words = label.casefold().replace("/", " of ").split()
    for index in range(1, len(words) - 1):
        if words[index] == "of":
            some, whole = _number(words[index - 1]), _number(words[index + 1])
            if some is not None and whole is not None and 0 <= some < whole:
                return True
    return False


def _number(word: str) -> int | None:
    return int(word[:6]) if word.isascii() and word.isdigit() else _NUMBERS.get(word)
