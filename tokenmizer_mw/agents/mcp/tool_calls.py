"""The SDK's MCP server with short tool lists and one-sentence errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import Tool
from pydantic import ValidationError

_LEFT_OUT: Final = frozenset({"title", "default", "maxLength", "minLength"})
"""Members of schemas that a model does not need: calls are checked against them all the same."""


class ToolServer(MCPServer[Any]):
    """An ``MCPServer`` that refuses unknown arguments of tools, and reports errors in one sentence.

    Tools are listed without output schemas: results are structured, and their text has the same content.
    """

    async def list_tools(self) -> list[Tool]:
        """Return the list of tools in as few bytes as possible."""
        return [
            Tool(
                name=tool.name,
                description=" ".join((tool.description or "").split()),
                input_schema=_shorten_schema(tool.input_schema),
                annotations=tool.annotations,
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None) -> Any:
        """Call a tool. Raises ``ToolError`` with one sentence."""
        self._refuse_unknown(name, arguments)
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            raise ToolError(_sentence(name, error)) from None

    def _refuse_unknown(self, name: str, arguments: Mapping[str, Any]) -> None:
        schema = self._tool_input_schema(name)
        if schema is None:
            return
        known = list(schema.get("properties", {}))
        for argument in arguments:
            if argument not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise ToolError(f"{name} knows no argument {argument[:60]!r}: {takes}.")


def _sentence(name: str, error: ToolError) -> str:
    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return str(error).removeprefix(f"Error executing tool {name}: ")
    first = cause.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{name} needs {field}."
    said = first["msg"].removeprefix("Input ").removeprefix("String ")
    return f"{field} {said[:1].lower()}{said[1:]}."


def _shorten_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of arguments without what a model does not need."""
    properties = {key: _property(value) for key, value in schema.get("properties", {}).items()}
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required := schema.get("required"):
        found["required"] = required
    return found


def _property(schema: Mapping[str, Any]) -> dict[str, Any]:
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    merged = {**schema, **options[0]} if len(options) == 1 else dict(schema)
    if len(options) == 1:
        del merged["anyOf"]
    return {key: value for key, value in merged.items() if key not in _LEFT_OUT}
