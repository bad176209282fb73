"""Structured results of the MCP tools."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer


class ToolOutput(BaseModel):
    """An answer, or part of one. Optional fields that say nothing are left out: models pay for each token."""

    @model_serializer(mode="wrap")
    def _leave_out_defaults(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            name: value
            for name, value in dump(self).items()
            if fields[name].is_required() or value != fields[name].get_default(call_default_factory=True)
        }


class OfSession(ToolOutput):
    """The fields of all answers about one session."""

    session_id: str


class FactOutput(ToolOutput):
    """One fact of a session."""

    id: str
    type: str
    label: str
    status: str
    detail: str = ""
    turn: int = Field(0, description="The number of the message that says so, 0 for none.")
    quote: str = Field("", description="Its words.")
    score: float | None = Field(None, description="How well it fits what was looked for.")


class CheckpointMade(OfSession):
    """A new checkpoint of a session."""

    id: str
    seq: int = Field(description="The number of the event that it stands behind.")
    tokens: int = Field(description="Tokens of a resume at this point.")
    added: list[FactOutput] = Field(description="What is new since the checkpoint before.")
    changed: list[FactOutput] = Field(description="What changed since then, as it is now.")
    removed: list[FactOutput]


class ResumeBlock(OfSession):
    """The resume block of a session."""

    text: str = Field(description='The block; "" when nothing is known yet.')
    tokens: int
    level: str
    budget: int
    turn: int = Field(description="The number of the newest message that it covers.")


class GraphStats(OfSession):
    """Statistics of a session's graph."""

    facts: int
    relations: int
    transitions: int = Field(description="Decisions that replaced others.")
    by_type: dict[str, int]
    by_status: dict[str, int]
    open_work: list[FactOutput] = Field(description="Tasks and errors that are not finished, at most 20.")


class FileDigest(ToolOutput):
    """The digest of a file."""

    file: str
    text: str
    details: dict[str, Any] = Field(default_factory=dict)


class SavingsOutput(ToolOutput):
    """Number of stored sessions and events, and what was saved."""

    sessions: int
    events: int
    figures: dict[str, Any] = Field(
        default_factory=dict, description="The figures of the installation that are not zero; times in UTC."
    )
    note: str = ""


class WhyOutput(OfSession):
    """The explanation of a fact."""

    text: str = Field(description="The fact, who said it in which words, what it replaced, and why.")
    fact_id: str


class SearchOutput(OfSession):
    """The facts that share most with a text, best first; replaced ones included, and marked so by their status."""

    facts: list[FactOutput]


class SessionOutput(ToolOutput):
    """One session."""

    session_id: str
    title: str = Field(description="Its goal, else how its first question begins.")
    project: str
    goal: str = Field("", description='"" where none was stated.')
    updated: str = Field(description="When something was added last, in UTC.")
    open_work: int = Field(description="Tasks and errors that are not finished.")
    events: int


class SessionList(ToolOutput):
    """Sessions, the most recently updated first."""

    sessions: list[SessionOutput]
    next: str | None = Field(None, description="Pass it as cursor for the next page; null at the end.")
    project: str = Field(description="The project that sessions are looked for in where none is named.")


class Forgotten(OfSession):
    """Result of erasing a session."""

    events: int = Field(description="How many events were erased.")


class RememberOutput(OfSession):
    """A fact added by hand."""

    text: str = Field(description="What was stored.")
    fact: FactOutput
    number: int = Field(default=0, description="The number of the change: undo takes it back. 0: it was known.")


class Changed(BaseModel):
    """Result of a manual edit."""

    session_id: str
    id: str
    number: int = Field(description="The number of the change: undo takes it back.")
    text: str


class Recalled(OfSession):
    """What a session contains about a question."""

    text: str = Field(description='"" when it says nothing about it.')
    tokens: int
    messages: list[int] = Field(description="Numbers of the messages that are quoted.")
