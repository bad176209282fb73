"""The memory as an MCP server (Model Context Protocol): tools, resources and a prompt. Needs the extra ``mcp``.

``backing`` gives access to sessions, ``server`` defines what clients see, ``serving`` runs the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tokenmizer_mw.settings import Settings

SERVER_VARIABLE: Final = "TOKENMIZER_SERVER"
KEY_VARIABLE: Final = "TOKENMIZER_KEY"


@dataclass(frozen=True, slots=True)
class ServingOptions:
    """Options of the MCP server.

    - ``settings``: of the memory, used if the MCP server opens a store itself.
    - ``store``: address of that store; "" for the one that the environment names, else the store of this
      installation.
    - ``server``: address of a running server of this package to use instead of a store; "" for the one in the
      environment variable ``TOKENMIZER_SERVER``, if that is set.
    - ``roots``: folders whose files may be read; if empty, and the environment names none either, the project's folder.
    - ``version``: of this package, reported to clients.
    """

    settings: Settings = field(default_factory=Settings)
    store: str = ""
    server: str = ""
    roots: Sequence[str] = ()
    version: str = ""
