"""What the tests see of a page: its faults, its requests, what is not accessible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import services
from tests.browser import browser, chromium, opened

__all__ = ["browser"]

PAGE = """<!doctype html><html lang="en"><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<main><h1>A page</h1>{}</main></html>"""


@pytest.mark.parametrize("required", ["", "1"])
def test_without_a_browser_a_test_is_skipped_or_fails(required: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(services.REQUIRED, required)
    with pytest.raises(pytest.fail.Exception if required else pytest.skip.Exception, match="chromium is not installed"):
        chromium()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.html"


def test_a_page_that_does_nothing_wrong_is_quiet(browser: Any, page: Path) -> None:
    page.write_text(PAGE.format("<p>words</p>"), encoding="utf-8")
    with opened(browser, page, theme="dark") as shown:
        assert shown.page.title() == "A page"
        assert (shown.complaints, shown.requests) == ([], [page.as_uri()])


def test_a_forbidden_script_and_a_request_are_noticed(browser: Any, page: Path) -> None:
    page.write_text(PAGE.format('<script>1</script><img alt="" src="there.png">'), encoding="utf-8")
    with opened(browser, page) as shown:
        assert len(shown.complaints) == 2
        assert page.with_name("there.png").as_uri() in shown.requests


def test_what_is_not_accessible_is_noticed(browser: Any, page: Path) -> None:
    page.write_text(PAGE.format('<img src="data:,">'), encoding="utf-8")
    with opened(browser, page) as shown:
        assert [one.partition(":")[0] for one in shown.violations()] == ["image-alt"]
