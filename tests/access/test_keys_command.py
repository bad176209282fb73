"""``tokenmizer-mw keys``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenmizer_mw.cli import main
from tokenmizer_mw.server.access.key_store import keys_from_text
from tokenmizer_mw.server.access.keyring import Keyring, open_keys
from tokenmizer_mw.server.access.keys import digest_of

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'chat.db'}"


@pytest.fixture
def run(url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_(*arguments: str, store: str = url) -> tuple[int, str, str]:
        try:
            status = main(["keys", *arguments, "--store", store])
        except SystemExit as ended:
            status = int(ended.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run_


def test_a_key_is_shown_once(run: Run, url: str, tmp_path: Path) -> None:
    status, out, err = run("create", "--tenant", "acme")
    written = out.strip()
    assert status == 0 and written.startswith("tmz_") and "only time" in err
    store = open_keys(url)
    (key,) = store.all_keys()
    store.close()
    assert (key.tenant, key.digest) == ("acme", digest_of(written.encode()))
    assert key.scopes == {"chat", "read", "write"}
    _, listed, _ = run("list")
    assert key.id in listed and "acme" in listed and "does not end" in listed
    told = listed + run("list", "--json")[1]
    assert written not in told and written[-4:] not in told and key.digest.hex() not in told
    assert all(written.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_scopes_and_ends(run: Run) -> None:
    _, out, _ = run("create", "--tenant", "acme", "--scopes", "read, erase", "--expires", "90d", "--json")
    made = json.loads(out)
    assert made["scopes"] == ["erase", "read"]
    assert made["expires_at"] - made["created_at"] == 90 * 86_400
    _, out, _ = run("create", "--tenant", "acme", "--expires", "2099-01-31", "--json")
    assert json.loads(out)["expires_at"] == 4073500800.0


def test_listing_a_tenant(run: Run) -> None:
    for tenant in ("acme", "zeta"):
        run("create", "--tenant", tenant)
    tenants = [key["tenant"] for key in json.loads(run("list", "--json")[1])]
    assert tenants == ["acme", "zeta"]
    assert [key["tenant"] for key in json.loads(run("list", "--tenant", "zeta", "--json")[1])] == ["zeta"]
    assert "no keys" in run("list", "--tenant", "nobody")[2]


@pytest.mark.anyio
async def test_revoking(run: Run, url: str) -> None:
    made = json.loads(run("create", "--tenant", "acme", "--json")[1])
    store = open_keys(url)
    ring = Keyring(store, refresh_seconds=0.001)
    await ring.refresh()
    assert ring.look_up(made["key"].encode()) is not None
    status, out, _ = run("revoke", made["id"])
    assert status == 0 and "revoked" in out
    time.sleep(0.002)
    await ring.refresh()
    assert ring.look_up(made["key"].encode()) is None
    assert "revoked" in run("list")[1]
    store.close()


def test_an_entry_for_a_list_of_keys(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("create", "--tenant", "acme", "--entry", "--expires", "1y")
    written, _, entry = out.partition("\n")
    (key,) = keys_from_text(entry).all_keys()
    assert status == 0 and key.digest == digest_of(written.encode()) and key.expires_at is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("create",), "--tenant"),
        (("create", "--tenant", ""), "tenant"),
        (("create", "--tenant", "a", "--scopes", "all"), "scopes are"),
        (("create", "--tenant", "a", "--scopes", ""), "scope"),
        (("create", "--tenant", "a", "--expires", "soon"), "--expires is such as"),
        (("create", "--tenant", "a", "--expires", "999999y"), "--expires is such as"),
        (("create", "--tenant", "a", "--expires", "2001-01-31"), "past"),
        (("revoke", "none"), "no key has the id"),
        (("revoke",), "ID"),
        ((), "ACTION"),
    ],
)
def test_mistakes_are_told_in_a_line(run: Run, arguments: tuple[str, ...], says: str) -> None:
    status, out, err = run(*arguments)
    assert status in (1, 2) and out == "" and says in err and err.count("\n") == 1


def test_looking_creates_nothing(run: Run, tmp_path: Path) -> None:
    assert run("list")[0] == 0
    assert run("revoke", "none")[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_memory_keeps_no_key(run: Run) -> None:
    status, out, err = run("create", "--tenant", "acme", store="memory://")
    assert status == 1 and out == "" and "--entry" in err


def test_the_store_of_a_configuration(run: Run, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("httpx2")
    run("create", "--tenant", "acme")
    file = tmp_path / "proxy.yaml"
    file.write_text(json.dumps({"store": url}), encoding="utf-8")
    assert main(["keys", "list", "--config", str(file), "--json"]) == 0
    assert [key["tenant"] for key in json.loads(capsys.readouterr().out)] == ["acme"]
