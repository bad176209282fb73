"""Makes the pictures of ``docs/dashboard.md`` from the session of the demonstration: ``make pictures``.

Needs Debian's Chromium and the extra ``demo``, as the tests of the pages do.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, Final

import uvicorn
from playwright.sync_api import Page, sync_playwright

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.server.dashboard import dashboard

IMAGES: Final = Path(__file__).parent.parent / "docs" / "images"
SIZE: Final = {"width": 1060, "height": 780}
CUT_HEIGHT: Final = 400
"""Of the picture of a cut, in pixels: the messages on both sides of it."""
SESSION: Final = "coldwatch"
PAGES: Final = {"session": "session", "transcript": "transcript", "graph": "graph"}
"""Names of pictures, with the pages that they show."""


@contextmanager
def serve(app: Any) -> Iterator[str]:
    """Serve an application at a free port of this machine; yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    app.end()
    server.should_exit = True
    thread.join()


def show_newest_cut(page: Page) -> None:
    """Go to the newest cut in a transcript, page by page, and scroll there."""
    cuts = page.locator(".cut-here")
    while not cuts.count():
        page.get_by_role("link", name="Earlier", exact=True).click()
    cuts.last.evaluate("line => line.scrollIntoView({block: 'center'})")


def take_pictures(address: str, token: str) -> None:
    """Sign in and write a picture of each page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(f"{address}/login#token={token}")
        page.wait_for_selector("h1:has-text('Sessions')")
        for name, path in PAGES.items():
            page.goto(f"{address}/{path}?id={SESSION}")
            page.wait_for_selector("#live:not([hidden])")
            page.screenshot(path=str(IMAGES / f"dashboard-{name}.png"))
        page.goto(f"{address}/transcript?id={SESSION}")
        page.set_viewport_size({**SIZE, "height": CUT_HEIGHT})
        show_newest_cut(page)
        page.screenshot(path=str(IMAGES / "dashboard-cut.png"))
        browser.close()


def main() -> None:
    """Play the demonstration and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "tokenmizer_mw", "demo", "--fast", "--keep", folder], check=True)
        memory = SessionMemory.open(f"sqlite:///{Path(folder) / 'demo.db'}")
        token = secrets.token_urlsafe(24)
        board = dashboard(memory, token=token)
        with serve(board) as address:
            take_pictures(address, token)
        memory.close()


if __name__ == "__main__":
    main()
