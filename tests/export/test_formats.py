"""Each format, read back by somebody else's reader."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import jsonschema
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.browser import mermaid as mermaid_file
from tests.browser import opened, pictures
from tests.export.graphs import ATTACKS, booking, crowd, hostile
from tests.sampling import sample
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.export.formats import FORMATS, format_named
from tokenmizer_mw.graph.export.layout import Box
from tokenmizer_mw.graph.export.text import label_of
from tokenmizer_mw.graph.fold import SessionGraph

EMPTY = SessionGraph()

_SIDE = {"enum": ["top", "right", "bottom", "left"]}
_END = {"enum": ["none", "arrow"]}
_COLOR = {"type": "string", "pattern": "^([1-6]|#[0-9a-fA-F]{6})$"}
_NODE = {
    "id": {"type": "string", "minLength": 1},
    "x": {"type": "integer"},
    "y": {"type": "integer"},
    "width": {"type": "integer", "minimum": 1},
    "height": {"type": "integer", "minimum": 1},
    "color": _COLOR,
}
_PLACED = ["id", "type", "x", "y", "width", "height"]


def _node(kind: str, required: list[str], **more: Any) -> dict[str, Any]:
    properties = {**_NODE, "type": {"const": kind}, **more}
    return {"properties": properties, "required": [*_PLACED, *required], "additionalProperties": False}


CANVAS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "nodes": {
            "type": "array",
            "items": {
                "oneOf": [
                    _node("text", ["text"], text={"type": "string"}),
                    _node("file", ["file"], file={"type": "string"}, subpath={"type": "string", "pattern": "^#"}),
                    _node("link", ["url"], url={"type": "string"}),
                    _node(
                        "group",
                        [],
                        label={"type": "string"},
                        background={"type": "string"},
                        backgroundStyle={"enum": ["cover", "ratio", "repeat"]},
                    ),
                ]
            },
        },
        "edges": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "fromNode", "toNode"],
                "additionalProperties": False,
                "properties": {
                    "id": {"type": "string", "minLength": 1},
                    "fromNode": {"type": "string"},
                    "fromSide": _SIDE,
                    "fromEnd": _END,
                    "toNode": {"type": "string"},
                    "toSide": _SIDE,
                    "toEnd": _END,
                    "color": _COLOR,
                    "label": {"type": "string"},
                },
            },
        },
    },
}
"""The JSON Canvas specification, version 1.0, as a schema."""

GRAPHS = {"booking": booking(), "crowd": crowd(500), "hostile": hostile(), "empty": EMPTY}

each_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


@each_graph
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_the_same_text_each_time_and_can_be_written(graph: SessionGraph, format: str) -> None:
    text = format_named(format).write(graph, title="a session")
    assert text == format_named(format).write(graph, title="a session")
    assert text.encode("utf-8")
    assert text.endswith("\n")


def test_an_unknown_format_names_those_that_there_are() -> None:
    with pytest.raises(CallerError, match="unknown format 'pdf': one of html, markdown, d3"):
        format_named("pdf").write(EMPTY)


@pytest.mark.parametrize("format", FORMATS)
def test_of_a_large_graph_the_most_important_part_is_shown(format: str) -> None:
    graph = crowd(60)
    assert len(format_named(format).write(graph, most=10)) < 0.8 * len(format_named(format).write(graph))


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_that_turns_text_or_steers_a_terminal(format: str) -> None:
    text = format_named(format).write(hostile(), title=ATTACKS[4])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text)


# -- JSON Canvas -------------------------------------------------------------------------------------------------------


@each_graph
def test_a_canvas_is_valid_by_the_specification(graph: SessionGraph) -> None:
    told = json.loads(format_named("canvas").write(graph))
    jsonschema.Draft202012Validator(CANVAS).validate(told)
    ids = [node["id"] for node in told["nodes"]]
    assert len(ids) == len(set(ids)) == len(graph) + len({node.type for node in graph.nodes()})
    assert all(edge["fromNode"] in ids and edge["toNode"] in ids for edge in told["edges"])
    assert len({edge["id"] for edge in told["edges"]}) == len(graph.edges())


@each_graph
def test_cards_of_a_canvas_lie_in_their_groups_and_on_no_other(graph: SessionGraph) -> None:
    nodes = json.loads(format_named("canvas").write(graph))["nodes"]
    kinds = [node["type"] for node in nodes]
    assert kinds == sorted(kinds)  # groups first: what comes later lies on top
    boxes = {node["id"]: Box(node["x"], node["y"], node["width"], node["height"]) for node in nodes}
    groups = {id: box for id, box in boxes.items() if id.startswith("group-")}
    cards = {id: box for id, box in boxes.items() if id not in groups}
    assert not [pair for pair in combinations(cards.values(), 2) if pair[0].meets(pair[1])]
    assert not [pair for pair in combinations(groups.values(), 2) if pair[0].meets(pair[1])]
    assert all(groups[f"group-{node.type.value}"].holds(cards[node.id]) for node in graph.nodes())


def test_a_card_of_a_canvas_tells_what_it_is() -> None:
    nodes = {node["id"]: node for node in json.loads(format_named("canvas").write(booking()))["nodes"]}
    assert nodes["decision-1"]["text"] == (
        "**~~SQLite~~**\\\n\u21b7 choice, replaced, user, message 2\n\n> We use SQLite, it is one file."
    )
    assert nodes["group-decision"]["label"] == "Decisions (5)"


_CARD = """<!doctype html><meta charset="utf-8"><style>
.card{{overflow:auto;box-sizing:border-box;padding:14px 20px;font:16px/24px sans-serif;overflow-wrap:anywhere}}
p,blockquote{{margin:0 0 16px}} blockquote{{padding-left:20px}} .card>:last-child,blockquote>p{{margin-bottom:0}}
</style>{}"""


@pytest.mark.parametrize("name", sample(["booking", "crowd", "hostile"], 2))
def test_what_stands_on_a_card_of_a_canvas_fits(browser: Any, name: str) -> None:
    nodes = [node for node in json.loads(format_named("canvas").write(GRAPHS[name]))["nodes"] if node["type"] == "text"]
    sizes = [(node["width"], node["height"]) for node in nodes]
    written = MarkdownIt("commonmark", {"html": True}).enable("strikethrough")
    with opened(browser) as page:
        page.page.set_content(
            _CARD.format("".join(f'<div class="card">{written.render(n["text"])}</div>' for n in nodes))
        )
        beyond = """sizes => [...document.querySelectorAll('.card')].map((card, place) => {
            card.style.width = `${sizes[place][0]}px`; card.style.height = `${sizes[place][1]}px`;
            return card.scrollHeight > card.clientHeight ? card.innerText : '' }).filter(text => text)"""
        assert page.page.evaluate(beyond, sizes) == []
        assert page.page.evaluate("window.attacked") is None
        page.picture(f"export-canvas-cards-{name}")


# -- D3 ----------------------------------------------------------------------------------------------------------------


@each_graph
def test_d3_links_lead_to_nodes(graph: SessionGraph) -> None:
    told = json.loads(format_named("d3").write(graph, title="hall"))
    assert told["title"] == "hall"
    ids = {node["id"] for node in told["nodes"]}
    assert ids == {node.id for node in graph.nodes()}
    assert all(link["source"] in ids and link["target"] in ids for link in told["links"])
    assert len(told["links"]) == len(graph.edges())


def test_d3_colour_is_type_size_is_importance_opacity_is_status() -> None:
    nodes = {node["id"]: node for node in json.loads(format_named("d3").write(booking()))["nodes"]}
    assert nodes["decision-1"]["color"] == nodes["decision-5"]["color"] != nodes["task-1"]["color"]
    assert nodes["decision-3"]["size"] > nodes["agent-1"]["size"]
    assert nodes["decision-1"]["opacity"] < nodes["task-1"]["opacity"] < nodes["decision-5"]["opacity"] == 1
    assert nodes["decision-1"]["quote"] == "We use SQLite, it is one file."


# -- Markdown ----------------------------------------------------------------------------------------------------------


def leaves(tokens: list[Token]) -> list[Token]:
    return [leaf for token in tokens for leaf in (token, *(token.children or ()))]


def rendered(text: str) -> list[Token]:
    """The document as a reader with tables and strikethrough sees it; raw HTML would be a token of its own."""
    return leaves(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text))


@each_graph
def test_markdown_shows_the_labels_and_nothing_else_of_them(graph: SessionGraph) -> None:
    tokens = rendered(format_named("markdown").write(graph, title=ATTACKS[0]))
    kinds = {token.type for token in tokens}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "fence", "code_block", "code_inline", "hr"}
    assert not kinds & {"table_open", "lheading"}
    words = {token.content for token in tokens if token.type == "text"}
    whole = "".join(token.content for token in tokens if token.type in ("text", "text_special"))
    missing = [node.id for node in graph.nodes() if label_of(node) not in words and label_of(node) not in whole]
    assert missing == []


def test_headings_are_ours() -> None:
    text = format_named("markdown").write(hostile(), title="hostile")
    tokens = MarkdownIt().parse(text)
    named = [tokens[place + 1].content for place, one in enumerate(tokens) if one.type == "heading_open"]
    assert named[:2] == ["hostile", "Decisions"]
    assert named[-1] == "Relations"
    assert "Heading" not in named


def test_what_other_dialects_would_act_on_is_broken() -> None:
    text = format_named("markdown").write(hostile())
    assert not re.search(r"(?<!\\)\[\[|(?<![\\\w])#tag|(?<!\\)%%|(?<!\\)==|http://|(?<!\\)\$\{", text)


def test_markdown_reads_as_a_story() -> None:
    text = format_named("markdown").write(booking(), title="hall")
    assert "- [x] **write the schema** (completed, user, message 3)" in text
    assert "- [ ] **move the bookings** (in progress, user, message 9)" in text
    assert "- **~~MongoDB~~** (option, rejected, user, message 8)\n  - because: nobody here knows it" in text
    assert "- message 7: SQLite \u2192 PostgreSQL: SQLite locks under load\n  > We switch.\n- message 14:" in text
    assert "- PostgreSQL *fixes* database is locked" in text
    assert "\n  - replaced: SQLite, because: SQLite locks under load\n" in text
    assert "\n  - replaced by: PostgreSQL, because: SQLite locks under load\n" in text


# -- Mermaid -----------------------------------------------------------------------------------------------------------

_PARSE = """async text => {
    mermaid.initialize({startOnLoad: false, securityLevel: 'loose', htmlLabels: true});
    const kind = (await mermaid.parse(text)).diagramType;
    const drawn = await mermaid.render('drawing', text);
    document.body.innerHTML = drawn.svg;
    return [kind, [...document.querySelectorAll('.node')].length,
        [...document.querySelectorAll('.node .nodeLabel')].map(one => one.textContent),
        document.body.querySelectorAll('a, img, script, iframe, h1, [onload], [onerror]').length];
}"""


@pytest.fixture(scope="module")
def drawer(browser: Any) -> Any:
    """A page with Mermaid itself."""
    with opened(browser) as page:
        page.page.add_script_tag(path=str(mermaid_file()))
        yield page.page


@pytest.mark.parametrize("name", ["booking", "hostile", "empty"])
def test_mermaid_draws_it(drawer: Any, name: str) -> None:
    graph = GRAPHS[name]
    kind, count, labels, foreign = drawer.evaluate(_PARSE, format_named("mermaid").write(graph, title=name))
    assert kind.startswith("flowchart")
    assert count == len(graph)
    assert foreign == 0
    assert drawer.evaluate("window.attacked") is None
    if name == "hostile":
        assert any("<" not in label and "\u2039script>window.attacked = 1" in label for label in labels)
        assert any('"] end; click A "http://attacker.invalid" ; B["' in label for label in labels)
        drawer.screenshot(path=str(pictures() / "export-mermaid-hostile.png"))


def test_mermaid_reads_a_large_one(drawer: Any) -> None:
    text = format_named("mermaid").write(GRAPHS["crowd"])
    assert drawer.evaluate("async text => (await mermaid.parse(text)).diagramType", text).startswith("flowchart")
    assert len(text) <= 50_000
    assert text.count("|") // 2 <= 500
    assert re.search(r"%% \d+ less important facts are left out", text)
