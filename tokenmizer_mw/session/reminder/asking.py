"""Whether a message asks a question or refers to what was said before, rather than giving a new order. Pure."""

from __future__ import annotations

from typing import Final

import re2

_LOOKED_AT: Final = 400
"""Characters at the end of a long message that may hold its question."""
_LONG: Final = 1_500

_MARKS: Final = ("?", "？", "؟", "¿")
_ASKS = re2.compile(
    r"(?i)^\W*(?:please |so |and |ok(?:ay)?,? |but )*(?:what|which|who|whose|where|when|why|how|did|do|does|is|are|was"
    r"|were|have|has|can|could|should|would|tell|remind|explain|list|show|summari[sz]e|recap|describe|recall"
    r"|was|wer|wo|wann|warum|wieso|wie|welche[rsmn]?|qu[eé]|quoi|quel(?:le)?s?|comment|pourquoi|o[uù]|quand|combien"
    r"|qui[eé]n|cu[aá]l(?:es)?|d[oó]nde|cu[aá]ndo|c[oó]mo|por qu[eé]|qual|quais|quem|onde|como|quanto"
    r"|что|кто|где|когда|почему|как|какой|какая|какие|какое|сколько|зачем|напомни)\b"
)
_TAKES_UP = re2.compile(
    r"(?i)\b(?:again|earlier|before|previous(?:ly)?|remember|as (?:we|i|you|discussed|agreed|decided|planned)"
    r"|we (?:had |have )?(?:agreed|decided|discussed|settled|said|chose|planned)|you (?:said|told|suggested|mentioned)"
    r"|i (?:said|told|mentioned)|same as|back to|the old|original(?:ly)?|nochmal|vorhin|fr[uü]her|wie besprochen"
    r"|comme convenu|d[eé]j[aà]|como acordamos|como combinado|antes|ранее|раньше|снова|как договаривались)\b"
)
_TAKES_UP_UNSPACED = re2.compile(
    "之前|刚才|剛才|上次|先前|我们说过|さっき|先ほど|以前|前に|何|どう|なぜ|いつ|どこ|誰|什么|怎么|哪|为什么|吗|呢"
)


_STATED = re2.compile(r"[.!…]\s|[。！]|\n")


def only_asks(text: str) -> bool:
    """Whether ``text`` is one question and says nothing beside it."""
    said = text.strip().encode("utf-8", "replace").decode()
    return said.endswith(_MARKS) and _STATED.search(said) is None


def asks(text: str) -> bool:
    """Whether the message ``text`` asks a question, or refers to something that was said before."""
    said = text.strip()
    if len(said) > _LONG:
        said = said[-_LOOKED_AT:]
    said = said.encode("utf-8", "replace").decode()
    if any(mark in said for mark in _MARKS):
        return True
    return any(pattern.search(said) is not None for pattern in (_ASKS, _TAKES_UP, _TAKES_UP_UNSPACED))
