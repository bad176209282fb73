"""The learned stage: the file of weights, how they are added up, and what comes of a guess."""

from __future__ import annotations

import json
import math
import random

import pytest

from tokenmizer_mw.extract.candidates.acts import read_acts
from tokenmizer_mw.extract.dialogue.situation import Situation, read_situation
from tokenmizer_mw.extract.finding import Finding, Segment, SegmentKind
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.score.classifier import CUES_MAX, MODEL_MAX, BadModel, DialogueAct, Model, load_shipped_model
from tokenmizer_mw.extract.score.classifier_findings import GUESSED_MAX
from tokenmizer_mw.extract.score.cues import cues_of_neighbours, cues_of_sentence
from tokenmizer_mw.extract.score.kinds import kind_of
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import NodeType, Status

ACTS = tuple(DialogueAct)
NOTHING = dict.fromkeys(ACTS, -120)
"""Weights of a word that tells that a sentence does nothing."""


def _weights(*rows: dict[DialogueAct, int]) -> bytes:
    return bytes(row.get(act, 0) & 0xFF for row in rows for act in ACTS)


def _model(**rows: dict[DialogueAct, int]) -> Model:
    """Weights of words, in tenths."""
    return Model(ACTS, [f"w:{word}" for word in rows], _weights(*rows.values()), 0.1)


def _situation(text: str, role: Role = Role.USER) -> Situation:
    return read_situation((3, Message(role, text)), [(1, Message(Role.USER, "Build the shop."))], has_goal=True)


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
        (_with_header(_model(a={}).to_bytes(), classes=["decision"]), "made for the acts"),
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
        assert guess.odds == pytest.approx([1 / (1 + math.exp(-one)) for one in sums])
        assert [guess.chance(act) for act in ACTS] == list(guess.odds)


@pytest.mark.parametrize(("weight", "odds"), [(127, 1.0), (-128, 0.0)])
def test_no_sentence_overflows_a_lane(weight: int, odds: float) -> None:
    full = Model(ACTS, ["cue"], bytes([weight & 0xFF] * len(ACTS)), 1.0)
    guess = full.guess(full.weight(["cue"] * 10_000))
    assert guess.odds == pytest.approx([odds] * len(ACTS))


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
    found = cues_of_sentence(said, read_hits(said.text, Speaker.ASSISTANT), Speaker.ASSISTANT)
    assert {"w:tests", "b:pass now", "assistant:ends:!", "assistant:list_item", "item:under:results"} <= set(found)


@pytest.mark.parametrize("text", ["word " * 5_000, "".join(map(chr, range(0x4E00, 0x7000)))])
def test_the_number_of_cues_is_bound(text: str) -> None:
    assert len(cues_of_sentence(Segment(SegmentKind.PROSE, text, 0, len(text)), (), Speaker.USER)) <= CUES_MAX


def test_forms_of_a_word_share_cues() -> None:
    one, other = (
        {
            cue
            for cue in cues_of_sentence(Segment(SegmentKind.PROSE, text, 0, len(text)), (), Speaker.USER)
            if cue.startswith("n:")
        }
        for text in ("verschoben", "verschieben wir")
    )
    assert {"n: ver", "n:vers", "n:ersc", "n:rsch", "n:ben "} <= one & other


def test_neighbours_are_cues() -> None:
    (choice,) = read_hits("Use Redis", Speaker.USER)
    situation = _situation("Use Redis")
    assert cues_of_neighbours((choice,), (), situation) == ["user:rule-before:choice", "user:rule-behind:", "user:talk"]
    assert cues_of_neighbours((), (choice,), situation) == ["user:rule-before:", "user:rule-behind:choice", "user:talk"]


def test_only_so_many_sentences_are_judged() -> None:
    said = ["The lamp was painted."] * GUESSED_MAX
    model = _model(zebra=NOTHING | {DialogueAct.COMPLETION: 127}, lamp=NOTHING, painted=NOTHING)
    assert len(_read("\n\n".join([*said[1:], "Zebra stripes on every lamp."]), model, Role.ASSISTANT)) == 1
    assert _read("\n\n".join([*said, "Zebra stripes on every lamp."]), model, Role.ASSISTANT) == []


@pytest.mark.parametrize(
    ("role", "act", "type_", "status"),
    [
        (Role.USER, DialogueAct.DECISION, NodeType.DECISION, Status.ACTIVE),
        (Role.USER, DialogueAct.COMPLAINT, NodeType.ERROR, Status.ACTIVE),
        (Role.USER, DialogueAct.POSTPONEMENT, NodeType.TASK, Status.PENDING),
        (Role.ASSISTANT, DialogueAct.COMPLETION, NodeType.TASK, Status.COMPLETED),
    ],
)
def test_what_comes_of_a_guess(role: Role, act: DialogueAct, type_: NodeType, status: Status) -> None:
    text = "Zebra stripes on every lamp."
    assert _read(text, _model(zebra=NOTHING), role) == []
    (found,) = _read(text, _model(zebra=NOTHING | {act: 120}), role)
    assert (found.type, found.status) == (type_, status)
    assert "Zebra stripes on every lamp" in found.label


@pytest.mark.parametrize("text", ["Zebra?", "Is that zebra striped or spotted?", "that zebra"])
def test_questions_and_hollow_sentences_become_nothing(text: str) -> None:
    assert _read(text, _model(zebra=NOTHING | {DialogueAct.DECISION: 120})) == []


def test_doubtful_guesses_become_nothing() -> None:
    assert _read("Zebra stripes on every lamp.", _model(zebra=NOTHING | {DialogueAct.DECISION: -30})) == []


def test_rules_come_first() -> None:
    model = _model(use=NOTHING | {DialogueAct.DECISION: 120})
    assert _read("Let's use Redis for the cache.", model) == _read("Let's use Redis for the cache.", None)


def test_the_shipped_model() -> None:
    model = load_shipped_model()
    assert set(model.classes) == set(DialogueAct)
    assert len(model.to_bytes()) <= MODEL_MAX
    assert {"user:bias", "assistant:bias", "user:talk"} <= set(model.cues)
    assert load_shipped_model() is model


def test_what_the_model_takes_for_wrong_is_not_read() -> None:
    text = "The lamp is broken."
    sure, unsure = _model(lamp=NOTHING | {DialogueAct.COMPLAINT: 120}), _model(lamp=NOTHING)
    assert [found.type for found in _read(text, None)] == [NodeType.ERROR]
    assert _read(text, sure) == _read(text, None)
    assert _read(text, unsure) == []


def test_formal_markers_are_not_doubted() -> None:
    text = "Decided: Redis for the lamp."
    assert _read(text, _model(lamp=NOTHING)) == _read(text, None) != []


NEVER_DONE = [
    "I've never tested it with any interface before, and I'm not sure how to handle the errors",
    "We have never kept bees before, and we want to learn how to do it well",
]


@pytest.mark.parametrize("text", NEVER_DONE)
def test_what_somebody_has_never_done_settles_nothing(text: str) -> None:
    model = _model(never={DialogueAct.RULE: 120}, before={DialogueAct.RULE: 120})
    assert not _read(text, model)
    assert _read(text.replace("'ve never", " never").replace(" have never", " never"), model)
