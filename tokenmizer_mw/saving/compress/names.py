"""Finds names in a text: paths, addresses, identifiers, versions. One pass, linear time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

NAME_MAX: Final = 200
"""Largest number of characters of a name; a longer run of characters is data."""

_RUN: Final = re.compile(r"[\w./@:$#~+-]{3,}")
_EDGES: Final = "./:-+#@$~"
_NAMELIKE: Final = re.compile(r"_|\w[/.:@$#]\w|[^\W\d_A-Z][A-Z]|-[^-]+-")
"""What distinguishes a name from a plain word: a mark inside ("a/b", "a_b"), a capital behind a small letter, or two
hyphens."""
_PLACE: Final = re.compile(r"(?<=\w)[:-]\d{1,3}(?:[:-].*)?$|(?<=\w)[:-]\d+[:-].*$")
"""A line number behind a path and what follows it. A longer number at the end may be a port."""
_PART: Final = re.compile(r"\w+")
_LETTER: Final = re.compile(r"[^\W\d_]")


def names(text: str, read: dict[str, str] | None = None) -> Counter[str]:
    """Return the names in ``text`` in order, and how often each occurs.

    A name is a run of letters, digits, and the marks of paths and addresses for which ``is_name`` is true
    ("src/app.py", "max_size", "readFile"). Marks at its ends, and a line number after a path, are not part of it.
    ``read`` caches the name of each run of characters between calls.
    """
    memo = {} if read is None else read
    found: Counter[str] = Counter()
    known = memo.get
    for run, count in Counter(_RUN.findall(text)).items():
        name = known(run)
        if name is None:
            name = memo[run] = _name(run)
        if name:
            found[name] = found.get(name, 0) + count
    return found


def _name(run: str) -> str:
    """Return the name in a run of characters without marks around it and without a line number ("src/app.py" for
    "src/app.py:12"); "" if it has none."""
    if len(run) > 2 * NAME_MAX or (run.isalpha() and (run.islower() or run.istitle())):
        return ""
    name = run.strip(_EDGES) if run[0] in _EDGES or run[-1] in _EDGES else run
    if (":" in name or "-" in name) and "." in name and "://" not in name:
        name = _PLACE.sub("", name)
    return name if is_name(name) else ""


def is_name(run: str) -> bool:
    """Return whether a run of characters is a name: 3 to ``NAME_MAX`` characters, with a letter, and with a mark inside
    ("src/app.py", "max_size"), a capital after a lower-case letter, or two hyphens. An address such as "10.0.0.1" is a
    name, too."""
    if not (3 <= len(run) <= NAME_MAX and _NAMELIKE.search(run)):
        return False
    return _LETTER.search(run) is not None or run.count(".") > 1 or ":" in run


@dataclass(slots=True)
class KnownNames:
    """The names that occurred so far in a chat, with those of their parts that are names themselves. ``read``: cache
    for the function ``names``."""

    names: set[str] = field(default_factory=set)
    read: dict[str, str] = field(default_factory=dict)

    def learn(self, text: str) -> None:
        """Add the names in ``text``, and those of their parts that are names themselves."""
        for name in names(text, self.read):
            if name not in self.names:
                self.names.add(name)
                self.names.update(part for part in _PART.findall(name) if is_name(part))

    def is_known(self, name: str) -> bool:
        """Return whether a name occurred before. "job.run_all" also counts as known if its last part "run_all" occurred
        and its other parts did, or are plain words."""
        if name in self.names:
            return True
        if "/" in name or "." not in name:
            return False
        parts = _PART.findall(name)
        return parts[-1] in self.names and all(
            part in self.names or (part.isalpha() and part.islower()) for part in parts
        )


def words(text: str) -> frozenset[str]:
    """Return the distinct words of ``text``, a list of words separated by white space."""
    return frozenset(text.split())
