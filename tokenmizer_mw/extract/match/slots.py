"""Slots: what a fact is a value of. A new value for a slot replaces the old one, in whatever words it is stated.

"database: SQLite" and "use PostgreSQL" are values of the slot ``database``; "PostgreSQL for orders" is a value of the
slot ``database@ord``, which has the stem of "orders" after its "@". Only categories with one value at a time are slots:
two test tools or two services may both be in use, so that nothing is replaced unless the words say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.extract.text.pattern import compile_lazily
from tokenmizer_mw.extract.text.similar import content, split_words
from tokenmizer_mw.model.category import CATEGORIES, MEMBERS, Category

SLOT_TEXT_MAX: Final = 240
"""Number of characters of a label that are searched for a slot."""


_PLAIN_WORDS: Final = {"rest": "REST", "mit": "MIT", "express": "Express", "oracle": "Oracle", "swift": "Swift"}
"""Names of products that are everyday words unless they are spelled like this."""

_RUNTIMES: Final = "|".join(
    (
        r"python|node(?:\.?js)?|java|jdk|openjdk|ruby|php|go|golang|rust|kotlin|scala|elixir|erlang|otp|perl|deno|bun",
        r"typescript|swift|\.net|dotnet|react|vue|angular|django|flask|fastapi|rails|laravel|symfony|spring boot",
        r"phoenix|postgres(?:ql)?|mysql|mariadb|mongodb|redis|sqlite|kubernetes|k8s|k3s|unity|ubuntu|debian|alpine",
        r"macos|ios|android|windows|cuda|pytorch|tensorflow|pydantic|next\.?js|nuxt|gradle|maven|jenkins|terraform",
        r"ansible|helm|dbt|airflow|spark|kafka|elasticsearch|nginx|npm|pnpm|yarn|gcc|clang|cmake|qt|godot|unreal",
    )
)
_VERSION: Final = compile_lazily(
    rf"(?:^|[^\w.-])(?:(?:bumped|upgraded|updated|moved|switched|migrated|raised) (?:the )?(?P<raised>{_RUNTIMES})"
    rf"(?: version)?(?: from v?[0-9][0-9.x]*)? to v?|(?P<name>{_RUNTIMES})[ @:=]?v?)"
    r"(?P<version>[0-9]+(?:\.[0-9x]+){0,3}\+?)(?:[^\w.%]|\.\W|\.?$)"
)
_STDLIB: Final = "(?:standard library|stdlib)"
_BEFORE_MODULE: Final = compile_lazily(
    rf"(?:`|(?:^|\W)(?:import|imports|importing) (?:[\w.]+, ?){{0,8}}|(?:^|\W)(?:module|{_STDLIB}(?:'s)?) )$"
)
_BEHIND_MODULE: Final = compile_lazily(
    rf"(?:`| (?:import|module|package|library)\b| (?:from|of|in) (?:the |python's ){{0,2}}{_STDLIB})"
)
"""Matches what follows a name such as "sqlite3" if it is a Python module, whose digit is no version; ``_BEFORE_MODULE``
matches what precedes it: an import, code, or a word for a module."""

_ATTRIBUTES: Final = "|".join(
    (
        "port|timeout|limit|budget|deadline|target|branch|region|cadence|page size|batch size|learning rate|retention",
        "interval|ttl|quota|threshold|version|password length",
    )
)
_UNITS: Final = "ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|kb|mb|gb|tokens?|words?|%"
_QUANTITY: Final = compile_lazily(
    rf"(?:^|[^\w-])(?P<name>(?:[a-z][\w-]* ){{0,2}}?(?:{_ATTRIBUTES}))(?: (?:is|of|to|should be|becomes|=))?[: =]+"
    rf"(?P<value>v?\d[\w.,:%$€-]*(?: ?(?:{_UNITS}))?)(?:\W|$)"
)
_PAIR: Final = compile_lazily(r"(?P<name>[a-z][\w /-]{1,40}?)\s*[:=]\s+(?P<value>\S.{0,120})")
_SCOPE: Final = compile_lazily(r"[\s,](?:for|as|in|on) (?:the |our |my |all |any )?(?P<scope>[^,.;:()—–]{2,60})")
_DIGITS: Final = frozenset("0123456789")
_SCOPE_WORDS: Final = 3
_HEAD_WORDS: Final = 4
_NO_SUBJECT: Final = split_words(
    "a an the on at to with of for in and or is it our my your use set make keep listen run change new"
)
_NO_ATTRIBUTE: Final = split_words(
    "note warning reason question example step option update edit ps fyi btw also tip why"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """What a label is a value of.

    - ``name``: the slot; "" for a value of a category of which several can be in use.
    - ``value``: the value in canonical spelling; ``category``: the kind of choice ("database"), "" if unknown.
    """

    name: str
    value: str
    category: str = ""

    @property
    def chosen(self) -> bool:
        """Whether a goal that names a value of this category chooses it ("with PostgreSQL") rather than mentions it
        ("in Python")."""
        return self.category not in _AROUND


_AROUND: Final = frozenset(
    {"library", "transport", "language", "deployment", "build tool", "test framework", "version"}
)
_CALLED: Final = {name.replace("-", " "): category for category in CATEGORIES for name in category.names.split()}


def read_slot(label: str, scope: str = "") -> Slot | None:
    """Return the slot that ``label`` gives a value, and the value: "use PostgreSQL" gives the slot "database" the value
    "postgresql". ``None`` if no known value, version, quantity or "name: value" is found in it.

    ``scope``: what the value is for ("orders"), if the label does not say it; "" if unknown. Not used for versions and
    for labels of the form "name: value".
    """
    text = label[:SLOT_TEXT_MAX].strip()
    if not text:
        return None
    measured = not _DIGITS.isdisjoint(text)
    return (
        (_version(text) if measured else None)
        or (_read_named_slot(text) if ":" in text or "=" in text else None)
        or (_quantity(text, scope) if measured else None)
        or _member(text, scope)
    )


def find_versions(text: str) -> list[tuple[str, str]]:
    """Return the runtimes and platforms with a version in ``text``, in order, such as [("python", "3.12")]; [] for
    none."""
    text = text[:SLOT_TEXT_MAX]
    return [] if _DIGITS.isdisjoint(text) else list(_find_versions(text))


def _find_versions(text: str) -> Iterator[tuple[str, str]]:
    rest = text
    while (match := _VERSION.search(rest)) is not None:
        named = "name" if match.group("name") else "raised"
        name, version = match.group(named), match.group("version")
        before, behind = text[: len(text) - len(rest) + match.start(named)], rest[match.end("version") :]
        glued = match.end(named) == match.start("version") and version.isdecimal()
        if not (glued and (_BEFORE_MODULE.search(before) or _BEHIND_MODULE.match(behind))):
            yield name, version
        rest = behind


def members_of(category: str) -> tuple[str, ...]:
    """Return the canonical spellings of the known values of a category, one for each known name, so that a value with
    several names occurs several times; () for an unknown category."""
    return tuple(first for kind, first in MEMBERS.values() if kind.name == category)


def find_member(word: str) -> tuple[str, str] | None:
    """Return the category and the canonical spelling of a known name, such as ("database", "postgresql") for "pg";
    ``None`` if it is unknown."""
    found = MEMBERS.get(word.casefold().strip(".,;:!?()'\""))
    return (found[0].name, found[1]) if found else None


def is_same_value(one: str, other: str) -> bool:
    """Whether two values of a slot are equal apart from case, or one is more specific ("3.12" and "3.12.1")."""
    a, b = one.casefold(), other.casefold()
    return a == b or a.startswith(b + ".") or b.startswith(a + ".")


def are_of_different_things(one: str, other: str) -> bool:
    """Whether two slots are the same attribute of two different things: "port@api" and "port@worker". False if one of
    them has no "@"."""
    (name, _, about), (other_name, _, other_about) = one.partition("@"), other.partition("@")
    return name == other_name and bool(about and other_about) and about != other_about


def names_a_value(text: str) -> bool:
    """Whether ``text`` is "category: value", such as "database: SQLite". The colon then does not introduce a reason."""
    head, colon, value = text.partition(":")
    return bool(colon and value.strip()) and head.strip().casefold().replace("-", " ") in _CALLED


def _version(text: str) -> Slot | None:
    name, version = next(_find_versions(text), ("", ""))
    return Slot(f"{name.casefold().replace('golang', 'go')}.version", version, "version") if name else None


def _read_named_slot(text: str) -> Slot | None:
    """The slot that a text names with a colon or "=": ``database: SQLite``; ``None`` for none."""
    found = _PAIR.match(text)
    if found is None:
        return None
    name = found.group("name").casefold().strip()
    value = found.group("value")
    category = _CALLED.get(name.replace("-", " "))
    if category is not None:
        return Slot(category.name, _canonical(value), category.name)
    if len(name.split()) > _SCOPE_WORDS or name in _NO_ATTRIBUTE:
        return None
    return Slot(name, value.casefold())


def _quantity(text: str, scope: str) -> Slot | None:
    """The slot of an attribute with a number: ``port 9001 for the api``; ``None`` for none."""
    found = _QUANTITY.search(text)
    if found is None:
        return None
    name = " ".join(word for word in found.group("name").casefold().split() if word not in _NO_SUBJECT)
    behind = _SCOPE.match(text[found.end("value") :])
    about = " ".join(sorted(split_words(behind.group("scope") if behind else scope) - _NO_SUBJECT)[:_SCOPE_WORDS])
    return Slot(f"{name}@{about}" if about else name, found.group("value").casefold())


def _member(text: str, scope: str) -> Slot | None:
    head, said = _head_and_scope(text)
    category, first = _first_member(head)
    if category is None:
        return None
    if not category.single:
        return Slot("", first, category.name)
    about = _scope_key(said or scope, category)
    return Slot(f"{category.name}@{about}" if about else category.name, first, category.name)


def _first_member(head: str) -> tuple[Category | None, str]:
    written = [token.strip(".,;:!?()'\"`") for token in head.split()[: _HEAD_WORDS + 1]]
    for index, token in enumerate(written[:_HEAD_WORDS]):
        word = token.casefold()
        following = written[index + 1].casefold() if index + 1 < len(written) else ""
        found = MEMBERS.get(f"{word}-{following}") or MEMBERS.get(word)
        if found and _PLAIN_WORDS.get(word, token) == token:
            return found
    return None, ""


def _head_and_scope(text: str) -> tuple[str, str]:
    found = _SCOPE.search(text)
    if found is None:
        return text, ""
    start = found.start()
    return text[:start], found.group("scope")


def _scope_key(scope: str, category: Category) -> str:
    """The stems of a scope in a fixed order, without those of the category's own names."""
    own = content(f"{category.name} {category.names} {_SYNONYMS.get(category.name, '')}")
    return " ".join(sorted(content(scope) - own)[:_SCOPE_WORDS])


_SYNONYMS: Final = {
    "database": "store storage data persistence primary main everything project app application production",
    "cache": "caching main",
    "frontend framework": "ui client web app frontend dashboard interface",
    "password hashing": "passwords hash hashing",
    "package manager": "dependencies packages project",
    "css framework": "styles styling style ui",
    "ml framework": "training framework models",
    "license": "project repo repository code",
    "ci": "ci builds pipeline",
    "api style": "api endpoints",
}


def _canonical(value: str) -> str:
    category, first = _first_member(value)
    return first if category is not None else value.casefold().strip(" .")
