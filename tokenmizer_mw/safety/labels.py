"""Turn labels (the one-line texts of facts) and other untrusted text into plain text that cannot act as markup, before
a model sees it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

import re2

from tokenmizer_mw.model.node import LABEL_MAX

_DROPPED: Final = frozenset({"Cc", "Cf"})
_BOXES: Final = frozenset({"Cn", "Co", "Cs"})
"""Unicode categories of characters without a meaning (private, unassigned, surrogates). Readers see a box, so they
become a blank and do not join the text on both sides."""
_BLANKS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_AFTER_LESS: Final = frozenset(" 0123456789=-")
_CONTROL_TOKEN = re2.compile(r"\[(/?[A-Z][A-Z_]+)\]")
_CODE_FENCE = re2.compile(r"[`~]*(?:```|~~~)[`~]*")
_OWN_NAME = re2.compile(r"(?i) ?/? ?session ?\pPd? ?record")

LINE_MAX: Final = 2_000
"""Longest line that ``flatten_lines`` returns, in characters without the indentation."""
INDENT_MAX: Final = 16
"""Most blanks of indentation that ``flatten_lines`` keeps at the start of a line."""


def flatten(text: str, limit: int = LABEL_MAX) -> str:
    """Return ``text`` as one line of at most ``limit`` characters that has no effect as markup; "" if nothing visible
    remains.

    - The text is normalised (NFKC), and white space, line breaks too, becomes single blanks.
    - Control, format, invisible and variation characters are removed; private and unassigned ones become blanks.
    - Tags, chat-template tokens, Markdown images and links, and code fences are changed so that they read nearly the
      same but have no effect ("<" becomes "‹").
    - A text that is too long ends after a word, with "...".
    """
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFKC", "".join(_visible(unicodedata.normalize("NFKC", text))))
    text = _broken_tags(" ".join(text.split()))
    if "[" in text or "]" in text:
        text = _CONTROL_TOKEN.sub(r"(\1)", text).replace("](", "] (").replace("][", "] [").replace("![", "! [")
    if "```" in text or "~~~" in text:
        text = _CODE_FENCE.sub("``", text)
    return text if len(text) <= limit else _shorten(text, limit)


def flatten_lines(text: str) -> str:
    """Return ``text`` with ``flatten`` applied to each line, with a limit of ``LINE_MAX`` characters. Lines keep their
    indentation by blanks, up to ``INDENT_MAX``; blank lines are removed."""
    lines = ((line[: len(line) - len(line.lstrip(" "))], flatten(line, LINE_MAX)) for line in text.splitlines())
    return "\n".join(indent[:INDENT_MAX] + body for indent, body in lines if body)


def _visible(text: str) -> Iterator[str]:
    for char in text:
        category = unicodedata.category(char)
        if char.isspace() or (category in _BOXES and not _is_ignorable(char)):
            yield " "
        elif category not in _DROPPED and category not in _BOXES and char not in _BLANKS and not _varies(char):
            yield char


def _is_ignorable(char: str) -> bool:
    """Whether an unassigned character is one that is never shown (Default_Ignorable_Code_Point)."""
    return char == "\u2065" or "\ufff0" <= char <= "\ufff8" or "\U000e0000" <= char <= "\U000e0fff"


def _varies(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or "\u180b" <= char <= "\u180f"


def _broken_tags(text: str) -> str:
    """Replace every "<" that could open a tag, a template token or a delimiter of ``fence`` by "‹"; comparisons such as
    "a < 3" stay."""
    if "<" not in text:
        return text
    first, *rest = text.split("<")
    kept = [first]
    for index, part in enumerate(rest):
        harmless = part[0] in _AFTER_LESS if part else index == len(rest) - 1
        harmless = harmless and _OWN_NAME.match(part) is None
        kept.append(("<" if harmless else "\u2039") + part)
    return "".join(kept)


def _shorten(text: str, limit: int) -> str:
    head = text[: max(0, limit - 3)]
    return (head.rpartition(" ")[0] or head).rstrip() + "..."
