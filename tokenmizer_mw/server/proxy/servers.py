"""Configured providers: an entry of the provider table, whose key is sent, and further dialects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from tokenmizer_mw.server.translate.table import PROVIDERS, Provider

Keys = Literal["auto", "client", "server"]
"""Whose key a provider gets: the client's own, the one in the server's environment, or that one where there is any."""

ALSO: Final[Mapping[str, frozenset[str]]] = {
    "openai": frozenset({"openai_responses"}),
    "openrouter": frozenset({"openai_responses"}),
    "grok": frozenset({"openai_responses"}),
}
"""What providers of the table speak besides their own dialect, at the same base address."""

FAMILIES: Final[Mapping[str, str]] = {
    "openai_chat": "openai",
    "openai_responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "cohere": "cohere",
    "ollama": "ollama",
}
"""The API that a dialect belongs to."""


@dataclass(frozen=True, slots=True)
class Server:
    """A configured provider. ``key``: this server's API key for it, "" for none.

    ``also``: dialects that the provider accepts without translation, besides that of its table entry.
    """

    row: Provider
    keys: Keys = "auto"
    key: str = field(default="", repr=False)
    also: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.row.name

    @property
    def family(self) -> str:
        """The API family; any call of the same family is forwarded without translation."""
        return FAMILIES[self.row.dialect]

    @property
    def lack(self) -> str:
        """Error message if the server's key is to be sent but is missing; else ""."""
        if self.row.auth == "none" or self.keys != "server" or self.key:
            return ""
        missing = f"{self.row.key_variable} is not set" if self.row.key_variable else "no key_variable is named"
        return f"keys: server needs this server's key, but {missing}"

    def takes(self, dialect: str) -> bool:
        """Return whether a chat call in ``dialect`` needs no translation."""
        return dialect == self.row.dialect or dialect in self.also


def servers_of_table(environ: Mapping[str, str]) -> dict[str, Server]:
    """Return all providers of the table, with the keys in ``environ``."""
    return {
        name: Server(row, key=environ.get(row.key_variable, ""), also=ALSO.get(name, frozenset()))
        for name, row in PROVIDERS.items()
    }
