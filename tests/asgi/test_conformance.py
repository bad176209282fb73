"""The middleware against the table of cases, and the table against middlewares known to be good and bad."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.middleware.base import BaseHTTPMiddleware

from tokenmizer_mw.asgi import TokenMizerMiddleware

from . import failure_cases, framework_cases, request_cases, response_cases, scope_cases
from .driving import App
from .suite import CASES, Case, tally, verdict

_ = (failure_cases, framework_cases, request_cases, response_cases, scope_cases)
VERDICTS = [(case, surface) for case in CASES.values() for surface in case.surfaces]


def test_table_is_complete() -> None:
    assert len(CASES) == 72
    assert tally(list(CASES.values())) == {"M": 115, "S": 16, "I": 4}


@pytest.mark.parametrize(("case", "surface"), VERDICTS, ids=lambda value: getattr(value, "name", value))
def test_middleware_conforms(case: Case, surface: str, memory: Any) -> None:
    if not case.possible:
        pytest.skip(f"{case.needs} is not installed")
    error = verdict(case, surface, lambda app: TokenMizerMiddleware(app, memory=memory))
    if error is not None:
        raise error
    failed = [name for name in memory.counters() if name.endswith("_failed")]
    assert not failed


class Passing:
    """Pure ASGI that does nothing: what passes cannot be better than this."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


class Wrapping(BaseHTTPMiddleware):
    """The usual base class: known to lose trailers, disconnects and messages that it does not know."""

    async def dispatch(self, request: Any, call_next: Any) -> Any:
        return await call_next(request)


def test_suite_finds_nothing_wrong_with_doing_nothing() -> None:
    failed = [(case.name, error) for case, on in VERDICTS if case.possible and (error := verdict(case, on, Passing))]
    assert failed == []


@pytest.mark.parametrize(
    "name", ["starlette_request_is_disconnected_polling", "trailers", "zerocopysend", "early_hint_push_debug"]
)
def test_suite_finds_what_is_wrong_with_the_usual_base_class(name: str) -> None:
    assert verdict(CASES[name], "plain", Wrapping) is not None
