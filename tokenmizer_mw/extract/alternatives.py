"""What one sentence puts up for choice in any language: "(a) count down, (b) drop the counter", "Two ways: A, or B",
"A or B?"."""

from __future__ import annotations

from typing import Final

import re2

from .abroad import announces_choice, offer_abroad
from .languages import tongues_of
from .pattern import compiled
from .rules.tongue import Tongue

NAME_MAX: Final = 120
"""Longest of several things to choose from, in characters."""

SIGNS: Final = (
    *("(a)", "(A)", "(1)", " a) ", " A) ", " o ", " u ", " oder ", " ou ", " oppure ", " или ", " либо ", "还是"),
    *("或者", "それとも", "または", "あるいは", "どちら", "아니면", "또는", "혹은", " या ", " ya "),
)
"""One of these stands in a message that puts something up in a sentence."""

_LETTERED: Final = re2.compile(r"(?:^|[\s:：,;，；])\(?([a-dA-D1-4])\)\s*")
_CLAUSE: Final = compiled(r"(?s)(?:.*[,:;，、]\s?)?(?P<body>[^,:;，、]{2,120})$")
_ENDS: Final = " ,;.?!，、；。？！"


def alternatives(sentence: str) -> list[tuple[str, str]]:
    """Keys and words of what a sentence lets its hearer choose from, in order; [] for none."""
    lettered = _lettered(sentence)
    if lettered:
        return lettered
    for tongue in tongues_of(sentence):
        named = _named(sentence.replace("：", ":"), tongue) if tongue.either else []
        plain = [name.strip(_ENDS + "¿¡") for name in named]
        if len(plain) > 1 and all(1 < len(name) <= NAME_MAX for name in plain):
            return [(str(number), name) for number, name in enumerate(plain, 1)]
    return []


def _named(sentence: str, tongue: Tongue) -> list[str]:
    head, colon, behind = sentence.partition(":")
    if colon and behind and announces_choice(head):
        return _parted(behind, tongue.either)
    match = compiled(tongue.between).match(sentence) if tongue.between else None
    if match is not None:
        return [match.group("left"), match.group("right")]
    return _asked(sentence, tongue.either) if sentence.endswith(("?", "？")) else []


def _lettered(sentence: str) -> list[tuple[str, str]]:
    marks = list(_LETTERED.finditer(sentence))
    keys = [mark.group(1).casefold() for mark in marks]
    if len(keys) < 2 or keys not in (list("abcd")[: len(keys)], list("1234")[: len(keys)]):
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(sentence)]
    named = [sentence[mark.end() : end].strip(_ENDS) for mark, end in zip(marks, ends, strict=True)]
    return list(zip(keys, named, strict=True)) if all(named) else []


def _asked(sentence: str, either: str) -> list[str]:
    """What stands before and behind the "or" of a question: of the clauses around it those that are next to it."""
    border = compiled(either).search(sentence)
    left = _CLAUSE.match(sentence[: border.start()].rstrip(_ENDS)) if border is not None else None
    if border is None or left is None:
        return []
    said = left.group("body").strip(_ENDS + "¿¡")
    return [offer_abroad(said) or said, *_parted(sentence[border.end() :], either)]


def _parted(text: str, either: str) -> list[str]:
    border = compiled(either)
    named = []
    while (match := border.search(text)) is not None and match.end():
        named.append(text[: match.start()])
        text = text[match.end() :]
    return [*named, text]
