"""The page about translation: ``python -m tests.translate.clients.page`` writes its tables from those of the code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tokenmizer_mw.server.translate.clients import anthropic_request, openai_chat_request, openai_responses_request
from tokenmizer_mw.server.translate.clients.request_parts import Field, Table

PAGE: Final = Path(__file__).parents[3] / "docs" / "translation.md"
_MARK: Final = "<!-- tables: python -m tests.translate.clients.page -->\n"

_REQUESTS: Final[Mapping[str, Table]] = {
    "OpenAI Chat Completions": openai_chat_request.REQUEST,
    "OpenAI Responses": openai_responses_request.REQUEST,
    "Anthropic Messages": anthropic_request.REQUEST,
}


def page(text: str) -> str:
    """The page in ``text`` with its tables anew."""
    head, mark, _ = text.partition(_MARK)
    return head + mark + "\n" + "\n".join(_section(name, table) for name, table in _REQUESTS.items())


def _section(name: str, table: Table) -> str:
    carried = ", ".join(f"`{field}`" for field, what in sorted(table.items()) if what.carried)
    refused = ", ".join(f"`{field}`" for field, what in sorted(table.items()) if not what.carried and what.values == ())
    rows = "\n".join(_rows(table))
    return (
        f"### {name}\n\nCarried: {carried}.\n\nRefused: {refused}; and every field that is not named here.\n\n"
        f"| field | passes | why it may be left out |\n|---|---|---|\n{rows}\n"
    )


def _rows(table: Table) -> Iterator[str]:
    for name, what in sorted(table.items()):
        if not what.carried and what.values != ():
            yield f"| `{name}` | {_passing(what)} | {what.reason} |"


def _passing(what: Field) -> str:
    if what.values is None:
        return "with any value"
    return " or ".join(f"`{json.dumps(value)}`" for value in what.values)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
