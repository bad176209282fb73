"""The command ``keys``: creates, lists and revokes the API keys with which clients log in to a server."""

from __future__ import annotations

import argparse
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from tokenmizer_mw.errors import CallerError, ConfigError
from tokenmizer_mw.runtime.terminal import show, show_json, show_result
from tokenmizer_mw.server.access.caller import SCOPES
from tokenmizer_mw.server.access.key_store import KeyStore, MemoryKeys
from tokenmizer_mw.server.access.keyring import open_keys
from tokenmizer_mw.server.access.keys import Key, new_key
from tokenmizer_mw.store.choosing import resolve_store
from tokenmizer_mw.store.open import find_missing

_SPAN: Final = re.compile(r"([1-9][0-9]{0,5})([mhdwy])")
_SECONDS: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
_SHOWN_ONCE: Final = "this is the only time that the key is shown: what is kept is its SHA-256"


def run_keys(arguments: argparse.Namespace) -> int:
    """Run the command ``keys create``, ``keys list`` or ``keys revoke``, which ``arguments.action`` selects. Returns 0.
    Raises ``CallerError`` for an unknown key id or an invalid ``--expires``, and ``ConfigError`` if a key would be
    added to a store in memory."""
    _ACTIONS[arguments.action](arguments)
    return 0


def _create(arguments: argparse.Namespace) -> None:
    now = time.time()
    scopes = {name.strip() for name in arguments.scopes.split(",") if name.strip()}
    written, key = new_key(secrets.token_bytes, arguments.tenant, scopes, now, _end(arguments.expires, now))
    if not arguments.entry:
        with _open_store(arguments, writes=True) as store:
            if isinstance(store, MemoryKeys):
                raise ConfigError("a store in memory ends with this command: use --entry, or another store")
            store.add(key)
    if arguments.json:
        show_json({"key": written, **_plain(key), **({"sha256": key.digest.hex()} if arguments.entry else {})})
        return
    show(written)
    if arguments.entry:
        show(_entry(key))
    print(_SHOWN_ONCE, file=sys.stderr)


def _list(arguments: argparse.Namespace) -> None:
    with _open_store(arguments) as store:
        keys = [key for key in store.all_keys() if arguments.tenant in (None, key.tenant)]
    if arguments.json:
        show_json([_plain(key) for key in keys])
        return
    if not keys:
        print("no keys", file=sys.stderr)
    now = time.time()
    width = max((len(key.tenant) for key in keys), default=0)
    for key in keys:
        scopes = ",".join(name for name in SCOPES if name in key.scopes)
        show(f"{key.id:<12}  {key.tenant:<{width}}  {_day(key.created_at)}  {_state(key, now):<18}  {scopes}")


def _revoke(arguments: argparse.Namespace) -> None:
    with _open_store(arguments) as store:
        if not store.revoke(arguments.id, time.time()):
            raise CallerError(f"no key has the id {arguments.id!r}")
    show_result(
        arguments.json,
        {"id": arguments.id, "revoked": True},
        f"{arguments.id} is revoked; running servers notice within their refresh_seconds",
    )


@contextmanager
def _open_store(arguments: argparse.Namespace, *, writes: bool = False) -> Iterator[KeyStore]:
    """Open the key store that ``arguments`` name, and close it at the end of the ``with`` block. Unless ``writes`` is
    true, neither a file nor a table is created: a missing store is treated as one without keys."""
    address = _address(arguments)
    is_missing = not writes and find_missing(address) != ""
    store = open_keys("memory://" if is_missing else address)
    try:
        yield store
    finally:
        store.close()


def _address(arguments: argparse.Namespace) -> str:
    named = arguments.store or (_configured_store(arguments.config) if arguments.config else "")
    return resolve_store(named)


def _configured_store(path: str) -> str:
    from tokenmizer_mw.server.proxy.configuration import Configuration

    return Configuration.load(path).store


def _end(given: str | None, now: float) -> float | None:
    """Parse when a key expires into seconds since the epoch. ``given`` is a span from ``now`` on, such as "90d" or
    "12h", or a date such as "2027-01-31" (UTC unless it names a zone). ``None``, which means that the key never
    expires, gives ``None``. Raises ``CallerError`` for any other text and for a time in the past."""
    if given is None:
        return None
    span = _SPAN.fullmatch(given)
    try:
        end = now + int(span[1]) * _SECONDS[span[2]] if span else _utc(datetime.fromisoformat(given)).timestamp()
        _day(end)
    except (ValueError, OverflowError, OSError):
        raise CallerError(f"--expires is such as 90d, 12h, 8w, 1y or 2027-01-31, not {given!r}") from None
    if end <= now:
        raise CallerError(f"--expires {given} lies in the past")
    return end


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _plain(key: Key) -> dict[str, object]:
    times = {"created_at": key.created_at, "expires_at": key.expires_at, "revoked_at": key.revoked_at}
    return {"id": key.id, "tenant": key.tenant, "scopes": sorted(key.scopes), **times}


def _entry(key: Key) -> str:
    """Return the key as a YAML list with one entry, to be pasted into the list ``access.keys`` of a configuration. It
    has the SHA-256 of the key, not the key itself."""
    from yaml import safe_dump

    entry: dict[str, object] = {"id": key.id, "tenant": key.tenant, "sha256": key.digest.hex()}
    entry["scopes"] = sorted(key.scopes)
    if key.expires_at is not None:
        entry["expires"] = datetime.fromtimestamp(key.expires_at, UTC)
    return str(safe_dump([entry], sort_keys=False, default_flow_style=None, width=1_000)).rstrip()


def _state(key: Key, now: float) -> str:
    if key.revoked_at is not None:
        return f"revoked {_day(key.revoked_at)}"
    if key.expires_at is None:
        return "does not end"
    return f"{'ended' if key.expires_at <= now else 'ends'} {_day(key.expires_at)}"


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


_ACTIONS: Final[dict[str, Callable[[argparse.Namespace], None]]] = {"create": _create, "list": _list, "revoke": _revoke}
