"""The base of the MCP server (short tool lists, one-sentence errors), the structured results of its tools, and the
tools for manual edits of facts.

Every manual edit has a number, by which it can be undone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import Tool, ToolAnnotations
from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from tokenmizer_mw.model.node import DecisionKind, Status
from tokenmizer_mw.model.session import SESSION_ID_MAX

from .backing import Backing


class ToolOutput(BaseModel):
    """A tool's result, or part of one. Optional fields that have their default value are left out of the JSON, because
    models pay for each token."""

    @model_serializer(mode="wrap")
    def _leave_out_defaults(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            name: value
            for name, value in dump(self).items()
            if fields[name].is_required() or value != fields[name].get_default(call_default_factory=True)
        }


class OfSession(ToolOutput):
    """Base of the tool results that are about one session."""

    session_id: str


class FactOutput(ToolOutput):
    """Tool result: one fact of a session."""

    id: str
    type: str
    label: str
    status: str
    detail: str = ""
    turn: int = Field(0, description="The number of the message that says so, 0 for none.")
    quote: str = Field("", description="Its words.")
    score: float | None = Field(None, description="How well it fits what was looked for.")


class CheckpointMade(OfSession):
    """Tool result: a new checkpoint of a session, and what changed since the one before."""

    id: str
    seq: int = Field(description="The number of the event that it stands behind.")
    tokens: int = Field(description="Tokens of a resume at this point.")
    added: list[FactOutput] = Field(default_factory=list, description="What is new since the checkpoint before.")
    changed: list[FactOutput] = Field(default_factory=list, description="What changed since then, as it is now.")
    removed: list[FactOutput] = Field(default_factory=list)


class ResumeBlock(OfSession):
    """Tool result: the resume block of a session (a text with its facts). ``tokens``: its length; ``level``: its size,
    "critical", "standard" or "full"; ``budget``: the longest length allowed, in tokens."""

    text: str = Field(description='The block; "" when nothing is known yet.')
    tokens: int
    level: str
    budget: int
    turn: int = Field(description="The number of the newest message that it covers.")


class GraphStats(OfSession):
    """Tool result: how many facts and relations a session has, by type and status, and its open work."""

    facts: int
    relations: int
    transitions: int = Field(description="Decisions that replaced others.")
    by_type: dict[str, int] = Field(default_factory=dict)
    by_status: dict[str, int] = Field(default_factory=dict)
    open_work: list[FactOutput] = Field(
        default_factory=list, description="Tasks and errors that are not finished, at most 20."
    )


class FileDigest(ToolOutput):
    """Tool result: the digest (short description) of a file. ``text``: the digest; ``details``: its other fields, such
    as ``kind``."""

    file: str
    text: str
    details: dict[str, Any] = Field(default_factory=dict)


class SavingsOutput(ToolOutput):
    """Tool result: how many sessions and events are stored, and what the installation has saved. ``note``: a sentence
    if nothing was saved yet, else ""."""

    sessions: int
    events: int
    figures: dict[str, Any] = Field(
        default_factory=dict, description="The figures of the installation that are not zero; times in UTC."
    )
    note: str = ""


class WhyOutput(OfSession):
    """Tool result: the explanation of a fact."""

    text: str = Field(description="The fact, who said it in which words, what it replaced, and why.")
    node_id: str


class SearchOutput(OfSession):
    """Tool result: the facts that share most with the text of the search, best first. Facts that were replaced are
    included; their ``status`` says so."""

    facts: list[FactOutput]


class SessionOutput(ToolOutput):
    """Tool result: one session in a list of sessions."""

    session_id: str
    goal: str = Field("", description="The goal as it is now, if one was stated.")
    title: str = Field("", description="How its first question begins, if no goal was stated.")
    project: str = ""
    updated: str = Field(description="When something was added last, in UTC.")
    open_work: int = Field(description="Tasks and errors that are not finished.")
    events: int


class SessionList(ToolOutput):
    """Tool result: one page of the list of sessions, the most recently updated first."""

    sessions: list[SessionOutput]
    next: str | None = Field(None, description="Pass it as cursor for the next page; null at the end.")
    project: str = Field(description="The project that sessions are looked for in where none is named.")


class Forgotten(OfSession):
    """Tool result: confirms that a session was erased."""

    events: int = Field(description="How many events were erased.")


class RememberOutput(OfSession):
    """Tool result: the fact that was added by hand, or the one that was known already."""

    text: str = Field(description="What was stored.")
    fact: FactOutput
    number: int = Field(default=0, description="The number of the change: undo takes it back. 0: it was known.")


class Changed(OfSession):
    """Tool result: the fact that was edited by hand, and the number by which the edit can be undone."""

    node_id: str
    number: int = Field(description="The number of the change: undo takes it back.")
    text: str
    was: str = Field(default="", description="The words before the change, if it changed them.")


class Recalled(OfSession):
    """Tool result: what a session contains about a question."""

    text: str
    tokens: int
    messages: list[int] = Field(default_factory=list, description="Numbers of the messages that are quoted.")


_LEFT_OUT: Final = frozenset({"title", "default", "maxLength", "minLength", "maximum", "minimum"})
"""Members of JSON schemas that are left out of the tool list: models do not need them, and calls are checked all the
same."""

_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "query": ("text",), "question": ("query", "text"), "text": ("query",), "fact_id": ("node_id",),
    "fact": ("node_id",), "id": ("node_id",), "k": ("limit",),
}  # fmt: skip
"""For an argument that a tool may lack, the names of its arguments that are meant instead. Other tools use or used
them."""

_FORMER_TOOLS: Final = {"search_session": "search"}
"""Former names of tools, which still work but are not listed."""


class ToolServer(MCPServer[Any]):
    """An ``MCPServer`` that accepts other names of tools and arguments, and keeps the tool list and errors short.

    - A call may use a tool's former name. It may also use, for an argument, a name that other tools have for it
      (``text`` for ``query``), if the tool has no argument of that name.
    - Any other unknown argument is an error that lists the tool's arguments.
    - Errors are reported in one sentence.
    - Tools are listed without output schemas. Results are structured all the same, and their text has the same content.
    """

    async def list_tools(self) -> list[Tool]:
        """Return the list of tools: name, description in one line, a shortened input schema, and annotations. What a
        model does not need is left out, because it reads the list in every session."""
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
        """Call the tool ``name`` with ``arguments``, and return its result.

        Former names of tools and arguments are accepted. Raises ``ToolError``, whose text is one sentence for the
        model: unknown tool or argument, invalid value, or a failure of the tool.
        """
        name = _FORMER_TOOLS.get(name, name)
        arguments = self._rename(name, arguments)
        self._refuse_unknown(name, arguments)
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            raise ToolError(_error_sentence(name, error)) from None

    def _rename(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments under the names that the tool has for them."""
        known = (self._tool_input_schema(name) or {}).get("properties", {})
        renamed = dict(arguments)
        for other in arguments.keys() - known.keys():
            own = next((name for name in _OTHER_NAMES.get(other, ()) if name in known), "")
            if own and own not in renamed:
                renamed[own] = renamed.pop(other)
        return renamed

    def _refuse_unknown(self, name: str, arguments: Mapping[str, Any]) -> None:
        schema = self._tool_input_schema(name)
        if schema is None:
            return
        known = list(schema.get("properties", {}))
        for argument in arguments:
            if argument not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise ToolError(f"{name} knows no argument {argument[:60]!r}: {takes}.")


def _error_sentence(name: str, error: ToolError) -> str:
    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return str(error).removeprefix(f"Error executing tool {name}: ")
    first = cause.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{name} needs {field}."
    if first["type"] in _TYPES:
        return f"{field} should be {_TYPES[first['type']]}."
    text = first["msg"].removeprefix("Input ").removeprefix("String ")
    return f"{field} {text[:1].lower()}{text[1:]}."


_TYPES: Final = {
    "string_type": "a text", "int_type": "a whole number", "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of at most 4,300 digits", "int_from_float": "a whole number",
    "bool_type": "true or false", "bool_parsing": "true or false",
}  # fmt: skip
"""What an argument must be, in words, by the type of pydantic's validation error."""


def _shorten_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema of arguments without what a model does not need."""
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


_CHANGES = ToolAnnotations(destructive_hint=False, open_world_hint=False)
_Id = Annotated[str, Field(min_length=1, max_length=1_000, description="Id or words.")]
_Text = Annotated[str, Field(max_length=1_000)]
_Session = Annotated[str, Field(max_length=SESSION_ID_MAX)]

Named = Callable[[str], Awaitable[str]]
"""Function that gets the session id which a model passed, perhaps only its beginning, and returns the full id. For ""
(none was passed) it chooses a session."""


def _describe_change(values: Mapping[str, Any]) -> str:
    """Return text that says which change was made or undone, what the fact is now, and how to undo that."""
    node, before, number = values["node"], values.get("before", {}), values["number"]
    kind = node.get("kind", "")
    text = f"{node['type'] if kind in ('', DecisionKind.CHOICE) else kind} {node['label']!r}"
    withdrawn = node["status"] == Status.INVALIDATED and not node["confidence"]
    text += " is withdrawn as never true" if withdrawn else f" is {Status(node['status']).word} now"
    text += ", and pinned" if node.get("pinned") else ", and no longer pinned" if before.get("pinned") else ""
    text += f" (was: {before['label']!r})" if before.get("label") else ""
    text += "".join(f"; {effect}" for effect in values.get("effects", ()))
    restored = ", ".join(repr(one["label"]) for one in values.get("restored", ()))
    text += f", and in force again: {restored}" if restored else ""
    if undone := values.get("undone"):
        return f"Change {undone} is undone: the {text}. To make it again, undo change {number}."
    return f"The {text}" + (f". Change {number} can be undone." if number else ", as it was: nothing changed.")


def add_edits(made: MCPServer[Any], ask: Backing, named: Named) -> None:
    """Add the tools for manual edits of facts to the MCP server ``made``. ``ask``: carries out the edits. ``named``:
    completes the session id that a model passed (see ``Named``)."""

    async def change(what: str, session_id: str, **body: Any) -> Changed:
        session = await named(session_id)
        values = await ask.post(what, session_id=session, **body)
        was = str(values.get("before", {}).get("label", ""))
        number = int(values["number"])
        return Changed(
            session_id=session, node_id=values["node"]["id"], number=number, text=_describe_change(values), was=was
        )

    @made.tool(annotations=_CHANGES)
    async def invalidate(
        node_id: _Id, reason: Annotated[_Text, Field(min_length=1)], never_true: bool = False, session_id: _Session = ""
    ) -> Changed:
        """Declare a fact wrong, or never_true if misread; say why."""
        return await change("invalidate", session_id, node_id=node_id, reason=reason, never_true=never_true)

    def add_status_change(name: str, about: str) -> None:
        @made.tool(name, description=about, annotations=_CHANGES)
        async def change_status(node_id: _Id, reason: _Text = "", session_id: _Session = "") -> Changed:
            return await change(name, session_id, node_id=node_id, reason=reason)

    add_status_change("complete", "A task is done, an error fixed, a goal reached.")
    add_status_change("archive", "Put a true fact away that no longer matters.")
    add_status_change("separate", "A replaced fact holds beside its successor.")

    @made.tool(annotations=_CHANGES)
    async def pin(node_id: _Id, pinned: bool = True, session_id: _Session = "") -> Changed:
        """Put a fact first in resume blocks, or no longer."""
        return await change("pin", session_id, node_id=node_id, pinned=pinned)

    @made.tool(annotations=_CHANGES)
    async def correct(
        node_id: _Id, text: Annotated[_Text, Field(min_length=1)], reason: _Text = "", session_id: _Session = ""
    ) -> Changed:
        """Change the words of a fact."""
        return await change("correct", session_id, node_id=node_id, text=text, reason=reason)

    @made.tool(annotations=_CHANGES)
    async def undo(number: Annotated[int | None, Field(ge=1)] = None, session_id: _Session = "") -> Changed:
        """Undo a change: the newest, or by its number."""
        return await change("undo", session_id, **({} if number is None else {"number": number}))
