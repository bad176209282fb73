"""Rules for sentences in which an assistant says what it replaced by what, or a user orders that."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker

_MADE: Final = (
    r"changed|switched|moved|migrated|renamed|converted|updated|went|refactored|swapped|upgraded|downgraded|ported"
    r"|rewritten|rewrote|bumped|raised|lowered|reduced|increased|cut"
)
_NOT_DONE: Final = (
    r"(?:if|when|you|or|consider|maybe|perhaps|alternatively|for|in general|could|would|most|many|some|what|which"
    r"|why)\b|(?:i|we) keep meaning\b|\w+:"
    r"|.*\b(?:is|are|be|been) \w+ (?:from|in|by|with|to|on|at|as)\b.* (?:instead of|rather than|in place of)"
    r"|.*\b(?:you (?:can|could|may|might|should|need|want)|could|would|might|should|better|prefer|recommend(?:ed)?"
    r"|typically|usually|often|can be|may be|tend to|consider|means|meant|suggests?|way is|recommend(?:ation|s)"
    r"|example|seems?"
    r"|looks? like|probably|likely|expect(?:s|ed)|because|was|were)\b.* (?:instead of|rather than|in place of)"
)


def _rule(
    name: str,
    speaker: Speaker,
    pattern: str,
    confidence: float,
    example: str,
    counter: str,
    *,
    unless: str = "",
) -> Rule:
    return Rule(f"change.{name}", speaker, Act.CHANGE, pattern, confidence, example, counter, unless, whole=True)


CHANGES: Final = (
    _rule(
        "from_to",
        Speaker.ASSISTANT,
        rf"(?:.{{0,160}}?[\s(])?(?:{_MADE})(?: [\w`'\"./#-]+){{0,6}}? from (?P<target>.{{1,60}}?) to"
        rf" (?P<label>.+?)\)?$",
        0.75,
        "I switched the worker from polling to long polling",
        "I moved the files from time to time",
        unless=r".* from (?:time|top|start|day|one|left|here|there|scratch|door)\b|(?:if|when|you|once|after|how)\b"
        r"|.*\b(?:can be|should be|could be|would be|must be|will be|to be|not) (?:changed|moved|switched|updated)",
    ),
    _rule(
        "instead_of",
        Speaker.ASSISTANT,
        r"(?:.{0,60}[.:;,] )?(?:(?:i|we)(?:'ve|'ll|'m| have| will)?(?: now| also| just)? |let me |let's |.{2,80}? now )"
        r"(?P<label>.{4,160}?),? (?:instead of|rather than|in place of) (?:the |a |an )?(?P<target>.{2,80})$",
        0.7,
        "The importer now reads the feed in chunks instead of all at once",
        "You could read the feed in chunks instead of all at once",
        unless=_NOT_DONE,
    ),
    _rule(
        "no_more",
        Speaker.ASSISTANT,
        r"(?:(?:i|we)(?:'ve|'ll| will| have)? |let me )(?P<label>.{6,100}?),? (?:and )?not (?:the |by |via |in |on "
        r"|with )?"
        r"(?P<target>(?:[\w`'\"./#-]+ ?){1,5})$",
        0.65,
        "I'll take the name from the manifest, not the folder",
        "I'll check whether it works or not",
        unless=r".*\b(?:or|does|do|is|are|was|has|have|could|should|will|would|might|can|but|why|if|still) not\b",
    ),
    _rule(
        "arrow",
        Speaker.BOTH,
        r"(?:(?:line \d+|[\w./]+:\d+|renamed?|changed?|updated?|replaced?|moved?|switch(?:ed)?|label|name|value)\b"
        r"[\w .`'\"]{0,30}?[: ] ?)+(?P<target>[^→>:]{2,60}?) (?:→|->|=>|-->) (?P<label>[^→>]{2,100})$",
        0.75,
        "Rename Basket → Cart",
        "Settings → Profile → Save",
        unless=r"\w+ .+ (?:to|into|by|with) .+ (?:→|->|=>|-->) ",
    ),
    _rule(
        "drop_keep",
        Speaker.USER,
        r"(?:(?:ok|so|then|let's|just|please|we) )*(?:scrap|drop|forget(?: about)?|ditch|kill|lose|dump"
        r"|skip) (?:the |that "
        r"|this )?(?P<target>[^,;.:]{2,50}), (?P<label>[^,;.:]{2,50}?) (?:only|stays|it is|remains|is enough"
        r"|will do)\b.*",
        0.85,
        "forget Caddy, nginx stays",
        "forget that, nothing stays as it is",
        unless=r".*, (?:nothing|everything|it|that|this|what)\b",
    ),
    _rule(
        "just_this",
        Speaker.USER,
        r"(?P<label>(?:(?:please|only|just) )*(?:edit|change|touch|update|use|put|read|take|write|save|keep|do|run"
        r"|check)"
        r"[^,;]{3,90}?),? (?:and |but )?not (?:the |in |into |on |from |with "
        r"|a )?(?P<target>(?:[\w`'\"./\\#-]+ ?){1,5})$",
        0.8,
        "put it into settings.py, not the .env file",
        "check whether it works or not",
        unless=r".*\b(?:or|does|do|is|are|was|has|have|could|should|will|would|might|can|why|if|still|did|am) not\b",
    ),
)
