"""The parts of a prompt besides messages, as text for token counting: system prompt and tool definitions."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any, Final

from langchain.agents.middleware.types import ModelRequest
from langchain_core.utils.function_calling import convert_to_openai_tool

_TOOLS_MAX: Final = 512


class Overhead:
    """Texts for token counting; the definition of each tool object is cached."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[object, str]] = OrderedDict()

    def of(self, request: ModelRequest[Any]) -> str:
        """Return the text of ``request`` besides its messages."""
        system = request.system_message.text if request.system_message is not None else ""
        return "\n".join([str(system), *map(self._definition, request.tools or ())])

    def _definition(self, tool: Any) -> str:
        known = self._known.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        definition = _defined(tool)
        self._known[id(tool)] = (tool, definition)
        while len(self._known) > _TOOLS_MAX:
            self._known.popitem(last=False)
        return definition


def _defined(tool: Any) -> str:
    try:
        return json.dumps(tool if isinstance(tool, dict) else convert_to_openai_tool(tool), default=str)
    except (TypeError, ValueError):
        return str(getattr(tool, "description", ""))
