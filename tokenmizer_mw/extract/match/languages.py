"""Detect the languages of a sentence by its script and by a few of its words."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.rules.tongue import Tongue
from tokenmizer_mw.extract.rules.tongues import TONGUES
from tokenmizer_mw.extract.text.pattern import PatternSet

TONGUES_MAX: Final = 2
"""Most languages whose tables are read for one sentence."""

WORDS_MAX: Final = 60
"""Number of words of a sentence that are looked at to find its language."""

SENTENCES_KEPT: Final = 64
"""Number of sentences whose languages are cached, because several functions ask for them while a message is read."""

_BY_CODE: Final = {tongue.code: tongue for tongue in TONGUES}
_BY_CUE: Final = {
    cue: tuple(tongue.code for tongue in TONGUES if cue in tongue.cues) for tongue in TONGUES for cue in tongue.cues
}
_CUES: Final = frozenset(_BY_CUE)
_SCRIPTS: Final = (
    ("ja", r"(?s).*[\x{3041}-\x{30fa}]"),
    ("zh", r"(?s).*\p{Han}"),
    ("ko", r"(?s).*\p{Hangul}"),
    ("ru", r"(?s).*\p{Cyrillic}"),
    ("hi", r"(?s).*\p{Devanagari}"),
)
_SCRIPT: Final = PatternSet(*(pattern for _, pattern in _SCRIPTS))
_AROUND: Final = ".,;:!?\"'()¿¡«»„“”…-–—*`"
_HAN: Final = 1


@lru_cache(maxsize=SENTENCES_KEPT)
def detect_languages(sentence: str) -> tuple[Tongue, ...]:
    """Return the languages other than English that a sentence may be in, at most ``TONGUES_MAX``, most probable first;
    () if it seems to be English."""
    found = [] if sentence.isascii() else _detect_by_script(sentence)
    words = sentence.casefold().split(maxsplit=WORDS_MAX)[:WORDS_MAX]
    bare = [word if word.isalpha() else word.strip(_AROUND) for word in words]
    if not _CUES.isdisjoint(bare):
        counted = Counter(code for word in bare if word in _CUES for code in _BY_CUE[word])
        found += [code for code, _ in counted.most_common(TONGUES_MAX)]
    return tuple(_BY_CODE[code] for code in found[:TONGUES_MAX])


def _detect_by_script(sentence: str) -> list[str]:
    seen = _SCRIPT.matching(sentence)
    if seen[:2] == [0, _HAN]:
        seen.remove(_HAN)
    return [_SCRIPTS[number][0] for number in seen]
