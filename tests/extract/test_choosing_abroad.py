"""Choosing among what was put up, in other languages: by number, place or word, of lists and of plain sentences."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import labels, talk

CHOICES = [
    ("a: Dos caminos:\n\n1. un índice único\n2. una cola de trabajo", "u: la 2", "cola de trabajo"),
    ("a: Tre strade:\n\n1. un foglio condiviso\n2. un piccolo database", "u: la 2. però senza server", "database"),
    ("a: 三种做法：\n\n1. 加唯一索引\n2. 用队列\n3. 加锁", "u: 用第一种，简单", "加唯一索引"),
    ("a: 二つの案があります。\n\n1. 表を分ける\n2. 列を足す", "u: 2番で", "列を足す"),
    ("a: 방법은 두 가지입니다.\n\n1. 테이블을 나누기\n2. 컬럼 추가", "u: 2번으로 할게요", "컬럼 추가"),
    ("a: Teen raaste:\n\n1. server se poll karo\n2. webhook lagao", "u: 1. webhook baad me dekhenge", "server se poll"),
]


@pytest.mark.parametrize(("offer", "answer", "chosen"), CHOICES)
def test_an_option_is_chosen(offer: str, answer: str, chosen: str) -> None:
    decided = labels(talk("u: ...", offer, answer), NodeType.DECISION, Status.ACTIVE)
    assert [label for label in decided if chosen in label], decided


def test_a_number_in_passing_picks_nothing() -> None:
    graph = talk("u: ...", "a: Dos caminos:\n\n1. un índice\n2. una cola", "u: tardó 2 minutos en cargar hoy")
    assert not labels(graph, NodeType.DECISION)
