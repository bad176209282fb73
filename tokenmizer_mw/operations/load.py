"""Load on a server of one's own: many chats at once, timed, and a look at whether all that was acknowledged is kept."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from tokenmizer_mw.errors import CallerError, ConfigError
from tokenmizer_mw.model.event import MessageRecorded
from tokenmizer_mw.model.message import Outcome, Role
from tokenmizer_mw.wire.dialect import Dialect
from tokenmizer_mw.wire.dialects import ROUTES

from .exports import read_export

if TYPE_CHECKING:
    import httpx2

SESSIONS_MAX: Final = 10_000
TURNS_MAX: Final = 500
CONCURRENCY_MAX: Final = 512
SECONDS_MAX: Final = 3_600.0

_REPLY_MAX: Final = 8 * 1024 * 1024
_CALL_SECONDS: Final = 120.0

Said = list[tuple[str, str]]
"""A conversation: roles and texts."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """How a dialect asks: where, with which body, and in which header it puts a key."""

    path: str
    body: Callable[[str, Said, bool], dict[str, Any]]
    key: Callable[[str], dict[str, str]]
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        """What reads the answers."""
        return next(found for ending, found in ROUTES.items() if self.path.endswith(ending))


def _messages(said: Said) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in said]


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


SPOKEN: Final[Mapping[str, Spoken]] = {
    "openai_chat": Spoken(
        "/v1/chat/completions",
        lambda model, said, stream: {"model": model, "stream": stream, "messages": _messages(said)},
        _bearer,
    ),
    "openai_responses": Spoken(
        "/v1/responses",
        lambda model, said, stream: {"model": model, "stream": stream, "store": False, "input": _messages(said)},
        _bearer,
    ),
    "anthropic": Spoken(
        "/v1/messages",
        lambda model, said, stream: {
            "model": model,
            "max_tokens": 256,
            "stream": stream,
            "messages": _messages(said),
        },
        lambda key: {"x-api-key": key},
        {"anthropic-version": "2023-06-01"},
    ),
}
"""The dialects that load can be made in."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of the server at ``url``: ``sessions`` of ``turns`` each, ``concurrency`` of them at once, for at
    most ``seconds`` (calls that are under way then still end). ``key``: of the server, "" for none. ``erase``: the
    sessions go when all is told. Raises ``CallerError`` for what is out of bounds."""

    url: str
    model: str
    dialect: str = "openai_chat"
    sessions: int = 20
    turns: int = 5
    concurrency: int = 8
    seconds: float = 60.0
    stream: bool = True
    key: str = ""
    session_header: str = "x-session-id"
    erase: bool = False

    def __post_init__(self) -> None:
        if self.dialect not in SPOKEN:
            raise CallerError(f"dialect is one of {', '.join(SPOKEN)}, not {self.dialect}")
        most = {"sessions": SESSIONS_MAX, "turns": TURNS_MAX, "concurrency": CONCURRENCY_MAX}
        for name, bound in most.items():
            if not 1 <= getattr(self, name) <= bound:
                raise CallerError(f"{name} is a whole number from 1 to {bound}, not {getattr(self, name)}")
        if not 0 < self.seconds <= SECONDS_MAX:
            raise CallerError(f"seconds is a number up to {SECONDS_MAX:g}, not {self.seconds:g}")

    @property
    def spoken(self) -> Spoken:
        """How it is asked."""
        return SPOKEN[self.dialect]


@dataclass(slots=True)
class Report:
    """What came of it. ``outcomes``: requests by status, or by what became of them; ``first_bytes``: seconds to the
    first byte of each that was answered; ``lost``: acknowledged turns that the memory does not hold, in their
    words; ``unchecked``: why it could not be looked at ("" when it was)."""

    outcomes: Counter[str] = field(default_factory=Counter)
    first_bytes: list[float] = field(default_factory=list)
    seconds: float = 0.0
    received: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    unchecked: str = ""
    run: str = ""

    @property
    def requests(self) -> int:
        """All that were made."""
        return sum(self.outcomes.values())

    @property
    def holds(self) -> bool:
        """Whether something was acknowledged, and all of that is kept."""
        return bool(self.acknowledged) and not self.lost and not self.unchecked

    def first_byte(self, share: float) -> float | None:
        """Seconds within which the first byte of so large a ``share`` of the answers came; ``None`` without any."""
        times = sorted(self.first_bytes)
        return times[min(len(times) - 1, int(share * len(times)))] if times else None


@dataclass(slots=True)
class _Session:
    id: str
    said: Said = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)


class _Load:
    """One run."""

    def __init__(self, plan: Plan, client: httpx2.AsyncClient) -> None:
        self._plan = plan
        self._client = client
        self._dialect = plan.spoken.dialect
        self._headers = {**plan.spoken.headers, **(plan.spoken.key(plan.key) if plan.key else {})}
        self.report = Report(run=f"load-{secrets.token_hex(4)}")

    async def run(self) -> Report:
        """Make the calls, then look at what is kept."""
        plan, report = self._plan, self.report
        sessions = [_Session(f"{report.run}-{number}") for number in range(1, plan.sessions + 1)]
        begun = time.monotonic()
        waiting = iter(sessions)
        await _together(plan.concurrency, lambda: self._talk(waiting, begun + plan.seconds))
        report.seconds = time.monotonic() - begun
        asked = [session for session in sessions if session.acknowledged]
        checked = iter(asked)
        await _together(plan.concurrency, lambda: self._look(checked))
        if plan.erase:
            erased = iter(asked)
            await _together(plan.concurrency, lambda: self._erase(erased))
        return report

    async def _talk(self, sessions: Iterator[_Session], until: float) -> None:
        for session in sessions:
            for turn in range(1, self._plan.turns + 1):
                if time.monotonic() >= until:
                    return
                await self._turn(session, turn)

    async def _turn(self, session: _Session, turn: int) -> None:
        """One call. What was not answered is not said again."""
        plan = self._plan
        text = f"Turn {turn} of {session.id}: keep the figure {secrets.randbelow(10**6)} for later."
        session.said.append(("user", text))
        body = plan.spoken.body(plan.model, session.said, plan.stream)
        status, reply = await self._call(body, session.id)
        self.report.outcomes[status] += 1
        if reply is None:
            session.said.pop()
            return
        self.report.acknowledged += 1
        session.acknowledged.append(text)
        session.said.append(("assistant", reply))

    async def _call(self, body: dict[str, Any], session: str) -> tuple[str, str | None]:
        """What became of a call, and the reply's text where all of it came."""
        import httpx2

        plan, begun, size = self._plan, time.monotonic(), 0
        pieces: list[bytes] = []
        headers = {**self._headers, plan.session_header: session}
        try:
            async with self._client.stream("POST", plan.spoken.path, json=body, headers=headers) as response:
                async for piece in response.aiter_bytes():
                    if not pieces and piece:
                        self.report.first_bytes.append(time.monotonic() - begun)
                    pieces.append(piece)
                    size += len(piece)
                    if size > _REPLY_MAX:
                        return "too long", None
        except httpx2.HTTPError as error:
            return _told(error), None
        finally:
            self.report.received += size
        if response.status_code != 200:
            return str(response.status_code), None
        reply = self._dialect.collect(b"".join(pieces), stream=plan.stream)
        if reply.outcome is not Outcome.COMPLETE or reply.message is None:
            return f"200, {reply.outcome.value}", None
        return "200", reply.message.text

    async def _look(self, sessions: Iterator[_Session]) -> None:
        """Compare what was acknowledged with the exports of the sessions."""
        import httpx2

        for session in sessions:
            try:
                answer = await self._client.get(f"{_place(session.id)}/export", headers=self._headers)
            except httpx2.HTTPError as error:
                self.report.unchecked = f"the REST API does not answer: {_told(error)}"
                return
            if answer.status_code == 200:
                self.report.lost += _missing(session.acknowledged, answer.text)
            elif answer.status_code == 404:
                self.report.lost += session.acknowledged
            else:
                self.report.unchecked = f"the REST API answers {answer.status_code}"
                return

    async def _erase(self, sessions: Iterator[_Session]) -> None:
        import httpx2

        for session in sessions:
            try:
                await self._client.delete(_place(session.id), headers=self._headers)
            except httpx2.HTTPError:
                return


def _place(session: str) -> str:
    return f"/api/sessions/{quote(session, safe='')}"


def _told(error: httpx2.HTTPError) -> str:
    import httpx2

    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "not reached"
    return "no answer in time" if isinstance(error, httpx2.TimeoutException) else "broke off"


def _missing(acknowledged: Sequence[str], export: str) -> list[str]:
    """The turns of which the export lacks the user's words, or a reply behind them."""
    lines = [(number, json.loads(line)) for number, line in enumerate(export.splitlines(), 1) if line]
    told = [one.event.message for one in read_export(lines).events if isinstance(one.event, MessageRecorded)]
    pairs = pairwise([(message.role, message.text) for message in told])
    answered = {text for (role, text), (after, _) in pairs if (role, after) == (Role.USER, Role.ASSISTANT)}
    return [text for text in acknowledged if text not in answered]


async def _together(count: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(work())


async def load(plan: Plan) -> Report:
    """Put the load of ``plan`` on its server. What the server does wrong is in the report; raises ``ConfigError`` where
    the package httpx2 is missing (extra ``proxy``)."""
    try:
        import httpx2
    except ImportError:
        raise ConfigError("load needs the extra proxy: pip install 'tokenmizer-mw[proxy]'") from None
    limits = httpx2.Limits(max_connections=plan.concurrency, max_keepalive_connections=plan.concurrency)
    headers = {"accept-encoding": "identity"}
    async with httpx2.AsyncClient(
        base_url=plan.url, timeout=_CALL_SECONDS, limits=limits, trust_env=False, headers=headers
    ) as client:
        return await _Load(plan, client).run()
