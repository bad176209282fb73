"""Classifies the output of a command line by the programs in it: files, matches, listings, or build and test logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .names import words
from .passage import OutputKind

COMMAND_MAX: Final = 4_000
"""Characters of a command line that are looked at."""

_PIPELINES: Final = re.compile(r"&&|\|\||[;\n&]")
_APART: Final = re.compile(r"[\s'\"()`$]+")
_HERE: Final = re.compile(r"<<-?\s*['\"]?(\w+)")
_QUOTES: Final = "'\""
_REDIRECTED: Final = re.compile(r"(?:^|\s)1?>>?\s*[^\s&>]|\bsed\s[^|]{0,40}-i")
"""What prints nothing: it goes into a file."""

_DIFFS: Final = ("git diff", "git show", "diff ", "git log -p", "git format-patch")
_READS: Final = words("cat bat head tail sed nl less more type get-content gc view open_file awk")
_FINDS: Final = words("grep rg egrep fgrep ag ack findstr select-string")
_LISTS: Final = words("ls dir tree find fd du get-childitem gci")
_QUIET: Final = words(
    "cd pushd popd pwd set-location echo printf export set source . true : mkdir rm cp mv touch sleep which chmod fi"
    " done for }"
)
"""Programs that print nothing, or what the command line says itself."""
_PREFIXES: Final = words("sudo time env nice command do then if else while until { !")
_SAYS: Final = words(
    "pytest py.test tox nox jest vitest mocha rspec phpunit ctest mvn gradle gradlew ninja cmake pip pip3 apt apt-get"
    " yum dnf apk brew journalctl dmesg make"
)
"""Programs that build, install and test."""
_RUNS: Final = words(
    "npm yarn pnpm npx cargo go docker podman docker-compose kubectl uv poetry pipenv conda bundle dotnet python"
    " python3 bash sh zsh dash ssh xargs timeout sudo find fd parallel watch wsl powershell pwsh vagrant nsenter chroot"
)
"""Programs that run others: the words behind them say what is printed."""
_STEPS: Final = words("build test install ci pull push logs check clippy")
_READS_INSIDE: Final = words("cat bat head tail sed nl awk less get-content gc")


def printed_by(command: str) -> OutputKind | None:
    """Return the kind of output of a command line, if all its programs agree; ``None`` if it is unknown.

    Returns ``PRINTED`` if a file is shown among other output: its lines must not be treated as log lines.
    """
    line = command.strip()[:COMMAND_MAX]
    if any(name in line for name in _DIFFS):
        return OutputKind.DIFF
    found = set(_sorts(_without_documents(line)))
    if len(found) == 1:
        return found.pop()
    return OutputKind.PRINTED if OutputKind.FILE in found else None


def _without_documents(line: str) -> str:
    """A command line without the texts that it hands over itself."""
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
    """The words of a command, in lower case and without folders, from the program on."""
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
    said = program in _SAYS or (program in _RUNS and any(word in _SAYS or word in _STEPS for word in spoken[1:]))
    return OutputKind.LOG if said else None


def _runs_reader(spoken: list[str]) -> bool:
    return spoken[0] in _RUNS and any(word in _READS_INSIDE for word in spoken[1:])
