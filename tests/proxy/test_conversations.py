"""Which session a chat belongs to: as clients name it, as coding agents do, or by how the conversation begins."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw.server.proxy.conversations import beginning, session_of_agent
from tokenmizer_mw.wire.dialects import ROUTES

from .serving import Served, asked, call, configured, serving

UUID = "0b6f2a1c-93de-4f0e-8a56-1f2e3d4c5b6a"
OTHER = "7c1e9d0a-1111-4222-8333-944455556666"

TOOLS = [{"type": "function", "function": {"name": "shell"}}]

TOLD: dict[str, tuple[list[tuple[bytes, bytes]], Any, str | None]] = {
    "nothing": ([], {}, None),
    "Claude Code, in the metadata": ([], {"metadata": {"user_id": f"user_ab12_account__session_{UUID}"}}, UUID),
    "Claude Code, newer": (
        [],
        {"metadata": {"user_id": json.dumps({"device_id": "d", "account_uuid": OTHER, "session_id": UUID})}},
        UUID,
    ),
    "Claude Code, in a header": ([(b"x-claude-code-session-id", UUID.encode())], {}, UUID),
    "Codex, in a header": ([(b"session_id", UUID.encode())], {"prompt_cache_key": OTHER}, UUID),
    "Codex, in the cache key": ([], {"prompt_cache_key": UUID}, UUID),
    "a cache key of an application": ([], {"prompt_cache_key": "all-my-users"}, None),
    "a user of an application": ([], {"metadata": {"user_id": "user-17"}}, None),
    "words about it": ([], {"messages": [{"role": "user", "content": f'"prompt_cache_key": "{UUID}"'}]}, None),
    "Codex, a sub-agent": ([(b"session-id", OTHER.encode()), (b"thread-id", UUID.encode())], {}, UUID),
    "a title that an agent has written": ([(b"x-claude-code-session-id", UUID.encode())], {"tools": []}, None),
    "a header that is no id": ([(b"session_id", b"\xc3\x28\x01")], {}, None),
}


@pytest.mark.parametrize(("headers", "body", "session"), TOLD.values(), ids=TOLD)
def test_what_agents_tell(headers: list[tuple[bytes, bytes]], body: Any, session: str | None) -> None:
    body = {"tools": [{"type": "function", "name": "shell"}], **body}
    for spelled in (json.dumps(body), json.dumps(body, separators=(",", ":")), json.dumps(body, indent=2)):
        assert session_of_agent(headers, spelled.encode()) == session


def talk(path: str, *said: str, system: str = "Be brief.", **more: Any) -> bytes:
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    if path == "/v1/messages":
        return json.dumps({"model": "m", "system": system, "messages": messages, "max_tokens": 9, **more}).encode()
    if path == "/v1/responses":
        return json.dumps({"model": "m", "instructions": system, "input": messages, **more}).encode()
    return json.dumps({"model": "m", "messages": [{"role": "system", "content": system}, *messages], **more}).encode()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
def test_a_conversation_keeps_its_name_while_it_goes_on(path: str) -> None:
    dialect = next(dialect for ending, dialect in ROUTES.items() if path.endswith(ending))
    first = beginning(dialect, talk(path, "Build me a shop."), path)
    assert first is not None
    assert beginning(dialect, talk(path, "Build me a shop.", "Which database?", "PostgreSQL"), path) == first
    others = [
        talk(path, "Build me a blog."),
        talk(path, "Build me a shop.", system="Be verbose."),
        talk(path, "Build me a shop.", tools=[{"type": "function", "name": "f", "function": {"name": "f"}}]),
    ]
    names = {beginning(dialect, other, path) for other in others}
    assert len(names) == 3
    assert first not in names


def test_no_name_without_a_users_word() -> None:
    dialect = ROUTES["/chat/completions"]
    for body in (b"", b"[]", b'{"messages": []}', b'{"messages": [{"role": "system", "content": "a"}]}', b"\xff"):
        assert beginning(dialect, body, "/v1/chat/completions") is None


@pytest.fixture(scope="module")
def deriving(_running: Upstream, loop: str) -> Iterator[Served]:
    with serving(configured(_running, sessions="derived")) as served:
        yield served


def test_chats_without_a_session_are_remembered_by_how_they_begin(deriving: Served, upstream: Upstream) -> None:
    path, before = "/v1/chat/completions", set(deriving.sessions())
    question = [{"role": "user", "content": "Which queue do we take?"}]
    first = call(deriving.port, path, json.dumps({"model": "fake-n3", "messages": question}).encode())
    reply = json.loads(first[2])["choices"][0]["message"]
    grown = [*question, reply, {"role": "user", "content": "And the cache?"}]
    body = json.dumps({"model": "fake-n3", "messages": grown}).encode()
    call(deriving.port, path, body)
    (session,) = set(deriving.sessions()) - before
    assert [role for role, _ in deriving.said(session)] == ["user", "assistant", "user", "assistant"]
    assert upstream.calls[-1].body == body


def test_a_session_that_is_named_wins(deriving: Served, upstream: Upstream, session: str) -> None:
    headers = {"session_id": UUID}
    call(deriving.port, "/v1/chat/completions", asked("fake-n3"), {**headers, "x-session-id": session})
    call(deriving.port, "/v1/chat/completions", asked("fake-n3", session_id=f"{session}-field"), headers)
    call(deriving.port, "/v1/chat/completions", asked("fake-n3", tools=TOOLS), headers)
    for name in (session, f"{session}-field", UUID):
        assert deriving.ended(name) == ["complete"]
    assert [received.headers.get("session_id") for received in upstream.calls] == [UUID] * 3
    assert b"session_id" not in upstream.calls[1].body


def test_agents_are_understood_and_others_reported(upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    path = "/v1/chat/completions"
    with caplog.at_level("INFO", "tokenmizer_mw"), serving(configured(upstream, sessions="agents")) as served:
        for _ in range(3):
            call(served.port, path, asked("fake-n3", said="nobody's"), {"user-agent": "shop/1.0"})
        call(served.port, path, asked("fake-n3", said="Write a title.", prompt_cache_key=OTHER), {"user-agent": "desk"})
        assert served.sessions() == []
        tools = [{"type": "function", "function": {"name": "shell", "parameters": {"session_id": "of the shell"}}}]
        told = {"prompt_cache_key": OTHER, "tools": tools, "metadata": {"session_id": "inside"}}
        call(served.port, path, asked("fake-n3", **told), {"user-agent": "agent"})
        assert served.said(OTHER)[0] == ("user", "Which database?")
    reported = [record.getMessage() for record in caplog.records if "are not remembered" in record.getMessage()]
    assert [text.split(" are ")[0] for text in reported] == [
        "chats of shop/1.0 at 127.0.0.1",
        "chats of desk at 127.0.0.1",
    ]
    assert all("names no session (header x-session-id or field session_id)" in text for text in reported)


def test_an_agents_chat_goes_on_in_the_session_that_its_hooks_recorded(upstream: Upstream) -> None:
    path, headers = "/v1/chat/completions", {"x-claude-code-session-id": UUID}
    with serving(configured(upstream, sessions="agents")) as served:
        served.memory.record(f"shop/{UUID}", [{"role": "user", "content": "Which queue do we take?"}])
        served.memory.record(f"other/{OTHER}", [{"role": "user", "content": "Hello."}])
        for _ in range(2):
            call(served.port, path, asked("fake-n3", said="Which queue do we take?", tools=TOOLS), headers)
        assert sorted(served.sessions()) == [f"other/{OTHER}", f"shop/{UUID}"]
        assert [role for role, _ in served.said(f"shop/{UUID}")][:2] == ["user", "assistant"]


def test_an_agent_whose_session_nobody_recorded_starts_one(upstream: Upstream) -> None:
    """The proxy was first: its session stays the one, also when hooks come later."""
    path, headers = "/v1/chat/completions", {"x-claude-code-session-id": UUID}
    with serving(configured(upstream, sessions="agents")) as served:
        call(served.port, path, asked("fake-n3", tools=TOOLS), headers)
        assert served.sessions() == [UUID]
        served.memory.record(f"shop/{UUID}", [{"role": "user", "content": "Later."}])
        call(served.port, path, asked("fake-n3", said="Go on.", tools=TOOLS), headers)
        assert ("user", "Go on.") in served.said(UUID)


NAMINGS = [
    ({}, "derived"),
    ({"listen": {"host": "::1"}}, "derived"),
    ({"listen": {"host": "localhost"}}, "derived"),
    ({"auth": True}, "agents"),
    ({"listen": {"host": "10.0.0.7"}, "auth": True}, "agents"),
    ({"sessions": "named"}, "named"),
]


@pytest.mark.parametrize(("given", "naming"), NAMINGS)
def test_every_chat_is_remembered_on_this_machine(given: dict[str, Any], naming: str, upstream: Upstream) -> None:
    assert configured(upstream, **given).naming == naming


def test_sdks_without_a_session_are_remembered(upstream: Upstream) -> None:
    """Two chats at a time with each SDK, which resend what was said: four sessions, nothing mixed."""
    chats = ("Use PostgreSQL for the orders.", "Write a poem about the sea.")
    with serving(configured(upstream)) as served:
        one = openai.OpenAI(base_url=f"{served.url}/v1", api_key="made-up", max_retries=0)
        other = anthropic.Anthropic(base_url=served.url, api_key="made-up", max_retries=0)
        said: dict[str, list[Any]] = {text: [{"role": "user", "content": text}] for text in chats}
        also: dict[str, list[Any]] = {text: [{"role": "user", "content": text}] for text in chats}
        for _ in range(3):
            for text in chats:
                reply = one.chat.completions.create(model="fake-n3", messages=said[text])
                said[text] += [
                    {"role": "assistant", "content": reply.choices[0].message.content},
                    {"role": "user", "content": "And then?"},
                ]
                answer = other.messages.create(model="fake-n3", max_tokens=99, system="Be brief.", messages=also[text])
                also[text] += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": "More."}]
        sessions = {name: served.said(name) for name in served.sessions()}
    assert sorted(told[0][1] for told in sessions.values()) == sorted([*chats, *chats])
    assert [len(told) for told in sessions.values()] == [6] * 4


def test_titles_that_agents_and_interfaces_ask_for_are_no_sessions(deriving: Served, upstream: Upstream) -> None:
    before, path = deriving.sessions(), "/v1/chat/completions"
    title = "### Task:\nGenerate a concise, 3-5 word title with an emoji.\n\n### Chat History:\nUSER: Use PostgreSQL."
    call(deriving.port, path, asked("fake-n3", said=title))
    call(deriving.port, path, asked("fake-n3", said="Name this."), {"x-claude-code-session-id": OTHER})
    assert deriving.sessions() == before


def test_files_and_reminders_of_a_host_do_not_change_the_name() -> None:
    """As aider sends them: its examples, what it knows of the files, and rules behind the newest words."""
    path, dialect = "/v1/chat/completions", ROUTES["/chat/completions"]
    rules = "\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block begins with a path."
    switched = "I switched to a new code base. Please don't consider the above files."
    examples = ["Change factorial().", "Done.", switched, "Ok."]
    files = "I have *added these files to the chat* so you can go ahead and edit them.\n\n{}"
    first = [*examples, files.format("shop.py"), "Ok.", "Use PostgreSQL." + rules]
    later = [*examples, files.format("shop.py, a.py"), "Ok.", "Use PostgreSQL.", "Sure.", "And the cache?" + rules]
    name = beginning(dialect, talk(path, *first), path)
    assert name is not None and name == beginning(dialect, talk(path, *later), path)
    assert name != beginning(dialect, talk(path, *first[:-1], "Use Redis." + rules), path)


def test_what_can_not_be_looked_at_passes(deriving: Served, upstream: Upstream) -> None:
    large, plain = asked("fake-n3", said="x" * 9_000_000), asked("fake-n3")
    packed = (gzip.compress(plain), {"content-encoding": "gzip"}, plain)  # unpacked, to take secrets out of it
    for body, headers, goes in ((large, {}, large), packed, (b"{", {}, b"{")):
        before = deriving.sessions()
        call(deriving.port, "/v1/chat/completions", body, headers)
        assert upstream.calls[-1].body == goes
        assert deriving.sessions() == before


def test_a_long_chat_is_cut_on_its_way(upstream: Upstream, session: str) -> None:
    """The provider gets less and answers; what was cut is told in a block; the model's own name is what counts."""
    said: list[dict[str, str]] = []
    given = {"memory": {"context_window": 2_000}, "models": {"fast": "openai/fake-n3"}}
    with serving(configured(upstream, {"OPENAI_API_KEY": "ours"}, **given)) as served:
        for number in range(12):
            said.append({"role": "user", "content": f"Decided: part {number} uses PostgreSQL. {'Go on. ' * 60}"})
            body = json.dumps({"model": "fast", "messages": said}).encode()
            status, _, reply = call(served.port, "/v1/chat/completions", body, {"x-session-id": session})
            assert status == 200
            said.append(json.loads(reply)["choices"][0]["message"])
            served.memory.flush()
        assert len(served.said(session)) == 24
    last = json.loads(upstream.calls[-1].body)
    assert last["model"] == "fake-n3"
    assert len(last["messages"]) < len(said) - 1
    assert len(upstream.calls[-1].body) < len(body)
    assert upstream.calls[-1].headers["content-length"] == str(len(upstream.calls[-1].body))


SWITCHED = "I switched to a new code base. Please don't consider the above files."
EXAMPLES = ["Change factorial() to use math.", "Done.", SWITCHED, "Ok."]
RULES = "\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block begins with a path."
FILES = "I have *added these files to the chat* so you can go ahead and edit them.\n\nshop.py\nLIMIT = {}\n"
MAP = "Here are summaries of some files present in my git repository.\n\nother.py"


def as_aider(done: list[str], files: str, said: str) -> list[str]:
    """The messages that aider sends: its files stand in front of the newest message, and its rules behind that."""
    beside = [MAP, "Ok, I won't try and edit those files without asking first."]
    ours = [files, "Ok, any changes I propose will be to those files."]
    return [*EXAMPLES, *beside, *done, *ours, said + RULES]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_what_an_agent_sends_beside_the_chat_is_not_recorded_and_stays_at_a_cut(path: str, upstream: Upstream) -> None:
    """Its files are sent in their newest version, its user's messages are recorded once."""
    done: list[str] = []
    environ = {"OPENAI_API_KEY": "ours", "ANTHROPIC_API_KEY": "ours"}
    with serving(configured(upstream, environ, memory={"context_window": 2_000})) as served:
        for number in range(12):
            said = f"Decided: part {number} uses PostgreSQL. {'Go on. ' * 60}"
            messages = as_aider(done, FILES.format(number), said)
            body = json.loads(talk(path, *messages)) | {"model": "fake-n3"}
            status, _, reply = call(served.port, path, json.dumps(body).encode())
            assert status == 200
            answered = json.loads(reply)
            text = answered["content"][0] if path == "/v1/messages" else answered["choices"][0]["message"]
            done += [said, text.get("text") or text["content"], "I updated the files.", "Ok."]
            sent = upstream.calls[-1].body.decode()
            assert [sent.count(one) for one in (f"LIMIT = {number}\\n", "LIMIT = ", "git repository")] == [1, 1, 1]
        (session,) = served.sessions()
        recorded = [text for role, text in served.said(session) if role == "user"]
        assert served.memory.counters()["cut_made"] >= 1
    assert [text for text in recorded if text.startswith("Decided")] == [f"{done[at]}{RULES}" for at in range(0, 48, 4)]
    assert set(recorded) - {f"{text}{RULES}" for text in done} == {"I updated the files."}
    block = sent.partition("<session-record")[2].partition("</session")[0]
    assert block and "I propose" not in block
