"""The benchmark of reminders measures what it says."""

from __future__ import annotations

import json
from itertools import pairwise

from benchmarks.reminder import Tally, body_of, conversation, question, sent
from benchmarks.sessions import long_session


def test_questions_name_the_subject_and_not_the_choice() -> None:
    chat = long_session(40).messages
    asked = question(chat, 1)
    assert asked.subject in asked.text
    assert asked.choice not in asked.text
    assert asked.is_answered(body_of(chat))
    assert not asked.is_answered(body_of(chat[:10]))


def test_conversation_asks_about_what_was_said_long_ago() -> None:
    calls = list(conversation(120))
    asked = [(chat, one) for chat, one in calls if one is not None]
    assert asked
    assert all(chat[-1]["content"] == one.text for chat, one in asked)
    assert all(not one.is_answered(body_of(chat[-40:])) for chat, one in asked)
    assert all(after[: len(before)] == before for (before, _), (after, _) in pairwise(calls))


def test_reuse_counts_what_the_next_call_begins_with() -> None:
    tally = Tally()
    first = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    asked = [*first, {"role": "user", "content": "three"}]
    reminded = [*first, {"role": "user", "content": "three, with a reminder"}]
    tally.add(body_of(reminded), reminded)
    tally.add(body_of([*asked, {"role": "assistant", "content": "four"}]), asked)
    assert tally.reused == tally.sent == len(json.dumps({"model": "gpt-4o", "messages": first})) - 2
    assert tally.whole_reused < tally.whole


def test_requests_with_reminders_tell_more_answers() -> None:
    ours, none = sent(400, turns=60), sent(0, turns=60)
    assert ours["answered"] > none["answered"]
    assert none["reminded"] == 0 < ours["reminded"]
