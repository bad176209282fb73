"""The command ``cache``: shows the content of the response cache, and clears it."""

from __future__ import annotations

import argparse

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.terminal import show, show_json

from .opening import Store

_OFF = "no cache that this command could reach: set cache and cache_url (memory:// lies in the server's process)"


def cache(arguments: argparse.Namespace, store: Store) -> None:
    """Print number and size of a tenant's cached responses, or delete them.

    Raises ``ConfigError`` if the cache is only in the memory of a server, and ``StoreError``.
    """
    answers = store.memory.service.answers
    if answers is None or answers.settings.cache_url == "memory://":
        raise ConfigError(_OFF)
    if arguments.purge:
        gone = answers.purge(arguments.tenant, arguments.session)
        if arguments.json:
            show_json({"purged": gone})
        else:
            show(f"{gone:,} answers are forgotten; processes that hold the cache notice at once")
        return
    held = answers.holdings(arguments.tenant)
    if arguments.json:
        show_json({"tenant": arguments.tenant, "answers": held.entries, "bytes": held.bytes})
    else:
        most = answers.settings.cache_bytes
        show(f"{held.entries:,} answers, {held.bytes:,} bytes, of at most {most:,} of all tenants")
