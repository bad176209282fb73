"""HTML generation: anything that is not ``Markup`` is escaped as text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final


class Markup(str):
    """Text that is already HTML and is not escaped again."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]
"""What stands in an element: markup as it is, other text escaped, ``None`` as nothing, and any of these in a row."""

_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """Return the element ``name``.

    In attribute names underscores become dashes and a final one is dropped (``class_``). ``True`` gives an attribute
    without a value; ``None`` and ``False`` omit it.
    """
    told = "".join(
        f" {_spelled(key)}" if value is True else f' {_spelled(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """Concatenate markup."""
    return Markup("".join(map(_told, children)))


def _told(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return escape(str(child))
    return "".join(map(_told, child))


def _spelled(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")
