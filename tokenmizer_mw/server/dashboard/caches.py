"""Caches of the dashboard: summaries of sessions for lists, and graphs of sessions at earlier times. Also the layout
with which the picture of an earlier graph keeps the positions of facts.

A summary has the goal and the counts of a session. A list shows only summaries that are cached or cheap to make. The
expensive part of an earlier graph is to read a long log; it is read only up to the requested time, and each event only
once.
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
"""Maximum number of summaries that are cached."""

EVENTS_MAX: Final = 3_000
"""Maximum number of events that are read for the summaries of one page; a single session may have more. Further
sessions are listed without a summary, or with an outdated one."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a session.

    - ``goal``: the newest goal that is still current, "" if there is none.
    - ``title``: the goal, else the beginning of the first question, else "".
    - ``messages``, ``facts``: how many there are.
    - ``open``: number of open tasks and tests, and of errors that are not fixed.
    """

    goal: str = ""
    title: str = ""
    messages: int = 0
    facts: int = 0
    open: int = 0


class Summaries:
    """Cache of session summaries. Safe to use from several threads."""

    def __init__(self) -> None:
        self._summaries: OrderedDict[tuple[str, str], tuple[int, float, Summary]] = OrderedDict()
        self._guard = make_lock()

    def of(self, memory: SessionMemory, infos: Sequence[SessionInfo], most: int = EVENTS_MAX) -> Mapping[str, Summary]:
        """Return the summaries of the sessions ``infos``: id of the session -> summary.

        Missing summaries, then outdated ones, are made from the sessions' events. At most ``most`` events are read for
        all of them together; a single session may have more. After that, outdated summaries are returned as they are,
        and missing ones are left out. For a session that is in the memory's cache, for example because its page was
        opened, only new events are read.
        """
        found: dict[str, Summary] = {}
        left = most
        for info in sorted(infos, key=lambda info: self._get_known(info) is not None):
            known = self._get_known(info)
            stale = known is None or known[:2] != (info.seq, info.created_at)
            cost = _count_unread(memory, info) if stale else 0
            if stale and (cost <= left or left == most):
                left = max(0, left - cost)
                found[info.key.id] = self._learn_summary(memory, info)
            elif known is not None and known[1] == info.created_at:
                found[info.key.id] = known[2]
        return found

    def find_question(self, memory: SessionMemory, key: SessionKey) -> str:
        """Return the title in the session's cached summary, if it has one; otherwise the beginning of the user's first
        message. "" if there is none or the store cannot be read. It is meant for sessions without a goal."""
        with self._guard:
            known = self._summaries.get((key.tenant, key.id))
        if known is not None and known[2].title:
            return known[2].title
        try:
            return find_first_question(memory.log, key)
        except TokenMizerError:
            return ""

    def forget(self, tenant: str, id: str) -> None:
        """Remove the summary of a session from the cache, because the session was erased."""
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


def _count_unread(memory: SessionMemory, info: SessionInfo) -> int:
    """Return how many events of a session are not in the memory's cache of sessions."""
    state = memory.service.access.sessions.at_hand(info.key)
    return max(0, info.seq - state.seq) if state is not None else info.seq


def summary_of(state: SessionState) -> Summary:
    """Return the summary of a session from its state. Its title is the goal, "" if there is none; the first question is
    not looked up."""
    graph = state.graph
    goal = title_of(state)
    return Summary(goal, goal, len(state.transcript), len(graph), len(graph.unfinished_nodes()))


def title_of(state: SessionState) -> str:
    """Return the newest goal of a session that is still current; "" if there is none. It is the title of the session's
    pages."""
    goals = [node for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return goals[-1].label if goals else ""


PASTS_MAX: Final = 3
"""Maximum number of logs that ``PastGraphs`` caches. A session whose log was read with two levels of detail
(``ReadDetail``) counts twice."""

STEP: Final = 4_000
"""A copy of the session state is kept after each this many events, so that a later request has to apply only the events
after the copy."""


@dataclass(slots=True)
class _PastGraph:
    """What is cached of a session's log, to rebuild the session's graph at an earlier time.

    - ``detail``: how much of each event is read, see ``ReadDetail``.
    - ``end``: number and time of the newest known event. No event up to it has been changed since ``events`` were read.
    - ``events``: the events that were read. ``read``: number of the last of them.
    - ``states``: number of events -> copy of the session state after that many events, without the transcript.
    - ``asked``: the same pair for the last request.
    """

    detail: ReadDetail
    end: tuple[int, float]
    events: list[Recorded] = field(default_factory=list)
    read: int = 0
    states: dict[int, SessionState] = field(default_factory=dict)
    asked: tuple[int, SessionState] | None = None

    def nearest(self, count: int) -> tuple[int, SessionState | None]:
        """Return a pair: the number of events after which a state is kept, as large as possible but at most ``count``,
        and that state. ``(0, None)`` if no such state is kept."""
        states = self.states | (dict([self.asked]) if self.asked is not None else {})
        start = max((at for at in states if at <= count), default=0)
        return start, states.get(start)


class PastGraphs:
    """Rebuilds the graphs of sessions at earlier times, and caches what it has read of their logs. Safe to use from
    several threads."""

    def __init__(self) -> None:
        self._pasts: OrderedDict[tuple[SessionKey, ReadDetail], _PastGraph] = OrderedDict()
        self._guard = make_lock()

    def at(self, memory: SessionMemory, key: SessionKey, seconds: float) -> SessionGraph:
        """Return the graph of a session as it was recorded at a time (``seconds`` since the epoch); an empty graph for
        a time before the first event. The result equals that of ``SessionMemory.graph(recorded_at=...)``. The caller
        must not change it."""
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
        """Return, for each of ``moments`` (seconds since the epoch), the number of the newest message that was recorded
        by then; 0 if there was none."""
        with self._guard:
            past = self._refresh(memory, key, "numbers")
            self._read_until(memory, key, past, past.end[0])
            recorded = [one for one in past.events if isinstance(one.event, MessageRecorded)]
        times = [one.recorded_at for one in recorded]
        numbers = [0, *accumulate((one.event.turn for one in recorded if isinstance(one.event, MessageRecorded)), max)]
        return [numbers[bisect_right(times, moment)] for moment in moments]

    def facts_upto(self, memory: SessionMemory, key: SessionKey, seq: int) -> SessionGraph:
        """Return a graph with the facts as they were after event number ``seq`` of the log, and the replacements of one
        by another. Other relations, and the times at which facts were stated, are missing. The caller must not change
        it."""
        with self._guard:
            past = self._refresh(memory, key, "nodes")
            self._read_until(memory, key, past, min(seq, past.end[0]))
            return self._fold_until(past, bisect_right(past.events, seq, key=lambda event: event.seq)).graph

    def forget(self, key: SessionKey) -> None:
        """Remove all that is cached of a session, because the session was erased."""
        with self._guard:
            for found in [each for each in self._pasts if each[0] == key]:
                del self._pasts[found]

    def _refresh(self, memory: SessionMemory, key: SessionKey, detail: ReadDetail) -> _PastGraph:
        """Return what is cached of a session, with ``end`` updated to the current end of its log. If nothing was
        cached, or if earlier events were changed or erased since, a new, empty cache entry is returned."""
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
        """Return the session state after the first ``count`` events, and keep copies on the way. The caller must not
        change it, because later states are made from it."""
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
    """Return number and time (seconds since the epoch) of the newest event of a session; ``(0, 0.0)`` if there is no
    such session."""
    try:
        return memory.view(key.id, lambda state: (state.seq, state.recorded_at), tenant=key.tenant)
    except UnknownSession:
        return 0, 0.0


COLUMNS: Final = 4
"""Number of facts in a row of the picture, so that the picture needs no scaling on a desktop screen."""


def hold_layout(
    now: Sequence[Node], steps: Iterable[Transition], then: Sequence[Node], columns: int = COLUMNS
) -> Layout:
    """Return the positions in a picture of the facts ``then``, which existed at an earlier time. They are based on the
    positions that the facts ``now`` have in the current picture.

    A fact that is in both does not move. Any other fact of ``then`` gets the position of a fact of the same type that
    is not in ``then``. If none is left, it is placed below the rest. ``steps``: the replacements among the facts of
    ``now``. ``columns``: number of facts in a row.
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
    """Return which positions of ``layout`` the facts ``then`` get, by id in reading order, and the facts that get none.
    ``types``: id of a fact in ``layout`` -> its type."""
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
