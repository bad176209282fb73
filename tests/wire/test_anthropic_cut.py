"""Long conversations through memory and dialect, against a provider that checks what Anthropic checks."""

import hashlib
import json
import random
from typing import Any

import pytest

from tests.sampling import covering
from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects.anthropic import Anthropic

from .golden_anthropic import message

MARKERS_MAX = 4
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
WORDS = ["the", "port", "of", "a", "service", "changes", "and", "then", "every", "test", "runs", "again", "on", "it"]
FILES = ("app.py", "store.py", "wire.py")


def unmarked(value: Any) -> Any:
    """A value without markers for the prompt cache."""
    if isinstance(value, dict):
        return {name: unmarked(member) for name, member in value.items() if name != "cache_control"}
    return [unmarked(each) for each in value] if isinstance(value, list) else value


def prompt(sent: Any) -> list[Any]:
    told = sent.get("system", [])
    return [{"type": "text", "text": told}] if isinstance(told, str) else told


def signature(sent: Any, place: int, block: int) -> str:
    """What a thinking block is bound to: everything that stands before it, markers aside."""
    before = [prompt(sent), sent["messages"][:place], block]
    return hashlib.sha256(json.dumps(unmarked(before), sort_keys=True).encode()).hexdigest()[:16]


class Provider:
    """Answers as a script says, and refuses what Anthropic refuses."""

    def __init__(self, *, binds: bool) -> None:
        self._binds = binds

    def __call__(self, sent: Any, answer: list[dict[str, Any]]) -> dict[str, Any]:
        """The reply to a request, its thinking signed."""
        self._check_order(sent["messages"])
        assert sum(1 for _ in marks(sent)) <= MARKERS_MAX
        assert all(block["text"].strip() for block in prompt(sent))
        if self._binds:
            self._check_thinking(sent)
        blocks = [
            {**block, "signature": signature(sent, len(sent["messages"]), place)}
            if block["type"] == "thinking"
            else block
            for place, block in enumerate(answer)
        ]
        return message(*blocks, reason="end_turn")

    @staticmethod
    def _check_order(messages: list[Any]) -> None:
        assert messages[0]["role"] == "user"
        called: set[str] = set()
        for place, each in enumerate(messages):
            if each["role"] == "system":
                assert messages[place - 1]["role"] == "user"
                assert place + 1 == len(messages) or messages[place + 1]["role"] == "assistant"
                continue
            blocks = each["content"] if isinstance(each["content"], list) else []
            answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
            assert answered == called
            called = {block["id"] for block in blocks if block["type"] == "tool_use"}

    @staticmethod
    def _check_thinking(sent: Any) -> None:
        for place, each in enumerate(sent["messages"]):
            for index, block in enumerate(each["content"] if each["role"] == "assistant" else ()):
                if block["type"] == "thinking":
                    assert block["signature"] == signature(sent, place, index), f"messages.{place}.content.{index}"


def marks(value: Any) -> Any:
    if isinstance(value, dict):
        yield from (True for _ in [0] if isinstance(value.get("cache_control"), dict))
        for member in value.values():
            yield from marks(member)
    elif isinstance(value, list):
        for each in value:
            yield from marks(each)


class Client:
    """A chat client that resends its whole history, and marks its newest messages where it is asked to."""

    def __init__(self, model: str, *, marked: int = 0, system: Any = "You help with code.") -> None:
        self._fields = {"model": model, "max_tokens": 1_000, **({"system": system} if system else {})}
        self._marked = marked
        self.history: list[dict[str, Any]] = []

    def body(self) -> bytes:
        users = [place for place, each in enumerate(self.history) if each["role"] == "user"]
        sent = [
            self._mark(each, place in users[-self._marked :] and self._marked > 0)
            for place, each in enumerate(self.history)
        ]
        return json.dumps({**self._fields, "messages": sent}, ensure_ascii=False).encode()

    @staticmethod
    def _mark(each: dict[str, Any], mark: bool) -> dict[str, Any]:
        if not mark:
            return each
        return {**each, "content": [*each["content"][:-1], {**each["content"][-1], **EPHEMERAL}]}


class Session:
    """One session with memory between client and provider."""

    def __init__(self, client: Client, provider: Provider, window: int, dialect: Anthropic) -> None:
        self.memory = SessionMemory.open(
            "memory://",
            Settings(context_window=window, block_tokens=100, reminder_tokens=0, store_wait_seconds=60.0),
        )
        self.sent: list[bytes] = []
        self._key = SessionKey(LOCAL_TENANT, "s")
        self._client = client
        self._provider = provider
        self._dialect = dialect

    def call(self, answer: list[dict[str, Any]]) -> None:
        body = self._client.body()
        opened = open_exchange(
            self._dialect, (), body, self.memory.settings, session_id="s", known=self.memory.service.known
        )
        rewrite, cut = self.memory.service.cuts.prepare(self._key, opened.request)
        forwarding = opened.forward(rewrite)
        self.sent.append(forwarding.forwarded)
        assert len(forwarding.forwarded) <= len(body)
        reply = self._provider(json.loads(forwarding.forwarded), answer)
        forwarding.start_reply(200, [(b"content-type", b"application/json")])
        forwarding.receive(json.dumps(reply).encode())
        forwarding.receive(b"")
        closed = forwarding.close()
        self.memory.service.turns.commit_turn(self._key, closed.request.messages, closed.reply, cut=cut)
        self._client.history.append({"role": "assistant", "content": reply["content"]})


def talk(session: Session, client: Client, turns: int, seed: int, *, thinks: bool, instructs: bool) -> None:
    """Turns of questions and answers, with tools, thinking and instructions between them."""
    draw = random.Random(seed)

    def said(length: int) -> dict[str, Any]:
        return {"type": "text", "text": " ".join(draw.choices(WORDS, k=length))}

    def thinking() -> list[dict[str, Any]]:
        return [{"type": "thinking", "thinking": said(8)["text"]}] * thinks

    for turn in range(turns):
        question = {
            "type": "text",
            "text": f"{turn}: we use port {8000 + turn} for {draw.choice(FILES)}. {said(20)['text']}",
        }
        client.history.append({"role": "user", "content": [question]})
        if instructs and turn % 5 == 3:
            client.history.append({"role": "system", "content": f"Rule {turn}: {said(4)['text']}"})
        for step in range(draw.choice([0, 0, 1, 2])):
            ids = [f"toolu_{turn}_{step}_{number}" for number in range(draw.choice([1, 2]))]
            calls = [{"type": "tool_use", "id": id, "name": "run", "input": {"n": turn}} for id in ids]
            session.call([*thinking(), said(6), *calls])
            results = [{"type": "tool_result", "tool_use_id": id, "content": [said(10)]} for id in ids]
            client.history.append({"role": "user", "content": results})
        session.call([*thinking(), said(20)])


CASES = [
    ("claude-opus-5-5", True, 0, False),
    ("claude-opus-5-5", True, 2, True),
    ("claude-sonnet-4-5", True, 3, True),
    ("claude-sonnet-4-5", False, 0, True),
    ("claude-opus-5-5", False, 1, False),
]


SYSTEMS = ["You help with code.", "", [{"type": "text", "text": "You help.", **EPHEMERAL}]]


@pytest.mark.parametrize(("case", "instructs", "system"), covering(CASES, [True, False], SYSTEMS))
def test_what_is_sent_is_valid_and_its_prefix_stands_between_two_cuts(
    case: tuple[str, bool, int, bool], instructs: bool, system: Any
) -> None:
    model, thinks, marked, mark_block = case
    client = Client(model, marked=marked, system=system)
    provider = Provider(binds=model == "claude-opus-5-5")
    session = Session(client, provider, 1_200, Anthropic(mark_block=mark_block))
    talk(session, client, 40, seed=len(model) + marked, thinks=thinks, instructs=instructs)
    counters = session.memory.counters()
    cuts = counters["cut_made"]
    assert cuts >= 3
    assert counters["request_rewritten"] > cuts
    changes = 0
    for before, after in zip(session.sent, session.sent[1:], strict=False):
        shorter, longer = unmarked(json.loads(before)), unmarked(json.loads(after))
        carried = longer["messages"][: len(shorter["messages"])] == shorter["messages"]
        if shorter.get("system") != longer.get("system") or not carried:
            changes += 1
        elif not marked:
            assert after.startswith(before.removesuffix(b"]}"))
    assert changes == cuts
