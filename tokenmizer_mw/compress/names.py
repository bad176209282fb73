"""The names in a text: paths, addresses, identifiers, versions. One pass over runs of characters, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

NAME_MAX: Final = 200
"""Characters of a name; a longer run is data."""

_RUN: Final = re.compile(r"[\w./@:$#~+-]{3,}")
_EDGES: Final = "./:-+#@$~"
_MARKS: Final = frozenset("_/.:@$#")
_HEX: Final = re.compile(r"[0-9a-f]{16,}")
_PLACE: Final = re.compile(r"(?<=\w)[:-]\d{1,3}(?:[:-].*)?$|(?<=\w)[:-]\d+[:-].*$")
"""A line behind a path, and what else stands there; a longer number at the end may be a port."""
_PART: Final = re.compile(r"\w+")
_HYPHENS: Final = 2


def names(text: str) -> Iterator[str]:
    """The names in ``text``, in order, with repeats.

    A name is a run of letters, digits and the marks of paths and addresses that a plain word is not: it holds a mark
    between its ends, or a capital behind a small letter. Runs of digits alone, and long ones of hexadecimal digits,
    are not names; the line number behind a path is not part of it.
    """
    for run in _RUN.findall(text):
        if run.islower() and run.isalpha():
            continue
        name = run.strip(_EDGES) if run[0] in _EDGES or run[-1] in _EDGES else run
        if (":" in name or "-" in name) and "." in name and "://" not in name:
            name = _PLACE.sub("", name)
        if is_name(name):
            yield name


def told(name: str, known: set[str]) -> bool:
    """Whether a name is known, or the member of something that is: where ``run_all`` is known, ``job.run_all`` is."""
    if name in known:
        return True
    if "/" in name or "." not in name:
        return False
    parts = _PART.findall(name)
    return parts[-1] in known and all(part in known or (part.isalpha() and part.islower()) for part in parts)


def learn(text: str, known: set[str]) -> None:
    """Add the names in ``text`` to those that are known, and the parts of each that are names themselves."""
    for name in names(text):
        if name not in known:
            known.add(name)
            known.update(part for part in _PART.findall(name) if is_name(part))


def is_name(run: str) -> bool:
    """Whether a run of characters is a name."""
    if not 3 <= len(run) <= NAME_MAX or (run.isalpha() and (run.islower() or run.istitle())):
        return False
    if not any(map(str.isalpha, run)):
        return run.count(".") > 1 or ":" in run
    if not _MARKS.isdisjoint(run) or run.count("-") >= _HYPHENS:
        return True
    if _HEX.fullmatch(run):
        return False
    return any(one.islower() and other.isupper() for one, other in pairwise(run))


def words(text: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(text.split())
