import pytest

from tokenmizer_mw.context.tokens import TokenCounter, counter_for


@pytest.fixture(scope="session")
def exact() -> TokenCounter:
    counter = counter_for("gpt-4o")
    if not counter.exact:
        pytest.skip("no copy of the o200k_base table on this machine, and tests download nothing")
    return counter


@pytest.fixture(scope="session")
def older() -> TokenCounter:
    counter = counter_for("gpt-4")
    if not counter.exact:
        pytest.skip("no copy of the cl100k_base table on this machine, and tests download nothing")
    return counter
