"""Faster garbage collection for the programs of this package: objects created at the start are excluded from it.

A collection of the oldest generation visits every object of the process. Most objects are classes and functions, which
live as long as the process; without them a collection takes a tenth of the time. Only programs use this module; a
library leaves the collector to the application.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG_MAX: Final = 50_000
"""Number of new objects after which the garbage collector runs, once a program has started (Python's own: some hundreds
or thousands). Reading a session with thousands of facts makes that many objects, and none of them is garbage."""


@contextmanager
def uncollected_imports() -> Iterator[None]:
    """Disable garbage collection while the context is active. At its end, exclude all objects that exist then from
    later collections, and enable the collection, even if it was disabled before.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze_started() -> None:
    """Exclude all existing objects from later collections, and collect new ones more rarely. Call it once a program has
    started.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_MAX, *gc.get_threshold()[1:])
