"""Changes numbers in earlier decisions that a user corrects: after "8 is too early, make it 10", a decision
"start at 08:00" becomes "start at 10:00"."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.match.slots import read_slot
from tokenmizer_mw.graph.values import names_again, values_in
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType

from .facts import supersede
from .ledger import Ledger
from .succession import has_other_number

_DECISIONS_MAX: Final = 24
_SIGNS: Final = ".,;:!?()\"'"


def is_value(label: str) -> bool:
    """Whether a label is only a number or a time: it begins with a digit and has nothing but digits, ":", "." and
    ","."""
    return label[:1].isdigit() and all(char.isdigit() or char in ":.," for char in label)


def correct_number(ledger: Ledger, finding: Finding) -> Node | None:
    """Replace the newest fitting decision that states the old number by one that states the new number, and return the
    new node; ``None`` if no decision fits.

    ``finding.target`` is the old number ("" if the user does not name it), ``finding.label`` the new one. A decision
    fits if all of this holds:

    - It still holds, is not a mere option, and is among the 24 newest decisions.
    - It was mentioned since the user's last message. The same number in other decisions is about something else.
    - The old number occurs in it exactly once. If the old number is "", the decision has exactly one number; and if the
      sentences around the correction name a number besides the new one, it is that number.
    """
    other = not finding.target and has_other_number(finding, finding.label)
    decisions = (ledger.graph.get(f"{NodeType.DECISION.value}-{number}") for number in _newest(ledger))
    for old in islice(decisions, _DECISIONS_MAX):
        if old is None or not old.current or old.kind is DecisionKind.OPTION:
            continue
        label = _correct_number(old.label, finding.target, finding.label)
        if other and not any(names_again(value, finding.near) for value in values_in(old.label)):
            continue
        if label and ledger.last_touched(old) >= max(ledger.asked, 1):
            slot = read_slot(label)
            name, value = (slot.name, slot.value) if slot is not None else ("", "")
            made = replace(finding, label=label, target="", kind=old.kind, slot=name, value=value)
            return supersede(ledger, old, made)
    return None


def _newest(ledger: Ledger) -> range:
    return range(ledger.graph.count_added(NodeType.DECISION), 0, -1)


def _correct_number(label: str, old: str, new: str) -> str:
    """``label`` with its number (``old``, if not "") replaced by ``new``; "" if it has no such number or several."""
    words = label.split()
    numbers = [index for index, word in enumerate(words) if is_value(word.strip(_SIGNS))]
    meant = [index for index in numbers if not old or _is_same_number(words[index].strip(_SIGNS), old)]
    if len(meant) != 1 or (not old and len(numbers) != 1):
        return ""
    number = words[meant[0]].strip(_SIGNS)
    written = f"{new}:00" if ":" in number and ":" not in new else new
    words[meant[0]] = words[meant[0]].replace(number, written)
    return " ".join(words)


def _is_same_number(one: str, other: str) -> bool:
    return _normalise_number(one) == _normalise_number(other)


def _normalise_number(number: str) -> str:
    return number.removesuffix(":00").lstrip("0")
