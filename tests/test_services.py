"""What becomes of a test that needs a server."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from tests import services

ASKING: dict[str, Callable[[], str]] = {
    "TOKENMIZER_TEST_POSTGRES": services.postgres,
    "TOKENMIZER_TEST_REDIS": services.redis,
}


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(("variable", "ask"), ASKING.items(), ids=ASKING)
def test_an_address_that_answers_is_given(
    variable: str, ask: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"scheme://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv(variable, address)
        assert ask() == address


@pytest.mark.parametrize("required", ["", "1"])
@pytest.mark.parametrize(("variable", "ask"), ASKING.items(), ids=ASKING)
def test_where_nothing_answers_a_test_is_skipped_or_fails(
    variable: str, ask: Callable[[], str], required: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"scheme://127.0.0.1:{unused_port()}")
    monkeypatch.setenv(services.REQUIRED, required)
    with pytest.raises(pytest.fail.Exception if required else pytest.skip.Exception, match=variable):
        ask()
