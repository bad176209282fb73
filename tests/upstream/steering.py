"""What the scripted upstream is told by the name of the model, so that any client can steer it.

``fake-n<deltas>-d<ms between>-f<ms before the first>-<modes>``, each part optional, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MODES: Final = {
    "cut": "closes the connection in the middle, without the end of the body",
    "rst": "the same, with a reset",
    "errmid": "an error of the provider in the middle of the stream",
    "nodone": "a clean end of the body without the terminal event",
    "len": "the model hits its length limit",
    "tool": "calls one tool, and answers once its result is there",
    "tools": "calls two tools at once",
    "compact": "a chat without a compaction is compacted by the provider itself, where its dialect has that",
    "think": "thinks before it speaks",
    "usage": "figures of tokens in a stream, also unasked",
    "uni": "characters of two to four bytes",
    "sep": "line separators of Unicode in the text, which end no line of a stream",
    "big": "one event of 5 MB",
    "crlf": "lines of a stream end with CR LF",
    "cr": "lines of a stream end with CR",
    "nospace": "no blank after the colon of a field",
    "multi": "the data of an event on several lines",
    "ka": "keep-alive comments between the events",
    "ping": "ping events between the others, where the dialect has them",
    "split1": "the body in pieces of one byte",
    "split7": "the body in pieces of seven bytes",
    "glue": "the body in one piece",
    "gzip": "the body compressed, where the client takes that",
    "slowhead": "status and headers late and torn",
    "mistral": "the spelling of Mistral at the path of OpenAI Chat Completions",
    "exact": "with it, all that Mistral refuses",
    "deepseek": "the demands of DeepSeek at the path of OpenAI Chat Completions",
}
"""What each mode does."""


class Missteered(ValueError):
    """The name of the model asks for what the upstream does not do."""


@dataclass(frozen=True, slots=True)
class Steering:
    """How an answer is given. ``pause`` and ``first`` are seconds, between deltas and before the first byte of the
    response; ``status`` other than 200 answers with an error of the dialect."""

    deltas: int = 3
    pause: float = 0.0
    first: float = 0.0
    status: int = 200
    modes: frozenset[str] = frozenset()


def steering(model: str) -> Steering:
    """What ``model`` asks for; other names than "fake-..." ask for nothing special. Raises ``Missteered``."""
    start, *parts = model.split("-")
    if start != "fake":
        return Steering()
    given: dict[str, float] = {}
    modes = set()
    for part in parts:
        if part in MODES:
            modes.add(part)
        elif part[:1] in ("n", "d", "f", "e") and part[1:].isdecimal():
            given[part[0]] = int(part[1:])
        else:
            raise Missteered(f"no mode {part!r}")
    return Steering(
        deltas=int(given.get("n", 3)),
        pause=given.get("d", 0) / 1000,
        first=given.get("f", 0) / 1000,
        status=int(given.get("e", 200)),
        modes=frozenset(modes),
    )
