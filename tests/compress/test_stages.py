"""Each stage by itself: what goes in, what comes out, and what it must leave alone."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tokenmizer_mw.compress import comments, filler, history, listings, logs, shorten, spaces
from tokenmizer_mw.compress.names import Known, names
from tokenmizer_mw.compress.passage import Kind, Passage, Sort
from tokenmizer_mw.compress.repeats import Forwarded
from tokenmizer_mw.compress.sorts import sort_of

from .chats import listing, printed_by_pytest, source


def output(text: str, *, tool: str = "tool", path: str = "", command: str = "") -> Passage:
    return Passage(0, Kind.RESULT, text, tool, path, command)


@pytest.mark.parametrize("row", [*filler.OPENINGS, *filler.CLOSINGS], ids=lambda row: row.example)
def test_rows_of_filler(row: filler.Row) -> None:
    text = f"{row.example} The port is 8080." if row in filler.OPENINGS else f"The port is 8080. {row.example}"
    kept = f"{row.counter} The port is 8080." if row in filler.OPENINGS else f"The port is 8080. {row.counter}"
    assert filler.without_filler(text) == "The port is 8080."
    assert filler.without_filler(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Sure!",
        "Hope this helps!",
        "Surely the port is 8080.",
        "He wrote: Sure! And left.",
        '"Sure!" he said. The port is 8080.',
        "> Sure! The port is 8080.",
        "```\nprint(1)\nHope this helps!",
        "The text ends with `Hope this helps!`",
        "    Sure!\n    the code is indented",
        "I hope this helps!\n\nThe port is 8080.",
    ],
)
def test_filler_stays_where_it_may_be_something_else(text: str) -> None:
    assert filler.without_filler(text) == text


def test_json_is_laid_out_closer_and_spelled_the_same() -> None:
    value = '{\n  "a": 1.0,\n  "b": [1e3, -0.0, "two  words\\n", "\\u00fc"],\n  "c": {"d": null}\n}'
    assert spaces.json_closer(value) == '{"a":1.0,"b":[1e3,-0.0,"two  words\\n","\\u00fc"],"c":{"d":null}}'


@pytest.mark.parametrize("text", ["{\n  not json\n}", '{"a": 1}', "{\n  'a': 1\n}", "", "[\n 1,\n]", "plain\n  text"])
def test_what_is_no_json_or_not_laid_out_stays(text: str) -> None:
    assert spaces.json_closer(text) is text


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[32mok\x1b[0m done", "ok done"),
        ("10 %\r50 %\r100 %\nend", "100 %\nend"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("a   \nb\t\nc", "a\nb\nc"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("\x1b]0;title\x07text", "text"),
        ("  indented\n    more", "  indented\n    more"),
    ],
)
def test_what_is_printed_is_told_as_a_screen_shows_it(printed: str, shown: str) -> None:
    assert spaces.printed(printed) == shown


def test_runs_of_tests_that_passed_are_told_by_their_ends_and_failures_stay() -> None:
    text = printed_by_pytest(20, "test_half_up")
    assert logs.condensed(text).split("\n") == [
        "tests/test_invoice.py::test_case_0 PASSED",
        "[... 17 more that passed ...]",
        "tests/test_invoice.py::test_case_18 PASSED",
        "tests/test_invoice.py::test_case_19 PASSED",
        "tests/test_invoice.py::test_half_up FAILED",
        "E   AssertionError: assert 12.35 == 12.34",
        "1 failed, 20 passed in 1.23s",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{at} {at * 3} total" for at in range(10)),
        "\n".join(f"ERROR 2026-11-03 10:00:0{at} request {at} failed" for at in range(10)),
        "a\na\na",
        "",
    ],
)
def test_rows_of_numbers_and_failures_are_no_run(text: str) -> None:
    assert logs.condensed(text) is text


def test_steps_and_lines_of_a_log_are_told_by_their_ends() -> None:
    steps = [f"Downloading package-{at}.whl ({at} kB)" for at in range(8)]
    served = [f"2026-11-03 10:00:{at:02} INFO request {at} took {at} ms" for at in range(8)]
    told = logs.condensed("\n".join([*steps, *served])).split("\n")
    assert told == [
        steps[0],
        "[... 6 more like these ...]",
        steps[7],
        served[0],
        "[... 6 more like these ...]",
        served[7],
    ]


def test_long_listing_keeps_every_name_and_size() -> None:
    told = listings.closer("total 40\ndrwxr-xr-x 2 dev staff 4096 Nov  3 10:00 src\n" + listing(4))
    assert told.split("\n") == ["total 40", "src/ 4096", *(f"module_{at}.py {100 + at}" for at in range(4))]


def test_matches_are_grouped_by_their_file() -> None:
    rows = ["src/a.py:1:x = 1", "src/a.py-2-y = 2", "src/a.py:9:z:1", "--", "src/b.py:3:x", "src/b.py:4:y"]
    assert listings.closer("\n".join(rows)).split("\n") == [
        "src/a.py", "1:x = 1", "2-y = 2", "9:z:1", "--", "src/b.py", "3:x", "4:y",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["a\nb\nc", "12:30:10 one\n12:30:11 two\n12:30:12 three\n12:30:13 four", ""])
def test_what_is_no_list_stays(text: str) -> None:
    assert listings.closer(text) is text


def test_file_that_is_read_again_costs_its_changes() -> None:
    lines = source("src/a.py").split("\n")
    before = Forwarded()
    before.learn(output("", tool="read_file", path="src/a.py"), "\n".join(lines))
    again = [f"{at:>6}\t{line}" for at, line in enumerate([*lines[:20], "    changed = 3", *lines[21:]], 1)]
    told = before.shorter("\n".join(again)).split("\n")
    assert len(told) == 3
    assert told[0].startswith("[20 lines as in the output of read_file src/a.py above, from 'class A:' to ")
    assert told[1] == "    21\t    changed = 3"
    assert told[2].startswith("[20 lines as in ")


def test_block_that_stands_further_up_in_the_same_text_is_told_by_its_place() -> None:
    block = source("src/a.py", 12)
    told = Forwarded().shorter(f"{block}\nbetween\n{block}")
    assert told.startswith(f"{block}\nbetween\n[13 lines as above here, from 'class A:' to ")


def test_reference_is_never_made_to_what_is_not_there() -> None:
    block = source("src/a.py", 12)
    before = Forwarded()
    before.learn(output(""), before.shorter(block))
    first = before.shorter(block)
    before.learn(output(""), first)
    assert before.shorter(first) == first
    assert "lines as" not in before.shorter(source("src/b.py", 12))


PYTHON = '#!/usr/bin/env python\n"""Docs."""\n# what it does\nx = 1  # not 2\ny = "# no comment"  # noqa: E501\n'


def test_comments_go_where_they_were_asked_to_and_directives_stay() -> None:
    assert comments.without_comments(PYTHON, "src/a.py") == (
        '#!/usr/bin/env python\n"""Docs."""\nx = 1\ny = "# no comment"  # noqa: E501\n'
    )


def test_comments_of_a_numbered_file_leave_its_numbers() -> None:
    numbered = "\n".join(f"{at:>6}\t{line}" for at, line in enumerate(PYTHON.split("\n"), 1))
    told = comments.without_comments(numbered, "src/a.py")
    assert "     4\tx = 1\n" in told
    assert "what it does" not in told


@pytest.mark.parametrize(("text", "path"), [("# x", "a.unknown"), ("plain", "a.txt"), ("x = 1", "a.py"), ("", "a.py")])
def test_text_without_comments_stays(text: str, path: str) -> None:
    assert comments.without_comments(text, path) is text


def test_what_is_left_out_of_a_long_file_is_said_with_its_lines() -> None:
    lines = [f"x_{at} = {at}" for at in range(400)]
    lines[200] = "def in_the_middle(rows):"
    told = shorten.shortened(output("\n".join(lines), path="a.py"), Sort.FILE, 500)
    assert len(told) < 500 * 4 + 200
    first, last = (int(word) for word in told.split("[... lines ")[1].split(" of ")[0].split(" to "))
    shown = told.split("\n")
    assert shown[: first - 1] == lines[: first - 1]
    assert shown[-1] == lines[-1]
    assert "[line 201] def in_the_middle(rows):" in shown
    assert f"of 400 are left out ({sum(len(line) + 1 for line in lines[first - 1 : last])} characters)" in told
    assert "read that part of a.py" in told


def test_failures_in_the_middle_of_a_long_log_are_shown() -> None:
    lines = [f"step {at} done" for at in range(900)]
    lines[450] = "ValueError: no such invoice"
    assert "[line 451] ValueError: no such invoice" in shorten.shortened(output("\n".join(lines)), Sort.LOG, 500)


def test_line_without_an_end_is_shown_in_part() -> None:
    told = shorten.shortened(output("x" * 100_000), Sort.TEXT, 1_000)
    assert told == "x" * 100_000  # one line is not left out in the middle of nothing
    told = shorten.shortened(output("\n".join(["x" * 100_000] * 3)), Sort.TEXT, 1_000)
    assert "98000 characters of this line are left out" in told


def test_pruned_result_tells_its_names_and_failures() -> None:
    known = Known()
    known.learn("we know src/known.py")
    text = printed_by_pytest(30, "test_half_up") + "\nsee src/known.py and src/new.py, InvoiceError"
    told = history.pruned(output(text, command="pytest"), Sort.LOG, known)
    assert told.startswith("[34 lines of this output are left out. Named: ")
    assert "src/new.py" in told
    assert "E   AssertionError: assert 12.35 == 12.34" in told
    assert "src/known.py" not in told.split("\n")[0]
    assert len(told) < len(text) * 0.7


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/a.py:12: and b.py", ["src/a.py", "b.py"]),
        ("runAll, run_all, RUN_ALL and Run", ["runAll", "run_all", "RUN_ALL"]),
        ("https://example.org:8443/a?b v1.2.3", ["https://example.org:8443/a", "v1.2.3"]),
        ("plain words, 12.5 and -3, e9a1b2c3d4e5f6a7b8c9", []),
        ("10.0.0.1 localhost:8080", ["10.0.0.1", "localhost:8080"]),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    assert list(names(text)) == found


@pytest.mark.parametrize(
    ("passage", "sort"),
    [
        (output("x = 1", path="a.py"), Sort.FILE),
        (output("x = 1", command="cat a.py"), Sort.FILE),
        (output("x = 1", command="cd src && sed -n 1,9p a.py"), Sort.FILE),
        (output("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n", command="git diff"), Sort.DIFF),
        (output("collected 3 items", command="pytest"), Sort.LOG),
        (output("src/a.py:1:x", command="cat b | grep x"), Sort.FOUND),
        (output("a\nb", command="ls"), Sort.LISTING),
        (output('{"a": 1}', command="curl x"), Sort.JSON),
        (output("[main 1a2b3c] Fix", command="git commit"), Sort.LOG),
        (output("Prose about things.", tool="fetch"), Sort.TEXT),
        (output("     1\tdef f():\n     2\t    pass", tool="str_replace"), Sort.FILE),
    ],
)
def test_what_an_output_is(passage: Passage, sort: Sort) -> None:
    assert sort_of(passage) is sort


HOSTILE = {
    "one character": "a" * 12_000,
    "dots": "." * 12_000,
    "colons": "a:1:" * 3_000,
    "hyphens": "a-1-" * 3_000,
    "blank lines": "\n" * 12_000,
    "spaces": " \n" * 6_000,
    "braces": "{\n" * 6_000,
    "quotes": '"' * 12_000,
    "escapes": "\x1b[" * 6_000,
    "backslashes": '[\n "' + "\\" * 12_000,
    "same lines": "the same line again and again\n" * 400,
    "two lines": "abcdefgh\n\n" * 1_200,
    "carriage returns": "\r" * 12_000,
    "json": json.dumps([{"a": at} for at in range(600)], indent=1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_grows_faster_than_the_text(name: str) -> None:
    import time

    def cost(text: str) -> float:
        start = time.process_time()
        for command in ("pytest", "ls -l", "grep -rn x", ""):
            passage = output(text, command=command)
            logs.condensed(spaces.printed(spaces.json_closer(text)))
            listings.closer(text)
            Forwarded().shorter(text)
            history.pruned(passage, sort_of(passage), Known())
            shorten.shortened(passage, sort_of(passage), 500)
            filler.without_filler(text)
        return time.process_time() - start

    text = HOSTILE[name]
    costs = [min(cost(text * size) for _ in range(2)) for size in (1, 4)]
    assert all(later < 10 * earlier + 0.2 for earlier, later in pairwise(costs))
