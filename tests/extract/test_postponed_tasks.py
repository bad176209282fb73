"""What is put off or left to somebody is open work, told with the matter that it is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.candidates.postponed_tasks import add_postponed
from tokenmizer_mw.extract.dialogue.situation import read_situation
from tokenmizer_mw.extract.match.ahead import is_postponement
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.rules.ahead import ENGLISH
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType, Status

from .talks import RULES_ONLY

OPENING = "Please help me to run the club's newsletter."
EXAMPLES = [
    *((ENGLISH.code, text) for text in ENGLISH.examples),
    ("de", "Ein dynamischer Port wäre besser, mach ich morgen früh"),
    ("de", "ich schreibe die Tests am Freitag"),
    ("es", "la copia externa falta todavía, eso lo hablo con Marta en julio"),
    ("es", "la formación mejor el 13"),
    ("it", "il listino è ancora quello vecchio, lo rifaccio io sabato"),
    ("it", "va bene così, grazie. i prezzi nuovi li guardiamo a ottobre"),
    ("pt", "entrego o relatório na sexta"),
    ("pt", "o título fica para depois das férias"),
    ("fr", "je dépose le dossier avant lundi"),
    ("fr", "il manque un devis, je le demande lundi"),
    ("ru", "надо бы сменить ключ, но это в следующем спринте"),
    ("ru", "удалю таблицу 20-го сам"),
    ("zh", "经理那边我去讲"),
    ("zh", "生产周日晚上 23 点上"),
    ("ja", "14番は私が学芸員さんに相談します"),
    ("ko", "푸시는 제가 리뷰하고 할게요"),
    ("hi", "स्कैनर अभी आया नहीं है"),
    ("hinglish", "suresh ko bolna hai limit badhaye"),
]
COUNTERS = [
    *((ENGLISH.code, text) for text in ENGLISH.counters),
    *(("de", text) for text in ("das mach ich immer so", "ich war gestern da", "das ist gut")),
    *(("es", text) for text in ("eso lo hago siempre", "el lunes es fiesta")),
    *(("it", text) for text in ("lo faccio sempre così", "sabato è chiuso")),
    *(("pt", text) for text in ("faço sempre assim", "na sexta é feriado")),
    *(("fr", text) for text in ("je le fais toujours", "lundi c'est fermé")),
    *(("ru", text) for text in ("это всегда так", "вчера падало")),
    *(("zh", text) for text in ("昨天已经上了", "每天晚上跑")),
    ("ja", "昨日は私が直しました"),
    ("ko", "어제 제가 했어요"),
    ("hi", "हमेशा आता है"),
]


def open_work(*talk: str) -> list[str]:
    """What is to do after a talk of a user and an assistant, in turns."""
    memory = SessionMemory.open("memory://", RULES_ONLY)
    roles = ("user", "assistant")
    memory.record("s", [{"role": roles[at % 2], "content": text} for at, text in enumerate(talk)])
    found = [node.label for node in memory.graph("s").nodes(NodeType.TASK, status=Status.PENDING)]
    memory.close()
    return found


def plans(text: str) -> list[str]:
    """What a message puts off by these rows alone."""
    said = (3, Message(Role.USER, text))
    before = [(1, Message(Role.USER, OPENING)), (2, Message(Role.ASSISTANT, "Fine."))]
    situation = read_situation(said, before, has_goal=True)
    return [finding.label for finding in add_postponed([], segment(text), situation)]


@pytest.mark.parametrize(("code", "text"), EXAMPLES)
def test_each_row_reads_its_examples(code: str, text: str) -> None:
    assert plans(text), code


@pytest.mark.parametrize(("code", "text"), COUNTERS)
def test_no_row_reads_its_counter_examples(code: str, text: str) -> None:
    assert not plans(text), code


@pytest.mark.parametrize(
    ("told", "said", "label"),
    [
        (
            "The pages are set.",
            "the cover still has the old date, I'll do that on Friday",
            "the cover still has the old date, I'll do that on Friday",
        ),
        (
            "Shall I shorten the piece about the summer fair?",
            "yes do that tomorrow",
            "shorten the piece about the summer fair, tomorrow",
        ),
        (
            "One thing is left: the printer needs the address list by the weekend.",
            "good catch, friday",
            "the printer needs the address list by the weekend, friday",
        ),
        (
            "The pages are set.",
            "The photo of the pond is too dark. I'll ask her",
            "The photo of the pond is too dark, I'll ask her",
        ),
        (
            "The pages are set.",
            "printed two copies, and Tessa sends the file on Monday",
            "Tessa sends the file on Monday",
        ),
    ],
)
def test_a_plan_is_told_with_its_matter(told: str, said: str, label: str) -> None:
    found = open_work(OPENING, told, said)
    assert any(label in one for one in found), found


@pytest.mark.parametrize(
    "said",
    [
        "could we do that on Monday?",
        "if it rains we move it to Sunday",
        "the meeting was on Monday",
        "I like that",
        "thanks, see you tomorrow",
        "Anna likes that",
        "the fair isn't open over the weekend",
    ],
)
def test_what_is_no_plan(said: str) -> None:
    assert open_work(OPENING, "The pages are set.", said) == []


def test_what_is_put_off_stays_open_when_the_talk_goes_on() -> None:
    answer = "Here is the list of addresses, sorted by street, with the three that came back last time marked. " * 3
    found = open_work(OPENING, "The pages are set.", "fix the footer on Friday. now sort the addresses", answer, "nice")
    assert any("footer" in label for label in found), found


def test_done_means_what_was_asked_for_now() -> None:
    said = "sort the addresses please. the photo of the pond I'll do on Sunday"
    found = open_work(OPENING, "The pages are set.", said, "Done.")
    assert [label for label in found if "photo" in label]
    assert not [label for label in found if label.startswith("sort")]


@pytest.mark.parametrize(("text", "expected"), [("I'll do that on Friday", True), ("sort the addresses", False)])
def test_putting_off(text: str, expected: bool) -> None:
    assert is_postponement(text) is expected


@pytest.mark.parametrize(
    "piece", ["I'll do that on Friday, ", "and the list is open, monday ", "Irina rewrites that; "]
)
def test_the_cost_grows_with_the_text(growth: Callable[[Callable[[str], object], str, int], float], piece: str) -> None:
    assert growth(plans, piece, 4_000) < 3


def test_an_interruption_leaves_what_was_announced_open() -> None:
    memory = SessionMemory.open("memory://", RULES_ONLY)
    told = "Now let me create the page for the members of the club:"
    interrupted = "[Response interrupted by user]"
    talk = [("user", OPENING), ("assistant", told), ("assistant", interrupted)]
    memory.record("s", [{"role": role, "content": text} for role, text in talk])
    found = [node.label for node in memory.graph("s").nodes(NodeType.TASK) if node.open]
    memory.close()
    assert found == ["create the page for the members of the club"]


def test_a_check_by_hand_is_not_done_by_what_passes() -> None:
    plan = "Implement this plan:\n\n- add a footer to each page\n- Manual: print one page and look at the margins"
    found = open_work(OPENING, "Which plan?", plan, "Done, all tests pass.")
    assert [label for label in found if label.startswith("Manual")]


def test_an_offer_behind_a_condition_is_taken_up() -> None:
    told = "The list is sorted. If you want, next I can build a page with the birthdays of all members."
    assert "build a page with the birthdays of all members" in open_work(OPENING, told, "yeah do that")
