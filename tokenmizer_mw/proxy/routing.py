"""Which provider answers a call, and under which name it knows the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tokenmizer_mw.errors import ConfigError

from .faces import Face
from .servers import Server

_FOUND_MAX: Final = 1_024
"""Models whose targets are remembered; their names come from clients."""


@dataclass(frozen=True, slots=True)
class Target:
    """Who is asked. ``model``: the provider's own name of it ("" where the call names none). ``chosen``: the client has
    chosen the provider, by its name, by a model of its own or by the path; otherwise this server's table has."""

    server: Server
    model: str
    chosen: bool = True


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
        self._defaults = {family: self._default(family, (defaults or {}).get(family, "")) for family in FAMILIES}
        prefixes = [(prefix, server) for server in self.servers.values() for prefix in server.row.prefixes]
        self._prefixes = sorted(prefixes, key=lambda pair: len(pair[0]), reverse=True)
        self._found: Callable[[str, str], tuple[Target, ...]] = lru_cache(_FOUND_MAX)(self._looked_up)

    @property
    def aliases(self) -> dict[str, str]:
        """The names of models that this server has given, each with the provider that is asked first."""
        return {name: targets[0].server.name for name, targets in self._aliases.items()}

    def targets(self, face: Face, model: str) -> tuple[Target, ...]:
        """Who is to be asked, in order; nobody where no provider is there for the path."""
        return self._found(face.family, model)

    def _looked_up(self, family: str, model: str) -> tuple[Target, ...]:
        if found := self._aliases.get(model):
            return found
        provider, slash, rest = model.partition("/")
        if slash and (server := self.servers.get(provider)) is not None:
            return (Target(server, rest),)
        server = next((server for prefix, server in self._prefixes if model.startswith(prefix)), None)
        server = server if model and server is not None else self._defaults[family]
        return (Target(server, model),) if server is not None else ()

    def _targets(self, name: str, places: Sequence[str]) -> tuple[Target, ...]:
        found = []
        for place in places:
            provider, slash, model = place.partition("/")
            if not slash or not model or provider not in self.servers:
                raise ConfigError(
                    f"models.{name}: expected provider/model with one of {', '.join(self.servers)}, not {place!r}"
                )
            found.append(Target(self.servers[provider], model, chosen=False))
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


FAMILIES: Final = ("openai", "anthropic", "gemini", "cohere", "ollama")
"""The families of paths."""


def without_key(target: Target) -> Target:
    """The target of which a client knows nothing: its own key must not go there."""
    return replace(target, chosen=False)
