"""The words of a message that say what it is about. Pure."""

from __future__ import annotations

from tokenmizer_mw.context.recall.terms import index_terms
from tokenmizer_mw.graph.text import ASKING, words


def content_terms(text: str) -> list[str]:
    """The index terms of ``text``, each once, without function words and question words of English."""
    found = dict.fromkeys(index_terms(text))
    return [term for term in found if term not in ASKING and not (term.isascii() and not words(term))]
