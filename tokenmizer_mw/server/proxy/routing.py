"""Which provider answers a call, and under which name it knows the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.translate.table import PROVIDERS

from .faces import Face
from .servers import Server

_FOUND_MAX: Final = 1_024
"""Models whose targets are remembered; their names come from clients."""


Choice = Literal["default", "named", "inferred", "configured"]
"""How a call came to its provider: as the default of the client's path; because the client wrote the provider's name in
front of the model; because the model's name begins as that provider's do; or by a name under ``models``."""

_AGGREGATORS: Final = frozenset({"openrouter"})
"""Providers of the table whose own model names begin with the names of other providers."""


@dataclass(frozen=True, slots=True)
class Target:
    """The provider that is asked. ``model``: the provider's own name of it ("" where the call names none).
    ``addressed``: it is the provider that the client's path stands for, so that the client's key was made for it."""

    server: Server
    model: str
    choice: Choice = "default"
    addressed: bool = False


class Routes:
    """The table by which calls find their providers.

    ``models`` maps names that clients use to targets such as "openai/gpt-4o-mini", the first of which is asked and the
    others when it fails; ``defaults`` names the provider of each family of paths for all other models. Raises
    ``ConfigError`` for a name that stands for no provider.
    """

    def __init__(
        self,
        servers: Mapping[str, Server],
        models: Mapping[str, Sequence[str]] | None = None,
        defaults: Mapping[str, str] | None = None,
    ) -> None:
        self.servers = dict(servers)
        self._aliases = {name: self._targets(name, places) for name, places in (models or {}).items()}
        defaults = defaults or {}
        self._defaults = {family: self._default(family, defaults.get(family, "")) for family in FAMILIES}
        self._addressed = {family: self._addressed_by(family, family in defaults) for family in FAMILIES}
        prefixes = [(prefix, server) for server in self.servers.values() for prefix in server.row.prefixes]
        self._prefixes = sorted(prefixes, key=lambda pair: len(pair[0]), reverse=True)
        self._found: Callable[[str, str, str], tuple[Target, ...]] = lru_cache(_FOUND_MAX)(self._looked_up)

    @property
    def aliases(self) -> dict[str, str]:
        """The names of models that this server has given, each with the provider that is asked first."""
        return {name: targets[0].server.name for name, targets in self._aliases.items()}

    @property
    def configured(self) -> dict[str, tuple[Target, ...]]:
        """The targets of each name under ``models``."""
        return dict(self._aliases)

    def is_addressed(self, server: Server) -> bool:
        """Whether clients address this provider by a path, so that it may get their keys."""
        return server in self._addressed.values()

    def not_configured(self, face: Face, model: str) -> str:
        """The provider that the client names in front of the model and that this server does not use; "" where there is
        no such name, or where the path's default provider has models of such names."""
        named = model.partition("/")[0] if "/" in model else ""
        if named not in PROVIDERS or named in self.servers or model in self._aliases:
            return ""
        default = self._defaults[face.family]
        if default is None or default.name not in PROVIDERS or default.name in _AGGREGATORS:
            return ""
        return "" if default.row.auth == "none" else named

    def targets(self, face: Face, model: str) -> tuple[Target, ...]:
        """The providers to ask, in order; empty where none serves the path."""
        return self._found(face.family, face.vendor, model)

    def _looked_up(self, family: str, vendor: str, model: str) -> tuple[Target, ...]:
        own = self.servers.get(vendor)
        default, addressed = (own, own) if own is not None else (self._defaults[family], self._addressed[family])
        if vendor and own is None:
            addressed = None
        if found := self._aliases.get(model):
            return tuple(replace(target, addressed=target.server is addressed) for target in found)
        provider, slash, rest = model.partition("/")
        if slash and (server := self.servers.get(provider)) is not None:
            return (Target(server, rest, "named", server is addressed),)
        inferred = next((server for prefix, server in self._prefixes if model.startswith(prefix)), None)
        if model and inferred is not None:
            return (Target(inferred, model, "inferred", inferred is addressed),)
        return (Target(default, model, "default", default is addressed),) if default is not None else ()

    def _targets(self, name: str, places: Sequence[str]) -> tuple[Target, ...]:
        found = []
        for place in places:
            provider, slash, model = place.partition("/")
            if not slash or not model or provider not in self.servers:
                raise ConfigError(
                    f"models.{name}: expected provider/model with one of {', '.join(self.servers)}, not {place!r}"
                )
            found.append(Target(self.servers[provider], model, "configured"))
        if not found:
            raise ConfigError(f"models.{name}: expected at least one provider/model")
        return tuple(found)

    def _default(self, family: str, named: str) -> Server | None:
        if named and named not in self.servers:
            raise ConfigError(
                f"defaults.{family}: no provider is called {named!r}; there are {', '.join(self.servers)}"
            )
        if named:
            return self.servers[named]
        own = self.servers.get(family)
        return own or next((server for server in self.servers.values() if server.family == family), None)

    def _addressed_by(self, family: str, configured: bool) -> Server | None:
        """The provider that a path stands for: the default that the configuration names, the one of the table, or the
        only one of this family. It speaks the family's dialect. Keys of clients go to no other provider."""
        default = self._defaults[family]
        if default is None or default.family != family:
            return None
        alone = sum(server.family == family for server in self.servers.values()) == 1
        return default if configured or alone or default.name == family else None


FAMILIES: Final = ("openai", "anthropic", "gemini", "cohere", "ollama")
"""The families of paths."""
