from __future__ import annotations

import json
import random
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.chat.exchange_opening import QUICK_MAX
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.request_redaction import RequestRedactor
from tokenmizer_mw.wire.dialects.anthropic import Anthropic
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat

CHAT = OpenAIChat()
FILLING = "what was said before, at some length " * 20


def secret(seed: int = 1) -> str:
    letters = random.Random(seed)
    return "sk-" + "proj-" + "".join(letters.choices(string.ascii_letters + string.digits, k=80))


def door(bytes_max: int = 1 << 20) -> RequestRedactor:
    return RequestRedactor(Redactor(key=b"k" * 32), beginnings_max=4, bytes_max=bytes_max)


def request(messages: list[dict[str, Any]], **more: Any) -> bytes:
    return json.dumps({"model": "m", "messages": messages} | more).encode()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def cleaned(redactor: RequestRedactor, key: str, body: bytes) -> bytes:
    return redactor.clean(body, redactor.find_beginning(key, body))


def quick(redactor: RequestRedactor, key: str, body: bytes) -> bool:
    known = redactor.find_beginning(key, body)
    return len(body) - (known.length if known is not None else 0) <= QUICK_MAX


def talk(redactor: RequestRedactor, key: str, body: bytes) -> bytes:
    """One call, and what the session knows of it afterwards."""
    clean = cleaned(redactor, key, body)
    redactor.note(key, body, clean, CHAT.read(clean))
    return clean


def test_a_clean_request_is_the_same_object() -> None:
    body = request([user("hello")])
    assert door().clean(body) is body


def test_a_member_that_is_not_forwarded_counts_as_no_secret() -> None:
    session = f'"session_id": "{secret()}"'.encode()
    for body in (b'{%s, "a": 1}' % session, b'{"a": 1, %s}' % session):
        assert door().clean(body, None, session) is body
        assert door().clean(body) is not body
    body = b'{%s, "a": "%s"}' % (session, secret(2).encode())
    assert secret(2).encode() not in door().clean(body, None, session)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be", "latin-1"])
def test_what_is_not_utf8_is_refused(encoding: str) -> None:
    body = f'{{"a": "\u00ff {secret()}"}}'.encode(encoding)
    with pytest.raises(UnicodeError):
        door().clean(body)


@pytest.mark.parametrize("behind", [{}, {"stream": True, "tools": [{"type": "function", "function": {"name": "f"}}]}])
@pytest.mark.parametrize("places", [(), (0,), (3,), (0, 3, 7), tuple(range(8))])
def test_a_history_that_comes_again_is_cleaned_as_one_that_is_new(
    behind: dict[str, Any], places: tuple[int, ...]
) -> None:
    redactor, messages = door(), []
    for turn in range(8):
        said = f"{FILLING} {secret(turn)}" if turn in places else FILLING
        messages += [user(said)]
        body = request(messages, **behind)
        assert talk(redactor, "s", body) == door().clean(body)
        messages += [assistant(f"{FILLING} {turn}")]


def test_only_news_are_looked_at() -> None:
    redactor, messages = door(), [user(FILLING)] * 60
    body = request(messages)
    assert len(body) > QUICK_MAX
    assert not quick(redactor, "s", body)
    talk(redactor, "s", body)
    assert quick(redactor, "s", request([*messages, user("and now?")]))
    assert not quick(redactor, "other", request([*messages, user("and now?")]))


def test_the_last_question_may_change() -> None:
    redactor, messages = door(), [user(FILLING)] * 60
    talk(redactor, "s", request([*messages, user("and now?")]))
    assert quick(redactor, "s", request([*messages, user(f"or rather {secret()}?")]))
    assert secret().encode() not in cleaned(redactor, "s", request([*messages, user(f"or rather {secret()}?")]))


def test_a_history_that_was_changed_is_read_anew() -> None:
    redactor = door()
    talk(redactor, "s", request([user(FILLING)] * 10))
    changed = request([user(f"{FILLING} {secret()}"), *[user(FILLING)] * 10])
    assert secret().encode() not in cleaned(redactor, "s", changed)


@pytest.mark.parametrize("bytes_max", [0, 1 << 20])
def test_what_is_kept_has_a_cap_and_no_secret(bytes_max: int) -> None:
    redactor = door(bytes_max)
    for number in range(10):
        talk(redactor, f"s{number}", request([user(f"{FILLING} {secret()}")] * 10))
    assert len(redactor._beginnings) == (0 if bytes_max == 0 else 4)
    assert redactor._held <= bytes_max
    assert all(secret().encode() not in known.clean for known in redactor._beginnings.values())
    redactor.forget()
    assert redactor._held == 0


MESSAGES = st.lists(
    st.sampled_from([FILLING, "short", f"a {secret(1)} b", f'{{"password": "{secret(2)}"}}', "ünï"]), max_size=6
)


@given(MESSAGES, MESSAGES)
def test_any_two_calls_of_a_session(first: list[str], more: list[str]) -> None:
    redactor = door()
    talk(redactor, "s", request([user(text) for text in [FILLING * 8, *first]]))
    body = request([user(text) for text in [FILLING * 8, *first, *more]])
    clean = cleaned(redactor, "s", body)
    assert clean == door().clean(body)
    assert json.loads(clean).keys() == {"model", "messages"}


ARGUMENTS = [
    f'{{"command": "export OPENAI_API_KEY={secret(3)}"}}',
    json.dumps({"id": secret(4), "env": {"DB_PASSWORD": "p9Xv2Lq7Rt4Zk8"}}),
    f'{{"cut": "{secret(5)}',
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_reply_is_kept_as_it_will_be_read_when_it_comes_again(arguments: str) -> None:
    redactor = door()
    kept = redactor.message(Message(Role.ASSISTANT, f"use {secret()}", (ToolCall("c1", "run", arguments),)))
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": arguments}}
    sent = {"role": "assistant", "content": f"use {secret()}", "tool_calls": [call]}
    back = CHAT.read(cleaned(redactor, "s", request([user("go"), sent]))).messages[1]
    assert digest(kept) == digest(back)
    assert secret() not in kept.text


def test_a_name_that_is_a_secret_is_kept_as_it_will_be_read() -> None:
    redactor = door()
    kept = redactor.message(Message(Role.ASSISTANT, "", (ToolCall("c1", secret(6), "{}"),)))
    call = {"id": "c1", "type": "function", "function": {"name": secret(6), "arguments": "{}"}}
    back = CHAT.read(
        cleaned(redactor, "s", request([user("go"), {"role": "assistant", "tool_calls": [call]}]))
    ).messages[1]
    assert digest(kept) == digest(back)
    assert secret(6) not in repr(kept)


def test_objects_as_arguments_are_kept_alike() -> None:
    redactor = door()
    said = {"id": secret(4), "env": {"DB_PASSWORD": "p9Xv2Lq7Rt4Zk8"}}
    text = json.dumps(said, separators=(",", ":"))
    kept = redactor.message(Message(Role.ASSISTANT, "", (ToolCall("t1", "run", text),)))
    block = {"type": "tool_use", "id": "t1", "name": "run", "input": said}
    body = request([user("go"), {"role": "assistant", "content": [block]}])
    assert digest(kept) == digest(Anthropic().read(cleaned(redactor, "s", body)).messages[1])
    assert secret(4) not in kept.tool_calls[0].arguments


def test_every_text_of_a_message_is_cleaned() -> None:
    message = Message(
        Role.TOOL,
        secret(1),
        (ToolCall("c", "n", json.dumps({"x": secret(2)})),),
        (ToolResult("c", f"line\n{secret(3)}\n"),),
        thinking=secret(4),
        refusal=secret(5),
    )
    clean = repr(door().message(message))
    assert not any(secret(seed) in clean for seed in range(1, 6))
    plain = Message(Role.USER, "nothing here")
    assert door().message(plain) is plain
