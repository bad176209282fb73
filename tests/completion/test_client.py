"""One question, asked again where that may help; the waits are recorded, not waited for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator

import pytest

from tokenmizer_mw.errors import ModelFailed
from tokenmizer_mw.session.refinement.client import (
    DELAY_MAX,
    Allowance,
    Attempts,
    Complete,
    ModelAnswer,
    Portal,
    ask,
    ask_on_loop,
)

QUESTION = [{"role": "user", "content": "How stands the barn?"}]


class Refused(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(status_code)
        self.status_code = status_code


class Model:
    """Answers with each of ``script`` in turn: a text, or what it raises."""

    def __init__(self, *script: str | Exception) -> None:
        self.script = list(script)
        self.asked: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.asked.append(messages)
        told = self.script.pop(0)
        if isinstance(told, Exception):
            raise told
        return told


def upper(text: str) -> str | None:
    return text.upper() if text != "garbage" else None


@pytest.fixture
def portal() -> Iterator[Portal]:
    made = Portal()
    yield made
    made.close()


def attempts(
    portal: Portal, waits: list[float], *, most: int = 3, per_hour: int = 100, failures: int = 50
) -> Attempts[str]:
    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    allowance = Allowance(per_hour=per_hour, failures_max=failures, rest_seconds=60)
    return Attempts(upper, allowance, most, 5.0, portal, wait, chance=lambda: 1.0)


def test_the_first_answer_is_taken(portal: Portal) -> None:
    waits: list[float] = []
    model = Model("stands")
    assert ask(model, QUESTION, attempts(portal, waits)) == ModelAnswer("STANDS", 1)
    assert model.asked == [QUESTION]
    assert waits == []


UNREAD = "the model's reply is not what was asked for"

HELPED = [
    (Model(OSError("gone"), Refused(503), "stands"), ModelAnswer("STANDS", 3), [0.5, 1.0]),
    (Model("garbage", "stands"), ModelAnswer("STANDS", 2), [0.5]),
    (Model(Refused(429), ModelFailed("busy", after=7), "stands"), ModelAnswer("STANDS", 3), [0.5, 7]),
    (Model(ModelFailed("busy", after=9_999), "stands"), ModelAnswer("STANDS", 2), [DELAY_MAX]),
    (Model(*[OSError("gone")] * 3), ModelAnswer(None, 3, "failed", error="OSError"), [0.5, 1.0]),
    (Model(Refused(401)), ModelAnswer(None, 1, "failed", error="Refused"), []),
    (Model(Refused(500), Refused(400)), ModelAnswer(None, 2, "failed", error="Refused"), [0.5]),
    (Model(ModelFailed("no such address", again=False)), ModelAnswer(None, 1, "failed", error="no such address"), []),
    (Model(*["garbage"] * 3), ModelAnswer(None, 3, "failed", error=UNREAD), [0.5, 1.0]),
    (Model("", "  ", "stands"), ModelAnswer("", 1), []),
]


@pytest.mark.parametrize(("model", "answer", "waited"), HELPED)
def test_it_is_asked_again_where_that_may_help(
    portal: Portal, model: Model, answer: ModelAnswer[str], waited: list[float]
) -> None:
    waits: list[float] = []
    assert ask(model, QUESTION, attempts(portal, waits)) == answer
    assert waits == waited
    assert not model.script or answer.reply is not None


def test_a_budget_ends_the_attempts(portal: Portal) -> None:
    assert ask(Model(*[OSError()] * 3), QUESTION, attempts(portal, [], per_hour=2)) == ModelAnswer(
        None, 2, "over_budget"
    )


def test_an_open_circuit_asks_nothing(portal: Portal) -> None:
    tried = attempts(portal, [], failures=1, most=1)
    assert ask(Model(OSError()), QUESTION, tried) == ModelAnswer(None, 1, "failed", error="OSError")
    model = Model("stands")
    assert ask(model, QUESTION, tried) == ModelAnswer(None, 0, "circuit_open")
    assert model.asked == []


def test_who_is_closing_waits_for_nothing(portal: Portal) -> None:
    allowance = Allowance(per_hour=9, failures_max=9, rest_seconds=1)
    closing = Attempts(upper, allowance, 3, 5.0, portal, lambda _: True)
    assert ask(Model(OSError(), "stands"), QUESTION, closing) == ModelAnswer(None, 1, "failed", error="OSError")


def test_what_gives_no_text_has_failed(portal: Portal) -> None:
    def strange(_: list[dict[str, str]]) -> str:
        return 5  # type: ignore[return-value]

    assert ask(strange, QUESTION, attempts(portal, [], most=1)).refused == "failed"


def test_a_function_to_be_awaited_is_awaited_on_one_loop_without_a_loop(portal: Portal) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def model(_: list[dict[str, str]]) -> str:
        loops.append(asyncio.get_running_loop())
        return "stands"

    for _ in range(2):
        assert ask(model, QUESTION, attempts(portal, [])) == ModelAnswer("STANDS", 1)
    assert len(set(loops)) == 1


def test_what_takes_too_long_has_failed(portal: Portal) -> None:
    async def model(_: list[dict[str, str]]) -> str:
        await asyncio.sleep(60)
        return "stands"

    allowance = Allowance(per_hour=9, failures_max=9, rest_seconds=1)
    hasty = Attempts(upper, allowance, 1, 0.01, portal, lambda _: False)
    assert ask(model, QUESTION, hasty).refused == "failed"
    assert asyncio.run(ask_on_loop(model, QUESTION, hasty)).refused == "failed"


def test_closing_cancels_what_is_awaited() -> None:
    portal, began = Portal(), threading.Event()

    async def model(_: list[dict[str, str]]) -> str:
        began.set()
        await asyncio.sleep(60)
        return "stands"

    answers: list[ModelAnswer[str]] = []
    thread = threading.Thread(target=lambda: answers.append(ask(model, QUESTION, attempts(portal, [], most=1))))
    thread.start()
    assert began.wait(10)
    portal.close()
    thread.join(10)
    assert [(one.refused, one.calls) for one in answers] == [("failed", 1)]


def asynchronous(model: Model) -> Callable[[list[dict[str, str]]], Awaitable[str]]:
    async def run(messages: list[dict[str, str]]) -> str:
        await asyncio.sleep(0)
        return model(messages)

    return run


@pytest.mark.parametrize("script", [("stands",), (ModelFailed("busy", after=0), "stands")])
@pytest.mark.parametrize("is_async", [False, True])
def test_the_same_from_a_loop(portal: Portal, script: tuple[str | Exception, ...], is_async: bool) -> None:
    model = Model(*script)
    complete: Complete = asynchronous(model) if is_async else model
    assert asyncio.run(ask_on_loop(complete, QUESTION, attempts(portal, []))) == ModelAnswer("STANDS", len(script))


def test_from_a_loop_what_is_awaited_runs_there_and_what_blocks_does_not(portal: Portal) -> None:
    seen: dict[str, object] = {}

    async def awaited(_: list[dict[str, str]]) -> str:
        seen["loop"] = asyncio.get_running_loop()
        return "stands"

    def blocking(_: list[dict[str, str]]) -> str:
        seen["thread"] = threading.current_thread()
        return "stands"

    async def run() -> None:
        await ask_on_loop(awaited, QUESTION, attempts(portal, []))
        await ask_on_loop(blocking, QUESTION, attempts(portal, []))
        assert seen["loop"] is asyncio.get_running_loop()
        assert seen["thread"] is not threading.current_thread()

    asyncio.run(run())


def test_a_cancelled_question_is_cancelled(portal: Portal) -> None:
    async def model(_: list[dict[str, str]]) -> str:
        await asyncio.sleep(60)
        return "stands"

    async def run() -> None:
        asking = asyncio.create_task(ask_on_loop(model, QUESTION, attempts(portal, [])))
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(run())
