"""Every provider, streamed and not, text and tools, from each client's own SDK, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.end_to_end.sdks.talk import CLIENTS as SDK_CLIENTS
from tests.upstream.server import Upstream
from tokenmizer_mw.server.translate.table import PROVIDERS

from .cases import CASES, CLIENTS, KINDS, PROXIED, QUESTION, Case, matrix
from .relayed import Relayed

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

CELLS = [Case(client, provider, False, False) for client, provider in product(CLIENTS, PROVIDERS)]


@pytest.fixture(scope="module")
def relayed() -> Iterator[str]:
    with Upstream() as upstream, Relayed(upstream.url) as running:
        yield running.url
    SDK_CLIENTS.close_all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_conversation_goes_as_with_the_provider_itself(
    case: Case, relayed: str, passed: dict[str, bool | None]
) -> None:
    passed[case.name] = False
    case.run(relayed)
    passed[case.name] = True


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("case", CELLS, ids=lambda case: f"{case.client}-{case.provider}")
def test_errors_reach_the_client_with_their_status(case: Case, relayed: str, stream: bool) -> None:
    talk = case.talk(relayed)
    talk.user(QUESTION)
    with pytest.raises(talk.failures) as failed:
        talk.ask(case.model("fake-e429"), stream=stream)
    refused = talk.refused(failed.value)
    assert refused is not None
    assert (refused.status, refused.retry_after) == (429, "1")
    assert "the model is not to be had" in str(failed.value)


@pytest.mark.parametrize("case", CELLS, ids=lambda case: f"{case.client}-{case.provider}")
def test_an_error_in_the_midst_of_a_stream_is_one_for_the_client(case: Case, relayed: str) -> None:
    talk = case.talk(relayed)
    talk.user(QUESTION)
    try:
        last = list(talk.stream(case.model("fake-n6-errmid")))[-1]
    except talk.failures as error:
        assert "the model is overloaded" in str(error)
    else:
        assert (last.type, last.response.error.message) == ("response.failed", "the model is overloaded")


def test_the_matrix_has_all_cells() -> None:
    assert len(CASES) == len(PROVIDERS) * len(CLIENTS) * len(KINDS) == 9 * 3 * 4
    lines = matrix({case.name: case.stream for case in CASES}.get).splitlines()
    assert [line.split()[1:] for line in lines[1:10]] == [["+", "-"] * 6] * 9
    assert lines[10].startswith("54 of 108 cells")
    assert sum(case.plain for case in PROXIED) == 6 * 4
