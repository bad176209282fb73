"""A function of the package is named by what it does: a verb phrase, never a bare participle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[1] / "tokenmizer_mw"

# Participles that do not end in "ed", and whose verb has another form ("read", "put" and "cut" are verbs as well).
_PARTICIPLES: Final = """
asked begun bought bound broken brought built caught chosen dealt done drawn driven dug fallen fed felt flown
forgotten fought found given gone grown heard held hidden hung hurt kept knelt known laid led left lent lost made
meant met paid seen sent shown shut sold spent spoken spun stood struck stuck sunk swept swung taken taught thought
thrown told torn understood won worn written
"""
# Verbs that end in "ed".
VERBS: Final = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})
# First words of names of functions that return a yes or no.
_PREDICATES: Final = frozenset({"are", "can", "has", "is", "lacks", "may", "should", "was"})
# Words for which the glossary has others, as names of functions.
_FORBIDDEN: Final = """
booking books cutting drawing editing fitting ingress kept retouch revising said say says tell tells
told trimming
"""
# The same as part of any name, in the whole package, and outside of ``extract``.
_UNUSED: Final = frozenset({"booking", "books", "cutting", "face", "faces", "ingress", "retouch", "revising", "tell"})
_UNUSED_OUTSIDE: Final = frozenset({"believed", "binding", "said", "says", "tells", "told"})


def functions(tree: ast.AST) -> Iterator[str]:
    """The names of all functions and methods of a module that are called, without properties."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if "property" not in decorators and not node.name.startswith("__"):
                yield node.name


def is_participle(name: str) -> bool:
    """Whether a name is one word, and that a participle."""
    word = name.strip("_")
    return "_" not in word and (word in _PARTICIPLES.split() or (word.endswith("ed") and word not in VERBS))


@pytest.fixture(scope="module")
def named() -> list[tuple[str, str]]:
    """Each function of the package: its module's path and its name."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [
        (str(path.relative_to(PACKAGE)), name)
        for path in paths
        for name in functions(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_no_function_is_named_by_a_participle(named: list[tuple[str, str]]) -> None:
    assert [one for one in named if is_participle(one[1])] == []


def test_no_function_has_a_name_that_the_glossary_replaces(named: list[tuple[str, str]]) -> None:
    assert [one for one in named if one[1].strip("_") in _FORBIDDEN.split()] == []


def predicates(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The name and the annotated result of each function that is named as a yes or no."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.returns is None:
            continue
        if node.name.strip("_").partition("_")[0] in _PREDICATES:
            yield node.name, ast.unparse(node.returns)


def test_a_function_named_as_a_yes_or_no_returns_one() -> None:
    found = [
        (str(path.relative_to(PACKAGE)), *predicate)
        for path in PACKAGE.rglob("*.py")
        for predicate in predicates(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) > 100
    assert [one for one in found if one[2] != "bool" and not one[2].startswith("TypeGuard[")] == []


def names_in(tree: ast.AST) -> Iterator[str]:
    """All names that a module uses: of variables, attributes, arguments, functions and classes."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def words_of(name: str) -> set[str]:
    """The words of a name, in lower case: "ChatText" and "chat_text" have the same."""
    return {word.lower() for word in re.split(r"_+|(?<=[a-z0-9])(?=[A-Z])", name)}


def test_no_name_has_a_word_that_the_glossary_replaces() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        forbidden = _UNUSED if place.parts[0] == "extract" else _UNUSED | _UNUSED_OUTSIDE
        names = set(names_in(ast.parse(path.read_text(encoding="utf-8"))))
        wrong += [(str(place), name) for name in sorted(names) if words_of(name) & forbidden]
    assert wrong == []


def test_words_of_names() -> None:
    assert words_of("ChatText") == words_of("chat_text") == {"chat", "text"}


def test_participles_are_told_from_verbs() -> None:
    names = ["_loaded", "told", "embed", "sent_to", "_read", "load"]
    assert list(filter(is_participle, names)) == ["_loaded", "told"]


def texts_of(tree: ast.AST) -> Iterator[str]:
    """The docstrings of a module, and texts that stand alone behind what they describe."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_no_docstring_has_a_line_break_between_quotes() -> None:
    """Such as a tool leaves that wraps a long text as if it were code."""
    broken = re.compile(r"\"\n\s*\" ")
    paths = [path for folder in (PACKAGE, PACKAGE.parent / "integrations") for path in folder.rglob("*.py")]
    texts = ((path, text) for path in paths for text in texts_of(ast.parse(path.read_text(encoding="utf-8"))))
    assert [(str(path), text) for path, text in texts if broken.search(text)] == []
