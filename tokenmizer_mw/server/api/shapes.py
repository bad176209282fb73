"""What goes into the routes and what comes out of them.

What comes in is checked against a model; what goes out is written down for the document and for type checkers only.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from typing_extensions import TypedDict

from tokenmizer_mw.context.compaction.seal import SEALED_MAX
from tokenmizer_mw.model.event import node_to_dict
from tokenmizer_mw.model.node import Node as Fact
from tokenmizer_mw.model.session import SESSION_ID_MAX

TEXT_MAX: Final = 1_000
"""Characters of a question or a reason."""

PRINTABLE: Final = "printable"
"""The format of texts without control characters, line breaks and such."""

SEQ_DIGITS: Final = 15
BUDGET_LEAST: Final = 64
_LATEST: Final = 253_402_300_799
"""The last second of the year 9999."""


def _seconds(given: object) -> object:
    """Seconds since 1970 of a time that is told in ISO 8601."""
    if not isinstance(given, str):
        return given
    try:
        return float(given)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(given).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError("a time is told in seconds since 1970 or as in 2026-11-21T14:00:00Z") from None


Moment = Annotated[
    float,
    BeforeValidator(_seconds),
    Field(ge=-_LATEST, le=_LATEST, allow_inf_nan=False),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": -_LATEST, "maximum": _LATEST},
                {"type": "string", "format": "date-time"},
            ],
            "description": "Seconds since 1970, or ISO 8601.",
        }
    ),
]
SessionId = Annotated[str, Field(min_length=1, max_length=SESSION_ID_MAX, json_schema_extra={"format": PRINTABLE})]
Place = Annotated[
    str,
    Field(
        pattern=rf"^([0-9]{{1,{SEQ_DIGITS}}}|(?:checkpoint|native)-[0-9]{{1,9}})$",
        description="A checkpoint by its id, or the number of an event of the session; 0 is its start.",
    ),
]


class _Taken(BaseModel):
    """What is taken is named; the rest is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoQuery(_Taken):
    """Takes no parameters."""


class ResumeQuery(_Taken):
    """How long a resume may be, and what it is wanted for."""

    level: Literal["critical", "standard", "full"] = Field("standard", description="100, 300 or 600 tokens.")
    budget: int | None = Field(
        None, ge=BUDGET_LEAST, le=1_000_000, description="At most this many tokens, whatever the level."
    )
    query: str | None = Field(None, max_length=TEXT_MAX, description="What it is wanted for: such facts come first.")
    model: str = Field("", max_length=200, description="Tokens are counted as this model counts.")


class GraphQuery(_Taken):
    """In which form."""

    format: Literal["json", "html", "markdown", "d3", "canvas", "mermaid"] = Field(
        "json", description="As JSON, or as a file to keep: the most important facts, as many as export_nodes_max."
    )


class HistoryQuery(_Taken):
    """Which past is asked for."""

    at_time: Moment
    as_: Literal["recorded", "valid"] = Field(
        "recorded", alias="as", description="What was believed then, or what was true then as believed now."
    )


class WhyQuery(_Taken):
    """Which fact is asked about."""

    text: str = Field(min_length=1, max_length=TEXT_MAX, description="The fact's id, its words, or a description.")


class SearchQuery(_Taken):
    """What is looked for."""

    text: str = Field(min_length=1, max_length=TEXT_MAX)
    k: int = Field(5, ge=1, le=100, description="How many facts at most.")


class DiffQuery(_Taken):
    """Between which two places."""

    from_: Place = Field("0", alias="from")
    to: Place | None = Field(None, description="The newest event, when it is left out.")


Day = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="A day in UTC.", json_schema_extra={"format": "date"})
]


class StatsQuery(_Taken):
    """Of which calls the savings are told; all, where nothing is asked for."""

    session: SessionId | None = Field(None, description="Of one session.")
    model: str | None = Field(None, max_length=TEXT_MAX, description="Of one model.")
    from_: Day | None = Field(None, alias="from")
    to: Day | None = None
    by: Literal["session", "model", "day"] | None = Field(None, description="What the sums are told apart by.")


class SessionsQuery(_Taken):
    """Which page of the listing."""

    limit: int = Field(100, ge=1, description="Sessions on the page; the setting page_max bounds it.")
    cursor: str | None = Field(
        None, description="What the page before gave as next.", json_schema_extra={"format": "cursor"}
    )
    details: bool = Field(False, description="Give the title, goal, project and open work of each session, too.")


class RecallQuery(_Taken):
    """A question, and how long the answer may be."""

    query: str = Field(min_length=1, max_length=TEXT_MAX)
    budget: int = Field(200, ge=20, le=20_000, description="Tokens of the answer.")


class CheckpointBody(_Taken):
    """Which session."""

    session_id: SessionId


class CompactionBody(_Taken):
    """A compaction as the client got it."""

    encrypted_content: str = Field(min_length=1, max_length=SEALED_MAX, description="The member of that name.")


class RememberBody(_Taken):
    """A fact that somebody adds."""

    session_id: SessionId
    text: str = Field(min_length=1, max_length=TEXT_MAX, description="The fact, in one line.")
    kind: Literal["rule", "choice", "preference", "goal", "task", "environment"] = "rule"
    reason: str = Field("", max_length=TEXT_MAX, description="Why it is so.")


class InvalidateBody(_Taken):
    """Which fact is wrong, and why."""

    session_id: SessionId
    node_id: str = Field(min_length=1, max_length=100)
    reason: str = Field(min_length=1, max_length=TEXT_MAX)


class ArchiveBody(_Taken):
    """Which fact is of no interest any more."""

    session_id: SessionId
    node_id: str = Field(min_length=1, max_length=100)
    reason: str = Field("", max_length=TEXT_MAX)


class PinBody(_Taken):
    """Which fact stands before others in resume blocks, or no longer."""

    session_id: SessionId
    node_id: str = Field(min_length=1, max_length=100)
    pinned: bool = True


class CorrectBody(_Taken):
    """New words of a fact; what is left out stays."""

    session_id: SessionId
    node_id: str = Field(min_length=1, max_length=100)
    text: str | None = Field(None, min_length=1, max_length=TEXT_MAX, description="What it should say.")
    detail: str | None = Field(None, max_length=TEXT_MAX, description="Why it is so.")
    reason: str = Field("", max_length=TEXT_MAX, description="Why it is changed.")


class UndoBody(_Taken):
    """Which change by hand is taken back."""

    session_id: SessionId
    number: int = Field(ge=1, le=2**31)


class ErrorDetail(TypedDict):
    """What went wrong, where."""

    code: str
    message: str
    field: str | None


class ErrorBody(TypedDict):
    """Every answer of 400 and above."""

    error: ErrorDetail


class SourceJson(TypedDict):
    """Who said it, in which message."""

    turn: int
    trust: str
    role: NotRequired[str]
    quote: NotRequired[str]
    span: NotRequired[list[int]]


class NodeJson(TypedDict):
    """A fact; what is empty is left out."""

    id: str
    type: str
    label: str
    status: str
    source: SourceJson
    confidence: float
    detail: NotRequired[str]
    kind: NotRequired[str]
    slot: NotRequired[str]
    value: NotRequired[str]
    order: NotRequired[int]
    valid_from: NotRequired[float]
    valid_until: NotRequired[float]
    pinned: NotRequired[bool]
    flags: NotRequired[list[str]]


class EdgeJson(TypedDict):
    """How two facts hang together, since which message."""

    source: str
    type: str
    target: str
    turn: int


class TransitionJson(TypedDict):
    """A decision that replaced another; ``delta`` is what that did to confidence, ``trigger`` the message."""

    old: str
    new: str
    trigger: int
    delta: float
    reason: NotRequired[str]
    evidence: NotRequired[str]


class Graph(TypedDict):
    """Facts, relations and transitions, oldest first."""

    nodes: list[NodeJson]
    edges: list[EdgeJson]
    transitions: list[TransitionJson]


class GraphAnswer(TypedDict):
    """The graph of a session."""

    session_id: str
    graph: Graph


HistoryAnswer = TypedDict(
    "HistoryAnswer", {"session_id": str, "at_time": float, "as": Literal["recorded", "valid"], "graph": Graph}
)


class TransitionsAnswer(TypedDict):
    """What replaced what, with the facts at both ends."""

    session_id: str
    transitions: list[TransitionJson]
    nodes: list[NodeJson]


Step = TypedDict("Step", {"from": NodeJson, "transition": TransitionJson, "to": NodeJson})


class Relation(TypedDict):
    """Another fact at the end of a relation."""

    type: str
    outgoing: bool
    node: NodeJson


class WhyJson(TypedDict):
    """A fact, what led to it (``chain``), what stands in its place now where it was replaced (``successors``), and what
    it is related to; ``text`` says it for people."""

    session_id: str
    node: NodeJson
    chain: list[Step]
    successors: list[Step]
    relations: list[Relation]
    text: str


class FoundFactJson(TypedDict):
    """A fact that was found; scores compare within one answer only."""

    node: NodeJson
    score: float


class SearchAnswer(TypedDict):
    """Facts, best first."""

    session_id: str
    hits: list[FoundFactJson]


class DiffJson(TypedDict):
    """What changed; ``changed`` holds pairs of before and after."""

    added: list[NodeJson]
    changed: list[list[NodeJson]]
    removed: list[NodeJson]
    transitions: list[TransitionJson]


DiffAnswer = TypedDict("DiffAnswer", {"session_id": str, "from": int, "to": int, "diff": DiffJson})


class ResumeAnswer(TypedDict):
    """A resume block. ``exact``: the model's own tokenizer counted, else the count errs high."""

    session_id: str
    text: str
    tokens: int
    exact: bool
    level: str
    budget: int
    node_ids: list[str]
    turn: int


class CheckpointAnswer(TypedDict):
    """A point of a session that was marked, and what changed since the one before."""

    session_id: str
    id: str
    seq: int
    tokens: int
    diff: DiffJson


class Mark(TypedDict):
    """A checkpoint in a listing."""

    id: str
    seq: int
    recorded_at: float
    turn: int
    tokens: int


class CheckpointsAnswer(TypedDict):
    """The checkpoints of a session, oldest first."""

    session_id: str
    checkpoints: list[Mark]


class RememberAnswer(TypedDict):
    """The fact as it is now."""

    session_id: str
    node: NodeJson


class EditAnswer(TypedDict):
    """The fact as it stands now. ``number`` is that of the change: undo takes it back."""

    session_id: str
    node: NodeJson
    number: int


class CompactionAnswer(TypedDict):
    """What a compaction stands for: ``text`` is all that a model is given of it, ``open`` the user's words in it that
    were not answered yet, ``tokens`` what it replaced."""

    session_id: str
    checkpoint: str
    text: str
    open: str
    tokens: int


class RecallAnswer(TypedDict):
    """What a session says about a question; ``text`` is "" when it says nothing. ``node_ids`` are the facts that it
    names, ``messages`` the numbers of the messages that it quotes."""

    session_id: str
    text: str
    tokens: int
    node_ids: list[str]
    messages: list[int]


class ErasedAnswer(TypedDict):
    """What was erased. ``backups``: how many backups on record may still hold it."""

    session_id: str
    events: int
    backups: int


class ImportedAnswer(TypedDict):
    """What came in, and how many of it the session did not have."""

    session_id: str
    what: Literal["events", "messages"]
    count: int
    new: int


class ListedSessionJson(TypedDict):
    """A session in the listing; times are seconds since 1970. ``goal`` is "" where none was stated; ``title`` is the
    goal, else how the first question begins; ``project`` is what stands before the last "/" of the id; ``open_work``
    counts tasks and errors that are not finished."""

    session_id: str
    events: int
    created_at: float
    updated_at: float
    title: NotRequired[str]
    goal: NotRequired[str]
    project: NotRequired[str]
    open_work: NotRequired[int]


class SessionsAnswer(TypedDict):
    """A page of sessions, the most recently updated first; ``next`` is the cursor of the page behind, if there is
    one."""

    sessions: list[ListedSessionJson]
    next: str | None


class StageSavings(TypedDict):
    """What a stage saved: tokens in front of it and behind it, and dollars; a loss is negative."""

    stage: str
    calls: int
    tokens_before: int
    tokens_after: int
    saved_tokens: int
    saved: float


class SavedGroup(TypedDict):
    """What some calls cost, and would have cost without us, in tokens and dollars; ``session``, ``model`` and ``day``
    say which, where that was asked for: no session for those that were erased since.

    ``estimated``: calls whose usage no provider told; ``unpriced``: calls to models without a known price.
    """

    session: NotRequired[str]
    model: NotRequired[str]
    day: NotRequired[str]
    calls: int
    estimated: int
    unpriced: int
    input_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    input_tokens_without: int
    saved_tokens: int
    cost: float
    cost_without: float
    saved: float


class SavingsJson(SavedGroup):
    """What all calls that were asked for cost, by stage, and by ``groups`` where sums are to be told apart."""

    stages: list[StageSavings]
    groups: NotRequired[list[SavedGroup]]


class StatsAnswer(TypedDict):
    """The tenant's sessions in figures; ``counters`` of this process are for those with the scope admin."""

    sessions: int
    events: int
    oldest: float | None
    newest: float | None
    savings: SavingsJson
    counters: NotRequired[dict[str, int]]


Status = Literal["ok", "degraded", "unready"]


class HealthAnswer(TypedDict):
    """``ok``; ``degraded``: it works, and the reasons say what does not; ``unready``: it does not. ``place``: the
    database that fails, for callers with the scope "admin"."""

    status: Status
    live: bool
    ready: bool
    reasons: list[str]
    place: NotRequired[str]


def node_of(node: Fact) -> NodeJson:
    """A fact as it goes out."""
    return cast(NodeJson, node_to_dict(node))
