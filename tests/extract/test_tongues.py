"""Languages other than English: every row reads its example and leaves its counter-example; guards, answers, cost."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.abroad import offer_abroad, order_abroad, short_answer
from tokenmizer_mw.extract.languages import tongues_of
from tokenmizer_mw.extract.reading import hits
from tokenmizer_mw.extract.rules import RULES, Rule, Speaker
from tokenmizer_mw.extract.rules.tongue import Tongue
from tokenmizer_mw.extract.rules.tongues import TONGUES

ROWS = [
    pytest.param(rule, speaker, id=f"{rule.name}-{speaker}")
    for tongue in TONGUES
    for rule in tongue.rules
    for speaker in (Speaker.USER, Speaker.ASSISTANT)
    if rule.speaker in (speaker, Speaker.BOTH)
]


def names(sentence: str, speaker: Speaker) -> list[str]:
    return [hit.rule.name for hit in hits(sentence, speaker)]


@pytest.mark.parametrize(("rule", "speaker"), ROWS)
def test_row_reads_its_example(rule: Rule, speaker: Speaker) -> None:
    assert rule.name in names(rule.example, speaker)


@pytest.mark.parametrize(("rule", "speaker"), ROWS)
def test_row_leaves_its_counter_example(rule: Rule, speaker: Speaker) -> None:
    assert rule.name not in names(rule.counter, speaker)


def test_rows_have_names_of_their_own() -> None:
    rules = [rule.name for tongue in TONGUES for rule in tongue.rules] + [rule.name for rule in RULES]
    assert len(rules) == len(set(rules))


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda tongue: tongue.code)
def test_examples_are_told_to_be_in_their_language(tongue: Tongue) -> None:
    told = [tongue in tongues_of(rule.example) for rule in tongue.rules]
    assert sum(told) == len(told)


@pytest.mark.parametrize(
    "sentence",
    ["Use Postgres for the orders", "The build fails on the second run", "What is left to do?", "ok, do it", ""],
)
def test_english_is_no_other_language(sentence: str) -> None:
    assert tongues_of(sentence) == ()


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
    said = short_answer(answer)
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
    said = short_answer(answer)
    assert (said.key, said.place) == (key, place)


@pytest.mark.parametrize(
    ("sentence", "order"),
    [
        ("¿Puedes agregar un filtro?", "agregar un filtro"),
        ("Kannst du bitte einen Filter einbauen?", "einen Filter einbauen"),
        ("Tu peux ajouter un filtre ?", "ajouter un filtre"),
        ("Ты можешь добавить фильтр?", "добавить фильтр"),
    ],
)
def test_polite_questions_are_orders(sentence: str, order: str) -> None:
    assert order_abroad(sentence) == order


@pytest.mark.parametrize(
    ("sentence", "offer"),
    [
        ("¿Quieres que agregue un filtro?", "agregue un filtro"),
        ("Soll ich einen Filter einbauen?", "einen Filter einbauen"),
        ("要不要我加一个筛选？", "加一个筛选"),
    ],
)
def test_offers(sentence: str, offer: str) -> None:
    assert offer_abroad(sentence) == offer
