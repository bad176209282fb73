"""Log lines: one each, whole, and without what must not be in them."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from benchmarks.redaction_corpus import cases
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.operations.logs import LINE_MAX, Form, configure_logging, formatter

SECRETS = [case.secret for case in cases() if case.secret and case.group == "anchored" and len(case.secret) < 200][:40]


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger; it and those of servers are put back as they were."""
    names = (None, "uvicorn", "uvicorn.access", "uvicorn.error", "tokenmizer_mw")
    loggers = [logging.getLogger(name) for name in names]
    before = [(one, list(one.handlers), one.level, one.propagate) for one in loggers]
    loggers[-1].setLevel(logging.NOTSET)
    logging.getLogger("uvicorn.access").setLevel("CRITICAL")  # as a server leaves it that logs no requests
    yield loggers[0]
    for one, handlers, level, propagate in before:
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)


def lines(form: Form, root: logging.Logger, level: str = "INFO") -> io.StringIO:
    stream = io.StringIO()
    configure_logging(form, level, stream)
    return stream


def test_json_lines(root: logging.Logger) -> None:
    stream = lines("json", root)
    logging.getLogger("tokenmizer_mw").warning("cut_failed: %s in %s", "ValueError", "cut:12")
    logging.getLogger("tokenmizer_mw").debug("not this")
    (told,) = [line for line in map(json.loads, stream.getvalue().splitlines()) if line["logger"] == "tokenmizer_mw"]
    assert (told["level"], told["logger"], told["message"]) == (
        "WARNING",
        "tokenmizer_mw",
        "cut_failed: ValueError in cut:12",
    )
    assert told["time"].endswith("+00:00")


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_is_told_by_type_and_place(form: Form, root: logging.Logger) -> None:
    stream = lines(form, root)
    try:
        raise ValueError("the user said zebrafinch")
    except ValueError:
        logging.getLogger("somebody").exception("it failed")
    written = stream.getvalue()
    assert "zebrafinch" not in written
    assert "ValueError" in written
    assert "test_logs.py:" in written
    assert written.count("\n") == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_and_queries_stay_out(form: Form, root: logging.Logger) -> None:
    stream = lines(form, root, "DEBUG")
    assert len(SECRETS) >= 20
    for secret in SECRETS:
        logging.getLogger("uvicorn.access").info('%s - "GET /v1/models?key=%s HTTP/1.1" 200', "127.0.0.1:1", secret)
        logging.getLogger("somebody").debug("authorization: Bearer %s", secret)
        logging.getLogger("somebody").error(f"called with {secret}.")
    written = stream.getvalue()
    assert not [secret for secret in SECRETS if secret in written]
    assert "/v1/models?..." in written
    assert written.count("\n") == 3 * len(SECRETS)


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/zebrafinch",
        "/api/graph/zebrafinch/why?node=1",
        "/api/resume/zebra%2Ffinch",
        "/dashboard/sessions/zebrafinch",
    ],
)
def test_the_lines_of_servers_name_no_session(path: str, root: logging.Logger) -> None:
    stream = lines("text", root)
    for name in ("uvicorn.access", "gunicorn.access"):
        logging.getLogger(name).info('%s - "GET %s HTTP/1.1" %d', "127.0.0.1:1", path, 200)
    written = stream.getvalue()
    assert "zebra" not in written
    assert written.count("/... HTTP/1.1") + written.count("/.../why?... HTTP/1.1") == 2


UUID = "0b1c7e2a-8f3d-4c5b-9a7e-1f2d3c4b5a69"


@pytest.mark.parametrize(
    "id_", [f"conversation-{'dd87e2a1' * 4}", UUID, f"shop-01221a02/{UUID}", f"büro-01221a02/{UUID}"]
)
def test_ids_of_sessions_that_nobody_chose_can_be_read(id_: str, root: logging.Logger) -> None:
    stream = lines("text", root)
    for line in ("it does not fit (session %s)", "session %s: nothing", "in session %s"):
        logging.getLogger("tokenmizer_mw").warning(line, id_)
    logging.getLogger("somebody").warning("session %s", f"conversation-{'dd87e2a1' * 4}")
    assert stream.getvalue().count(id_) == 3
    assert "WARNING somebody: session redacted:" in stream.getvalue()


def test_secrets_in_ids_that_clients_chose_stay_out(root: logging.Logger) -> None:
    stream = lines("text", root)
    spelt = [secret for secret in SECRETS if not set(secret) & set(" /:")]
    assert len(spelt) >= 20
    for secret in spelt:
        for id_ in (secret, f"conversation-{secret}", f"{secret}-01221a02/{UUID}", f"shop-01221a02/{UUID}{secret}"):
            logging.getLogger("tokenmizer_mw").warning("it does not fit (session %s)", id_)
    assert not [secret for secret in spelt if secret in stream.getvalue()]


def test_a_line_stays_a_line(root: logging.Logger) -> None:
    stream = lines("text", root)
    logging.getLogger("somebody").info("a\r\nINFO forged\x1b[31m\u2028 \u0000 end")
    logging.getLogger("somebody").info("x" * (LINE_MAX * 2))
    first, second = stream.getvalue().splitlines()
    assert "a\\r\\nINFO forged\\x1b[31m\\u2028 \\x00 end" in first
    assert len(second) < LINE_MAX + 100


def test_a_line_that_cannot_be_made_is_no_failure(root: logging.Logger) -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "%d said %s", ("zebrafinch",), None)
    assert json.loads(formatter("json").format(record))["message"].startswith("(not shown")


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="text, json"):
        formatter("xml")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="level"):
        configure_logging("json", "LOUD")
