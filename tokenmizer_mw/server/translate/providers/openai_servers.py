"""How OpenAI-compatible servers differ from each other, and OpenRouter's ``reasoning_details``.

``reasoning_details`` is signed reasoning beside a reply. A signature is the detail itself as JSON, without its text; it
includes the format, which the next model must know. The functions have no effect for servers that do not send it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tokenmizer_mw.server.translate.chat import Part, Thought
from tokenmizer_mw.wire.json_text import json_text, storable

from .replies import objects, text_in


@dataclass(frozen=True, slots=True)
class Quirks:
    """The deviations of one OpenAI-compatible server; the defaults suit most servers.

    - ``max_tokens`` and ``seed``: the names of these fields; ``system``: the role of system messages.
    - ``stream_options``: whether to ask a stream for its token counts.
    - ``effort``: how to set the reasoning effort: "reasoning_effort", DeepSeek's "thinking" beside it, OpenRouter's
      "reasoning", or "" if that is not possible.
    - ``thoughts``: the field in which earlier reasoning is sent back; "" drops it. With ``thoughts_needed`` every
      assistant message has the field, unless the call switches reasoning off.
    - ``bridge``: text of an assistant message inserted between a tool result and a user message, for servers that
      refuse these as neighbours; "" for none.
    - ``parallel`` and ``end_user``: whether there are fields for parallel tool calls and for the end user.
    - ``verbosity``: whether there is a field for the length of the reply.
    - ``attached``: whose format is used for documents and audio.
    - ``call_id`` and ``call_id_lengths``: allowed characters, and least and greatest length, of tool call ids; other
      ids are replaced.
    - ``lacks``: features that the server does not support, such as "sampling.seed", "format.schema" or "tools.strict",
      named as in ``request_parts``.
    """

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed: Literal["seed", "random_seed"] = "seed"
    system: Literal["system", "developer"] = "system"
    stream_options: bool = True
    effort: Literal["reasoning_effort", "thinking", "reasoning", ""] = "reasoning_effort"
    thoughts: Literal["reasoning_content", "reasoning", ""] = ""
    thoughts_needed: bool = False
    bridge: str = ""
    parallel: bool = True
    end_user: bool = True
    verbosity: bool = False
    attached: Literal["openai", "mistral"] = "openai"
    call_id: Literal["printable", "word", "alphanumeric"] = "printable"
    call_id_lengths: tuple[int, int] = (1, 40)
    lacks: frozenset[str] = frozenset({"sampling.top_k", "document.url", "audio.url"})


FIELD: Final = "reasoning_details"

MAKER: Final = "openrouter"

_TEXT: Final = "reasoning.text"

_ENCRYPTED: Final = "reasoning.encrypted"

_TEXT_FIELDS: Final = frozenset({"text", "summary", "index"})


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
    return storable(json_text({name: value for name, value in detail.items() if name not in _TEXT_FIELDS}))


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
