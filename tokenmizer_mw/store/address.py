"""Store addresses as text, and where the hooks keep their files. Imports little, because a coding agent starts a
process that imports this for each event."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as a type checker takes it, without the import of typing
if TYPE_CHECKING:
    from collections.abc import Mapping


def absolute_address(address: str, folder: str) -> str:
    """Return ``address`` with the path of a SQLite file made absolute, relative to ``folder``. Addresses of other
    stores, of databases in memory, and with a path that is absolute or begins with "~/" are returned unchanged."""
    scheme, separator, rest = address.partition("://")
    path = rest.removeprefix("/")
    if not separator or scheme.lower() != "sqlite" or path == rest:
        return address
    file = path.partition("?")[0]
    if file in ("", ":memory:") or os.path.isabs(os.path.expanduser(file)):
        return address
    return f"sqlite:///{os.path.join(os.path.abspath(folder), path)}"


HOOK_DIRECTORY = "TOKENMIZER_HOOK_DIR"
"""Environment variable that names the directory for the files of the hooks, in place of the system's own."""


def hook_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the directories in which hooks may keep their files, the preferred one first. They need not exist.

    Each is named "tokenmizer-mw-" and the user's numeric id. They are in the directories that ``HOOK_DIRECTORY``,
    XDG_RUNTIME_DIR and TMPDIR name, as far as these variables are set in ``environ``, and last in /tmp. Returns ``[]``
    on Windows, where users have no numeric ids.
    """
    if not hasattr(os, "getuid"):
        return []
    bases = [environ[name] for name in (HOOK_DIRECTORY, "XDG_RUNTIME_DIR", "TMPDIR") if environ.get(name)]
    return [os.path.join(base, f"tokenmizer-mw-{os.getuid()}") for base in (*bases, "/tmp")]


def quote_address(address: str) -> str:
    """Return an address for an error message: in quotes, shortened, and without what may be a password. The address may
    be invalid. What stands between the user and the "@" is left out, and so are all options behind a "?".
    A text without "://" that mentions a password gives "'...'"."""
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
