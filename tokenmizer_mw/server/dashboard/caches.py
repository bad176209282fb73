"""Caches of sessions: summaries for lists, and past graphs, which are drawn so that facts keep their positions.

Summaries hold goal and counts, as far as they are cheap to compute. Reading a long log is the expensive part of a past
graph; its events about facts are read once, and folding stops at the requested time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.graph.export.layout import CARDS, Box, Lane, Layout, arrange
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, MessageRecorded, Recorded, Refined, Reminded, Rewritten, TurnClosed
from tokenmizer_mw.model.node import Node, NodeType, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.log import SessionInfo

SUMMARIES_MAX: Final = 2_000
"""Summaries that are remembered."""

EVENTS_MAX: Final = 3_000
"""Events that are read for the summaries of one page; sessions beyond that have none until somebody opens them."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A session in a list: its newest goal ("" if it has none), and its number of messages, facts and open tasks."""

    title: str = ""
    messages: int = 0
    facts: int = 0
    open: int = 0


class Summaries:
    """Cache of session summaries. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[int, float, Summary]] = OrderedDict()
        self._guard = make_lock()

    def of(self, memory: SessionMemory, infos: Sequence[SessionInfo], most: int = EVENTS_MAX) -> Mapping[str, Summary]:
        """Return the summaries of these sessions by id, as far as they are cached or need at most ``most`` events.

        A summary of an earlier state is used until it is cheap to compute again.
        """
        found: dict[str, Summary] = {}
        left = most
        for info in infos:
            known = self._get_known(info)
            stale = known is None or known[:2] != (info.seq, info.created_at)
            if stale and info.seq <= left:
                left -= info.seq
                found[info.key.id] = self._learn_summary(memory, info)
            elif known is not None and known[1] == info.created_at:
                found[info.key.id] = known[2]
        return found

    def forget(self, tenant: str, id: str) -> None:
        """Drop a session that was erased from the cache."""
        with self._guard:
            self._kept.pop((tenant, id), None)

    def _learn(self, info: SessionInfo, summary: Summary) -> None:
        place = (info.key.tenant, info.key.id)
        with self._guard:
            self._kept[place] = (info.seq, info.created_at, summary)
            self._kept.move_to_end(place)
            while len(self._kept) > SUMMARIES_MAX:
                self._kept.popitem(last=False)

    def _get_known(self, info: SessionInfo) -> tuple[int, float, Summary] | None:
        with self._guard:
            return self._kept.get((info.key.tenant, info.key.id))

    def _learn_summary(self, memory: SessionMemory, info: SessionInfo) -> Summary:
        try:
            summary = memory.view(info.key.id, summary_of, tenant=info.key.tenant)
        except TokenMizerError:  # erased meanwhile, or not readable: its own page says so
            return Summary()
        self._learn(info, summary)
        return summary


def summary_of(state: SessionState) -> Summary:
    """Return the summary of a session."""
    graph = state.graph
    return Summary(title_of(state), len(state.transcript), len(graph), len(graph.unfinished_nodes()))


def title_of(state: SessionState) -> str:
    """Return the newest current goal; "" if there is none."""
    goals = [node for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return goals[-1].label if goals else ""


PASTS_MAX: Final = 2
"""Sessions whose pasts are kept."""

FORKS: Final = 8
"""Points of a session from which folding goes on."""

_NOT_FACTS: Final = (MessageRecorded, TurnClosed, Checkpointed, Refined, Reminded)


@dataclass(slots=True)
class _PastGraph:
    events: list[Recorded]
    seq: int
    last: Recorded | None
    states: dict[int, SessionGraph] = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        return [event.recorded_at for event in self.events]


class PastGraphs:
    """Cache of past graphs of sessions. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[SessionKey, _PastGraph] = OrderedDict()
        self._guard = make_lock()

    def at(self, memory: SessionMemory, key: SessionKey, seconds: float) -> SessionGraph:
        """Return the graph as recorded at a time (seconds since the epoch). The caller must not change it."""
        with self._guard:
            past = self._refresh(memory, key)
            return self._fold_until(past, bisect_right(past.times, seconds))

    def upto(self, memory: SessionMemory, key: SessionKey, seq: int) -> SessionGraph:
        """Return the graph after event ``seq`` of the log. The caller must not change it."""
        with self._guard:
            past = self._refresh(memory, key)
            return self._fold_until(past, bisect_right(past.events, seq, key=lambda event: event.seq))

    def forget(self, key: SessionKey) -> None:
        """Drop a session that was erased from the cache."""
        with self._guard:
            self._kept.pop(key, None)

    def _refresh(self, memory: SessionMemory, key: SessionKey) -> _PastGraph:
        past = self._kept.get(key)
        if past is not None and past.last is not None:
            tail = memory.log.read(key, after=past.seq - 1)
            same = bool(tail) and tail[0].recorded_at == past.last.recorded_at and tail[0].seq == past.seq
            if same and not any(isinstance(one.event, Rewritten) for one in tail[1:]):
                self._add(past, tail[1:])
                self._kept.move_to_end(key)
                return past
        past = _PastGraph([], 0, None)
        self._add(past, memory.log.read(key))
        self._kept[key] = past
        while len(self._kept) > PASTS_MAX:
            self._kept.popitem(last=False)
        return past

    def _add(self, past: _PastGraph, news: list[Recorded]) -> None:
        if news:
            past.events += [one for one in news if not isinstance(one.event, _NOT_FACTS)]
            past.seq, past.last = news[-1].seq, news[-1]

    def _fold_until(self, past: _PastGraph, count: int) -> SessionGraph:
        """The graph after the first ``count`` events about facts; forks of it are kept on the way."""
        step = max(256, len(past.events) // FORKS)
        start = max((at for at in past.states if at <= count), default=0)
        state = SessionState(graph=past.states[start].copy() if start else SessionGraph())
        for place in range(start, count):
            if place and place % step == 0 and place not in past.states:
                past.states[place] = state.graph.copy()
            state.apply(past.events[place])
        return state.graph


COLUMNS: Final = 4
"""Cards in a row, at any time: a picture of this width needs no scaling on a desk."""


def place_facts(nodes: Sequence[Node], steps: Iterable[Transition], columns: int = COLUMNS) -> Layout:
    """Return the layout of ``nodes`` in a picture of their own."""
    return arrange(nodes, steps, columns=columns)


def hold_layout(
    now: Sequence[Node], steps: Iterable[Transition], then: Sequence[Node], columns: int = COLUMNS
) -> Layout:
    """Return the layout of the facts ``then`` within the picture of ``now``.

    Facts that are in both do not move. The others take positions in their lane whose facts did not exist then; facts
    without a position are placed below.
    """
    layout = place_facts(now, steps, columns)
    boxes, rest = _take_places(layout, {node.id: node.type for node in now}, then)
    counts = Counter(node.type for node in then if node.id in boxes)
    lanes = tuple(replace(lane, count=counts[lane.type]) for lane in layout.lanes if counts[lane.type])
    drop = layout.height + CARDS.between if lanes else 0
    below = place_facts(rest, (), columns)
    return Layout(
        boxes | {id: _lower_box(box, drop) for id, box in below.boxes.items()},
        (*lanes, *(Lane(lane.type, _lower_box(lane.box, drop), lane.count) for lane in below.lanes)),
        max(layout.width, below.width),
        drop + below.height if rest else layout.height,
    )


def _take_places(layout: Layout, types: dict[str, NodeType], then: Sequence[Node]) -> tuple[dict[str, Box], list[Node]]:
    """Who stands in which place of ``layout``, in reading order, and who in none."""
    there = {node.id for node in then}
    waiting: dict[NodeType, deque[Node]] = defaultdict(deque)
    for node in then:
        if node.id not in layout.boxes:
            waiting[node.type].append(node)
    boxes: dict[str, Box] = {}
    for id, box in layout.boxes.items():
        if id in there:
            boxes[id] = box
        elif others := waiting[types[id]]:
            boxes[others.popleft().id] = box
    return boxes, [node for others in waiting.values() for node in others]


def _lower_box(box: Box, by: int) -> Box:
    return replace(box, y=box.y + by)
