"""OpenRouter's ``reasoning_details``: signed reasoning beside a reply. Has no effect for servers that do not send it.

A signature is the detail itself as JSON, without its text; it includes the format, which the next model must know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tokenmizer_mw.server.translate.chat import Part, Thought
from tokenmizer_mw.wire.text import json_text, storable

from .reading import objects, text_in

FIELD: Final = "reasoning_details"
MAKER: Final = "openrouter"

_TEXT: Final = "reasoning.text"
_ENCRYPTED: Final = "reasoning.encrypted"
_SAID: Final = frozenset({"text", "summary", "index"})


def thoughts_in(message: Mapping[str, Any]) -> list[Thought]:
    """Return the reasoning parts of a complete message, with signatures; an empty list if it has no such details."""
    found = []
    for detail in objects(message.get(FIELD)):
        text, seal = text_in(detail, "text") or text_in(detail, "summary"), seal_of(detail)
        if text or seal:
            found.append(Thought(text, seal, MAKER if seal else "", hidden=not text))
    return found


def seals_in(delta: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the signatures in a piece of a message, each with whether it belongs to encrypted reasoning."""
    details = objects(delta.get(FIELD))
    return [(seal, detail.get("type") == _ENCRYPTED) for detail in details if (seal := seal_of(detail))]


def seal_of(detail: Mapping[str, Any]) -> str:
    """Return the signature of a detail; "" for an unsigned one."""
    if not (detail.get("signature") or (detail.get("type") == _ENCRYPTED and detail.get("data"))):
        return ""
    return storable(json_text({name: value for name, value in detail.items() if name not in _SAID}))


def details_of(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return the details to send back: those of the reasoning among ``parts`` that OpenRouter signed."""
    details: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Thought) and part.sealed_by == MAKER and (detail := _open_seal(part.seal)):
            text = {"text": part.text} if detail.get("type") == _TEXT else {}
            details.append({**detail, **text, "index": len(details)})
    return details


def _open_seal(seal: str) -> dict[str, Any]:
    """A seal that came back; empty where it is none of ours, since clients may send anything."""
    try:
        value = json.loads(seal)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
