"""A stand-in with the face of SessionMemory that the middleware uses, over the real log."""

from __future__ import annotations

from collections import Counter
from functools import partial

from tokenmizer_mw.background import BackgroundQueue
from tokenmizer_mw.kept import KeptSessions
from tokenmizer_mw.model.event import TurnClosed
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.session import joining
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.memory import MemoryLog


class Memory:
    def __init__(self, log=None, settings=None):
        self.settings = settings or Settings()
        self.log = log or MemoryLog()
        self._kept = KeptSessions(self.log, capacity=100)
        self.counts = Counter()
        self._background = BackgroundQueue(capacity=1000, failed=print)

    def counters(self):
        return dict(self.counts)

    def count(self, reason):
        self.counts[str(reason)] += 1

    def may_cut(self, request):
        return len(request.text) > 100_000

    def prepare(self, key, request):
        return None

    def commit(self, key, messages, reply):
        spoken = [*messages, reply.message] if reply is not None and reply.message is not None else list(messages)

        def decide(state):
            news = list(joining(state.transcript, spoken))
            if reply is None or not (news or reply.outcome is Outcome.ERROR):
                return news
            turn = len(state.transcript) + len(news)
            return [*news, TurnClosed(turn, reply.outcome, reply.finish_reason, reply.usage)]

        self._kept.update(key, decide)

    def later(self, task):
        if not self._background.put(object(), task):
            self.count("dropped")

    def extract_later(self, key):
        self._background.put(key, partial(self.extract, key))

    def extract(self, key):
        pass

    def flush(self, seconds=None):
        return self._background.flush(5)

    def close(self):
        self._background.close(5)
