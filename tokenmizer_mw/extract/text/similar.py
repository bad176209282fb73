"""Compare labels by their content stems: their words without endings ("deploy" for "deploying") and without words such
as "the". Verbs of work ("add", "fix") and paths count only if a label has nothing else."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final

SIMILAR_MAX: Final = 240
"""Number of characters at the start of a label that are compared."""


def split_words(text: str) -> frozenset[str]:
    """Return the set of words in ``text``, separated by white space. Used to write word lists in source code."""
    return frozenset(text.split())


_EMPTY: Final = split_words(
    "a an and are as at be been being but by can could did do does doing for from get got had has have he her his"
    " how i if in into is it its just let lets like ll make me my need needs now of off on or our out over please"
    " re s she should so some still than that the their them then there these they this to too up us use used"
    " uses using ve via want was we well were what when where which while who will with would you your yours also"
    " again already always any because before after both each first good here more most much new next no not only"
    " other own same such very yet t don doesn didn isn aren won can t keeps keep returning gets getting"
)
_EMPTY_ABROAD: Final = split_words(
    "el los las un una unos que con para por del al se lo su sus es está este esta esto eso ese esa muy más ya y o"
    " le les des du de la une est dans pour sur avec aux ce cette qui et ou il elle je tu nous vous pas ne"
    " der das und ist ein eine einen einem einer dem zu auf für mit nicht im von bei sich es wir ich auch noch nur"
    " os um uma da dos das em na nos nas com seu sua isso já não e eu"
    " gli uno di dello della dei delle che per non è sono questo questa anche più"
    " и в на не с со по для что это как из к у а но же он мы я все всё уже"
    " है हैं था थे थी का की के में से को पर और भी ही तो यह वह ये वो हो"
    " hai hain tha ka ki ke mein se ko aur bhi hi toh ye yeh wo woh"
)
"""Words without content in other languages, as far as no English word of content is spelled like them."""

_VERBS: Final = split_words(
    "add added adding adds implement implemented implementing implementation create created creating creates build"
    " built building write wrote written writing fix fixed fixing fixes update updated updating change changed"
    " changing set setup go going goes went start started starting finish finished finishing complete completed"
    " completing done work working works worked make made making put move moved moving run running ran try tried"
    " support supported supporting handle handled handling switch switched switching introduce introduced enable"
    " enabled ready wire wired improve improved stay stick remain keep keeping leave"
)
_ENDINGS: Final = (
    "ization",
    "ations",
    "ation",
    "ating",
    "ates",
    "ated",
    "ate",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "ed",
    "es",
    "s",
    "e",
)
_LAST: Final = frozenset(ending[-1] for ending in _ENDINGS)
_MIN_STEM: Final = 3


@lru_cache(maxsize=4096)
def content(label: str) -> frozenset[str]:
    """Return the content stems of a label: its words without endings, in lower case. Words without content ("the") are
    left out; paths and verbs of work ("add") count only if there is nothing else. Reads the first ``SIMILAR_MAX``
    characters; empty for a label without any."""
    tokens = _tokens(label[:SIMILAR_MAX].casefold())
    plain = [token for token in tokens if not _is_path(token)]
    said = [told for token in plain or tokens for told in _stems_of_word(token)]
    return frozenset([stem for stem, is_verb in said if not is_verb] or [stem for stem, _ in said])


@lru_cache(maxsize=16_384)
def _stems_of_word(token: str) -> tuple[tuple[str, bool], ...]:
    """The stems of a word, or of the parts of a name such as "user_id", each with whether it is a verb of work. Words
    without content ("the") are left out."""
    said = [piece for piece in _split_pieces(token) if piece not in _EMPTY and piece not in _EMPTY_ABROAD]
    return tuple((_stem(piece), piece in _VERBS) for piece in said)


def has_words_besides(label: str, names: Iterable[str]) -> bool:
    """Whether ``label`` has content apart from ``names`` and verbs of work. "Updated a.py and b.py" has none apart from
    the two files."""
    for name in names:
        label = label.replace(name, " ")
    return any(word not in _EMPTY and word not in _VERBS for word in _tokens(label.casefold()))


def first_stem(label: str) -> str:
    """Return the first content stem of a label; "" for none."""
    about = content(label)
    for token in _tokens(label[:SIMILAR_MAX].casefold()):
        for piece in _split_pieces(token):
            if (stem := _stem(piece)) in about:
                return stem
    return ""


def overlap(one: str, other: str) -> float:
    """Return how much of the label with fewer content stems the other label has as well: the number of shared stems,
    divided by the smaller number of stems (0 to 1). 0 if a label has none."""
    a, b = content(one), content(other)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def likeness(one: str, other: str) -> float:
    """Return the number of content stems that both labels have, divided by the number of different stems of both
    together (0 to 1); 0 if a label has none."""
    a, b = content(one), content(other)
    return len(a & b) / len(a | b) if a and b else 0.0


_WIDE: Final = "\u2e80"
"""The first character of the scripts that write no spaces, or syllables as characters: Chinese, Japanese, Korean."""

_WORD_SIGNS: Final = frozenset("./_-#+@")
_ASCII: Final = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in _WORD_SIGNS}


def _tokens(text: str) -> list[str]:
    kept = text.translate(_ASCII) if text.isascii() else text.translate(_KEPT)
    return [token for raw in kept.split() if (token := raw.strip("./_-@"))]


def _is_combining(char: str) -> bool:
    """Whether a character is a combining mark, such as a vowel sign, which is part of a word without being a letter."""
    return char > "\u02ff" and unicodedata.category(char)[0] == "M"


class _Signs(dict[int, int]):
    """Translation table for ``str.translate`` that keeps the characters of words and turns all others into spaces."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        kept = code if char.isalnum() or char in _WORD_SIGNS or _is_combining(char) else _SPACE
        if len(self) < _SIGNS_MAX:
            self[code] = kept
        return kept


_SPACE: Final = ord(" ")
_SIGNS_MAX: Final = 16_384
"""How many characters the table remembers: those of a few scripts."""

_KEPT: Final = _Signs()

_BORDERS: Final = str.maketrans("/_-.", "    ")


def _is_path(token: str) -> bool:
    if "." not in token:
        return "/" in token
    stem, dot, suffix = token.rpartition(".")
    return "/" in token or bool(dot and stem and suffix.isalpha() and len(suffix) <= 5 and token not in _NAMES)


_NAMES: Final = frozenset({"node.js", "vue.js", "next.js", "asp.net", "socket.io"})


def _split_pieces(token: str) -> list[str]:
    """The words of a token: one word, the parts of a compound name, or, in scripts without spaces, pairs of
    characters."""
    if not token.isascii() and max(token) >= _WIDE:
        runs = ("".join(run) for _, run in groupby(token, lambda char: char >= _WIDE))
        return [piece for run in runs if (bare := run.strip("./_-")) for piece in _pieces_of_run(bare)]
    return _pieces_of_run(token)


def _pieces_of_run(token: str) -> list[str]:
    """The token if it is a word, the parts of a compound name, or, in scripts without spaces, each pair of
    characters."""
    if token[0] >= _WIDE and len(token) > 1:
        return [token[index : index + 2] for index in range(len(token) - 1)]
    if token.isalpha() or token.replace(".", "").isdigit() or token in _NAMES:
        return [token]
    return token.translate(_BORDERS).split()


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha():
        return word
    if word[-1] not in _LAST:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM and not word.endswith("ss"):
            return word[: -len(ending)]
    return word
