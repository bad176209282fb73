"""Passes provider signatures (seals) through clients that do not know them.

A client sends a signature back in a field of its own dialect or, where that has none, inside the id of a tool call. The
name of the dialect that made it is put in front, so that no other provider receives it. A signature of the client's own
dialect has no prefix, unless it looks as if it had one.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

import re2

from tokenmizer_mw.server.translate.chat import ModelToolCall, Thought

_TAGGED = re2.compile(r"(?s)(anthropic|cohere|gemini|ollama|openai_chat|openai_responses):(.*)")
_IN_ID = re2.compile(r"(?s)(.*?)__sealed_by_([a-z_]+?)__([A-Za-z0-9_-]*)")


def tag_seal(seal: str, sealed_by: str, dialect: str) -> str:
    """Return a signature in the form sent to a client of ``dialect``; "" if there is none."""
    alone = sealed_by in ("", dialect) and not _TAGGED.fullmatch(seal)
    return seal if alone or not seal else f"{sealed_by}:{seal}"


def untag_seal(seal: str, dialect: str) -> tuple[str, str]:
    """Return a signature that a client of ``dialect`` sent, and the dialect that made it; two empty strings if there is
    none."""
    found = _TAGGED.fullmatch(seal)
    if found is not None:
        return found.group(2), found.group(1)
    return seal, dialect if seal else ""


def call_id(call: ModelToolCall) -> str:
    """Return the id of a call with its signature inside; the client sends it back with the call and with the result."""
    if not call.seal:
        return call.id
    seal = urlsafe_b64encode(call.seal.encode("utf-8", "replace")).decode("ascii").rstrip("=")
    return f"{call.id}__sealed_by_{call.sealed_by}__{seal}"


def bare_id(sent: str) -> str:
    """Return the id of a call without its signature."""
    return sealed_call(sent, "", "").id


def sealed_call(sent: str, name: str, arguments: str) -> ModelToolCall:
    """Return a tool call, with the signature that its id may contain."""
    found = _IN_ID.fullmatch(sent)
    if found is None:
        return ModelToolCall(sent, name, arguments)
    bare, sealed_by, packed = found.groups()
    try:
        seal = urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
    except ValueError:
        return ModelToolCall(sent, name, arguments)
    return ModelToolCall(bare, name, arguments, seal, sealed_by)


def make_thought(text: str, seal: str, dialect: str, *, hidden: bool = False) -> Thought:
    """Return a reasoning part that a client of ``dialect`` sent."""
    proof, sealed_by = untag_seal(seal, dialect)
    return Thought(text, proof, sealed_by, hidden=hidden)
