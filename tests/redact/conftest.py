from __future__ import annotations

import pytest

from tokenmizer_mw.safety.redact import Redactor

KEY = b"a key for tests of redaction"


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor(key=KEY)


@pytest.fixture(scope="session")
def personal() -> Redactor:
    return Redactor(pii=True, key=KEY)
