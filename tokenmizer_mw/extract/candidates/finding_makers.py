"""``PlacedHit`` (the hit of a rule with its sentence and speaker), and functions shared by the modules that turn hits
into findings."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment
from tokenmizer_mw.extract.match.rule_hits import Hit
from tokenmizer_mw.extract.match.slots import find_member, read_slot
from tokenmizer_mw.extract.rules import MEANINGS, Speaker
from tokenmizer_mw.extract.text.names import find_file_paths, is_project_name
from tokenmizer_mw.extract.text.phrases import split_enumeration
from tokenmizer_mw.model.node import NodeType, Status, Trust

ITEM_WORDS: Final = 4
"""Most words of an item of an enumeration that may be a name, not counting "for ..."; an item with more words is part
of a sentence."""

ITEMS_MAX: Final = 12
"""Most items of one list after a marker ("Next:") that become facts."""
TELLING_WORDS: Final = 2
NAME_WORDS: Final = 6


class PlacedHit:
    """A hit of a rule with its segment. ``trust``: how reliable its speaker is, as in ``Finding``."""

    __slots__ = ("hit", "segment", "trust")

    def __init__(self, hit: Hit, segment: Segment, trust: Trust) -> None:
        self.hit, self.segment, self.trust = hit, segment, trust

    def paths(self) -> list[str]:
        """Return those files that the segment names and that are in the hit's label."""
        return [path for path in find_paths(self.segment.text) if path in self.hit.label]

    def finding(self, label: str, **changes: Any) -> Finding:
        """Make a finding with this ``label``. ``changes`` gives some of its other fields; the rest are those that the
        act of the hit's rule means (``MEANINGS``)."""
        meaning = MEANINGS[self.hit.rule.act]
        placed: dict[str, Any] = {
            "type": meaning.type,
            "label": label,
            "status": meaning.status,
            "trust": self.trust,
            "confidence": self.hit.rule.confidence,
            "move": meaning.move,
            "kind": meaning.kind,
            "quote": self.segment.text,
            "span": (self.segment.start, self.segment.end),
        }
        return Finding(**(placed | changes))


def place_hit(hit: Hit, segment: Segment, situation: Situation) -> PlacedHit:
    """Return the hit with its sentence. Its trust is "stated" if the user speaks in ``situation``, and "claimed" if the
    assistant does."""
    return PlacedHit(hit, segment, Trust.STATED if situation.speaker is Speaker.USER else Trust.CLAIMED)


def read_slot_fields(label: str) -> dict[str, str]:
    """Return the slot and value of a label, as fields of a finding; {} if no value is recognised in it."""
    slot = read_slot(label)
    return {"slot": slot.name, "value": slot.value} if slot is not None else {}


def split_named_items(label: str) -> list[str]:
    """Return the items of an enumeration of names: ["A", "B", "C"] for "A, B and C". Any other phrase, also one with an
    "and", is returned whole, as a list of one."""
    items = split_enumeration(label, NAME_WORDS)
    names = sum(1 for item in items if is_name(item))
    brief = all(len(item.partition(" for ")[0].split()) <= ITEM_WORDS for item in items)
    return items if names * 2 >= len(items) and brief else [label]


def is_name(item: str) -> bool:
    """Whether an item names something: it contains a known technology, or a word with a capital letter or a digit."""
    words = item.split()
    return any(
        find_member(word) is not None or any(char.isupper() or char.isdigit() for char in word) for word in words
    )


@lru_cache(maxsize=8)
def find_paths(sentence: str) -> tuple[str, ...]:
    """Return the paths of the files that a sentence names, in order, each once; () for none. Names of products that
    look like files ("llama.cpp", see ``is_project_name``) are left out."""
    if not _may_name_files(sentence):
        return ()
    return tuple(dict.fromkeys(name.text for name in find_file_paths(sentence) if not is_project_name(sentence, name)))


def _may_name_files(text: str) -> bool:
    """A quick check: a dot before a letter, or a name such as Makefile."""
    dot = text.find(".")
    while dot >= 0:
        if text[dot + 1 : dot + 2].isalpha():
            return True
        dot = text.find(".", dot + 1)
    return "file" in text


def make_file_finding(placed: PlacedHit, path: str) -> Finding:
    """Make the finding of a file that the sentence of ``placed`` names."""
    return placed.finding(path, type=NodeType.FILE, status=Status.ACTIVE, move=Move.NOTE, kind=None)


Maker = Callable[[PlacedHit, Situation], list[Finding]]
"""Function that makes the findings of one act: gets the hit with its sentence, and the situation; returns the
findings."""
