"""The events that a session's log consists of, and their stored form.

Whatever needs judgement, such as whether one decision replaces another, is decided once, before an event is recorded.
The state of a session is computed by applying its events in order; nothing is decided then. Each kind of event is
stored under its own name and version, never under the name of a Python class, and ``UPCASTS`` converts old versions to
the current one, so that newer releases can read old logs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tokenmizer_mw.model.message import Message, Outcome, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import (
    DecisionKind,
    Edge,
    EdgeType,
    Node,
    NodeType,
    Source,
    Status,
    Transition,
    Trust,
    is_current,
)


@dataclass(frozen=True, slots=True)
class MessageRecorded:
    """A message was added to the session as number ``turn`` (1-based).

    - ``digest``: see ``model.message.digest``; by it the message is recognised when a client sends it again.
    - ``after``: number of the message that it follows (0: none). This is the previous message, or an older one if the
      client went back and tried again.
    - ``original``: for messages that a framework such as LangChain stores here, the framework's own form of the message
      as JSON text, so that the framework gets exactly that back; else "".
    """

    turn: int
    digest: str
    message: Message
    after: int = 0
    original: str = ""


@dataclass(frozen=True, slots=True)
class HistoryRevised:
    """Messages left the part of the transcript that is sent to the model.

    - ``withdrawn``: numbers of the messages that the client deleted or replaced.
    - ``archived``: numbers of the messages that are still stored, but no longer sent; facts from them stay.
    - ``redrawn``: whether facts came from withdrawn messages. If true, the graph of facts starts empty again, and the
      events after this one record the facts of the remaining messages.
    """

    withdrawn: tuple[int, ...] = ()
    archived: tuple[int, ...] = ()
    redrawn: bool = False


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A number (``changed``) of earlier events were replaced in the store, for example to redact secrets. Whoever holds
    the session's state in memory must compute it again from all events."""

    changed: int


@dataclass(frozen=True, slots=True)
class TurnClosed:
    """A model call ended after message ``turn``.

    - ``outcome``: how it ended. ``finish_reason``: the provider's word for why, "" if it gave none.
    - ``usage``: the token counts that the provider reported, under this package's names; empty if it reported none.
    """

    turn: int
    outcome: Outcome
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Derived:
    """Facts were extracted from all messages up to and including number ``turn``. After a crash, extraction continues
    with the next message.

    ``flagged``: of the messages since the previous ``Derived`` event, those that read like an attempt to take over the
    model (prompt injection): maps their numbers to the names of the patterns found in them.
    """

    turn: int
    flagged: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refined:
    """A model read the session to correct and complete its facts (refinement). It was shown the messages up to and
    including ``turn``; the events before this one record the facts that it stated.

    - ``calls``: how often the model was called; ``tokens``: size of the last prompt in tokens.
    - ``handover``: those sentences of the model's summary that the session supports. They summarise the messages from
      ``first`` to ``turn``. Empty, with ``first`` 0, if there are none; an earlier handover then stays in use.

    If no call gave anything usable, the event has only ``calls``, and ``turn`` is that of the previous refinement, 0
    for none.
    """

    turn: int
    calls: int = 1
    tokens: int = 0
    handover: tuple[str, ...] = ()
    first: int = 0


@dataclass(frozen=True, slots=True)
class NodeAdded:
    """A new fact (node) was added."""

    node: Node


@dataclass(frozen=True, slots=True)
class NodeRevised:
    """Fields of the fact ``id`` changed because of message ``turn``. ``changes``: maps field names of ``Node`` (never
    id, type or status) to new values; empty if the message only mentions the fact."""

    id: str
    changes: Mapping[str, Any]
    turn: int = 0


WENT_ON: Final = "the conversation went on"
"""Reason stored with a change of status to done or fixed: the assistant took up the task or the error, and the
conversation went on without mentioning it."""


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The status of the fact ``id`` changed because of message ``turn`` (0: none).

    - ``reason``: why, "" if none is known. ``quote``: the words that state the change, if the change needs such
      evidence (``may_move``); else "".
    """

    id: str
    status: Status
    turn: int = 0
    reason: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class NodeEdited:
    """Somebody changed a fact by hand, when the session had ``turn`` messages.

    - ``id``: id of the changed fact; ``reason``: why, as that person wrote it, "" if nothing was written.
    - ``changes``: maps field names of ``Node`` (status included, never id or type) to new values; ``before``: maps them
      to the earlier values, for undo.
    - ``number``: counts the edits of a session, from 1; ``undoes``: number of the edit that this one undoes, 0 for
      none.
    - ``separated``: if the edit says that another fact did not replace this one, because the two are different things:
      the replacement that it removes. In the undo of such an edit: the replacement that it restores. Else ``None``.
    """

    number: int
    id: str
    changes: Mapping[str, Any]
    before: Mapping[str, Any]
    turn: int = 0
    reason: str = ""
    undoes: int = 0
    separated: Transition | None = None

    @property
    def adds(self) -> bool:
        """Whether the edit added the fact. A fact added by hand is recorded as archived first, and the edit makes it
        current, so that undo can archive it again. False for the undo of another edit."""
        before, now = self.before.get("status"), self.changes.get("status")
        return before is Status.ARCHIVED and now is not None and is_current(now) and not self.undoes


@dataclass(frozen=True, slots=True)
class EdgeAdded:
    """A new relation (edge) between two facts was added."""

    edge: Edge


@dataclass(frozen=True, slots=True)
class DecisionReplaced:
    """A fact (a decision, or a goal and so on) replaced another one. Applying the event gives the old fact the status
    superseded and adds an edge from the new one to it."""

    transition: Transition


@dataclass(frozen=True, slots=True)
class NodesPruned:
    """Facts were removed from the session's graph of facts because of its size limit. The log still contains them."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A named point of the session, and the cut that was made there, if any. A cut replaces old messages by a resume
    block, a text with the session's facts.

    - ``id``: its name, unique in the session; ``turn``: number of the session's newest message then.
    - ``block``: the resume block exactly as sent; "" if none is stored. A compaction (the client replaces the chat by a
      summary) stores a block without a cut.
    - ``tokens``: length of the block in tokens, also if it is not stored; ``carried``: ids of the facts in a stored
      block.
    - ``anchor``: digest of the first message that the cut left in place ("" without a cut); ``anchor_turn``: its
      number. With them, every later call drops the same messages and contains the same block until the next cut.
    - ``dropped``: number of messages that the block replaces, 0 if it is sent before the whole chat; ``kept``: number
      of messages that stayed, 0 if unknown.
    """

    id: str
    turn: int
    tokens: int = 0
    block: str = ""
    anchor: str = ""
    anchor_turn: int = 0
    dropped: int = 0
    carried: tuple[str, ...] = ()
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Reminded:
    """A request contained a reminder: facts and quotes from messages that a cut had removed, looked up for the newest
    message. Message ``turn`` is the reply to that request.

    - ``cut``: id of the cut's checkpoint. It is "resume-N" (N: number of a message) if a client sent a resume block in
      place of old messages, and the session has no cut there.
    - ``tokens``: length of the reminder; ``nodes``: ids of its facts; ``messages``: numbers of the messages it quotes.

    The text of the reminder is not stored, because the session contains what it states.
    """

    turn: int
    cut: str
    tokens: int
    nodes: tuple[str, ...] = ()
    messages: tuple[int, ...] = ()


Event = (
    MessageRecorded
    | HistoryRevised
    | Rewritten
    | TurnClosed
    | Derived
    | Refined
    | NodeAdded
    | NodeRevised
    | StatusChanged
    | NodeEdited
    | EdgeAdded
    | DecisionReplaced
    | NodesPruned
    | Checkpointed
    | Reminded
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event as the log holds it. ``seq``: its number in the session, from 1; ``recorded_at``: when it was recorded,
    in seconds since the epoch."""

    seq: int
    recorded_at: float
    event: Event


Payload = dict[str, Any]

Upcasts = Mapping[tuple[str, int], Callable[[Payload], Payload]]


class UnreadableEvent(ValueError):
    """Raised for a stored event whose kind, version or content this release cannot read."""


class NewerEvent(UnreadableEvent):
    """Raised for a stored event of a kind or version that only a newer release can read."""


_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(event: Event) -> tuple[str, int, str]:
    """Return ``(kind, version, payload as JSON text)``, the stored form of an event.

    The payload is valid UTF-8 without NUL. A lone surrogate (half of a character) in a text is written as a JSON
    escape, because databases refuse it.
    """
    kind, version, write = _WRITERS[type(event)]
    payload = _JSON.encode(write(event))
    return kind, version, payload if payload.isascii() else payload.encode("utf-8", "backslashreplace").decode()


def decode(kind: str, version: int, payload: str, upcasts: Upcasts | None = None) -> Event:
    """Return the event whose stored form (see ``encode``) is given. A payload of an older version is converted by
    ``upcasts`` first (``None``: by ``UPCASTS``).

    Raises ``NewerEvent`` for a kind or a version that this release does not know, and ``UnreadableEvent`` for damaged
    data and for an older version that ``upcasts`` does not convert.
    """
    if not isinstance(version, int):
        raise UnreadableEvent(f"event {kind!r} has no version")
    current, read = _READERS.get(kind, (0, None))
    if read is None or version > current:
        raise NewerEvent(f"event {kind!r} version {version} was written by a newer release")
    try:
        data = _load(payload)
        if version != current:
            data = _lift(kind, version, current, data, UPCASTS if upcasts is None else upcasts)
        return read(data)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableEvent(f"event {kind!r} version {version} cannot be read: {type(error).__name__}") from error


ReadDetail = Literal["all", "graph", "nodes", "messages", "numbers"]
"""How much of a session's log ``EventLog.read`` must return. All values but "all" save time.

- "all": every event, complete.
- "graph": every event; of a message only its number must be right (``decode_outline``).
- "nodes": as "graph", and events of ``KINDS_BESIDE_NODES`` may be missing.
- "messages": events of ``KINDS_BESIDE_MESSAGES`` may be missing, except for the last event of the log.
- "numbers": as "messages", and of a message only its number must be right.
"""

KINDS_BESIDE_NODES: Final = (
    "message", "turn_closed", "derived", "refined", "edge_added", "checkpointed", "reminded",
)  # fmt: skip
"""Kinds of events that add, change or replace no fact."""

KINDS_BESIDE_MESSAGES: Final = (
    "turn_closed", "derived", "refined", "node_added", "node_revised", "status_changed", "node_edited", "edge_added",
    "decision_replaced", "nodes_pruned", "checkpointed", "reminded",
)  # fmt: skip
"""Kinds of events that add or change no message."""

OUTLINES: Final = frozenset[ReadDetail]({"graph", "nodes", "numbers"})
"""The values of ``ReadDetail`` for which ``decode_outline`` is enough."""

_NUMBER: Final = re.compile(r'\{"turn":(\d+),')
"""The number of a message, at the start of its stored form."""

_NO_MESSAGE: Final = Message(Role.SYSTEM)


def decode_outline(kind: str, version: int, payload: str) -> Event:
    """Do what ``decode`` does, but decode only the number of a message of the current version, at a tenth of the cost:
    the returned ``MessageRecorded`` has an empty digest and an empty message of the role ``system``. Other events are
    complete."""
    found = _NUMBER.match(payload) if kind == "message" and version == _READERS[kind][0] else None
    return decode(kind, version, payload) if found is None else MessageRecorded(int(found[1]), "", _NO_MESSAGE)


def _lift(kind: str, version: int, current: int, data: Payload, upcasts: Upcasts) -> Payload:
    for step in range(version, current):
        data = upcasts[(kind, step)](data)
    return data


_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _load(payload: str) -> Any:
    """What ``json.loads`` returns, in two thirds of the time for a payload without space around it."""
    try:
        data, end = _SCAN(payload, 0)
    except (StopIteration, TypeError):
        return json.loads(payload)
    return data if end == len(payload) else json.loads(payload)


UPCASTS: Final[Upcasts] = {
    ("refined", 1): lambda data: data | {"handover": [], "first": 0},
    ("node_edited", 1): lambda data: data,  # a release that knows no ``separated`` must not read version 2
}
"""Maps ``(kind, version)`` to the function that converts a payload of that version to the next version."""


def _without_defaults(pairs: Mapping[str, Any]) -> Payload:
    return {key: value for key, value in pairs.items() if value not in ("", (), [], {}, None)}


def message_to_dict(message: Message) -> Payload:
    """Return a message as a dict for JSON, in its stored form. Empty fields are left out."""
    return _without_defaults(
        {
            "role": message.role.value,
            "text": message.text,
            "calls": [[call.id, call.name, call.arguments] for call in message.tool_calls],
            "results": [[result.call_id, result.text, result.is_error] for result in message.tool_results],
            "thinking": message.thinking,
            "refusal": message.refusal,
            "attachments": list(message.attachments),
        }
    )


def message_from_dict(data: Payload) -> Message:
    """Build a message from the dict that ``message_to_dict`` returned."""
    return Message(
        role=_ROLES[data["role"]],
        text=data.get("text", ""),
        tool_calls=tuple(ToolCall(*call) for call in data.get("calls", ())),
        tool_results=tuple(ToolResult(*result) for result in data.get("results", ())),
        thinking=data.get("thinking", ""),
        refusal=data.get("refusal", ""),
        attachments=tuple(data.get("attachments", ())),
    )


def _message_recorded(data: Payload) -> MessageRecorded:
    message = message_from_dict(data["message"])
    return MessageRecorded(data["turn"], data["digest"], message, data["after"], data.get("original", ""))


def _source_to_dict(source: Source) -> Payload:
    data = _without_defaults({"role": source.role, "quote": source.quote, "span": source.span})
    return {"turn": source.turn, "trust": source.trust.value, **data}


_NODE_TYPES: Final = {member.value: member for member in NodeType}
_STATUSES: Final = {member.value: member for member in Status}
_TRUSTS: Final = {member.value: member for member in Trust}
_KINDS: Final = {member.value: member for member in DecisionKind}
_EDGE_TYPES: Final = {member.value: member for member in EdgeType}
_ROLES: Final = {member.value: member for member in Role}
"""Like the mappings above it, maps stored values to members of an enumeration; several times as fast as calling the
enumeration, for logs of thousands of facts."""


def _source_from_dict(data: Payload) -> Source:
    span = data.get("span")
    return Source(
        data["turn"],
        data.get("role", ""),
        data.get("quote", ""),
        _TRUSTS[data["trust"]],
        (span[0], span[1]) if span else None,
    )


_NODE_TEXT = ("detail", "kind", "slot", "value", "order", "valid_from", "valid_until")


def node_to_dict(node: Node) -> Payload:
    """Return a node as a dict for JSON, in its stored form. Empty fields are left out, and the confidence is rounded to
    four decimals."""
    head: Payload = {"id": node.id, "type": node.type.value, "label": node.label, "status": node.status.value}
    head |= {"source": _source_to_dict(node.source), "confidence": round(node.confidence, 4)}
    rest = {name: getattr(node, name) for name in _NODE_TEXT} | {"pinned": node.pinned or None}
    return head | _without_defaults(rest)


def node_from_dict(data: Payload) -> Node:
    """Build a node from the dict that ``node_to_dict`` returned."""
    kind = data.get("kind")
    return Node(
        data["id"],
        _NODE_TYPES[data["type"]],
        data["label"],
        _STATUSES[data["status"]],
        _source_from_dict(data["source"]),
        data["confidence"],
        data.get("detail", ""),
        _KINDS[kind] if kind else None,
        data.get("slot", ""),
        data.get("value", ""),
        data.get("order"),
        data.get("valid_from"),
        data.get("valid_until"),
        data.get("pinned", False),
    )


def _changes_from_dict(data: Payload) -> Payload:
    if data.get("kind"):
        data = {**data, "kind": DecisionKind(data["kind"])}
    if "source" in data:
        data = {**data, "source": _source_from_dict(data["source"])}
    if "status" in data:
        data = {**data, "status": Status(data["status"])}
    return data


def _changes_to_dict(changes: Mapping[str, Any]) -> Payload:
    return {k: _source_to_dict(v) if isinstance(v, Source) else v for k, v in changes.items()}


def _edited_from_dict(data: Payload) -> NodeEdited:
    return NodeEdited(
        data["number"],
        data["id"],
        _changes_from_dict(data["changes"]),
        _changes_from_dict(data["before"]),
        data["turn"],
        data.get("reason", ""),
        data.get("undoes", 0),
        _transition_from_dict(data["separated"]) if "separated" in data else None,
    )


def edge_to_dict(edge: Edge) -> Payload:
    """Return an edge as a dict for JSON, in its stored form: the keys "source", "type", "target" and "turn"."""
    return {"source": edge.source, "type": edge.type.value, "target": edge.target, "turn": edge.turn}


def transition_to_dict(step: Transition) -> Payload:
    """Return a transition as a dict for JSON, in its stored form: the keys "old", "new", "trigger" and "delta", and
    "reason" and "evidence" if they are not empty. ``labels`` is left out."""
    data = {"old": step.old, "new": step.new, "trigger": step.trigger, "delta": step.confidence_delta}
    return data | _without_defaults({"reason": step.reason, "evidence": step.evidence})


def _transition_from_dict(data: Payload) -> Transition:
    return Transition(
        data["old"], data["new"], data["trigger"], data.get("reason", ""), data.get("evidence", ""), data["delta"]
    )


def _checkpoint_from_dict(data: Payload) -> Checkpointed:
    fields = {name: data[name] for name in _CHECKPOINT if name in data}
    return Checkpointed(data["id"], data["turn"], **fields | {"carried": tuple(data.get("carried", ()))})


_CHECKPOINT = ("tokens", "block", "anchor", "anchor_turn", "dropped", "carried", "kept")

# fmt: off
_WRITERS: Final[dict[type, tuple[str, int, Callable[[Any], Payload]]]] = {
    MessageRecorded: ("message", 1, lambda e:
        {"turn": e.turn, "digest": e.digest, "message": message_to_dict(e.message), "after": e.after}
        | _without_defaults({"original": e.original})),
    HistoryRevised: ("history_revised", 1, lambda e:
        {"withdrawn": list(e.withdrawn), "archived": list(e.archived)} | ({"redrawn": True} if e.redrawn else {})),
    Rewritten: ("rewritten", 1, lambda e: {"changed": e.changed}),
    TurnClosed: ("turn_closed", 1, lambda e:
        {"turn": e.turn, "outcome": e.outcome.value}
        | _without_defaults({"finish_reason": e.finish_reason, "usage": dict(e.usage)})),
    Derived: ("derived", 1, lambda e:
        {"turn": e.turn} | _without_defaults({"flagged": [[turn, *names] for turn, names in e.flagged.items()]})),
    Refined: ("refined", 2, lambda e:
        {"turn": e.turn, "calls": e.calls, "tokens": e.tokens, "handover": list(e.handover), "first": e.first}),
    NodeAdded: ("node_added", 1, lambda e: node_to_dict(e.node)),
    NodeRevised: ("node_revised", 1, lambda e:
        {"id": e.id, "changes": _changes_to_dict(e.changes), "turn": e.turn}),
    StatusChanged: ("status_changed", 1, lambda e:
        {"id": e.id, "status": e.status.value, "turn": e.turn}
        | _without_defaults({"reason": e.reason, "quote": e.quote})),
    NodeEdited: ("node_edited", 2, lambda e:
        {"number": e.number, "id": e.id, "turn": e.turn}
        | {"changes": _changes_to_dict(e.changes), "before": _changes_to_dict(e.before)}
        | _without_defaults({"reason": e.reason, "undoes": e.undoes or None})
        | ({"separated": transition_to_dict(e.separated)} if e.separated is not None else {})),
    EdgeAdded: ("edge_added", 1, lambda e: edge_to_dict(e.edge)),
    DecisionReplaced: ("decision_replaced", 1, lambda e: transition_to_dict(e.transition)),
    NodesPruned: ("nodes_pruned", 1, lambda e: {"ids": list(e.ids)}),
    Checkpointed: ("checkpointed", 1, lambda e:
        {"id": e.id, "turn": e.turn}
        | _without_defaults({n: getattr(e, n) for n in _CHECKPOINT} | {"kept": e.kept or None})),
    Reminded: ("reminded", 1, lambda e:
        {"turn": e.turn, "cut": e.cut, "tokens": e.tokens}
        | _without_defaults({"nodes": list(e.nodes), "messages": list(e.messages)})),
}

_READERS: Final[dict[str, tuple[int, Callable[[Payload], Event]]]] = {
    "message": (1, _message_recorded),
    "history_revised": (1, lambda d:
        HistoryRevised(tuple(d["withdrawn"]), tuple(d["archived"]), d.get("redrawn", False))),
    "rewritten": (1, lambda d: Rewritten(d["changed"])),
    "turn_closed": (1, lambda d:
        TurnClosed(d["turn"], Outcome(d["outcome"]), d.get("finish_reason", ""), d.get("usage", {}))),
    "derived": (1, lambda d: Derived(d["turn"], {turn: tuple(names) for turn, *names in d.get("flagged", ())})),
    "refined": (2, lambda d: Refined(d["turn"], d["calls"], d["tokens"], tuple(d["handover"]), d["first"])),
    "node_added": (1, lambda d: NodeAdded(node_from_dict(d))),
    "node_revised": (1, lambda d: NodeRevised(d["id"], _changes_from_dict(d["changes"]), d["turn"])),
    "status_changed": (1, lambda d:
        StatusChanged(d["id"], _STATUSES[d["status"]], d["turn"], d.get("reason", ""), d.get("quote", ""))),
    "node_edited": (2, _edited_from_dict),
    "edge_added": (1, lambda d: EdgeAdded(Edge(d["source"], _EDGE_TYPES[d["type"]], d["target"], d["turn"]))),
    "decision_replaced": (1, lambda d: DecisionReplaced(_transition_from_dict(d))),
    "nodes_pruned": (1, lambda d: NodesPruned(tuple(d["ids"]))),
    "checkpointed": (1, _checkpoint_from_dict),
    "reminded": (1, lambda d:
        Reminded(d["turn"], d["cut"], d["tokens"], tuple(d.get("nodes", ())), tuple(d.get("messages", ())))),
}
# fmt: on
