"""Types of the API's requests and responses.

Requests are validated with pydantic models. Responses are typed dictionaries, which only the OpenAPI document and type
checkers use. In all of them, ``turn`` is the number of a message of the session (from 1), and times are in seconds
since 1970.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Final, Literal, NotRequired, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from tokenmizer_mw.context.compaction.contract import SEALED_MAX
from tokenmizer_mw.context.resume import BUDGET_MIN
from tokenmizer_mw.model.event import node_to_dict
from tokenmizer_mw.model.message import Written
from tokenmizer_mw.model.node import LABEL_MAX
from tokenmizer_mw.model.node import Node as Fact
from tokenmizer_mw.model.session import SECONDS_MIN, SESSION_ID_MAX

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"

TEXT_MAX: Final = 1_000
"""Maximum number of characters of a question, a reason or a fact's text in a request."""

PRINTABLE: Final = "printable"
"""The ``format`` in JSON schemas of a text without control characters and line breaks (``str.isprintable``)."""

SEQ_DIGITS: Final = 15
_EARLIEST: Final = -62_135_596_800
_LATEST: Final = 253_402_300_799
"""The last second of the year 9999, in seconds since 1970. ``_EARLIEST`` is the first second of the year 1."""


def _seconds(given: object) -> object:
    """Convert a text, which is a number of seconds or a time in ISO 8601, into seconds since 1970. Anything but a text
    is returned unchanged. Raises a pydantic error for a number before the year 2000, which is probably the number of a
    message, and ``ValueError`` for any other text."""
    if not isinstance(given, str):
        return given
    try:
        seconds = float(given)
    except ValueError:
        return _parse_iso_time(given)
    if -math.inf < seconds < SECONDS_MIN:
        raise PydanticCustomError(
            "before_2000",
            "a number of seconds before the year 2000 is no time; for a message, ask for the graph with message=",
        )
    return seconds


def _parse_iso_time(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError("a time is given in seconds since 1970 or as in 2026-11-21T14:00:00Z") from None


Moment = Annotated[
    float,
    BeforeValidator(_seconds),
    Field(ge=_EARLIEST, le=_LATEST, allow_inf_nan=False),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": SECONDS_MIN, "maximum": _LATEST},
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
    """Base class of all requests. A field that the model does not declare is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoQuery(_Taken):
    """A request without query parameters; any parameter is an error."""


class ResumeQuery(_Taken):
    """Query parameters: the maximum number of tokens of the resume block (a short text with a session's facts), what
    the block is for, and the model whose tokens are counted."""

    level: Literal["critical", "standard", "full"] = Field("standard", description="100, 300 or 600 tokens.")
    budget: int | None = Field(
        None,
        le=1_000_000,
        json_schema_extra={"minimum": BUDGET_MIN},
        description="At most this many tokens, whatever the level.",
    )
    query: str | None = Field(None, max_length=TEXT_MAX, description="What it is wanted for: such facts come first.")
    model: str = Field("", max_length=200, description="Tokens are counted as this model counts.")


class MessagesQuery(_Taken):
    """Query parameters: the number of the message after which the page begins, and how many messages the page has at
    most."""

    after: int = Field(0, ge=0, le=10**SEQ_DIGITS, description="Begin after the message with this number.")
    limit: int = Field(100, ge=1, description="Messages on the page; the setting page_max bounds it.")


class GraphQuery(_Taken):
    """Query parameters: the format of the graph, and the number of the message after which it is wanted; without a
    number, as it is now."""

    format: Literal["json", "html", "markdown", "d3", "canvas", "mermaid"] = Field(
        "json", description="As JSON, or as a file to keep: the most important facts, as many as export_nodes_max."
    )
    message: int | None = Field(
        None, ge=1, le=10**SEQ_DIGITS, description="The graph as it was after this message; as it is now without it."
    )


class HistoryQuery(_Taken):
    """Query parameters: a time, and which graph is wanted for it: what was recorded by then ("recorded"), or what was
    true then according to what is known now ("valid")."""

    at_time: Moment
    as_: Literal["recorded", "valid"] = Field(
        "recorded", alias="as", description="What was believed then, or what was true then as believed now."
    )


_TEXT_NAMES: Final = AliasChoices("text", "query", "question")
"""Names that a request may use for the text of a search. Only the first one is documented; MCP tools accept the same
names."""


class WhyQuery(_Taken):
    """Query parameters: the fact to explain, by its id, its words or a description."""

    text: str = Field(
        min_length=1,
        max_length=TEXT_MAX,
        validation_alias=_TEXT_NAMES,
        description="The fact's id, its words, or a description.",
    )


class SearchQuery(_Taken):
    """Query parameters: the text to search facts for, and the maximum number of facts to return."""

    text: str = Field(min_length=1, max_length=TEXT_MAX, validation_alias=_TEXT_NAMES)
    limit: int = Field(
        5, ge=1, le=100, validation_alias=AliasChoices("limit", "k"), description="How many facts at most."
    )


class DiffQuery(_Taken):
    """Query parameters: the two points of a session to compare. Each is a checkpoint's id or the number of an event;
    ``from`` is the start of the session by default, ``to`` the newest event."""

    from_: Place = Field("0", alias="from")
    to: Place | None = Field(None, description="The newest event, when it is left out.")


Day = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="A day in UTC.", json_schema_extra={"format": "date"})
]


class StatsQuery(_Taken):
    """Query parameters: which model calls to include (without filters: all), and what to group their sums by. ``from``,
    ``to``: first and last day, both included."""

    session: SessionId | None = Field(None, description="Of one session.")
    model: str | None = Field(None, max_length=TEXT_MAX, description="Of one model.")
    from_: Day | None = Field(None, alias="from")
    to: Day | None = None
    by: Literal["session", "model", "day"] | None = Field(None, description="What the sums are grouped by.")


class SessionsQuery(_Taken):
    """Query parameters: the page of the list of sessions, and whether to include details."""

    limit: int = Field(100, ge=1, description="Sessions on the page; the setting page_max bounds it.")
    cursor: str | None = Field(
        None, description="What the page before gave as next.", json_schema_extra={"format": "cursor"}
    )
    details: bool = Field(False, description="Give the title, goal, project and open work of each session, too.")


class RecallQuery(_Taken):
    """Query parameters: a question, and the maximum number of tokens of the response's text."""

    query: str = Field(min_length=1, max_length=TEXT_MAX, validation_alias=AliasChoices("query", "question", "text"))
    budget: int = Field(200, ge=20, le=20_000, description="Tokens of the answer.")


class CheckpointBody(_Taken):
    """Request body: the session to which a checkpoint (a named point) is added."""

    session_id: SessionId


class _FactBody(CheckpointBody):
    """Request body: a session, and the fact in it to change."""

    node_id: str = Field(
        min_length=1, max_length=TEXT_MAX, description="The fact's id, its words, or a description that fits it alone."
    )


class CompactionBody(_Taken):
    """Request body: a compaction to decrypt, as the client received it. A compaction is a summary of old messages that
    this package has encrypted for the client to store."""

    encrypted_content: str = Field(min_length=1, max_length=SEALED_MAX, description="The member of that name.")


class RememberBody(CheckpointBody):
    """Request body: a fact to add to a session by hand."""

    text: str = Field(
        min_length=1,
        max_length=TEXT_MAX,  # before white space is joined and secrets are redacted
        description="The fact, in one line.",
        json_schema_extra={"maxLength": LABEL_MAX},
    )
    kind: Literal["rule", "choice", "decision", "preference", "goal", "task", "environment"] | None = Field(
        None, description="null: a rule or a preference if it is worded as one, else a choice."
    )
    reason: str = Field("", max_length=TEXT_MAX, description="Why it is so.")
    create: bool = Field(False, description="Begin the session if there is none of this id.")


class InvalidateBody(_FactBody):
    """Request body: a fact to mark as wrong, and the reason."""

    reason: str = Field(min_length=1, max_length=TEXT_MAX)
    never_true: bool = Field(False, description="It was no fact at all: show it to no model, not even as rejected.")


class CompleteBody(_FactBody):
    """Request body: a task that is done, an error that is fixed, or a goal that is reached. ``reason``: how."""

    reason: str = Field("", max_length=TEXT_MAX)


class ArchiveBody(_FactBody):
    """Request body: a fact to archive because it is no longer of interest, although it is true. ``reason``: why."""

    reason: str = Field("", max_length=TEXT_MAX)


class SeparateBody(_FactBody):
    """Request body: a fact that was replaced, although it has nothing to do with the fact that replaced it. From now
    on, both are in force. ``reason``: why."""

    reason: str = Field("", max_length=TEXT_MAX)


class PinBody(_FactBody):
    """Request body: a fact to pin or, with ``pinned`` false, to unpin. Resume blocks (the short texts that replace old
    messages) state pinned facts directly after the standing rules."""

    pinned: bool = True


class CorrectBody(_FactBody):
    """Request body: the new text of a fact, the new reason why it is so (``detail``), or both. What is omitted stays
    unchanged. The name ``label`` for ``text``, which the library uses, and ``because`` for ``detail``, which the
    command line uses, are accepted, too."""

    text: str | None = Field(
        None,
        min_length=1,
        max_length=TEXT_MAX,
        validation_alias=AliasChoices("text", "label"),
        description="What it should say.",
    )
    detail: str | None = Field(
        None, max_length=TEXT_MAX, validation_alias=AliasChoices("detail", "because"), description="Why it is so."
    )
    reason: str = Field("", max_length=TEXT_MAX, description="Why it is changed.")


class UndoBody(CheckpointBody):
    """Request body: the number of the manual edit to undo. Without a number, the newest edit that is neither undone nor
    an undo itself."""

    number: int | None = Field(None, ge=1, le=2**31)


class ErrorDetail(TypedDict):
    """An error. ``code``: for programs, such as "unknown_session". ``message``: for people. ``field``: the invalid part
    of the request; null if no single part is invalid."""

    code: str
    message: str
    field: str | None


class ErrorBody(TypedDict):
    """Body of every response with a status of 400 or more, except those of the health routes."""

    error: ErrorDetail


class SourceJson(TypedDict):
    """Where a fact comes from.

    - ``turn``: number of the message. ``role``: who wrote the message; "hand" for a manual edit.
    - ``quote``: the words of the message that state the fact. ``span``: start and end of these words in the message's
      text.
    - ``trust``: how reliable the statement is. From certain to doubtful: "structure" (a tool call or its result),
      "stated", "adopted", "claimed", "proposed", "quoted".
    """

    turn: int
    trust: str
    role: NotRequired[str]
    quote: NotRequired[str]
    span: NotRequired[list[int]]


class NodeJson(TypedDict):
    """A fact of a session. Empty fields are omitted.

    - ``type``: such as "decision" or "task". ``kind``: of a decision, "choice", "rule", "preference" or "option".
    - ``label``: the fact in one line. ``detail``: why it is so, or what belongs to it.
    - ``slot``: what the fact is a value of, such as "database", "database@ord" (the database of the orders) or
      "node.version". ``value``: that value.
    - ``order``: position of a task in its plan.
    - ``confidence``: 0 to 1; 0 for a fact that never was true.
    - ``valid_from``, ``valid_until``: when it was true, in seconds since 1970.
    - ``pinned``: whether it is pinned. ``flags``: signs that its message tries to take control of the model.
    """

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
    """A relation between two facts, read as a sentence: ``source`` ``type`` ``target``, such as "A depends_on B".
    ``source`` and ``target`` are ids of facts. ``turn``: number of the message that established the relation."""

    source: str
    type: str
    target: str
    turn: int


class TransitionJson(TypedDict):
    """A replacement of one fact by another. ``old``, ``new``: ids of the two facts.

    - ``trigger``: number of the message that caused it.
    - ``delta``: confidence of the new fact minus that of the old one.
    - ``reason``: why. ``evidence``: the words of the message.
    """

    old: str
    new: str
    trigger: int
    delta: float
    reason: NotRequired[str]
    evidence: NotRequired[str]


class Graph(TypedDict):
    """The graph of a session: facts (``nodes``), relations between them (``edges``), and replacements of one fact by
    another (``transitions``). Each list is in the order in which they were recorded."""

    nodes: list[NodeJson]
    edges: list[EdgeJson]
    transitions: list[TransitionJson]


class GraphAnswer(TypedDict):
    """A session id and the session's graph: its facts and how they are related."""

    session_id: str
    graph: Graph


HistoryAnswer = TypedDict(
    "HistoryAnswer", {"session_id": str, "at_time": float, "as": Literal["recorded", "valid"], "graph": Graph}
)


class TransitionsAnswer(TypedDict):
    """All replacements of one fact of a session by another, oldest first. ``nodes``: the facts that occur in them."""

    session_id: str
    transitions: list[TransitionJson]
    nodes: list[NodeJson]


Step = TypedDict("Step", {"from": NodeJson, "transition": TransitionJson, "to": NodeJson, "replaces_perhaps": bool})


class Relation(TypedDict):
    """A relation of the explained fact to another fact, ``node``. ``outgoing``: true if the explained fact is the
    subject of the relation ("A fixes B" for A), false if it is the object."""

    type: str
    outgoing: bool
    node: NodeJson


class EditOfFact(TypedDict):
    """A manual edit (change by hand) of the explained fact. ``before``: the values before the edit of those of label,
    detail, status, pin and slot that it changed."""

    number: int
    reason: str
    before: dict[str, str | bool]


class WhyJson(TypedDict):
    """The explanation of the fact ``node``.

    - ``chain``: the replacements that led to it, oldest first. ``successors``: the replacements from it to the fact in
      force now. In both, ``replaces_perhaps`` says that only a statistical comparison found the replacement.
    - ``relations``: related facts. ``edits``: manual edits of the fact that were not undone.
    - ``times``: number of a message named here -> when it was recorded, in seconds since 1970.
    - ``added``: id of a fact named here -> when it was added by hand, in seconds since 1970.
    - ``others``: other facts that the request's text fits about equally well.
    - ``text``: the explanation for people.
    """

    session_id: str
    node: NodeJson
    chain: list[Step]
    successors: list[Step]
    relations: list[Relation]
    edits: list[EditOfFact]
    times: dict[str, float]
    added: dict[str, float]
    others: list[NodeJson]
    text: str


class FoundFactJson(TypedDict):
    """A fact that a search found. A higher ``score`` is a better match. Scores of different searches cannot be
    compared."""

    node: NodeJson
    score: float


class SearchAnswer(TypedDict):
    """The facts that a search found, best first."""

    session_id: str
    hits: list[FoundFactJson]


class DiffJson(TypedDict):
    """What differs in a session's graph between two points.

    - ``added``: new facts. ``removed``: facts that no longer exist.
    - ``changed``: pairs of a fact before and after. A replaced fact is here, not in ``removed``.
    - ``transitions``: new replacements of one fact by another.
    """

    added: list[NodeJson]
    changed: list[list[NodeJson]]
    removed: list[NodeJson]
    transitions: list[TransitionJson]


DiffAnswer = TypedDict("DiffAnswer", {"session_id": str, "from": int, "to": int, "diff": DiffJson})


class ResumeAnswer(TypedDict):
    """A resume block: a short text with a session's facts, which can replace old messages in a prompt. ``text`` is ""
    if no fact is known or fits.

    - ``tokens``: number of tokens of the text. ``exact``: whether the model's own tokenizer counted them; if not, the
      number is an upper estimate.
    - ``level``: as in the request; "custom" if the request set a budget. ``budget``: maximum number of tokens.
    - ``node_ids``: ids of the facts in the text.
    - ``turn``: number of the newest message that the text covers, 0 if unknown.
    """

    session_id: str
    text: str
    tokens: int
    exact: bool
    level: str
    budget: int
    node_ids: list[str]
    turn: int


class CheckpointAnswer(TypedDict):
    """A new checkpoint (a named point of a session), and in ``diff`` what changed since the previous one. ``seq``:
    number of the event that created it. ``tokens``: number of tokens of the resume block (the short text that can
    replace old messages) at this point."""

    session_id: str
    id: str
    seq: int
    tokens: int
    diff: DiffJson


class Mark(TypedDict):
    """A checkpoint (a named point of a session) in the list of checkpoints. ``seq``: number of the event that created
    it. ``turn``: number of the newest message at that time. ``tokens``: number of tokens that the resume block (the
    short text that can replace old messages) had at that time."""

    id: str
    seq: int
    recorded_at: float
    turn: int
    tokens: int


class CheckpointsAnswer(TypedDict):
    """The checkpoints (named points) of a session, oldest first."""

    session_id: str
    checkpoints: list[Mark]


class RememberAnswer(TypedDict):
    """The fact that was added by hand, or that was known already.

    - ``number``: number of the manual edit that added it, for undo; 0 if the fact was known already from the messages.
    - ``replaced``: facts that it replaced.
    - ``similar``: facts in force that share most of their words with it; it may contradict them.
    """

    session_id: str
    node: NodeJson
    number: int
    replaced: list[NodeJson]
    similar: list[NodeJson]


class EditAnswer(TypedDict):
    """The fact after a manual edit (change by hand).

    - ``number``: number of the edit, for undo; 0 if the edit changed nothing.
    - ``before``: the values before the edit of those of label, detail, status, pin and slot that it changed.
    - ``effects``: further effects, as sentences for people, such as which other fact is in force again.
    """

    session_id: str
    node: NodeJson
    number: int
    before: dict[str, str | bool]
    effects: list[str]


class UndoAnswer(EditAnswer):
    """The fact after an undo. The undo is a manual edit itself, with a ``number`` of its own. ``undone``: number of the
    edit that was undone. ``restored``: other facts that are in force again."""

    undone: int
    restored: list[NodeJson]


class EditJson(TypedDict):
    """A manual edit (change by hand) of the fact with the id ``fact``.

    - ``operation``: what it did, such as "remember" or "undo".
    - ``fields``: names of all fields that it changed. ``before``, ``after``: the values of those of label, detail,
      status, pin and slot that it changed.
    - ``undoes``: number of the edit that it undid, 0 for none. ``undone``: whether it was undone itself.
    - ``recorded_at``: when it was made, in seconds since 1970.
    """

    number: int
    operation: str
    fact: str
    fields: list[str]
    before: dict[str, str | bool]
    after: dict[str, str | bool]
    reason: str
    undoes: int
    undone: bool
    recorded_at: float


class EditsAnswer(TypedDict):
    """The manual edits (changes of facts by hand) of a session, oldest first."""

    session_id: str
    edits: list[EditJson]


class ToolCallJson(TypedDict):
    """A tool call by the assistant. ``arguments``: JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


class ToolResultJson(TypedDict):
    """The result of a tool call. ``call_id``: id of the call; "" if the provider's API has no ids. ``is_error``:
    whether the tool failed."""

    call_id: str
    text: str
    is_error: bool


class MessageJson(TypedDict):
    """A message of a session. Empty fields are omitted, except the text.

    - ``number``: from 1. ``recorded_at``: seconds since 1970.
    - ``attachments``: the kinds of its parts that are not text, such as "image_url".
    - ``archived``: true if it is only stored and no longer sent to the model.
    """

    number: int
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    recorded_at: float
    tool_calls: NotRequired[list[ToolCallJson]]
    tool_results: NotRequired[list[ToolResultJson]]
    thinking: NotRequired[str]
    refusal: NotRequired[str]
    attachments: NotRequired[list[str]]
    archived: NotRequired[bool]


class MessagesAnswer(TypedDict):
    """A page of a session's messages, oldest first. ``next``: the value of ``after`` for the next page; null on the
    last page."""

    session_id: str
    messages: list[MessageJson]
    next: int | None


class LostFactJson(TypedDict):
    """A fact that the model no longer sees since the last cut (the last time that a resume block replaced old
    messages). ``turn``: number of the message that stated it."""

    id: str
    type: str
    status: str
    label: str
    turn: int


class LossAnswer(TypedDict):
    """The facts (``items``) that the model no longer sees since the last cut (the last time that a resume block
    replaced old messages): neither the block nor a later message states them.

    - ``checkpoint``: id of the cut, "" if there was none.
    - ``dropped``: number of messages that the block replaced. ``before_turn``: number of the first message that was
      kept.
    - ``returned``: ids of those facts that a later reminder stated. ``quoted``: numbers of the replaced messages that
      reminders quoted. A reminder is text that the middleware appends to the newest message.
    """

    session_id: str
    checkpoint: str
    dropped: int
    before_turn: int
    returned: list[str]
    quoted: list[int]
    items: list[LostFactJson]


class CompactionAnswer(TypedDict):
    """The content of a compaction, which is the encrypted summary of old messages that a client stores.

    - ``text``: all that the model receives of the compaction.
    - ``open``: the user's message that was not answered yet, "" for none.
    - ``tokens``: number of tokens of the messages that it replaced.
    - ``checkpoint``: id of the checkpoint (named point of the session) that was created with it.
    """

    session_id: str
    checkpoint: str
    text: str
    open: str
    tokens: int


class RecallAnswer(TypedDict):
    """What a session says about a question, facts and quoted messages. ``text`` is "" if nothing matches or fits.

    - ``tokens``: number of tokens of the text. ``node_ids``: ids of the facts in it.
    - ``messages``: numbers of the messages that it quotes.
    - ``times``: number of such a message -> when it was recorded, in seconds since 1970.
    """

    session_id: str
    text: str
    tokens: int
    node_ids: list[str]
    messages: list[int]
    times: dict[str, float]


class ErasedAnswer(TypedDict):
    """What was erased. ``events``: number of events that the session had. ``backups``: number of all recorded backups;
    each of them may still contain the session."""

    session_id: str
    events: int
    backups: int


class ImportedAnswer(TypedDict):
    """What was imported. ``what``: "events" if the body was an export, else "messages". ``count``: how many the body
    has. ``new``: how many of these were not in the session before."""

    session_id: str
    what: Literal["events", "messages"]
    count: int
    new: int


class ListedSessionJson(TypedDict):
    """A session in the list of sessions. Times are in seconds since 1970; ``events`` is the number of its events.

    These fields are only there with ``details`` in the query:

    - ``goal``: its goal, "" if none was stated. ``title``: the goal, else the beginning of the first question, else "".
    - ``project``: the part of the id before the last "/", else "".
    - ``open_work``: number of unfinished tasks and errors.
    """

    session_id: str
    events: int
    created_at: float
    updated_at: float
    title: NotRequired[str]
    goal: NotRequired[str]
    project: NotRequired[str]
    open_work: NotRequired[int]


class SessionsAnswer(TypedDict):
    """A page of sessions, most recently updated first. ``next``: the value of ``cursor`` for the next page; null on the
    last page."""

    sessions: list[ListedSessionJson]
    next: str | None


class StageSavings(TypedDict):
    """What one stage saved. A stage is a part of this package, such as "cut" (a resume block replaces old messages) or
    "cache" (a stored response is returned). ``saved`` is in US dollars. ``saved`` and ``saved_tokens`` are negative for
    a loss."""

    stage: str
    calls: int
    tokens_before: int
    tokens_after: int
    saved_tokens: int
    saved: float


class SavedGroup(TypedDict):
    """What a group of model calls cost, and what they would have cost without this package, in tokens and US dollars.

    - ``session``, ``model`` or ``day``: name of the group, if the query groups by it. The sessions that were erased
      have no name: the field is missing.
    - ``estimated``: number of calls whose tokens this package counted, because the provider reported none.
    - ``unpriced``: number of calls to models without a known price; their cost is 0 here.
    - ``input_tokens``: all input tokens, including ``cached_tokens`` (read from the provider's cache) and
      ``written_tokens`` (written to it).
    - ``input_tokens_without``, ``cost_without``: what the client would have sent and paid without this package.
    - ``saved_tokens``, ``saved``: the difference; negative for a loss.
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
    """What all selected model calls cost together (the fields of ``SavedGroup``). ``stages``: what each part of this
    package saved. ``groups``: the sums of each group; missing if the query does not group."""

    stages: list[StageSavings]
    groups: NotRequired[list[SavedGroup]]


class StatsAnswer(TypedDict):
    """Statistics of the caller's sessions.

    - ``sessions``, ``events``: how many there are.
    - ``oldest``: when the first session began. ``newest``: when a session was last updated. Both are in seconds since
      1970, null without sessions.
    - ``savings``: what model calls cost and saved.
    - ``counters``: how often each event happened in this process; only for callers with the scope "admin".
    """

    sessions: int
    events: int
    oldest: float | None
    newest: float | None
    savings: SavingsJson
    counters: NotRequired[dict[str, int]]


Status = Literal["ok", "degraded", "unready"]


class HealthAnswer(TypedDict):
    """The health of a server.

    - ``status``: "ok"; "degraded" (it takes requests, but something does not work); "unready" (it cannot take
      requests).
    - ``reasons``: a word for each thing that does not work, such as "store_unavailable".
    - ``live``: always true. ``ready``: false if the status is "unready".
    - ``place``: where the failing store is; only for callers with the scope "admin".
    """

    status: Status
    live: bool
    ready: bool
    reasons: list[str]
    place: NotRequired[str]


def message_of(written: Written) -> MessageJson:
    """Return a stored message as JSON values, without empty fields (except the text)."""
    message = written.message
    found: dict[str, object] = {
        "tool_calls": [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.tool_calls],
        "tool_results": [
            {"call_id": one.call_id, "text": one.text, "is_error": one.is_error} for one in message.tool_results
        ],
        "thinking": message.thinking,
        "refusal": message.refusal,
        "attachments": list(message.attachments),
        "archived": written.archived,
    }
    always = {
        "number": written.number,
        "role": message.role.value,
        "text": message.text,
        "recorded_at": written.recorded_at,
    }
    return cast(MessageJson, always | {name: value for name, value in found.items() if value})


def node_of(node: Fact) -> NodeJson:
    """Return a fact as JSON values, without empty fields."""
    return cast(NodeJson, node_to_dict(node))
