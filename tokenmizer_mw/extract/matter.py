"""What a report is a report of: the choice that it carries out, or what was advised before it. "done, saves in 21 ms"
says nothing to who was not there; "MemoryPack: done, saves in 21 ms" does.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, Node, NodeType

from .finding import Finding
from .hollow import is_hollow
from .ledger import Ledger
from .similar import content

MATTER_MAX: Final = 60
"""Characters of what a report is told with."""

CHOSEN_REACH: Final = 8
"""Decisions, the newest, among which the one is looked for that a report carries out."""

TELLING_WORDS: Final = 4
"""Words of content from which on a report tells by itself what it is about, unless it opens with a bare "done"."""

THIN_WORDS: Final = 3
"""Words of content up to which a report is told with what was advised."""

_POINTING: Final = ("it ", "that ", "this ")


def told_with_matter(ledger: Ledger, finding: Finding) -> str:
    """A report with what it reports of: the choice that the user made last, or what was advised."""
    said = content(finding.label)
    if finding.certain or (ledger.role != "user" and not finding.label.casefold().startswith(_POINTING)):
        return finding.label
    if len(said) > TELLING_WORDS and not is_hollow(finding.label.partition(",")[0]):
        return finding.label
    matters = [_brief(node.label) for node in _chosen_before(ledger, finding)]
    if finding.about and len(said) <= THIN_WORDS:
        matters.append(finding.about)
    fresh = next((matter for matter in matters if 0 < len(matter) <= MATTER_MAX and not content(matter) <= said), "")
    return f"{fresh}: {finding.label}"[:LABEL_MAX] if fresh else finding.label


def _brief(label: str) -> str:
    return label if len(label) <= MATTER_MAX else label.partition(": ")[0]


def _chosen_before(ledger: Ledger, finding: Finding) -> list[Node]:
    """What the user chose last: before the report in the same message, or in the message before it; newest first."""
    last = ledger.graph.added(NodeType.DECISION)
    nodes = (ledger.graph.get(f"{NodeType.DECISION.value}-{at}") for at in range(last, max(0, last - CHOSEN_REACH), -1))
    chosen = [node for node in nodes if node is not None and node.current and node.kind is DecisionKind.CHOICE]
    here = [node for node in chosen if node.source.turn == ledger.turn and _stands_before(node, finding)]
    return here + [node for node in chosen if node.source.turn == ledger.asked]


def _stands_before(node: Node, finding: Finding) -> bool:
    return node.source.span is not None and finding.span is not None and node.source.span[1] <= finding.span[0]
