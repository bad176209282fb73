"""Find other people's text that a user shows without calling it a text, by what precedes it: an order without an object
("proofread please"), the place where it was read, a file name, or a paste marker.

``documents`` finds, in addition, texts that words introduce. The phrases are in ``rules.showing_phrases``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.rules.showing_phrases import FILE, MENTION, SHOWN
from tokenmizer_mw.extract.text.pattern import PatternTable
from tokenmizer_mw.runtime.lazy import expression

CLAUSES_MAX: Final = 8_000
"""Number of clauses of one message that are tested for whether they show a text."""

_CLAUSE: Final = expression(
    r"((?:[^\n:：.!?？。！—;]|[.:;][^\s.:;!?\"'])+)"
    r"(?:(\?|？)|[!.！。])?[ \t]*(?:([:：—])[ \t*_]*(\n)?|[ \t]*\n)"
)
BORDERS: Final = frozenset("\n:：—")
"""Characters one of which stands between a clause that shows or introduces a text and that text."""
_CLAUSE_MAX: Final = 200
"""How many characters at the end of a clause are looked at."""

_PASTED: Final = (
    r"(?i)^[ \t]*\[(?:pasted|attached|attachment|paste|clipboard|file|document|eingefügt\w*|angehängt\w*|texte collé"
    r"|texto pegado)\b[^\]\n]{0,80}\][ \t]*$"
)
_LABEL: Final = (
    rf"^(?:(?i:attached|attachment|attaching|file|anbei|anhang|datei|fichier|pièce jointe|archivo|adjunto|附件|文件)"
    rf"[ \t]*[:：]?[ \t]+)?#{{0,6}}[ \t]*[*_`]*{FILE}[*_`]*[ \t]*[:：]?[ \t]*$"
)
_BANNER: Final = rf"(?i)^[=\-#*~<>]{{2,}}[ \t]*(?:(?:begin|start|file|of)\b[ \t:]*)*{FILE}[ \t]*[=\-#*~<>]*$"
_MENTIONS: Final = rf"^[ \t]*{MENTION}(?:[ \t,]+{MENTION})*[ \t]*:?[ \t]*$"
_HIT: Final = r"^[^\n]{4,120} (?:[-–|·] |\()https?://\S+[ \t]*$"
_HEADS: Final = expression(rf"(?m){_PASTED}|{_LABEL}|{_BANNER}|{_MENTIONS}|{_HIT}")
"""Matches a line that stands above the content of a file or a paste, such as "[pasted]" or "notes.md"."""

_ASKED: Final = expression(rf"(?i)(?:{FILE}|\b(?:system[ -]?)?prompt\b)")
_LIKE_A_FILE: Final = expression(r"(?:#{1,6}[ \t]|[-*•][ \t]|\d{1,2}[.)][ \t]|<|You are\b|Du bist\b|Tu es\b|Eres\b)")

_LOOK: Final = 200
"""How many characters after a question are looked at to see whether they look like the content of a file."""

_KINDS: Final = 7
_ORDER, _MAKING, _READING, _HOLDING, _OPENING, _RECORDING, _POINTING = range(_KINDS)
_TABLE: Final = PatternTable(
    pattern
    for row in SHOWN
    for pattern in (
        row.ordering(making=False),
        row.ordering(making=True),
        row.reading,
        row.holding,
        row.opening,
        row.recording,
        row.pointing,
    )
)
_OBJECTS: Final = PatternTable(row.object for row in SHOWN)


@dataclass(frozen=True, slots=True)
class ShownText:
    """Where a shown text starts.

    - ``start``: position of its first character.
    - ``resumes``: whether the user may go on in own words in the last paragraph.
    - ``in_line``: whether the text begins on the line that introduces it. ``quoted``: whether it ends with its
      paragraph.
    """

    start: int
    resumes: bool
    in_line: bool = False
    quoted: bool = False


def find_shown(text: str) -> Iterator[ShownText]:
    """Iterate over the texts of other people that a message shows, each with the position where it starts. Texts below
    a file name or a paste marker come first, then those after a clause that shows them ("here is the mail:"). Linear
    time."""
    if not any(border in text for border in BORDERS):
        return
    if "\n" in text:
        yield from _find_headed(text)
    for clause in islice(_CLAUSE.finditer(text), CLAUSES_MAX):
        words, asks, colon, line = clause.groups()
        said = words[-_CLAUSE_MAX:]
        in_line = colon is not None and line is None
        kinds = {number % _KINDS for number in _TABLE.matching(said)}
        if colon == "—" and kinds.isdisjoint({_READING, _HOLDING}):
            continue
        if _is_showing_text(said, kinds, colon):
            yield ShownText(clause.end(), resumes=False, in_line=in_line)
        elif _is_showing_words(kinds, colon, apart=text[clause.end() : clause.end() + 1] == "\n"):
            yield ShownText(clause.end(), resumes=True, in_line=in_line, quoted=in_line)
        elif asks is not None and not in_line and _is_above_file(said, text[clause.end() : clause.end() + _LOOK]):
            yield ShownText(clause.end(), resumes=True)


def _is_above_file(said: str, following: str) -> bool:
    """Whether a question names a file and what follows looks like one."""
    return _ASKED.search(said) is not None and _LIKE_A_FILE.match(following.lstrip()) is not None


def _find_headed(text: str) -> Iterator[ShownText]:
    """Iterate over the texts below a file name or a paste marker."""
    for head in islice(_HEADS.finditer(text), CLAUSES_MAX):
        following = text[head.end() : head.end() + _LOOK].lstrip()
        opens = head.start() == 0 or text[max(0, head.start() - 2) : head.start()] in {"\n\n", "\n"}
        if (opens or head.group()[:1] in "[=-#*~<>" or "://" in head.group()) and _HEADS.match(following) is None:
            yield ShownText(head.end(), resumes=True)


def _is_showing_text(said: str, kinds: set[int], colon: str | None) -> bool:
    """Whether a clause orders work without naming an object, or refers to what follows."""
    if colon is None and _POINTING in kinds:
        return True
    ordered = _ORDER in kinds or (_MAKING in kinds and colon is not None)
    return ordered and not _OBJECTS.matching(said)


def _is_showing_words(kinds: set[int], colon: str | None, *, apart: bool) -> bool:
    """Whether a clause says where the words after it come from ("on the forum I read:"). ``apart``: an empty line
    follows."""
    if colon is not None:
        return not kinds.isdisjoint({_READING, _HOLDING, _OPENING})
    return _HOLDING in kinds or (apart and not kinds.isdisjoint({_OPENING, _RECORDING}))
