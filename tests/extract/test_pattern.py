"""Many patterns at once say what each of them says alone."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest

from tokenmizer_mw.extract.match.assignment_patterns import WAYS
from tokenmizer_mw.extract.rules import RULES
from tokenmizer_mw.extract.rules.tongues import TONGUES
from tokenmizer_mw.extract.text.pattern import PatternSet, PatternTable, compile_lazily

ABROAD = json.loads(Path(__file__).with_name("said_abroad.json").read_text(encoding="utf-8"))
TEXTS = sorted(
    {text for row in RULES for text in (row.example, row.counter)}
    | {text for rows in ABROAD.values() for _, _, *texts in rows for text in texts}
    | {"", " ", "ſie ſagt STRASSE", "K"}
)
TABLES = {
    "english": [rule.pattern for rule in RULES],
    "ways": [f"(?:{way.pattern})$" for way in WAYS],
    **{tongue.code: [rule.pattern for rule in tongue.rules] for tongue in TONGUES},
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_finds_what_its_patterns_find_alone(name: str) -> None:
    patterns = TABLES[name]
    table = PatternTable(patterns)
    alone = [compile_lazily(pattern) for pattern in patterns]
    for text in TEXTS[::3]:
        assert table.matching(text) == [number for number, one in enumerate(alone) if one.match(text)], text


@pytest.mark.parametrize("name", TABLES)
def test_a_pattern_of_a_table_gives_the_groups_that_it_gives_alone(name: str) -> None:
    patterns = TABLES[name]
    table = PatternTable(patterns)
    for text in TEXTS:
        for number in table.matching(text):
            one, other = table[number].match(text), compile_lazily(patterns[number]).match(text)
            assert one is not None and other is not None
            assert table[number].groups == compile_lazily(patterns[number]).groups
            assert [one.group(group) for group in table[number].groups] == [
                other.group(group) for group in table[number].groups
            ]


def test_a_table_without_words_is_held_against_every_text() -> None:
    table = PatternTable([r"[0-9]+", r".*"])
    assert table.matching("12") == [0, 1]
    assert table.matching("") == [1]
    assert PatternTable([]).matching("a") == []


def test_a_number_that_a_table_does_not_have() -> None:
    with pytest.raises(IndexError):
        PatternTable(["a"])[1]


def test_a_set_says_which_and_whether() -> None:
    few = PatternSet("ab", "a", "b")
    assert few.matching("ABC") == [0, 1]
    assert few.any("b") and not few.any("xb")


@pytest.mark.parametrize("name", "LMN")
def test_classes_of_signs_hold_no_others(name: str) -> None:
    pattern = compile_lazily(rf"(?-i:\p{name})$")
    assigned = [sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(sign)[0] != "C"]
    assert {unicodedata.category(sign)[0] for sign in assigned if pattern.match(sign)} == {name}


@pytest.mark.parametrize(
    "word",
    ["naïve", "Straße", "ação", "Москва", "Ελλάδα", "עברית", "العربية", "हिन्दी", "ไทย", "中文", "日本語", "한국어"],
)
def test_letters_of_scripts_that_people_write_are_letters(word: str) -> None:
    assert compile_lazily(r"(?:\pL\pM*)+$").match(word) is not None


def test_positions_of_groups_are_those_of_re() -> None:
    pattern, text = r"(?P<name>\S+) ?(?P<version>[0-9]+)?(?P<empty>)", "größe x"
    ours, theirs = compile_lazily(pattern).search(text), re.search(pattern, text)
    assert ours is not None and theirs is not None
    for group in ("name", "version", "empty"):
        assert (ours.start(group), ours.end(group)) == theirs.span(group)
    assert (ours.start(), ours.end()) == theirs.span()
    assert ours.start("version") == -1
    assert ours.group("version") == ours.group("empty") == ""
