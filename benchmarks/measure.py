"""How figures are taken: CPU time, percentiles, bars."""

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
    """Return the versions and the kind of machine on which figures are taken, without names and paths."""
    return {
        "version": __version__,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "machine": platform.machine(),
        "system": platform.system(),
    }


def forget_texts() -> None:
    """Empty all bounded caches of the package, which hold results for texts that it has read; caches of its own tables
    stay. Without this, a second run over the same text measures the caches."""
    for name, module in list(sys.modules.items()):
        for kept in list(vars(module).values()) if name.startswith("tokenmizer_mw") else ():
            if hasattr(kept, "cache_parameters") and kept.cache_parameters()["maxsize"] is not None:
                kept.cache_clear()


def cpu_seconds(work: Callable[[], object], *, repeat: int = 1) -> float:
    """Return the lowest CPU time of this process for one call of ``work`` among ``repeat`` calls, in seconds. Before
    each call the caches for texts are emptied; garbage collection is off during it."""
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
    """Return the median of the first and of the last quarter, and the ratio of last to first, which shows whether a
    cost grows with the session."""
    quarter = max(1, len(values) // 4)
    first, last = statistics.median(values[:quarter]), statistics.median(values[-quarter:])
    return {"first": first, "last": last, "ratio": last / first if first else float("inf")}


def percentile(values: list[float], share: float) -> float:
    """Return the value below which the share ``share`` (0 to 1) of the values lie; the greatest value for 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def at_most(what: str, value: float, bar: float, unit: str = "", digits: int = 3) -> dict[str, Any]:
    """Return a bar that is met if ``value``, rounded to ``digits``, does not exceed ``bar``. ``what``: what is
    measured."""
    rounded = round(value, digits)
    return {"what": what, "value": rounded, "bar": f"<= {bar}{unit and ' ' + unit}", "met": rounded <= bar}


def at_least(what: str, value: float, bar: float, unit: str = "", digits: int = 3) -> dict[str, Any]:
    """Return a bar that is met if ``value``, rounded to ``digits``, is at least ``bar``. ``what``: what is measured."""
    rounded = round(value, digits)
    return {"what": what, "value": rounded, "bar": f">= {bar}{unit and ' ' + unit}", "met": rounded >= bar}
