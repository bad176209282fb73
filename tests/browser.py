"""A real browser for tests: Debian's Chromium, driven by Playwright, and axe-core for accessibility.

Import the fixture where it is wanted (``from tests.browser import browser``, in a conftest) and open pages with
``opened``. It lives as long as a test module: while Playwright is at work the main thread counts as running an event
loop, so a test that starts one of its own belongs into another module. Servers run in threads.

Where the browser is missing, tests that ask for it are skipped, or fail, as ``tests.services`` says; where axe-core or
Mermaid are, they are skipped.
"""

from __future__ import annotations

import gc
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from tests import services

ROOT: Final = Path(__file__).parent.parent
_MODULES: Final = ROOT / ".agents" / "browser" / "node_modules"
_MILLISECONDS: Final = 120_000
"""How long a step may take before it counts as stuck; machines that run tests are busy."""

_ARGUMENTS: Final = (
    "--no-sandbox",  # Chromium refuses to start as root with it, and containers run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-component-update",
    "--no-first-run",
)

_LEVELS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
"""The rules of axe-core that stand for WCAG 2.2, levels A and AA."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium, a Playwright ``Browser``."""
    with _started() as started:
        yield started


@contextmanager
def _started() -> Iterator[Any]:
    path = chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        services.missing("playwright is not installed")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS), timeout=_MILLISECONDS)
        yield running
        running.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # what Playwright's own loop leaves is not a test's fault
        gc.collect()


def chromium() -> str:
    """The path of the browser's program."""
    return services.program("chromium")


@dataclass
class Opened:
    """A page and what it did: ``complaints`` holds console errors and warnings, faults of its scripts and violations of
    its content security policy; ``requests`` the addresses it asked for, the page itself included."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, address: str | Path) -> None:
        """Open an address, or a file."""
        self.page.goto(address.resolve().as_uri() if isinstance(address, Path) else address)

    def violations(self) -> list[str]:
        """What breaks WCAG 2.2 at the levels A and AA, as axe-core sees it: rules with elements. Empty: nothing."""
        self.page.evaluate(axe())
        found = self.page.evaluate("levels => axe.run(document, {runOnly: levels})", list(_LEVELS))
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:5]]}"
            for one in found["violations"]
        ]

    def picture(self, name: str, *, full: bool = True) -> Path:
        """A screenshot, kept under ``pictures()`` for people to look at."""
        path = pictures() / f"{name}.png"
        self.page.screenshot(path=str(path), full_page=full)
        return path


@contextmanager
def opened(
    browser: Any,
    address: str | Path | None = None,
    *,
    theme: Literal["light", "dark"] = "light",
    width: int = 1280,
    height: int = 800,
    scripts: bool = True,
    **more: Any,
) -> Iterator[Opened]:
    """A page in a profile of its own, at ``address`` if one is given. ``more`` goes to Playwright's ``new_context``."""
    context = browser.new_context(
        color_scheme=theme,
        viewport={"width": width, "height": height},
        java_script_enabled=scripts,
        reduced_motion="reduce",
        **more,
    )
    context.set_default_timeout(_MILLISECONDS)
    try:
        shown = Opened(context.new_page())
        _watch(shown)
        if address is not None:
            shown.go(address)
        yield shown
    finally:
        context.close()


def _watch(shown: Opened) -> None:
    def heard(message: Any) -> None:
        if message.type in ("error", "warning"):
            shown.complaints.append(f"{message.type}: {message.text}")

    shown.page.on("console", heard)
    shown.page.on("pageerror", lambda fault: shown.complaints.append(f"fault: {fault}"))
    shown.page.on("request", lambda request: shown.requests.append(request.url))


def axe() -> str:
    """The source of axe-core, to be evaluated in a page, which no content security policy forbids."""
    return _module("axe-core/axe.min.js").read_text(encoding="utf-8")


def mermaid() -> Path:
    """The file of Mermaid's own parser, for a page."""
    return _module("mermaid/dist/mermaid.min.js")


def _module(path: str) -> Path:
    found = _MODULES / path
    if not found.is_file():
        pytest.skip(f"{path.partition('/')[0]} is not installed: make agents")
    return found


def pictures() -> Path:
    """Where screenshots are kept: ``TOKENMIZER_PICTURES``, or a folder among the system's temporary files."""
    told = os.environ.get("TOKENMIZER_PICTURES")
    folder = Path(told) if told else Path(tempfile.gettempdir()) / "tokenmizer-pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
