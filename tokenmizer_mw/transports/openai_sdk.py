"""OpenAI clients whose calls are recorded in a session memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import httpx2
import openai

from tokenmizer_mw.transports.transport import AsyncTransport, Transport

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

_LIMITS: Final = openai.DEFAULT_CONNECTION_LIMITS


def openai_client(memory: SessionMemory, **options: Any) -> openai.OpenAI:
    """Return an ``openai.OpenAI`` client whose chat calls are recorded in ``memory``. It sends through a ``Transport``;
    see there which calls are recorded, and what is changed in their requests.

    ``options`` are those of ``openai.OpenAI``, except ``http_client``, which raises ``TypeError``. Closing the client
    leaves the memory open.
    """
    inner = httpx2.HTTPTransport(limits=_LIMITS)
    return openai.OpenAI(http_client=openai.DefaultHttpx2Client(transport=Transport(memory, inner)), **options)


def async_openai_client(memory: SessionMemory, **options: Any) -> openai.AsyncOpenAI:
    """Return an ``openai.AsyncOpenAI`` client whose chat calls are recorded in ``memory``. It sends through an
    ``AsyncTransport``; see there which calls are recorded, and what is changed in their requests.

    ``options`` are those of ``openai.AsyncOpenAI``, except ``http_client``, which raises ``TypeError``. Closing the
    client leaves the memory open.
    """
    inner = httpx2.AsyncHTTPTransport(limits=_LIMITS)
    client = openai.DefaultAsyncHttpx2Client(transport=AsyncTransport(memory, inner))
    return openai.AsyncOpenAI(http_client=client, **options)
