"""The MCP tools for manual edits of facts. Every edit can be undone by its number."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from tokenmizer_mw.model.session import SESSION_ID_MAX

from .answers import Changed
from .backing import Backing

_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_Id = Annotated[str, Field(min_length=1, max_length=100, description="Id of a fact.")]
_Text = Annotated[str, Field(max_length=1_000)]
_Session = Annotated[str, Field(max_length=SESSION_ID_MAX)]

Named = Callable[[str], Awaitable[str]]
"""Gives the session that an id stands for."""


def add_edits(made: MCPServer[Any], ask: Backing, named: Named) -> None:
    """Add the tools to a server."""

    async def change(what: str, session_id: str, **body: Any) -> Changed:
        session = await named(session_id)
        told = await ask.post(*what.split("/"), session_id=session, **body)
        node = told["node"]
        text = f"{node['label']!r} is {node['status'].replace('_', ' ')} now"
        text += ", and pinned" if node.get("pinned") else ""
        number = int(told["number"])
        return Changed(session_id=session, id=node["id"], number=number, text=f"{text}. Change {number} can be undone.")

    @made.tool(annotations=_CHANGES)
    async def invalidate(
        node_id: _Id, reason: Annotated[_Text, Field(min_length=1)], session_id: _Session = ""
    ) -> Changed:
        """Declare a fact wrong, and say why."""
        return await change("decision/invalidate", session_id, node_id=node_id, reason=reason)

    @made.tool(annotations=_CHANGES)
    async def archive(node_id: _Id, reason: _Text = "", session_id: _Session = "") -> Changed:
        """Put a fact away that is true and of no interest any more."""
        return await change("archive", session_id, node_id=node_id, reason=reason)

    @made.tool(annotations=_CHANGES)
    async def pin(node_id: _Id, pinned: bool = True, session_id: _Session = "") -> Changed:
        """Put a fact before others in resume blocks, or no longer."""
        return await change("pin", session_id, node_id=node_id, pinned=pinned)

    @made.tool(annotations=_CHANGES)
    async def correct(node_id: _Id, text: _Text, reason: _Text = "", session_id: _Session = "") -> Changed:
        """Change the words of a fact."""
        return await change("correct", session_id, node_id=node_id, text=text, reason=reason)

    @made.tool(annotations=_CHANGES)
    async def undo(number: Annotated[int, Field(ge=1)], session_id: _Session = "") -> Changed:
        """Take a change back, by its number."""
        return await change("undo", session_id, number=number)
