"""What a run of the tests tells of the matrix at its end."""

from __future__ import annotations

import pytest

from .cases import matrix

PASSED: dict[str, bool | None] = {}


@pytest.fixture(scope="session")
def passed() -> dict[str, bool | None]:
    """Which cells of the matrix hold; those that were not tried are missing."""
    return PASSED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the matrix, where any of it was tried."""
    if PASSED:
        terminalreporter.section("matrix of translations")
        terminalreporter.write_line(matrix(PASSED.get))
