"""The learned stage: the file of weights, how they are added up, and what comes of a guess."""

from __future__ import annotations

import json
import math
import random

import pytest

from tokenmizer_mw.extract.acts import read_acts
from tokenmizer_mw.extract.cues import cues
from tokenmizer_mw.extract.finding import Finding, Segment, SegmentKind
from tokenmizer_mw.extract.guessing import GUESSED_MAX, Judged, beside
from tokenmizer_mw.extract.kinds import kind_of
from tokenmizer_mw.extract.learned import CUES_MAX, MODEL_MAX, BadModel, DialogueAct, Model, shipped
from tokenmizer_mw.extract.reading import hits
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.segment import segment
from tokenmizer_mw.extract.situation import Situation, situation_of
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType, Status

ACTS = tuple(DialogueAct)


def _weights(*rows: dict[DialogueAct, int]) -> bytes:
    return bytes(row.get(act, 0) & 0xFF for row in rows for act in ACTS)


def _model(**rows: dict[DialogueAct, int]) -> Model:
    """Weights of words, in tenths."""
    return Model(ACTS, [f"w:{word}" for word in rows], _weights(*rows.values()), 0.1)


def _situation(text: str, role: Role = Role.USER) -> Situation:
    return situation_of((3, Message(role, text)), [(1, Message(Role.USER, "Build the shop."))], has_goal=True)


def _read(text: str, model: Model | None, role: Role = Role.USER) -> list[Finding]:
    return read_acts(segment(text), _situation(text, role), model=model)


def test_a_model_survives_its_file() -> None:
    model = _model(blue={ACTS[0]: 127, ACTS[3]: -128}, green={ACTS[1]: 5})
    again = Model.from_bytes(model.to_bytes())
    assert (again.classes, again.cues, again.weights, again.scale) == (ACTS, model.cues, model.weights, 0.1)


def _with_header(data: bytes, **changes: object) -> bytes:
    line, _, body = data.partition(b"\n")
    return json.dumps({**json.loads(line), **changes}).encode() + b"\n" + body


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a model file"),
        (b"weights", "not a model file"),
        (b"[]\n", "not a model file"),
        (_with_header(_model(a={}).to_bytes(), format=2), "format 2"),
        (_with_header(_model(a={}).to_bytes(), classes=["wish"]), "not a model file"),
        (_with_header(_model(a={}).to_bytes(), classes=["rule"]), "weights for"),
        (_model(a={}).to_bytes()[:-1], "digest"),
        (_model(a={}).to_bytes() + bytes(MODEL_MAX), "digest"),
    ],
)
def test_a_damaged_file_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(BadModel, match=why):
        Model.from_bytes(data)


def test_lanes_add_up_like_numbers() -> None:
    rng = random.Random(7)
    names = [f"cue {number}" for number in range(CUES_MAX)]
    table = {name: [rng.randint(-128, 127) for _ in ACTS] for name in names}
    model = Model(ACTS, names, bytes(weight & 0xFF for row in table.values() for weight in row), 0.01)
    for count in (0, 1, 7, CUES_MAX):
        some = rng.sample(names, count)
        guess = model.guess(model.weight([*some, "never seen"]))
        sums = [sum(table[name][at] for name in some) * 0.01 for at in range(len(ACTS))]
        raised = [math.exp(one - max(sums)) for one in sums]
        assert guess.odds == pytest.approx([one / sum(raised) for one in raised])
        assert guess.act is ACTS[sums.index(max(sums))]
        assert guess.chance(frozenset(ACTS)) == pytest.approx(1.0)


def test_no_sentence_overflows_a_lane() -> None:
    full = Model(ACTS, ["cue"], bytes([127] * len(ACTS)), 0.01)
    guess = full.guess(full.weight(["cue"] * 10_000) + full.weight(["cue"] * (257 - CUES_MAX)))
    assert guess.odds == pytest.approx([1 / len(ACTS)] * len(ACTS))


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("the", "the"),
        ("added", "<did>"),
        ("crashes", "<fails>"),
        ("don't", "<no>"),
        ("walking", "~ing"),
        ("tables", "~s"),
        ("tree", "~"),
        ("8080", "#"),
        ("a_b.py", "`"),
    ],
)
def test_kinds_of_words(word: str, kind: str) -> None:
    assert kind_of(word) == kind


def test_cues_of_a_sentence() -> None:
    said = Segment(SegmentKind.LIST_ITEM, "Tests pass now!", 0, 15, "-", None, "Results")
    found = cues(said, hits(said.text, Speaker.ASSISTANT), Speaker.ASSISTANT)
    assert {"w:tests", "b:pass now", "assistant:ends:!", "assistant:list_item", "item:under:results"} <= set(found)


def test_the_number_of_cues_is_bound() -> None:
    long = Segment(SegmentKind.PROSE, "word " * 5_000, 0, 25_000)
    assert len(cues(long, (), Speaker.USER)) <= CUES_MAX


def test_neighbours_are_cues() -> None:
    around = ["user:before:question", "user:behind:other", "user:told:rule"]
    assert beside("question", "other", 1, "rule", Speaker.USER) == around
    assert beside("question", "other", 0, "rule", Speaker.USER)[-1] == "user:answers:rule"
    assert beside("", "", 0, "", Speaker.ASSISTANT) == ["assistant:before:", "assistant:behind:"]


def test_only_so_many_sentences_are_judged() -> None:
    said = ["The lamp was painted."] * GUESSED_MAX
    model = _model(zebra={DialogueAct.COMPLETION: 120})
    assert len(_read("\n\n".join([*said[1:], "Zebra stripes on every lamp."]), model, Role.ASSISTANT)) == 1
    assert _read("\n\n".join([*said, "Zebra stripes on every lamp."]), model, Role.ASSISTANT) == []


def _judged(text: str, model: Model) -> Judged:
    spoken = segment(text)
    return Judged(spoken, [()] * len(spoken), _situation(text), model)


def test_neighbours_change_what_a_sentence_does() -> None:
    names = ["w:zebra", "user:before:question", "user:behind:question"]
    rows = ({DialogueAct.QUESTION: 50}, {DialogueAct.RULE: 40}, {DialogueAct.DECISION: 30})
    judged = _judged("Zebra. Lamp. Tree. Zebra.", Model(ACTS, names, _weights(*rows), 0.1))
    assert [judged.guess(at).act for at in range(4)] == [
        DialogueAct.QUESTION,
        DialogueAct.RULE,
        DialogueAct.DECISION,
        DialogueAct.QUESTION,
    ]


def test_what_neighbours_cannot_bring_about_is_left_out() -> None:
    """The bound that saves a second look holds whatever stands around: no guess that was possible is lost."""
    rng = random.Random(3)
    names = [f"w:{word}" for word in ("zebra", "lamp", "tree")]
    names += [f"user:{side}:{act}" for side in ("before", "behind", "told", "answers") for act in ("", *ACTS)]
    for _ in range(20):
        model = Model(ACTS, names, bytes(rng.randint(0, 255) for _ in range(len(names) * len(ACTS))), 0.02)
        judged = _judged("Zebra and lamp. A tree, a lamp. The zebra. A tree.", model)
        for at in range(4):
            guess = judged.guess(at)
            for act in ACTS:
                assert judged.may_be(at, frozenset({act}), guess.chance(frozenset({act})) - 1e-9)


def test_a_hopeless_sentence_is_judged_once() -> None:
    model = _model(zebra={DialogueAct.OTHER: 120})
    assert not _judged("Zebra stripes.", model).may_be(0, frozenset({DialogueAct.DECISION}), 0.5)
    assert _judged("Zebra stripes.", model).may_be(0, frozenset({DialogueAct.OTHER}), 0.5)


@pytest.mark.parametrize(
    ("role", "act", "type_", "status"),
    [
        (Role.USER, DialogueAct.DECISION, NodeType.DECISION, Status.ACTIVE),
        (Role.USER, DialogueAct.COMPLAINT, NodeType.ERROR, Status.ACTIVE),
        (Role.ASSISTANT, DialogueAct.COMPLETION, NodeType.TASK, Status.COMPLETED),
        (Role.ASSISTANT, DialogueAct.DECISION, None, None),
        (Role.USER, DialogueAct.OTHER, None, None),
    ],
)
def test_what_comes_of_a_guess(role: Role, act: DialogueAct, type_: NodeType | None, status: Status | None) -> None:
    text = "Zebra stripes on every lamp."
    assert _read(text, None, role) == []
    found = _read(text, _model(zebra={act: 120}), role)
    assert [(finding.type, finding.status) for finding in found] == ([(type_, status)] if type_ else [])
    assert all("Zebra stripes on every lamp" in finding.label for finding in found)


@pytest.mark.parametrize("text", ["Zebra?", "Zebra.", "Is that zebra striped or spotted?", "that zebra"])
def test_questions_and_hollow_sentences_become_nothing(text: str) -> None:
    assert _read(text, _model(zebra={DialogueAct.DECISION: 120})) == []


def test_doubtful_guesses_become_nothing() -> None:
    assert _read("Zebra stripes on every lamp.", _model(zebra={DialogueAct.DECISION: 9})) == []


def test_rules_come_first() -> None:
    model = _model(use={DialogueAct.COMPLAINT: 120})
    assert _read("Let's use Redis for the cache.", model) == _read("Let's use Redis for the cache.", None)


def test_the_shipped_model() -> None:
    model = shipped()
    assert set(model.classes) == set(DialogueAct)
    assert len(model.to_bytes()) <= MODEL_MAX
    assert {"user:bias", "assistant:bias", "user:answers:question"} <= set(model.cues)
    assert shipped() is model
