"""Order within a session, and bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.resilience.lanes import Lanes

A, B = SessionKey("t", "a"), SessionKey("t", "b")


def test_items_of_a_session_are_taken_one_after_the_other() -> None:
    lanes: Lanes[str] = Lanes(10, 100)
    for key, item in ((A, "a1"), (A, "a2"), (B, "b1")):
        assert lanes.put(key, item, 1)
    assert [lanes.take(), lanes.take(), lanes.take()] == [(A, "a1"), (B, "b1"), None]
    lanes.remove_first(A)
    assert lanes.take() == (A, "a2")


def test_what_failed_stays_first_and_waits() -> None:
    lanes: Lanes[str] = Lanes(10, 100)
    lanes.put(A, "a1", 1)
    lanes.take()
    lanes.rest(A)
    lanes.put(A, "a2", 1)
    assert lanes.take() is None
    lanes.wake()
    assert lanes.take() == (A, "a1")


def test_it_is_bounded_in_items_and_bytes() -> None:
    lanes: Lanes[str] = Lanes(2, 100)
    assert [lanes.put(A, "1", 60), lanes.put(A, "2", 60), lanes.put(B, "3", 40), lanes.put(B, "4", 0)] == [
        True,
        False,
        True,
        False,
    ]
    lanes.take()
    lanes.remove_first(A)
    assert (lanes.count, lanes.size) == (1, 40)


def test_dropping_a_session_leaves_the_others_and_the_item_that_somebody_writes() -> None:
    lanes: Lanes[str] = Lanes(10, 100)
    for key, item in ((A, "a1"), (A, "a2"), (B, "b1")):
        lanes.put(key, item, 10)
    assert lanes.take() == (A, "a1")
    assert lanes.is_taken(A)
    assert lanes.drop(A) == ["a2"]
    assert lanes.drop(B) == ["b1"]
    assert (lanes.count, lanes.size, len(lanes.ready)) == (1, 10, 0)
    lanes.remove_first(A)
    assert (lanes.count, lanes.size, lanes.is_taken(A)) == (0, 0, False)
    assert lanes.drop(A) == []
    lanes.put(A, "a3", 10)
    lanes.take()
    lanes.rest(A)
    assert lanes.drop(A) == ["a3"]
    assert (lanes.count, len(lanes.resting)) == (0, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("put", "write", "fail", "wake")))))
def test_no_item_overtakes_another_of_its_session(steps: list[tuple[str, str]]) -> None:
    lanes: Lanes[int] = Lanes(1_000, 1_000)
    put: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    written: dict[str, list[int]] = {"a": [], "b": [], "c": []}

    def write() -> bool:
        taken = lanes.take()
        if taken is None:
            return False
        written[taken[0].id].append(taken[1])
        lanes.remove_first(taken[0])
        return True

    for number, (id, step) in enumerate(steps):
        if step == "put":
            lanes.put(SessionKey("t", id), number, 1)
            put[id].append(number)
        elif step == "write":
            write()
        elif step == "fail" and (taken := lanes.take()) is not None:
            lanes.rest(taken[0])
        elif step == "wake":
            lanes.wake(1)
    lanes.wake()
    while write():
        pass
    assert written == put
    assert (lanes.count, lanes.size, len(lanes.ready), len(lanes.resting)) == (0, 0, 0, 0)
