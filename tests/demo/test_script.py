from __future__ import annotations

import json
from collections import Counter

from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from pydantic import TypeAdapter

from tokenmizer_mw.cli.demo.script import find_answer, load_script

SCRIPT = load_script()
MESSAGES = list(SCRIPT.transcript())


def test_the_session_has_forty_turns_with_questions_of_different_people() -> None:
    assert len(SCRIPT.turns) == 40
    assert [turn.number for turn in SCRIPT.turns] == list(range(1, 41))
    assert len({turn.user for turn in SCRIPT.turns}) == 40


def test_every_message_and_tool_is_one_of_the_sdks() -> None:
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(MESSAGES)
    TypeAdapter(list[ChatCompletionToolUnionParam]).validate_python(SCRIPT.tools)


def test_every_tool_call_is_answered_by_the_next_message() -> None:
    ids = Counter(call["id"] for message in MESSAGES for call in message.get("tool_calls", ()))
    assert set(ids.values()) == {1}
    for message, following in zip(MESSAGES, [*MESSAGES[1:], {}], strict=True):
        if calls := message.get("tool_calls"):
            assert [call["id"] for call in calls] == [following["tool_call_id"]]


def test_tool_calls_use_the_defined_tools_with_their_parameters() -> None:
    parameters = {tool["function"]["name"]: tool["function"]["parameters"] for tool in SCRIPT.tools}
    for turn in SCRIPT.turns:
        for step in turn.steps:
            assert set(json.loads(step.arguments)) == set(parameters[step.name]["required"])


def test_every_turn_ends_with_a_reply_or_asks_for_an_old_fact() -> None:
    probes = [turn for turn in SCRIPT.turns if turn.probe is not None]
    assert len(probes) == 3
    assert all(bool(turn.reply) is (turn.probe is None) for turn in SCRIPT.turns)


def test_what_answers_a_probe_is_far_behind_it() -> None:
    for turn in SCRIPT.turns:
        if turn.probe is not None:
            place = MESSAGES.index({"role": "user", "content": turn.user})
            assert find_answer(SCRIPT, turn, MESSAGES[place - 12 : place + 1]) is None
