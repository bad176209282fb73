"""What the classifier of dialogue acts is trained on: acts by their lines, weights, and what authors tell."""

from __future__ import annotations

import pytest

from benchmarks.act_rows import TAGGED, TOLD_MIN, Row, rows_of, weighted
from benchmarks.acts import parsed
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.score.classifier import DialogueAct

TALK = "== a en\nU\ng: Sort the photos.\nT\n| 12 files\nA\n-: I looked. They are all of one day.\nx: Sorted by hour.\n"


def test_sentences_are_cut_as_at_run_time() -> None:
    (scene,) = parsed(TALK, "w9")
    rows = rows_of(scene)
    assert [(row.text, row.speaker, set(row.acts)) for row in rows] == [
        ("Sort the photos.", Speaker.USER, {DialogueAct.GOAL}),
        ("I looked.", Speaker.ASSISTANT, set()),
        ("They are all of one day.", Speaker.ASSISTANT, set()),
        ("Sorted by hour.", Speaker.ASSISTANT, {DialogueAct.COMPLETION}),
    ]
    assert "assistant:tools" in rows[-1].own


def _row(author: str, *acts: DialogueAct) -> Row:
    return Row(frozenset(acts), "text", [], Speaker.USER, "talk", author, english=True)


def test_what_an_author_never_tells_is_unknown() -> None:
    often = [_row("w1", DialogueAct.GOAL)] * TOLD_MIN
    rarely = [_row("w2", DialogueAct.RULE)] * (TOLD_MIN - 1)
    rows = weighted([*often, _row("w1"), *rarely, _row("w2")])
    assert {row.told for row in rows if row.author == "w1"} == {frozenset({DialogueAct.GOAL})}
    assert {row.told for row in rows if row.author == "w2"} == {frozenset()}


@pytest.mark.parametrize("idle", [2, 6, 60])
def test_idle_sentences_stand_for_as_many_as_real_transcripts_have(idle: int) -> None:
    rows = weighted([*[_row("w1", DialogueAct.GOAL)] * 6, *[_row("w1")] * idle])
    share = 6 / sum(row.weight for row in rows)
    assert share <= TAGGED[Speaker.USER] + 1e-9
    assert min(row.weight for row in rows) == 1.0
