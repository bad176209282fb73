"""The phrases of a language other than English, and how its rules are made from a small table.

The table lists RE2 patterns by kind of statement (``KINDS``); each becomes a rule. Case is ignored. A pattern may
contain placeholders:

- ``<new>``: the stated fact; ``<old>``: what it replaces; ``<all>``: the stated fact, up to the end of the clause.
- ``<end>``: the end of the clause, or the reason that follows.
- ``<name>`` for any other name: the pattern in the entry ``name`` of the table's ``words``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

from .ahead import Ahead
from .rule import Act, Rule, Speaker


class Form(Enum):
    """Where the phrase of a statement stands in a clause, and which words become the stated fact.

    - LINE: the phrase stands at the beginning; its placeholders ``<new>`` or ``<all>`` contain the fact.
    - MARK: the phrase stands before a colon; the text after the colon is the fact.
    - WITHIN: the phrase stands anywhere; the whole clause is the fact.
    """

    LINE = auto()
    MARK = auto()
    WITHIN = auto()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of statement for which each language has phrases: a goal, a decision, finished work, and so on.

    - ``name``: key of the kind in the tables; ``form``: where its phrases stand.
    - ``act``, ``speaker``, ``confidence``, ``whole``, ``explicit``: as in the ``Rule`` that is made from each phrase.
    """

    name: str
    act: Act
    speaker: Speaker
    confidence: float
    form: Form = Form.LINE
    whole: bool = False
    explicit: bool = False


_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

KINDS: Final = (
    Kind("goal", Act.GOAL, _BOTH, 0.92, Form.MARK, explicit=True),
    Kind("decided", Act.CHOICE, _BOTH, 0.92, Form.MARK, explicit=True),
    Kind("pending", Act.LATER, _BOTH, 0.92, Form.MARK, explicit=True),
    Kind("done_mark", Act.CLAIM, _BOTH, 0.9, Form.MARK, explicit=True),
    Kind("discarded", Act.REJECT, _BOTH, 0.9, Form.MARK, explicit=True),
    Kind("instead", Act.REPLACE, _USER, 0.9, whole=True),
    Kind("no_want", Act.REJECT, _USER, 0.8, whole=True),
    Kind("bare", Act.CLAIM, _USER, 0.72, whole=True),
    Kind("plan", Act.LATER, _USER, 0.74, Form.WITHIN),
    Kind("switch", Act.REPLACE, _USER, 0.86),
    Kind("back", Act.RETURN, _USER, 0.86),
    Kind("turned", Act.REPLACE, _USER, 0.8),
    Kind("rule", Act.RULE, _USER, 0.84),
    Kind("prefer", Act.PREFERENCE, _USER, 0.76),
    Kind("complaint", Act.COMPLAINT, _USER, 0.76, Form.WITHIN),
    Kind("works", Act.CONFIRM, _USER, 0.78, Form.WITHIN),
    Kind("use", Act.CHOICE, _USER, 0.82),
    Kind("fixed", Act.FIX, _ASSISTANT, 0.8, Form.WITHIN),
    Kind("did", Act.CLAIM, _BOTH, 0.76, Form.WITHIN),
    Kind("later", Act.LATER, _BOTH, 0.76, Form.WITHIN),
    Kind("set", Act.CHOICE, _USER, 0.7, Form.WITHIN),
    Kind("order", Act.REQUEST, _USER, 0.78),
    Kind("need", Act.REQUEST, _USER, 0.75),
    Kind("result", Act.CLAIM, _BOTH, 0.7, Form.WITHIN),
)
"""All kinds of statements. If phrases of several kinds match a clause, the first kind counts."""

PIECE: Final = r"[^,;?，。；？、।]"
_END: Final = r"(?:$|[,.;:，。；।–] ?(?P<reason>.*))"
_PLACES: Final = {
    "new": rf"(?P<label>{PIECE}{{1,60}}?)",
    "old": rf"(?P<target>{PIECE}{{1,50}}?)",
    "all": r"(?P<label>.{2,})",
    "end": _END,
}
_PLACE: Final = re.compile(r"(?<!\?P)<(\w+)>")
_BEFORE: Final = r"(?:.*[\s,;:.(\"'«’/-])?"
_BEHIND: Final = r"(?:$|[\s,;:.!?)\"'»’-].*)"


@dataclass(frozen=True, slots=True)
class Tongue:
    """The phrases of one language. Unless stated otherwise, patterns are RE2, matched at the start of a sentence or
    clause, case ignored; "" for none.

    - ``code``: code of the language ("de"); ``rules``: the rules for its statements.
    - ``cues``: words that identify the language, none of them English; () if its script does.
    - ``lead``: introductory words before a statement, removed as long as one matches.
    - ``asks``: questions without a question mark; ``polite``: orders in the form of a question, with the order in the
      group ``rest``.
    - ``supposes``: sentences that only imagine something; ``reports``: sentences that report what others say. Both
      state nothing.
    - ``border``: what separates clauses, matched anywhere; ``because``: what separates a choice from its reason,
      matched anywhere; ``trailer``: softening words at the end of a label.
    - ``offers``: an assistant's offer to do something; the group ``label`` contains what. ``choosing``: words that
      announce options, matched anywhere.
    - ``yes``, ``no``, ``both``, ``every`` (all options): short answers, as alternatives of a pattern; ``soft``: words
      that may stand beside these.
    - ``pick``: words before a number, a letter or an ordinal that picks an option; ``picked``: words after it.
    - ``ordinals``: maps ordinals ("first") to positions of options, from 0; -1 for the last.
    - ``ahead``: phrases for future work.
    """

    code: str
    rules: tuple[Rule, ...]
    ahead: Ahead
    lead: str
    supposes: str
    reports: str
    border: str
    because: str
    yes: str
    no: str
    cues: frozenset[str] = frozenset()
    asks: str = ""
    polite: str = ""
    trailer: str = ""
    offers: str = ""
    choosing: str = ""
    soft: str = ""
    both: str = ""
    every: str = ""
    pick: str = ""
    picked: str = ""
    ordinals: Mapping[str, int] = field(default_factory=dict)


def make_tongue(
    code: str,
    *,
    rows: Mapping[str, str | Sequence[str]],
    words: Mapping[str, str],
    said: Mapping[str, str],
    unless: Mapping[str, str] | None = None,
    ahead: Mapping[str, str | Sequence[str]] | None = None,
    cues: str = "",
    ordinals: str = "",
    spaced: bool = True,
) -> Tongue:
    """Return the phrases of a language, made from its table.

    - ``code``: code of the language ("de"); the names of its rules begin with it.
    - ``rows``: one or several patterns for each name of a kind; ``unless``: for a kind, a pattern of similar clauses
      with another meaning.
    - ``words``: the patterns for placeholders; ``said``: further fields of ``Tongue`` by name.
    - ``ahead``: fields of ``Ahead`` by name; ``cues``: words, separated by spaces.
    - ``ordinals``: words in the order of their positions, as in "first|1st second|2nd -1 last"; "_" stands for a space.
    - ``spaced``: whether words are separated by spaces. If so, phrases of the form ``WITHIN`` match whole words only.
    """
    known = {name: f"(?:{_fill_placeholders(text, {})})" for name, text in words.items()}
    for name, text in words.items():
        known[name] = f"(?:{_fill_placeholders(text, known)})"
    made = _rules_of(code, rows, unless or {}, known, spaced)
    fields = {name: _fill_placeholders(text, known) for name, text in said.items()}
    return Tongue(
        code=code,
        rules=tuple(made),
        ahead=_ahead_of(code, ahead or {}, known),
        cues=frozenset(split_words(cues)),
        ordinals=_places_of(ordinals),
        **fields,
    )


def _fill_placeholders(text: str, known: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: _PLACES.get(match[1]) or known.get(match[1], match[0]), text)


def _as_sequence(patterns: str | Sequence[str]) -> Sequence[str]:
    return (patterns,) if isinstance(patterns, str) else patterns


def _rules_of(
    code: str,
    rows: Mapping[str, str | Sequence[str]],
    unless: Mapping[str, str],
    known: Mapping[str, str],
    spaced: bool,
) -> Iterator[Rule]:
    for kind in KINDS:
        not_meant = _fill_placeholders(unless.get(kind.name, ""), known)
        for pattern in _as_sequence(rows.get(kind.name, ())):
            yield Rule(
                f"{code}.{kind.name}",
                kind.speaker,
                kind.act,
                _apply_form(kind.form, _fill_placeholders(pattern, known), spaced),
                kind.confidence,
                "",
                "",
                not_meant,
                kind.whole,
                kind.explicit,
            )


def _apply_form(form: Form, pattern: str, spaced: bool) -> str:
    if form is Form.MARK:
        return rf"(?:{pattern}) ?[:：] ?(?P<label>.{{2,}})"
    if form is Form.WITHIN:
        before, behind = (_BEFORE, _BEHIND) if spaced else (".*?", ".*")
        return rf"(?P<label>{before}(?:{pattern}){behind})"
    return pattern


def _ahead_of(code: str, table: Mapping[str, str | Sequence[str]], known: Mapping[str, str]) -> Ahead:
    filled = {
        name: _fill_placeholders(value, known)
        if isinstance(value, str)
        else tuple(_fill_placeholders(one, known) for one in value)
        for name, value in table.items()
    }
    return Ahead(code, **{"hands": (), "plans": (), **filled})  # type: ignore[arg-type]


def _places_of(text: str) -> dict[str, int]:
    """Maps each word of a list such as "first|1st second third -1 last" to its position: 0, 0, 1, 2 and -1."""
    groups, _, last = text.partition(" -1 ")
    places = {word.replace("_", " "): place for place, group in enumerate(groups.split()) for word in group.split("|")}
    return places | {word.replace("_", " "): -1 for word in last.split("|") if word}
