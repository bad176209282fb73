"""Compiled patterns (RE2): matching takes linear time, and case is ignored.

Texts are matched as bytes and groups decoded on demand, because most matches need only one. The compiled expression is
called directly, as in ``redact.pattern``: the wrapper in ``re2`` costs more than most matches. Patterns are compiled
when first used, because compiling all rules takes longer than all imports together. Until then a pattern object lacks
the attribute with the compiled pattern, and ``__getattr__`` sets it, so that later uses cost nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, Final

import re2

from tokenmizer_mw.runtime.lazy import Ask, Asks, Spans, asks_of, matching_of, re2_options

SET_MEMORY: Final = 16 << 20
"""Most bytes of memory that RE2 may use for the automaton of one set of patterns."""


_SIGNS: Final = {
    "L": r"A-Za-z\x{aa}\x{b5}\x{ba}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{2c1}\x{370}-\x{373}\x{376}-\x{377}\x{37f}"
    r"\x{386}\x{388}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{561}-\x{587}\x{5d0}-\x{5ea}\x{620}-\x{64a}"
    r"\x{671}-\x{6d3}\x{904}-\x{939}\x{958}-\x{961}\x{971}-\x{97f}\x{e01}-\x{e30}\x{e40}-\x{e46}\x{10a0}-\x{10fa}"
    r"\x{1100}-\x{11ff}\x{1e00}-\x{1fbc}\x{3005}\x{3041}-\x{3096}\x{309d}-\x{309f}\x{30a1}-\x{30fa}\x{30fc}-\x{30ff}"
    r"\x{3131}-\x{318e}\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{ac00}-\x{d7a3}\x{f900}-\x{fa6d}\x{ff21}-\x{ff3a}"
    r"\x{ff41}-\x{ff5a}\x{ff66}-\x{ffdc}\x{20000}-\x{2fa1d}",
    "M": r"\x{300}-\x{36f}\x{483}-\x{489}\x{591}-\x{5bd}\x{64b}-\x{65f}\x{900}-\x{903}\x{93a}-\x{93c}\x{93e}-\x{94f}"
    r"\x{951}-\x{957}\x{962}-\x{963}\x{e31}\x{e34}-\x{e3a}\x{e47}-\x{e4e}\x{20d0}-\x{20f0}\x{3099}-\x{309a}"
    r"\x{fe00}-\x{fe0f}",
    "N": r"0-9\x{b2}\x{b3}\x{b9}\x{bc}-\x{be}\x{660}-\x{669}\x{6f0}-\x{6f9}\x{966}-\x{96f}\x{e50}-\x{e59}"
    r"\x{2070}\x{2074}-\x{2079}\x{2080}-\x{2089}\x{2150}-\x{2182}\x{2460}-\x{249b}\x{3007}\x{ff10}-\x{ff19}",
}
"""Letters, marks and digits of the scripts that people write to models in. RE2's own classes name those of 160 scripts:
a pattern with one takes up to a hundred times as long to compile, and every state of its automaton as well."""
_TOKEN: Final = re.compile(r"\\p(?:([LMN])|\{([LMN])\})|\\.|\[\^?\]?|\]", re.DOTALL)


def _narrow_classes(pattern: str) -> str:
    """``pattern`` with ``_SIGNS`` in place of RE2's classes of letters, marks and digits."""
    if "\\p" not in pattern:
        return pattern
    inside = False

    def narrow(token: re.Match[str]) -> str:
        nonlocal inside
        if (name := token[1] or token[2]) is not None:
            return _SIGNS[name] if inside else f"[{_SIGNS[name]}]"
        if token[0][0] != "\\":
            inside = token[0] != "]"
        return token[0]

    return _TOKEN.sub(narrow, pattern)


class Match:
    """A match of a pattern. Positions are in characters of the text."""

    __slots__ = ("_groups", "_spans", "_text")

    def __init__(self, spans: Spans, groups: dict[str, int], text: bytes) -> None:
        self._spans, self._groups, self._text = spans, groups, text

    def group(self, name: str = "") -> str:
        """Return the text of the group ``name``, "" if it did not match; for "" the whole match. An unknown name raises
        ``KeyError``."""
        start, end = self._spans[self._groups[name] if name else 0]
        return self._text[start:end].decode("utf-8", "replace") if end > start else ""

    def start(self, name: str = "") -> int:
        """Return where the group ``name`` starts, -1 if it did not match; for "" where the whole match starts. An
        unknown name raises ``KeyError``."""
        return self._at(self._spans[self._groups[name] if name else 0][0])

    def end(self, name: str = "") -> int:
        """Return where the group ``name`` ends (exclusive), -1 if it did not match; for "" where the whole match ends.
        An unknown name raises ``KeyError``."""
        return self._at(self._spans[self._groups[name] if name else 0][1])

    def _at(self, index: int) -> int:
        return -1 if index < 0 else len(self._text[:index].decode("utf-8", "replace"))


class Pattern:
    """An RE2 pattern with named groups, compiled when first used; case is ignored."""

    __slots__ = ("_asks", "_groups", "_make", "groups")

    _asks: Asks
    _groups: dict[str, int]
    groups: frozenset[str]
    """Names of the groups."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in _COMPILED:
            raise AttributeError(name)
        pattern = self._make()
        self._groups = dict(pattern.groupindex)
        self.groups = frozenset(self._groups)
        self._asks = asks_of(pattern)
        return object.__getattribute__(self, name)

    def match(self, text: str) -> Match | None:
        """Return the match at the start of ``text``; ``None`` for none."""
        return self._match_with(self._asks.begin, text)

    def search(self, text: str) -> Match | None:
        """Return the first match anywhere in ``text``; ``None`` for none."""
        return self._match_with(self._asks.find, text)

    def fullmatch(self, text: str) -> Match | None:
        """Return the match of the whole ``text``; ``None`` if it does not match."""
        return self._match_with(self._asks.whole, text)

    def find_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each match in ``text``, without overlaps. The pattern must not match ""."""
        raw = text.encode("utf-8", "replace")
        found: list[tuple[int, int]] = []
        end = 0
        while (spans := self._asks.find(raw, end, len(raw)))[0][0] >= 0:
            found.append(spans[0])
            end = spans[0][1]
        if len(raw) == len(text):
            return found
        return [(len(raw[:start].decode()), len(raw[:end].decode())) for start, end in found]

    def _match_with(self, ask: Ask, text: str) -> Match | None:
        raw = text.encode("utf-8", "replace")
        spans = ask(raw, 0, len(raw))
        return Match(spans, self._groups, raw) if spans[0][0] >= 0 else None


_COMPILED: Final = frozenset({"_asks", "_groups", "groups"})


@cache
def compile_lazily(pattern: str) -> Pattern:
    """Return a ``Pattern`` for the RE2 syntax ``pattern``; the same text gives the same object. It is compiled at its
    first use, which raises ``re2.error`` if the syntax is invalid."""
    return Pattern(lambda: re2.compile(_narrow_classes(pattern), _options()))


class PatternSet:
    """Several patterns (RE2) that are matched at the start of a text in one pass, ignoring case. It is cheaper than one
    pattern with groups, so it is also used to find out only whether a pattern matches."""

    __slots__ = ("_match", "_patterns")

    _match: Callable[[bytes], list[int] | None]

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    def __getattr__(self, name: str) -> Any:
        if name != "_match":
            raise AttributeError(name)
        made = re2.Set.MatchSet(_options(SET_MEMORY))
        for pattern in self._patterns:
            made.Add(_narrow_classes(pattern))
        made.Compile()
        self._match = matching_of(made)
        return self._match

    def matching(self, text: str) -> list[int]:
        """Indices of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._match(text.encode("utf-8", "replace")) or ())

    def any(self, text: str) -> bool:
        """Whether some pattern matches at the start of ``text``."""
        return bool(self._match(text.encode("utf-8", "replace")))


class PatternTable:
    """Many patterns (RE2) with named groups, matched at the start of a text, ignoring case.

    Only those patterns are tried of which the text has a word. One automaton for all of them would reach a new state at
    almost every character of a new sentence, and building states is the expensive part.
    """

    __slots__ = ("_filter", "_made", "_match", "_patterns")

    _filter: Any
    _match: Callable[[bytes, bool], list[int] | None]
    """Called with a text and false; true would add patterns that may not match."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        self._made: dict[int, Pattern] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in ("_filter", "_match"):
            raise AttributeError(name)
        made = re2.Filter()
        for pattern in self._patterns:
            made.Add(rf"\A(?:{_narrow_classes(pattern)})", _options())
        made.Compile()
        self._filter, self._match = made, getattr(made, "_filter", made).Match
        return object.__getattribute__(self, name)

    def __getitem__(self, number: int) -> Pattern:
        """Return the pattern with this number, counted from 0. Raises ``IndexError`` if there is none, also for
        negative numbers."""
        made = self._made.get(number)
        if made is None:
            if not 0 <= number < len(self._patterns):
                raise IndexError(number)
            made = self._made[number] = Pattern(partial(self._filter.re, number))
        return made

    def matching(self, text: str) -> list[int]:
        """Numbers of the patterns that match at the start of ``text``, ascending."""
        return sorted(self._match(text.encode("utf-8", "replace"), False) or ())

    def any(self, text: str) -> bool:
        """Whether some pattern matches at the start of ``text``."""
        return bool(self._match(text.encode("utf-8", "replace"), False))


def _options(memory: int = 0) -> Any:
    """Return options of RE2 that ignore case. ``memory``: bytes that an automaton may use, 0 for RE2's default."""
    return re2_options(memory, case_sensitive=False)
