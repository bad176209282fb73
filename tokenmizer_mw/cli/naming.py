"""Completes session ids on the command line from their beginning or end."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.terminal import inert
from tokenmizer_mw.store.address import without_password
from tokenmizer_mw.store.log import EventLog, pages

_PAGE: Final = 1_000
_CANDIDATES_MAX: Final = 8
_OPTIONS: Final = ("session", "calls")
"""Arguments of commands that name a session which is there already."""


def complete_session(arguments: argparse.Namespace, log: EventLog, place: str) -> None:
    """Replace the beginning or end of a session id in ``arguments`` by the whole id.

    A text that matches no session stays unchanged; the command then reports an unknown session. Raises ``CallerError``
    if several sessions match, and for ``forget --yes`` without the whole id.
    """
    if getattr(arguments, "create", False):
        return
    for option in _OPTIONS:
        given = getattr(arguments, option, None)
        if isinstance(given, str) and given:
            setattr(arguments, option, _complete_session_id(arguments, log, given, place))


def _complete_session_id(arguments: argparse.Namespace, log: EventLog, given: str, place: str) -> str:
    key = SessionKey(arguments.tenant, given)
    if not key.valid() or log.read(key, upto=1):
        return given
    ids = (info.key.id for info in pages(log, arguments.tenant, _PAGE))
    found = [id_ for id_ in ids if id_.startswith(given) or id_.endswith(given)]
    if not found:
        return given
    if len(found) > 1:
        raise CallerError(f"{given!r} names {len(found):,} sessions in {place}: {_join_candidates(found)}")
    if getattr(arguments, "yes", False):
        raise CallerError(f"{given!r} is not the whole name: with --yes, pass {found[0]!r}")
    print(f"session {inert(found[0])}", file=sys.stderr)
    return found[0]


def _join_candidates(ids: list[str]) -> str:
    shown = ", ".join(map(inert, ids[:_CANDIDATES_MAX]))
    return f"{shown} and {len(ids) - _CANDIDATES_MAX:,} more" if len(ids) > _CANDIDATES_MAX else shown


def suggest_command(arguments: argparse.Namespace, command: str) -> str:
    """Return the command line for ``command`` on the same store, to be pasted. A password in the address is left
    out."""
    words = ["tokenmizer-mw", command]
    if store := getattr(arguments, "store", None):
        words += ["--store", shlex.quote(without_password(store))]
    if config := getattr(arguments, "config", None):
        words += ["--config", shlex.quote(config)]
    return " ".join(words)
