"""Starts the MCP server. The SDK is imported while the client already has the answer to its first request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenmizer_mw.runtime.collection import uncollected_imports
from tokenmizer_mw.settings import Settings

from .opening import Opening
from .standard_input import interruptible_input


@dataclass(frozen=True, slots=True)
class ServingOptions:
    """Options of the server.

    ``settings``: for a store that is opened here; ``store`` and ``server``: their addresses, "" if not given;
    ``roots``: folders whose files may be read; ``version``: of this package, reported to clients.
    """

    settings: Settings = field(default_factory=Settings)
    store: str = ""
    server: str = ""
    roots: Sequence[str] = ()
    version: str = ""


def start_stdio(options: ServingOptions) -> None:
    """Serve one client on standard input and output until it disconnects. Raises ``KeyboardInterrupt`` at Ctrl-C."""
    with interruptible_input(Opening(options.version)):
        with uncollected_imports():
            from .serving import run_stdio
        run_stdio(options)


def start_http(options: ServingOptions, host: str, port: int) -> None:
    """Serve clients of this machine at ``/mcp`` until a signal stops it. Raises ``ConfigError`` for other hosts."""
    with uncollected_imports():
        from .serving import run_http
    run_http(options, host, port)
