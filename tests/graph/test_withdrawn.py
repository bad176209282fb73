"""The words of withdrawn facts in the reasons of other facts."""

from __future__ import annotations

import pytest

from tokenmizer_mw.context.recall import recall
from tokenmizer_mw.context.resume import build_resume, build_resumes
from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import remove_phrases, spell_phrases, without_withdrawn_words
from tokenmizer_mw.model.event import DecisionReplaced, NodeAdded, NodeEdited
from tokenmizer_mw.model.node import Node, NodeType, Source, Status, Transition

NONCE = "0123456789abcdef"
NEWS = "Bad news from the hoster by the way"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (NEWS, ""),
        ("bad news from the hoster, by the way!", ""),
        (f"{NEWS}. There is no real data yet.", "There is no real data yet."),
        (f"No real data yet; {NEWS}", "No real data yet"),
        (f"{NEWS}, so we move", ""),
        ("Bad news from the hosters by the way", "Bad news from the hosters by the way"),
        ("Redis", ""),
        ("Redis loses data", "Redis loses data"),
        ("因为主机商涨价。数据很少", "数据很少"),
        ("", ""),
    ],
)
def test_sentences_with_withdrawn_words_are_left_out(text: str, left: str) -> None:
    assert remove_phrases(text, spell_phrases([NEWS, "Redis", "主机商涨价", "..."])) == left


def _graph() -> SessionGraph:
    graph = SessionGraph()
    decided = "PostgreSQL before there is any real data"
    for id, label, detail in [
        ("decision-1", "MySQL for the start", ""),
        ("decision-2", decided, NEWS),
        ("decision-3", NEWS, ""),
        ("decision-4", "Two servers", f"{NEWS}. One may fail."),
    ]:
        graph.apply(NodeAdded(Node(id, NodeType.DECISION, label, Status.ACTIVE, Source(1, "user"), detail=detail)))
    graph.apply(DecisionReplaced(Transition("decision-1", "decision-2", 1, NEWS)))
    return graph


def _withdraw(graph: SessionGraph) -> None:
    changes = {"status": Status.INVALIDATED, "confidence": 0.0}
    graph.apply(NodeEdited(1, "decision-3", changes, {"status": Status.ACTIVE, "confidence": 1.0}, 1, "misread"))


def test_no_model_reads_the_words_of_a_withdrawn_fact_as_a_reason() -> None:
    graph, counter = _graph(), counter_for("")
    assert without_withdrawn_words(graph) is graph
    assert NEWS in build_resume(graph, budget=300, counter=counter, nonce=NONCE).text
    assert NEWS in recall(graph, "Why PostgreSQL?", budget=200, counter=counter).text
    _withdraw(graph)
    before = graph.copy()
    texts = [
        build_resume(graph, budget=300, counter=counter, nonce=NONCE).text,
        *(one.text for one in build_resumes(graph, counter=counter, nonce=NONCE).values()),
        recall(graph, "Why PostgreSQL?", budget=200, counter=counter).text,
        str(without_withdrawn_words(graph).to_dict()["transitions"]),
    ]
    assert not [text for text in texts if "hoster" in text]
    assert "PostgreSQL before there is any real data" in texts[0]
    assert "Two servers (One may fail)" in texts[0]
    assert graph == before, "the graph itself keeps them"
