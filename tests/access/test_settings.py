from __future__ import annotations

from typing import Any

import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.key_store import ListedKeys
from tokenmizer_mw.server.access.keyring import keys_of_server
from tokenmizer_mw.server.access.settings import AccessSettings, RateSettings

from .conftest import made


def test_as_a_file_spells_them() -> None:
    given = {
        "hosts": ["a.example"],
        "per_tenant": {"requests": 60, "tokens": 100_000},
        "tenants": {"big": {"streams": 50}},
        "body_max": 1_000,
        "redis_down": "closed",
    }
    settings = AccessSettings.from_mapping(given)
    assert settings.hosts == ("a.example",)
    assert settings.rates_of("small") == RateSettings(60, 100_000, 0)
    assert settings.rates_of("big") == RateSettings(0, 0, 50)
    assert AccessSettings.from_mapping({}) == AccessSettings()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "access: expected a mapping"),
        ({"body_maximum": 5}, "access: unknown setting body_maximum; nearest: body_max"),
        ({"body_max": 0}, "body_max is a whole number of at least 1"),
        ({"body_max": "many"}, "access.body_max is a whole number of at least 1, not 'many'"),
        (
            {"per_tenant": {"request": 5}},
            "access.per_tenant: unknown setting request; there are requests, tokens, streams",
        ),
        ({"per_tenant": {"requests": -1}}, "access.per_tenant.requests is a whole number of at least 0, not -1"),
        ({"tenants": {"a": {"rps": 5}}}, "access.tenants.a: unknown setting rps"),
        ({"refresh_seconds": 0}, "refresh_seconds is a number above 0"),
        ({"refresh_seconds": 60}, "stale_seconds is at least refresh_seconds"),
        ({"redis_down": "maybe"}, "access.redis_down is one of open, closed, not 'maybe'"),
        ({"key_header": "X-Key"}, "key_header is a header's name in small letters"),
        ({"open_paths": ["health"]}, "open_paths begin with '/'"),
    ],
)
def test_what_is_wrong_is_named(given: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        AccessSettings.from_mapping(given)


def test_where_a_server_finds_its_keys() -> None:
    (_, first), (_, second) = made("a"), made("b")
    settings = AccessSettings.from_mapping({"keys": [{"tenant": "a", "sha256": first.digest.hex()}]})
    listed = keys_of_server("memory://", settings, {})
    assert isinstance(listed, ListedKeys) and [key.tenant for key in listed.all_keys()] == ["a"]
    assert first.digest.hex() not in repr(settings)
    environ = {"TOKENMIZER_ACCESS_KEYS": f"[{{tenant: b, sha256: '{second.digest.hex()}'}}]"}
    assert [key.tenant for key in keys_of_server("memory://", settings, environ).all_keys()] == ["b"]
    assert not isinstance(keys_of_server("memory://", AccessSettings(), {}), ListedKeys)
