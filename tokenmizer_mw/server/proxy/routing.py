"""The configured providers, and the rules that select the provider of a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.translate.table import PROVIDERS, Provider

from .api_paths import ApiPath

Keys = Literal["auto", "client", "server"]
"""Whose API key is sent to a provider. "client": the client's own; "server": the one in this server's environment;
"auto": the server's if it is set, else the client's."""

ALSO: Final[Mapping[str, frozenset[str]]] = {
    "openai": frozenset({"openai_responses"}),
    "openrouter": frozenset({"openai_responses"}),
    "grok": frozenset({"openai_responses"}),
}
"""Formats of chat calls (dialects) that a known provider accepts at its base address besides its own: name of the
provider -> names of dialects."""

DIALECT_FAMILIES: Final[Mapping[str, str]] = {
    "openai_chat": "openai",
    "openai_responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "cohere": "cohere",
    "ollama": "ollama",
}
"""The API family of each dialect (format of chat calls). A family is a provider's API with all its paths, such as
"openai"."""


@dataclass(frozen=True, slots=True)
class Server:
    """A provider as it is configured.

    - ``row``: its address, dialect (format of chat calls), kind of authentication and so on.
    - ``keys``: whose API key is sent to it. ``key``: this server's API key for it, "" for none.
    - ``also``: dialects that it accepts without translation, besides that of ``row``.
    """

    row: Provider
    keys: Keys = "auto"
    key: str = field(default="", repr=False)
    also: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The provider's name, in the table of known providers or in the configuration, such as "anthropic"."""
        return self.row.name

    @property
    def family(self) -> str:
        """The provider's API family, such as "openai". Calls of the same family other than chat calls are forwarded
        unchanged."""
        return DIALECT_FAMILIES[self.row.dialect]

    @property
    def lack(self) -> str:
        """Error message if ``keys`` is "server", the provider needs a key, and this server has none; else ""."""
        if self.row.auth == "none" or self.keys != "server" or self.key:
            return ""
        missing = f"{self.row.key_variable} is not set" if self.row.key_variable else "no key_variable is named"
        return f"keys: server needs this server's key, but {missing}"

    def takes(self, dialect: str) -> bool:
        """Return whether the provider accepts a chat call in the format ``dialect``, such as "openai_chat", without
        translation."""
        return dialect == self.row.dialect or dialect in self.also


def servers_of_table(environ: Mapping[str, str]) -> dict[str, Server]:
    """Return all known providers by name. Their API keys are read from ``environ``, the environment variables."""
    return {
        name: Server(row, key=environ.get(row.key_variable, ""), also=ALSO.get(name, frozenset()))
        for name, row in PROVIDERS.items()
    }


_FOUND_MAX: Final = 1_024
"""Maximum number of model names whose targets are cached. It is limited because clients choose the names."""

Choice = Literal["default", "named", "inferred", "configured"]
"""Why a call is sent to its provider. "configured": the model's name is defined under ``models`` in the configuration;
"named": the client wrote the provider's name in front of the model, such as "openai/gpt-5"; "inferred": the model's
name begins like this provider's models; "default": none of these, and the provider is the default for the client's
path."""

_AGGREGATORS: Final = frozenset({"openrouter"})
"""Known providers whose own model names begin with another provider's name, such as "anthropic/claude-opus-4"."""


@dataclass(frozen=True, slots=True)
class Target:
    """A provider to send a call to, and the model to ask it for.

    - ``model``: the provider's own name of the model; "" if the call names none.
    - ``choice``: why this provider was selected.
    - ``addressed``: whether the client's request path belongs to this provider's API, such as "/v1/messages" to
      Anthropic's, so that the client's API key is meant for it.
    """

    server: Server
    model: str
    choice: Choice = "default"
    addressed: bool = False


class Routes:
    """The routing table: selects the providers of a call.

    - ``servers``: the providers by name.
    - ``models``: additional model names, each with targets such as "openai/gpt-4o-mini". The first target is asked
      first, the others if it fails.
    - ``defaults``: name of the default provider of an API family; ``None`` or a missing family uses the provider with
      the family's name, else the first of the family.

    Raises ``ConfigError`` for the name of an unknown provider and for a malformed target.
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
        self._addressed = {family: self._find_addressed(family, family in defaults) for family in FAMILIES}
        prefixes = [(prefix, server) for server in self.servers.values() for prefix in server.row.prefixes]
        self._prefixes = sorted(prefixes, key=lambda pair: len(pair[0]), reverse=True)
        self._found: Callable[[str, str, str], tuple[Target, ...]] = lru_cache(_FOUND_MAX)(self._look_up)

    @property
    def aliases(self) -> dict[str, str]:
        """The model names that are defined under ``models``, each with the name of the provider that is asked first."""
        return {name: targets[0].server.name for name, targets in self._aliases.items()}

    @property
    def configured(self) -> dict[str, tuple[Target, ...]]:
        """The targets (provider and model) of each model name that is defined under ``models``, in the order in which
        they are asked."""
        return dict(self._aliases)

    def is_addressed(self, server: Server) -> bool:
        """Return whether request paths of some API stand for this provider, such as "/v1/messages" for Anthropic. If
        so, it may receive the keys of clients that use these paths."""
        return server in self._addressed.values()

    def not_configured(self, api_path: ApiPath, model: str) -> str:
        """Return the name of the provider that the model's name begins with, such as "grok" for "grok/grok-4", if it is
        a known provider that this configuration does not have. Such a call should be refused.

        "" in all other cases: also if the name is defined under ``models``, or if the path's default provider may have
        models with such names itself.
        """
        named = model.partition("/")[0] if "/" in model else ""
        if named not in PROVIDERS or named in self.servers or model in self._aliases:
            return ""
        default = self._defaults[api_path.family]
        if default is None or default.name not in PROVIDERS or default.name in _AGGREGATORS:
            return ""
        return "" if default.row.auth == "none" else named

    def targets(self, api_path: ApiPath, model: str) -> tuple[Target, ...]:
        """Return the targets to ask for a call, in order; an empty tuple if there is no provider for it. ``model``: the
        model name in the call, "" for none."""
        return self._found(api_path.family, api_path.vendor, model)

    def _look_up(self, family: str, vendor: str, model: str) -> tuple[Target, ...]:
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

    def _find_addressed(self, family: str, configured: bool) -> Server | None:
        """Return the provider that the request paths of the API ``family`` stand for; only this one gets the keys of
        clients that use these paths. ``None`` if it is unclear.

        It is the default that the configuration names, else the provider with the family's name, else the only provider
        of this family. A provider of another family is never returned.
        """
        default = self._defaults[family]
        if default is None or default.family != family:
            return None
        alone = sum(server.family == family for server in self.servers.values()) == 1
        return default if configured or alone or default.name == family else None


FAMILIES: Final = ("openai", "anthropic", "gemini", "cohere", "ollama")
"""Names of the API families that request paths belong to. A family is a provider's API with all its paths."""
