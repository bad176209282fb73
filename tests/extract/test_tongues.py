"""Languages other than English: what sentences do, how tables make rows; guards, answers, offers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tokenmizer_mw.extract.match.languages import detect_languages
from tokenmizer_mw.extract.match.other_languages import read_foreign_offer, read_short_answer
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.rules.tongue import KINDS, make_tongue
from tokenmizer_mw.extract.rules.tongues import TONGUES
from tokenmizer_mw.extract.text.pattern import compile_lazily

SAID = json.loads(Path(__file__).with_name("said_abroad.json").read_text(encoding="utf-8"))
"""Sentences by language: who says it, what it does, the sentence, and one that looks the same and does not, or ""."""


def names(sentence: str, speaker: Speaker) -> list[str]:
    return [hit.rule.name for hit in read_hits(sentence, speaker)]


@pytest.mark.parametrize("code", SAID)
def test_sentences_do_what_they_say(code: str) -> None:
    for speaker, act, sentence, other in SAID[code]:
        assert act in [hit.rule.act for hit in read_hits(sentence, Speaker(speaker))], sentence
        assert code in [tongue.code for tongue in detect_languages(sentence)], sentence
        assert act not in [hit.rule.act for hit in read_hits(other, Speaker(speaker))], other


def test_rows_are_named_by_language_and_kind() -> None:
    kinds = {kind.name for kind in KINDS}
    told = {tuple(rule.name.split(".")) for tongue in TONGUES for rule in tongue.rules}
    assert told <= {(tongue.code, kind) for tongue in TONGUES for kind in kinds}
    assert {kind for _, kind in told} == kinds


def test_no_place_of_a_pattern_is_left_open() -> None:
    fields = [getattr(tongue, name) for tongue in TONGUES for name in ("lead", "asks", "supposes", "reports", "offers")]
    rows = [text for tongue in TONGUES for rule in tongue.rules for text in (rule.pattern, rule.unless)]
    assert not [text for text in (*fields, *rows) if re.search(r"(?<!\?P)<\w+>", text)]


def test_a_table_without_rows_is_a_language() -> None:
    bare = make_tongue(
        "xx",
        rows={},
        words={},
        said=dict.fromkeys(("lead", "supposes", "reports", "border"), "x")
        | dict.fromkeys(("because", "yes", "no"), "x"),
    )
    assert bare.rules == () and bare.ordinals == {} and bare.ahead.code == "xx"


def test_a_table_makes_rows_of_its_kinds() -> None:
    said = dict.fromkeys(("lead", "supposes", "reports", "border", "because", "yes", "no"), "x")
    made = make_tongue(
        "xx",
        rows={"use": "<take> <all>", "complaint": "kaputt", "decided": "fest"},
        words={"take": "nimm|nehmt"},
        said=said,
        ordinals="eins|erste zwei -1 letzte",
    )
    patterns = {rule.name: compile_lazily(rule.pattern) for rule in made.rules}
    used, broken, fixed = (patterns[f"xx.{kind}"] for kind in ("use", "complaint", "decided"))
    assert (match := used.match("nehmt Brot")) is not None and match.group("label") == "Brot"
    assert (match := broken.match("das ist kaputt, ja")) is not None and match.group("label") == "das ist kaputt, ja"
    assert broken.match("das ist unkaputtbar") is None
    assert (match := fixed.match("Fest: Brot")) is not None and match.group("label") == "Brot"
    assert made.ordinals == {"eins": 0, "erste": 0, "zwei": 1, "letzte": -1}


@pytest.mark.parametrize(
    "sentence",
    ["Use Postgres for the orders", "The build fails on the second run", "What is left to do?", "ok, do it", ""],
)
def test_english_is_no_other_language(sentence: str) -> None:
    assert detect_languages(sentence) == ()


SILENT = [
    "¿Deberíamos usar Redis para esto?",
    "Si usamos Redis, hace falta otro servidor",
    "Mi jefe dice que usemos MongoDB",
    "Sollten wir Redis nehmen?",
    "Wenn wir Redis nehmen, brauchen wir noch einen Server",
    "Mein Chef sagt, wir nehmen MongoDB",
    "On devrait prendre Redis ?",
    "Si on prend Redis, il faut un serveur de plus",
    "Se usiamo Redis, serve un altro server",
    "Se a gente usar Redis, precisa de outro servidor",
    "如果用 Redis，就需要多一台服务器",
    "我们要不要用 Redis？",
    "领导说用 MongoDB",
    "Если возьмём Redis, нужен ещё один сервер",
    "Может быть, возьмём Redis",
    "もしRedisを使うなら、サーバーがもう一台必要です",
    "Redisを使うべきですか",
    "만약 Redis를 쓰면 서버가 하나 더 필요해요",
    "Redis를 쓸까요?",
    "अगर Redis रखते हैं, तो एक और सर्वर चाहिए",
    "agar Redis use karte hain toh ek aur server chahiye",
    "Wäre MongoDB hier eigentlich sinnvoll",
    "Si tuviéramos presupuesto, usaría un CDN",
    "Se il comune avesse un pozzo, useremmo la pompa",
    "Se der tempo eu usaria um painel",
    "怎么判断异常值比较好",
    "这里用哪个数据库",
    "该不该换成 Oracle",
    "要是有时间就用 Oracle",
    "Dockerを使ったほうがいいでしょうか",
    "Dockerにするのはどう思う",
    "Redisのほうがいいのかな",
    "쿠버네티스를 쓰는 게 좋을까요",
    "어떻게 생각해",
    "예산이 있었다면 오라클로 했을 텐데요",
    "तुम्हें क्या लगता है",
]


@pytest.mark.parametrize("sentence", SILENT)
def test_questions_suppositions_and_reports_state_nothing(sentence: str) -> None:
    assert names(sentence, Speaker.USER) == []


@pytest.mark.parametrize(
    ("answer", "yes", "no"),
    [
        *((text, True, False) for text in ("sí, hazlo", "ja, gerne", "oui, vas-y", "sim, pode fazer", "va bene")),
        *(
            (text, True, False)
            for text in ("好的", "就这么办", "да, давай", "はい、お願いします", "네, 좋아요", "ठीक है")
        ),
        *((text, False, True) for text in ("no, gracias", "nein danke", "non merci", "não, obrigado", "不用了")),
        *((text, False, True) for text in ("пока не надо", "いいえ", "아니요", "अभी नहीं")),
        *((text, False, False) for text in ("sí, pero usa Postgres", "ja, aber nimm Postgres", "好像不对")),
    ],
)
def test_short_answers(answer: str, yes: bool, no: bool) -> None:
    said = read_short_answer(answer)
    assert (said.yes, said.no) == (yes, no)


@pytest.mark.parametrize(
    ("answer", "key", "place"),
    [
        ("la segunda opción", "", 1),
        ("nimm die zweite", "", 1),
        ("la première", "", 0),
        ("a primeira", "", 0),
        ("第二个吧", "", 1),
        ("давай второй вариант", "", 1),
        ("2番で", "2", None),
        ("2번으로", "2", None),
        ("पहला ठीक है", "", 0),
    ],
)
def test_picks_by_place_and_number(answer: str, key: str, place: int | None) -> None:
    said = read_short_answer(answer)
    assert (said.key, said.place) == (key, place)


@pytest.mark.parametrize(
    ("sentence", "offer"),
    [
        ("¿Quieres que agregue un filtro?", "agregue un filtro"),
        ("Soll ich einen Filter einbauen?", "einen Filter einbauen"),
        ("要不要我加一个筛选？", "加一个筛选"),
    ],
)
def test_offers(sentence: str, offer: str) -> None:
    assert read_foreign_offer(sentence) == offer
