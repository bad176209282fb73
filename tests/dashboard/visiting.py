"""Asking a dashboard as a browser does, without one: cookies are kept, forms are filled in from the page."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import uvicorn

from tests.proxy.serving import SECONDS
from tests.waiting import eventually
from tokenmizer_mw.server.dashboard import Dashboard

PREFIX = "/desk/memory"
BASE = f"http://localhost{PREFIX}/"
TOKEN = "not a secret of anybody"

CHAT = [
    {"role": "user", "content": "Let's build a booking service for the village hall. We use SQLite, it is one file."},
    {"role": "assistant", "content": "SQLite it is. Shall I write the schema first?"},
    {"role": "user", "content": "Yes. Never delete a booking without asking me first."},
    {"role": "assistant", "content": "The schema is in hall/schema.sql."},
]
LATER = [
    {"role": "user", "content": "Switch from SQLite to PostgreSQL because of concurrent writes."},
    {"role": "assistant", "content": "Done.\n- [x] move the tables\n- [ ] write the backup script"},
]


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: str

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")


@dataclass
class Visitor:
    """A browser of somebody, and its cookies. ``scope`` overrides parts of the ASGI scope."""

    app: Any
    cookies: dict[str, str] = field(default_factory=dict)
    scope: dict[str, Any] = field(default_factory=dict)

    def get(self, page: str = "", headers: Mapping[str, str] | None = None) -> Answer:
        """Go to a page, by its relative address, and follow where it leads."""
        answer = self.ask("GET", page, headers=headers)
        for _ in range(5):
            if answer.status != 303:
                break
            answer = self.ask("GET", answer.header("location"), headers=headers)
        return answer

    def post(self, page: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
        """Send a form; gives the answer itself, and does not go where it leads."""
        told = {"content-type": "application/x-www-form-urlencoded", "origin": "http://localhost", **(headers or {})}
        return self.ask("POST", page, urlencode(form).encode(), told)

    def submit(self, page: str, action: str, headers: Mapping[str, str] | None = None, **fields: str) -> Answer:
        """Open ``page``, fill in the first of its forms that goes to ``action`` and has the fields' hidden values, and
        send it; gives the page that it leads to."""
        hidden = token_on(self.get(page).body)
        answer = self.post(action, {"form_token": hidden, **fields}, headers)
        return self.get(answer.header("location")) if answer.status == 303 else answer

    def sign_in(self, token: str = TOKEN) -> Visitor:
        assert self.submit("login", "login", secret=token).status == 200
        return self

    def ask(self, method: str, page: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """One request."""
        address = urlsplit(urljoin(BASE, page))
        told = {"host": "localhost", **(headers or {})}
        if self.cookies:
            told["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http",
            "method": method,
            "scheme": "http",
            "path": address.path,
            "raw_path": address.path.encode(),
            "root_path": PREFIX,
            "query_string": address.query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in told.items()],
            "client": ("127.0.0.1", 40_000),
            "server": ("127.0.0.1", 80),
            **self.scope,
        }
        answer = asyncio.run(_asked(self.app, scope, body))
        for name, value in answer.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return answer


async def _asked(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    return Answer(sent[0]["status"], headers, b"".join(one.get("body", b"") for one in sent[1:]).decode())


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements_of(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of a page, each with its attributes."""
    parser = _Elements()
    parser.feed(page)
    return parser.found


def token_on(page: str) -> str:
    """The token of the forms on a page."""
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found is not None, page[:2_000]
    return unescape(found.group(1))


def text_of(page: str) -> str:
    """The words of a page."""
    main = page.partition("<main")[2].partition(">")[2]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())


@contextmanager
def served(app: Any, board: Dashboard) -> Iterator[str]:
    """``app``, which holds ``board``, under uvicorn in a thread; gives its address."""
    config = uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert eventually(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        board.end()
        server.should_exit = True
        thread.join(SECONDS)
        assert not thread.is_alive()
