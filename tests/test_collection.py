"""What programs leave out of garbage collections."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_what_is_imported_inside_is_not_collected_later() -> None:
    code = """
import gc
from tokenmizer_mw.runtime.collection import uncollected_imports
with uncollected_imports():
    inside = gc.isenabled()
    import email.message
print(inside, gc.isenabled(), gc.get_freeze_count() > 1_000)
"""
    assert run(code) == ["False", "True", "True"]


def test_collections_go_on_after_an_import_that_fails() -> None:
    code = """
import gc
from tokenmizer_mw.runtime.collection import uncollected_imports
try:
    with uncollected_imports():
        import no_such_module
except ImportError:
    print(gc.isenabled())
"""
    assert run(code) == ["True"]


def test_what_comes_after_the_start_is_still_collected() -> None:
    code = """
import gc, weakref
from tokenmizer_mw.runtime.collection import freeze_started
class Ring: pass
freeze_started()
ring = Ring()
ring.itself = ring
there = weakref.ref(ring)
del ring
gc.collect()
print(there() is None)
"""
    assert run(code) == ["True"]
