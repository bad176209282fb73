"""The model name of a request: found by a search of a few bytes if possible, and replaced in place."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.runtime.offload import CPU, offload
from tokenmizer_mw.wire.spans import decode_body, read_object
from tokenmizer_mw.wire.unread import models

from .faces import Face

T = TypeVar("T")

INLINE_MAX: Final = 32 * 1024
"""Bytes of a body that may be read on the event loop; longer ones are read in a worker thread."""

_MODELS: Final = "/models/"
_BLANKS: Final = 64


async def where_it_fits(work: Callable[[], T], body: bytes) -> T:
    """Run ``work`` here, or in a worker thread if ``body``, which it parses, is longer than ``INLINE_MAX`` bytes."""
    return work() if len(body) <= INLINE_MAX else await offload(work, CPU)


async def model_of(face: Face, body: bytes) -> str:
    """Return the model that a call names; "" if it names none."""
    if _MODELS in face.path:
        return _in_path(face.path)
    if body[:_BLANKS].lstrip()[:1] != b"{":
        return ""
    named = face.words.models(body, face.path) if face.words is not None else models(body)
    if len(named) == 1:
        return named[0]
    return await where_it_fits(partial(_in_body, body), body)


async def rename_model(face: Face, body: bytes, old: str, new: str) -> tuple[str, bytes]:
    """Return the path and the body of a call with the model name ``old`` replaced by ``new``."""
    if _MODELS in face.path:
        before, marker, rest = face.path.rpartition(_MODELS)
        return before + marker + rest.replace(old, new, 1), body
    if body.count(b'"model"') == 1:
        for between in (b'"model":', b'"model": '):
            if (quoted := between + json.dumps(old).encode()) in body:
                return face.path, body.replace(quoted, between + json.dumps(new).encode(), 1)
    return face.path, await where_it_fits(partial(_replace_model, body, new), body)


def _in_path(path: str) -> str:
    """Of "/v1beta/models/name:call" or "/models/provider/name"."""
    name, colon, call = path.rpartition(_MODELS)[2].rpartition(":")
    return name if colon and call.isalpha() else path.rpartition(_MODELS)[2]


def _in_body(body: bytes) -> str:
    try:
        found = read_object(decode_body(body)).values.get("model")
    except MalformedRequest:
        return ""  # its provider will say so
    return found if isinstance(found, str) else ""


def _replace_model(body: bytes, new: str) -> bytes:
    text = decode_body(body)
    place = read_object(text).places["model"]
    end = json.JSONDecoder().raw_decode(text, place)[1]
    return (text[:place] + json.dumps(new) + text[end:]).encode("utf-8", "surrogatepass")
