"""Each stage by itself: what goes in, what comes out, and what it must leave alone."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.sampling import sample
from tokenmizer_mw import Settings
from tokenmizer_mw.saving.compress import compress, filler, formatting, runs, tool_results
from tokenmizer_mw.saving.compress.chat import ChatPassage, OutputKind, PassageKind
from tokenmizer_mw.saving.compress.names import KnownNames, names
from tokenmizer_mw.saving.compress.repeats import ForwardedLines
from tokenmizer_mw.saving.compress.sorts import sort_of

from .chats import call, listing, printed_by_pytest, result, source


def output(text: str, *, tool: str = "tool", path: str = "", command: str = "") -> ChatPassage:
    return ChatPassage(0, PassageKind.RESULT, text, tool, path, command)


@pytest.mark.parametrize("row", [*filler.OPENINGS, *filler.CLOSINGS], ids=lambda row: row.example)
def test_rows_of_filler(row: filler.Row) -> None:
    text = f"{row.example} The port is 8080." if row in filler.OPENINGS else f"The port is 8080. {row.example}"
    kept = f"{row.counter} The port is 8080." if row in filler.OPENINGS else f"The port is 8080. {row.counter}"
    assert filler.without_filler(text) == "The port is 8080."
    assert filler.without_filler(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "1. Regards\n2. Best\n3. Cheers",
        "1. Done\n2. Hope this helps!",
        "1. I hope it helps.\n2. Hope this helps!",
        "Bonne chance\nGood luck",
        "It is done.\nHope this helps!",
        "The button should read: Enjoy!",
        "The button should read: Hope this helps!",
        "**Answer:**\n\nHappy coding!",
        "Two phrases:\n\nHope this helps!\n\nFeel free to ask.",
        "Great question!\nGood point!",
        "Definitely. Both copies are on the backup.",
        "Absolutely! Just keep the lock file.",
        "Sure. It is on.",
        "Of course. The old one is gone though.",
        "Good idea. It saves a copy.",
        "Dear Ben,\n\nthe port is 8080.\n\nLet me know if you have any questions.",
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
    assert formatting.json_closer(value) == '{"a":1.0,"b":[1e3,-0.0,"two  words\\n","\\u00fc"],"c":{"d":null}}'


@pytest.mark.parametrize("text", ["{\n  not json\n}", '{"a": 1}', "{\n  'a': 1\n}", "", "[\n 1,\n]", "plain\n  text"])
def test_what_is_no_json_or_not_laid_out_stays(text: str) -> None:
    assert formatting.json_closer(text) is text


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
    assert formatting.render_printed(printed) == shown


def test_runs_of_tests_that_passed_are_told_by_their_ends_and_failures_stay() -> None:
    text = printed_by_pytest(20, "test_half_up")
    assert runs.condense_log(text).split("\n") == [
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
    assert runs.condense_log(text) is text


def test_steps_and_lines_of_a_log_are_told_by_their_ends() -> None:
    steps = [f"Downloading package-{at}.whl ({at} kB)" for at in range(8)]
    served = [f"2026-11-03 10:00:{at:02} INFO request {at} took {at} ms" for at in range(8)]
    told = runs.condense_log("\n".join([*steps, *served])).split("\n")
    assert told == [
        steps[0],
        "[... 6 more like these ...]",
        steps[7],
        served[0],
        "[... 6 more like these ...]",
        served[7],
    ]


def test_long_listing_keeps_every_name_and_size() -> None:
    told = runs.shorten_listings("total 40\ndrwxr-xr-x 2 dev staff 4096 Nov  3 10:00 src\n" + listing(4))
    assert told.split("\n") == ["total 40", "src/ 4096", *(f"module_{at}.py {100 + at}" for at in range(4))]


def test_matches_are_grouped_by_their_file() -> None:
    rows = ["src/a.py:1:x = 1", "src/a.py-2-y = 2", "src/a.py:9:z:1", "--", "src/b.py:3:x", "src/b.py:4:y"]
    assert runs.shorten_listings("\n".join(rows)).split("\n") == [
        "src/a.py", "1:x = 1", "2-y = 2", "9:z:1", "--", "src/b.py", "3:x", "4:y",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["a\nb\nc", "12:30:10 one\n12:30:11 two\n12:30:12 three\n12:30:13 four", ""])
def test_what_is_no_list_stays(text: str) -> None:
    assert runs.shorten_listings(text) is text


def test_file_that_is_read_again_costs_its_changes() -> None:
    lines = source("src/a.py").split("\n")
    before = ForwardedLines()
    before.learn(output("", tool="read_file", path="src/a.py"), "\n".join(lines))
    again = [f"{at:>6}\t{line}" for at, line in enumerate([*lines[:20], "    changed = 3", *lines[21:]], 1)]
    told = before.shorter("\n".join(again)).split("\n")
    assert len(told) == 3
    assert told[0].startswith(
        "[20 lines as in the output of read_file src/a.py above, numbered 1 to 20 here, from 'class A:' to "
    )
    assert told[1] == "    21\t    changed = 3"
    assert told[2].startswith("[20 lines as in ")


@pytest.mark.parametrize("new", ["{at}:{line}", "{at:>6}\t{line}", "{at}\t{line}", "{at}|{line}"])
def test_other_numbers_before_the_same_lines_are_told(new: str) -> None:
    lines = source("src/a.py", 12).split("\n")
    before = ForwardedLines()
    before.learn(output(""), "\n".join(new.format(at=at, line=line) for at, line in enumerate(lines, 1)))
    same = "\n".join(new.format(at=at, line=line) for at, line in enumerate(lines, 1))
    moved = "\n".join(new.format(at=at, line=line) for at, line in enumerate(lines, 401))
    assert before.shorter(same).startswith("[13 lines as in the output of tool above, from ")
    assert before.shorter(moved).startswith("[13 lines as in the output of tool above, numbered 401 to 413 here, from ")
    assert before.shorter("\n".join(lines)).startswith("[13 lines as in the output of tool above, without their ")


@pytest.mark.parametrize(
    ("row", "other"),
    [
        ("12:0{at}:00 backup of volume vol-{at} is complete and was checked", "19:0{at}:00"),
        ("{at}{at}\tuser {at} is active and paid 20 euros in the month of May", "4{at}{at}"),
        ("00{at}\tuser {at} is active and paid 20 euros in the month of May", "40{at}"),
        ("{at}{at}: def handler_{at}(self, request, response, context): ...", "3{at}{at}"),
        ("user {at} is active and paid 20 euros in the month of May  ", ""),
        ("{at}: user {at} is active and paid 20 euros in the month of May", "{at}:"),
    ],
)
def test_rows_that_are_not_the_same_are_never_told_by_their_place(row: str, other: str) -> None:
    rows = [row.format(at=at) for at in range(1, 9)]
    first = row.split(maxsplit=1)[0].rstrip(":")
    others = [(row.replace(first, other, 1) if other else row.rstrip()).format(at=at) for at in range(1, 9)]
    before = ForwardedLines()
    before.learn(output(""), "\n".join(rows))
    assert before.shorter("\n".join(others)) == "\n".join(others)
    assert before.shorter("\n".join(rows)).startswith("[8 lines as in ")


def test_block_that_stands_further_up_in_the_same_text_is_told_by_its_place() -> None:
    block = source("src/a.py", 12)
    told = ForwardedLines().shorter(f"{block}\nbetween\n{block}")
    assert told.startswith(f"{block}\nbetween\n[13 lines as above here, from 'class A:' to ")


def test_reference_is_never_made_to_what_is_not_there() -> None:
    block = source("src/a.py", 12)
    before = ForwardedLines()
    before.learn(output(""), before.shorter(block))
    first = before.shorter(block)
    before.learn(output(""), first)
    assert before.shorter(first) == first
    assert "lines as" not in before.shorter(source("src/b.py", 12))


PYTHON = '#!/usr/bin/env python\n"""Docs."""\n# what it does\nx = 1  # not 2\ny = "# no comment"  # noqa: E501\n'


def test_comments_go_where_they_were_asked_to_and_directives_stay() -> None:
    assert formatting.without_comments(PYTHON, "src/a.py") == (
        '#!/usr/bin/env python\n"""Docs."""\nx = 1\ny = "# no comment"  # noqa: E501\n'
    )


def test_comments_of_a_numbered_file_leave_its_numbers() -> None:
    numbered = "\n".join(f"{at:>6}\t{line}" for at, line in enumerate(PYTHON.split("\n"), 1))
    told = formatting.without_comments(numbered, "src/a.py")
    assert "     4\tx = 1\n" in told
    assert "what it does" not in told


def test_the_name_of_a_file_stands_behind_slashes_of_either_kind() -> None:
    text = "# builds all\nall: main.o\n"
    for path in ("Makefile", "shop/Makefile", "C:\\shop\\Makefile", "C:\\shop/Makefile"):
        assert formatting.without_comments(text, path) == "all: main.o\n"


@pytest.mark.parametrize(("text", "path"), [("# x", "a.unknown"), ("plain", "a.txt"), ("x = 1", "a.py"), ("", "a.py")])
def test_text_without_comments_stays(text: str, path: str) -> None:
    assert formatting.without_comments(text, path) is text


def test_what_is_left_out_of_a_long_file_is_said_with_its_lines() -> None:
    lines = [f"x_{at} = {at}" for at in range(400)]
    lines[200] = "def in_the_middle(rows):"
    told = tool_results.shorten_passage(output("\n".join(lines), path="a.py"), OutputKind.FILE, 500)
    assert len(told) < 500 * 4 + 200
    first, last = (int(word) for word in told.split("[... lines ")[1].split(" of ")[0].split(" to "))
    left_out = sum(len(line) + 1 for line in lines[first - 1 : last])
    shown = told.split("\n")
    assert shown[: first - 1] == lines[: first - 1]
    assert shown[-1] == lines[-1]
    assert "[line 201] def in_the_middle(rows):" in shown
    assert f"of this output are left out ({left_out} characters)" in told
    assert "read that part of a.py" in told


def test_failures_in_the_middle_of_a_long_log_are_shown() -> None:
    lines = [f"step {at} done" for at in range(900)]
    lines[450] = "ValueError: no such invoice"
    assert "[line 451] ValueError: no such invoice" in tool_results.shorten_passage(
        output("\n".join(lines)), OutputKind.LOG, 500
    )


def test_lines_of_a_numbered_file_are_told_by_their_own_numbers() -> None:
    lines = [f"{at:>6}\tx_{at} = {at}" for at in range(501, 901)]
    lines[200] = "   701\tdef in_the_middle(rows):"
    told = tool_results.shorten_passage(output("\n".join(lines), path="a.py"), OutputKind.FILE, 500).split("\n")
    note = next(line for line in told if line.startswith("[... lines "))
    first, last = (int(word) for word in note.split("[... lines ")[1].split(" of ")[0].split(" to "))
    assert told[told.index(note) - 1] == lines[first - 502]
    assert f"{last + 1:>6}\tx_{last + 1} = {last + 1}" in told
    assert any(line.startswith("[line 701] ") and line.endswith("def in_the_middle(rows):") for line in told)


def test_lines_are_not_counted_where_another_stage_left_some_out() -> None:
    steps = [f"Downloading package-{at}.whl" for at in range(50)]
    lines = [*steps, *(f"{at} things were seen" for at in range(900)), "ValueError: no", *map(str, range(900))]
    chat = [call(1, "bash", command="make"), result(1, "\n".join(lines))]
    told = compress(chat, Settings(compress="logs,shorten", compress_result_max=500)).messages[1]["content"]
    assert "\nValueError: no\n" in told
    assert "lines of this output are left out" in told
    assert "[line " not in told


def test_place_of_a_line_behind_a_repeat_is_that_of_the_output() -> None:
    known = [f"value_{at} = compute({at}, 'long enough to be counted')" for at in range(100)]
    code = [*known, *(f"x_{at} = {at}" for at in range(3_000))]
    code[1_500] = "def in_the_middle(rows):"
    chat = [call(1, "read", path="a.py"), result(1, "\n".join(known))]
    chat += [call(2, "read", path="b.py"), result(2, "\n".join(code))]
    told = compress(chat, Settings(compress="repeats,shorten", compress_result_max=3_000)).messages[3]["content"]
    assert "lines as in the output of read a.py above" in told
    assert "[line 1501] def in_the_middle(rows):" in told


STAMPS = (
    "2024-01-01 10:00:{at:02}",
    "2024-01-01T10:00:{at:02}Z",
    "[2024-01-01 10:00:{at:02},123]",
    "2024/01/01 10:00:{at:02}",
    "10:00:{at:02}",
    "[10:00:{at:02}]",
    "Jan 12 10:00:{at:02} host app:",
    "I0101 10:00:{at:02}.000",
    "web-1  | 2024-01-01 10:00:{at:02}",
    "[   {at:02}.123456] usb",
    "INFO 10:00:{at:02}",
    '127.0.0.1 - - [10/Oct/2000:13:55:{at:02} +0000] "GET /a HTTP/1.1" 200',
)


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize("tool", [{"command": "docker logs web"}, {"command": "./serve"}, {"tool": "fetch"}])
def test_log_is_a_log_whatever_its_lines_begin_with_and_keeps_its_one_error(stamp: str, tool: dict[str, str]) -> None:
    rows = [f"{stamp.format(at=at % 60)} INFO request {at} of tenant acme was handled quickly" for at in range(900)]
    rows[450:451] = [f"{stamp.format(at=9)} ERROR payment 4711 failed", "Traceback (most recent call last):"]
    passage = output("\n".join(rows), **tool)
    assert sort_of(passage) is OutputKind.LOG
    assert "payment 4711" in runs.condense_log(passage.text)
    for told in (
        tool_results.shorten_passage(passage, OutputKind.LOG, 500),
        tool_results.prune_result(passage, OutputKind.LOG, KnownNames()),
    ):
        assert "payment 4711" in told
        assert "Traceback" in told


@pytest.mark.parametrize("command", ["cat app.log", "grep -v health app.log", "docker logs web | grep -v health"])
def test_log_that_was_read_or_searched_keeps_its_lines_and_its_one_error(command: str) -> None:
    rows = [f"2024-01-01 10:00:{at % 60:02} INFO request {at} of tenant acme was handled" for at in range(900)]
    rows[450] = "2024-01-01 10:00:09 ERROR payment 4711 failed"
    passage = output("\n".join(rows), command=command)
    sort = sort_of(passage)
    assert sort in (OutputKind.FILE, OutputKind.PRINTED)
    assert "payment 4711" in tool_results.shorten_passage(passage, sort, 500)
    assert "payment 4711" in tool_results.prune_result(passage, sort, KnownNames())


@pytest.mark.parametrize(
    "odd",
    [
        "2024-01-01 10:00:05 INFO GET /api/orders 500 in 12 ms",
        "2024-01-01 10:00:05 INFO GET /api/orders 200 in 90312 ms",
        '10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.1" 503 12',
    ],
)
def test_line_of_a_log_with_another_status_or_size_stays(odd: str) -> None:
    rows = [odd.replace("500", "200").replace("503", "200").replace("90312", "12")] * 8
    assert odd in runs.condense_log("\n".join([*rows, odd, *rows])).split("\n")


ROUTES = "\n".join(["draw do", *(f'  get "/page{at}", to: "pages#show{at}"' for at in range(8)), "end"])
SHOWN = {
    "routes": ROUTES,
    "python": "import os\n\n\ndef a():\n    return 1   \n\n\ndef b():\n    return 2\n",
    "array": "\n".join(["x = [", *["    0.0,"] * 6, "]"]),
    "table": "\n".join(["| a | b |", "|---|---|", *["| 0 | 0 |"] * 6]),
    "dated": "\n".join(f"2024-01-0{at} 10:00:00 account 4411 balance {1000 - at * 7}" for at in range(1, 9)),
    "columns": "\n".join(f"2024-01-0{at} 10:00:00,4411,{1000 - at * 7}" for at in range(1, 9)),
    "ids": "\n".join(f"{at}\tuser {at}" for at in range(1, 9)),
}
SHOWS = (
    "cat {}",
    "pwd && cat {}",
    "cd app; cat {}",
    "docker exec web cat {}",
    "echo '--- it'; cat {}",
    "bash -lc 'cat {}'",
    "ssh host 'cd /srv && cat {}'",
    "pytest -q; cat {}",
    "find . -name x -exec cat {} +",
    "ls | xargs cat {}",
    "for f in {}; do cat $f; done",
    "./show {}",
    "python show.py {}",
)


@pytest.mark.parametrize("command", SHOWS)
@pytest.mark.parametrize("name", SHOWN)
def test_file_that_a_command_shows_stays_as_it_is(name: str, command: str) -> None:
    chat = [call(1, "bash", command=command.format("x")), result(1, SHOWN[name])]
    assert compress(chat, Settings(compress="all")).messages == chat


def test_line_without_an_end_is_shown_in_part() -> None:
    told = tool_results.shorten_passage(output("x" * 100_000), OutputKind.TEXT, 1_000)
    assert told == "x" * 100_000  # one line is not left out in the middle of nothing
    told = tool_results.shorten_passage(output("\n".join(["x" * 100_000] * 3)), OutputKind.TEXT, 1_000)
    assert "98000 characters of this line are left out" in told


def test_pruned_result_tells_its_names_and_failures() -> None:
    known = KnownNames()
    known.learn("we know src/known.py")
    text = printed_by_pytest(30, "test_half_up") + "\nsee src/known.py and src/new.py, InvoiceError"
    told = tool_results.prune_result(output(text, command="pytest"), OutputKind.LOG, known)
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
        (output("x = 1", path="a.py"), OutputKind.FILE),
        (output("x = 1", command="cat a.py"), OutputKind.FILE),
        (output("x = 1", command="cd src && sed -n 1,9p a.py"), OutputKind.FILE),
        (output("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n", command="git diff"), OutputKind.DIFF),
        (output("collected 3 items", command="pytest"), OutputKind.LOG),
        (output("src/a.py:1:x", command="cat b | grep x"), OutputKind.FOUND),
        (output("a\nb", command="ls"), OutputKind.LISTING),
        (output('{"a": 1}', command="curl x"), OutputKind.JSON),
        (output("[main 1a2b3c] Fix", command="git commit"), OutputKind.PRINTED),
        (output("collected 3 items", command="cd x && uv run pytest -q 2>&1 | tail -20"), OutputKind.LOG),
        (output("added 3 packages", command="npm ci; npm test"), OutputKind.LOG),
        (output("x = 1", command="pytest > out.txt; tail out.txt"), OutputKind.FILE),
        (output("x = 1", command="pytest; cat out.txt"), OutputKind.PRINTED),
        (output("ok", command="cat > a.py <<'EOF'\ncat x\nEOF\npytest"), OutputKind.LOG),
        (output("ok", command="sed -i s/a/b/ a.py && pytest"), OutputKind.LOG),
        (output("a.c:1:2: error: no\na.c:3:4: error: no", command="./build.sh"), OutputKind.PRINTED),
        (output("Prose about things.", tool="fetch"), OutputKind.TEXT),
        (output("     1\tdef f():\n     2\t    pass", tool="str_replace"), OutputKind.FILE),
    ],
)
def test_what_an_output_is(passage: ChatPassage, sort: OutputKind) -> None:
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


@pytest.mark.parametrize("name", sample(list(HOSTILE), 3))
def test_nothing_grows_faster_than_the_text(name: str) -> None:
    import time

    def cost(text: str) -> float:
        start = time.process_time()
        for command in ("pytest", "ls -l", "grep -rn x", ""):
            passage = output(text, command=command)
            runs.condense_log(formatting.render_printed(formatting.json_closer(text)))
            runs.shorten_listings(text)
            ForwardedLines().shorter(text)
            tool_results.prune_result(passage, sort_of(passage), KnownNames())
            tool_results.shorten_passage(passage, sort_of(passage), 500)
            filler.without_filler(text)
        return time.process_time() - start

    text = HOSTILE[name]
    costs = [min(cost(text * size) for _ in range(2)) for size in (1, 4)]
    assert all(later < 10 * earlier + 0.2 for earlier, later in pairwise(costs))
