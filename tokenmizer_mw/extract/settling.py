"""Open work that is spoken of as done by the way: "wiki is done btw", "MX switched", "el padrón ya mandó la tabla".

Such a sentence is too little to state work that nobody asked for; it only closes what is open and named in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.model.node import Node, NodeType, Status, Trust

from .ahead import ENDS, clauses, puts_off
from .facts import PRECISE
from .finding import Finding, Segment, SegmentKind
from .ledger import Ledger, is_open
from .matching import described, near
from .pattern import PatternSet
from .phrases import asks, bounded, supposes, without_lead
from .similar import content, opening

SENTENCES_READ: Final = 12
SENTENCE_LONG: Final = 200

_CONFIDENCE: Final = 0.6
_DONE: Final = PatternSet(
    r"(?:.* )?(?:[\w-]{2,}ed|done|in|live|up|ready|sent|written|built|put|set|made|told|taken|drawn|gone"
    r"|out|through|void"
    r"|moot|obsolete|green|here|there|finished|off the (?:list|table))"
    r"(?: (?:now|too|btw|by the way|already|yesterday|today|finally|again|as well|all|since .*|in .*|on .*"
    r"|to .*|with .*"
    r"|at .*|by .*|then|last night|this morning))*(?: \(.*)?$",
    r"[\w-]{2,}ed .{3,}",
    r".* (?:works?|runs?|passes)(?: (?:now|again|fine|at last|everywhere|on all|without)\b.*)?$",
    r".* (?:(?:now|already|finally) (?:has|have|is|are)|arrived|came)\b.*",
    r".*\b(?:ist|sind|hab\pL*|wurde\pL*|jetzt)\b.*(?:ge\pL+(?:t|en)|erledigt|fertig|da|drin|durch|\pL+iert"
    r"|\pL+(?:schickt"
    r"|stellt|tragen|ändert))$",
    r".*\b(?:ya (?:está|están|mandó|llegó|lo|la)|hech[oa]s?|list[oa]s?|terminad[oa]s?|enviad[oa]s?|llegó|mandó)\b",
    r".*\b(?:c'est fait|est fait|fait|envoyée?s?|reçue?s?|arrivée?s?|terminée?s?|bouclée?s?)\b",
    r".*\b(?:fatt[oaie]|mandat[oaie]|arrivat[oaie]|finit[oaie]|inviat[oaie])\b",
    r".*\b(?:feit[oa]s?|enviad[oa]s?|chegou|chegaram|pront[oa]s?|terminad[oa]s?)\b",
    r".*(?:готов|сделал|сделан|отправил|отправлен|пришёл|пришел|пришл|удалил|написал)",
    r".*(?:好了|完了|已经|已|弄完|搞定|通过了|上线了)",
    r".*(?:ました$|済み|終わっ|できました)",
    r".*(?:했어요$|했습니다$|완료|끝났|됐어요$)",
    r".*(?:हो गया|हो गई|हो गए|कर दिया|कर दी|आ गया|आ गई|भेज दिया|लगवा दिए|ho gaya|ho gayi|kar diya|aa gaya)",
)
_DROPPED: Final = PatternSet(
    r".*\b(?:void|moot|obsolete|cancelled|canceled|off the (?:list|table)|hinfällig|vom tisch)\b"
)
_OPEN: Final = PatternSet(
    r".*(?:\b(?:not|never|yet|still|no|nothing|until|till|waiting|fail\w*|errors?|blocked|wrong|broken"
    r"|should|must|need\w*"
    r"|will|would|could|almost|half|nicht|noch|kein\pL*|todavía|aún|no|pas|encore|non|ancora|não|ainda|не|ещё|еще)\b"
    r"|n't\b|没|未|まだ|ません|아직|नहीं)"
)


def settle(ledger: Ledger, segments: Sequence[Segment]) -> None:
    """Close the open work that the user's sentences speak of as done."""
    if not near(ledger.graph, lambda node: _is_open_order(ledger, node)):
        return
    said = [segment for segment in segments if segment.kind is SegmentKind.PROSE][:SENTENCES_READ]
    for segment in said:
        text = bounded(segment.text)
        if len(text) > SENTENCE_LONG or asks(text) or supposes(without_lead(text)):
            continue
        parts = [part for clause in clauses(text) if _is_done(part := without_lead(clause).rstrip(ENDS))]
        if parts and not puts_off(segment.text):
            for part in parts:
                _settle(ledger, part, segment)


def _is_done(clause: str) -> bool:
    return _DONE.any(clause) and not _OPEN.any(clause)


def _settle(ledger: Ledger, clause: str, segment: Segment) -> None:
    task = described(ledger.graph, clause, NodeType.TASK, lambda node: _may_mean(ledger, node, clause), PRECISE)
    if task is not None:
        span = (segment.start, segment.end)
        done = Finding(
            NodeType.TASK, clause, Status.COMPLETED, Trust.CLAIMED, _CONFIDENCE, quote=segment.text, span=span
        )
        ledger.move(task, Status.ARCHIVED if _DROPPED.any(clause) else Status.COMPLETED, done)
        ledger.touch(task)


def _is_open_order(ledger: Ledger, node: Node) -> bool:
    """Whether the user named a task in an earlier message."""
    return (
        node.type is NodeType.TASK and is_open(node) and node.source.role == "user" and node.source.turn < ledger.turn
    )


def _may_mean(ledger: Ledger, node: Node, clause: str) -> bool:
    """Whether a clause may speak of a task that the user named before; of one in a word it does by its first one."""
    words = content(node.label)
    return _is_open_order(ledger, node) and (len(words) > 1 or opening(clause) in words)
