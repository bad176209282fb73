from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest

from tests.export.graphs import added, booking, crowd, graph_of, hostile
from tokenmizer_mw.graph.export.appearance import EDGES, STATUSES, TYPES
from tokenmizer_mw.graph.export.layout import Box, arrange, route_edges
from tokenmizer_mw.graph.export.svg import draw, style
from tokenmizer_mw.graph.export.text import width_of, wrap_text
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import EdgeType, NodeType, Status

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)


def cards(drawing: ET.Element) -> list[ET.Element]:
    return [one for one in drawing.iter(f"{SVG}svg") if "tm-node" in one.get("class", "")]


def test_every_type_status_and_relation_has_a_look() -> None:
    assert (set(TYPES), set(STATUSES), set(EDGES)) == (set(NodeType), set(Status), set(EdgeType))
    assert len({look.icon for look in TYPES.values()}) == len(TYPES)
    assert len({look.mark for look in STATUSES.values()}) == len(STATUSES)


def test_a_card_says_type_status_and_turn_in_words() -> None:
    graph = graph_of([added("task-1", "write the schema", Status.IN_PROGRESS, turn=3)])
    [card] = cards(parsed(draw(graph)))
    words = " ".join(card.itertext())
    assert "task: write the schema" in words
    assert "in progress \u00b7 #3" in words
    assert card.get("class") == "tm-node tm-type-task tm-status-in_progress"


def test_all_nodes_and_relations_are_drawn() -> None:
    graph = booking()
    drawing = parsed(draw(graph))
    assert len(cards(drawing)) == len(graph)
    told = {path.findtext(f"{SVG}title") for path in drawing.iter(f"{SVG}path")} - {None}
    assert "PostgreSQL replaces SQLite" in told
    assert len(told) == len(graph.edges())


def test_the_words_of_relations_stand_over_no_card() -> None:
    for graph in (booking(), crowd(40)):
        drawing = parsed(draw(graph, words=True))
        boxes = arrange(graph.nodes(), graph.transitions()).boxes.values()
        words = [one for one in drawing.iter() if (one.get("class") or "").startswith("tm-word")]
        assert words
        for word in words:
            base = float(word.get("y", "0"))
            assert not any(
                box.y < base - 4 < box.bottom and box.x < float(word.get("x", "0")) < box.right for box in boxes
            )


def test_lines_cross_no_card_and_end_at_their_cards() -> None:
    graphs = (booking(), crowd(12), crowd(40), crowd(120))
    for graph, columns in itertools.product(graphs, (1, 2, 4, None)):
        layout = arrange(graph.nodes(), graph.transitions(), columns=columns)
        pairs = [(edge.source, edge.target) for edge in graph.edges()]
        for (source, target), route in zip(pairs, route_edges(pairs, layout), strict=True):
            for (x1, y1), (x2, y2) in itertools.pairwise(route):
                assert x1 == x2 or y1 == y2
                part = Box(min(x1, x2), min(y1, y2), abs(x1 - x2), abs(y1 - y2))
                assert not any(part.meets(box) for box in layout.boxes.values())
            for end, id in ((route[0], source), (route[-1], target)):
                box = layout.boxes[id]
                assert end[0] in (box.x, box.right)
                assert box.y < end[1] < box.bottom


def test_a_drawing_with_a_prefix_has_ids_of_its_own() -> None:
    def ids(text: str) -> set[str]:
        return {id for one in parsed(text).iter() if (id := one.get("id"))}

    assert ids(draw(booking())).isdisjoint(ids(draw(booking(), prefix="narrow-")))
    drawing = parsed(draw(booking(), prefix="narrow-"))
    assert all(one.get("href", "#narrow-").startswith("#narrow-") for one in drawing.iter())


def test_an_empty_graph_is_an_empty_drawing() -> None:
    assert cards(parsed(draw(SessionGraph()))) == []


def test_an_earlier_graph_stands_where_the_whole_one_does() -> None:
    whole = crowd(40)
    layout = arrange(whole.nodes(), whole.transitions())
    earlier = graph_of([])
    assert cards(parsed(draw(earlier, layout))) == []
    now = {card.get("data-id"): (card.get("x"), card.get("y")) for card in cards(parsed(draw(whole, layout)))}
    assert now == {id: (str(box.x), str(box.y)) for id, box in layout.boxes.items()}


def test_nodes_without_a_place_are_left_out() -> None:
    graph = crowd(20)
    some = arrange(graph.nodes()[:5])
    drawing = parsed(draw(graph, some))
    assert len(cards(drawing)) == 5


def test_cards_lead_to_addresses() -> None:
    drawing = parsed(draw(booking(), link=lambda node: f"?node={node.id}&more"))
    assert next(one.get("href") for one in drawing.iter(f"{SVG}a")) == "?node=goal-1&more"


@pytest.mark.parametrize("make", [booking, hostile])
def test_nothing_that_a_strict_policy_forbids(make: object) -> None:
    drawing = parsed(draw(make()))  # type: ignore[operator]
    assert {one.tag.removeprefix(SVG) for one in drawing.iter()} <= {
        *("svg", "defs", "symbol", "marker", "path", "g", "rect", "text", "use", "title")
    }
    names = {name for one in drawing.iter() for name in one.attrib}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on") or (name.endswith("href") and name != "href")]
    assert all(one.get("href", "#").startswith("#") for one in drawing.iter())


def test_hostile_texts_are_text() -> None:
    drawing = parsed(draw(hostile()))
    assert len(cards(drawing)) == len(hostile())
    assert all(len(text) < 400 for text in drawing.itertext())
    assert not [text for text in drawing.itertext() if any(char in text for char in "\u202e\u2066\u200b\x1b\x00")]


def test_the_style_comes_with_it_where_it_is_wanted() -> None:
    assert "<style>" not in draw(booking())
    assert f"<style>{style()}</style>" in draw(booking(), styled=True)
    assert "<" not in style()


def test_long_labels_are_cut_at_words_with_an_ellipsis() -> None:
    lines = wrap_text("the quick brown fox jumps over the lazy dog and runs away", 10)
    assert len(lines) == 2
    assert lines[0] == "the quick brown fox"
    assert lines[1].endswith("\u2026")
    assert all(width_of(line) <= 10 for line in lines)


@pytest.mark.parametrize("text", ["w" * 10_000, "\u8a9e" * 300, "a " * 500, "", "short", "\U0001f680" * 90])
def test_lines_fit_whatever_the_text(text: str) -> None:
    lines = wrap_text(text, 12)
    assert 1 <= len(lines) <= 2
    assert all(width_of(line) <= 12 for line in lines)
