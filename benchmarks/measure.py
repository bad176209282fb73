"""How figures are taken: CPU time, interleaved rounds, medians, ratios within one run."""

from __future__ import annotations

import gc
import platform
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from tokenmizer_mw import __version__


def machine() -> dict[str, Any]:
    """What a figure was taken on; no names, no paths."""
    return {
        "version": __version__,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "machine": platform.machine(),
        "system": platform.system(),
    }


def forget_texts() -> None:
    """Empties what the package keeps of texts that it has read: all its bounded caches. What it keeps of its own
    tables stays. Without this, a run over the same text again measures the caches."""
    for name, module in list(sys.modules.items()):
        for kept in list(vars(module).values()) if name.startswith("tokenmizer_mw") else ():
            if hasattr(kept, "cache_parameters") and kept.cache_parameters()["maxsize"] is not None:
                kept.cache_clear()


def cpu_seconds(work: Callable[[], object], *, repeat: int = 1) -> float:
    """Least CPU time of this process for one call of ``work`` among ``repeat`` calls, collector off. No call profits
    from texts that the calls before have read."""
    best = float("inf")
    for _ in range(repeat):
        forget_texts()
        gc.collect()
        gc.disable()
        try:
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
        finally:
            gc.enable()
    return best


def quartile_ratio(values: list[float]) -> dict[str, float]:
    """Median of the first and of the last quarter, and their ratio: does a cost grow with the session?"""
    quarter = max(1, len(values) // 4)
    first, last = statistics.median(values[:quarter]), statistics.median(values[-quarter:])
    return {"first": first, "last": last, "ratio": last / first if first else float("inf")}


def percentile(values: list[float], share: float) -> float:
    """The value below which ``share`` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def at_most(what: str, value: float, bar: float, unit: str = "", digits: int = 3) -> dict[str, Any]:
    """A bar that is met when ``value`` does not exceed it."""
    rounded = round(value, digits)
    return {"what": what, "value": rounded, "bar": f"<= {bar}{unit and ' ' + unit}", "met": rounded <= bar}


def at_least(what: str, value: float, bar: float, unit: str = "", digits: int = 3) -> dict[str, Any]:
    """A bar that is met when ``value`` reaches it."""
    rounded = round(value, digits)
    return {"what": what, "value": rounded, "bar": f">= {bar}{unit and ' ' + unit}", "met": rounded >= bar}
