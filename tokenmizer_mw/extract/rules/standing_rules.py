"""Rules for English sentences that say what must hold from now on, with modal verbs ("must") or passives ("is
never")."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker
from .verbs import WORK_VERBS

_SUBJECT: Final = r"(?:[\w'`/@.#&()-]+,? ){1,9}?"
_NO_RULE: Final = (
    r"(?:i|that|this|it|which|what|why|how|who|he|she|they) (?:must|should|may|shall) (?:not |never "
    r"|only )*(?:have|be"
    r" (?:fine|ok|okay|enough))\b|.*\b(?:must|should|may|shall|ought to) (?:not|never|only"
    r"|always) have \w+(?:ed|en|ne|t)\b"
    r"|i (?:must|should|may|shall)\b|.*\b(?:may|must) not (?:know|need|want|matter)\b"
)


def _rule(
    name: str, act: Act, pattern: str, confidence: float, example: str, counter: str, *, unless: str = ""
) -> Rule:
    return Rule(f"user.{name}", Speaker.USER, act, pattern, confidence, example, counter, unless)


STANDING: Final = (
    _rule(
        "modal",
        Act.RULE,
        rf"(?P<label>{_SUBJECT}(?:(?:must|should|may|shall|ought to|can) (?:never|only ever|under no circumstances)"
        r"|(?:must|shall) (?:not|always|only)|may (?:not|only)|(?:should|ought to) always|mustn't) \w.+)",
        0.85,
        "Phone numbers must never appear on public pages",
        "This should never have happened",
        unless=_NO_RULE,
    ),
    _rule(
        "from_now_on",
        Act.RULE,
        rf"(?:please |and |also |but |so )*(?P<label>(?:{WORK_VERBS}|(?:answer|reply|speak|use|call|name|say|prefer"
        r"|sign|mark|tag|commit|format|indent|number|spell) )"
        r".{3,}?,? (?:from now on|from here on(?: out)?|going forward|in (?:the )?future|at all times))",
        0.85,
        "write the captions in English from now on",
        "the captions are in English from now on",
    ),
)
"""Rules for what must hold. They come before the rules for rejections and complaints, which begin with the same words
("never", "no", "not")."""
