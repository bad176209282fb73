"""Token counters of all models that a process uses."""

from __future__ import annotations

from typing import Final

from .counter import counter_for
from .messages import MessageCounter

MODELS_MAX: Final = 64
"""Names of models whose counter is remembered; names come from clients."""


class ModelCounters:
    """A counter for each model. Models that count alike share what has been counted. ``directory`` holds tiktoken's
    tables, ``None``: where they are usually found."""

    def __init__(self, directory: str | None = None) -> None:
        self._directory = directory
        self._names: dict[str, str] = {}
        self._counters: dict[str, MessageCounter] = {}

    def __len__(self) -> int:
        return len(self._counters)

    def of(self, model: str) -> MessageCounter:
        """The counter for a model; "" for one that is not known."""
        name = self._names.get(model)
        if name is None:
            counter = counter_for(model, self._directory)
            if len(self._names) >= MODELS_MAX:
                self._names.clear()
            name = self._names[model] = counter.name
            self._counters.setdefault(name, MessageCounter(counter))
        return self._counters[name]

    def clear(self) -> None:
        """Forget the texts that were counted."""
        for counter in self._counters.values():
            counter.clear()
