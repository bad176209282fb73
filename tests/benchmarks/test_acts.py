"""The training text is well-formed, and its reader says what is wrong where it is not."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.acts import TAGS, parsed, repeated, scenes
from tokenmizer_mw.extract.score.classifier import DialogueAct

SENTENCES_MIN = 20_000
"""Sentences that the classifier is trained on at least."""


def test_a_scene_is_read() -> None:
    text = "== tax-form en\nU\n-: hey\nds: open this: now\n\nA\nXg: Done\n== next de\nU\n-: hi\n"
    first, second = parsed(text, "mixed")
    assert (first.name, first.language, first.author) == ("tax-form", "en", "mixed")
    assert [(turn.speaker, list(turn.lines)) for turn in first.turns] == [
        ("user", [(frozenset(), "hey"), ({DialogueAct.DECISION, DialogueAct.CHANGE}, "open this: now")]),
        ("assistant", [({DialogueAct.COMPLETION, DialogueAct.GOAL}, "Done")]),
    ]
    assert first.turns[0].text == "hey\n\nopen this: now"
    assert [sentence for _, sentence in first.lines] == ["hey", "open this: now", "Done"]
    assert (second.name, second.language) == ("next", "de")


def test_the_output_of_tools_is_context() -> None:
    (scene,) = parsed("== a en\nU\nr: no forks\nT\n| $ make\n|\n| d: ok\nA\nx: built")
    assert [(turn.speaker, turn.text) for turn in scene.turns] == [
        ("user", "no forks"),
        ("tool", "$ make\n\nd: ok"),
        ("assistant", "built"),
    ]
    assert list(scene.lines) == [
        ({DialogueAct.DECISION, DialogueAct.RULE}, "no forks"),
        ({DialogueAct.COMPLETION}, "built"),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("U\n-: hey", "file:1: before the first header"),
        ("== a en\n-: hey", "file:2: nobody speaks"),
        ("== a en\nU\nz: hey", "file:3: neither"),
        ("== a en\nU\nd:", "file:3: neither"),
        ("== a en\nU\nd", "file:3: neither"),
        ("== a en\nT\nd: ok", "file:3: neither"),
        ("== a en\nU\n| ok", "file:3: neither"),
        ("== a b en\nU\n-: hey", "file:1: a header"),
        ("== en\nU\n-: hey", "file:1: a header"),
    ],
)
def test_malformed_lines_are_named(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        parsed(text, where="file")


def test_names_that_several_scenes_have() -> None:
    assert repeated(parsed("== a en\n== b en\n== a de")) == ["a"]


def test_the_training_text_is_in_order() -> None:
    found = scenes()
    acts = Counter(act for scene in found for acts, _ in scene.lines for act in acts)
    assert repeated(found) == []
    assert all(scene.turns for scene in found)
    assert sum(1 for scene in found for _ in scene.lines) >= SENTENCES_MIN
    assert set(acts) == {act for acts in TAGS.values() for act in acts} == set(DialogueAct)
