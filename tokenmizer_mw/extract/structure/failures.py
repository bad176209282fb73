"""Find the lines of an output that say what went wrong: failing tests, exceptions, compiler errors, reported errors.

There is a pattern for each kind of such lines. The label of an error is the first group that matched, cleaned by
``label_of``.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from tokenmizer_mw.extract.text.cut_marks import CUT
from tokenmizer_mw.extract.text.prose import one_line
from tokenmizer_mw.runtime.lazy import expression

ERRORS_MAX: Final = 3
"""Greatest number of errors that are taken from one output."""

ERROR_LABEL_MAX: Final = 160
"""Longest label of an error, in characters."""

_MATCHES_MAX: Final = 50
_FILES_NAMED: Final = 3
_TESTS_NAMED: Final = 4
_SUITE_SIGNS: Final = ("::", " > ", " › ")
_PLACE: Final = expression(r"(\S+?)(?::\d+(?::\d+)?|\(\d+,\d+\)):? (?:- )?(.+)")
_TAIL: Final = 2_000
_TRACEBACK: Final = "Traceback (most recent call last)"
_SOURCE: Final = r"(?:#\d+ (?:[\d.]+ +)?)?(?:[\w.-]+ +\| +)?"
"""Matches what build tools and containers write before a line: "#11 41.20 ", "web-1  | "."""


def _lines(*shapes: str) -> Any:
    return expression("(?m)" + "|".join(f"^{shape}$" for shape in shapes))


_FAILING_TESTS: Final = _lines(
    r"(?:FAILED|ERROR) +(\S+::\S*?(?: - .{6,})?)(?: - .{0,5})?",  # pytest
    r"FAILED +(\S.* > .+)",  # pest
    r"\s*[×✗✘✕] (.+)",  # vitest, mocha
    r" *● (.+ › .+)",  # jest
    r"\s*--- FAIL: (\w\S*).*",  # go
    r"test (\S+) \.\.\. FAILED",  # cargo
    r"(?:FAIL|ERROR): (\w+ \([\w.]+\))",  # unittest
    r"\(fail\) (.+)",  # bun
    r"not ok \d+ -? ?(.+)",  # TAP
    r"(\w+ > \w.*) FAILED",  # gradle
)
_TEST_FILES: Final = _lines(
    r"(?:FAILED|ERROR) +([^\s:]+\.py)::.*",  # pytest
    r" *(?:FAIL|❯) +(\S+\.(?:test|spec)\.\w+)\b.*",  # jest, vitest
)
_ASSERTED: Final = expression(r"(?m)^E   +((?:assert|\w+(?:Error|Exception))\b.{1,80})")
_CAUSES: Final = expression(r"(?m)^\s*(?:[a-z_$][\w$]*\.)*((?:SQLSTATE\[\w+\]|[A-Z]\w*(?:Error|Exception)): .{4,100})")
"""Matches a line under a failing test that says why it fails."""
_FAILING_MARKS: Final = ("FAIL", "ERROR", "×", "✗", "✘", "✕", "●", "(fail)", "not ok")

_EXCEPTIONS: Final = _lines(
    rf"{_SOURCE}(?:E  +)?(?:\[\w+\] )?\s*(?:Uncaught |Caused by: |Exception in thread \"[^\"]*\" )?"
    r"((?:[\w$]+(?:\.|::))*[A-Z]\w*(?:Error|Exception|Failure|Fault|Timeout|Violation)(?:\[\w+\]| \[\w+\])?: .+)",
    r"(?:E  +)?(AssertionError|KeyboardInterrupt|StopIteration)",
    r"(panic: .+)",  # go
    r"(thread '[^'\n]*'[^\n]* panicked at .+(?:\n[^\n]+)?)",  # rust
    r"(fatal error: all .+)",
)
_RACERS: Final = expression(
    r"(?m)^(?:Previous )?(?:[Ww]rite|[Rr]ead) at 0x[^\n]*\n(?:  runtime\.[^\n]*\n)?  (?:\S*\.)?(\w{1,60})\("
)
_EXCEPTION_MARKS: Final = ("Error", "Exception", "panic", "Timeout", "Failure", "Violation", "fatal error")

_MISSING: Final = _lines(
    rf"{_SOURCE}(-?(?:ba|da)?sh: (?:line )?\d+: \S+: (?:command )?not found)",
    rf"{_SOURCE}((?:(?:-?bash|/\S+): )?[\w./+-]+: command not found)",
    rf"{_SOURCE}(zsh: command not found: \S+)",
    r"(.{2,60}: The term '[^']+' is not recognized .+)",  # PowerShell
    r"('[^']+' is not recognized as an internal or external command)",  # cmd
)
_MISSING_MARKS: Final = (": not found", "command not found", "is not recognized")

_COMPILERS: Final = _lines(
    rf"{_SOURCE}(\S+?(?::\d+(?::\d+)?|\(\d+,\d+\)):? (?:- )?(?:fatal )?(?i:error):? .+)",
    r"(error\[E\d+\]: .+)",
    rf"{_SOURCE}\s*(fatal error: \S+: .+)",
    r"(\S+\.go:\d+:\d+: .+)",
)

_UNFORMATTED: Final = _lines(
    r"(?: *at)? *(\S+\.\w+) format ━+.*",  # biome
    r"\[warn\] (\S+\.\w+)",  # prettier
    r"would reformat:? (\S+\.\w+)",  # black
    r"Would reformat: (\S+\.\w+)",  # ruff
    r"Diff in (\S+?\.rs)(?:[: ].*)?",  # rustfmt
)
_UNFORMATTED_MARKS: Final = (" format ━", "[warn] ", "ould reformat", "Diff in ")

_CLASHES: Final = _lines(
    r"(?:ERROR: )?(\S+ \S+ (?:requires|depends on|has requirement) .+ which is (?:incompatible|not installed)\.?)",
    r"(?:npm )?(?:warn|WARN|ERR!|error) (ERESOLVE .+)",
    r".*(could not open TTY: .+|not a (?:TTY|tty|terminal)\b.*)",
    r"<?(?:command .{0,40})?(?:is still running after|timed out after) \d+ ?(?:s|seconds|ms|minutes)\b.*",
)
_CLASH_MARKS: Final = ("which is ", "ERESOLVE", "TTY", "not a t", "still running after", "timed out after")

_MISUSES: Final = _lines(
    r"(.*\b(?:unrecognized|unknown|unexpected|invalid|illegal|no such|ambiguous) (?:option|argument|flag|command"
    r"|subcommand|parameter|switch)\b.*)",
    r"(.*\b(?:parameters?|options?|arguments?|flags?) .{1,60} (?:cannot be (?:used|combined)|not allowed|mutually"
    r" exclusive)\b.*)",
    r"(.*\bunexpected EOF while looking for .*)",
    r"(.*\bsyntax error near unexpected token .*)",
)

_REPORTS: Final = _lines(
    rf"{_SOURCE}\s*((?:fatal|error|Error|ERROR|FATAL|npm ERR!|npm error|E)(?: [A-Z]\w+)?: \S.{{3,}})",
    r"((?:-?(?:ba|z|da)?sh|[\w./-]+): .*(?:not found|No such file|ermission denied|cannot|can't|invalid|illegal).*)",
    r"(E[A-Z]{4,}: .+)",
    r"(make(?:\[\d+\])?: \*\*\* .+)",
    r"\s*[×✗✘✕✖] (.+)",
    rf"{_SOURCE}(.*(?i:\b(?:could not|cannot|can't|unable to|failed to|connection refused|timed out|denied)\b).*)",
)
_PREFIX: Final = expression(r"^(?:#\d+ [\d.]+ +|[\w.-]+ +\| +|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]? *|E  +)+")
_SUMS_UP: Final = expression(
    r"exited with code|\*\*\* |ELIFECYCLE|npm ERR! (?:code|errno|A complete)|did not complete success"
    r"|Found \d+ errors?\b|errors were emitted"
)
"""Matches lines that only repeat that something failed."""

_EXIT_LINE: Final = expression(r"(?i)exit(?:ed)?(?: with)?[ _]?(?:code|status)|^\(?no output\)?$")


def find_failing_tests(text: str) -> list[str]:
    """Return labels for the tests that failed, at most ``ERRORS_MAX``; [] for none.

    A label contains the reason if the line gives one; tests of one suite with the same reason share a label. A title
    that does not look like a test's gets "failing test: " before it.
    """
    if not any(mark in text for mark in _FAILING_MARKS):
        return []
    found = _labels(_FAILING_TESTS, text, _MATCHES_MAX)
    cause = (_ASSERTED.search(text) or _CAUSES.search(text)) if len(found) == 1 else None
    suites: dict[tuple[str, str], list[str]] = {}
    for label in found:
        title, _, reason = label.partition(" - ")
        sign = next((sign for sign in _SUITE_SIGNS if sign in title), "")
        suite, _, name = title.rpartition(sign) if sign else ("", "", title)
        suites.setdefault((suite + sign, reason if sign else label), []).append(name)
    told = f": {cause.group(1)}" if cause else ""
    return [_failing(suite, names, reason, told) for (suite, reason), names in islice(suites.items(), ERRORS_MAX)]


def find_files_of_tests(text: str) -> list[str]:
    """Return the files whose tests failed, as far as the output names them; at most ``ERRORS_MAX``."""
    return _labels(_TEST_FILES, text, ERRORS_MAX) if "FAIL" in text or "ERROR" in text else []


def _failing(suite: str, names: list[str], reason: str, told: str) -> str:
    """The label of the failing tests ``names`` of a suite. Without a suite, ``reason`` is the title of the test.
    ``told``: what an assertion says, for a single test whose own line gives no reason; else ""."""
    if not suite:
        return one_line(f"failing test: {reason}{told}", ERROR_LABEL_MAX)
    most = 1 if reason else _TESTS_NAMED
    more = f" and {len(names) - most} more" if len(names) > most else ""
    title = suite + ", ".join(names[:most]) + more
    if not suite.endswith("::") or not names[0].startswith("test_"):
        title = f"failing test{'s' * (len(names) > 1)}: {title}"
        return one_line(f"{title} - {reason}" if reason else f"{title}{told}", ERROR_LABEL_MAX)
    return one_line(f"{title} - {reason}" if reason else f"{title} failed{told}", ERROR_LABEL_MAX)


def find_exceptions(text: str) -> list[str]:
    """Return the lines of exceptions, panics, missing programs and compiler errors; at most ``ERRORS_MAX``."""
    found: list[str] = []
    if _TRACEBACK in text:
        found += _python_exceptions(text)
    if any(mark in text for mark in _EXCEPTION_MARKS):
        found += _labels(_EXCEPTIONS, text)
    found += find_missing_programs(text) + _races(text)
    if "rror" in text or "ERROR" in text or ".go:" in text:
        found += _labels(_COMPILERS, text)
    return _distinct(found)


def _races(text: str) -> list[str]:
    """The warning of Go's race detector, with the two functions that access the same memory; [] for none."""
    if "DATA RACE" not in text:
        return []
    names = list(dict.fromkeys(match.group(1) for match in islice(_RACERS.finditer(text), 2)))
    return [f"WARNING: DATA RACE between {' and '.join(names)}" if names else "WARNING: DATA RACE"]


def find_compiler_errors(text: str) -> list[str]:
    """Return the error lines of compilers and type checkers; at most ``ERRORS_MAX``."""
    return _labels(_COMPILERS, text) if "rror" in text or ".go:" in text else []


def sum_up_errors(command: str, text: str) -> str:
    """Return one label for all errors of a compiler or a linter in ``text``: the name of the ``command``, how many
    there are, in which files, and the first of them. "" if there are fewer than two."""
    found = _labels(_COMPILERS, text, _MATCHES_MAX) if "rror" in text or ".go:" in text else []
    places = [place for label in found if (place := _PLACE.match(label))]
    if len(places) < 2:
        return ""
    files = list(dict.fromkeys(place.group(1).replace("\\", "/").rpartition("/")[2] for place in places))
    named = ", ".join(files[:_FILES_NAMED]) + (f" and {len(files) - _FILES_NAMED} more" * (len(files) > _FILES_NAMED))
    return one_line(f"{command}: {len(found)} errors in {named}: {places[0].group(2)}", ERROR_LABEL_MAX)


def find_missing_programs(text: str) -> list[str]:
    """Return the lines in which a shell says that a program does not exist: the first ``ERRORS_MAX`` distinct ones, as
    labels (see ``label_of``)."""
    return _labels(_MISSING, text) if any(mark in text for mark in _MISSING_MARKS) else []


def find_unformatted(text: str) -> list[str]:
    """Return the files that a formatter, run only to check, would change; at most ``ERRORS_MAX``."""
    return _labels(_UNFORMATTED, text) if any(mark in text for mark in _UNFORMATTED_MARKS) else []


def find_clashes(text: str) -> list[str]:
    """Return the lines of problems that commands report without failing: conflicting packages, a missing terminal, a
    timeout; at most ``ERRORS_MAX``."""
    return _labels(_CLASHES, text) if any(mark in text for mark in _CLASH_MARKS) else []


def find_misuse(text: str) -> str:
    """Return the line that says that a command was called wrongly or does not exist; "" for none. With such a line,
    even a search that found nothing counts as an error."""
    found = find_exceptions(text) or _labels(_MISUSES, text)
    return found[0] if found else ""


_EDITS_REFUSED: Final = _lines(
    r"(?:.*\b)?(?:[Ss]tring to replace not found|File has not been read yet|File has been (?:modified|unexpectedly"
    r" modified) since|File does not exist|No replacement was performed|No exact match|Found \d+ matches of the string"
    r" to replace).*"
)


def is_misuse(label: str) -> bool:
    """Whether the label of an error only says that a command or an editing tool was called wrongly (an unknown option,
    a text to replace that was not found)."""
    return bool(_MISUSES.search(label) or _EDITS_REFUSED.search(label))


def find_telling_line(text: str) -> str:
    """Return the line of a failed command's output that best says what went wrong; "" for none."""
    found = find_exceptions(text) or [label for label in _labels(_REPORTS, text) if not _SUMS_UP.search(label)]
    return found[0] if found else ""


def find_last_line(text: str) -> str:
    """Return the last line of ``text`` that has words, as a label; preferably one that does not only repeat that
    something failed. "" for none."""
    summary = ""
    for line in reversed(text[-_TAIL:].split("\n")):
        label = label_of(line)
        if len(label) > 3 and any(char.isalpha() for char in label) and not _EXIT_LINE.search(label):
            if not _SUMS_UP.search(label):
                return label
            summary = summary or label
    return summary


def label_of(line: str) -> str:
    """Return a line of output as a label of at most ``ERROR_LABEL_MAX`` characters; "" if nothing is left. Removed are
    timestamps, the prefixes of build tools and containers, decoration, and marks of left out text at its ends."""
    line = " ".join(line[: 4 * ERROR_LABEL_MAX].split())
    if line[:1] in "#E[0123456789" or " | " in line:
        line = _PREFIX.sub("", line)
    return one_line(line.strip(f"=-─━_*│ \t{CUT}"), ERROR_LABEL_MAX)


def _python_exceptions(text: str) -> list[str]:
    """For each Python traceback, the line that names the exception: the first one that is not indented."""
    found: list[str] = []
    at = text.find(_TRACEBACK)
    while at >= 0 and len(found) < ERRORS_MAX:
        line, at = _first_unindented(text, at)
        if label := label_of(line):
            found.append(label)
        at = text.find(_TRACEBACK, at) if at >= 0 else -1
    return found


def _first_unindented(text: str, at: int) -> tuple[str, int]:
    """The first line after position ``at`` that is neither indented nor empty, and where it ends (-1: at the end of the
    text)."""
    end = text.find("\n", at)
    while end >= 0:
        start, end = end + 1, text.find("\n", end + 1)
        line = text[start : end if end >= 0 else len(text)]
        if line[:1] not in (" ", "\t", "", "\r"):
            return line, end
    return "", -1


def _labels(shapes: Any, text: str, most: int = ERRORS_MAX) -> list[str]:
    found: dict[str, None] = {}
    for match in islice(shapes.finditer(text), _MATCHES_MAX):
        label = label_of(next((group for group in match.groups() if group), match.group()))
        if label:
            found[label] = None
        if len(found) == most:
            break
    return list(found)


def _distinct(labels: list[str]) -> list[str]:
    """The labels in order, at most ``ERRORS_MAX``. If one is the ending of another (the same line with and without a
    prefix), only the first of them is kept."""
    kept: list[str] = []
    for label in labels:
        if not any(other.endswith(label) or label.endswith(other) for other in kept):
            kept.append(label)
    return kept[:ERRORS_MAX]
