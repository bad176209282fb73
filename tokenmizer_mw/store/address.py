"""Store addresses as text. Imports little, because a coding agent starts a process that imports this for each event."""

from __future__ import annotations

import os


def absolute_address(address: str, folder: str) -> str:
    """Return ``address`` with the path of a SQLite file made absolute, relative to ``folder``. Other addresses, and
    those of databases in memory, are returned unchanged."""
    scheme, separator, rest = address.partition("://")
    path = rest.removeprefix("/")
    if not separator or scheme.lower() != "sqlite" or path == rest:
        return address
    file = path.partition("?")[0]
    if file in ("", ":memory:") or os.path.isabs(os.path.expanduser(file)):
        return address
    return f"sqlite:///{os.path.join(os.path.abspath(folder), path)}"


def quote_address(address: str) -> str:
    """Return an address that may be invalid in quotes and shortened, without what may be a password: whatever stands
    before the host beside the user, and all options."""
    scheme, separator, rest = address.partition("://")
    place = (rest if separator else scheme).partition("?")[0]
    user, at, host = place.rpartition("@")
    if not separator and "password" in address.lower():
        return "'...'"
    shown = f"{scheme}{separator}" if separator else ""
    return repr(f"{shown}{user.partition(':')[0]}{at}{host}"[:_QUOTED_MAX])


_QUOTED_MAX = 120  # without typing, which costs the client of the hooks more than all of this


def without_password(address: str) -> str:
    """Return a PostgreSQL address without the passwords in it; other addresses contain none and are returned
    unchanged."""
    from urllib.parse import unquote_plus

    scheme, separator, rest = address.partition("://")
    if not separator or not scheme.lower().startswith("postgres"):
        return address
    place, mark, query = rest.partition("?")
    user, at, host = place.rpartition("@")
    secret = ("password", "sslpassword")
    options = [option for option in query.split("&") if unquote_plus(option.partition("=")[0]) not in secret]
    return f"{scheme}://{user.partition(':')[0]}{at}{host}" + (mark and "&".join(options) and f"?{'&'.join(options)}")
