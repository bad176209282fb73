"""One profile for all property tests: no deadlines, since machines differ and cost is measured elsewhere."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("project", deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")
