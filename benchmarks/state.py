"""What is still known of long chats at their end: rules, preferences, stated facts and their updates.

The chats and probes are those of BEAM (100K), read from ``beam`` below TOKENMIZER_CORPUS; they are not part of this
repository.

- State recall is the mean of four shares: facts whose values the block contains, updated facts whose newest value it
  contains, preferences and standing rules of which one of its lines contains most words.
- Updated facts: those whose earlier value can be found in the message that gave it, and whose newest value some
  message states. What is recalled for the question is *clean* (the new value alone), *ordered* (the new value comes
  first in a text that says that it is in that order, or the old one is marked as earlier), *unordered*, or *stale*
  (the old value alone).
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.recall import PassageIndex, recall
from tokenmizer_mw.context.resume import build_resume
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for
from tokenmizer_mw.wire.messages import history

from .blocks import RESUMES, bm25
from .labelled import VARIABLE
from .measure import at_least, at_most
from .probes import QUARTERS, content, covers, sentences, states, values, words

BUDGETS: Final = (100, 300, 600, 2_000)
RECALL_BUDGET: Final = 300
_NONCE: Final = nonce_for(b"benchmark", SessionKey("local", "state"), "checkpoint-1")
_MARKS: Final = (", was ", "(old; ", "(later [", "no longer")
_NEWEST_FIRST: Final = "Newest first"
_DIGITS: Final = re.compile(r"[\d.,]+")


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about a chat, or something that its user wants.

    - ``kind``: fact, update, preference or rule.
    - ``wanted``: the values of its answer; ``old``: the value before an update, "" if it cannot be found or no message
      states the newest value.
    - ``text``: the preference or rule; "" for the other kinds.
    """

    kind: str
    question: str = ""
    wanted: tuple[str, ...] = ()
    old: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Chat:
    """A chat with its probes."""

    name: str
    turns: Sequence[Mapping[str, Any]]
    probes: Sequence[Probe]


def run() -> dict[str, Any]:
    found = chats()
    if not found:
        return {"figures": {}, "bars": [], "notes": f"Not run: no folder beam below {VARIABLE}."}
    graphs = {chat.name: graph_of(chat) for chat in found}

    def block(chat: Chat, budget: int) -> str:
        return build_resume(
            graphs[chat.name],
            budget=budget,
            counter=QUARTERS,
            nonce=_NONCE,
            turn=len(chat.turns),
            transcript=_transcript(chat),
        ).text

    ways = {"tokenmizer-mw": block} | {name: _of_turns(way) for name, way in RESUMES.items()}
    resumed = {name: {budget: recalled(found, way, budget) for budget in BUDGETS} for name, way in ways.items()}
    asked = {
        "tokenmizer-mw": updates(found, lambda chat, question: _recall(graphs[chat.name], chat, question)),
        "bm25": updates(found, lambda chat, question: bm25(chat.turns, RECALL_BUDGET, question)),
    }
    return {"figures": {"resume": resumed, "updates": asked}, "bars": bars(resumed, asked), "notes": __doc__}


def bars(resumed: Mapping[str, Any], asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    ours, told = resumed["tokenmizer-mw"], asked["tokenmizer-mw"]
    known = told["clean"] + told["ordered"]
    return [
        at_least("state recall at 300 tokens", ours[300]["state_percent"], 25, "%", 1),
        at_least("state recall at 600 tokens", ours[600]["state_percent"], 45, "%", 1),
        at_least("standing rules in the 600-token block", ours[600]["rule"] * 100, 90, "%", 1),
        at_most("updated facts recalled in 300 tokens by their earlier value alone", told["stale"] * 100, 5, "%", 1),
        at_least("updated facts recalled clean or in order", known * 100, 60, "%", 1),
    ]


def chats() -> list[Chat]:
    """Return the chats below the folders of TOKENMIZER_CORPUS, ordered by number; [] if there are none."""
    folders = [Path(folder) / "beam" for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
    paths = sorted((path for folder in folders for path in folder.glob("*.json")), key=lambda path: int(path.stem))
    return [_chat(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def _chat(name: str, raw: Mapping[str, Any]) -> Chat:
    texts = {turn["id"]: turn["content"] for turn in raw["turns"]}
    return Chat(name, raw["turns"], list(_probes(raw["probes"], texts)))


def _probes(raw: Mapping[str, Any], texts: Mapping[int, str]) -> Iterator[Probe]:
    for one in raw["information_extraction"]:
        if wanted := values(one["answer"], one["question"]):
            yield Probe("fact", one["question"], tuple(wanted))
    for one in raw["knowledge_update"]:
        if wanted := values(one["answer"], one["question"]):
            ids = one["source_chat_ids"].get("original_info") or []
            said = " ".join(texts.get(id, "") for id in (ids if isinstance(ids, list) else [ids]))
            told = any(states(text, wanted, one["question"], 1) for text in texts.values())
            old = earlier(said, wanted, one["question"]) if told else ""
            yield Probe("update", one["question"], tuple(wanted), old)
    for one in raw["preference_following"]:
        yield Probe("preference", text=one["preference_being_tested"])
    for one in raw["instruction_following"]:
        yield Probe("rule", text=one["instruction_being_tested"])


def earlier(said: str, wanted: Sequence[str], question: str) -> str:
    """Return the earlier value of an update: a value with the same form as the newest number, in the sentence of
    ``said`` that shares most words with the question (at least two); "" if there is none."""
    numbers = [value for value in wanted if any(char.isdigit() for char in value)]
    asked = set(content(question))
    best, most = "", 1
    for sentence in sentences(said):
        shared = len(asked & set(content(sentence)))
        like = [one for one in values(sentence) if numbers and _shape(one) == _shape(numbers[-1]) and one not in wanted]
        if like and shared > most:
            best, most = like[0], shared
    return best


def _shape(value: str) -> str:
    return _DIGITS.sub("#", value)


def graph_of(chat: Chat) -> SessionGraph:
    """Return the graph at the end of a chat."""
    memory = SessionMemory.open("memory://", Settings())
    turns = [{"role": turn["role"], "content": turn["content"]} for turn in chat.turns]
    for end in range(2, len(turns) + 2, 2):
        memory.record("chat", turns[:end])
    graph = memory.graph("chat")
    memory.close()
    return graph


def _transcript(chat: Chat) -> list[tuple[int, Message]]:
    return list(enumerate(history([{"role": t["role"], "content": t["content"]} for t in chat.turns]), 1))


def _of_turns(way: Callable[[Any, int], str]) -> Callable[[Chat, int], str]:
    return lambda chat, budget: way(chat.turns, budget)


def recalled(found: Sequence[Chat], way: Callable[[Chat, int], str], budget: int) -> dict[str, float]:
    """Return the share of each kind of probe that the text of ``way`` answers, and the mean of these shares in
    percent."""
    told: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for chat in found:
        text = way(chat, budget)
        for probe in chat.probes:
            asked[probe.kind] += 1
            told[probe.kind] += _answers(text, probe)
    shares = {kind: told[kind] / asked[kind] for kind in asked}
    return {**shares, "state_percent": 100 * sum(shares.values()) / len(shares)}


def _answers(text: str, probe: Probe) -> bool:
    return covers(text, probe.text) if probe.text else states(text, list(probe.wanted), probe.question)


def _recall(graph: SessionGraph, chat: Chat, question: str) -> str:
    return recall(graph, question, budget=RECALL_BUDGET, counter=QUARTERS, passages=_index_of(chat)).text


@cache
def _index_of(chat: Chat) -> PassageIndex:
    index = PassageIndex()
    for number, turn in enumerate(chat.turns, 1):
        index.add(number, turn["role"], turn["content"])
    return index


def updates(found: Sequence[Chat], ask: Callable[[Chat, str], str]) -> dict[str, float]:
    """Return the shares of updated facts that the text of ``ask`` states in each way (see ``told_as``), and their
    number."""
    seen: Counter[str] = Counter()
    for chat in found:
        for probe in chat.probes:
            if probe.old:
                seen[told_as(ask(chat, probe.question), probe)] += 1
    total = sum(seen.values())
    shares = {kind: seen[kind] / total for kind in ("clean", "ordered", "unordered", "stale", "none")}
    return {**shares, "updates": total}


def told_as(text: str, probe: Probe) -> str:
    """Return how a text states an updated fact: "clean" (the new value alone), "ordered" (both, and one can see which
    is newer), "unordered" (both), "stale" (the old value alone) or "none"."""
    new, old = (states(text, list(one), probe.question, 1) for one in (probe.wanted, (probe.old,)))
    if not (new and old):
        return "clean" if new else "stale" if old else "none"
    lines = [(line, words(line)) for line in text.splitlines()]
    fresh = [at for at, (_, said) in enumerate(lines) if all(_in(said, value) for value in probe.wanted)]
    spent = [at for at, (_, said) in enumerate(lines) if probe.old in said and at not in fresh]
    marked = [at for at in spent if any(mark in lines[at][0] for mark in _MARKS)]
    behind = [at for at in spent if fresh and at > fresh[0]] if _is_ordered(lines) else []
    return "ordered" if all(at in marked or at in behind for at in spent) else "unordered"


def _in(said: Sequence[str], value: str) -> bool:
    return any(value in word for word in said)


def _is_ordered(lines: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Whether a text says that it is ordered from new to old."""
    return any(line.startswith(_NEWEST_FIRST) for line, _ in lines)
