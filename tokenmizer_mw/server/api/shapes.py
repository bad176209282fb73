"""Types of the API's requests and responses.

Requests are validated against pydantic models. Responses are typed dictionaries, used only for the OpenAPI document and
by type checkers. In all of them ``turn`` is the number of a message of the session, from 1, and times are seconds since
1970.
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
"""Longest question, reason or text of a fact that a request may have, in characters."""

PRINTABLE: Final = "printable"
"""The ``format`` in JSON schemas of texts without control characters and line breaks (``str.isprintable``)."""

SEQ_DIGITS: Final = 15
_EARLIEST: Final = -62_135_596_800
_LATEST: Final = 253_402_300_799
"""The last second of the year 9999; ``_EARLIEST`` is the first one of the year 1."""


def _seconds(given: object) -> object:
    """Convert a text, a number of seconds or a time in ISO 8601, to seconds since 1970; return anything else unchanged.
    Raises an error of pydantic for a number before 2000, which is probably the number of a message."""
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
    """Base of all requests: a field that the model does not declare is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoQuery(_Taken):
    """A request without query parameters."""


class ResumeQuery(_Taken):
    """Query parameters: the size of the resume block, what it is for, and the model whose tokens are counted."""

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
    """Query parameters: where the page of the transcript begins, and how many messages it has."""

    after: int = Field(0, ge=0, le=10**SEQ_DIGITS, description="Begin after the message with this number.")
    limit: int = Field(100, ge=1, description="Messages on the page; the setting page_max bounds it.")


class GraphQuery(_Taken):
    """Query parameters: the format of the graph, and the message after which it is returned."""

    format: Literal["json", "html", "markdown", "d3", "canvas", "mermaid"] = Field(
        "json", description="As JSON, or as a file to keep: the most important facts, as many as export_nodes_max."
    )
    message: int | None = Field(
        None, ge=1, le=10**SEQ_DIGITS, description="The graph as it was after this message; as it is now without it."
    )


class HistoryQuery(_Taken):
    """Query parameters: a time, and which graph is returned for it: what was recorded by then ("recorded"), or what was
    true then, as far as is known now ("valid")."""

    at_time: Moment
    as_: Literal["recorded", "valid"] = Field(
        "recorded", alias="as", description="What was believed then, or what was true then as believed now."
    )


_TEXT_NAMES: Final = AliasChoices("text", "query", "question")
"""Names that a request may use for the text of a search. The first one is documented; MCP tools accept the same."""


class WhyQuery(_Taken):
    """Query parameters: the fact to explain."""

    text: str = Field(
        min_length=1,
        max_length=TEXT_MAX,
        validation_alias=_TEXT_NAMES,
        description="The fact's id, its words, or a description.",
    )


class SearchQuery(_Taken):
    """Query parameters: the text to search for, and the maximum number of facts."""

    text: str = Field(min_length=1, max_length=TEXT_MAX, validation_alias=_TEXT_NAMES)
    limit: int = Field(
        5, ge=1, le=100, validation_alias=AliasChoices("limit", "k"), description="How many facts at most."
    )


class DiffQuery(_Taken):
    """Query parameters: the two points of a session to compare, each a checkpoint's id or the number of an event."""

    from_: Place = Field("0", alias="from")
    to: Place | None = Field(None, description="The newest event, when it is left out.")


Day = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="A day in UTC.", json_schema_extra={"format": "date"})
]


class StatsQuery(_Taken):
    """Query parameters: which model calls count (without filters: all), and what their sums are grouped by. ``from``,
    ``to``: first and last day."""

    session: SessionId | None = Field(None, description="Of one session.")
    model: str | None = Field(None, max_length=TEXT_MAX, description="Of one model.")
    from_: Day | None = Field(None, alias="from")
    to: Day | None = None
    by: Literal["session", "model", "day"] | None = Field(None, description="What the sums are grouped by.")


class SessionsQuery(_Taken):
    """Query parameters: the page of the session list."""

    limit: int = Field(100, ge=1, description="Sessions on the page; the setting page_max bounds it.")
    cursor: str | None = Field(
        None, description="What the page before gave as next.", json_schema_extra={"format": "cursor"}
    )
    details: bool = Field(False, description="Give the title, goal, project and open work of each session, too.")


class RecallQuery(_Taken):
    """Query parameters: a question, and the maximum length of the response's text in tokens."""

    query: str = Field(min_length=1, max_length=TEXT_MAX, validation_alias=AliasChoices("query", "question", "text"))
    budget: int = Field(200, ge=20, le=20_000, description="Tokens of the answer.")


class CheckpointBody(_Taken):
    """Request body: the session to add a checkpoint to."""

    session_id: SessionId


class _FactBody(CheckpointBody):
    """Request body: a session, and the fact of it to change."""

    node_id: str = Field(
        min_length=1, max_length=TEXT_MAX, description="The fact's id, its words, or a description that fits it alone."
    )


class CompactionBody(_Taken):
    """Request body: a compaction, as the client received it, which the server is to decrypt. A compaction is a summary
    of old messages that this package encrypted for the client to store."""

    encrypted_content: str = Field(min_length=1, max_length=SEALED_MAX, description="The member of that name.")


class RememberBody(CheckpointBody):
    """Request body: a fact to add by hand."""

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
    """Request body: a fact to declare wrong, and why."""

    reason: str = Field(min_length=1, max_length=TEXT_MAX)
    never_true: bool = Field(False, description="It was no fact at all: show it to no model, not even as rejected.")


class CompleteBody(_FactBody):
    """Request body: a task that is done, an error that is fixed, or a goal that is reached; ``reason``: how."""

    reason: str = Field("", max_length=TEXT_MAX)


class ArchiveBody(_FactBody):
    """Request body: a fact to archive because it is no longer of interest; ``reason``: why."""

    reason: str = Field("", max_length=TEXT_MAX)


class SeparateBody(_FactBody):
    """Request body: a replaced fact that has nothing to do with the fact that replaced it, so that both are in force
    from now on; ``reason``: why."""

    reason: str = Field("", max_length=TEXT_MAX)


class PinBody(_FactBody):
    """Request body: a fact to pin, which resume blocks then state directly after the standing rules, or to unpin."""

    pinned: bool = True


class CorrectBody(_FactBody):
    """Request body: the new text of a fact, or its new reason; what is omitted stays unchanged. The library's name
    ``label`` for ``text``, and the command line's name ``because`` for ``detail``, are accepted, too."""

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
    """Request body: the number of the manual edit to undo; without a number, the newest edit that is neither undone nor
    an undo."""

    number: int | None = Field(None, ge=1, le=2**31)


class ErrorDetail(TypedDict):
    """An error: ``code`` for programs, such as "unknown_session"; ``message`` for people; ``field``: the invalid part
    of the request, null if no single part is invalid."""

    code: str
    message: str
    field: str | None


class ErrorBody(TypedDict):
    """Body of every response with a status of 400 and above, except those of the health routes."""

    error: ErrorDetail


class SourceJson(TypedDict):
    """Where a fact comes from.

    ``turn``: number of the message; ``role``: its speaker, "hand" for a manual edit; ``quote``: its words; ``span``:
    where these begin and end in the message's text; ``trust``: how reliable the statement is, from certain to doubtful
    "structure" (a tool call or its result), "stated", "adopted", "claimed", "proposed", "quoted".
    """

    turn: int
    trust: str
    role: NotRequired[str]
    quote: NotRequired[str]
    span: NotRequired[list[int]]


class NodeJson(TypedDict):
    """A fact of a session; empty fields are omitted.

    ``type``: such as "decision" or "task"; ``kind``: "choice", "rule", "preference" or "option" for a decision;
    ``label``: the fact in one line; ``detail``: why, or what belongs to it; ``slot``: what it is a value of, such as
    "database", "database@ord" (of the orders) or "node.version", and ``value``; ``order``: position of a task in its
    plan; ``confidence``: 0 to 1, 0 for a fact that never was true; ``valid_from``, ``valid_until``: when it was true;
    ``flags``: signs that its message tries to take over the model.
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
    """A relation between two facts, read as a sentence: ``source`` "depends_on" ``target``, both ids. ``turn``: number
    of the message that established it."""

    source: str
    type: str
    target: str
    turn: int


class TransitionJson(TypedDict):
    """The replacement of the decision with the id ``old`` by the one with the id ``new``.

    ``trigger``: number of the message that caused it; ``reason``: why; ``evidence``: the words of the message;
    ``delta``: confidence of the new decision minus that of the old one.
    """

    old: str
    new: str
    trigger: int
    delta: float
    reason: NotRequired[str]
    evidence: NotRequired[str]


class Graph(TypedDict):
    """The graph of a session: facts (``nodes``), relations between them (``edges``), and replacements of one decision
    by another (``transitions``), each oldest first."""

    nodes: list[NodeJson]
    edges: list[EdgeJson]
    transitions: list[TransitionJson]


class GraphAnswer(TypedDict):
    """A session and its graph: the facts and how they relate."""

    session_id: str
    graph: Graph


HistoryAnswer = TypedDict(
    "HistoryAnswer", {"session_id": str, "at_time": float, "as": Literal["recorded", "valid"], "graph": Graph}
)


class TransitionsAnswer(TypedDict):
    """All replacements of one decision by another, oldest first; ``nodes``: the decisions in them."""

    session_id: str
    transitions: list[TransitionJson]
    nodes: list[NodeJson]


Step = TypedDict("Step", {"from": NodeJson, "transition": TransitionJson, "to": NodeJson, "replaces_perhaps": bool})


class Relation(TypedDict):
    """A relation of the explained fact to another fact, ``node``. ``outgoing``: the relation is read from the explained
    fact ("A fixes B" for A), not towards it."""

    type: str
    outgoing: bool
    node: NodeJson


class EditOfFact(TypedDict):
    """A manual edit (change by hand) of the explained fact. ``before``: the previous label, detail, status, pin and
    slot, where the edit changed them."""

    number: int
    reason: str
    before: dict[str, str | bool]


class WhyJson(TypedDict):
    """The explanation of the fact ``node``.

    ``chain``: the replacements that led to it, oldest first; ``successors``: those from it to the fact in force now;
    ``replaces_perhaps`` in both: only a statistical comparison found that the one fact replaced the other;
    ``relations``: related facts; ``edits``: manual edits that were not undone; ``times``: when the messages named here
    were recorded, in seconds since 1970, by their numbers; ``added``: when the facts named here were added by hand, by
    id; ``others``: facts that the request's text fits about equally well; ``text``: the explanation for people.
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
    """A fact that a search found. A higher ``score`` is a better match; scores of two responses are not comparable."""

    node: NodeJson
    score: float


class SearchAnswer(TypedDict):
    """The facts found by a search, best first."""

    session_id: str
    hits: list[FoundFactJson]


class DiffJson(TypedDict):
    """What differs in a session's graph between two points. ``changed``: each fact as a pair, before and after;
    ``removed``: facts that are gone. A replaced fact is not gone: it is in ``changed``, its replacement in
    ``transitions``."""

    added: list[NodeJson]
    changed: list[list[NodeJson]]
    removed: list[NodeJson]
    transitions: list[TransitionJson]


DiffAnswer = TypedDict("DiffAnswer", {"session_id": str, "from": int, "to": int, "diff": DiffJson})


class ResumeAnswer(TypedDict):
    """A resume block, the text of a session's facts that replaces old messages; "" if no fact is known or fits.

    ``exact``: true if the model's own tokenizer counted ``tokens``; otherwise the count is an upper estimate;
    ``level``: "custom" for a budget in the request; ``node_ids``: the facts in the text; ``turn``: number of the newest
    message that it covers, 0 if unknown.
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
    """A new checkpoint (a named point of a session), and what changed since the previous one. ``seq``: number of its
    event; ``tokens``: size of the resume block at this point."""

    session_id: str
    id: str
    seq: int
    tokens: int
    diff: DiffJson


class Mark(TypedDict):
    """A checkpoint (a named point of a session) in the list of checkpoints. ``seq``: number of its event; ``turn``:
    number of the newest message then; ``tokens``: size of the resume block then."""

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
    """The fact that was added, or that was known already.

    ``number``: number of the manual edit that added it, for undo; 0 for a fact that was known from the messages.
    ``replaced``: facts that it replaced; ``similar``: facts in force that share most of their words with it, and that
    it may contradict.
    """

    session_id: str
    node: NodeJson
    number: int
    replaced: list[NodeJson]
    similar: list[NodeJson]


class EditAnswer(TypedDict):
    """The fact after a manual edit (change by hand). ``number`` identifies the edit, for undo; 0: it changed nothing.
    ``before``: the previous label, detail, status, pin and slot, where they are different now. ``effects``: further
    effects, in sentences for people, such as which other fact is in force again."""

    session_id: str
    node: NodeJson
    number: int
    before: dict[str, str | bool]
    effects: list[str]


class UndoAnswer(EditAnswer):
    """The fact after an undo, which is a manual edit with a ``number`` of its own. ``undone``: number of the edit that
    it undid; ``restored``: other facts that are in force again."""

    undone: int
    restored: list[NodeJson]


class EditJson(TypedDict):
    """A manual edit (change by hand) of the fact with the id ``fact``.

    ``operation``: what it did, such as "remember" or "undo"; ``fields``: the names of all changed fields; ``before``
    and ``after``: label, detail, status, pin and slot, where the edit changed them; ``undoes``: number of the edit that
    it undid, 0 for none; ``undone``: whether it was undone.
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
    """The manual edits of a session, oldest first."""

    session_id: str
    edits: list[EditJson]


class ToolCallJson(TypedDict):
    """A tool call by the assistant; ``arguments``: JSON text as it was sent."""

    id: str
    name: str
    arguments: str


class ToolResultJson(TypedDict):
    """The result of a tool call; ``call_id``: "" if the provider has no ids."""

    call_id: str
    text: str
    is_error: bool


class MessageJson(TypedDict):
    """A message of a session; empty fields are omitted, except the text.

    ``number``: from 1; ``attachments``: the kinds of parts that are not text, such as "image_url"; ``archived``: it is
    only stored and no longer sent to the model; ``recorded_at``: seconds since 1970.
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
    """A page of a session's messages, oldest first. ``next``: pass it as ``after`` to get the next page; null on the
    last page."""

    session_id: str
    messages: list[MessageJson]
    next: int | None


class LostFactJson(TypedDict):
    """A fact that the model no longer sees since the last cut; ``turn``: number of the message it was stated in."""

    id: str
    type: str
    status: str
    label: str
    turn: int


class LossAnswer(TypedDict):
    """The facts (``items``) that the model no longer sees since the last cut, in which a resume block replaced old
    messages: neither the block nor a later message states them.

    ``checkpoint``: id of the cut, "" if there was none; ``dropped``: number of messages that the block replaces;
    ``before_turn``: number of the first message that stayed; ``returned``: ids of those of the facts that a later
    reminder stated; ``quoted``: numbers of the removed messages that reminders quoted.
    """

    session_id: str
    checkpoint: str
    dropped: int
    before_turn: int
    returned: list[str]
    quoted: list[int]
    items: list[LostFactJson]


class CompactionAnswer(TypedDict):
    """The content of a compaction, the encrypted summary of old messages that a client stores.

    ``text``: everything that the model receives of it; ``open``: the user's message that was not answered yet, "" for
    none; ``tokens``: size of the messages that it replaced; ``checkpoint``: id of the checkpoint that it made.
    """

    session_id: str
    checkpoint: str
    text: str
    open: str
    tokens: int


class RecallAnswer(TypedDict):
    """What a session says about a question: facts and quoted messages; ``text`` is "" if nothing matches or fits.

    ``tokens``: length of the text; ``node_ids``: the facts in it; ``messages``: numbers of the messages that it quotes;
    ``times``: when these were recorded, in seconds since 1970, by their numbers.
    """

    session_id: str
    text: str
    tokens: int
    node_ids: list[str]
    messages: list[int]
    times: dict[str, float]


class ErasedAnswer(TypedDict):
    """What was erased. ``events``: how many events the session had; ``backups``: number of all recorded backups, any of
    which may still contain the session."""

    session_id: str
    events: int
    backups: int


class ImportedAnswer(TypedDict):
    """What was imported: ``count`` events (the body was an export) or messages, of which ``new`` were not in the
    session before."""

    session_id: str
    what: Literal["events", "messages"]
    count: int
    new: int


class ListedSessionJson(TypedDict):
    """A session in the list; times are seconds since 1970.

    Only with ``details`` in the query: ``goal``, "" if none was stated; ``title``: the goal, else the start of the
    first question, else ""; ``project``: the part of the id before the last "/", else ""; ``open_work``: number of
    unfinished tasks and errors.
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
    """A page of sessions, most recently updated first. ``next``: pass it as ``cursor`` to get the next page; null on
    the last page."""

    sessions: list[ListedSessionJson]
    next: str | None


class StageSavings(TypedDict):
    """What one stage saved, a part of this package such as "cut" (a resume block replaces old messages) or "cache" (a
    stored response is returned). ``saved``: dollars; negative for a loss, as ``saved_tokens``."""

    stage: str
    calls: int
    tokens_before: int
    tokens_after: int
    saved_tokens: int
    saved: float


class SavedGroup(TypedDict):
    """What a group of model calls cost, and would have cost without this package, in tokens and dollars.

    ``session``, ``model`` or ``day`` names the group if the query groups by it; an erased session has no name.
    ``estimated``: calls whose tokens this package counted, because the provider reported none; ``unpriced``: calls to
    models without a known price, whose cost counts as 0. ``input_tokens`` include ``cached_tokens`` (read from the
    provider's cache) and ``written_tokens`` (written to it). ``input_tokens_without`` and ``cost_without``: what the
    client would have sent and paid without this package. ``saved``: negative for a loss.
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
    """What all selected model calls cost together (the fields of ``SavedGroup``), what each stage of the package saved
    in ``stages``, and ``groups``, the sums of each group; missing if the query does not group."""

    stages: list[StageSavings]
    groups: NotRequired[list[SavedGroup]]


class StatsAnswer(TypedDict):
    """Statistics of the caller's sessions.

    ``sessions`` and ``events``: how many there are; ``oldest``: when the first session began; ``newest``: when one was
    last updated; both in seconds since 1970, null without sessions; ``counters``: how often each event happened in this
    process, only for callers with the scope admin.
    """

    sessions: int
    events: int
    oldest: float | None
    newest: float | None
    savings: SavingsJson
    counters: NotRequired[dict[str, int]]


Status = Literal["ok", "degraded", "unready"]


class HealthAnswer(TypedDict):
    """The health of a server. ``status``: "ok"; "degraded": it takes requests, but something does not work; "unready":
    it cannot take requests.

    ``reasons``: what does not work, each in one word such as "store_unavailable"; ``live``: always true; ``ready``:
    false if "unready"; ``place``: the failing database, only for callers with the scope "admin".
    """

    status: Status
    live: bool
    ready: bool
    reasons: list[str]
    place: NotRequired[str]


def message_of(written: Written) -> MessageJson:
    """Return a stored message as JSON values."""
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
