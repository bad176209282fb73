"""Detection of chat routes that the middleware has no dialect for: the log says once that they are not remembered.

Only the path and the content type are looked at, never the body.
"""

from __future__ import annotations

import logging
from typing import Final

from tokenmizer_mw.runtime.terminal import one_line
from tokenmizer_mw.wire.headers import Headers, header

PATHS_MAX: Final = 16
"""Distinct paths that are logged in the life of an application; later ones are not."""

_PATH_SHOWN: Final = 120
_CHAT_WORDS: Final = {
    *("ask", "assistant", "chat", "chats", "completion", "completions", "conversation", "conversations", "generate"),
    *("message", "messages", "responses"),
}
"""Last segments of paths, in lower case, that chats are usually served under."""

_log = logging.getLogger("tokenmizer_mw")


class UnknownRoutes:
    """Logs each path that looks like a chat route without a dialect, once, up to ``PATHS_MAX`` paths."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def report_once(self, path: str, headers: Headers) -> None:
        """Log a warning if a POST to ``path``, which no route matches, looks like a chat and is new. Headers that can
        be read only once are not read.
        """
        last = path.rstrip("/").rpartition("/")[2].lower()
        if last not in _CHAT_WORDS or len(self._logged) >= PATHS_MAX or path in self._logged or not _is_json(headers):
            return
        self._logged.add(path)
        _log.warning(
            "POST %s looks like a chat and is not remembered: no route of the middleware ends so; if it is a chat, name"
            " it in routes=, with a CustomChat where its JSON has a shape of its own (docs/not-remembered.md)",
            one_line(path)[:_PATH_SHOWN],
        )


def _is_json(headers: Headers) -> bool:
    if not isinstance(headers, list | tuple):
        return False
    media_type = (header(headers, b"content-type") or b"").partition(b";")[0].strip().lower()
    return media_type == b"application/json" or media_type.endswith(b"+json")
