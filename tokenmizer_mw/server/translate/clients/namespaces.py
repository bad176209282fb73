"""Tools in namespaces (Responses dialect only), renamed to one flat name each for other dialects.

The flat name joins the namespace and the tool's own name if providers accept that and it is unique; else it is
shortened, and a digest makes it unique. Names are translated back with the tools of the request.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import re2

from tokenmizer_mw.server.translate.chat import Namespace, Tool

NAME_MAX: Final = 64
"""Characters of a name that all providers take."""

_BETWEEN: Final = "__"
_FOREIGN: Final = re2.compile(r"[^A-Za-z0-9_-]")


class Names:
    """Flat names of one request's tools. ``taken``: the names of tools outside of namespaces."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._alone = frozenset(self._taken)
        self._flat: dict[tuple[str, str], str] = {}

    def flat(self, namespace: str, name: str) -> str:
        """Return the flat name of a tool; its own name if it is in no namespace."""
        if not namespace:
            return name
        found = self._flat.get((namespace, name))
        if found is None:
            found = _join_names(namespace, name)
            found = found if found and found not in self._taken else _shorten_with_mark(namespace, name)
            self._taken.add(found)
            self._flat[namespace, name] = found
        return found

    def choose_tool(self, name: str) -> str:
        """Return the flat name of the tool that a client names without a namespace.

        That is a tool outside of namespaces, or the only one with this name in any of them.
        """
        found = [flat for (_, own), flat in self._flat.items() if own == name]
        return found[0] if len(found) == 1 and name not in self._alone else name


def _join_names(namespace: str, name: str) -> str:
    """The plain name; "" where providers would not take it."""
    joined = namespace + ("" if namespace.endswith(_BETWEEN) else _BETWEEN) + name
    return joined if len(joined) <= NAME_MAX and not _FOREIGN.search(joined) else ""


def _shorten_with_mark(namespace: str, name: str) -> str:
    told = f"{namespace}\0{name}".encode("utf-8", "surrogatepass")
    mark = f"_{blake2b(told, digest_size=4).hexdigest()}"
    plain: str = _FOREIGN.sub("_", f"{namespace}{_BETWEEN}{name}")
    return plain[: NAME_MAX - len(mark)] + mark


def describe_tool(tool: str, namespace: Namespace, *, first: bool) -> str:
    """Return a tool's description; the ``first`` tool of a namespace also gets the namespace's description."""
    told = [tool] * bool(tool)
    if first and namespace.description:
        told.append(f"About all tools of {namespace.name}: {namespace.description}")
    return "\n\n".join(told)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return the tools of a request by the names that providers see."""
    return {tool.name: tool for tool in tools}
