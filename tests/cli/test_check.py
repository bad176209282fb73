"""``check`` where the extra ``proxy`` is not installed: the store is looked at all the same."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.store.open import open_log


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('httpx2', 'uvicorn', 'cryptography', 'httptools')));"
        " from tokenmizer_mw.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_store_is_looked_at_without_the_proxy(tmp_path: Path) -> None:
    log = open_log(f"sqlite:///{tmp_path / 'chat.db'}")
    log.secret()
    log.close()
    done = check("--store", f"sqlite:///{tmp_path / 'chat.db'}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"fine   store: {tmp_path / 'chat.db'} opens; sessions of the default tenant, local: 0",
        "fine   proxy: not installed; library, middleware, hooks and MCP do not need it"
        f" (to run one: {install_hint('proxy')})",
    ]


def test_the_store_may_come_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "proxy.yaml").write_text("store: sqlite:///chat.db\n", encoding="utf-8")
    [store, proxy] = json.loads(check("--config", str(tmp_path / "proxy.yaml"), "--json").stdout)
    assert store == {"grade": "fine", "place": "store", "text": f"{tmp_path / 'chat.db'} will be created"}
    assert (
        proxy["grade"] == "note" and "proxy.yaml: only its store is checked: httpx2 is not installed" in proxy["text"]
    )


def test_a_remote_store_is_tried_without_the_proxy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/none?timeout=0.5"
        command = f"tokenmizer-mw check --reach --store '{store}'"
        untried = check("--store", store)
        assert untried.stdout.startswith(f"note   store: postgresql://: not tried; to connect to it: {command}\n")
        tried = check("--store", store, "--reach")
    assert tried.returncode == 1
    assert tried.stdout.startswith("wrong  store: PostgreSQL: did not answer in time\n")


def test_a_store_that_cannot_be_used_is_an_error_without_the_proxy(tmp_path: Path) -> None:
    (tmp_path / "chat.db").write_text("this is no database " * 100, encoding="utf-8")
    done = check("--store", f"sqlite:///{tmp_path / 'chat.db'}")
    assert done.returncode == 1
    assert done.stdout.startswith("wrong  store: ")
