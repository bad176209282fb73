"""Readers for Markdown, source code and plain text: report an outline with line numbers (headings, definitions) and
counts."""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any, Final

import re2

from .digest import DigestLine, Report, format_count, join_names
from .reading import FileSource, Stopped, clip_text


@dataclass(frozen=True, slots=True)
class Language:
    """A programming language: its file endings, regular expressions for lines that define or import something, and the
    sign that begins a comment."""

    name: str
    endings: tuple[str, ...]
    definition: str
    imports: str
    comment: str = "//"


_C_LIKE: Final = (
    r"^(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|sealed|partial|data|open)"
    r"\s+)*"
)

# fmt: off
LANGUAGES: Final = (
    Language("Python", (".py", ".pyi"), r"^\s*(?:class|(?:async\s+)?def)\s+\w+", r"^\s*(?:import|from)\s+\S+", "#"),
    Language(
        "JavaScript",
        (".js", ".mjs", ".cjs", ".jsx"),
        r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:class|function\*?)\s+\w+|^(?:export\s+)?const\s+\w+\s*=\s*(?:async\s*)?\(",
        r"^\s*import\s|\brequire\(",
    ),
    Language(
        "TypeScript",
        (".ts", ".tsx", ".mts", ".cts"),
        r"^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:class|function\*?|interface|enum|type)\s+\w+"
        r"|^(?:export\s+)?const\s+\w+[^=]*=\s*(?:async\s*)?\(",
        r"^\s*import\s",
    ),
    Language("Go", (".go",), r"^(?:func|type)\s+\S+", r'^\s*(?:import\s|")'),
    Language("Rust", (".rs",), r"^\s*(?:pub(?:\([a-z]+\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|impl|mod)\b[^{;]*",
        r"^\s*use\s"),
    Language("Java", (".java",),
        _C_LIKE + r"(?:class|interface|enum|record)\s+\w+|^\s+(?:public|protected|private)[^=;]*\([^;]*\{",
        r"^import\s"),
    Language("Kotlin", (".kt", ".kts"), r"^\s*" + _C_LIKE[1:] + r"(?:class|interface|object|fun)\s+[\w.<]+",
        r"^import\s"),
    Language("C#", (".cs",),
        r"^\s*"
        + _C_LIKE[1:]
        + r"(?:class|interface|struct|enum|record)\s+\w+|^\s+(?:public|protected|private|internal)[^=;]*\([^;]*$",
        r"^using\s"),
    Language("C or C++", (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"),
        r"^(?:class|struct|enum|namespace)\s+\w+|^[A-Za-z_][\w:<>,*&\s]*\s[*&]?[\w:~]+\([^;]*$", r"^\s*#\s*include"),
    Language("Ruby", (".rb",), r"^\s*(?:class|module|def)\s+\S+", r"^\s*require", "#"),
    Language("PHP", (".php",),
        r"^\s*(?:(?:abstract|final|public|private|protected|static)\s+)*(?:class|interface|trait|function)\s+\w+",
        r"^\s*(?:use|require|include)"),
    Language("Swift", (".swift",),
        r"^\s*(?:(?:public|private|internal|open|static|final)\s+)*(?:class|struct|enum|protocol|func|extension)\s+\w+",
        r"^import\s"),
    Language(
        "SQL",
        (".sql",),
        r"(?i)^\s*(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?(?:table|view|index|function|procedure|trigger)\s+[^(\s]+(?:\s+[^(\s]+){0,3}",
        r"^\0",
        "--",
    ),
    Language("shell", (".sh", ".bash", ".zsh"), r"^\s*(?:function\s+\w+|\w+\s*\(\))", r"^\s*(?:source|\.)\s", "#"),
)
# fmt: on
_BY_ENDING: Final = {ending: language for language in LANGUAGES for ending in language.endings}


def language_of(name: str) -> Language | None:
    """Return the language of a source file by the ending of its name; ``None`` if it is not known."""
    return next((language for ending, language in _BY_ENDING.items() if name.lower().endswith(ending)), None)


OUTLINE_MAX: Final = 400
"""Largest number of entries of an outline."""

_SHOWN: Final = 160
_DEFINED_WITHIN: Final = 400
_BEGIN: Final = 3
"""Number of lines that show how a text begins."""
_END: Final = 100
"""Number of lines at the end that are redacted together, because a secret may span many; only the last is shown."""
_END_LINE: Final = 2_000
_TODO = re2.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
_HEADING = re.compile(r"(#{1,6})\s+(.+)")  # its matches cost a tenth of those of RE2
_BOX = re2.compile(r"^\s*[-*+]\s+\[([ xX])\]\s")
_BULLETS: Final = frozenset("-*+")
"""Signs with which a list item begins. They are compared first, because a pattern would take microseconds per line."""
_LINK = re2.compile(r"\]\([^)\s]+")


class _Outline:
    """Counts and outline of a source file, as far as it was read."""

    def __init__(self, language: Language) -> None:
        self.counts: Counter[str] = Counter()
        self.lines: list[DigestLine] = []
        self.todo = 0
        self._comment = language.comment
        self._definition = re2.compile(language.definition)
        self._import = re2.compile(language.imports)

    def add(self, number: int, text: str) -> None:
        """Read the next line, given without its line end."""
        counts, start, bare = self.counts, text[:_SHOWN], text.lstrip()
        counts["line"] += 1
        counts["blank"] += not bare
        counts["comment"] += bare.startswith(self._comment)
        counts["import"] += self._import.search(start) is not None
        if _TODO.search(start) is not None:
            counts["todo"] += 1
            self.todo = self.todo or number
        if (found := self._definition.search(text[:_DEFINED_WITHIN])) is not None:
            counts["definition"] += 1
            if len(self.lines) < OUTLINE_MAX:
                indent = len(text) - len(bare)
                shown = f"{number}: {' ' * min(indent, 8)}{_signature(text, found.end())}"
                self.lines.append(DigestLine(shown, 4.0 / (1 + indent)))

    def head(self) -> DigestLine:
        """Return a line with the counts: "12 definitions, 3 imports, ..."."""
        counts = [format_count(self.counts[name], name) for name in ("definition", "import")]
        counts.append(f"{format_count(self.counts['comment'], 'line')} of comment")
        if self.todo:
            counts.append(f"{self.counts['todo']:,} TODO (first: line {self.todo:,})")
        return DigestLine(", ".join(counts), 9.0)


def read_source(source: FileSource, language: Language) -> Report:
    """Report the definitions in a source file with their line numbers, and the numbers of imports, comments and
    TODOs."""
    outline = _Outline(language)
    broke = ""
    try:
        for number, line in enumerate(source.lines(), 1):
            outline.add(number, line.rstrip())
    except Stopped:
        broke = f"stopped after {format_count(outline.counts['line'], 'line')}"
    title = f"{language.name} source, {format_count(outline.counts['line'], 'line')}"
    return _report(title, source, [outline.head(), *outline.lines], broke, outline.counts)


def _signature(text: str, end: int) -> str:
    """Return the whole line of a definition if it is short, else its beginning up to ``end``."""
    whole = text.strip().rstrip("{:").rstrip()
    return whole if len(whole) <= 100 else clip_text(text, end).strip()


def read_markdown(source: FileSource) -> Report:
    """Report the headings of a Markdown file with their line numbers, and the numbers of links, code blocks, and open
    and done items of task lists."""
    counts: Counter[str] = Counter()
    outline: list[DigestLine] = []
    fence = ""
    broke = ""
    try:
        for number, line in enumerate(source.lines(), 1):
            text = line.rstrip()
            counts["lines"] += 1
            counts["words"] += len(text.split())
            start = text.lstrip()[:3]
            if start in ("```", "~~~"):
                counts["code block"] += not fence
                fence = "" if fence == start else fence or start
            if fence:
                continue
            if "](" in text:
                counts["link"] += len(_LINK.findall(text))
            if start[:1] in _BULLETS and (box := _BOX.match(text)) is not None:
                counts["open item" if box.group(1) == " " else "done item"] += 1
            elif text[:1] == "#" and (heading := _HEADING.match(text)) is not None:
                counts["heading"] += 1
                if len(outline) < OUTLINE_MAX:
                    marks, heading_text = heading.groups()
                    outline.append(DigestLine(f"{number}: {marks} {clip_text(heading_text, _SHOWN)}", 6.0 - len(marks)))
    except Stopped:
        broke = f"stopped after {format_count(counts['lines'], 'line')}"
    totals = [
        format_count(counts[name], name)
        for name in ("heading", "code block", "link", "open item", "done item")
        if counts[name]
    ]
    title = f"Markdown, {format_count(counts['lines'], 'line')}, {format_count(counts['words'], 'word')}"
    return _report(title, source, [*([DigestLine(", ".join(totals), 9.0)] if totals else []), *outline], broke, counts)


def read_plain(source: FileSource) -> Report:
    """Report a plain text: numbers of lines and words, its first lines and its last one."""
    counts: Counter[str] = Counter()
    end: deque[str] = deque(maxlen=_END)
    broke = ""
    try:
        for line in source.lines():
            text = line.strip()
            counts["lines"] += 1
            counts["words"] += len(text.split())
            if text:
                end.append(clip_text(text, _END_LINE))
    except Stopped:
        broke = f"stopped after {format_count(counts['lines'], 'line')}"
    first = _nonempty_lines(source.clean(source.head.decode(source.encoding or "utf-8", "replace")))[:_BEGIN]
    last = _nonempty_lines(source.clean("\n".join(end)))[-1:] if counts["lines"] > _BEGIN else []
    lines = [DigestLine(f"begins: {join_names((one[:_SHOWN] for one in first), _BEGIN)}", 5.0)] if first else []
    lines += [DigestLine(f"ends: {one[:_SHOWN]}", 4.0) for one in last]
    return _report(
        f"text, {format_count(counts['lines'], 'line')}, {format_count(counts['words'], 'word')}",
        source,
        lines,
        broke,
        counts,
    )


def _nonempty_lines(text: str) -> list[str]:
    """The lines that are not blank, stripped."""
    return [bare for line in text.splitlines() if (bare := line.strip())]


def _report(title: str, source: FileSource, lines: list[DigestLine], broke: str, counts: Counter[str]) -> Report:
    facts: dict[str, Any] = dict(counts)
    cut = [DigestLine(source.cut, 8.0)] if source.cut else []
    return Report(title, (*lines, *cut), broke, ("--lines 1:40", "--find TEXT"), facts)
