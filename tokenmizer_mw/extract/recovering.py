"""What was wrong and is taken as right again, because the talk or the work goes on to something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .facts import RELATED, same_as
from .finding import Finding, Move
from .ledger import Ledger
from .matching import near
from .pattern import PatternSet
from .similar import content

_WORDS: Final = 2
"""Words of content that a message shares at least with an error that it still speaks of."""

_LASTING: Final = PatternSet(
    r"failing tests?:",
    r".*(?:::test_|\btests?\b.* failed\b|AssertionError)",
    r".*\b(?:permission|denied|disabled|forbidden|unauthori[sz]ed|unauthenticated|quota|incompatible|deprecated)\b",
    r".*\b(?:greater|more|larger) than (?:the )?(?:maximum|limit)|.*\bignored by\b|.*\bcan't include\b",
)
"""What a tool showed and lasts until it is shown otherwise, or until somebody gives a right."""

_SLIPS: Final = PatternSet(
    r"(?:.* )?(?:String to replace not found|No replacement was performed|No exact match|SearchReplaceNoExactMatch)",
    r".*\b(?:unexpected|unrecognized|unknown|invalid|illegal|ambiguous) (?:argument|option|flag|subcommand|parameter)",
    r".*\b(?:cannot be used together|mutually exclusive|ENOENT|could not open TTY|is still running after)\b",
    r"(?:File|Path|Directory) does not exist\b",
)
"""What goes wrong with a call itself: the next one is right."""


def got_over(ledger: Ledger, findings: Sequence[Finding], said: frozenset[str]) -> None:
    """The user goes on after the assistant worked on what was wrong: it is taken as fixed, unless the message, with
    the words ``said``, complains of the same once more."""
    told = [finding for finding in findings if finding.type is NodeType.ERROR and finding.move is not Move.CLOSE]
    if any(finding.move is Move.REOPEN or len(content(finding.label)) < _WORDS for finding in told):
        return
    again = {node.id for finding in told if (node := same_as(ledger, finding)) is not None}
    for error in near(ledger.graph, lambda node: node.type is NodeType.ERROR and node.id not in again):
        if ledger.touched(error) < ledger.turn and not _lasts(error) and not _speaks_of(said, error):
            _taken_as_fixed(ledger, error, "the conversation went on")


def slipped(ledger: Ledger) -> None:
    """The assistant has come to an end: calls that were wrong in themselves have been made anew."""
    for error in near(ledger.graph, lambda node: node.type is NodeType.ERROR and _by_tool(node)):
        if _SLIPS.any(error.label):
            _taken_as_fixed(ledger, error, "a step on the way")


def _taken_as_fixed(ledger: Ledger, error: Node, why: str) -> None:
    fixed = Finding(error.type, error.label, Status.COMPLETED, Trust.CLAIMED, error.confidence)
    ledger.move(error, Status.COMPLETED, fixed, why)


def _by_tool(error: Node) -> bool:
    return error.source.role == "tool"


def _lasts(error: Node) -> bool:
    return _by_tool(error) and _LASTING.any(error.label)


def _speaks_of(said: frozenset[str], error: Node) -> bool:
    words = content(error.label)
    return len(words & said) >= max(RELATED * len(words), _WORDS)
