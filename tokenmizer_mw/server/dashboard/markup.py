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
        f" {_attribute_name(key)}" if value is True else f' {_attribute_name(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{join_markup(*children)}</{name}>")


def join_markup(*children: Child) -> Markup:
    """Concatenate markup."""
    return Markup("".join(map(_render_child, children)))


def _render_child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return escape(str(child))
    return "".join(map(_render_child, child))


def _attribute_name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")
