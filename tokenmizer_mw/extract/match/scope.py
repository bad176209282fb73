"""The scope that a choice names (what it holds for): "SQLite for the tests" leaves "PostgreSQL for the orders" in
force."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.text.pattern import compile_lazily
from tokenmizer_mw.extract.text.similar import content

_HOLDS_FOR: Final = compile_lazily(
    r"(?P<what>.+) for (?:the |our |my |all )?(?P<scope>[^\W\d][\w -]{1,40}?)(?: only| then| now)?"
    r"(?:,? (?:instead|rather) (?:of|than) .+)?[ .!]*$"
)
_VERBS: Final = frozenset({"go", "look", "wait", "ask", "stay", "opt", "aim", "test"})
"""Verbs to which "for" belongs ("go for A"), so that no scope but the chosen thing follows."""
_TRIAL: Final = content("tests test testing dev development local locally ci staging demo prototype sandbox laptop")
"""Words of test environments. What is chosen for one of them replaces nothing that holds in general."""


def is_exception(old: str, new: str) -> bool:
    """Whether the choice ``new`` holds for another scope than the choice ``old``, so that both are in force. If ``old``
    names no scope, that of ``new`` must be a test environment. False if ``new`` names no scope."""
    mine, other = _words_of_scope(new), _words_of_scope(old)
    return bool(mine) and (not (mine & other) if other else mine <= _TRIAL)


def _words_of_scope(label: str) -> frozenset[str]:
    """The words of the scope of a choice; empty if it states none."""
    match = _HOLDS_FOR.match(label)
    if match is None or match.group("what").casefold().split()[-1] in _VERBS:
        return frozenset()
    return content(match.group("scope"))
