"""Configuration of the proxy: read once from one YAML file and the environment into frozen dataclasses."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.hosts import is_loopback
from tokenmizer_mw.server.access.settings import AccessSettings
from tokenmizer_mw.server.translate.providers.openai_chat import Quirks
from tokenmizer_mw.server.translate.table import PROVIDERS, Auth, Provider
from tokenmizer_mw.settings import (
    ENVIRONMENT,
    ENVIRONMENT_PREFIX,
    Count,
    Positive,
    Range,
    Seconds,
    SecondsOrNone,
    Settings,
    check_fields,
    read_fields,
    read_mapping,
    read_overridden,
    read_value,
)
from tokenmizer_mw.store.address import absolute_address

from .attempts import Retrying
from .routing import ALSO, FAMILIES, Keys, Routes, Server, servers_of_table
from .upstream import Upstream, UpstreamTimeouts

CONFIG_VARIABLE: Final = "TOKENMIZER_CONFIG"

Naming = Literal["named", "agents", "derived"]
"""How the session of a chat is found. "named": only by the header or body field of this package in which a client names
it. "agents": also by the ways in which coding agents name their sessions. "derived": as "agents", and otherwise by a
hash of the beginning of the conversation."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Address and process settings of the server.

    - ``host``, ``port``: address to listen on; port 0 selects a free one.
    - ``workers``: number of server processes.
    - ``drain_seconds``: how long open streams may continue after the server was told to stop.
    - ``unready_seconds``: after the signal to stop, how long the server still accepts requests while it reports that it
      is not ready, so that a load balancer can react.
    - ``keep_alive_seconds``: how long an idle connection stays open.
    - ``access_log``: log a line for every request, without its query.
    - ``loop``: event loop of the server; "auto" is uvloop if it is installed, else asyncio.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Range(ge=0, le=65_535)] = 8787
    workers: Positive = 1
    drain_seconds: SecondsOrNone = 30.0
    unready_seconds: SecondsOrNone = 0.0
    keep_alive_seconds: Count = 75
    access_log: bool = False
    loop: Literal["auto", "asyncio", "uvloop"] = "auto"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.loop == "uvloop" and find_spec("uvloop") is None:
            raise ConfigError("loop: uvloop is not installed")


@dataclass(frozen=True, slots=True)
class UpstreamSettings:
    """Settings for requests to providers: section ``asking`` of the configuration file.

    - ``connect_seconds``, ``first_byte_seconds``, ``idle_seconds``: timeouts to connect, until the response begins, and
      between two pieces of the response.
    - ``retries``: maximum number of retries after the first attempt; ``retry_wait_max``: maximum wait before one, in
      seconds.
    - ``connections``: maximum number of concurrent connections per process; ``None`` for no limit.
    - ``body_max``: maximum size of a request body in bytes.
    - ``ca_file``: PEM file of certificate authorities that are trusted besides the public ones; ``None`` for no others.
    - ``unreadable_bodies``: what to do with a body in which secrets cannot be looked for, because it cannot be parsed:
      "refuse" or "pass" it.
    """

    connect_seconds: Seconds = 10.0
    first_byte_seconds: Seconds = 600.0
    idle_seconds: Seconds = 300.0
    retries: Count = 0
    retry_wait_max: Seconds = 20.0
    connections: Positive | None = None
    body_max: Positive = 16 * 1024 * 1024
    ca_file: str | None = None
    unreadable_bodies: Literal["refuse", "pass"] = "refuse"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.ca_file is not None and not Path(self.ca_file).is_file():
            raise ConfigError(f"ca_file: there is no file {self.ca_file}")

    @property
    def upstream(self) -> Upstream:
        """A new HTTP client for the providers. Each access to this property creates one. Raises ``ConfigError`` if
        ``ca_file`` has no certificates."""
        patience = UpstreamTimeouts(self.connect_seconds, self.first_byte_seconds, self.idle_seconds)
        return Upstream(patience, connections=self.connections, ca_file=self.ca_file)

    @property
    def retrying(self) -> Retrying:
        """The settings for retries of a provider call, as ``open_upstream`` takes them."""
        return Retrying(self.retries, wait_max=self.retry_wait_max)


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """An entry under ``providers`` of the configuration file. A field that is ``None`` has the value in the table of
    known providers, if the provider is known.

    ``keys``: whose API key is sent, see ``Keys``. ``also``: formats of chat calls (dialects) that the provider accepts
    besides its own. The other fields are those of ``Provider``.
    """

    base_url: str | None = None
    dialect: Literal["openai_chat", "anthropic", "gemini", "cohere", "ollama"] | None = None
    auth: Auth | None = None
    key_variable: str | None = None
    prefixes: tuple[str, ...] | None = None
    quirks: Quirks | None = None
    max_tokens: int | None = None
    version: str | None = None
    keys: Keys = "auto"
    also: frozenset[Literal["openai_chat", "openai_responses", "anthropic"]] | None = None

    def server(self, name: str, environ: Mapping[str, str]) -> Server:
        """Return the provider ``name`` with the settings of this entry. Its API key is read from the variable
        ``key_variable`` in ``environ``. Raises ``ConfigError`` if the base address is invalid, or missing for an
        unknown provider."""
        row = PROVIDERS.get(name)
        if row is None and self.base_url is None:
            raise ConfigError(f"providers.{name}.base_url: expected an address, such as http://127.0.0.1:8000/v1")
        row = row or Provider(name, "")
        of_row = {member.name for member in fields(Provider)}
        given = {member.name: getattr(self, member.name) for member in fields(self) if member.name in of_row}
        row = replace(row, **{key: value for key, value in given.items() if value is not None})
        row = replace(row, base_url=_address(name, row.base_url))
        key = environ.get(row.key_variable, "") if row.key_variable else ""
        also = ALSO.get(name, frozenset()) if self.also is None else frozenset(map(str, self.also))
        return Server(row, self.keys, key, also)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The whole configuration of the proxy. Each field is a key of the configuration file.

    - ``listen``: address and process settings. ``store``: address of the session store; "" for the user's default
      database.
    - ``auth``: whether callers need an API key of this server.
    - ``sessions``: how the session of a chat is found; ``None`` for the default, see ``naming``.
    - ``dashboard``: whether to serve the dashboard at "/".
    - ``memory``, ``access``, ``asking``: settings of the memory, of access control, and of requests to providers.
    - ``providers``: providers by name. If the file has none, all providers of the table of known providers.
    - ``models``: additional model names, each with the targets to ask in order, such as "openai/gpt-4o-mini".
    - ``defaults``: name of the default provider of each API family, such as "openai".
    - ``refinement``: name of a provider -> model that reads the recorded sessions again for facts that were missed. It
      does so for clients that call this provider, with the client's API key. Empty: no model does.
    """

    listen: Listening = field(default_factory=Listening)
    store: str = ""
    auth: bool = False
    sessions: Naming | None = None
    dashboard: bool = False
    memory: Settings = field(default_factory=Settings)
    access: AccessSettings = field(default_factory=AccessSettings)
    asking: UpstreamSettings = field(default_factory=UpstreamSettings)
    providers: Mapping[str, Server] = field(default_factory=dict)
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    refinement: Mapping[str, str] = field(default_factory=dict)

    @property
    def routes(self) -> Routes:
        """A new routing table of the providers and models. Raises ``ConfigError`` for the name of an unknown
        provider."""
        return Routes(self.providers, self.models, self.defaults)

    @property
    def naming(self) -> Naming:
        """How the session of a chat is found: the value of ``sessions`` unless that is ``None``.

        The default is "derived" (every chat is recorded) if only this machine can reach the server and no keys are
        needed; else it is "agents" (only chats whose session the client or agent names).
        """
        if self.sessions is not None:
            return self.sessions
        return "derived" if is_loopback(self.listen.host) and not self.auth else "agents"

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Configuration:
        """Read the configuration from a YAML file and from environment variables, which override the file.

        ``path``: the file; ``None`` for the file that ``TOKENMIZER_CONFIG`` names, or no file if that is not set.
        ``environ``: the variables; ``None`` for those of the process.

        The variables are ``TOKENMIZER_`` followed by ``HOST``, ``PORT``, ``WORKERS``, ``LOOP``, ``AUTH``,
        ``DASHBOARD``, ``STORE``, or the name of a memory setting. A relative database path is relative to the file's
        folder, or to the working directory if it comes from the environment.

        Raises ``ConfigError`` that names the file (or "environment" if a variable is the cause), the key and what is
        expected.
        """
        variables = os.environ if environ is None else environ
        path = path or variables.get(CONFIG_VARIABLE) or None
        given = read_mapping(Path(path)) if path is not None else {}
        if path is not None and isinstance(named := given.get("store"), str):
            given["store"] = absolute_address(named, os.path.dirname(os.path.abspath(path)))
        try:
            return cls.read(given, variables)
        except ConfigError as error:
            if path is None or str(error).startswith(f"{ENVIRONMENT}: "):
                raise
            raise ConfigError(f"{path}: {error}") from None

    @classmethod
    def read(cls, given: Mapping[str, Any], environ: Mapping[str, str]) -> Configuration:
        """Build the configuration from ``given``, the parsed content of a file, and from the environment variables
        ``environ``, which override the file as described at ``load``.

        A relative database path in ``store`` stays relative. Raises ``ConfigError`` that names the key and what is
        expected, but not the file.
        """
        if unknown := sorted(map(str, given.keys() - {member.name for member in fields(cls)})):
            known = ", ".join(member.name for member in fields(cls))
            raise ConfigError(f"unknown key {', '.join(unknown)}; there are {known}")
        listen, variables = _section(given, "listen"), _variables(environ, ("host", "port", "workers", "loop"))
        switches = _variables(environ, ("auth", "dashboard"))
        switched = {name: read_value(bool, text, f"{ENVIRONMENT}: {name}") for name, text in switches.items()}
        top = {**given, **_variables(environ, ("store",)), **switched}
        configuration = cls(
            listen=read_overridden(Listening, listen, variables, "listen"),
            store=read_value(str, top.get("store") or "", "store"),
            auth=read_value(bool, top.get("auth", False), "auth"),
            dashboard=read_value(bool, top.get("dashboard", False), "dashboard"),
            sessions=read_value(Naming | None, given.get("sessions"), "sessions"),
            memory=Settings.from_mapping(_section(given, "memory"), environ, where="memory"),
            access=AccessSettings.from_mapping(_section(given, "access"), "access"),
            asking=read_fields(UpstreamSettings, _section(given, "asking"), "asking"),
            providers=_servers(_section(given, "providers"), environ),
            models=_models(_section(given, "models")),
            defaults=_defaults(_section(given, "defaults")),
            refinement=_refinement(_section(given, "refinement")),
        )
        if unknown := sorted(configuration.refinement.keys() - configuration.providers.keys()):
            known = ", ".join(configuration.providers)
            raise ConfigError(f"refinement: no provider is called {', '.join(unknown)}; there are {known}")
        _ = configuration.routes
        return configuration


def _section(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = given.get(name)
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise ConfigError(f"{name}: expected a mapping, not {section!r:.60}")
    return {str(key): value for key, value in section.items()}


def _variables(environ: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    found = {name: environ.get(ENVIRONMENT_PREFIX + name.upper()) for name in names}
    return {name: text for name, text in found.items() if text}


def _servers(given: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Server]:
    if not given:
        return servers_of_table(environ)
    return {
        _provider_name(name): read_fields(ProviderEntry, row or {}, f"providers.{name}").server(name, environ)
        for name, row in given.items()
    }


def _provider_name(name: str) -> str:
    if not name or "/" in name:
        raise ConfigError(f"providers: a name has no slash, as {name!r} has")
    return name


def _models(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    listed = {name: [places] if isinstance(places, str) else places for name, places in given.items()}
    return {name: tuple(read_value(list[str], places, f"models.{name}")) for name, places in listed.items()}


def _defaults(given: Mapping[str, Any]) -> dict[str, str]:
    if unknown := sorted(given.keys() - set(FAMILIES)):
        raise ConfigError(f"defaults: unknown key {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    return {family: read_value(str, name, f"defaults.{family}") for family, name in given.items()}


def _refinement(given: Mapping[str, Any]) -> dict[str, str]:
    named = {name: read_value(str, model, f"refinement.{name}") for name, model in given.items()}
    if empty := [name for name, model in named.items() if not model]:
        raise ConfigError(f"refinement.{empty[0]}: expected the name of a model")
    return named


def _address(name: str, address: str) -> str:
    """Check a provider's base address and return it without a slash at the end. ``name``: the provider, for errors.

    Raises ``ConfigError`` if it is no http or https address, has a user, a query or a fragment, or a link-local host.
    At link-local addresses, clouds offer a machine its own credentials, which a client must not be able to request.
    """
    place = f"providers.{name}.base_url"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"{place}: expected an address such as https://api.example.com/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(f"{place}: an address holds no user, no query and no fragment")
    if _is_link_local(host):
        raise ConfigError(f"{place}: a link-local address is no provider's")
    return address.rstrip("/")


def _is_link_local(host: str) -> bool:
    try:
        number = ip_address(int(host) if host.isdigit() else host)
    except ValueError:
        return False
    mapped = getattr(number, "ipv4_mapped", None)
    return (mapped or number).is_link_local
