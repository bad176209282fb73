"""The text of a message as markup: line breaks stay, control characters are removed, quoted evidence of facts is
linked. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.safety.labels import flatten

from .markup import Markup, join_markup, tag
from .words import link, to

TEXT_MAX: Final = 12_000
"""Characters of a message that a page of many messages shows."""

WHOLE_MAX: Final = 1_000_000
"""Characters of a message that is shown alone."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_KEPT: Final = frozenset("\n\t\u200d")


def visible(text: str) -> str:
    """Return ``text`` without control, format and unassigned characters; line ends and tabs stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(char for char in text if char in _KEPT or unicodedata.category(char) not in _HIDDEN)


def mark_passages(session_id: str, text: str, nodes: Iterable[Node], limit: int = TEXT_MAX) -> Markup:
    """Return the first ``limit`` characters of ``text``, with each passage that is the source of a fact linked to the
    fact.

    Of overlapping passages, the one that begins first is linked.
    """
    pieces: list[Markup | str] = []
    done = 0
    for start, end, node in _passages(text, nodes):
        if start < done or start >= limit:
            continue
        pieces += [visible(text[done:start]), _mark(session_id, text[start : min(end, limit)], node)]
        done = min(end, limit)
    return tag("bdi", join_markup(*pieces, visible(text[done:limit])))


def _mark(session_id: str, words: str, node: Node) -> Markup:
    name = f"{TYPES[node.type].word}: {flatten(node.label)}"
    address = to("fact", id=session_id, node=node.id)
    return tag("mark", link(address, visible(words), title=name, class_=f"tm-type-{node.type.value}"))


def _passages(text: str, nodes: Iterable[Node]) -> list[tuple[int, int, Node]]:
    """Where in ``text`` the facts were said, in order, without the spaces around them."""
    return sorted(_spans(text, nodes), key=lambda found: (found[0], -found[1], found[2].id))


def _spans(text: str, nodes: Iterable[Node]) -> Iterator[tuple[int, int, Node]]:
    for node in nodes:
        start, end = node.source.span or _find_quote(text, node.source.quote)
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        end = start + len(words.strip())
        if 0 <= start < end:
            yield start, end, node


def _find_quote(text: str, quote: str) -> tuple[int, int]:
    at = text.find(quote) if quote else -1
    return (at, at + len(quote)) if at >= 0 else (0, 0)
