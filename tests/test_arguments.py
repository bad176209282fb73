"""Every public method of the memory refuses arguments of a wrong type, and numbers that cannot be meant, with an error
of this package that names the argument.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from tokenmizer_mw import CallerError, ConfigError, InvalidMessage, InvalidSession, SessionMemory, Settings
from tokenmizer_mw.errors import TokenMizerError, UnknownSession
from tokenmizer_mw.model.event import node_to_dict
from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session.arguments import check_arguments

CHAT: Final = [{"role": "user", "content": "Use SQLite for storage."}, {"role": "assistant", "content": "Understood."}]

WRONG: Final[dict[str, tuple[Any, ...]]] = {
    "str": (5, None, b"text", ["text"], True),
    "str | None": (5, b"text", ["text"]),
    "int": ("a", None, -1, 1.5, True, [1]),
    "int | None": ("a", -1, 1.5, True, [1]),
    "bool": ("yes", None, 1),
    "float | None": ("1", -1, float("nan"), True, [1]),
    "Moment": ("yesterday", None, [1], True, 1_764_000_000_000, float("nan"), datetime.min),
    "Moment | None": ("yesterday", [1], True, 1_764_000_000_000),
    "Day | None": ("yesterday", "2026-11", 1_764_000_000_000, [1], True, float("inf")),
    "Iterable[Message | Mapping[str, Any]]": (5, None, "text", CHAT[0], [5], [None], [{"role": "user", "content": 5}]),
    "Iterable[Written]": (5, None, "text", [5], [None], CHAT, [Written("text")]),  # type: ignore[arg-type]
    "Iterable[int] | int": ("a", None, 1.5, True, ["a"], [None]),
    "Change": (5, None, "text"),
    "Complete | None": (5, "text"),
    "MessageCounter | None": (5, "text"),
    "Resume | None": (5, "text"),
    "Place | None": (5, "text", (1,), ("a", 1), [1.0, "a", 2], (float("nan"), "a")),
    "str | SessionKey": (5, None, b"s", ("local", "s")),
    "By | Collection[By]": (5, None, "month", ["month"], [[]]),
    "Callable[[SessionState], R]": (5, None, "text"),
}
"""Wrong values by the annotation of an argument."""

GIVEN: Final[dict[str, Any]] = {
    "session": "s",
    "session_id": "s",
    "messages": [],
    "text": "SQLite",
    "node_id": "decision-1",
    "reason": "no",
    "query": "storage",
    "question": "storage",
    "change": list,
    "since": 0,
    "limit": 1_000,
    "look": len,
    "turns": 1,
    "after_seq": 0,
    "upto_seq": 1,
}
"""Right values of the arguments that have no default."""

METHODS: Final = {
    name: inspect.signature(method)
    for name, method in vars(SessionMemory).items()
    if inspect.isfunction(method) and name[0] != "_"
}


def wrong_calls() -> Iterator[tuple[str, str, Any]]:
    for name, signature in METHODS.items():
        for argument, parameter in list(signature.parameters.items())[1:]:
            wrong = WRONG[parameter.annotation]
            if argument in ("session_id", "tenant"):
                wrong = (*wrong, "", "a\nb", "x" * 300)
            yield from ((name, argument, value) for value in wrong)


def call(memory: SessionMemory, name: str, arguments: dict[str, Any]) -> Any:
    signature = METHODS[name]
    needed = {
        argument: GIVEN[argument]
        for argument, parameter in list(signature.parameters.items())[1:]
        if parameter.default is parameter.empty
    }
    if name in ("add", "aadd"):
        needed["messages"] = [Written(Message(Role.USER, "hello"))]
    result = getattr(memory, name)(**{**needed, **arguments})
    return asyncio.run(result) if inspect.isawaitable(result) else result


@pytest.fixture(scope="module")
def memory() -> Iterator[SessionMemory]:
    with SessionMemory.open("memory://", Settings(context_window=1_000, savings=True)) as made:
        made.record("s", CHAT)
        yield made


@pytest.mark.parametrize("name", sorted(METHODS))
def test_wrong_arguments_are_named(memory: SessionMemory, name: str) -> None:
    before = (memory.edits("s"), memory.messages("s"))
    for method, argument, value in wrong_calls():
        if method == name:
            with pytest.raises(TokenMizerError) as caught:
                call(memory, name, {argument: value})
                pytest.fail(f"{name}({argument}={value!r}) is taken")
            assert caught.value.fault in ("caller", "config"), (argument, value)
    assert before == (memory.edits("s"), memory.messages("s"))


def test_a_difference_takes_a_session_as_its_siblings_do(memory: SessionMemory) -> None:
    by_id = memory.diff("s", 0, 5)
    assert by_id.added and by_id == memory.diff(SessionKey("local", "s"), 0, 5)
    with pytest.raises(UnknownSession):
        memory.diff("s", 0, 5, tenant="other")


def test_an_error_says_what_is_expected_and_what_was_given(memory: SessionMemory) -> None:
    for wrong, words in (
        (lambda: memory.search("s", "SQLite", k="a"), "k is a whole number, not a str"),  # type: ignore[arg-type]
        (lambda: memory.sessions(limit=-1), "limit is 0 or more, not -1"),
        (lambda: memory.why("s", None), "text is text, not None"),  # type: ignore[arg-type]
        (lambda: memory.graph("s", valid_at="then"), "valid_at: 'then' is not a time"),
    ):
        with pytest.raises(CallerError, match=words):
            wrong()
    with pytest.raises(InvalidSession, match="session_id is text, not an int"):
        memory.messages(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidMessage, match=r"message 1 is a dict: pass Written"):
        memory.add("s", CHAT)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="complete is a function"):
        SessionMemory.open(complete=5)  # type: ignore[arg-type]


def test_an_unknown_argument_is_a_type_error_of_python(memory: SessionMemory) -> None:
    with pytest.raises(TypeError, match=r"resume\(\) got an unexpected keyword argument 'tokens'"):
        memory.resume("s", tokens=100)  # type: ignore[call-arg]


def test_a_period_of_savings_is_given_as_day_date_time_or_seconds(memory: SessionMemory) -> None:
    now = datetime.now(UTC)
    for since in (now - timedelta(days=1), "2020-01-31", date(2020, 1, 31), now.isoformat(), 0, "", None):
        assert memory.savings(since=since, until=now).whole.calls == 0
    assert memory.savings("s", by="day") == memory.savings("s", by=("day",))


def test_whole_numbers_of_other_libraries_are_taken(memory: SessionMemory) -> None:
    class Whole:
        def __index__(self) -> int:
            return 3

        def __lt__(self, other: int) -> bool:
            return other > 3

    assert [node_to_dict(hit.node) for hit in memory.search("s", "SQLite", Whole())]  # type: ignore[arg-type]


def test_an_annotation_without_a_check_is_found_when_the_class_is_made() -> None:
    class Public:
        def method(self, given: Unheard) -> None:  # type: ignore[name-defined]  # noqa: F821
            """A method."""

    with pytest.raises(KeyError, match="Unheard"):
        check_arguments({})(Public)
