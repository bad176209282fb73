"""The middleware against the table of cases, and the table against middlewares known to be good and bad."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from starlette.middleware.base import BaseHTTPMiddleware

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.memory import SessionMemory

from . import failure_cases, framework_cases, request_cases, response_cases, scope_cases
from .driving import App
from .suite import CASES, Case, tally, verdict

_ = (failure_cases, framework_cases, request_cases, response_cases, scope_cases)
VERDICTS = [(case, surface) for case in CASES.values() for surface in case.surfaces]


def test_table_is_complete() -> None:
    assert len(CASES) == 72
    assert tally(list(CASES.values())) == {"M": 115, "S": 16, "I": 4}


@pytest.fixture(scope="module")
def verdicts() -> dict[tuple[str, str], BaseException | None]:
    """Every case on every surface against the middleware; ``None``: passed."""
    return {(case.name, surface): _verdict(case, surface) for case, surface in VERDICTS if case.possible}


def _verdict(case: Case, surface: str) -> BaseException | None:
    memory = SessionMemory.open("memory://")
    error = verdict(case, surface, lambda app: TokenMizerMiddleware(app, memory=memory))
    memory.close()
    failed = [name for name in memory.counters() if name.endswith("_failed")]
    return AssertionError(f"failed inside and went on: {failed}") if failed and error is None else error


@pytest.mark.parametrize(("case", "surface"), VERDICTS, ids=lambda value: getattr(value, "name", value))
def test_middleware_conforms(case: Case, surface: str, verdicts: dict[tuple[str, str], BaseException | None]) -> None:
    if not case.possible:
        pytest.skip(f"{case.needs} is not installed")
    error = verdicts[case.name, surface]
    if error is not None:
        raise error


def test_all_of_must_and_should(verdicts: dict[tuple[str, str], BaseException | None]) -> None:
    passed = Counter(CASES[name].level for (name, _), error in verdicts.items() if error is None)
    possible = tally([case for case in CASES.values() if case.possible])
    print(f"verdicts: M {passed['M']}/115, S {passed['S']}/16, I {passed['I']}/4; possible here: {dict(possible)}")
    assert passed["M"] == 115
    assert passed["S"] == possible["S"]
    assert passed["I"] >= 2


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
