"""Writes the list of the MCP server's tools as the SDK answers it, for the answer that does not wait for the SDK."""

from __future__ import annotations

import json

import anyio

from tokenmizer_mw.agents.mcp.opening import TOOL_LIST
from tokenmizer_mw.agents.mcp.server import Memory, server


def list_tools() -> dict[str, object]:
    """Return the result of ``tools/list``. It needs no store."""
    tools = anyio.run(server(Memory(None, ".", ["."]), "").list_tools)  # type: ignore[arg-type]
    return {"tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]}


if __name__ == "__main__":
    TOOL_LIST.write_text(json.dumps(list_tools(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
