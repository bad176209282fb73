"""The garbage collector of programs of this package: what is imported at the start is not looked at again.

A collection of the oldest generation visits every object of the process. Classes and functions, most of which live as
long as the process, are most of them: leaving them out makes such a collection ten times shorter. Only programs call
this; a library leaves the collector to the application that uses it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected_imports() -> Iterator[None]:
    """Import without collections, and leave out of later ones what was imported."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze_started() -> None:
    """Leave everything that is there now out of later collections: to be called when a program has started."""
    gc.collect()
    gc.freeze()
