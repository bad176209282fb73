"""Whatever one part of a request is changed into: its answer is not the one that was kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cache.chats import QUESTION, SAME, Application, call, way
from tests.sampling import examples
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.settings import Settings

WORDS = st.text("abcXYZ 019.-é", min_size=1, max_size=8).filter(str.strip)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "tenant": st.text("abc", min_size=1, max_size=3),
    "path": st.sampled_from(["/v1", "/v2", "/eu/v1"]),
    "query": st.text("ab=&", max_size=4),
    "headers": st.lists(
        st.tuples(
            st.sampled_from(["x-role", "X-Forwarded-Host", "authorization", "cookie"]), st.text("ab", max_size=2)
        ),
        max_size=4,
    ),
    "parameters": st.fixed_dictionaries(
        {},
        optional={
            "model": WORDS,
            "seed": st.integers(0, 9),
            "top_p": st.sampled_from([0.1, 0.5]),
            "stop": st.lists(WORDS, max_size=2),
            "response_format": st.sampled_from([{"type": "text"}, {"type": "json_object"}]),
            "anything": st.none() | st.booleans() | WORDS,
        },
    ),
    "tools": st.lists(WORDS, max_size=2),
    "system": WORDS,
    "earlier": st.lists(st.tuples(WORDS, WORDS), max_size=2),
}


@dataclass(frozen=True)
class Sent:
    """A request by its parts."""

    tenant: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    parameters: Mapping[str, Any]
    tools: list[str]
    system: str
    earlier: list[tuple[str, str]]

    def body(self, question: str) -> bytes:
        told = [{"role": "system", "content": self.system}]
        for asked, answered in self.earlier:
            told += [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
        tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in self.tools]
        last = {"role": "user", "content": question}
        return json.dumps({"stream": True, "tools": tools, **self.parameters, "messages": [*told, last]}).encode()

    def told(self) -> list[tuple[str, str]]:
        """Its headers, those of other names in any order."""
        return sorted(((name.lower(), value) for name, value in self.headers), key=lambda one: one[0])

    async def ask(self, memory: SessionMemory, question: str) -> str:
        found = await call(
            memory,
            Application(),
            self.body(question),
            path=f"{self.path}/chat/completions",
            tenant=self.tenant,
            query=self.query.encode(),
            headers=[(name.encode(), value.encode()) for name, value in self.headers],
        )
        return way(found)


def alike(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0, 0.0] for _ in texts]


@pytest.mark.parametrize("kind", ["exact", "semantic"])
@examples(60)
@given(sent=st.builds(Sent, **PARTS), part=st.sampled_from(sorted(PARTS)), data=st.data())
def test_no_part_may_change(kind: str, sent: Sent, part: str, data: st.DataObject) -> None:
    """In the widest scope, with an embedder that finds all texts alike, and a question of the same meaning."""
    value = data.draw(PARTS[part])
    other = replace(sent, **{part: value})
    question = SAME if kind == "semantic" else QUESTION

    async def asked() -> list[str]:
        memory = SessionMemory.open("memory://", Settings(cache=kind, cache_scope="tenant"), embed=alike)
        try:
            first = await sent.ask(memory, QUESTION)
            return [first, await other.ask(memory, question), await sent.ask(memory, QUESTION)]
        finally:
            memory.close()

    same = replace(other, headers=[]) == replace(sent, headers=[]) and other.told() == sent.told()
    assert asyncio.run(asked()) == ["", f"hit; {kind}" if same else "", "hit; exact"]
