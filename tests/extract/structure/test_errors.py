"""Errors that tools and commands show."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.structure import read_structure
from tokenmizer_mw.extract.structure.failures import (
    find_clashes,
    find_exceptions,
    find_failing_tests,
    find_misuse,
    find_unformatted,
    sum_up_errors,
)
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import NodeType

Growth = Callable[[Callable[[str], object], str, int], float]


def after(name: str, arguments: Mapping[str, Any], text: str, *, is_error: bool = False) -> list[Finding]:
    message = Message(Role.TOOL, tool_results=(ToolResult("c1", text, is_error),))
    return read_structure(2, message, {"c1": ToolCall("c1", name, json.dumps(arguments))})


def errors(findings: list[Finding]) -> list[str]:
    return [found.label for found in findings if found.type is NodeType.ERROR and found.move is Move.NOTE]


def shown(command: str, text: str, *, is_error: bool = False) -> list[str]:
    return errors(after("bash", {"command": command}, text, is_error=is_error))


MISUSED = [
    ("rg --colour-ful x", "Exit code 2\nerror: unexpected argument '--colour-ful' found", "unexpected argument"),
    ("cat -Z notes.md", "/bin/cat: illegal option -- Z\nusage: cat [-benstuv] [file ...]", "illegal option"),
    (
        "Get-Content a.txt -Raw -Tail 3",
        "Get-Content: The parameters Raw and Tail cannot be used together.",
        "cannot be",
    ),
    ("find . -foo", "find: unknown predicate `-foo'", ""),
    ("grep -R 'a(' src", "Exit code 1", ""),
    ("rg needle missing.toml", "rg: missing.toml: No such file or directory (os error 2)\nexit code: 2", ""),
    ("ls | fd x", "bash: line 1: fd: command not found", "fd: command not found"),
    ("cat install.log", "bash: jq: command not found\n" + "ok\n" * 200, ""),
    ("echo x > a.txt; pwgen 8 >> a.txt", "bash: pwgen: command not found\n" + "more\n" * 200, "pwgen"),
]


@pytest.mark.parametrize(("command", "text", "part"), MISUSED)
def test_a_search_that_could_not_run_is_a_fault_and_one_without_a_match_is_none(
    command: str, text: str, part: str
) -> None:
    found = shown(command, text)
    assert [part in label for label in found] == [True] * bool(part)


UNFORMATTED = [
    (
        "npm run lint",
        "Exit code 1\n src/cart.test.ts format ━━━━━━\n\n  × Formatter would have printed:",
        "src/cart.test.ts",
    ),
    ("npx prettier --check .", "Exit code 1\n[warn] src/cart.ts\n[warn] Code style issues found", "src/cart.ts"),
    ("black --check .", "Exit code 1\nwould reformat shop/tax.py\n1 file would be reformatted.", "shop/tax.py"),
    ("ruff format --check", "Exit code 1\nWould reformat: shop/tax.py\n1 file would be reformatted", "shop/tax.py"),
    ("cargo fmt --check", "Exit code 1\nDiff in /srv/shop/src/main.rs:12:\n-let x=1;", "src/main.rs"),
]


@pytest.mark.parametrize(("command", "text", "path"), UNFORMATTED)
def test_formatters_that_check_name_the_files(command: str, text: str, path: str) -> None:
    (label,) = shown(command, text)
    assert label.startswith("formatting errors in ") and path in label


def test_several_errors_of_one_compiler_are_one() -> None:
    text = "Exit code 2\n" + "\n".join(f"src/cart.ts({n},7): error TS2339: no field f{n}" for n in range(4))
    assert shown("npx tsc", text) == ["tsc: 4 errors in cart.ts: error TS2339: no field f0"]
    lines = "src/a.go:1:2: unused x (lint)\nsrc/b.go:3:4: shadowed y (lint)"
    assert shown("task lint | head -5", lines) == ["task lint: 2 errors in a.go, b.go: unused x (lint)"]


def test_one_error_of_a_compiler_stays_as_it_is() -> None:
    text = "Exit code 2\nsrc/cart.ts(4,7): error TS2339: no field"
    assert shown("npx tsc", text) == ["src/cart.ts(4,7): error TS2339: no field"]


CLASHES = [
    (
        "pip install acme",
        "acme 2.1 requires yaml<3, but you have yaml 3.1 which is incompatible.\nInstalled acme",
        "acme",
    ),
    ("npm i left", "npm error ERESOLVE unable to resolve dependency tree\nadded 3 packages", "ERESOLVE"),
    ("shopctl login", "prompt: could not open TTY: open /dev/tty: no such device", "could not open TTY"),
    ("npm run dev", "<command with id 4 is still running after 30 seconds. Use read to wait.>", "still running"),
    ("pip install acme", "Successfully installed acme-2.1", ""),
]


@pytest.mark.parametrize(("command", "text", "part"), CLASHES)
def test_faults_that_a_command_tells_while_it_succeeds(command: str, text: str, part: str) -> None:
    found = shown(command, text)
    assert [part in label for label in found] == [True] * bool(part)


def test_one_failing_test_says_why() -> None:
    text = "E       assert 7 == 8\nFAILED tests/test_tax.py::test_total - a...\n==== 1 failed, 3 passed in 0.1s ===="
    assert shown("pytest", text) == ["tests/test_tax.py::test_total failed: assert 7 == 8"]


def test_tools_that_refuse_to_read_until_they_do() -> None:
    refused = after("Read", {"file_path": "/srv/PLAN.md"}, "<tool_use_error>File does not exist.</tool_use_error>")
    assert errors(refused) == []
    told = after("Read", {"file_path": "/srv/PLAN.md"}, "File does not exist.", is_error=True)
    assert errors(told) == ["File does not exist: PLAN.md"]
    read = after("Read", {"file_path": "/srv/PLAN.md"}, "Plan of errors")
    assert [found.target for found in read if found.move is Move.CLOSE] == ["$ read /srv/PLAN.md"]


def test_tools_of_any_kind_that_break() -> None:
    broken = after("Glob", {"pattern": "*.md"}, "EPIPE: broken pipe, posix_spawn '/opt/agent'", is_error=True)
    assert errors(broken) == ["Glob: EPIPE: broken pipe, posix_spawn '/opt/agent'"]
    assert errors(after("Glob", {"pattern": "*.md"}, "Nothing there", is_error=True)) == []
    cancelled = after("Glob", {"pattern": "*.md"}, "Sibling tool call errored", is_error=True)
    assert errors(cancelled) == []


def test_an_edit_that_its_tool_parsed_names_the_fault_and_the_open_file() -> None:
    text = (
        "Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n\n"
        "- E999 IndentationError: unexpected indent\n"
        "(Open file: /srv/shop/tax.py)\n(Current directory: /srv/shop)\nbash-$"
    )
    assert errors(after("edit", {"search": "a", "replace": "b"}, text)) == [
        "edit failed: E999 IndentationError: unexpected indent: tax.py"
    ]


def test_colours_of_a_terminal_are_no_part_of_an_error() -> None:
    text = "\x1b[31;1merror:\x1b[0m unexpected argument '-q' found"
    assert shown("rg -q x", text, is_error=True) == ["error: unexpected argument '-q' found"]


GROUPED = [
    (
        "FAILED tests/test_tax.py::test_a - KeyError: 'vat'\nFAILED tests/test_tax.py::test_b - KeyError: 'vat'",
        ["tests/test_tax.py::test_a and 1 more - KeyError: 'vat'"],
    ),
    (
        "FAILED tests/test_tax.py::test_a - KeyError: 'vat'\nFAILED tests/test_tax.py::test_b - TypeError: none",
        ["tests/test_tax.py::test_a - KeyError: 'vat'", "tests/test_tax.py::test_b - TypeError: none"],
    ),
    ("  ● cart › adds\n  ● cart › removes\n  ● tax › rounds", ["failing tests: cart › adds, removes", "tax › rounds"]),
    ("--- FAIL: TestAdd (0.1s)\n--- FAIL: TestRemove (0.1s)", ["failing test: TestAdd", "failing test: TestRemove"]),
]


UNITS = [
    "WARNING: DATA RACE\nWrite at 0x0\n",
    "FAILED a.py::test_x - y\n",
    "a.go:1:2: x\n",
    "x requires y which is ",
    "unknown option ",
    "bash: x: command not found\n",
    "would reformat a.py\n",
]


@pytest.mark.parametrize("unit", UNITS)
def test_cost_is_linear(unit: str, growth: Growth) -> None:
    def read(text: str) -> object:
        shown = (
            find_failing_tests(text),
            find_exceptions(text),
            find_unformatted(text),
            find_clashes(text),
            find_misuse(text),
        )
        return shown, sum_up_errors("make", text)

    assert growth(read, unit, 100_000) < 3


@pytest.mark.parametrize(("text", "expected"), GROUPED)
def test_failing_tests_of_one_suite_for_one_reason_are_one(text: str, expected: list[str]) -> None:
    found = find_failing_tests(text)
    assert len(found) == len(expected)
    assert all(label.endswith(part) for label, part in zip(found, expected, strict=True))


def test_a_data_race_names_the_functions_that_met() -> None:
    text = (
        "WARNING: DATA RACE\nWrite at 0x00c01 by goroutine 8:\n  runtime.mapassign()\n  shop.dev/x/cart.(*Cart).Add()\n"
        "      /srv/cart.go:3 +0x1\nPrevious read at 0x00c01 by goroutine 7:\n  shop.dev/x/cart.total()\n"
    )
    assert find_exceptions(text) == ["WARNING: DATA RACE between Add and total"]
    assert find_exceptions("WARNING: DATA RACE\n") == ["WARNING: DATA RACE"]
