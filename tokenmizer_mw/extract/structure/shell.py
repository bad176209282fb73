"""Findings of a shell command and its output: files that it wrote, packages, commits, tests, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import re2

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.extract.text.prose import one_line
from tokenmizer_mw.extract.text.similar import split_words
from tokenmizer_mw.model.node import NodeType

from . import certain
from .changes import read_changes
from .commands import Command, commands_of
from .effects import EFFECTS, parse_kept_path, select_kept_paths
from .failures import (
    ERROR_LABEL_MAX,
    find_clashes,
    find_compiler_errors,
    find_exceptions,
    find_failing_tests,
    find_files_of_tests,
    find_last_line,
    find_missing_programs,
    find_misuse,
    find_telling_line,
    find_unformatted,
    sum_up_errors,
)
from .git import read_git
from .patches import read_patched_files
from .results import Output
from .testruns import TestRunOutcome, read_tests, runner_of

_PROBES: Final = split_words(
    "rg grep egrep fgrep zgrep ag ack ls ll dir find fd cat bat head tail less more awk gawk wc which where type echo"
    " printf pwd printenv test [ [[ stat file diff cmp sort uniq jq yq tree du df ps date whoami uname id hostname true"
    " false sleep cd pushd popd source . export set unset alias history nl tr cut xargs tee basename dirname realpath"
    " readlink kill pkill pgrep lsof netstat ss ping dig nslookup nproc free top for while if done fi until case esac"
    " in break wait trap return exit get-content get-childitem select-string test-path get-command get-location"
    " set-location write-output write-host mkdir touch chmod read seq column strings od xxd hexdump man help clear"
)
"""Programs that only look something up: if they fail, that is an answer and no error."""

_PROBING_GIT: Final = split_words(
    "status log diff show branch rev-parse ls-files blame remote config fetch grep stash describe reflog shortlog"
    " ls-tree cat-file check-ignore worktree"
)
_ASKING_FLAGS: Final = split_words("-v -V --version version --help -h help")
TEST_PROGRAMS: Final = split_words(
    "pytest py.test tox nox unittest jest vitest mocha ava karma phpunit rspec ctest gotestsum pest playwright cypress"
    " trial nose2 behave"
)
_TEST_SUBCOMMANDS: Final = split_words(
    "npm pnpm yarn bun go cargo mvn gradle gradlew mvnw dotnet mix rake swift make deno flutter dart zig sbt artisan"
    " just task manage.py rails stack cabal lein mise turbo nx"
)
_TEST_WORDS: Final = split_words("test tests check verify nextest spec test:unit test:integration test:e2e unit")

_PATCHERS: Final = split_words("apply_patch applypatch")
_SHOWING: Final = split_words("tail tee cat less more")
_COMPLAINT: Final = re2.compile(r"(?i)error|fail|fatal|not found|denied|refused|cannot|unable|no such|panic|exception")
_READERS: Final = split_words("cat bat head tail less more nl get-content type")
_SEARCHERS: Final = split_words("grep egrep fgrep rg ag select-string")
"""Programs whose first operand is a pattern; their other operands are files."""

_INSTALLERS: Final = {
    "pip": split_words("install uninstall"),
    "pip3": split_words("install uninstall"),
    "uv": split_words("add remove"),
    "poetry": split_words("add remove"),
    "pdm": split_words("add remove"),
    "pipenv": split_words("install uninstall"),
    "npm": split_words("install i add uninstall remove rm"),
    "pnpm": split_words("add install i remove rm uninstall"),
    "yarn": split_words("add remove"),
    "bun": split_words("add install remove"),
    "cargo": split_words("add remove"),
    "go": split_words("get"),
    "gem": split_words("install uninstall"),
    "bundle": split_words("add remove"),
    "composer": split_words("require remove"),
    "flutter": split_words("add remove"),
    "conda": split_words("install remove"),
    "mamba": split_words("install remove"),
}
_REMOVING: Final = split_words("uninstall remove rm")
_VALUE_FLAGS: Final = split_words(
    "-r -c -e -f --requirement --constraint --filter -F --group --extra --index-url -i -C --prefix"
)
_INSTALLED_MAX: Final = 20
_BRIEF: Final = 400
"""Longest output of a search, in characters, that is searched for an error of the search itself."""

_HARD: Final = 0.9
_SOFT: Final = 0.7


def read_shell(line: str, output: Output) -> list[Finding]:
    """Return the findings of running the command ``line`` with the result ``output``. If the line only looks something
    up (a search, a listing), the only errors among them are those of the search itself, such as a wrong option."""
    commands = commands_of(line)
    if len(commands) == 1 and commands[0].program in _PATCHERS:
        return _patch(commands[0], output)
    done = commands[:-1] if output.failed else commands
    found = [finding for command in done for finding in _effects(command, output)]
    working = [command for command in commands if not _is_probe(command)]
    if not working:
        return found + _read_misuse(commands, output)
    return found + _judge_commands(working, commands, output)


def _read_misuse(commands: list[Command], output: Output) -> list[Finding]:
    """The error of commands that only look something up: a search that finds nothing is an answer, one that could not
    run is an error until it runs."""
    if not commands:
        return []
    labels = [find_misuse(output.text)] if output.failed or len(output.text) <= _BRIEF else []
    if not any(command.program in _READERS or command.program in _SEARCHERS for command in commands):
        labels += find_missing_programs(output.text)[:1]
    labels += find_clashes(output.text[-_BRIEF:])
    return [certain.error(label, commands[-1].key, _SOFT) for label in dict.fromkeys(labels) if label][:1]


def _judge_commands(working: list[Command], commands: list[Command], output: Output) -> list[Finding]:
    """The test runs and errors in the output, and the success of the commands that went well. ``working``: those of
    ``commands`` that do more than look something up."""
    tests = [command for command in working if _is_test(command)]
    others = [command for command in working if command not in tests]
    sure = [command for command in working if not _is_hidden(command, commands, output)]
    outcome = read_tests(output.text) if tests or "passed" in output.text or "failed" in output.text else None
    found = _read_test_run(tests, outcome, output)
    if outcome is None or (others and not outcome.failed):
        found += _faults((others or tests)[-1], outcome, output, proven=output.code == 0 and others[-1:] == sure[-1:])
    green = outcome is not None and not outcome.failed
    good = tests if green else []
    if (
        not output.failed
        and (green or outcome is None)
        and not any(finding.type is NodeType.ERROR for finding in found)
    ):
        good = [command for command in working if command in sure or command in good]
    return found + [certain.make_success(command.key) for command in good if command.program not in EFFECTS]


def _read_test_run(tests: list[Command], outcome: TestRunOutcome | None, output: Output) -> list[Finding]:
    """The findings of a test run: its result, the tests that failed in it, and their files."""
    if outcome is None:
        return []
    key = tests[-1].key if tests else runner_of(output.text)
    found = [certain.test(key, failed=outcome.failed, counts=outcome.counts, quote=outcome.quote)]
    if outcome.failed:
        labels = find_failing_tests(output.text) or find_exceptions(output.text)
        found += [certain.error(label, key, _HARD) for label in labels]
        found += [certain.file(path, "failing", f"failing: {path}") for path in find_files_of_tests(output.text)]
    return found


def _faults(command: Command, outcome: TestRunOutcome | None, output: Output, *, proven: bool) -> list[Finding]:
    """The errors outside a test run: exceptions, errors of compilers, else the line that says most.

    ``command``: the command that they count for. ``proven``: the exit code says that it did not fail.
    """
    text = output.text
    untidy = find_unformatted(text)
    labels = [one_line(f"formatting errors in {', '.join(untidy)}", ERROR_LABEL_MAX)] if untidy else []
    if summary := "" if proven else sum_up_errors(command.key, text):
        labels.append(summary)
    elif outcome is not None:
        labels += find_compiler_errors(text)
    elif not proven:
        labels += [label for label in find_exceptions(text) if not labels or not label.startswith("Formatter ")]
    if not labels and outcome is None and output.failed and text.strip():
        labels = [find_telling_line(text) or _named_failure(command, text)]
    labels += find_clashes(text)
    files = [certain.file(path, "failing", f"failing: {path}") for path in untidy]
    return files + [certain.error(label, command.key, _HARD if output.failed else _SOFT) for label in labels]


def _named_failure(command: Command, text: str) -> str:
    """The label of a failure that no line of the output explains: the command and the last line that says something."""
    line = find_last_line(text)
    return one_line(f"{command.key} failed: {line}" if line else f"{command.key} failed", ERROR_LABEL_MAX)


def _is_hidden(command: Command, commands: list[Command], output: Output) -> bool:
    """Whether neither the exit code nor the output shows if a command succeeded, as for the first one in "make; ls"."""
    behind = commands[commands.index(command) :]
    if any(later.joined in ("||", ";", "&") for later in behind[:-1]):
        return True
    if command.joined != "|":
        return False
    shown = len(behind) > 1 and behind[1].program in _SHOWING
    return not shown or bool(_COMPLAINT.search(output.text))


def _is_probe(command: Command) -> bool:
    program = command.program
    if program in _PROBES or not program or program.startswith(("$", "-")):
        return True
    if program == "git":
        return next(iter(command.operands), "") in _PROBING_GIT
    if len(command.words) == 2 and command.words[1] in _ASKING_FLAGS:
        return True
    return program in ("sed", "perl") or program in _PATCHERS


def _is_test(command: Command) -> bool:
    program = command.program
    if program in TEST_PROGRAMS:
        return True
    if program in ("python", "python3", "php", "node", "rails", "bin/rails") or program in _TEST_SUBCOMMANDS:
        return any(word in _TEST_WORDS or word.startswith(("test:", "test-")) for word in command.operands[:4]) or (
            "--test" in command.words[:3]
        )
    return False


# -- effects -----------------------------------------------------------------------------------------------------


def _effects(command: Command, output: Output) -> Iterator[Finding]:
    quote = " ".join(command.words[:12])
    for target in command.writes:
        if path := parse_kept_path(target):
            yield certain.file(path, "written", quote)
    effect = EFFECTS.get(command.program)
    if effect is not None:
        yield from effect(command, quote)
    if command.program in _PATCHERS:
        yield from _patch(command, output)
    elif command.program in ("git", "gh"):
        yield from read_git(command, output, quote)
    elif command.program in _INSTALLERS:
        yield from _packages(command, quote)
    elif command.program in _READERS or command.program in _SEARCHERS:
        for path in select_kept_paths(command.operands[command.program in _SEARCHERS :]):
            yield certain.file(path, "read", quote)


def _patch(command: Command, output: Output) -> list[Finding]:
    """Findings of ``apply_patch``, with the patch as its argument or its input."""
    for document in (*command.documents, *command.words[1:]):
        if touched := read_patched_files(document):
            return read_changes(touched, output, refused=output.failed)
    return []


def _packages(command: Command, quote: str) -> Iterator[Finding]:
    verbs = _INSTALLERS[command.program]
    at = next((index for index, word in enumerate(command.words) if index and word in verbs), 0)
    if not at:
        return
    names, skip = [], False
    for word in command.words[at + 1 :]:
        if not skip and word[:1] != "-":
            names.append(word)
        skip = word in _VALUE_FLAGS
    for word in names[:_INSTALLED_MAX]:
        name, version = _name_and_version(word)
        if name:
            yield certain.dependency(name, version, quote, removed=command.words[at] in _REMOVING)


def _name_and_version(word: str) -> tuple[str, str]:
    """Name and version of a package as written for an installer: "dayjs@1.11", "fastapi[all]>=0.111", "@scope/name@2";
    ("", "") for paths and addresses."""
    if "://" in word or word[:1] in "./~$" or word.endswith((".whl", ".txt", ".tgz", ".gz")):
        return "", ""
    name, version = word, ""
    for sign in ("===", "==", ">=", "<=", "~=", "!=", ">", "<", "@", ":"):
        at = name.find(sign, 1)
        if at > 0:
            name, version = name[:at], version or name[at + len(sign) :]
    name = name.split("[", 1)[0].strip()
    usable = name and len(name) <= 80 and all(char.isalnum() or char in "@/._-" for char in name)
    return (name, version.split(",", 1)[0].strip(" ^~=")[:40]) if usable else ("", "")
