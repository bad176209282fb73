"""The events that a session's log consists of, and their stored form.

An event is a decision made once; folding only applies it. Each kind is stored under its own name and version, never
under a Python path, and ``UPCASTS`` converts old payloads to the current version, so that a log outlives releases.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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
    """A message joined the session as number ``turn`` (1-based). ``digest`` identifies it across resends.

    ``after`` is the number of the message that it follows (0: none): usually the one before, an older one where
    the client went back and tried again. ``original`` is the message as the library wrote it that keeps its chat here,
    so that it gets it back exactly: JSON text, "" for messages that came otherwise.
    """

    turn: int
    digest: str
    message: Message
    after: int = 0
    original: str = ""


@dataclass(frozen=True, slots=True)
class HistoryRevised:
    """Messages were withdrawn from the transcript (``withdrawn``), or archived (``archived``: left out of the context,
    facts stay); both are message numbers.

    ``redrawn``: facts came from withdrawn messages; the graph starts again, and the facts of the remaining messages
    follow in the log.
    """

    withdrawn: tuple[int, ...] = ()
    archived: tuple[int, ...] = ()
    redrawn: bool = False


@dataclass(frozen=True, slots=True)
class Rewritten:
    """``changed`` earlier events were changed for good in the store, for example to redact secrets; the session must be
    folded again.
    """

    changed: int


@dataclass(frozen=True, slots=True)
class TurnClosed:
    """A model call ended after message ``turn``. ``usage`` holds the provider's own token counts, may be empty."""

    turn: int
    outcome: Outcome
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Derived:
    """Facts were drawn from all messages up to and including ``turn``: where extraction resumes after a crash.

    ``flagged`` holds, for those of them that read like an attempt to take over the model, the names of what was found.
    """

    turn: int
    flagged: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refined:
    """A model was shown the messages up to and including ``turn``, and what it stated is in the events before this one.

    ``calls`` is how often it was asked for that, ``tokens`` what it took in for the last of these calls, counted here.
    ``handover`` holds the sentences that it wrote for whoever goes on, as far as the session bears them out; they stand
    for the messages ``first`` to ``turn``. Empty: it wrote none, and the handover before, if any, stays.
    """

    turn: int
    calls: int = 1
    tokens: int = 0
    handover: tuple[str, ...] = ()
    first: int = 0


@dataclass(frozen=True, slots=True)
class NodeAdded:
    """A new fact."""

    node: Node


@dataclass(frozen=True, slots=True)
class NodeRevised:
    """Fields of a node got new values. ``changes`` maps field names of ``Node`` (never id, type or status)."""

    id: str
    changes: Mapping[str, Any]
    turn: int = 0


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """A node moved in its lifecycle at ``turn``; ``quote`` is the explicit evidence where one was needed."""

    id: str
    status: Status
    turn: int = 0
    reason: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class NodeEdited:
    """Somebody changed a node by hand, when the session had ``turn`` messages.

    ``changes`` maps field names of ``Node`` (status included, never id or type) to new values, ``before`` the same
    names to those that they had, so that it can be taken back. ``number`` counts the edits of a session, from 1;
    ``undoes`` is the number of the edit that this one takes back, 0 for none.
    """

    number: int
    id: str
    changes: Mapping[str, Any]
    before: Mapping[str, Any]
    turn: int = 0
    reason: str = ""
    undoes: int = 0

    @property
    def adds(self) -> bool:
        """Whether it added the node: one that was not in force came into force, and that took no edit back."""
        before, now = self.before.get("status"), self.changes.get("status")
        return before is Status.ARCHIVED and now is not None and is_current(now) and not self.undoes


@dataclass(frozen=True, slots=True)
class EdgeAdded:
    """A new relation."""

    edge: Edge


@dataclass(frozen=True, slots=True)
class DecisionReplaced:
    """One decision took another's place. Fold marks the old one superseded and links the two."""

    transition: Transition


@dataclass(frozen=True, slots=True)
class NodesPruned:
    """Nodes left the kept graph because of its cap. The log still has them."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A named point of the session, with the cut that was made there if one was.

    ``block`` is the resume block exactly as sent; ``anchor`` the digest of the first message that stayed verbatim
    ("" when nothing was cut) and ``anchor_turn`` its number, so that every later call drops the same messages and
    carries the same bytes until the next cut. ``dropped`` counts the messages that the block stands for,
    ``tokens`` are the block's, ``carried`` the ids of the nodes in it. ``kept`` counts the messages that stayed, 0
    where that was not noted.
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
    """The request that message ``turn`` answers contained a reminder of what a cut removed.

    - ``cut``: id of the cut's checkpoint, or "resume-N" if a host sent message N after a resume block without a cut.
    - ``tokens``: tokens of the reminder; ``nodes``: ids of its facts; ``messages``: numbers of the messages it quotes.

    The text is not stored, because the session contains it.
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
    """An event in its place: ``seq`` is 1-based and dense per session, ``recorded_at`` seconds since the epoch."""

    seq: int
    recorded_at: float
    event: Event


Payload = dict[str, Any]

Upcasts = Mapping[tuple[str, int], Callable[[Payload], Payload]]


class UnreadableEvent(ValueError):
    """A stored event whose kind, version or payload this release cannot read."""


class NewerEvent(UnreadableEvent):
    """Raised for a stored event of a kind or version that only a newer release can read."""


_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(event: Event) -> tuple[str, int, str]:
    """``(kind, version, payload as JSON text)``: what a store keeps. The text is valid UTF-8, free of NUL.

    A lone surrogate in a text is written as a JSON escape, because databases refuse it.
    """
    kind, version, write = _WRITERS[type(event)]
    payload = _JSON.encode(write(event))
    return kind, version, payload if payload.isascii() else payload.encode("utf-8", "backslashreplace").decode()


def decode(kind: str, version: int, payload: str, upcasts: Upcasts | None = None) -> Event:
    """The event that ``encode`` stored, lifted from an older version where needed by ``upcasts`` (or ``UPCASTS``).

    Raises ``NewerEvent`` for kinds and versions of a newer release, ``UnreadableEvent`` for damage.
    """
    if not isinstance(version, int):
        raise UnreadableEvent(f"event {kind!r} has no version")
    if kind not in _READERS or version > _READERS[kind][0]:
        raise NewerEvent(f"event {kind!r} version {version} was written by a newer release")
    current, read = _READERS[kind]
    lifts = UPCASTS if upcasts is None else upcasts
    try:
        data = json.loads(payload)
        for step in range(version, current):
            data = lifts[(kind, step)](data)
        return read(data)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableEvent(f"event {kind!r} version {version} cannot be read: {type(error).__name__}") from error


UPCASTS: Final[Upcasts] = {("refined", 1): lambda data: data | {"handover": [], "first": 0}}
"""``(kind, version) -> function`` that lifts a payload of that version to the next one."""


def _without_defaults(pairs: Mapping[str, Any]) -> Payload:
    return {key: value for key, value in pairs.items() if value not in ("", (), [], {}, None)}


def message_to_dict(message: Message) -> Payload:
    """The stored form of a message; what is empty is left out."""
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
    """The inverse of ``message_to_dict``."""
    return Message(
        role=Role(data["role"]),
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


def _source_from_dict(data: Payload) -> Source:
    span = data.get("span")
    return Source(
        turn=data["turn"],
        role=data.get("role", ""),
        quote=data.get("quote", ""),
        trust=Trust(data["trust"]),
        span=(span[0], span[1]) if span else None,
    )


_NODE_TEXT = ("detail", "kind", "slot", "value", "order", "valid_from", "valid_until")


def node_to_dict(node: Node) -> Payload:
    """The stored form of a node; what is empty is left out."""
    head: Payload = {"id": node.id, "type": node.type.value, "label": node.label, "status": node.status.value}
    head |= {"source": _source_to_dict(node.source), "confidence": round(node.confidence, 4)}
    rest = {name: getattr(node, name) for name in _NODE_TEXT} | {"pinned": node.pinned or None}
    return head | _without_defaults(rest)


def node_from_dict(data: Payload) -> Node:
    """The inverse of ``node_to_dict``."""
    return Node(
        id=data["id"],
        type=NodeType(data["type"]),
        label=data["label"],
        status=Status(data["status"]),
        source=_source_from_dict(data["source"]),
        confidence=data["confidence"],
        pinned=data.get("pinned", False),
        **_changes_from_dict({name: data[name] for name in _NODE_TEXT if name in data}),
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
    )


def edge_to_dict(edge: Edge) -> Payload:
    """The stored form of an edge."""
    return {"source": edge.source, "type": edge.type.value, "target": edge.target, "turn": edge.turn}


def transition_to_dict(step: Transition) -> Payload:
    """The stored form of a transition; what is empty is left out."""
    data = {"old": step.old, "new": step.new, "trigger": step.trigger, "delta": step.confidence_delta}
    return data | _without_defaults({"reason": step.reason, "evidence": step.evidence})


def _transition_from_dict(data: Payload) -> Transition:
    return Transition(
        data["old"],
        data["new"],
        data["trigger"],
        data.get("reason", ""),
        data.get("evidence", ""),
        data["delta"],
    )


def _checkpoint_from_dict(data: Payload) -> Checkpointed:
    fields = {name: data[name] for name in _CHECKPOINT if name in data}
    return Checkpointed(data["id"], data["turn"], **fields | {"carried": tuple(data.get("carried", ()))})


_CHECKPOINT = ("tokens", "block", "anchor", "anchor_turn", "dropped", "carried", "kept")

_WRITERS: Final[dict[type, tuple[str, int, Callable[[Any], Payload]]]] = {
    MessageRecorded: (
        "message",
        1,
        lambda e: (
            {
                "turn": e.turn,
                "digest": e.digest,
                "message": message_to_dict(e.message),
                "after": e.after,
            }
            | _without_defaults({"original": e.original})
        ),
    ),
    HistoryRevised: (
        "history_revised",
        1,
        lambda e: (
            {"withdrawn": list(e.withdrawn), "archived": list(e.archived)} | ({"redrawn": True} if e.redrawn else {})
        ),
    ),
    Rewritten: ("rewritten", 1, lambda e: {"changed": e.changed}),
    TurnClosed: (
        "turn_closed",
        1,
        lambda e: (
            {"turn": e.turn, "outcome": e.outcome.value}
            | _without_defaults({"finish_reason": e.finish_reason, "usage": dict(e.usage)})
        ),
    ),
    Derived: (
        "derived",
        1,
        lambda e: (
            {"turn": e.turn} | _without_defaults({"flagged": [[turn, *names] for turn, names in e.flagged.items()]})
        ),
    ),
    Refined: (
        "refined",
        2,
        lambda e: {
            "turn": e.turn,
            "calls": e.calls,
            "tokens": e.tokens,
            "handover": list(e.handover),
            "first": e.first,
        },
    ),
    NodeAdded: ("node_added", 1, lambda e: node_to_dict(e.node)),
    NodeRevised: (
        "node_revised",
        1,
        lambda e: {"id": e.id, "changes": _changes_to_dict(e.changes), "turn": e.turn},
    ),
    StatusChanged: (
        "status_changed",
        1,
        lambda e: (
            {"id": e.id, "status": e.status.value, "turn": e.turn}
            | _without_defaults({"reason": e.reason, "quote": e.quote})
        ),
    ),
    NodeEdited: (
        "node_edited",
        1,
        lambda e: (
            {"number": e.number, "id": e.id, "turn": e.turn}
            | {"changes": _changes_to_dict(e.changes), "before": _changes_to_dict(e.before)}
            | _without_defaults({"reason": e.reason, "undoes": e.undoes or None})
        ),
    ),
    EdgeAdded: (
        "edge_added",
        1,
        lambda e: edge_to_dict(e.edge),
    ),
    DecisionReplaced: ("decision_replaced", 1, lambda e: transition_to_dict(e.transition)),
    NodesPruned: ("nodes_pruned", 1, lambda e: {"ids": list(e.ids)}),
    Checkpointed: (
        "checkpointed",
        1,
        lambda e: (
            {"id": e.id, "turn": e.turn}
            | _without_defaults({n: getattr(e, n) for n in _CHECKPOINT} | {"kept": e.kept or None})
        ),
    ),
    Reminded: (
        "reminded",
        1,
        lambda e: (
            {"turn": e.turn, "cut": e.cut, "tokens": e.tokens}
            | _without_defaults({"nodes": list(e.nodes), "messages": list(e.messages)})
        ),
    ),
}

_READERS: Final[dict[str, tuple[int, Callable[[Payload], Event]]]] = {
    "message": (1, _message_recorded),
    "history_revised": (
        1,
        lambda d: HistoryRevised(tuple(d["withdrawn"]), tuple(d["archived"]), d.get("redrawn", False)),
    ),
    "rewritten": (1, lambda d: Rewritten(d["changed"])),
    "turn_closed": (
        1,
        lambda d: TurnClosed(d["turn"], Outcome(d["outcome"]), d.get("finish_reason", ""), d.get("usage", {})),
    ),
    "derived": (
        1,
        lambda d: Derived(d["turn"], {turn: tuple(names) for turn, *names in d.get("flagged", ())}),
    ),
    "refined": (
        2,
        lambda d: Refined(d["turn"], d["calls"], d["tokens"], tuple(d["handover"]), d["first"]),
    ),
    "node_added": (1, lambda d: NodeAdded(node_from_dict(d))),
    "node_revised": (1, lambda d: NodeRevised(d["id"], _changes_from_dict(d["changes"]), d["turn"])),
    "status_changed": (
        1,
        lambda d: StatusChanged(d["id"], Status(d["status"]), d["turn"], d.get("reason", ""), d.get("quote", "")),
    ),
    "node_edited": (1, _edited_from_dict),
    "edge_added": (1, lambda d: EdgeAdded(Edge(d["source"], EdgeType(d["type"]), d["target"], d["turn"]))),
    "decision_replaced": (1, lambda d: DecisionReplaced(_transition_from_dict(d))),
    "nodes_pruned": (1, lambda d: NodesPruned(tuple(d["ids"]))),
    "checkpointed": (
        1,
        _checkpoint_from_dict,
    ),
    "reminded": (
        1,
        lambda d: Reminded(d["turn"], d["cut"], d["tokens"], tuple(d.get("nodes", ())), tuple(d.get("messages", ()))),
    ),
}
