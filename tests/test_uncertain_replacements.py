"""Texts of the library say "perhaps" of a replacement that only the statistical comparison found, and of no other.

The command line, REST, MCP and the dashboard are tested in their own folders, on the same chat.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from rich.console import Console

from tests.uncertain import CERTAIN, NEW, OLD, UNCERTAIN
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.graph.explanation import Why
from tokenmizer_mw.graph.export.documents import notebook, outline
from tokenmizer_mw.graph.export.svg import draw


@pytest.fixture(scope="module")
def memory() -> Iterator[SessionMemory]:
    """A memory with the sessions "uncertain" and "certain"."""
    with closing(SessionMemory.open("memory://")) as memory:
        memory.record("uncertain", UNCERTAIN)
        memory.record("certain", CERTAIN)
        yield memory


def find_why(memory: SessionMemory, session: str, text: str) -> Why:
    found = memory.why(session, text)
    assert found is not None
    return found


def print_tree(memory: SessionMemory, session: str) -> str:
    out = io.StringIO()
    Console(file=out, width=300).print(memory.graph(session))
    return out.getvalue()


def canvas_words(memory: SessionMemory, session: str) -> str:
    return " ".join(edge["label"] for edge in json.loads(memory.export(session, "canvas"))["edges"])


def d3_words(memory: SessionMemory, session: str) -> str:
    return " ".join(link["label"] for link in json.loads(memory.export(session, "d3"))["links"])


Read = Callable[[SessionMemory, str], str]
TEXTS: dict[str, tuple[Read, list[str]]] = {
    "resume": (lambda memory, session: memory.resume(session).text, [f"(was perhaps {OLD}"]),
    "recall": (
        lambda memory, session: memory.recall(session, "Which host?").text,
        [f", was perhaps {OLD} [3]", f"({OLD}: perhaps replaced in [5] by {NEW})"],
    ),
    "why": (
        lambda memory, session: find_why(memory, session, "Hetzner").text,
        [f"{OLD} (perhaps replaced) -> {NEW}"],
    ),
    "why of the replaced fact": (
        lambda memory, session: find_why(memory, session, OLD).text,
        [f"{OLD} (perhaps replaced) -> {NEW}"],
    ),
    "markdown": (
        lambda memory, session: memory.export(session, "markdown"),
        [
            f"  - perhaps replaced: {OLD}",
            f"  - perhaps replaced by: {NEW}",
            f"- message 5: {OLD} (perhaps replaced) \u2192 {NEW}",
            f"- {NEW} *perhaps replaces* {OLD}",
        ],
    ),
    "html": (lambda memory, session: memory.export(session, "html"), ["</a> perhaps replaced by <span"]),
    "mermaid": (
        lambda memory, session: memory.export(session, "mermaid"),
        ['n_decision_2 ==>|"perhaps replaces"| n_decision_1'],
    ),
    "canvas": (canvas_words, ["perhaps replaces"]),
    "d3": (d3_words, ["perhaps replaces"]),
    "drawing": (lambda memory, session: draw(memory.graph(session), words=True), [">perhaps replaces</text>"]),
    "notebook": (lambda memory, session: notebook(memory.graph(session)), [f"{NEW} perhaps replaces "]),
    "outline": (
        lambda memory, session: "\n".join(outline(memory.graph(session))),
        [f"       perhaps replaced {OLD} (#5)"],
    ),
    "tree": (print_tree, [f"perhaps replaced {OLD} in message 5"]),
}


@pytest.mark.parametrize(("read", "said"), TEXTS.values(), ids=TEXTS)
def test_a_text_says_perhaps_where_the_replacement_is_uncertain(
    memory: SessionMemory, read: Read, said: list[str]
) -> None:
    text = read(memory, "uncertain")
    assert [words for words in said if words not in text] == []
    assert "perhaps" not in read(memory, "certain")


def test_the_explanation_as_values_says_which_replacement_is_uncertain(memory: SessionMemory) -> None:
    for session, uncertain in (("uncertain", True), ("certain", False)):
        values = [find_why(memory, session, text).to_dict() for text in ("Hetzner", OLD)]
        steps = [*values[0]["chain"], *values[1]["successors"]]
        assert [step["replaces_perhaps"] for step in steps] == [uncertain, uncertain]


def test_a_pinned_fact_replaces_for_certain(memory: SessionMemory) -> None:
    memory.record("pinned", UNCERTAIN)
    memory.pin("pinned", find_why(memory, "pinned", "Hetzner").node.id)
    assert "perhaps" not in find_why(memory, "pinned", "Hetzner").text
    assert "perhaps" not in memory.export("pinned", "markdown")
