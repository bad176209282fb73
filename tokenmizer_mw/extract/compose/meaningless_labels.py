"""Detect labels that mean nothing without their context: references ("fix it"), filler words, times, and fragments."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

_POINTERS: Final = split_words(
    "it that this these those them him her me us you what whatever which there here something anything everything"
    " one ones both all same thing things stuff mine yours ours"
    " myself yourself ourselves"
)
_TIMES: Final = split_words(
    "tonight today tomorrow yesterday weekend weekends week month morning evening afternoon night noon later soon"
    " monday tuesday wednesday thursday friday saturday sunday moment minute minutes hour hours day days"
    " time now then"
    " once next last until till after before"
)
_FILLERS: Final = split_words(
    "a an the and or but so if as at by for from in into of off on onto out over to up down with without"
    " about i we he"
    " she they is are was were be been am do does did done doing have has had will would can could should may might"
    " must shall not no yes ok okay please thanks just also too again still already only even really actually well"
    " right ahead back away along my your our his their its let's lets i'll we'll you'll i'd we'd it's that's what's"
    " left open missing remaining way how when where why who maybe perhaps first instead fine good great"
    " probably possibly hopefully presumably likely"
    " sure properly"
    " passt gut gerne einverstanden prima vale perfecto parfait oui sí sim sì d'accord genau"
    " quickly carefully soon better else"
)
_ACTIONS: Final = split_words(
    "go goes going went make makes made fix fixed fixes do add added adds test tested try tried check checked write"
    " wrote written written run ran keep kept put set get got take took change changed update updated"
    " move moved remove"
    " removed delete deleted finish finished complete completed start started continue proceed stop"
    " create created build"
    " built implement implemented leave send sent look see show say said tell told commit committed push pushed call"
)
_EMPTY: Final = _POINTERS | _TIMES | _FILLERS
_RELATIVE: Final = split_words("which who whose whom")
_ANY_NOUN: Final = split_words(
    "script file code app application program thing page site server work task job problem issue error bug part step"
    " change function button module class list link text message rest"
)
_WORDS_MAX: Final = 12


def strip_pointer(label: str) -> str:
    """Return ``label`` without its part up to the first ": ", if that part means nothing by itself (``is_hollow``):
    "the header" for "added that: the header". Else ``label`` unchanged."""
    head, colon, rest = label.partition(": ")
    return rest if colon and rest and is_hollow(head) else label


def is_hollow(label: str) -> bool:
    """Whether ``label`` is "" or meaningless without its context: "fix it", "not tonight", "make it 10", "the script",
    "which you do on the weekend"."""
    words = [bare for word in label.casefold().replace("\u2019", "'").split() if (bare := word.strip(".,;:!?()\"'"))]
    if not words or words[0] in _RELATIVE:
        return True
    if len(words) > _WORDS_MAX:
        return False
    if len(words) == 2 and words[0] in ("the", "this", "that") and words[1] in _ANY_NOUN:
        return True
    said = [word for word in words if word not in _EMPTY]
    if len(words) == 1:
        return all(word in _ACTIONS and word.endswith("ed") for word in said)
    points = not _POINTERS.isdisjoint(words[1:])
    return all(word in _ACTIONS or word[0].isdigit() for word in said) and (points or not said)


def is_pointing(label: str) -> bool:
    """Whether the second, third or fourth word of ``label`` is one such as "it" or "these", which refers to something
    named earlier ("hide it from the page for now")."""
    return any(word.strip(".,;:!?") in _POINTING for word in label.casefold().split()[1:4])


_POINTING: Final = split_words("it this that these those them")


def is_go_ahead(label: str) -> bool:
    """Whether ``label`` begins with words that tell the assistant to continue: "continue", "go ahead and build it",
    "approved, run the deployment". What follows them does not matter."""
    words = label.casefold().replace(",", " ").split()
    return bool(words) and (words[0].strip(".:;-!") in _GOING_ON or tuple(words[:2]) in _GOING_AHEAD)


_GOING_ON: Final = split_words("continue proceed resume approved approve")
_GOING_AHEAD: Final = frozenset({("go", "ahead"), ("go", "on"), ("carry", "on"), ("keep", "going")})
