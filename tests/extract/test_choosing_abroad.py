"""Choosing among what was put up, in other languages: by number, place or word, of lists and of plain sentences."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.alternatives import alternatives
from tokenmizer_mw.model.node import NodeType, Status

from .talks import labels, talk

CHOICES = [
    ("a: Dos caminos:\n\n1. un índice único\n2. una cola de trabajo", "u: la 2", "cola de trabajo"),
    ("a: Dos formas: guardar el total, o calcularlo cada vez.", "u: lo segundo, así no se desajusta", "calcularlo"),
    ("a: Tenho duas formas: gravar em UTC, ou guardar o fuso junto.", "u: a primeira", "gravar em UTC"),
    ("a: Tre strade:\n\n1. un foglio condiviso\n2. un piccolo database", "u: la 2. però senza server", "database"),
    ("a: Deux solutions : envoyer un courriel, ou afficher une bannière.", "u: la deuxième", "bannière"),
    (
        "a: Zwei Wege: (a) beim Löschen herunterzählen, (b) die Summe aus den Zeilen bilden.",
        "u: b. und der alte Zähler kann weg",
        "Summe aus den Zeilen",
    ),
    ("a: Варианты:\n\n1. очередь в базе\n2. отдельный брокер\n\nЧто важнее?", "u: простота. давай 1", "очередь в базе"),
    ("a: 三种做法：\n\n1. 加唯一索引\n2. 用队列\n3. 加锁", "u: 用第一种，简单", "加唯一索引"),
    ("a: 二つの案があります。\n\n1. 表を分ける\n2. 列を足す", "u: 2番で", "列を足す"),
    ("a: 방법은 두 가지입니다.\n\n1. 테이블을 나누기\n2. 컬럼 추가", "u: 2번으로 할게요", "컬럼 추가"),
    ("a: दो रास्ते हैं:\n\n1. रोज़ SMS\n2. छपी पर्ची", "u: हम छोटे हैं। 2 नंबर।", "छपी पर्ची"),
    ("a: Teen raaste:\n\n1. server se poll karo\n2. webhook lagao", "u: 1. webhook baad me dekhenge", "server se poll"),
]


@pytest.mark.parametrize(("offer", "answer", "chosen"), CHOICES)
def test_an_option_is_chosen(offer: str, answer: str, chosen: str) -> None:
    decided = labels(talk("u: ...", offer, answer), NodeType.DECISION, Status.ACTIVE)
    assert [label for label in decided if chosen in label], decided


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("Zwei Wege: (a) zählen, (b) rechnen", ["zählen", "rechnen"]),
        ("¿Correo, o una llamada?", ["Correo", "una llamada"]),
        ("Soll ich die Liste kürzen oder eine zweite Seite bauen?", ["die Liste kürzen", "eine zweite Seite bauen"]),
        ("用切面还是拦截器？", ["用切面", "拦截器"]),
        ("दो रास्ते: रोज़ SMS; या सिर्फ़ पर्ची", ["रोज़ SMS", "सिर्फ़ पर्ची"]),
        ("文末は「です・ます」と「だ・である」のどちらにしますか", ["文末は「です・ます」", "「だ・である」"]),
        ("Ich nehme Brot oder Käse mit.", []),
        ("Der Plan (a) steht fest.", []),
        ("", []),
    ],
)
def test_what_a_sentence_puts_up(sentence: str, named: list[str]) -> None:
    assert [name for _, name in alternatives(sentence)] == named


def test_a_number_in_passing_picks_nothing() -> None:
    graph = talk("u: ...", "a: Dos caminos:\n\n1. un índice\n2. una cola", "u: tardó 2 minutos en cargar hoy")
    assert not labels(graph, NodeType.DECISION)
