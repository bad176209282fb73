"""Tools in namespaces, which only the Responses dialect has, under one name each for everybody else.

The name is that of the namespace and the tool's own, as long as it is one that providers take and nobody else's; else
it is shortened, and a digest keeps it apart. Which tool a name means is told by the request's own tools.
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
    """The names of one request's tools. ``taken`` are those of tools outside of namespaces."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._alone = frozenset(self._taken)
        self._flat: dict[tuple[str, str], str] = {}

    def flat(self, namespace: str, name: str) -> str:
        """The name of a tool for those who know no namespaces; its own where it is in none."""
        if not namespace:
            return name
        found = self._flat.get((namespace, name))
        if found is None:
            found = _joined(namespace, name)
            found = found if found and found not in self._taken else _marked(namespace, name)
            self._taken.add(found)
            self._flat[namespace, name] = found
        return found

    def chosen(self, name: str) -> str:
        """The tool that a client means by ``name`` alone: one outside of namespaces, or the only one of that name."""
        found = [flat for (_, own), flat in self._flat.items() if own == name]
        return found[0] if len(found) == 1 and name not in self._alone else name


def _joined(namespace: str, name: str) -> str:
    """The plain name; "" where providers would not take it."""
    joined = namespace + ("" if namespace.endswith(_BETWEEN) else _BETWEEN) + name
    return joined if len(joined) <= NAME_MAX and not _FOREIGN.search(joined) else ""


def _marked(namespace: str, name: str) -> str:
    told = f"{namespace}\0{name}".encode("utf-8", "surrogatepass")
    mark = f"_{blake2b(told, digest_size=4).hexdigest()}"
    plain: str = _FOREIGN.sub("_", f"{namespace}{_BETWEEN}{name}")
    return plain[: NAME_MAX - len(mark)] + mark


def described(tool: str, namespace: Namespace, *, first: bool) -> str:
    """A tool's description, with that of its namespace at its ``first`` tool."""
    told = [tool] * bool(tool)
    if first and namespace.description:
        told.append(f"About all tools of {namespace.name}: {namespace.description}")
    return "\n\n".join(told)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools of a request by the names that providers know."""
    return {tool.name: tool for tool in tools}
