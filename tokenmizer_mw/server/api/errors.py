"""Error responses of the REST API: ``{"error": {"code", "message", "field"}}``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from tokenmizer_mw.errors import (
    BudgetTooSmall,
    CallerError,
    InvalidSession,
    StoreError,
    TokenMizerError,
    UnknownNode,
    UnknownSession,
)
from tokenmizer_mw.operations.exports import SessionDiffers


class ApiRefusal(Exception):
    """Raised for a request that gets the error response ``problem``."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Problem:
    """An error response. ``field`` names the invalid part of the request, "" if there is no particular one."""

    status: int
    code: str
    message: str
    field: str = ""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, dict[str, str | None]]:
        """Return the response body as JSON values."""
        return {"error": {"code": self.code, "message": self.message, "field": self.field or None}}


UNAUTHORIZED: Final = Problem(
    401, "unauthorized", "Who asks is not known.", headers={"www-authenticate": 'Bearer realm="tokenmizer"'}
)
NO_VERDICT: Final = Problem(
    503, "unavailable", "The caller cannot be authenticated at the moment.", headers={"retry-after": "1"}
)
NO_ROUTE: Final = Problem(404, "not_found", "There is no such route.")
UNKNOWN_SESSION: Final = Problem(404, "unknown_session", "There is no such session.", "session_id")
UNKNOWN_NODE: Final = Problem(404, "unknown_node", "The session has no such fact.")
UNKNOWN_CHECKPOINT: Final = Problem(404, "unknown_checkpoint", "The session has no such checkpoint.")
INVALID_SESSION: Final = Problem(422, "invalid", "A session id is 1 to 256 printable characters.", "session_id")
BUSY: Final = Problem(503, "store_unavailable", "The store cannot be used at the moment.", headers={"retry-after": "1"})
FAULT: Final = Problem(500, "internal", "Something went wrong here.")

_PLACE_MAX: Final = 100

_KNOWN: Final[tuple[tuple[type[TokenMizerError], Problem], ...]] = (
    (UnknownSession, UNKNOWN_SESSION),
    (InvalidSession, UNKNOWN_SESSION),
    (UnknownNode, UNKNOWN_NODE),
    (SessionDiffers, Problem(409, "session_differs", "The session exists and holds something else.", "session_id")),
    (StoreError, BUSY),
)
"""The first row that fits counts. An id that no store keeps names a session that nobody has."""


def forbidden(scope: str) -> Problem:
    """Return the problem (403) of a caller without ``scope``."""
    return Problem(403, "forbidden", f"This needs the scope {scope!r}.")


def wrong_method(allowed: str) -> Problem:
    """Return the problem (405) of a path that only takes the methods ``allowed``."""
    return Problem(405, "method_not_allowed", f"This path takes {allowed}.", headers={"allow": allowed})


def too_large(limit: int) -> Problem:
    """Return the problem (413) of a body above ``limit`` bytes."""
    return Problem(413, "too_large", f"The body is larger than {limit:,} bytes.", headers={"connection": "close"})


def wrong_media(taken: str) -> Problem:
    """Return the problem (415) of a body with a media type other than ``taken``."""
    return Problem(415, "unsupported_media_type", f"The body is {taken}, without a content encoding.", "content-type")


def invalid(message: str, field: str = "") -> Problem:
    """Return the problem (422) of an invalid value in ``field``."""
    return Problem(422, "invalid", message, field)


def invalid_field(error: ValidationError) -> Problem:
    """Return the problem (422) of the first validation error; the invalid value is not repeated."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))[:_PLACE_MAX]
    return invalid(f"{place or 'The body'}: {first['msg'][:1].lower()}{first['msg'][1:]}.", place)


def problem_of(error: TokenMizerError) -> Problem | None:
    """Return the error response for an exception of this package; ``None`` if the error is the server's fault."""
    if isinstance(error, BudgetTooSmall):
        return invalid(f"{str(error).capitalize()}.", "budget")
    for kind, problem in _KNOWN:
        if isinstance(error, kind):
            return problem
    return invalid(f"{error}.") if isinstance(error, CallerError) else None
