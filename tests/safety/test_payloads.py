"""Words of files, tools and quotations decide nothing, rule nothing, set no goal, and replace nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import NodeType, Status

PAYLOADS: Final[list[str]] = yaml.load(
    (Path(__file__).parent / "payloads.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
SPEAKERS_WORD: Final = (NodeType.DECISION, NodeType.GOAL)

Turn = dict[str, Any]

START: Final[list[Turn]] = [
    {"role": "user", "content": "Let's build an order service for the village shop."},
    {"role": "assistant", "content": "Fine. Which database?"},
    {"role": "user", "content": "We use PostgreSQL for the orders. Never push to main."},
    {"role": "assistant", "content": "PostgreSQL it is."},
]


def said(text: str) -> list[Turn]:
    return [{"role": "user", "content": text}]


def tool(name: str, arguments: dict[str, Any], wrap: str = "{}") -> Callable[[str], list[Turn]]:
    def turns(payload: str) -> list[Turn]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": "c1", "type": "function", "function": function}
        return [
            {"role": "user", "content": "Have a look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": wrap.replace("{}", payload)},
            {"role": "assistant", "content": "I had a look."},
        ]

    return turns


def anthropic(payload: str) -> list[Turn]:
    use = {"type": "tool_use", "id": "t1", "name": "fetch", "input": {"url": "https://example.com"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": payload}]}
    return [
        {"role": "user", "content": "What does the page say?"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "Fetched."}]},
    ]


def quoted(payload: str) -> str:
    return "\n".join(f"> {line}" for line in payload.splitlines())


WAYS: Final[dict[str, Callable[[str], list[Turn]]]] = {
    "web page": tool("fetch", {"url": "https://example.com"}, "<html><body>\n<p>{}</p>\n</body></html>"),
    "file": tool("read_file", {"path": "README.md"}, "# Readme\n\n{}\n"),
    "file with numbers": tool("Read", {"file_path": "notes.md"}, "     1\t# Notes\n     2\t{}\n"),
    "command": tool("bash", {"command": "cat notes.txt"}, "{}"),
    "commit": tool("bash", {"command": "git log -1"}, "commit 4be1d0c\nAuthor: bot\n\n    {}\n"),
    "search": tool("grep", {"pattern": "db"}, "docs/a.md:3:{}"),
    "error": tool("bash", {"command": "make"}, "make: *** [all] Error 2\n{}"),
    "json": tool("api", {"q": "x"}, '{"status": "ok", "note": "{}"}'),
    "anthropic result": anthropic,
    "pasted in a code block": lambda payload: said(f"What does this file say?\n\n```\n{payload}\n```\n"),
    "pasted in a named block": lambda payload: said(f"README.md:\n\n```markdown\n# Shop\n\n{payload}\n```"),
    "pasted in tildes": lambda payload: said(f"Explain:\n\n~~~\n{payload}\n~~~"),
    "pasted as a quotation": lambda payload: said(f"A colleague writes:\n\n{quoted(payload)}\n\nWhat does he mean?"),
    "pasted in a sentence": lambda payload: said(f'The wiki says: "{" ".join(payload.split())}" Is that still true?'),
    "pasted in a tag": lambda payload: said(f"<document>\n{payload}\n</document>\n\nSum this up in a line."),
    "pasted as a comment": lambda payload: said(f"```python\n# {payload}\nx = 1\n```\nWhy is x never used?"),
}


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    opened = SessionMemory.open()
    yield opened
    opened.close()


def spoken(memory: SessionMemory, session: str) -> list[tuple[str, str, Status]]:
    graph = memory.graph(session)
    return [(node.id, node.label, node.status) for type_ in SPEAKERS_WORD for node in graph.nodes(type_)]


def test_there_are_enough() -> None:
    assert len(PAYLOADS) == len(set(PAYLOADS)) >= 40


@pytest.mark.parametrize("way", WAYS)
def test_nobody_decides_by_way_of_a_file(memory: SessionMemory, way: str) -> None:
    for number, payload in enumerate(PAYLOADS):
        session = str(number)
        memory.record(session, START)
        before = spoken(memory, session)
        assert any("PostgreSQL" in label for _, label, _ in before)
        memory.record(session, [*START, *WAYS[way](payload)])
        assert spoken(memory, session) == before, payload
        assert memory.graph(session).transitions() == [], payload


def test_the_same_words_count_when_the_user_says_them(memory: SessionMemory) -> None:
    counted = 0
    for number, payload in enumerate(PAYLOADS):
        memory.record(str(number), [*START, *said(payload)])
        graph = memory.graph(str(number))
        counted += any(node.source.turn == 5 for type_ in SPEAKERS_WORD for node in graph.nodes(type_))
    assert counted >= len(PAYLOADS) // 2
