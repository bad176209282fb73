"""A compaction requested through the provider's API: what it replaces, from where on messages stay unchanged, which
user message is still unanswered, and its encrypted form; also compactions that a provider made.

Clients store an encrypted compaction and send it back; only this installation can make and read it. The session id, the
checkpoint, the kept text and the user's unanswered message are encrypted and authenticated (AES-GCM) with a key derived
from the store's secret. The tenant and the format version are authenticated, too, but not sent. The nonce is derived
from the content: the same compaction always gives the same text. A request that contains a compaction is reduced to the
messages after the newest one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import re2

from tokenmizer_mw.errors import ConfigError, PeerError
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.wire.dialect import ChatRequest

OPEN: Final = "The user's newest message, not answered until then:"
"""The line that stands between a resume block and the user's unanswered message after it."""

_LEFT_OUT: Final = "\n[...]\n"
_CHARACTERS: Final = 2
"""Of the user's unanswered message at most this many characters are kept for each token of the block's budget, which is
about half as much text as the block has."""


@dataclass(frozen=True, slots=True)
class CompactionWish:
    """A compaction that a request asks for.

    - ``above``: compact only if the request, with ``held``, takes more tokens than this, or than the session's own
      threshold for cuts if that is lower. The newest turn or step then stays. ``None``: compact everything, at once.
    - ``held``: text of the previous compaction, "" for none; it counts to the size of the request.
    - ``open``: the user's unanswered message in that compaction, "" for none. It is kept if the request has no newer
      message of the user.
    - ``query``: what the client wants to be kept: facts that match it come directly after the rules. "" for nothing
      special.
    - ``beside``: true if somebody else's summary replaces the transcript and this one is added to it. The block then
      has only rules, decisions, what was rejected, open and finished work, errors and files.
    """

    above: int | None = None
    held: str = ""
    open: str = ""
    query: str = ""
    beside: bool = False


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """A compaction that was made.

    - ``checkpoint``: id of the checkpoint of the compaction.
    - ``block``: the resume block; ``open``: the user's message that is not answered yet, "" for none.
    - ``text``: ``block`` and ``open``, for later calls; ``now``: the text for this call, without ``open`` if the kept
      messages contain it.
    - ``keep_from``: index of the first message of this call that stays unchanged.
    - ``tokens``: size of the messages that the compaction replaces.
    """

    checkpoint: str
    block: str
    text: str
    open: str
    now: str
    keep_from: int
    tokens: int


def keep_from(request: ChatRequest, counts: Sequence[int], room: float) -> int | None:
    """Return the index of the first message that a compaction keeps: the start of the newest turn. If that turn exceeds
    ``room`` tokens, its newest step (a tool call and its results) is kept. Returns ``None`` if no message could be
    removed, if the messages before both must stay (``ChatRequest.bound``), or if that step is too long, too.

    ``counts``: tokens of each message.
    """
    places = range(request.prefix + 1, len(counts))
    opener = next((place for place in reversed(places) if request.messages[place].opens_turn), None)
    step, first = _newest_step(request), max(request.prefix + 1, request.bound)
    for place in (opener, step):
        if place is not None and place >= first and sum(counts[place:]) <= room:
            return place
    return None


def _newest_step(request: ChatRequest) -> int | None:
    """Return the index of the message in which the model called the tools whose results end the request; ``None`` if it
    ends with something else."""
    roles = request.messages.roles
    if not roles or not request.messages[len(roles) - 1].tool_results:
        return None
    return next((place for place in reversed(range(len(roles))) if roles[place] is Role.ASSISTANT), None)


def open_words(request: ChatRequest, budget: int, before: str) -> str:
    """Return the user's newest message if the model has not finished answering it; else "". Of a message of more than
    two characters per token of ``budget``, only the beginning and the end are returned. ``before``: the unanswered
    message of the previous compaction, which is returned if the request has no newer message of the user."""
    spoken = request.messages.without_system()
    if not spoken or (spoken.roles[-1] is Role.ASSISTANT and not spoken[len(spoken) - 1].tool_calls):
        return ""
    newest = next((spoken[place] for place in reversed(range(len(spoken))) if spoken[place].opens_turn), None)
    return _shorten(before if newest is None else newest.text.strip(), budget * _CHARACTERS)


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = (most - len(_LEFT_OUT)) // 2
    return text[:half] + _LEFT_OUT + text[-half:]


def format_compaction(block: str, words: str) -> str:
    """Return the text of a compaction: the resume block, followed by the user's unanswered message ``words``
    under a heading. Either may be ""."""
    return "\n\n".join(filter(None, (block, f"{OPEN}\n{words}" if words else "")))


_DIGITS: Final = 9
"""Number of digits in the checkpoint id of a provider's compaction, such as "native-012345678"."""


@dataclass(frozen=True, slots=True)
class Native:
    """The newest compaction in a request, if the provider made it and not this package.

    ``place``: index of the message (Anthropic) or ``input`` item (OpenAI Responses) of the request that contains it.
    ``checkpoint``: id of the checkpoint with the resume block that is added after it. The id is derived from the
    compaction's content, so that it is the same in every request with that compaction.
    """

    place: int
    checkpoint: str


def native_at(place: int, *content: object) -> Native:
    """Return the description of a provider's compaction at index ``place``. Its checkpoint id is derived from
    ``content``."""
    text = json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(text).digest()[:8], "big") % 10**_DIGITS
    return Native(place, f"native-{number:0{_DIGITS}d}")


MARK: Final = "tokenmizer-compaction."
"""The text with which every encrypted compaction (seal) of this package begins, in any format version."""

_VERSION: Final = f"{MARK}1."
_NONCE: Final = 12
SEALED_MAX: Final = 4 * 1024 * 1024
"""Longest seal in characters, and largest decompressed content of one in bytes."""


_SEAL = re2.compile(r"tokenmizer-compaction\.[0-9]+\.[A-Za-z0-9_-]+")


class SealBroken(PeerError):
    """Raised for a compaction that a client sent back and that this installation cannot decrypt. The message gives the
    reason, for the client."""


@dataclass(frozen=True, slots=True)
class SealedContent:
    """The content of a compaction.

    - ``session``, ``checkpoint``: the session, and its checkpoint that the compaction made.
    - ``text``: everything that a model gets of the compaction.
    - ``open``: the user's message that was not answered yet, "" for none.
    - ``tokens``: size of the messages that the compaction replaced.
    """

    session: str
    checkpoint: str
    text: str
    open: str = ""
    tokens: int = 0


def is_ours(sealed: object) -> bool:
    """Whether ``sealed`` has the form of a compaction made by this package, of any version."""
    return isinstance(sealed, str) and sealed.startswith(MARK)


def find_seals(text: str) -> list[str]:
    """Return the encrypted compactions of this package in a text, such as a stored conversation."""
    return [found.group() for found in _SEAL.finditer(text)]


class Seal:
    """Encrypts and decrypts compactions with the store's ``secret``. Raises ``ConfigError`` if the encryption package
    is missing."""

    def __init__(self, secret: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # an extra: the proxy brings it
        except ImportError:
            raise ConfigError(f"compaction needs cryptography: {install_hint('proxy')}") from None
        self._cipher = AESGCM(_derive_key(secret, b"compaction key"))
        self._nonces = _derive_key(secret, b"compaction nonce")

    def close(self, tenant: str, content: SealedContent) -> str:
        """Compress and encrypt ``content`` for ``tenant``, as URL-safe text that the client stores and sends back."""
        bound = _encode_tenant(tenant)
        plain = zlib.compress(json.dumps(asdict(content), ensure_ascii=True).encode("ascii"), 6)
        nonce = hmac.new(self._nonces, bound + b"\0" + plain, hashlib.sha256).digest()[:_NONCE]
        sealed = nonce + self._cipher.encrypt(nonce, plain, bound)
        return _VERSION + urlsafe_b64encode(sealed).decode("ascii").rstrip("=")

    def open(self, tenant: str, sealed: str) -> SealedContent:
        """Decrypt ``sealed``, a text that ``close`` returned for ``tenant``. Raises ``SealBroken`` for any other
        text."""
        from cryptography.exceptions import InvalidTag  # the package is there: see above

        if not sealed.startswith(_VERSION):
            raise SealBroken("it was made by another version of this server")
        if len(sealed) > SEALED_MAX:
            raise SealBroken("it is too long")
        if not sealed.isascii() or _SEAL.fullmatch(sealed) is None:
            raise SealBroken("it was changed")
        try:
            packed = urlsafe_b64decode(sealed[len(_VERSION) :] + "=" * (-(len(sealed) - len(_VERSION)) % 4))
            plain = self._cipher.decrypt(packed[:_NONCE], packed[_NONCE:], _encode_tenant(tenant))
        except (ValueError, InvalidTag):
            raise SealBroken("it was changed, or made for another tenant or by another server") from None
        return SealedContent(**json.loads(_inflate(plain)))


def _derive_key(secret: bytes, purpose: bytes) -> bytes:
    return hmac.new(secret, purpose, hashlib.sha256).digest()


def _encode_tenant(tenant: str) -> bytes:
    return json.dumps([_VERSION, tenant]).encode("ascii")


def _inflate(plain: bytes) -> bytes:
    inflating = zlib.decompressobj()
    found = inflating.decompress(plain, SEALED_MAX)
    if inflating.unconsumed_tail:
        raise SealBroken("it is too long")
    return found


CONTINUE: Final = "Continue."
"""The user message that is sent if nothing follows a compaction and no message of the user is unanswered."""


@dataclass(frozen=True, slots=True)
class ReducedRequest:
    """A request reduced to what follows its newest compaction.

    ``body``: the request body without the messages that the compaction replaces, and without the fields that ask for
    compaction. ``content``: the unsealed compaction; ``None`` if the request contains no compaction of this server.
    ``emptied``: true if ``content`` is ``None`` and items were removed: compaction blocks without content (Anthropic),
    or compaction triggers (OpenAI Responses). ``bare``: true if no message followed the compaction; the transcript then
    ends with the user's unanswered message, repeated, or with ``CONTINUE`` if there is none.
    """

    body: Mapping[str, Any]
    content: SealedContent | None = None
    emptied: bool = False
    bare: bool = False
