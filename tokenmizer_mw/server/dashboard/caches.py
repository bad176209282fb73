"""Caches of sessions: summaries for lists, and past graphs, which are drawn so that facts keep their positions.

Summaries hold goal and counts, as far as they are cheap to compute. Reading a long log is the expensive part of a past
graph; it is read up to the requested time, each event once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from tokenmizer_mw.errors import TokenMizerError, UnknownSession
from tokenmizer_mw.graph.export.layout import CARDS, Box, Lane, Layout, arrange
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, ReadDetail, Recorded, Rewritten
from tokenmizer_mw.model.node import Node, NodeType, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.summaries import find_first_question
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.session import SessionState, fold
from tokenmizer_mw.session.state import UnkeptTranscript
from tokenmizer_mw.store.log import SessionInfo, number_at

SUMMARIES_MAX: Final = 2_000
"""Summaries that are remembered."""

EVENTS_MAX: Final = 3_000
"""Events that are read for the summaries of one page; sessions beyond that have none until somebody opens them."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A session in a list.

    ``goal``: the newest one, "" if it has none; ``title``: the goal, else the start of the first question, else "";
    ``open``: number of open tasks, tests and errors.
    """

    goal: str = ""
    title: str = ""
    messages: int = 0
    facts: int = 0
    open: int = 0


class Summaries:
    """Cache of session summaries. Thread-safe."""

    def __init__(self) -> None:
        self._summaries: OrderedDict[tuple[str, str], tuple[int, float, Summary]] = OrderedDict()
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

    def find_question(self, memory: SessionMemory, key: SessionKey) -> str:
        """Return the start of the first question of a session without a goal; "" if there is none."""
        with self._guard:
            known = self._summaries.get((key.tenant, key.id))
        if known is not None and known[2].title:
            return known[2].title
        try:
            return find_first_question(memory.log, key)
        except TokenMizerError:
            return ""

    def forget(self, tenant: str, id: str) -> None:
        """Drop a session that was erased from the cache."""
        with self._guard:
            self._summaries.pop((tenant, id), None)

    def _learn(self, info: SessionInfo, summary: Summary) -> None:
        place = (info.key.tenant, info.key.id)
        with self._guard:
            self._summaries[place] = (info.seq, info.created_at, summary)
            self._summaries.move_to_end(place)
            while len(self._summaries) > SUMMARIES_MAX:
                self._summaries.popitem(last=False)

    def _get_known(self, info: SessionInfo) -> tuple[int, float, Summary] | None:
        with self._guard:
            return self._summaries.get((info.key.tenant, info.key.id))

    def _learn_summary(self, memory: SessionMemory, info: SessionInfo) -> Summary:
        try:
            summary = memory.view(info.key.id, summary_of, tenant=info.key.tenant)
            if not summary.title:
                summary = replace(summary, title=find_first_question(memory.log, info.key))
        except TokenMizerError:  # erased meanwhile, or not readable: its own page says so
            return Summary()
        self._learn(info, summary)
        return summary


def summary_of(state: SessionState) -> Summary:
    """Return the summary of a session; its title is the goal alone."""
    graph = state.graph
    goal = title_of(state)
    return Summary(goal, goal, len(state.transcript), len(graph), len(graph.unfinished_nodes()))


def title_of(state: SessionState) -> str:
    """Return the newest current goal; "" if there is none."""
    goals = [node for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return goals[-1].label if goals else ""


PASTS_MAX: Final = 3
"""Pasts of sessions that are kept, each in one detail."""

STEP: Final = 4_000
"""Events after which a copy of the state is kept, from which folding goes on."""


@dataclass(slots=True)
class _PastGraph:
    """The past of a session.

    - ``detail``: how much of the log is read.
    - ``end``: number and time of the newest event that is known; no event up to it was replaced since ``events`` were
      read.
    - ``events``: the events up to number ``read``, in that detail.
    - ``states``: states of the session by number of events, without transcripts. ``asked``: the state that was asked
      for last, and its number of events.
    """

    detail: ReadDetail
    end: tuple[int, float]
    events: list[Recorded] = field(default_factory=list)
    read: int = 0
    states: dict[int, SessionState] = field(default_factory=dict)
    asked: tuple[int, SessionState] | None = None

    def nearest(self, count: int) -> tuple[int, SessionState | None]:
        """Return the kept state after the most events, at most ``count``, and their number; 0 and ``None``: none."""
        states = self.states | (dict([self.asked]) if self.asked is not None else {})
        start = max((at for at in states if at <= count), default=0)
        return start, states.get(start)


class PastGraphs:
    """Cache of past graphs of sessions. Thread-safe."""

    def __init__(self) -> None:
        self._pasts: OrderedDict[tuple[SessionKey, ReadDetail], _PastGraph] = OrderedDict()
        self._guard = make_lock()

    def at(self, memory: SessionMemory, key: SessionKey, seconds: float) -> SessionGraph:
        """Return the session's graph as recorded at a time (``seconds`` since the epoch), as ``SessionMemory.graph``
        does. The caller must not change it. An empty graph for a time before the first event."""
        with self._guard:
            past = self._refresh(memory, key, "graph")
            if not past.events or past.events[-1].recorded_at <= seconds:
                self._read_until(memory, key, past, number_at(memory.log, key, seconds, past.end[0]))
            count = bisect_right(past.events, seconds, key=lambda event: event.recorded_at)
            state = self._fold_until(past, count)
            if state.unextracted:  # the facts of messages, of which only the numbers were read
                state = fold(memory.log.read(key, upto=past.events[count - 1].seq))
            return memory.service.access.derivation.derived_graph(state)

    def count_messages(self, memory: SessionMemory, key: SessionKey, moments: Iterable[float]) -> list[int]:
        """Return for each time (seconds since the epoch) the number of the newest message that was recorded by then; 0
        for none."""
        with self._guard:
            past = self._refresh(memory, key, "numbers")
            self._read_until(memory, key, past, past.end[0])
            recorded = [one for one in past.events if isinstance(one.event, MessageRecorded)]
        times = [one.recorded_at for one in recorded]
        numbers = [0, *accumulate((one.event.turn for one in recorded if isinstance(one.event, MessageRecorded)), max)]
        return [numbers[bisect_right(times, moment)] for moment in moments]

    def facts_upto(self, memory: SessionMemory, key: SessionKey, seq: int) -> SessionGraph:
        """Return the facts after event ``seq`` of the log, and what replaced what, without other relations and times.
        The caller must not change the graph."""
        with self._guard:
            past = self._refresh(memory, key, "nodes")
            self._read_until(memory, key, past, min(seq, past.end[0]))
            return self._fold_until(past, bisect_right(past.events, seq, key=lambda event: event.seq)).graph

    def forget(self, key: SessionKey) -> None:
        """Drop a session that was erased from the cache."""
        with self._guard:
            for found in [each for each in self._pasts if each[0] == key]:
                del self._pasts[found]

    def _refresh(self, memory: SessionMemory, key: SessionKey, detail: ReadDetail) -> _PastGraph:
        """What is kept of a session, or something empty where its log is not what it was."""
        past = self._pasts.get((key, detail))
        if past is not None and past.end[0]:
            tail = memory.log.read(key, after=past.end[0] - 1)
            same = bool(tail) and (tail[0].seq, tail[0].recorded_at) == past.end
            if same and not any(isinstance(one.event, Rewritten) for one in tail[1:]):
                past.end = tail[-1].seq, tail[-1].recorded_at
                self._pasts.move_to_end((key, detail))
                return past
        past = self._pasts[(key, detail)] = _PastGraph(detail, _find_end(memory, key))
        self._pasts.move_to_end((key, detail))
        while len(self._pasts) > PASTS_MAX:
            self._pasts.popitem(last=False)
        return past

    def _read_until(self, memory: SessionMemory, key: SessionKey, past: _PastGraph, seq: int) -> None:
        if seq > past.read:
            past.events += memory.log.read(key, after=past.read, upto=seq, detail=past.detail)
            past.read = seq

    def _fold_until(self, past: _PastGraph, count: int) -> SessionState:
        """The state after the first ``count`` events; copies of it are kept on the way. Nobody changes it: the next
        one is folded from it.
        """
        start, known = past.nearest(count)
        if known is not None and start == count:
            return known
        state = known.copy() if known is not None else SessionState(transcript=UnkeptTranscript())
        while start < count:
            step = min(count, start - start % STEP + STEP)
            fold(past.events[start:step], state)
            start = step
            if start % STEP == 0 and start not in past.states:
                past.states[start] = state.copy()
        past.asked = count, state
        return state


def _find_end(memory: SessionMemory, key: SessionKey) -> tuple[int, float]:
    """Number and time of the newest event of a session; zeros if it has none."""
    try:
        return memory.view(key.id, lambda state: (state.seq, state.recorded_at), tenant=key.tenant)
    except UnknownSession:
        return 0, 0.0


COLUMNS: Final = 4
"""Cards in a row, at any time: a picture of this width needs no scaling on a desk."""


def hold_layout(
    now: Sequence[Node], steps: Iterable[Transition], then: Sequence[Node], columns: int = COLUMNS
) -> Layout:
    """Return the layout of the facts ``then`` within the picture of the facts ``now``.

    Facts that are in both do not move. Each other fact takes a position in its lane whose fact did not exist then;
    facts without a position are placed below. ``steps``: the replacements among the facts. ``columns``: facts in a row.
    """
    layout = arrange(now, steps, columns=columns)
    boxes, rest = _take_places(layout, {node.id: node.type for node in now}, then)
    counts = Counter(node.type for node in then if node.id in boxes)
    lanes = tuple(replace(lane, count=counts[lane.type]) for lane in layout.lanes if counts[lane.type])
    drop = layout.height + CARDS.between if lanes else 0
    below = arrange(rest, (), columns=columns)
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
