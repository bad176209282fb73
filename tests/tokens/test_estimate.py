import base64
import inspect
import json
import json.decoder
import random
import time
from pydoc_data import topics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.context.tokens import TokenCounter, estimate

ENGLISH = """We moved the nightly export to the new queue last week, and since then nobody has had to restart it
by hand. The remaining worry is the report that finance reads on Mondays: it still joins three
tables that were never meant to
be joined, so it takes most of an hour and sometimes locks the orders table while people are shopping. My plan is to
build a small summary table after each export and let the report read that instead. I would rather not touch the
invoices before the audit is over, because the auditors take samples every evening and any change would confuse them.
If you agree, please look through the list below and tell me which of these steps could wait until January."""

CHINESE = """我们上周把夜间导出任务迁移到了新的队列,从那以后就没有人需要手动重启它了。剩下的问题是财
务部门每周一要看的
报表:它仍然连接三张本来不应该连接的表,所以要跑将近一个小时,有时还会锁住订单表。我的计划是在每次导出
之后生成一张
小的汇总表,让报表直接读取这张表。审计结束之前我不想动发票部分,因为审计人员每天晚上都会抽样检查。"""

JAPANESE = """先週、夜間のエクスポートを新しいキューに移しました。それ以来、手動で再起動する必要はな
くなりました。
残っている心配は、経理が月曜日に読むレポートです。結合するべきではない三つのテーブルを結合しているの
で、一時間近くかかり、
注文テーブルをロックしてしまうこともあります。エクスポートの後に小さな集計テーブルを作る予定です。"""

KOREAN = """지난주에 야간 내보내기 작업을 새 큐로 옮겼고, 그 뒤로는 아무도 손으로 다시 시작할 필요가
 없었습니다.
남은 걱정은 재무팀이 월요일마다 보는 보고서입니다. 원래 조인하면 안 되는 테이블 세 개를 조인하기 때
문에 거의 한 시간이 걸립니다."""

RUSSIAN = """На прошлой неделе мы перенесли ночную выгрузку в новую очередь, и с тех пор никому не приходилось
перезапускать её вручную. Осталась одна забота: отчёт, который бухгалтерия читает по понедельникам. Он по-прежнему
соединяет три таблицы, которые для этого не предназначены, поэтому работает почти час и иногда блокирует заказы."""

HINDI = """पिछले हफ़्ते हमने रात का निर्यात नई कतार में डाल दिया, और तब से किसी को उसे हाथ से दोबारा चालू नहीं करना पड़ा।
बची हुई चिंता वह रिपोर्ट है जिसे लेखा विभाग सोमवार को पढ़ता है: वह अब भी तीन ऐसी तालिकाओं को जोड़ती है जो इसके लिए नहीं बनी थीं।"""

ARABIC = """نقلنا التصدير الليلي إلى الطابور الجديد في الأسبوع الماضي، ومنذ ذلك الحين لم يضطر أحد
إلى إعادة تشغيله يدويًا.
يبقى التقرير الذي تقرؤه المالية يوم الاثنين، فهو ما زال يربط ثلاثة جداول لم تُصمَّم لذلك."""

GREEK = """Την περασμένη εβδομάδα μεταφέραμε τη νυχτερινή εξαγωγή στη νέα ουρά και από τότε κανείς δεν χρειάστηκε να
την επανεκκινήσει με το χέρι. Μένει η αναφορά που διαβάζει το λογιστήριο κάθε Δευτέρα."""


def _json() -> str:
    rows = [
        {"id": i, "path": f"src/app/part_{i}.py", "ok": i % 3 == 0, "score": i / 7, "tags": ["new", "open"]}
        for i in range(40)
    ]
    return json.dumps({"rows": rows, "next": None, "message": "40 rows were read from the database"}, indent=1)


SAMPLES = {
    "english": ENGLISH,
    "english, one sentence": ENGLISH.partition(". ")[0],
    "code": inspect.getsource(json.decoder),
    "code, one function": inspect.getsource(json.decoder.py_scanstring),
    "json": _json(),
    "json, one line": json.dumps(json.loads(_json())),
    "chinese": CHINESE,
    "japanese": JAPANESE,
    "korean": KOREAN,
    "russian": RUSSIAN,
    "hindi": HINDI,
    "arabic": ARABIC,
    "greek": GREEK,
    "base64": base64.b64encode(random.Random(1).randbytes(3_000)).decode(),
    "hex": random.Random(2).randbytes(3_000).hex(),
    "digits": "".join(random.Random(3).choices("0123456789", k=2_000)),
    "emoji": "🙂🚀🔥👍🏽 done ✅ " * 20,
    "one letter": "A" * 5_000,
    "spaces": " " * 5_000,
    "controls": "\x7f\x01" * 500,
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_never_below_the_exact_count(kind: str, exact: TokenCounter, older: TokenCounter) -> None:
    assert estimate(SAMPLES[kind]) >= max(exact.count(SAMPLES[kind]), older.count(SAMPLES[kind]))


def test_overshoot_on_english_prose(exact: TokenCounter) -> None:
    paragraphs = [part for text in topics.topics.values() for part in text.split("\n\n")]
    prose = [part for part in paragraphs if len(part) > 200 and sum(map(part.count, "`*_:<>|=()[]")) < len(part) / 100]
    assert len(prose) > 20
    texts = [ENGLISH, *prose]
    overshoot = [estimate(text) / exact.count(text) - 1 for text in texts]
    assert sum(overshoot) / len(overshoot) <= 0.25
    assert estimate(ENGLISH) <= 1.25 * exact.count(ENGLISH)


@given(st.text(max_size=300))
def test_any_text_has_an_estimate(text: str) -> None:
    assert (estimate(text) == 0) == (text == "")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.integers(0, 20))
def test_a_longer_text_does_not_shrink(text: str, more: int) -> None:
    assert estimate(text + " word" * more) >= estimate(text)


@pytest.mark.parametrize("unit", ["A", " ", "a.", "é", "中", "word ", "\n", "aA0"])
def test_linear(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        return min(_timed(text) for _ in range(5))

    assert cost(400_000) <= 8 * cost(100_000) + 2e-3


def _timed(text: str) -> float:
    start = time.process_time()
    estimate(text)
    return time.process_time() - start
