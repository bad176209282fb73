from __future__ import annotations

import hashlib
import secrets

import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.keys import Key, digest_from, digest_of, looks_like_key, matching, new_key

from .conftest import made


def test_a_key_has_256_random_bits_and_only_its_digest_is_kept() -> None:
    asked: list[int] = []

    def randomness(size: int) -> bytes:
        asked.append(size)
        return bytes(range(size))

    written, key = new_key(randomness, "acme", ("chat",), 5.0)
    assert asked[0] == 32
    assert written.startswith("tmz_") and looks_like_key(written.encode())
    assert key.digest == hashlib.sha256(written.encode()).digest()
    assert written[4:] not in repr(key) and key.digest.hex() not in repr(key)


def test_keys_differ() -> None:
    assert len({made()[0] for _ in range(50)}) == 50


@pytest.mark.parametrize(
    ("tenant", "scopes", "says"),
    [
        ("", ("chat",), "tenant"),
        ("a\nb", ("chat",), "tenant"),
        ("acme", (), "scope"),
        ("acme", ("chat", "all"), "scopes are .* not all"),
    ],
)
def test_what_cannot_be_kept_is_refused(tenant: str, scopes: tuple[str, ...], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        made(tenant, scopes)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (b"tmz_" + b"a" * 43, True),
        (b"tmz_" + b"a" * 21, False),
        (b"tmz_" + b"a" * 129, False),
        (b"tmz_" + b"a" * 42 + b"\n", False),
        (b"tmz_" + b"a" * 42 + b" ", False),
        ("tmz_" + "ä" * 43, False),
        (b"sk-" + b"a" * 43, False),
        (b"", False),
    ],
)
def test_shape_of_a_key(value: bytes | str, is_one: bool) -> None:
    assert looks_like_key(value.encode("latin-1") if isinstance(value, str) else value) is is_one


def test_every_candidate_is_compared() -> None:
    compared: list[str] = []

    class Watched(Key):
        def __getattribute__(self, name: str) -> object:
            if name == "digest":
                compared.append(object.__getattribute__(self, "id"))
            return object.__getattribute__(self, name)

    digests = [digest_of(bytes([number])) for number in range(5)]
    keys = [Watched(f"k{at}", "acme", digest, frozenset({"chat"}), 0.0) for at, digest in enumerate(digests)]
    for digest, found in ((digests[0], "k0"), (digests[4], "k4"), (digest_of(b"none"), None)):
        compared.clear()
        key = matching(digest, keys)
        assert (key.id if key is not None else None) == found
        assert compared == ["k0", "k1", "k2", "k3", "k4"]


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "now", "good"),
    [
        (None, None, 50.0, True),
        (100.0, None, 99.9, True),
        (100.0, None, 100.0, False),
        (None, 70.0, 69.0, True),
        (None, 70.0, 70.0, False),
    ],
)
def test_when_a_key_is_good(expires_at: float | None, revoked_at: float | None, now: float, good: bool) -> None:
    key = Key("k", "acme", bytes(32), frozenset({"chat"}), 0.0, expires_at, revoked_at)
    assert key.good_at(now) is good


@pytest.mark.parametrize("text", ["", "ab", "A" * 64, "g" * 64, "a" * 63, None, 5])
def test_digests_are_written_in_hexadecimal_digits(text: object) -> None:
    with pytest.raises(ConfigError, match="64 hexadecimal digits"):
        digest_from(text)


def test_a_digest_is_no_key() -> None:
    """Whoever reads the table of keys cannot come in with what stands there."""
    _, key = made()
    assert matching(digest_of(key.digest), [key]) is None
    assert not looks_like_key(key.digest.hex().encode())


def test_no_key_is_for_the_records_of_the_store() -> None:
    with pytest.raises(ConfigError, match="records of the store"):
        new_key(secrets.token_bytes, "tokenmizer.backups", ["read"], 0.0)
