"""Classifies provider errors, whatever their wording, so that clients can react.

Some clients wait, some ask for a key, and agents shorten their transcript when an error in their own dialect says that
it is too long.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import re2

from tokenmizer_mw.server.translate.chat import Fault


class FaultKind(StrEnum):
    """The kind of a provider error, by what a client can do about it."""

    OVERFLOW = "the prompt is longer than the model's window"
    BILLING = "somebody must pay"
    RATE = "too many requests"
    KEY = "the key is missing or wrong"
    PERMISSION = "the key may not do this"
    MISSING = "there is no such model, or address"
    CONFLICT = "it changed meanwhile"
    LARGE = "the body is too large"
    TIMEOUT = "it took too long"
    OVERLOADED = "the provider has too much to do"
    REQUEST = "the request is at fault"
    SERVER = "the provider is at fault"


_STATUS: Final[Mapping[int, FaultKind]] = {
    401: FaultKind.KEY,
    402: FaultKind.BILLING,
    403: FaultKind.PERMISSION,
    404: FaultKind.MISSING,
    408: FaultKind.TIMEOUT,
    409: FaultKind.CONFLICT,
    413: FaultKind.LARGE,
    429: FaultKind.RATE,
    503: FaultKind.OVERLOADED,
    504: FaultKind.TIMEOUT,
    529: FaultKind.OVERLOADED,
}
_CODES: Final[Mapping[FaultKind, str]] = {
    FaultKind.BILLING: "insufficient_quota billing_error billing_hard_limit_reached",
    FaultKind.RATE: "rate_limit_error rate_limit_exceeded resource_exhausted",
    FaultKind.KEY: "authentication_error invalid_api_key unauthenticated",
    FaultKind.PERMISSION: "permission_error permission_denied",
    FaultKind.MISSING: "not_found_error not_found model_not_found",
    FaultKind.TIMEOUT: "timeout_error timeout deadline_exceeded",
    FaultKind.OVERLOADED: "overloaded_error overloaded server_is_overloaded unavailable",
    FaultKind.REQUEST: "invalid_request_error invalid_argument failed_precondition",
}
_BY_CODE: Final = {code: kind for kind, codes in _CODES.items() for code in codes.split()}

_OVERFLOW: Final = "context_length_exceeded"
_OVERFLOWS: Final = frozenset({0, 400, 413, 422})
"""Statuses with which providers tell that a prompt is too long; 0 inside a stream."""

_TOO_LONG = re2.compile(
    r"(?i)(?:prompt|input) (?:is|was) too long"
    r"|exceed\w* (?:the |this |its )?(?:model'?s? )?(?:available |maximum )?context (?:window|length|size)"
    r"|maximum (?:context|prompt) length"
    r"|context length exceeded"
    r"|input token count\b.{0,40}\bexceeds"
    r"|^too many tokens"
    r"|prompt contains \d+ tokens.{0,80}too large"
)


def kind_of(fault: Fault) -> FaultKind:
    """Return the kind of an error, from its status; from its code if the status is 0 or the code is about billing."""
    code = _BY_CODE.get(fault.code.lower())
    if fault.code == _OVERFLOW or (fault.status in _OVERFLOWS and _TOO_LONG.search(fault.message)):
        return FaultKind.OVERFLOW
    if fault.status == 0 or code is FaultKind.BILLING:
        return code or FaultKind.SERVER
    other = FaultKind.REQUEST if 400 <= fault.status < 500 else FaultKind.SERVER
    return _STATUS.get(fault.status, other)


def is_kind_only(code: str) -> bool:
    """Return whether a code only repeats the kind of the error; also true for ""."""
    return not code or code.endswith("_error") or code.isupper()
