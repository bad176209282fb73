"""Events of coding agents (hosts): how they are parsed, which project they belong to, and how an answer to the host is
written."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.model.session import SESSION_ID_MAX

SEPARATOR: Final = "/"
"""Text between the name of a project and that of a session, if the setting ``project_separator`` is empty."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a coding agent (the host). Each field is "" if the host does not send it.

    - ``name``: in lower case, such as "sessionstart"; ``host``: such as "claude-code".
    - ``session``: the host's session id; ``folder``: the project's folder, else the working directory.
    - ``transcript``: path of the file in which the host writes the session's messages.
    - ``source``: why a session starts, such as "resume" or "compact".
    - ``prompt``: the user's message; ``reply``: the model's last message.
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
    """Parse the JSON of an event. Members that are missing or not strings are "".

    ``project``: the folder that the host calls its project, "" for none; ``folder``: the folder in which the hook was
    started. Raises ``ValueError`` if the payload is not a JSON object, or is nested too deeply.
    """
    try:
        values = json.loads(payload or b"{}")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
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
    """Return the folder of the project that ``folder`` ("" for the working directory) belongs to, as an absolute path:
    ``folder`` or the nearest folder above it that contains ``.git``; ``folder`` if there is none."""
    start = Path(os.path.abspath(folder or "."))
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return str(place)
    return str(start)


_NAME_MAX: Final = 60


def project_named(folder: str) -> str:
    """Return a project name for the directory ``folder`` (an absolute path): its last component, and a hash of its path
    to distinguish it from other directories of the same name. The name is printable and contains no path separator.

    >>> project_named("/home/ada/shop")
    'shop-01221a02'
    """
    name = folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = "".join(char if char.isprintable() and char not in "/: " else "-" for char in name)
    mark = hashlib.blake2b(folder.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{plain[:_NAME_MAX] or 'root'}-{mark}"


def name_session(folder: str, session: str, separator: str = "") -> str:
    """Return the id under which this package stores an agent's session, such as "shop-01221a02/<session>": the name of
    the project that ``folder`` belongs to, the separator, and the host's id ``session``. ``separator``: the setting
    ``project_separator``, "" for "/". If the id is too long, only its last ``SESSION_ID_MAX`` characters are kept."""
    return f"{project_named(root_of(folder))}{separator or SEPARATOR}{session}"[-SESSION_ID_MAX:]


def add_to_context(event: Event, text: str) -> str:
    """Return the answer to a host, in its own JSON format, that makes it add ``text`` to the context of the model.
    ``event``: the start of a session or a prompt."""
    values: dict[str, Any] = {"additional_context": text}
    if event.host not in _FLAT:
        values = {"hookSpecificOutput": {"hookEventName": _NAMES[event.name], "additionalContext": text}}
    return json.dumps(values)


_NAMES: Final = {"sessionstart": "SessionStart", "userpromptsubmit": "UserPromptSubmit"}

_FLAT: Final = frozenset({"cursor"})
"""Hosts that take the text for the context as a top-level member of the answer."""
