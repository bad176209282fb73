"""What all tests share: profiles of property tests, without deadlines, since machines differ and cost is measured
elsewhere; and a garbage collector that leaves alone what lives as long as the run."""

from __future__ import annotations

import gc
import os
import tempfile

from hypothesis import HealthCheck, settings

settings.register_profile(
    "project", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("project"), max_examples=80)
# For whoever looks for faults: other examples with each run.
settings.register_profile("explore", settings.get_profile("thorough"), max_examples=400, derandomize=False)
settings.load_profile("project")


# What servers of other runs on this machine announce, and what tests would leave in the user's own data directory.
_DATA = tempfile.TemporaryDirectory(prefix="tokenmizer-data-", ignore_cleanup_errors=True)
os.environ["XDG_DATA_HOME"] = _DATA.name


def pytest_unconfigure() -> None:
    """The data directory goes with the run."""
    _DATA.cleanup()


def pytest_collection_finish() -> None:
    """Thousands of tests and the frameworks that they import are a gigabyte that each full collection would walk."""
    gc.collect()
    gc.freeze()
