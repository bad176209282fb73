"""The training text is well-formed, and its reader says what is wrong where it is not."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.acts import ACTS, parsed, repeated, scenes

SENTENCES_MIN = 5_000
"""Sentences that the classifier is trained on at least."""


def test_a_scene_is_read() -> None:
    text = (
        "== tax-form en\nU\nother: hey\nrequest: open this: now\n\nA\nquestion: With what?\n== next de\nU\nother: hi\n"
    )
    first, second = parsed(text, "mixed")
    assert (first.name, first.language, first.author) == ("tax-form", "en", "mixed")
    assert [(turn.speaker, list(turn.lines)) for turn in first.turns] == [
        ("user", [("other", "hey"), ("request", "open this: now")]),
        ("assistant", [("question", "With what?")]),
    ]
    assert first.turns[0].text == "hey\n\nopen this: now"
    assert [act for act, _ in first.lines] == ["other", "request", "question"]
    assert (second.name, second.language) == ("next", "de")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("U\nother: hey", "file:1: before the first header"),
        ("== a en\nother: hey", "file:2: nobody speaks"),
        ("== a en\nU\nwish: hey", "file:3: neither"),
        ("== a en\nU\nrequest:", "file:3: neither"),
        ("== a en\nU\nrequest", "file:3: neither"),
        ("== a b en\nU\nother: hey", "file:1: a header"),
        ("== en\nU\nother: hey", "file:1: a header"),
    ],
)
def test_malformed_lines_are_named(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        parsed(text, where="file")


def test_names_that_several_scenes_have() -> None:
    assert repeated(parsed("== a en\n== b en\n== a de")) == ["a"]


def test_the_training_text_is_in_order() -> None:
    found = scenes()
    acts = Counter(act for scene in found for act, _ in scene.lines)
    assert repeated(found) == []
    assert all(scene.turns for scene in found)
    assert acts.total() >= SENTENCES_MIN
    assert set(acts) == set(ACTS)
