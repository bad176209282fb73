"""JSON parsing and serialisation for untrusted peers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from tokenmizer_mw.wire.text import storable

DEPTH_MAX: Final = 200
"""Objects and lists within each other; what is nested deeper is refused, since it could not be written again."""


def load(data: bytes | str) -> dict[str, Any]:
    """Parse a JSON object from UTF-8 bytes.

    Raises ``ValueError`` for anything else, for too deep nesting, and for numbers that JSON does not have (NaN,
    Infinity).
    """
    if isinstance(data, bytes) and b"\0" in data[:4]:
        raise ValueError("not in UTF-8")
    try:
        value = json.loads(data, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    if _is_deep(value):
        raise ValueError("nested too deeply")
    return value


def dump(value: Mapping[str, Any]) -> bytes:
    """Serialise a JSON object as compact UTF-8; unpaired surrogates become U+FFFD.

    Raises ``ValueError`` for too deep nesting.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return storable(text).encode()


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(DEPTH_MAX):
        inside = (inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer))
        level = [inner for inner in inside if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
