"""What the scripted upstream says, in neutral words: the dialects spell it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Final

from .steering import Steering

BIG: Final = 5 * 1024 * 1024
"""Bytes of the one delta of the mode "big"."""

_MULTIBYTE: Final = "Ünal \N{SLIGHTLY SMILING FACE} 漢字 "
_SEPARATORS: Final = "one\u2028two\u2029three\u0085four "
_QUOTED: Final = 400
"""Characters of what was asked that an answer repeats."""


class Invalid(ValueError):
    """A request that the provider would refuse with status 400."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks: the newest text of the user, and what tools returned since the model spoke last."""

    question: str
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def json(self) -> str:
        """The arguments as JSON text, spelled as providers do: with blanks, which clients need not keep."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Figures of tokens, as the upstream claims them."""

    read: int = 100
    cached: int = 40
    written: int = 20
    reasoned: int = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply of the model. ``id`` is made of what was asked, so that equal requests have equal answers.
    ``compacts``: a compaction of the provider's stands in front of it."""

    id: str
    model: str
    deltas: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    length: bool = False
    usage: Usage = Usage()
    compacts: bool = False

    @property
    def text(self) -> str:
        """The whole visible text."""
        return "".join(self.deltas)


@dataclass(frozen=True, slots=True)
class Scripted:
    """What the upstream is to say to one call instead of its own words; ``None`` leaves a part to the steering."""

    text: str | None = None
    calls: tuple[tuple[str, dict[str, Any]], ...] | None = None
    steering: Steering | None = None


def answer_to(asked: Asked, body: bytes, model: str, told: Steering, scripted: Scripted) -> Answer:
    """The answer to one request."""
    id = hashlib.blake2b(body, digest_size=8).hexdigest()
    compacts = "compact" in told.modes and b'"encrypted_content"' not in body
    answer = Answer(id, model, length="len" in told.modes, compacts=compacts)
    if compacts and b'"compaction_trigger"' in body:
        return answer
    if "think" in told.modes:
        answer = replace(answer, thinking=("They want ", "an answer."))
    wanted = scripted.calls
    if wanted is None and scripted.text is None and not asked.results:
        wanted = _wanted(asked, told)
    if wanted:
        calls = tuple(Call(f"call_{id}_{number}", name, given) for number, (name, given) in enumerate(wanted))
        return replace(answer, calls=calls, deltas=_pieces(scripted.text or "Let me look that up.", 2))
    if scripted.text is not None:
        return replace(answer, deltas=_pieces(scripted.text, told.deltas))
    return replace(answer, deltas=_deltas(asked, told))


def _wanted(asked: Asked, told: Steering) -> tuple[tuple[str, dict[str, Any]], ...]:
    topic = {"topic": asked.question[:_QUOTED], "deep": True, "limit": 3}
    if "tools" in told.modes:
        return (("lookup", topic), ("today", {}))
    return (("lookup", topic),) if "tool" in told.modes else ()


def _deltas(asked: Asked, told: Steering) -> tuple[str, ...]:
    if "big" in told.modes:
        return ("x" * BIG,)
    said = f"The tools say: {'; '.join(asked.results)}." if asked.results else f"You said: {asked.question}"
    filler = (_MULTIBYTE if "uni" in told.modes else "and so on ") + (_SEPARATORS if "sep" in told.modes else "")
    return (said[:_QUOTED] + " ", *(f"{filler}{number} " for number in range(told.deltas - 1)), "End.")


def _pieces(text: str, count: int) -> tuple[str, ...]:
    size = max(1, -(-len(text) // max(1, count)))
    return tuple(text[start : start + size] for start in range(0, len(text), size))
