"""Request bodies that are not, or only nearly, a chat request: all of them pass byte for byte."""

from __future__ import annotations

import gzip
import json

_USER = [{"role": "user", "content": "hi"}]


def _chat(**members: object) -> bytes:
    return json.dumps({"model": "m", "messages": _USER, **members}).encode()


BAD_BODIES: dict[str, bytes] = {
    "empty": b"",
    "not json": b"\x00\x01 binary",
    "cut": b'{"model": "m", "messages": [{"role": "us',
    "cut, with field": b'{"session_id": "abc", "messages": [{"role": "us',
    "array": b"[]",
    "null": b"null",
    "string": b'"session_id"',
    "no messages": b'{"model": "m"}',
    "messages is text": b'{"messages": "hi"}',
    "deep": b"[" * 20_000 + b"]" * 20_000,
    "deep, with field": b'{"session_id": "abc", "messages": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "deep content": b'{"messages": [{"role": "user", "content": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}]}",
    "lone surrogate": b'{"messages": [{"role": "user", "content": "\\ud800 and \\udfff"}]}',
    "invalid utf-8": b'{"messages": [{"role": "user", "content": "\xff\xfe"}]}',
    "byte order mark": b"\xef\xbb\xbf" + _chat(),
    "utf-16": _chat().decode().encode("utf-16"),
    "big integer": b'{"seed": ' + b"9" * 5_000 + b', "messages": []}',
    "nan": b'{"temperature": NaN, "top_p": -Infinity, "messages": []}',
    "duplicate keys": b'{"model": "a", "model": "b", "messages": [], "messages": [{"role": "user"}]}',
    "trailing garbage": _chat() + b" trailing",
    "gzip without saying so": gzip.compress(_chat()),
    "unknown role": b'{"messages": [{"role": "wizard", "content": "hi"}]}',
    "no role": b'{"messages": [{"content": "hi"}]}',
    "message is a number": b'{"messages": [1, null, "x", []]}',
    "empty messages": b'{"messages": []}',
    "empty content": b'{"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": null}]}',
    "odd spacing": b' {\t"messages" :\r\n[ { "content":"hi" , "role":"user" } ] ,\n"x" : 1e400 } ',
    "field is a number": _chat(session_id=17),
    "field is null": _chat(session_id=None),
    "field is empty": _chat(session_id=""),
    "field is an object": _chat(session_id={"a": 1}),
    "field of 10 kB": _chat(session_id="x" * 10_000),
    "field with control characters": _chat(session_id="a\x00b\nc"),
    "field with a lone surrogate": b'{"session_id": "\\ud800", "messages": [{"role": "user", "content": "hi"}]}',
    "field inside a message": b'{"messages": [{"role": "user", "content": "hi", "session_id": "abc"}]}',
    "field spelled with an escape": b'{"session\\u005fid": "abc", "messages": [{"role": "user", "content": "hi"}]}',
}
