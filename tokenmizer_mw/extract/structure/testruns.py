"""Read the summaries that test runners print. ``RUNNERS`` has a row for each runner."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tokenmizer_mw.extract.text.prose import one_line
from tokenmizer_mw.runtime.lazy import expression

QUOTE_MAX: Final = 160
_LINES_MAX: Final = 50
_DIGITS_MAX: Final = 9


@dataclass(frozen=True, slots=True)
class TestRunOutcome:
    """How a test run ended. ``failed``: whether a test failed; ``counts``: one line such as "2 failed, 9 passed";
    ``quote``: the summary line of the runner."""

    failed: bool
    counts: str
    quote: str


@dataclass(frozen=True, slots=True)
class Runner:
    """What the summary of a test runner looks like. ``name``: of the runner; ``mark``: a string that must occur in a
    text before ``summary``, the pattern of the summary's lines, is tried."""

    name: str
    mark: str
    summary: Any


def _runner(name: str, mark: str, *lines: str) -> Runner:
    return Runner(name, mark, expression("(?m)" + "|".join(lines)))


_PYTEST_COUNT: Final = r"\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)"

RUNNERS: Final = (
    _runner("pytest", " in ", rf"^=* ?{_PYTEST_COUNT}(?:, {_PYTEST_COUNT})* in [\d.:]+"),
    _runner("cargo test", "test result:", r"^test result: .*$"),
    _runner("jest", "Tests:", r"^\s*Tests:\s+\d.* total.*$"),
    _runner("phpunit", "ssertions", r"^Tests: \d+, Assertions: .*$", r"^OK \(\d+ tests?, \d+ assertions?\)"),
    _runner("vitest", " Tests ", r"^.{0,40}\bTests  +\d+ \w+(?: \| \d+ \w+)* \(\d+\)"),
    _runner("vitest", " tests", r"^.{0,60}\(\d+ tests?(?: \| \d+ failed)?\)"),
    _runner("unittest", "Ran ", r"^Ran \d+ tests? in [^\n]*\n\s*(?:OK|FAILED)[^\n]*"),
    _runner("bun test", " pass", r"^ *\d+ pass\n(?: *\d+ \w+\n)?? *\d+ fail$"),
    _runner("mocha", " passing", r"^\s*\d+ passing\b.*(?:\n\s*\d+ (?:failing|pending).*){0,2}"),
    _runner("playwright", " passed (", r"^(?:\s+\d+ (?:failed|flaky|skipped).*\n)*\s+\d+ passed \([\d.]+m?s\)"),
    _runner("maven", "Tests run:", r"^.*Tests run: \d+, Failures: \d+, Errors: \d+.*$"),
    _runner("rspec", " examples", r"^\d+ examples?, \d+ failures?.*$"),
    _runner("dotnet test", "Passed:", r"^.*Failed: +\d+, Passed: +\d+.*$"),
    _runner("ctest", "tests passed", r"^\d+% tests passed, \d+ tests? failed out of \d+"),
    _runner("go test", "\t", r"^(?:ok  |FAIL)\t\S+", r"^--- FAIL: \w+"),
    _runner("go test", "--- FAIL", r"^\s*--- FAIL: \w+"),
)

_COUNT: Final = expression(
    r"(?i)(\d+) (?:tests? )?(failed|failures?|failing|fail|errors?|passed|passing|pass|skipped)\b"
    r"|\b(failures|errors|failed|passed): *(\d+)"
)
_KINDS: Final = {"fail": "failed", "erro": "errors", "pass": "passed", "skip": "skipped"}
_TESTS: Final = expression(r"(\d+) tests?\b")


def read_tests(text: str) -> TestRunOutcome | None:
    """Return the outcome of the test run whose summary is in ``text``; ``None`` if there is none."""
    for runner in RUNNERS:
        if runner.mark in text:
            lines = [match.group().strip() for match in islice(runner.summary.finditer(text), _LINES_MAX)]
            if lines:
                return _outcome_of_packages(lines) if runner.name == "go test" else _outcome(lines)
    return None


def runner_of(text: str) -> str:
    """Return the name of the runner whose summary is in ``text``; "" for none."""
    for runner in RUNNERS:
        if runner.mark in text and runner.summary.search(text):
            return runner.name
    return ""


def _outcome_of_packages(lines: list[str]) -> TestRunOutcome:
    """The outcome from the lines of ``go test``, which prints one line per package and no counts."""
    failing = sum(line[:3] == "---" for line in lines)
    packages = [line for line in lines if line[:3] != "---"]
    bad = sum(line[:2] != "ok" for line in packages)
    parts = [f"{failing} failed"] if failing else []
    for number, verb in ((bad, "failed"), (len(packages) - bad, "passed")):
        if number:
            parts.append(f"{number} package{'s' * (number > 1)} {verb}")
    return TestRunOutcome(bool(failing or bad), ", ".join(parts), _quote(lines[-1]))


def _outcome(lines: list[str]) -> TestRunOutcome:
    counts = dict.fromkeys(("failed", "errors", "passed", "skipped"), 0)
    summary = "\n".join(lines)
    for match in _COUNT.finditer(summary):
        word = match.group(2) or match.group(3)
        counts[_KINDS[word[:4].lower()]] += int((match.group(1) or match.group(4))[:_DIGITS_MAX])
    failed = counts["failed"] + counts["errors"] > 0 or "FAILED" in summary
    if not counts["passed"] and not failed:
        counts["passed"] = sum(int(digits[:_DIGITS_MAX]) for digits in _TESTS.findall(summary))
    written = ", ".join(f"{number} {word}" for word, number in counts.items() if number)
    return TestRunOutcome(failed, written or _quote(lines[-1]), _quote(lines[-1]))


def _quote(line: str) -> str:
    return one_line(line.strip("= "), QUOTE_MAX)
