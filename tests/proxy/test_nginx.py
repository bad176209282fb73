"""docs/nginx.md: nginx takes its configuration as it stands, and passes streams on piece by piece."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually

from .serving import SECONDS, Served, asked, call
from .test_serve import free_port

PAGE = Path(__file__).parent.parent.parent / "docs" / "nginx.md"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@pytest.fixture
def front(served: Served, tmp_path: Path) -> Iterator[int]:
    """The port of nginx in front of the proxy: the page's configuration with other ports and folders."""
    assert NGINX is not None
    port = free_port()
    [block] = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = block.replace("127.0.0.1:8787", f"127.0.0.1:{served.port}").replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    folders = "".join(f"  {name}_temp_path {tmp_path / name};\n" for name in TEMPORARY)
    text = text.replace("http {\n", f"http {{\n{folders}  access_log off;\n", 1)
    file = tmp_path / "nginx.conf"
    file.write_text(text, encoding="utf-8")
    aside = f"daemon off; pid {tmp_path / 'nginx.pid'}; error_log {tmp_path / 'error.log'};"
    process = subprocess.Popen([NGINX, "-c", str(file), "-e", str(tmp_path / "error.log"), "-g", aside])
    try:
        assert eventually(lambda: process.poll() is not None or _answers(port))
        assert process.poll() is None
        yield port
    finally:
        process.terminate()
        process.wait(SECONDS)


def _answers(port: int) -> bool:
    try:
        return call(port, "/health/live", None, method="GET")[0] == 200
    except OSError:
        return False


def test_a_stream_arrives_while_the_model_still_speaks(
    front: int, served: Served, upstream: Upstream, session: str
) -> None:
    body = asked("fake-n6-d300", stream=True)
    headers = {"content-type": "application/json", "x-session-id": session}
    with closing(http.client.HTTPConnection("127.0.0.1", front, timeout=SECONDS)) as link:
        link.request("POST", "/v1/chat/completions", body, headers)
        response = link.getresponse()
        assert response.readline().startswith(b"data: ")
        assert upstream.statistics.active == 1
        assert response.read().endswith(b"data: [DONE]\n\n")
    assert [role for role, _ in served.said(session)] == ["user", "assistant"]


def test_a_request_of_megabytes_passes(front: int, upstream: Upstream) -> None:
    assert call(front, "/v1/chat/completions", asked("fake-n1", said="Look at this. " * 150_000))[0] == 200


def test_a_session_with_a_slash_is_found(front: int, served: Served) -> None:
    served.memory.record("team/monday", [{"role": "user", "content": "We use SQLite for storage."}])
    status, _, body = call(front, "/api/resume/team%2Fmonday", None, method="GET")
    assert status == 200
    assert b"SQLite" in body
