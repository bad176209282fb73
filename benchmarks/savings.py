"""What input costs with and without the middleware, if the client's provider caches prompts.

Conversations are sent call by call through the real middleware to a simulated provider, which bills input by the
published caching rules of the providers (``benchmarks/savings_provider.py``). They are also sent directly to another
one, by a client that resends its whole history and uses the cache as well as it can. A figure is the cost with the
middleware divided by the cost without it, after 10, 40, 150 and 300 calls, and the worst after any call.

- A call is a request and its reply. Several calls of an agent make up a turn of the user; nothing is cut within a
  turn.
- ``chats``: those of BEAM (100K). ``agents``: real transcripts of coding agents. Both are below TOKENMIZER_CORPUS and
  not part of the repository. If a session is too short, others follow in the same conversation. The costs of three
  agent conversations are added up, which begin at evenly spaced places of the set.
- ``short``: generated sessions with about 60 tokens per message; cuts cannot save anything there, and must not cost
  more.
- ``economy`` (``Settings.cut``) cuts when that saves money; ``window``, the default, when the model's window is full.
  The figures of the bars are those of ``economy``.
- Development data: when a cut is taken to save money was chosen with these conversations in view.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware

from .conversations import WRITERS, Answered, Asked, Called, Item, Returned, Told
from .labelled import corpora
from .measure import at_most
from .savings_provider import Provider, Rules
from .sessions import long_session
from .state import chats

LENGTHS: Final = (10, 40, 150, 300)
BARS: Final = {10: 1.02, 40: 0.95, 150: 0.80, 300: 0.50}
CONVERSATIONS: Final = 3
"""How many conversations of agents, which differ most, are sent. Of each other family, one is sent."""
AGENTS: Final = "agents"
TRANSCRIPTS: Final = "real_dev"
LONG: Final = ("chats", AGENTS)
PROCESSES: Final = 3

PROVIDERS: Final = {
    "anthropic": Rules("marked", "claude-sonnet-4-5"),
    "openai": Rules("automatic", "gpt-5.1", write=1.0, step=128),
    "openai-5.6": Rules("latest", "gpt-5.6", seconds=1_800.0),
    "gemini": Rules("automatic", "gemini-2.5-pro", write=1.0, least=2_048),
}
CHEAP_READS: Final = {"anthropic, reads at 0.05": Rules("marked", "claude-sonnet-5-5", read=0.05)}
"""Providers with an even lower price for cached input. Their figures have no bar."""

_DIALECTS: Final = {"anthropic": "anthropic", "openai": "openai_chat", "gemini": "gemini"}
_SYSTEM: Final = "\n".join(
    f"{number}. {text}"
    for number, text in enumerate(
        (
            "You work in a repository together with its owner. Read a file before you change it.",
            "Say in one sentence what you are about to do, and do it.",
            "Run the tests that cover a change, and show the last lines of what they print.",
            "When a command fails, look at its output before you try another one.",
            "Ask before you delete anything that is not under version control.",
            "Keep answers short; put code in blocks with the name of its language.",
            "Where a choice was made before, stay with it unless the owner says otherwise.",
            "Write dates as year-month-day and sizes in bytes.",
        )
        * 8,
        1,
    )
)
"""A system prompt of about 1,300 tokens, as small agents have."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The sum of costs after each call, in tokens of fresh input, without (``client``) and with the middleware
    (``ours``), and the number of cuts."""

    client: list[float]
    ours: list[float]
    cuts: int


Job = tuple[str, Sequence[Item], Rules, Settings]
"""The name under which a conversation is counted, its items, the provider's rules and the settings."""


def run() -> dict[str, Any]:
    jobs = list(_jobs())
    with ProcessPoolExecutor(max_workers=PROCESSES) as pool:
        done = zip(jobs, pool.map(_sent, jobs), strict=True)
        costs: dict[str, list[Costs]] = {}
        for (name, *_), cost in done:
            costs.setdefault(name, []).append(cost)
    figures = {name: ratios(found) for name, found in costs.items()}
    return {"figures": figures, "bars": list(_bars(figures)), "notes": __doc__}


def _sent(job: Job) -> Costs:
    return replay(*job[1:])


def _jobs() -> Iterator[Job]:
    economy, window = Settings(cut="economy"), Settings()
    for family, conversations in families().items():
        some = conversations[: CONVERSATIONS if family == AGENTS else 1]
        for provider, rules in PROVIDERS.items():
            yield from ((f"{provider}: {family}", items, rules, economy) for items in some)
        for items in some[:1]:
            for provider, rules in CHEAP_READS.items():
                yield f"{provider}: {family}", items, rules, economy
            yield f"anthropic, window: {family}", items, PROVIDERS["anthropic"], window


def _bars(figures: Mapping[str, Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    for name, found in figures.items():
        provider, _, family = name.partition(": ")
        if provider not in PROVIDERS:
            continue
        for length in LENGTHS:
            if family in LONG:
                yield at_most(f"{name}, {length} calls", found[str(length)], BARS[length], digits=2)
        yield at_most(f"{name}, after any call", found["any"], BARS[10], digits=2)


def ratios(costs: Sequence[Costs]) -> dict[str, float]:
    """Return cost with the middleware divided by cost without it: of the sums over all conversations after each of
    ``LENGTHS`` calls, and the highest of one conversation after any call ("any"). "cuts": mean number of cuts."""
    found = {
        str(length): round(sum(one.ours[length - 1] for one in costs) / sum(one.client[length - 1] for one in costs), 3)
        for length in LENGTHS
        if all(len(one.client) >= length for one in costs)
    }
    pairs = [pair for one in costs for pair in zip(one.client, one.ours, strict=True)]
    worst = max(ours / client for client, ours in pairs)
    return {**found, "any": round(worst, 3), "cuts": round(sum(one.cuts for one in costs) / len(costs), 1)}


Look = Callable[[bytes, bytes, Answered], object]
"""Function called for each call with the body that the client sent, the body that was forwarded, and the answer. Its
result is not used."""


def replay(items: Sequence[Item], rules: Rules, settings: Settings, look: Look | None = None) -> Costs:
    """Send a conversation with and without the middleware, and return the costs."""
    return asyncio.run(_replayed(items, rules, settings, look))


async def _replayed(items: Sequence[Item], rules: Rules, settings: Settings, look: Look | None) -> Costs:
    memory = SessionMemory.open("memory://", settings)
    direct, behind = Provider(rules), Provider(rules)
    speaks = _spoken(rules.model)
    answer = passed = b""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal passed
        pieces, more = [], True
        while more:
            message = await receive()
            pieces.append(message["body"])
            more = message["more_body"]
        passed = b"".join(pieces)
        costs.ours.append(_sum(costs.ours) + behind.bill(json.loads(passed)).cost(rules))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer, "more_body": False})

    door = TokenMizerMiddleware(app, memory=memory)
    costs = Costs([], [], 0)
    for place, item in enumerate(items):
        if not isinstance(item, Answered):
            continue
        body, answer = speaks.request(items[:place]), speaks.reply(item)
        costs.client.append(_sum(costs.client) + direct.bill(json.loads(body)).cost(rules))
        await _call(door, speaks.path, body)
        if look is not None:
            look(body, passed, item)
    memory.close()
    return replace(costs, cuts=memory.counters().get("cut_made", 0))


def _sum(so_far: Sequence[float]) -> float:
    return so_far[-1] if so_far else 0.0


async def _call(app: Any, path: str, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"x-session-id", b"s")]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        pass

    await app(scope, receive, send)


# -- dialects --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spoken:
    """How a client of a dialect writes its requests, and its provider its replies."""

    path: str
    request: Callable[[Sequence[Item]], bytes]
    reply: Callable[[Answered], bytes]


def _spoken(model: str) -> Spoken:
    name = "anthropic" if model.startswith("claude") else "gemini" if model.startswith("gemini") else "openai_chat"
    return _SPOKEN[name](model)


def _anthropic(model: str) -> Spoken:
    writer = WRITERS["anthropic"]
    mark = {"cache_control": {"type": "ephemeral"}}

    def request(items: Sequence[Item]) -> bytes:
        messages = [element for item in items for element in writer.spell(item)]
        last = messages[-1]["content"]
        messages[-1] = {**messages[-1], "content": [*last[:-1], {**last[-1], **mark}]}
        system = [{"type": "text", "text": _SYSTEM, **mark}]
        return _written({"model": model, "max_tokens": 500, "system": system, "messages": messages})

    def reply(item: Answered) -> bytes:
        (message,) = writer.spell(item)
        stop = "tool_use" if item.calls else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        return _written(
            {"id": "msg_1", "type": "message", "model": model, "stop_reason": stop, "usage": usage} | message
        )

    return Spoken(writer.path, request, reply)


def _openai(model: str) -> Spoken:
    writer = WRITERS["openai_chat"]

    def request(items: Sequence[Item]) -> bytes:
        messages = [element for item in (Told(_SYSTEM), *items) for element in writer.spell(item)]
        return _written({"model": model, "messages": messages})

    def reply(item: Answered) -> bytes:
        (message,) = writer.spell(item)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if item.calls else "stop"}
        return _written({"id": "c1", "object": "chat.completion", "model": model, "choices": [choice]})

    return Spoken(writer.path, request, reply)


def _gemini(model: str) -> Spoken:
    writer = WRITERS["gemini"]

    def request(items: Sequence[Item]) -> bytes:
        contents = [element for item in items for element in writer.spell(item)]
        return _written({"systemInstruction": {"parts": [{"text": _SYSTEM}]}, "contents": contents})

    def reply(item: Answered) -> bytes:
        (content,) = writer.spell(item)
        return _written({"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}]})

    return Spoken(f"/v1beta/models/{model}:generateContent", request, reply)


_SPOKEN: Final = {"anthropic": _anthropic, "openai_chat": _openai, "gemini": _gemini}


def _written(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


# -- conversations ---------------------------------------------------------------------------------------------


def families() -> dict[str, list[list[Item]]]:
    """Return conversations by family; [] for a family whose corpus is not available."""
    sources = {
        "chats": [chat.turns for chat in chats()],
        AGENTS: [one.turns for corpus in corpora() if corpus.name == TRANSCRIPTS for one in corpus.sessions],
    }
    found = {
        name: [_joined([*some[at:], *some[:at]]) for at in range(0, len(some), max(1, len(some) // CONVERSATIONS))]
        for name, some in sources.items()
    }
    ours = [long_session(2 * LENGTHS[-1] + 20, seed=seed).messages for seed in range(1, CONVERSATIONS + 1)]
    return {**{name: some[:CONVERSATIONS] for name, some in found.items()}, "short": [_joined([one]) for one in ours]}


def _joined(sessions: Sequence[Sequence[Mapping[str, Any]]]) -> list[Item]:
    """The items of the sessions one after the other, up to the last call that is measured."""
    items: list[Item] = []
    calls = 0
    for session in sessions:
        for item in _items(session):
            if isinstance(item, Answered):
                calls += 1
            items.append(item)
            if calls == LENGTHS[-1]:
                return items
    return items


def _items(turns: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    """The items of a session of the corpus, from the first message of its user on. Tool calls without a result are left
    out, as a client would do."""
    first = next((place for place, turn in enumerate(turns) if turn["role"] == "user"), len(turns))
    turns = turns[first:]
    answered = {turn.get("tool_call_id") for turn in turns if turn["role"] == "tool"}
    called: dict[str, Called] = {}
    results: list[tuple[Called, str]] = []
    for turn in turns:
        text = str(turn.get("content") or "")
        if turn["role"] == "tool":
            call = called.get(str(turn.get("tool_call_id")))
            if call is not None:
                results.append((call, text or "-"))
            else:
                yield Asked(text or "-")
            continue
        if results:
            yield Returned(tuple(results))
            results = []
        if turn["role"] == "assistant":
            calls = [_call_of(raw) for raw in turn.get("tool_calls") or () if _id(raw) in answered]
            called.update({call.id: call for call in calls})
            yield Answered(text or ("" if calls else "-"), calls=tuple(calls))
        else:
            yield Asked(text or "-")
    if results:
        yield Returned(tuple(results))


def _id(raw: Mapping[str, Any]) -> str:
    return str(raw.get("id"))


def _call_of(raw: Mapping[str, Any]) -> Called:
    function = raw.get("function", raw)
    given = function.get("arguments")
    arguments = json.loads(given) if isinstance(given, str) else given
    return Called(_id(raw), str(function["name"]), arguments if isinstance(arguments, dict) else {"value": arguments})
