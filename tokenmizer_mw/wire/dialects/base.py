"""Base class for dialects whose requests are JSON objects with a list of messages."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.request import Shape, read_request
from tokenmizer_mw.wire.spans import Edit, splice, without_members
from tokenmizer_mw.wire.unread import models


class JsonDialect(ABC):
    """Base class of a dialect: parses leniently, and rewrites without changing any other byte.

    A subclass describes the format of its requests with ``shape``, and how a resume block is inserted with ``cut``.
    """

    __slots__ = ()

    name: str
    shape: Shape
    linked: tuple[bytes, ...] = ()
    media_types: frozenset[bytes] = frozenset()

    @abstractmethod
    def cut(self, request: ChatRequest, keep_from: int, block: str, role: str) -> list[Edit]:
        """Return the edits that remove the messages between the prefix and ``keep_from``, and insert ``block`` there
        ("" for nothing).

        Raises ``ValueError`` when ``keep_from`` is not the index of a message after the prefix, or the transcript
        cannot be cut.
        """

    def models(self, body: bytes, path: str = "") -> tuple[str, ...]:
        """The models that an unread request may name."""
        return models(body)

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        """The request in ``body``. Raises ``MalformedRequest`` unless it is a JSON object with a list of messages."""
        return read_request(self.shape, body, known)

    def rewrite(
        self,
        request: ChatRequest,
        *,
        drop: tuple[str, ...] = (),
        keep_from: int | None = None,
        block: str = "",
        role: str = "user",
    ) -> bytes:
        """The request's bytes without the members ``drop``, and cut before message ``keep_from`` where one is given.

        System messages in what is taken out stay, behind the block. ``keep_from == request.prefix`` puts the block in
        without taking anything out. Raises ``ValueError`` as ``cut`` does.
        """
        edits = without_members(request.members, drop)
        if keep_from is not None:
            edits += self.cut(request, keep_from, block, role)
        return splice(request.text, edits).encode()
