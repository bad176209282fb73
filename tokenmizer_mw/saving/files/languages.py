"""How definitions, imports and comments begin in programming languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """A programming language: file endings, patterns for definitions and imports, and the start of comments."""

    name: str
    endings: tuple[str, ...]
    definition: str
    imports: str
    comment: str = "//"


_C_LIKE: Final = (
    r"^(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|sealed|partial|data|open)"
    r"\s+)*"
)

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
    Language(
        "Rust",
        (".rs",),
        r"^\s*(?:pub(?:\([a-z]+\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|impl|mod)\b[^{;]*",
        r"^\s*use\s",
    ),
    Language(
        "Java",
        (".java",),
        _C_LIKE + r"(?:class|interface|enum|record)\s+\w+|^\s+(?:public|protected|private)[^=;]*\([^;]*\{",
        r"^import\s",
    ),
    Language(
        "Kotlin", (".kt", ".kts"), r"^\s*" + _C_LIKE[1:] + r"(?:class|interface|object|fun)\s+[\w.<]+", r"^import\s"
    ),
    Language(
        "C#",
        (".cs",),
        r"^\s*"
        + _C_LIKE[1:]
        + r"(?:class|interface|struct|enum|record)\s+\w+|^\s+(?:public|protected|private|internal)[^=;]*\([^;]*$",
        r"^using\s",
    ),
    Language(
        "C or C++",
        (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"),
        r"^(?:class|struct|enum|namespace)\s+\w+|^[A-Za-z_][\w:<>,*&\s]*\s[*&]?[\w:~]+\([^;]*$",
        r"^\s*#\s*include",
    ),
    Language("Ruby", (".rb",), r"^\s*(?:class|module|def)\s+\S+", r"^\s*require", "#"),
    Language(
        "PHP",
        (".php",),
        r"^\s*(?:(?:abstract|final|public|private|protected|static)\s+)*(?:class|interface|trait|function)\s+\w+",
        r"^\s*(?:use|require|include)",
    ),
    Language(
        "Swift",
        (".swift",),
        r"^\s*(?:(?:public|private|internal|open|static|final)\s+)*(?:class|struct|enum|protocol|func|extension)\s+\w+",
        r"^import\s",
    ),
    Language(
        "SQL",
        (".sql",),
        r"(?i)^\s*(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?(?:table|view|index|function|procedure|trigger)\s+[^(\s]+(?:\s+[^(\s]+){0,3}",
        r"^\0",
        "--",
    ),
    Language("shell", (".sh", ".bash", ".zsh"), r"^\s*(?:function\s+\w+|\w+\s*\(\))", r"^\s*(?:source|\.)\s", "#"),
)
_BY_ENDING: Final = {ending: language for language in LANGUAGES for ending in language.endings}


def language_of(name: str) -> Language | None:
    """Return the language of a source file by its name."""
    return next((language for ending, language in _BY_ENDING.items() if name.lower().endswith(ending)), None)
