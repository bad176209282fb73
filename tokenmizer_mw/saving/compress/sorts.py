"""Classifies tool output by its lines and its call: the programs of a command, the tool, the file that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .chat import ChatPassage, OutputKind
from .names import words

COMMAND_MAX: Final = 4_000
"""Characters of a command line that are examined."""

_PIPELINES: Final = re.compile(r"&&|\|\||[;\n&]")
_APART: Final = re.compile(r"[\s'\"()`$]+")
_HERE: Final = re.compile(r"<<-?\s*['\"]?(\w+)")
_QUOTES: Final = "'\""
_REDIRECTED: Final = re.compile(r"(?:^|\s)1?>>?\s*[^\s&>]|\bsed\s[^|]{0,40}-i")
"""Signs that a command prints nothing, because its output goes into a file."""

_DIFFS: Final = ("git diff", "git show", "diff ", "git log -p", "git format-patch")
_READS: Final = words("cat bat head tail sed nl less more type get-content gc view open_file awk")
_FINDS: Final = words("grep rg egrep fgrep ag ack findstr select-string")
_LISTS: Final = words("ls dir tree find fd du get-childitem gci")
_QUIET: Final = words(
    "cd pushd popd pwd set-location echo printf export set source . true : mkdir rm cp mv touch sleep which chmod fi"
    " done for }"
)
"""Programs that print nothing, or only what the command line already says."""
_PREFIXES: Final = words("sudo time env nice command do then if else while until { !")
_BUILDERS: Final = words(
    "pytest py.test tox nox jest vitest mocha rspec phpunit ctest mvn gradle gradlew ninja cmake pip pip3 apt apt-get"
    " yum dnf apk brew journalctl dmesg make"
)
"""Programs that build, install and test."""
_RUNS: Final = words(
    "npm yarn pnpm npx cargo go docker podman docker-compose kubectl uv poetry pipenv conda bundle dotnet python"
    " python3 bash sh zsh dash ssh xargs timeout sudo find fd parallel watch wsl powershell pwsh vagrant nsenter chroot"
)
"""Programs that run others: the words behind them show what is printed."""
_STEPS: Final = words("build test install ci pull push logs check clippy")
_READS_INSIDE: Final = words("cat bat head tail sed nl awk less get-content gc")


def kind_of_output(command: str) -> OutputKind | None:
    """Return the kind of output of a command line, judged by its programs; ``None`` if it is unknown or if they differ.

    ``DIFF`` if the line contains a command for diffs, such as "git diff". ``PRINTED`` if a file is shown among other
    output, whose lines must not be treated as log lines. Programs that print nothing do not count, nor those whose
    output goes into a file. Only the first ``COMMAND_MAX`` characters are examined.
    """
    line = command.strip()[:COMMAND_MAX]
    if any(name in line for name in _DIFFS):
        return OutputKind.DIFF
    found = set(_sorts(_without_documents(line)))
    if len(found) == 1:
        return found.pop()
    return OutputKind.PRINTED if OutputKind.FILE in found else None


def _without_documents(line: str) -> str:
    """Return a command line without its here-documents (the texts after ``<<EOF``)."""
    if "<<" not in line:
        return line
    kept: list[str] = []
    end = ""
    for row in line.split("\n"):
        if end:
            end = "" if row.strip() == end else end
            continue
        here = _HERE.search(row)
        end = here.group(1) if here else ""
        kept.append(f"{row[: here.start()]} {row[here.end() :].lstrip(_QUOTES)}" if here else row)
    return "\n".join(kept)


def _sorts(line: str) -> Iterator[OutputKind | None]:
    for pipeline in _PIPELINES.split(line.replace("2>&1", "").replace("&>", " >")):
        pieces = [spoken for piece in pipeline.split("|") if (spoken := _command_words(piece))]
        if not pieces or pieces[0][0] in _QUIET or _REDIRECTED.search(pipeline):
            continue
        yield OutputKind.FOUND if pieces[-1][0] in _FINDS else _of(pieces[0])
        if any(_runs_reader(piece) for piece in pieces[1:]):
            yield OutputKind.FILE


def _command_words(piece: str) -> list[str]:
    """Return the words of a command from the program on, in lower case and without folders: "sudo /usr/bin/Cat a" gives
    "cat" and "a"."""
    found = [word.rsplit("/", 1)[-1].lower() for word in _APART.split(piece) if word]
    while found and (found[0] in _PREFIXES or "=" in found[0]):
        found = found[1:]
    return found


def _of(spoken: list[str]) -> OutputKind | None:
    program = spoken[0]
    if program in _READS:
        return OutputKind.FILE
    if program in _FINDS or spoken[:2] == ["git", "grep"]:
        return OutputKind.FOUND
    if _runs_reader(spoken):
        return OutputKind.FILE
    if program in _LISTS or spoken[:2] == ["git", "ls-files"]:
        return OutputKind.LISTING
    builds = program in _BUILDERS or (
        program in _RUNS and any(word in _BUILDERS or word in _STEPS for word in spoken[1:])
    )
    return OutputKind.LOG if builds else None


def _runs_reader(spoken: list[str]) -> bool:
    return spoken[0] in _RUNS and any(word in _READS_INSIDE for word in spoken[1:])


LOOK: Final = 4_000
"""Number of characters at the beginning and at the end of a text that are examined."""

_LINES: Final = 12
_MOST: Final = 0.6
"""Share of the examined lines that must have a form for the text to have it."""

_READERS: Final = ("read", "view", "open", "cat", "getfile", "showfile", "notebook")
_SEARCHERS: Final = ("grep", "search", "find", "glob", "list", "ls")
_DIFF_LINE: Final = re.compile(r"(?m)^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+|--- [^\n]+\n\+\+\+ |\*\*\* Begin Patch)")
_JSON: Final = re.compile(r'\s*(?:\{\s*(?:"|\}\s*$)|\[\s*["{\[\d-])')
_FOUND_LINE: Final = re.compile(r"^[^\s:][^:\n]{0,200}:\d+[:-]")
_COMPILED: Final = re.compile(r"^[^\s:][^:\n]{0,200}:\d+(?::\d+)?: (?:fatal |internal )?(?:error|warning|note)\b")
_LONG_LINE: Final = re.compile(r"^[-dlcbsp][-rwxsStT]{9}[.+@]?\s+\d+\s")
_TREE_LINE: Final = re.compile(r"^[\s│|]*[├└`|+][─-]")
_NUMBERED: Final = re.compile(r"^ {0,6}(0|[1-9]\d{0,5})(?:\t|→|:(?!\d\d\b)|\|)")
STAMP: Final = re.compile(
    r"^(?:[\w.-]{1,40} +\| )?\W{0,2}(?:"
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?(?!\d|\s*[,;|]|\t)"
    r"|\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?!\d|\s*[,;|]|\t|:)"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d"
    r"|[\da-fA-F.:]{3,45} \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"
    r"|(?:time|ts)=\S"
    r"|(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL|NOTICE)\b"
    r")|^\[ *\d{1,9}\.\d{3,9}\] "
)
"""Beginning of a log line: a time or a level. A time in a column of a table does not match."""


def sort_of(passage: ChatPassage) -> OutputKind:
    """Return the kind of a tool's output (source file, log and so on), by the first of these rules that applies:

    - lines of a diff: ``DIFF``, whatever was called;
    - the call reads a file, or shows one among other output: ``FILE`` or ``PRINTED``. So a file that looks like a log
      is still a file;
    - lines with times or levels: ``LOG``; ``PRINTED`` if a search found them, or if the end of the text has none;
    - JSON: ``JSON``;
    - the call builds, installs or tests: ``LOG``;
    - the form of most of the first lines (numbered, found by a search, a listing);
    - what else the call shows; if it shows nothing, ``PRINTED`` for a command and ``TEXT`` for any other call.

    ``passage``: the output, with its tool, command and path.
    """
    look = passage.text[:LOOK]
    if _DIFF_LINE.search(look):
        return OutputKind.DIFF
    by_call = _sort_by_call(passage)
    if by_call in (OutputKind.FILE, OutputKind.PRINTED):
        return by_call
    if is_stamped(look):
        return (
            OutputKind.LOG
            if by_call is not OutputKind.FOUND and _is_stamped_to_the_end(passage.text)
            else OutputKind.PRINTED
        )
    if _JSON.match(look):
        return OutputKind.JSON
    if by_call is OutputKind.LOG:
        return by_call
    lines = _first(look)
    by_lines = next((sort for pattern, sort in _FORMS if _matches_most(pattern, lines)), None)
    return by_lines or by_call or (OutputKind.PRINTED if passage.command else OutputKind.TEXT)


def is_stamped(text: str) -> bool:
    """Return whether most of the first lines of a text begin as log lines do, with a time or a level such as
    "INFO"."""
    return _matches_most(STAMP, _first(text[:LOOK]))


def is_numbered(lines: list[str]) -> bool:
    """Return whether most of the first lines of a text begin with line numbers, as in a file that an
    agent's tool has printed."""
    return _matches_most(_NUMBERED, lines[:_LINES])


def strip_number(line: str) -> str:
    """Return a line of a numbered file without its number; unchanged if it has none."""
    found = _NUMBERED.match(line)
    return line[found.end() :] if found else line


def number_of(line: str) -> int | None:
    """Return the line number at the beginning of a line; ``None`` if it has none."""
    found = _NUMBERED.match(line)
    return int(found.group(1)) if found else None


def _sort_by_call(passage: ChatPassage) -> OutputKind | None:
    """The kind of output as far as the call shows it (its command, tool name or path); ``None`` if it does not."""
    if passage.command:
        return kind_of_output(passage.command)
    squeezed = passage.tool.rsplit("__", 1)[-1].replace("_", "").replace("-", "").lower()
    if any(squeezed.startswith(name) for name in _SEARCHERS):
        return OutputKind.FOUND
    if passage.path or any(squeezed.startswith(name) for name in _READERS):
        return OutputKind.FILE
    return None


def _first(look: str) -> list[str]:
    return look.split("\n", _LINES)[:_LINES]


def _is_stamped_to_the_end(text: str) -> bool:
    """Whether most of the first and last lines of a text are log lines. Code may follow after log lines; then they are
    not."""
    if len(text) <= LOOK:
        return _matches_most(STAMP, text.split("\n"))
    return _matches_most(STAMP, [*_first(text[:LOOK]), *text[-LOOK:].rsplit("\n", _LINES)[-_LINES:]])


def _matches_most(pattern: re.Pattern[str], lines: list[str]) -> bool:
    look = [line for line in lines if line.strip()]
    return bool(look) and sum(bool(pattern.match(line)) for line in look) >= len(look) * _MOST


_FORMS: Final = (
    (_NUMBERED, OutputKind.FILE),
    (_COMPILED, OutputKind.PRINTED),
    (_FOUND_LINE, OutputKind.FOUND),
    (_LONG_LINE, OutputKind.LISTING),
    (_TREE_LINE, OutputKind.LISTING),
)
"""Patterns of lines, each with the kind of output that consists of such lines."""
