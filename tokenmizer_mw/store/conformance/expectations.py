"""What the checks of all subjects use: logs to check, and functions that compare."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

from tokenmizer_mw.model.event import Derived, Event
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.log import Clock, EventLog

MakeLog = Callable[[Clock], EventLog]
"""A function that opens a new, empty log each time it is called. The log takes its times from the given clock."""

Check = Callable[[MakeLog], None]
KEY: Final = SessionKey("tenant", "session")


@contextmanager
def open_empty_log(make_log: MakeLog, clock: Clock = time.time) -> Iterator[EventLog]:
    """Give a new, empty log that takes its times from ``clock`` to the ``with`` block, and close it after that."""
    log = make_log(clock)
    try:
        yield log
    finally:
        log.close()


def make_turns(first: int, last: int) -> list[Event]:
    """Return an event for each message from ``first`` to ``last``, to append."""
    return [Derived(turn) for turn in range(first, last + 1)]


def list_events(log: EventLog, key: SessionKey = KEY) -> list[Event]:
    """Return the events of a session, without their numbers and times."""
    return [recorded.event for recorded in log.read(key)]


T = TypeVar("T")


def expect(found: T, expected: T, what: str) -> None:
    """Raise ``AssertionError`` unless ``found`` equals ``expected``. ``what``: names the compared thing in the
    message."""
    if found != expected:
        raise AssertionError(f"{what}: expected {_short(expected)}, found {_short(found)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 500 else f"{text[:500]}..."


def expect_raised(kind: type[Exception], call: Callable[[], object], what: str) -> None:
    """Raise ``AssertionError`` unless ``call`` raises an error of class ``kind``. ``what``: names the call in the
    message."""
    try:
        call()
    except kind:
        return
    raise AssertionError(f"{what}: expected {kind.__name__}, nothing was raised")


def run_together(calls: Sequence[Callable[[], object]]) -> None:
    """Run all ``calls`` at once, each in a thread. Raises the first error that one of them raised."""
    errors: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
