"""Events of agent hosts: how they are read, which project they belong to, and how hosts take an answer."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.model.session import SESSION_ID_MAX

SEPARATOR: Final = "/"
"""Between the name of a project and that of a session, where the settings name nothing else."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of an agent host.

    ``name``: in lower case; ``session``: the host's session id; ``folder``: the working directory; ``transcript``: path
    of the host's transcript, "" for none.
    """

    name: str
    host: str
    session: str
    folder: str
    transcript: str
    source: str
    prompt: str
    reply: str


def read_event(name: str, host: str, payload: bytes, *, project: str = "", folder: str = "") -> Event:
    """Parse an event. Members that are missing or not strings are "".

    ``project``: the folder that the host calls its project; ``folder``: the folder in which the hook was started.
    Raises ``ValueError`` if the payload is not a JSON object.
    """
    values = json.loads(payload or b"{}")
    if not isinstance(values, dict):
        raise ValueError("the event is not a JSON object")

    def text(*names: str) -> str:
        return next((value for name in names if isinstance(value := values.get(name), str) and value), "")

    return Event(
        name,
        host,
        text("session_id", "sessionId", "conversation_id"),
        project or text("cwd") or folder,
        text("transcript_path", "transcriptPath"),
        text("source"),
        text("prompt"),
        text("last_assistant_message"),
    )


def root_of(folder: str) -> str:
    """Return the project of ``folder``: the nearest parent with a repository, else ``folder`` itself."""
    start = Path(os.path.abspath(folder or "."))
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return str(place)
    return str(start)


_NAME_MAX: Final = 60


def project_named(folder: str) -> str:
    """Return a project name for the directory ``folder`` (an absolute path): its last component, and digits that
    distinguish it from other directories of the same name. The name is printable and contains no path separator.

    >>> project_named("/home/ada/shop")
    'shop-01221a02'
    """
    name = folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = "".join(char if char.isprintable() and char not in "/: " else "-" for char in name)
    mark = hashlib.blake2b(folder.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{plain[:_NAME_MAX] or 'root'}-{mark}"


def name_session(folder: str, session: str, separator: str = "") -> str:
    """Return the id under which an agent's session that was started in ``folder`` is stored: its project's name and the
    agent's own id. ``separator``: that of the settings, "" for "/"."""
    return f"{project_named(root_of(folder))}{separator or SEPARATOR}{session}"[-SESSION_ID_MAX:]


def add_to_context(event: Event, text: str) -> str:
    """Return the answer that adds ``text`` to the context of the model."""
    values: dict[str, Any] = {"additional_context": text}
    if event.host not in _FLAT:
        values = {"hookSpecificOutput": {"hookEventName": _NAMES[event.name], "additionalContext": text}}
    return json.dumps(values)


_NAMES: Final = {"sessionstart": "SessionStart", "userpromptsubmit": "UserPromptSubmit"}

_FLAT: Final = frozenset({"cursor"})
"""Hosts that take what is added to the context in a field of its own."""
