"""The OpenAPI document says what the routes do: fuzzed against it, nothing breaks and every answer is one of its own.

``TOKENMIZER_FUZZ_EXAMPLES`` sets how many random requests each route gets (default: few); those at the edges of what
the document allows, and just beyond them, are made in any case.
"""

from __future__ import annotations

import base64
import json
import os
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from schemathesis import AuthContext, Case
from schemathesis.pytest.lazy import get_all_tests

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.session import SESSION_ID_MAX
from tokenmizer_mw.server.api import api
from tokenmizer_mw.server.api.app import Api
from tokenmizer_mw.server.api.routes import LINES, failures_of, openapi_document
from tokenmizer_mw.server.api.shapes import PRINTABLE

from .hosts import CHAT, PREFIX, stripped, who

EXAMPLES = int(os.environ.get("TOKENMIZER_FUZZ_EXAMPLES", "5"))


def cursors() -> SearchStrategy[str]:
    """Cursors as pages give them."""
    ids = st.text(min_size=1, max_size=SESSION_ID_MAX).filter(str.isprintable)
    place = st.tuples(st.floats(allow_nan=False, allow_infinity=False), ids)
    return place.map(lambda one: base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("="))


def lines() -> SearchStrategy[bytes]:
    """Messages as JSON Lines."""
    message = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": st.text()})
    return st.lists(message, min_size=1).map(lambda told: "\n".join(map(json.dumps, told)).encode())


schemathesis.openapi.format("cursor", cursors())
schemathesis.openapi.format(PRINTABLE, st.text(min_size=1, max_size=SESSION_ID_MAX).filter(str.isprintable))
schemathesis.openapi.media_type(LINES, lines())


@pytest.fixture(scope="module")
def made() -> Api:
    memory = SessionMemory.open()
    memory.record("hall", CHAT, tenant="tenant-a")
    return api(memory, authorize=who)


class Key:
    """The key that every generated request carries, unless a check leaves it out."""

    def get(self, case: Case, context: AuthContext) -> str:
        return "Bearer admin"

    def set(self, case: Case, data: str, context: AuthContext) -> None:
        case.headers["authorization"] = data


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
def validate(case: Case) -> None:
    if isinstance(case.body, dict) and case.body.get("create") is True:
        case.body["create"] = False  # what one request makes would be found, and refused, by others
    case.call_and_validate()


def test_every_answer_is_as_documented(made: Api, subtests: pytest.Subtests) -> None:
    """The requests are made here: made at collection, every process of a run would make them."""
    schema = schemathesis.openapi.from_asgi(f"{PREFIX}/api/openapi.json", stripped(made))
    schema.auth()(Key)
    for built in get_all_tests(schema=schema, test_func=validate, settings=None, given_kwargs=None):
        operation, check = built.ok()
        with subtests.test(operation.label):
            check()


def test_the_document_is_the_table(made: Api) -> None:
    told = openapi_document(made.routes, PREFIX)
    rows = {(route.path, route.method.lower()): route for route in made.routes}
    assert {(path, method) for path, methods in told["paths"].items() for method in methods} == rows.keys()
    for (path, method), route in rows.items():
        operation = told["paths"][path][method]
        assert set(operation["responses"]) == {str(route.status), *map(str, failures_of(route))}
        assert ("security" in operation) == (route.scope is not None)
        assert ("requestBody" in operation) == (route.body is not None)
    json.dumps(told)


def test_what_is_referred_to_is_there(made: Api) -> None:
    told = openapi_document(made.routes)
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(told)))
    assert named
    assert named <= told["components"]["schemas"].keys()
