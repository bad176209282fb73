"""Who comes in, and what a browser may be made to do there by others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.access.key_store import MemoryKeys
from tokenmizer_mw.server.access.keyring import Keyring
from tokenmizer_mw.server.access.keys import new_key
from tokenmizer_mw.server.dashboard import dashboard, local
from tokenmizer_mw.server.dashboard.sign_in import PageSigner, Pass
from tokenmizer_mw.server.dashboard.table import ROUTES

from .visiting import TOKEN, Visitor, text_of, token_on

PAGES = [route for route in ROUTES if route.method == "GET"]
CHANGES = [route for route in ROUTES if route.method == "POST"]


def reader(scope: Mapping[str, Any]) -> Caller | None:
    return Caller("local", "key-r", frozenset({"read"}))


def writer(scope: Mapping[str, Any]) -> Caller | None:
    return Caller("local", "key-w", frozenset({"read", "write"}))


def nobody(scope: Mapping[str, Any]) -> Caller | None:
    return None


def broken(scope: Mapping[str, Any]) -> Caller | None:
    raise RuntimeError("the directory of users is away")


@pytest.mark.parametrize("route", PAGES, ids=lambda route: route.name or "sessions")
def test_without_the_token_there_is_a_way_to_enter_it_and_nothing_else(route: Any, memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    first = visitor.ask("GET", f"{route.name}?id=hall")
    assert (first.status, first.body) == (303, "")
    assert first.header("location").startswith("login?next=")
    assert "Sign in" in visitor.get("login").body


@pytest.mark.parametrize("route", CHANGES, ids=lambda route: route.name)
def test_nobody_changes_anything(route: Any, memory: SessionMemory) -> None:
    before = memory.log.sessions("local")
    stranger = Visitor(dashboard(memory, token=TOKEN))
    token = token_on(stranger.get("login").body)
    form = {"id": "hall", "form_token": token, "node": "decision-1", "do": "pin", "sure": "yes"}
    assert stranger.post(route.name, form).status == 303
    assert stranger.post(route.name, {**form, "form_token": "x"}).status == 403
    assert memory.log.sessions("local") == before


def test_the_token_once_then_a_cookie(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    visitor.get("session?id=hall&level=full")
    answer = visitor.post("login", {"form_token": token_on(visitor.get("login").body), "secret": f" {TOKEN} "})
    (cookie,) = (value for name, value in answer.headers if name == "set-cookie")
    assert {"httponly", "samesite=strict"} <= set(cookie.lower().split("; "))
    assert "Path=" not in cookie
    assert "Secure" not in cookie
    assert "PostgreSQL" in text_of(visitor.get("session?id=hall").body)
    assert TOKEN not in cookie


def test_a_token_of_another_process_says_what_several_workers_need(memory: SessionMemory) -> None:
    one, other = (Visitor(dashboard(memory, token=f"{TOKEN}-{worker}")) for worker in (1, 2))
    answer = other.post("login", {"form_token": token_on(other.get("login").body), "secret": f"{TOKEN}-1"})
    assert answer.status == 401
    assert "An application with several workers needs one token for all of them" in text_of(answer.body)
    answer = one.post("login", {"form_token": token_on(one.get("login").body), "secret": f"{TOKEN}-1"})
    assert answer.status == 303


def test_where_one_wanted_to_go_is_where_one_comes(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    way = visitor.ask("GET", "session?id=hall&level=full").header("location")
    page = visitor.ask("GET", way)
    form = {"form_token": token_on(page.body), "secret": TOKEN, "next": "session?id=hall&level=full"}
    assert visitor.post("login", form).header("location") == "session?id=hall&level=full"


@pytest.mark.parametrize(
    "back", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)", "nowhere", "session?\r\nx: y"]
)
def test_signing_in_leads_nowhere_else(back: str, memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    form = {"form_token": token_on(visitor.get("login").body), "secret": TOKEN, "next": back}
    assert visitor.post("login", form).header("location") == "./"


def test_wrong_tokens_are_told_so_and_then_not_compared(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN))
    token = token_on(visitor.get("login").body)
    answers = [visitor.post("login", {"form_token": token, "secret": f"{TOKEN}{n}"}).status for n in range(40)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert visitor.post("login", {"form_token": token, "secret": TOKEN}).status == 429


def test_signed_out_is_out(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    assert visitor.ask("GET", "logout").status == 405  # a link, or an image, signs nobody out
    assert visitor.ask("GET", "session?id=hall").status == 200
    assert "Sign in" in visitor.submit("", "logout").body
    assert visitor.ask("GET", "session?id=hall").status == 303


def test_what_is_in_the_cookie_counts_only_as_it_was_given(memory: SessionMemory) -> None:
    now = 1_000_000.0
    board = dashboard(memory, token=TOKEN, clock=lambda: now)
    visitor = Visitor(board).sign_in()
    ((name, good),) = visitor.cookies.items()
    body, _, mac = good.partition(".")
    other = PageSigner(memory.log.secret(), "another token").write_pass(Pass("token", "n", now))
    changed = ("B" if mac[0] == "A" else "A") + mac[1:]
    for value in (f"{body}x.{mac}", f"{body}.{changed}", f"{body}.", ".", "", "x" * 5_000, other, "a.b", "\xff.x"):
        assert Visitor(board, {name: value}).ask("GET", "session?id=hall").status == 303, value
    assert Visitor(board, {name: good}).ask("GET", "session?id=hall").status == 200
    now += 13 * 3_600
    assert Visitor(board, {name: good}).ask("GET", "session?id=hall").status == 303


def test_another_token_makes_cookies_worthless(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    assert Visitor(dashboard(memory, token=TOKEN), visitor.cookies).ask("GET", "status").status == 200
    assert Visitor(dashboard(memory, token=f"{TOKEN}!"), visitor.cookies).ask("GET", "status").status == 303


def test_over_tls_the_cookie_stays_there(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN), scope={"scheme": "https"})
    assert "; Secure" in visitor.ask("GET", "login").header("set-cookie")


FORM = {"id": "hall", "node": "decision-1", "do": "pin"}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.test"},
        {"origin": "null"},
        {"origin": "http://localhost:8080"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://localhost", "sec-fetch-site": "cross-site"},
    ],
    ids=str,
)
def test_other_pages_change_nothing(headers: dict[str, str], memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    token = token_on(visitor.get("fact?id=hall&node=decision-1").body)
    assert visitor.post("change", {**FORM, "form_token": token}, headers).status == 403
    assert memory.edits("hall") == []
    assert visitor.post("change", {**FORM, "form_token": token}, {"sec-fetch-site": "same-origin"}).status == 303
    assert len(memory.edits("hall")) == 1


@pytest.mark.parametrize("authorize", [None, writer])
def test_a_form_needs_the_token_of_this_browser(authorize: Any, memory: SessionMemory) -> None:
    def board() -> Any:
        return dashboard(memory, authorize=authorize) if authorize else dashboard(memory, token=TOKEN)

    mine, other = Visitor(board()), Visitor(board())
    if authorize is None:
        mine.sign_in()
        other.sign_in()
    token = token_on(mine.get("fact?id=hall&node=decision-1").body)
    other.get("status")
    assert other.post("change", {**FORM, "form_token": token}).status == 403
    assert mine.post("change", FORM).status == 403
    assert Visitor(mine.app).post("change", {**FORM, "form_token": token}).status == 403
    assert memory.edits("hall") == []
    assert mine.post("change", {**FORM, "form_token": token}).status == 303


@pytest.mark.parametrize("host", ["evil.test", "localhost.evil.test", "127.0.0.1@evil.test", "", "xlocalhost"])
def test_other_hosts_are_not_answered_for(host: str, memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, authorize=local))
    for page in ("", "static/dashboard.js", "login", "events"):
        answer = visitor.ask("GET", page, headers={"host": host})
        assert answer.status == 421
        assert "hall" not in answer.body


def test_hosts_that_are_named(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN, hosts=["desk.example.org"]))
    assert visitor.ask("GET", "login", headers={"host": "desk.example.org"}).status == 200
    assert visitor.ask("GET", "login", headers={"host": "desk.example.org:8443"}).status == 200
    assert visitor.ask("GET", "login").status == 421


def test_without_a_token_only_this_machine_is_answered(memory: SessionMemory) -> None:
    board = dashboard(memory, authorize=local)
    assert Visitor(board).ask("GET", "").status == 200
    for end in ({"server": ("192.0.2.7", 80)}, {"client": ("192.0.2.9", 5)}, {"server": ("0.0.0.0", 80)}):
        answer = Visitor(board, scope=end).ask("GET", "")
        assert answer.status == 403
        assert "hall" not in answer.body


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"token": TOKEN, "authorize": local},
        {"token": "short"},
        {"token": f" {TOKEN}"},
        {"authorize": "somebody"},
        {"token": TOKEN, "hosts": ["*.example.org"]},
        {"token": TOKEN, "hosts": ["https://example.org"]},
        {"token": TOKEN, "signed_in_seconds": 0},
    ],
)
def test_a_dashboard_that_could_not_keep_anybody_out_is_not_made(given: dict[str, Any], memory: SessionMemory) -> None:
    with pytest.raises(ConfigError):
        dashboard(memory, **given)


@pytest.mark.parametrize(("authorize", "status"), [(nobody, 401), (broken, 503), (reader, 200)])
def test_as_the_application_around_it_says(authorize: Any, status: int, memory: SessionMemory) -> None:
    answer = Visitor(dashboard(memory, authorize=authorize)).ask("GET", "session?id=hall")
    assert answer.status == status
    assert ("PostgreSQL" in answer.body) == (status == 200)
    assert "directory of users" not in answer.body


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.name or 'sessions'}")
@pytest.mark.parametrize("scopes", ["read", "read write", "read erase", "chat", "admin"])
def test_scopes_hold_for_every_page_and_change(route: Any, scopes: str, memory: SessionMemory) -> None:
    caller = Caller("local", "key", frozenset(scopes.split()))
    visitor = Visitor(dashboard(memory, authorize=lambda scope: caller))
    if route.method == "GET":
        status = visitor.ask("GET", f"{route.name}?id=hall&node=decision-1").status
        assert (status == 200) == caller.may(route.scope), status
        return
    page = "forget?id=hall" if caller.may("erase") else "fact?id=hall&node=decision-1"
    token = token_on(visitor.get(page).body) if caller.may("erase") or caller.may("write") else "none"
    answer = visitor.post(route.name, {"form_token": token, "id": "hall", "node": "decision-1", "do": "pin"})
    done = 422 if route.name == "forget" else 303  # nobody ticked the box
    assert answer.status == (done if caller.may(route.scope) else 403)
    assert len(memory.log.sessions("local")) == 1


LISTS = ("sessions.csv", "sessions.json")


@pytest.mark.parametrize("name", LISTS)
def test_lists_have_no_session_of_somebody_else(name: str, memory: SessionMemory) -> None:
    answer = Visitor(dashboard(memory, token=TOKEN)).sign_in().get(f"{name}?id=yard&q=")
    assert answer.status == 200
    assert "hall" in answer.body and "yard" not in answer.body


@pytest.mark.parametrize("route", [route for route in PAGES if route.name not in ("", "savings", "status", *LISTS)])
def test_a_session_of_somebody_else_is_like_one_that_is_not(route: Any, memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    foreign = visitor.get(f"{route.name}?id=yard&node=decision-1&q=hall")
    unknown = visitor.get(f"{route.name}?id=dray&node=decision-1&q=hall")
    assert foreign.status == unknown.status == 404
    assert foreign.body == unknown.body.replace("dray", "yard")


def keys_of(tenant: str, scopes: set[str]) -> tuple[str, Keyring, Any]:
    counter = iter(range(10))

    def made(count: int) -> bytes:
        return hashlib.shake_256(bytes([next(counter)])).digest(count)

    written, key = new_key(made, tenant, scopes, 0.0)
    store = MemoryKeys([key])
    return written, Keyring(store, refresh_seconds=0.000_001, stale_seconds=1.0), (store, key)


def test_with_an_api_key_one_sees_what_it_opens(memory: SessionMemory) -> None:
    written, ring, (store, key) = keys_of("tenant-b", {"read"})
    visitor = Visitor(dashboard(memory, keys=ring)).sign_in(written)
    assert "yard" in visitor.get("").body
    assert visitor.get("session?id=hall").status == 404
    assert visitor.get("forget?id=yard").status == 403
    assert "Change it" not in visitor.get("fact?id=yard&node=decision-1").body
    store.revoke(key.id, 0.0)
    assert visitor.ask("GET", "session?id=yard").status == 303


def test_a_key_that_opens_no_session_does_not_open_the_dashboard(memory: SessionMemory) -> None:
    written, ring, _ = keys_of("tenant-b", {"chat"})
    visitor = Visitor(dashboard(memory, keys=ring))
    form = {"form_token": token_on(visitor.get("login").body), "secret": written}
    assert visitor.post("login", form).status == 401
