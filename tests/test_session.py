"""What is new in a resent history, and what a log folds into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.folding import logs
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, Derived, MessageRecorded, Recorded, TurnClosed
from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.session import CONTEXT_MESSAGES, SessionState, Transcript, fold, joining
from tokenmizer_mw.session.resent import spelling_of
from tokenmizer_mw.session.state import UnkeptTranscript


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def transcript_of(messages: list[Message]) -> Transcript:
    transcript = Transcript()
    for place, message in enumerate(messages):
        transcript.add(digest(message), place - 1, spelling_of(message))
    return transcript


HISTORY = [user("hello"), assistant("hi"), user("yes"), assistant("done"), user("yes"), assistant("done again")]

RESENDS = [
    ("nothing known", [], HISTORY, 0),
    ("everything known", HISTORY, HISTORY, 6),
    ("one more at the end", HISTORY, [*HISTORY, user("next")], 6),
    ("a repeated word is new", HISTORY, [*HISTORY, user("yes")], 6),
    ("only the new message is sent", HISTORY, [user("something else")], 0),
    ("a lone repeated word is new", HISTORY, [user("yes")], 0),
    ("the last message resent alone", HISTORY, [HISTORY[-1]], 1),
    ("a retry of an older call", HISTORY, HISTORY[:5], 5),
    ("the first call again", HISTORY, HISTORY[:1], 1),
    ("the client trimmed the front", HISTORY, [*HISTORY[3:], user("next")], 3),
    ("a trimmed call of before again", HISTORY, HISTORY[1:5], 4),
    ("a piece of before, too short to tell", HISTORY, HISTORY[2:4], 0),
    ("a branch: an older answer, then another question", HISTORY, [*HISTORY[:4], user("other")], 4),
]


@pytest.mark.parametrize(("known", "sent", "first"), [row[1:] for row in RESENDS], ids=[row[0] for row in RESENDS])
def test_first_new(known: list[Message], sent: list[Message], first: int) -> None:
    assert transcript_of(known).first_new(sent)[0] == first


def test_spelling_that_does_not_matter_is_the_same_message() -> None:
    call = ToolCall("c1", "write", '{"path": "a.py",  "n": 1}')
    same = ToolCall("c1", "write", '{"n":1,"path":"a.py"}')
    assert digest(Message(Role.ASSISTANT, "", (call,))) == digest(Message(Role.ASSISTANT, " ", (same,), thinking="hm"))
    assert digest(Message(Role.ASSISTANT, "a")) != digest(Message(Role.USER, "a"))
    result = Message(Role.TOOL, tool_results=(ToolResult("c1", "ok"),))
    assert digest(result) != digest(Message(Role.TOOL, tool_results=(ToolResult("c2", "ok"),)))


words = st.sampled_from(["yes", "no", "go on", "use sqlite", "ok", "thanks", "and now?"])


@given(st.lists(st.tuples(words, words), min_size=1, max_size=14), st.data())
def test_what_is_sent_bit_by_bit_is_all_kept(turns: list[tuple[str, str]], data: st.DataObject) -> None:
    """A client that sends only what is new, in pieces of any size: nothing is taken for a resend, except a piece that
    repeats the newest messages or the very first ones word for word. The latter goes on from there: from then on the
    transcript is no line, and the newest messages are not the last ones."""
    said = [message for question, answer in turns for message in (user(question), assistant(answer))]
    known = Transcript()
    kept: list[str] = []
    while said:
        size = data.draw(st.integers(1, 6), label="piece")
        piece, said = said[:size], said[size:]
        marks = [digest(message) for message in piece]
        repeats = kept[-len(piece) :] == marks or kept[: len(piece)] == marks
        before = len(known)
        line = known.parents == list(range(-1, before - 1))
        for event in joining(known, piece):
            known.add(event.digest, event.after - 1, spelling_of(event.message))
        if line and len(piece) < 4 and not repeats and not _overlaps(kept, marks):
            assert len(known) - before == len(piece)
        kept = list(known.digests)


def _overlaps(kept: list[str], marks: list[str]) -> bool:
    """Whether the piece begins with what the transcript ends or begins with."""
    lengths = range(1, len(marks) + 1)
    return any(kept[-length:] == marks[:length] or kept[:length] == marks[:length] for length in lengths)


def test_short_answers_are_not_taken_for_a_resend() -> None:
    said = [user("use a or b?"), assistant("b?"), user("yes"), assistant("Done."), user("and c?"), assistant("maybe")]
    transcript = transcript_of(said)
    record(transcript, [user("yes"), assistant("Done.")], 2)
    batch = [user("Use Kafka"), assistant("Decided: Kafka"), user("yes"), assistant("Done."), user("yes")]
    record(transcript, [*batch, assistant("Done.")], 6)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=12), st.booleans(), st.data())
def test_a_resending_client_loses_and_doubles_nothing(
    turns: list[tuple[str, str]], trims: bool, data: st.DataObject
) -> None:
    """A client may trim what it resends where its messages differ; the whole history may repeat itself at will."""
    said: list[Message] = []
    known = Transcript()
    for number, (question, answer) in enumerate(turns):
        start = data.draw(st.integers(0, max(0, len(said) - 4)), label="trimmed") if trims else 0
        asked = [*said[start:], user(f"{question} {number}" if trims else question)]
        record(known, asked, 1)
        reply = assistant(answer)
        record(known, [*asked, reply], 1)
        said += [asked[-1], reply]
    assert known.digests == [digest(message) for message in said]


def record(transcript: Transcript, messages: list[Message], expected: int, *, part: bool = False) -> None:
    events = joining(transcript, messages, part=part)
    assert len(events) == expected
    for event in events:
        transcript.add(event.digest, event.after - 1, spelling_of(event.message))


def test_a_client_that_goes_back_adds_only_what_is_new() -> None:
    transcript = transcript_of(HISTORY)
    branch = [*HISTORY[:2], user("another way"), assistant("sure")]
    record(transcript, branch, 2)
    record(transcript, [*branch, user("go on")], 1)
    record(transcript, [*branch, user("go on")], 0)
    record(transcript, [*HISTORY, user("the first way again")], 1)
    assert transcript.parents[6:] == [1, 6, 7, 5]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), max_size=12))
def test_where_only_news_is_sent_what_was_said_before_is_news_again(turns: list[tuple[str, str]]) -> None:
    known = Transcript()
    for question, answer in turns:
        record(known, [user(question), assistant(answer)], 2, part=True)
    assert known.digests == [digest(said) for q, a in turns for said in (user(q), assistant(a))]
    assert known.parents == list(range(-1, 2 * len(turns) - 1))


def test_news_that_are_sent_again_after_a_failure_are_no_news() -> None:
    known = transcript_of(HISTORY)
    record(known, [user("and?")], 1, part=True)
    record(known, [user("and?"), assistant("so")], 1, part=True)
    assert known.parents[-2:] == [len(HISTORY) - 1, len(HISTORY)]


def test_the_cost_of_finding_what_is_new_does_not_grow() -> None:
    """Counted in digests, not in seconds: each costs one serialisation."""
    for length in (20, 2_000):
        history = [user(f"question {i}") if i % 2 == 0 else assistant(f"answer {i}") for i in range(length)]
        transcript = transcript_of(history)
        counting = _Counting([*history, user("the new one")])
        assert transcript.first_new(counting) == (length, length - 1)
        assert counting.looked_at <= 8


def test_a_reply_is_found_when_the_client_leaves_out_the_calls_before_it() -> None:
    call = Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "look", "{}"),))
    result = Message(Role.TOOL, tool_results=(ToolResult("c1", "ok"),))
    transcript = transcript_of([user("hello"), call, result, assistant("Done.")])
    assert transcript.first_new([user("hello"), assistant("Done.")]) == (2, 3)


def test_a_reply_that_was_given_before_is_found_where_it_answers() -> None:
    history = [user(f"do {i // 2}") if i % 2 == 0 else assistant("Done.") for i in range(40)]
    transcript = transcript_of(history)
    assert transcript.first_new([*history, user("and this"), assistant("Done.")]) == (40, 39)
    assert transcript.first_new(history) == (40, 39)
    assert transcript.first_new(history[:30]) == (30, 29)
    assert transcript.first_new([*history[:29], assistant("Done, too.")]) == (29, 28)


class _Counting(list[Message]):
    looked_at = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        self.looked_at += 1
        return super().__getitem__(index)


def recorded(*events: object) -> list[Recorded]:
    return [Recorded(index + 1, float(index), event) for index, event in enumerate(events)]  # type: ignore[arg-type]


def test_fold_follows_extraction_and_the_cut() -> None:
    messages = [MessageRecorded(n, digest(user(str(n))), user(str(n)), n - 1) for n in range(1, 11)]
    cut = Checkpointed("checkpoint-1", 8, anchor="abc", anchor_turn=5, block="...", dropped=4)
    later = Checkpointed("checkpoint-2", 9)
    state = fold(recorded(*messages, Derived(8), TurnClosed(8, Outcome.COMPLETE), cut, later))
    assert state.seq == 14
    assert [turn for turn, _ in state.unextracted] == [9, 10]
    assert [turn for turn, _ in state.recent] == list(range(max(1, 9 - CONTEXT_MESSAGES), 9))
    assert state.cut == cut
    assert [mark.checkpoint.id for mark in state.checkpoints] == ["checkpoint-1", "checkpoint-2"]
    assert state.outcomes == {Outcome.COMPLETE: 1}


@given(st.integers(0, 12))
def test_fold_resumes_from_any_point(split: int) -> None:
    messages = [MessageRecorded(n, digest(user(str(n))), user(str(n)), n - 1) for n in range(1, 11)]
    log = recorded(*messages, Derived(4), Derived(9))
    state = fold(log[:split])
    for event in log[split:]:
        state.apply(event)
    assert state == fold(log)
    assert isinstance(state, SessionState)


def test_a_chat_that_repeats_itself_grows() -> None:
    """Messages that say the same over and over are news when they come behind all that the session has."""
    memory = SessionMemory.open("memory://")
    turns = [{"role": role, "content": text} for _ in range(60) for role, text in (("user", "on"), ("assistant", "ok"))]
    for end in (1, 40, 80, 120):
        memory.record("s", turns[:end])
        assert len(memory.messages("s")) == end


@given(logs())
def test_a_state_without_its_messages_has_the_same_graph(log: list[Recorded]) -> None:
    """What pictures of earlier times are folded with: looking at messages is a third of the work."""
    graphs = SessionState(transcript=UnkeptTranscript())
    fold(log, graphs)
    assert graphs.graph == fold(log).graph
    assert len(graphs.transcript) == len(graphs.copy().transcript) == 0
