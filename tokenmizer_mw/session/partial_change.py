"""Reword a fact of which a new value replaces only a part: "Django with SQLite" is "Django with PostgreSQL" after
"PostgreSQL instead of SQLite". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import re2

from tokenmizer_mw.graph.search import product_words
from tokenmizer_mw.model.category import MEMBERS

_JOINT: Final = re2.compile(
    r"(?i)\s+(?:(?P<and>and|plus|as well as|und|sowie|et|y|e|и|&|\+)|(?P<with>with|mit|avec|con|com|с))\s+|[,;]\s+"
)
_LEAD: Final = re2.compile(
    r"(?i)^(?:[\pL\pN_-]+(?: [\pL\pN_-]+)?[:=]\s+|(?:(?:we|i|let's|let us|wir|on) )?(?:now |will |should )?"
    r"(?:use|take|go with|choose|pick|nutzen|nimm|nehmen|utilise|utiliser|usa|usar|usare)\s+)"
)
"""What stands before a value: what it is of ("database: "), or a verb ("we use ")."""

_SIGNS: Final = ".,;:!?()\"'`"


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a label, from the character ``start`` on. ``joint``: "and", "with" or "," before it; "" for the
    first one."""

    text: str
    start: int
    joint: str


def replace_part(label: str, old: str, new: str) -> str:
    """Return ``label`` with the value of ``new`` in place of ``old``, if the label states other things as well; "" if
    it does not, or if ``new`` states them, too.

    Other things are parts that "and" or "with" joins to ``old``, and parts with the name of a product. What "with"
    adds behind ``old`` belongs to it: "SQLite with WAL mode".
    """
    parts = _split(label)
    holding = [(at, place) for at, part in enumerate(parts) if (place := _find_place(part.text, old)) is not None]
    if len(holding) != 1:
        return ""
    at, (start, end) = holding[0]
    own, behind = parts[at], parts[at + 1 : at + 2]
    added = behind if behind and behind[0].joint == "with" else []
    others = [part for part in parts if part is not own and part not in added]
    joined = (own.joint in _JOINING and start == 0) or (_is_joined_by_and(behind) and end == len(own.text))
    if not others or not (joined or any(map(_names_product, others))):
        return ""
    if product_words(" ".join(part.text for part in others)) <= product_words(new):
        return ""
    before, after = label[: own.start + start], label[own.start + end :]
    value = new[len(before) :] if new.casefold().startswith(before.casefold()) else _LEAD.sub("", new)
    return f"{before}{value}{after}"


_JOINING: Final = frozenset({"and", "with"})


def _is_joined_by_and(parts: Sequence[_Part]) -> bool:
    return bool(parts) and parts[0].joint == "and"


def find_joined_product(label: str, category: str) -> str:
    """Return the product of a category that is a whole part of a label with several parts, as it is written there; ""
    for none or several: "SQLite" of "Django with SQLite" for "database"."""
    parts = _split(label)
    found = [part.text for part in parts if len(parts) > 1 and _is_product(part.text, category)]
    return found[0] if len(found) == 1 else ""


def find_product(label: str, category: str) -> str:
    """Return the only product of a category that a label names, as it is written there; "" for none or several."""
    found = [word.strip(_SIGNS) for word in label.split() if _is_product(word, category)]
    return found[0] if len(found) == 1 else ""


def _is_product(text: str, category: str) -> bool:
    known = MEMBERS.get(text.strip(_SIGNS).casefold())
    return known is not None and known[0].name == category


def _split(label: str) -> list[_Part]:
    parts, start, joint = [], 0, ""
    for found in _JOINT.finditer(label):
        parts.append(_Part(label[start : found.start()], start, joint))
        start, joint = found.end(), next((name for name in _JOINING if found[name]), ",")
    return [*parts, _Part(label[start:], start, joint)]


def _find_place(text: str, old: str) -> tuple[int, int] | None:
    """From where to where a text has the words of ``old``, a product in any spelling; ``None`` for nowhere."""
    found = re2.search(rf"(?i)(?:^|[^\pL\pN_])({re2.escape(old)})(?:$|[^\pL\pN_])", text)
    if found is not None:
        return found.start(1), found.end(1)
    wanted = MEMBERS.get(old.casefold())
    start = 0
    for word in text.split(" "):
        bare = word.strip(_SIGNS)
        if wanted is not None and (known := MEMBERS.get(bare.casefold())) is not None and known[1] == wanted[1]:
            begin = start + word.index(bare)
            return begin, begin + len(bare)
        start += len(word) + 1
    return None


def _names_product(part: _Part) -> bool:
    return any(word.strip(_SIGNS).casefold() in MEMBERS for word in part.text.split())
