"""Validate findings: clean their labels, correct their types, and drop doubtful and superfluous ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.match.frames import is_announcement
from tokenmizer_mw.extract.rules.acknowledgement_words import FAULTS
from tokenmizer_mw.extract.text.cut_marks import find_cut_marks, replace_cut_marks
from tokenmizer_mw.extract.text.names import PROJECTS, as_path, project_path
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.prose import strip_markdown
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, NodeType, Status, Trust
from tokenmizer_mw.safety.redact.strict import mask_keys, mask_opaque
from tokenmizer_mw.settings import Settings

from .meaningless_labels import is_go_ahead, is_hollow, strip_pointer

QUOTE_MAX: Final = 240
"""Longest quote, in characters, that is kept as evidence."""

_DOUBTED: Final = frozenset({NodeType.DECISION, NodeType.GOAL})
"""Types of facts that text of tools, files and third parties never creates."""

BRACKET_WORDS: Final = 3
_TRAILING: Final = " \t.,;:!?-–—*_`~#>|/\\([{<=&+"
_LEADING: Final = " \t.,;:!?-–—*`#>|)]}=&"
_PAIRS: Final = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"), ('"', '"'), ("`", "`"))

_BEFORE_DOT: Final = frozenset(" `\"'([")
_READ_AS_SUCH: Final = frozenset({NodeType.FILE, NodeType.ENDPOINT, NodeType.GOAL, NodeType.ENVIRONMENT})
_MARKS: Final = frozenset("".join(opening + closing for opening, closing in _PAIRS))
_TOLD: Final = frozenset({NodeType.TASK, NodeType.DECISION, NodeType.ERROR})
"""Types of facts whose labels are somebody's words, which may be meaningless."""

_SPOKEN: Final = _TOLD | {NodeType.CONCEPT}

_QUESTION_MARKS: Final = ("?", "？", "؟")
"""A goal that ends with one of these keeps a question mark in its label, because it only asks for information."""

_SIDES: Final = frozenset({"left", "right", "on", "off", "up", "down"})

_METHODS: Final = ("GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "HEAD ", "OPTIONS ", "WS ")


def clean_label(text: str) -> str:
    """Return ``text`` as a label; "" if no meaningful word is left.

    The label is one line (NFKC) of at most ``LABEL_MAX`` characters. Removed are control characters, Markdown emphasis,
    inline code marks and link targets, punctuation at its ends, and what follows an unmatched bracket. Whatever may be
    a key is replaced by "[redacted]".
    """
    if not text:
        return ""
    label = one_line(text[: 4 * LABEL_MAX])
    label = _without_bold(strip_markdown(label)).replace("**", "").replace("`", "")
    label = _balance_brackets(_shorten(mask_opaque(_trim_whole(label, _trim_label(label))), LABEL_MAX))
    return label if words(label) else ""


def _balance_brackets(label: str) -> str:
    """``label`` up to a bracket that has no counterpart, such as one whose end was cut off; unchanged if that would
    leave fewer than ``BRACKET_WORDS`` words."""
    if "(" not in label and ")" not in label:
        return label
    opened: list[int] = []
    for at, char in enumerate(label):
        if char == "(":
            opened.append(at)
        elif char == ")" and not opened and label[at - 1].isalnum():
            return label[:at] if len(label[:at].split()) >= BRACKET_WORDS else label
        elif char == ")" and opened:
            opened.pop()
    whole = not opened or len(label[: opened[0]].split()) < BRACKET_WORDS
    return label if whole else label[: opened[0]].rstrip(_TRAILING)


def _without_bold(label: str) -> str:
    """``label`` without the underscores of bold words; those of names such as ``__init__`` stay."""
    pieces = label.split("__")
    is_bold = len(pieces) % 2 == 1 and all(" " in piece.strip() for piece in pieces[1::2])
    return "".join(pieces) if is_bold else label


def _path_label(path: str) -> str:
    """A path as a label: relative to its project, on one line, with its underscores (which are no Markdown), keys
    masked; "" if no meaningful word is left."""
    line = one_line(path[: 4 * LABEL_MAX]).replace("`", "")
    label = _shorten(mask_keys(_trim_whole(line, _trim_label(line))), LABEL_MAX)
    return project_path(label) if words(label) else ""


def _trim_whole(label: str, trimmed: str) -> str:
    """The trimmed label with the punctuation that is part of a name: the dot of ".gitignore", the slash of "GET /", the
    underscores of "__init__". ``label``: the label before trimming."""
    if "__" in trimmed.rpartition(" ")[2] and f"{trimmed}__" in label:
        return f"{trimmed}__"
    if trimmed and trimmed.isupper() and f"{trimmed} " in _METHODS and label.strip(" .`").endswith("/"):
        return f"{trimmed} /"
    at = label.find(trimmed) if trimmed[:1].isalnum() and "." in label[: -len(trimmed)] else 0
    dotted = at > 0 and label[at - 1] == "." and (at == 1 or label[at - 2] in _BEFORE_DOT)
    return f".{trimmed}" if dotted else trimmed


def one_line(text: str) -> str:
    """Return ``text`` NFKC-normalised on one line, without control, format and surrogate characters."""
    if text.isprintable() and (text.isascii() or unicodedata.is_normalized("NFKC", text)):
        return " ".join(text.split())
    kept = (" " if char.isspace() else char for char in unicodedata.normalize("NFKC", text))
    return " ".join("".join(char for char in kept if unicodedata.category(char)[0] != "C").split())


@lru_cache(maxsize=8)
def format_quote(text: str) -> str:
    """Return ``text`` as evidence: on one line of at most ``QUOTE_MAX`` characters, with whatever may be a key replaced
    by "[redacted]"."""
    return _shorten(mask_opaque(one_line(text[: 4 * QUOTE_MAX])), QUOTE_MAX)


def _trim_label(label: str) -> str:
    if _MARKS.isdisjoint(label):
        return label.lstrip(_LEADING).rstrip(_TRAILING)
    while True:
        shorter = _unpair(label.lstrip(_LEADING).rstrip(_TRAILING))
        if shorter == label:
            return label
        label = shorter


def _unpair(label: str) -> str:
    for opening, closing in _PAIRS:
        if label.startswith(opening) and label.endswith(closing) and len(label) > 1:
            return label[1:-1]
        if label.endswith(closing) and opening not in label[:-1]:
            return label[:-1]
    return label


def _shorten(label: str, limit: int) -> str:
    if len(label) <= limit:
        return label
    cut = label[:limit]
    return (cut.rpartition(" ")[0] if " " in cut[limit // 2 :] else cut).rstrip(_TRAILING)


def correct_type(type_: NodeType, label: str) -> NodeType:
    """Return the type that a fact with this label should have: FILE if the label is only a path, ENDPOINT if it is a
    URL or "GET /path", else ``type_``. If ``type_`` is FILE, ENDPOINT, GOAL or ENVIRONMENT, it is always returned."""
    if type_ in _READ_AS_SUCH:
        return type_
    if _is_address(label):
        return NodeType.ENDPOINT
    return NodeType.FILE if " " not in label and label.lower() not in PROJECTS and as_path(label) else type_


def _is_address(label: str) -> bool:
    if label.startswith(("http://", "https://")):
        return " " not in label
    method, _, route = label.partition(" ")
    return label.startswith(_METHODS) and route.startswith("/") and " " not in route and method.isupper()


def validate_findings(findings: Iterable[Finding], settings: Settings) -> list[Finding]:
    """Return the valid findings, cleaned and in order, at most ``settings.labels_max``.

    Dropped are:

    - findings below ``settings.confidence_floor``, except those from structure (such as tool calls);
    - findings whose label means nothing, or that only introduce what follows ("here is the plan:");
    - decisions and goals in quoted text.

    A finding without a label stays if it means the current work, as in "it works now" or "working on it", or if its
    move needs no label. A choice of the user that says that something does not work becomes an error.
    """
    kept: list[Finding] = []
    for finding in findings:
        if len(kept) == settings.labels_max:
            break
        said = _without_fault(finding)
        clean = _validate_finding(said, settings.confidence_floor) if said is not None else None
        if clean is not None:
            kept.append(clean)
    return _without_reasons_as_errors(_without_other_choices(kept))


def _without_reasons_as_errors(findings: list[Finding]) -> list[Finding]:
    """The findings without errors whose words are also the reason of a replacement in the same message:
    "Operations won't run it"."""
    reasons = {finding.why for finding in findings if finding.why and finding.move is Move.REPLACE}
    return [one for one in findings if one.type is not NodeType.ERROR or one.label not in reasons]


def _without_other_choices(findings: list[Finding]) -> list[Finding]:
    """The findings, without reasons that contain another choice of the message, as in
    "we stay on Jenkins, the dashboards run in Grafana"."""
    chosen = [
        finding.label
        for finding in findings
        if finding.type is NodeType.DECISION and finding.status is Status.ACTIVE and len(finding.label) >= _CHOICE_MIN
    ]
    return [
        replace(finding, reason="")
        if finding.reason and any(label in finding.reason and label != finding.label for label in chosen)
        else finding
        for finding in findings
    ]


_CHOICE_MIN: Final = 12
"""Shortest choice, in characters, that is looked for in reasons; a shorter one may be part of a real reason."""


def _validate_finding(finding: Finding, floor: float) -> Finding | None:
    if not finding.certain and finding.confidence < floor:
        return None
    if (finding.trust is Trust.QUOTED and finding.type in _DOUBTED) or _is_leading_on(finding):
        return None
    label = _label_of(finding)
    if label and finding.type is NodeType.GOAL and finding.label.rstrip().endswith(_QUESTION_MARKS):
        label += "?"
    if not label and (finding.label or not _may_be_bare(finding)):
        return None
    if finding.type is NodeType.ENDPOINT and "/" not in label and f"{label.upper()} " in _METHODS:
        return None
    if label and finding.type in _TOLD and not finding.certain:
        label = strip_pointer(label)
        if _is_without_content(finding, label):
            if not _may_point(finding):
                return None
            label = ""
    type_ = correct_type(finding.type, label) if label else finding.type
    quote = format_quote(finding.quote)
    if type_ is finding.type and label == finding.label and quote == finding.quote and _is_plain(finding):
        return finding
    return replace(
        finding,
        type=type_,
        label=label,
        kind=finding.kind if type_ is NodeType.DECISION else None,
        slot=finding.slot if type_ is finding.type else "",
        target=clean_label(finding.target),
        reason=clean_label(finding.reason),
        detail=mask_opaque(one_line(finding.detail))[: 2 * QUOTE_MAX] if finding.detail else "",
        quote=quote,
    )


def _label_of(finding: Finding) -> str:
    """The cleaned label of a finding; "" if nothing meaningful is left."""
    if finding.type is NodeType.FILE:
        return _path_label(finding.label)
    label = clean_label(finding.label)
    return "" if _is_cut_mark(finding, label) else label


def _is_cut_mark(finding: Finding, label: str) -> bool:
    """Whether a label is no more than a mark of text that was left out, or one word and a mark ("Error: [cut]")."""
    if any(label in one_line(mark) for mark in find_cut_marks(finding.quote)):
        return True
    rest = replace_cut_marks(finding.label)
    return rest != finding.label and len(words(rest)) < _WORDS_BESIDE_MARK


_WORDS_BESIDE_MARK: Final = 2


def _is_leading_on(finding: Finding) -> bool:
    """Whether a finding states nothing: it only tells the assistant to continue, introduces what follows, or announces
    a change. False for findings from structure."""
    if not finding.certain and finding.type in _SPOKEN and is_announcement(finding.label):
        return True
    if finding.certain or finding.move not in (Move.NOTE, Move.ADOPT):
        return False
    if finding.type is NodeType.ERROR:
        return finding.quote.rstrip().endswith(_COLONS)
    goes_on = is_go_ahead(finding.label) and not is_behind_marker(finding)
    return finding.type is NodeType.DECISION and (goes_on or finding.quote.rstrip().endswith(_LEADING_ON))


def is_behind_marker(finding: Finding) -> bool:
    """Whether the label of a finding stands behind a marker in its quote, as in "Decision: continue with Redis"."""
    before, label, _ = finding.quote.partition(finding.label)
    return bool(label) and before.rstrip().endswith(_COLONS)


_COLONS: Final = (":", "：")
_LEADING_ON: Final = (*_COLONS, "...", "…")


_FAULTS: Final = PatternSet(*FAULTS)


def _without_fault(finding: Finding) -> Finding | None:
    """The finding. An active choice whose label says that something does not work becomes an error if the user states
    it; ``None`` if somebody else does."""
    chosen = finding.type is NodeType.DECISION and finding.kind is DecisionKind.CHOICE
    if not chosen or finding.status is not Status.ACTIVE or finding.target or not _FAULTS.any(finding.label):
        return finding
    return _as_error(finding) if finding.trust is Trust.STATED else None


def _as_error(finding: Finding) -> Finding:
    """A misread choice as an error."""
    return Finding(
        NodeType.ERROR,
        finding.label,
        Status.ACTIVE,
        finding.trust,
        finding.confidence,
        quote=finding.quote,
        span=finding.span,
    )


def _is_without_content(finding: Finding, label: str) -> bool:
    """Whether a label says nothing. A bare number or side ("left") says enough if it is the new value in a
    replacement."""
    return is_hollow(label) and not (finding.move is Move.REPLACE and (label[0].isdigit() or label in _SIDES))


def _may_point(finding: Finding) -> bool:
    """Whether a finding without a name can mean the current work, as a task that was finished can."""
    return finding.type is not NodeType.DECISION and (
        finding.move in (Move.CLOSE, Move.REOPEN) or finding.status is Status.IN_PROGRESS
    )


def _is_plain(finding: Finding) -> bool:
    """Whether no field but label and quote needs cleaning."""
    said_more = finding.target or finding.reason or finding.detail
    return not said_more and (finding.kind is None or finding.type is NodeType.DECISION)


def _may_be_bare(finding: Finding) -> bool:
    return finding.move is not Move.NOTE or finding.status is Status.IN_PROGRESS
