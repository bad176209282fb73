from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import sample
from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.text.prose import find_sentences, one_line, replace_surrogates, strip_markdown

PROSE, ITEM, BOX = SegmentKind.PROSE, SegmentKind.LIST_ITEM, SegmentKind.CHECKBOX
HEADING, CODE, DIFF, LOG = SegmentKind.HEADING, SegmentKind.CODE, SegmentKind.DIFF, SegmentKind.LOG
QUOTE, TABLE = SegmentKind.QUOTE, SegmentKind.TABLE


def shown(text: str) -> list[tuple[SegmentKind, str]]:
    return [(piece.kind, piece.text) for piece in segment(text)]


SENTENCES = [
    ("", []),
    ("  \n\n ", []),
    ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
    (
        "Decided: bcrypt for hashing. Completed: models. Working on: api/auth.py",
        ["Decided: bcrypt for hashing.", "Completed: models.", "Working on: api/auth.py"],
    ),
    ("See api/auth.py and config.yaml. Then run it.", ["See api/auth.py and config.yaml.", "Then run it."]),
    ("Use Python 3.12 and v1.2.3, it costs 10.5 a day.", ["Use Python 3.12 and v1.2.3, it costs 10.5 a day."]),
    ("Some tools, e.g. ruff, i.e. linters, stay. Good.", ["Some tools, e.g. ruff, i.e. linters, stay.", "Good."]),
    ("Read https://example.com/a.b?c=d. Done.", ["Read https://example.com/a.b?c=d.", "Done."]),
    ("wow no. accepting that isn't ok", ["wow no.", "accepting that isn't ok"]),
    ("docker build . fails. help", ["docker build . fails.", "help"]),
    ("Ask Dr. Smith vs. the board.", ["Ask Dr. Smith vs. the board."]),
    (
        "Tests, docs etc. follow. Add tests etc. Then ship.",
        ["Tests, docs etc. follow.", "Add tests etc.", "Then ship."],
    ),
    ("well... maybe later. Wait... What?", ["well... maybe later.", "Wait...", "What?"]),
    ('He said "stop." Then (he left.) Quiet', ['He said "stop."', "Then (he left.)", "Quiet"]),
    ("**Done.** Next: tests", ["Done.", "Next: tests"]),
    ("你好。我们用 Redis 吗？不用！好", ["你好。", "我们用 Redis 吗？", "不用！", "好"]),
    ("はい。「そうです。」次", ["はい。", "「そうです。」", "次"]),
    ("ठीक है। कल करेंगे", ["ठीक है।", "कल करेंगे"]),
    ("Wirklich?! Ja.", ["Wirklich?!", "Ja."]),
    ("z.B. so. Und d.h. anders.", ["z.B. so.", "Und d.h. anders."]),
    ("first thought\nsecond thought", ["first thought", "second thought"]),
    (
        "This line is long enough that whoever wrote it let the editor\nwrap it here. End.",
        ["This line is long enough that whoever wrote it let the editor wrap it here.", "End."],
    ),
    ("apples, pears,\nPlums and more", ["apples, pears, Plums and more"]),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_prose_is_cut_into_sentences(text: str, expected: list[str]) -> None:
    assert shown(text) == [(PROSE, sentence) for sentence in expected]


BLOCKS = [
    ("```python\nx = 1\n```", [(CODE, "x = 1")]),
    ("~~~\na\n```\nb\n~~~\nafter", [(CODE, "a\n```\nb"), (PROSE, "after")]),
    ("````\n```\nx\n```\n````", [(CODE, "```\nx\n```")]),
    ("```\nnever closed\n- x", [(CODE, "never closed\n- x")]),
    ("```\n```", [(CODE, "")]),
    ("```inline``` code", [(PROSE, "inline code")]),
    ("```diff\n-a\n+b\n```", [(DIFF, "-a\n+b")]),
    ("```\ndiff --git a/x b/x\n```", [(DIFF, "diff --git a/x b/x")]),
    ("Try:\n\n    a()\n    b()\n\nok", [(HEADING, "Try:"), (CODE, "a()\n    b()"), (PROSE, "ok")]),
    (
        "before\ndiff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a\n+b\n\nafter",
        [
            (PROSE, "before"),
            (DIFF, "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a\n+b"),
            (PROSE, "after"),
        ],
    ),
    ("--- a/x\n+++ b/x\n-a\n+b\n\n- item", [(DIFF, "--- a/x\n+++ b/x\n-a\n+b"), (ITEM, "item")]),
    ("<<<<<<< SEARCH\na\n=======\n>>>>>>> R\nx", [(DIFF, "<<<<<<< SEARCH\na\n=======\n>>>>>>> R"), (PROSE, "x")]),
    ("> quoted\n> more\nmine", [(QUOTE, "quoted\nmore"), (PROSE, "mine")]),
    ("> - [ ] not mine", [(QUOTE, "- [ ] not mine")]),
    ("| a | b |\n|---|---|\nafter", [(TABLE, "| a | b |\n|---|---|"), (PROSE, "after")]),
    ("a | b\n--|--\n1 | 2", [(TABLE, "a | b\n--|--\n1 | 2")]),
    ("either a | b, you choose", [(PROSE, "either a | b, you choose")]),
    (
        "it fails:\nTraceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\nKeyError: 'x'\nwhy",
        [
            (HEADING, "it fails:"),
            (LOG, "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\nKeyError: 'x'"),
            (PROSE, "why"),
        ],
    ),
    ("I get\n\na.b.DataError: no\n\nhelp", [(PROSE, "I get"), (LOG, "a.b.DataError: no"), (PROSE, "help")]),
    ("[2026-11-18 19:02:11] cloud: failed\nhm", [(LOG, "[2026-11-18 19:02:11] cloud: failed"), (PROSE, "hm")]),
    ("src/a.ts:3:7: error TS1: bad", [(LOG, "src/a.ts:3:7: error TS1: bad")]),
    (
        r"C:\A B\P.cs : warning ASP1: use x instead" + "\nok then",
        [(LOG, r"C:\A B\P.cs : warning ASP1: use x instead"), (PROSE, "ok then")],
    ),
    ("$ npm test\nok then", [(LOG, "$ npm test"), (PROSE, "ok then")]),
    ("Error: login fails", [(PROSE, "Error: login fails")]),
    ("# Title\ntext\n## Sub ##", [(HEADING, "Title"), (PROSE, "text"), (HEADING, "Sub ##")]),
    ("Title\n=====\ntext", [(HEADING, "Title"), (PROSE, "text")]),
    ("**What changed**\n\ntext", [(HEADING, "What changed"), (PROSE, "text")]),
    ("**It works.**", [(PROSE, "It works.")]),
    ("#hashtag and #1 stay", [(PROSE, "#hashtag and #1 stay")]),
    ("a\n\n---\n\nb", [(PROSE, "a"), (PROSE, "b")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BLOCKS)
def test_blocks(text: str, expected: list[tuple[SegmentKind, str]]) -> None:
    assert shown(text) == expected


ITEMS = [
    ("- a\n* b\n+ c\n• d\n– e", [("-", "a"), ("*", "b"), ("+", "c"), ("•", "d"), ("–", "e")]),
    ("1. a\n2) b\n(3) c\na) d\n4、e", [("1.", "a"), ("2)", "b"), ("(3)", "c"), ("a)", "d"), ("4、", "e")]),
    ("- a\n  goes on\n- b", [("-", "a goes on"), ("-", "b")]),
    ("- First. Second.", [("-", "First."), ("", "Second.")]),
    ("- **bold**: text", [("-", "bold: text")]),
    ("-no item", []),
    ("3.12 is out", []),
    ("2026. a year", []),
    ("a - b", []),
]


@pytest.mark.parametrize(("text", "expected"), ITEMS)
def test_list_items_carry_their_markers(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(piece.info, piece.text) for piece in segment(text) if piece.kind is ITEM] == expected


BOXES = [
    ("- [x] a\n- [ ] b", [("a", True), ("b", False)]),
    ("* [X] a\n1. [x] b\n  - [ ] c", [("a", True), ("b", True), ("c", False)]),
    ("[x] a\n[ ] b", [("a", True), ("b", False)]),
    ("☑ a\n☐ b", [("a", True), ("b", False)]),
    ("- ✅ a\n- ⬜ b", [("a", True), ("b", False)]),
    ("✅ a\n✅ b", [("a", True), ("b", True)]),
    ("✅ All tests pass", []),
    ("- [-] a\n- [~] b", [("a", False), ("b", False)]),
    ("- [link](x) a", []),
    ("- [y] a", []),
    ("array[ ] access", []),
    ("```\n- [ ] a\n```", []),
]


@pytest.mark.parametrize(("text", "expected"), BOXES)
def test_checkboxes(text: str, expected: list[tuple[str, bool]]) -> None:
    assert [(piece.text, piece.checked) for piece in segment(text) if piece.kind is BOX] == expected


HEADINGS = [
    ("## Next steps\n- a\n\ntext", ["", "Next steps", "Next steps"]),
    ("Next steps:\n- a\n- b\n\ntext", ["", "Next steps", "Next steps", ""]),
    ("# T\nPending:\n\n- a\n\ntext", ["", "T", "Pending", "T"]),
    ("Summary\n\n- a", ["", "Summary"]),
    ("I did this and that. Open points:\n- a", ["", "", "Open points"]),
    ("**Left:**\n1. a", ["", "Left"]),
    ("three points, one by one:\n1. a", ["", "three points, one by one"]),
    ("it is done\n- a", ["", ""]),
]


@pytest.mark.parametrize(("text", "expected"), HEADINGS)
def test_headings_and_lead_ins_stand_over_what_follows(text: str, expected: list[str]) -> None:
    assert [piece.heading for piece in segment(text)] == expected


PLAIN = [
    ("**bold** and *it* and _em_ and ~~gone~~", "bold and it and em and gone"),
    ("`code_with_marks*` stays", "code_with_marks* stays"),
    ("snake_case and __init__.py and 2 * 3 * 4", "snake_case and __init__.py and 2 * 3 * 4"),
    ("src/**/*.ts and *.py and *.md", "src/**/*.ts and *.py and *.md"),
    ("``a ` b``", "a ` b"),
    ("an odd ` backtick with *star*", "an odd ` backtick with star"),
    ("前端**重试**会", "前端重试会"),
    ("[words](http://x.y/z) ![alt](p.png)", "words alt"),
    ("a](b [c](d", "a](b [c](d"),
    ("***both***", "both"),
    ("a\n  b", "a b"),
]


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_plain_text_has_no_marks(text: str, expected: str) -> None:
    assert strip_markdown(text) == expected


def test_one_line_cuts_at_a_word() -> None:
    assert one_line("a\n b", 10) == "a b"
    assert one_line("one two three", 10) == "one two…"
    assert one_line("x" * 20, 10) == "x" * 9 + "…"


def test_lone_surrogates_keep_their_place() -> None:
    text = "a\ud800b. é"
    assert len(replace_surrogates(text)) == len(text)
    assert [piece.start for piece in segment(text)] == [0, 5]


def test_caps() -> None:
    assert len(segment("a. " * 50, segments_max=7)) == 7
    assert segment("x" * 50, chars_max=10)[0].text == "x" * 10
    assert len(segment("- a\n" * 10_000)) == 4_000


SNIPPETS = st.sampled_from(
    ["- [ ] a", "* b. c", "1. d", "> q", "```", "~~~", "# h", "| a | b |", "|---|---|", "KeyError: 1", "**b**", "Next:",
     "Traceback (most recent call last):", "  File \"a\", line 1", "diff --git a/x b/x", "--- a", "+++ b",
     "@@ -1 +1 @@", "<<<<<<< x", ">>>>>>> y", "text. More text! 好。", "", "    code", "===", "☑ x", "é\ud800"]
)  # fmt: skip
TEXTS = st.text() | st.lists(SNIPPETS | st.text(max_size=20)).map("\n".join)


@given(TEXTS)
def test_segments_are_in_order_and_true_to_the_text(text: str) -> None:
    source = replace_surrogates(text)
    end = 0
    for piece in segment(text):
        assert end <= piece.start <= piece.end <= len(text)
        end = piece.end
        within = source[piece.start : piece.end]
        if piece.kind in (CODE, DIFF, LOG, TABLE):
            assert piece.text == within
        else:
            assert _is_subsequence(_letters(piece.text), _letters(within))


@given(TEXTS)
def test_no_letter_outside_of_segments_but_in_marks(text: str) -> None:
    covered = [False] * len(text)
    for piece in segment(text):
        covered[piece.start : piece.end] = [True] * (piece.end - piece.start)
    for line, start in _lines(replace_surrogates(text)):
        if line.strip() and "`" not in line and "~" not in line and not line.strip(" >|-=_*+#.()[]:").isascii():
            assert any(covered[start : start + len(line)])


@given(TEXTS, st.integers(0, 30), st.integers(0, 30))
def test_sentences_stay_within_their_range(text: str, start: int, length: int) -> None:
    end = min(len(text), start + length)
    spans = find_sentences(text, min(start, end), end)
    assert all(start <= low < high <= end for low, high in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(char in rest for char in short)


def _lines(text: str) -> list[tuple[str, int]]:
    found, start = [], 0
    for line in text.split("\n"):
        found.append((line, start))
        start += len(line) + 1
    return found


HOSTILE = [
    " ", "\n", "a.", "a. ", "A", "Decided: ", '"', "'", "`", "` ", "*a ", "**a** ", "_", "[", "](", "[x](", "- [ ] ",
    "- [ ] x\n", "- a\n", "1. a\n", "> ", "> x\n", "|", "|a|\n", "# x\n", "```\n", "~~~\n", "--- a\n+++ b\n\n",
    "Traceback (most recent call last):\n", "Traceback (most recent call last):\n  File \"x\", line 3\nKeyError: 1\n",
    "<<<<<<< \n", "a:\n", "a\n---\n", "    x\n\n", "✅\n", "。", "1.1.1 ", "?!", "Dr. ", "e.g. ", "a,\n", "...",
    "\u2028", "é.",
]  # fmt: skip


@pytest.mark.parametrize("unit", sample(HOSTILE, 3))
def test_time_is_linear(unit: str, growth: Callable[[Callable[[str], object], str, int], float]) -> None:
    def read(text: str) -> list[Segment]:
        return segment(text, segments_max=10**9, chars_max=10**9)

    assert growth(read, unit, 20_000) <= 3


@pytest.mark.parametrize("unit", sample(HOSTILE, 3))
def test_a_megabyte_of_anything(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    start = time.process_time()
    segment(text, chars_max=1_000_000)
    assert time.process_time() - start < 2
