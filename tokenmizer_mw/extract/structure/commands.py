"""Split a shell command line into its simple commands, each with its words, redirections and here-documents.

Supported is what agents write: POSIX shells, and PowerShell as far as it looks the same. Nothing is expanded and
nothing is run. One pass; never raises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

COMMAND_MAX: Final = 20_000
"""Number of characters of a command line that are read."""

COMMANDS_MAX: Final = 50
KEY_MAX: Final = 100
"""Longest ``Command.key``, in characters."""

_NESTING_MAX: Final = 3
_WORD_WINDOW: Final = 64


@dataclass(slots=True)
class Command:
    """One simple command, such as "pytest -q > log.txt" in "cd api && pytest -q > log.txt".

    - ``words``: the program and its arguments; ``program``: the first word without its folder, in lower case.
    - ``writes``: the files that its output is redirected to; ``documents``: the texts of its here-documents.
    - ``joined``: the operator after the command ("&&", "||", "|", ";", "&"); "" at the end of the line.
    """

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    joined: str = ""
    program: str = ""

    @property
    def operands(self) -> list[str]:
        """The words after the program that do not begin with "-"."""
        return [word for word in self.words[1:] if word[:1] != "-"]

    @property
    def key(self) -> str:
        """The command without flags, at most ``KEY_MAX`` characters: "pytest tests/api" for "pytest -q tests/api". Two
        runs of one command have the same key.

        The key of a run of everything ("pytest", also for "pytest .") is the beginning of the key of a run of a part.
        """
        program = self.program
        words, skip = [program], False
        for word in self.words[1:]:
            if not skip and word[:1] != "-" and word not in _EVERYTHING and "\n" not in word:
                words.append(word)
            flag = f"-{word[-1]}" if word[:1] == "-" and word[:2] != "--" else word
            skip = flag in _VALUE_FLAGS and program in _VALUE_PROGRAMS
        return " ".join(words)[:KEY_MAX]


_EVERYTHING: Final = frozenset((".", "./", "./...", "...", "", "*", "./*"))
_VALUE_FLAGS: Final = frozenset(
    ("-t", "-o", "-m", "-w", "-H", "-e", "-c", "-F", "-X", "--format", "--tail", "--message")
)
_VALUE_PROGRAMS: Final = frozenset(("docker", "podman", "curl", "git", "python", "python3", "node"))
"""Programs whose flags take values that do not tell one command from another ("docker build -t NAME")."""

_WRAPPERS: Final = frozenset(
    (
        "sudo",
        "time",
        "nohup",
        "env",
        "command",
        "exec",
        "npx",
        "bunx",
        "stdbuf",
        "nice",
        "xvfb-run",
        "then",
        "do",
        "else",
    )
)
_RUNNERS: Final = {
    "uv": ("run",),
    "poetry": ("run",),
    "pipenv": ("run",),
    "hatch": ("run",),
    "pdm": ("run",),
    "rye": ("run",),
    "bundle": ("exec",),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "npm": ("exec",),
    "mise": ("exec",),
    "dotnet": ("tool",),
}
_PYTHONS: Final = frozenset(("python", "python3", "py", "python2", "pypy3"))
_SHELLS: Final = frozenset(("bash", "sh", "zsh", "dash", "pwsh", "powershell", "cmd"))


def commands_of(line: str) -> list[Command]:
    """Return the simple commands of a command line, in order, at most ``COMMANDS_MAX``; [] for an empty line. Words
    that only wrap a command are left out: "sudo", "time", "uv run", "bash -lc" and assignments before it."""
    return _commands(line, _NESTING_MAX)


def _commands(line: str, depth: int) -> list[Command]:
    found: list[Command] = []
    for command in _Scanner(line[:COMMAND_MAX]).scan():
        command.words = _unwrap_command(command.words)
        command.program = _program(command.words)
        if command.program == "git" and command.words[1:2] == ["-C"]:
            del command.words[1:3]
        inner = _inner_line(command) if depth else ""
        if inner:
            nested = _commands(inner, depth - 1)
            if nested:
                nested[-1].joined = nested[-1].joined or command.joined
            found += nested
        elif command.words or command.writes:
            found.append(command)
        if len(found) >= COMMANDS_MAX:
            break
    return found[:COMMANDS_MAX]


def _program(words: list[str]) -> str:
    return words[0].rsplit("/", 1)[-1].rsplit("\\", 1)[-1].lower().removesuffix(".exe") if words else ""


def _inner_line(command: Command) -> str:
    """The command line that a shell gets as an argument, as in "bash -c LINE"; "" for none."""
    if command.program not in _SHELLS:
        return ""
    for index, word in enumerate(command.words[1:-1], 1):
        if word.lower() in ("-c", "-lc", "-ic", "-lic", "-command", "/c", "-xc", "-euc"):
            return command.words[index + 1]
    return ""


def _unwrap_command(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) - 1:
        word = words[at].rsplit("/", 1)[-1]
        if word in _WRAPPERS or _is_assignment(word):
            at += 1
        elif (
            word == "timeout" or (word in _PYTHONS and words[at + 1] == "-m") or words[at + 1] in _RUNNERS.get(word, ())
        ):
            at += 2
        else:
            break
        while at < len(words) - 1 and at and words[at][:1] == "-":
            at += 1
    return words[at:] if at < len(words) and not _is_assignment(words[at]) else []


def _is_assignment(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier()


class _Scanner:
    """One pass over the characters of a command line. ``_STEPS`` maps a character to the method that reads it."""

    __slots__ = ("at", "delimiters", "done", "now", "piece", "started", "target", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.now = Command()
        self.done: list[Command] = []
        self.piece: list[str] = []
        self.started = False
        self.target = ""
        self.delimiters: list[tuple[Command, str]] = []

    def scan(self) -> list[Command]:
        text, size = self.text, len(self.text)
        while self.at < size and len(self.done) < COMMANDS_MAX:
            char = text[self.at]
            step = _STEPS.get(char)
            if step is not None:
                step(self)
                continue
            self.word()
        self.end_command("")
        return self.done

    def word(self) -> None:
        """Read plain characters up to the next one that is special to a shell. Most words end at a space."""
        text, at = self.text, self.at
        end = text.find(" ", at, at + _WORD_WINDOW)
        if end < 0 or not _SIGNS.isdisjoint(text[at:end]):
            end = at + 1
            while end < len(text) and text[end] not in _STEPS:
                end += 1
        self.take(text[at:end])
        self.at = end

    def take(self, piece: str) -> None:
        self.piece.append(piece)
        self.started = True

    def end_word(self) -> None:
        if not self.started:
            return
        word = "".join(self.piece)
        self.piece, self.started = [], False
        target, self.target = self.target, ""
        if target == ">":
            self.now.writes.append(word)
        elif target == "<<":
            self.delimiters.append((self.now, word))
        elif not target:
            self.now.words.append(word)

    def end_command(self, operator: str) -> None:
        self.end_word()
        if self.now.words or self.now.writes or self.now.documents:
            self.now.joined = operator
            self.done.append(self.now)
            self.now = Command()

    # -- steps: each moves ``at`` on ------------------------------------------------------------------------------

    def space(self) -> None:
        self.end_word()
        self.at += 1

    def newline(self) -> None:
        self.end_word()
        self.at += 1
        for command, delimiter in self.delimiters:
            command.documents.append(self.document(delimiter))
        self.delimiters = []
        self.end_command(";")

    def document(self, delimiter: str) -> str:
        """Return the lines up to the one that is ``delimiter``, and move ``at`` behind that line."""
        start = at = self.at
        while at < len(self.text):
            end = self.text.find("\n", at)
            end = len(self.text) if end < 0 else end
            if self.text[at:end].strip() == delimiter:
                self.at = min(end + 1, len(self.text))
                return self.text[start:at]
            at = end + 1
        self.at = len(self.text)
        return self.text[start:]

    def escape(self) -> None:
        if self.text[self.at + 1 : self.at + 2] != "\n":
            self.take(self.text[self.at + 1 : self.at + 2])
        self.at += 2

    def single_quote(self) -> None:
        end = self.text.find("'", self.at + 1)
        end = len(self.text) if end < 0 else end
        self.take(self.text[self.at + 1 : end])
        self.at = end + 1

    def double_quote(self) -> None:
        self.at += 1
        if self.text.startswith(("$(cat <<", "@'"), self.at):
            self.quoted_document()
            return
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != '"':
            self.at += 2 if self.text[self.at] == "\\" else 1
        inner = self.text[start : self.at]
        self.take(inner.replace('\\"', '"').replace("\\\\", "\\") if "\\" in inner else inner)
        self.at += 1

    def quoted_document(self) -> None:
        """Read ``"$(cat <<'EOF' ... EOF)"``, the form in which agents pass a text of several lines."""
        line_end = self.text.find("\n", self.at)
        line_end = len(self.text) if line_end < 0 else line_end
        delimiter = self.text[self.at + 8 : line_end].strip(" -'\"\\")
        self.at = line_end + 1
        self.take(self.document(delimiter))
        closing = self.text.find('"', self.at)
        self.at = len(self.text) if closing < 0 else closing + 1

    def backtick(self) -> None:
        end = self.text.find("`", self.at + 1)
        end = len(self.text) if end < 0 else end
        self.take("$()")
        self.at = end + 1

    def dollar(self) -> None:
        self.at += 1
        if not self.text.startswith("(", self.at):
            self.take("$")
            return
        depth = 0
        while self.at < len(self.text):
            depth += (self.text[self.at] == "(") - (self.text[self.at] == ")")
            self.at += 1
            if not depth:
                break
        self.take("$()")

    def comment(self) -> None:
        if self.started:
            self.take("#")
            self.at += 1
            return
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def operator(self) -> None:
        char = self.text[self.at]
        double = self.text.startswith(char * 2, self.at)
        if char == "&" and self.text.startswith("&>", self.at):
            self.at += 1
            self.end_word()
            return
        self.at += 2 if double and char != ";" else 1
        self.end_command("|" if char == "|" and not double else ";" if char in ";()" else char * 2 if double else char)

    def redirect(self) -> None:
        if self.started and "".join(self.piece).isdigit():
            self.piece, self.started = [], False
        self.end_word()
        self.at += 2 if self.text.startswith(">>", self.at) else 1
        if self.text.startswith("&", self.at):
            self.at += 1
            while self.text[self.at : self.at + 1].isdigit():
                self.at += 1
            return
        self.target = ">"

    def source(self) -> None:
        self.end_word()
        signs = 1
        while signs < 3 and self.text.startswith("<", self.at + signs):
            signs += 1
        self.at += signs
        if signs == 2 and self.text.startswith("-", self.at):
            self.at += 1
        self.target = "<" * signs


_STEPS: Final = {
    " ": _Scanner.space,
    "\t": _Scanner.space,
    "\r": _Scanner.space,
    "\n": _Scanner.newline,
    "\\": _Scanner.escape,
    "'": _Scanner.single_quote,
    '"': _Scanner.double_quote,
    "`": _Scanner.backtick,
    "$": _Scanner.dollar,
    "#": _Scanner.comment,
    ";": _Scanner.operator,
    "&": _Scanner.operator,
    "|": _Scanner.operator,
    "(": _Scanner.operator,
    ")": _Scanner.operator,
    ">": _Scanner.redirect,
    "<": _Scanner.source,
}
_SIGNS: Final = frozenset(_STEPS)
