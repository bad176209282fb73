"""What holds for every text: idempotent, deterministic, exact spans, valid JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import examples
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.rules import TOKENS
from tokenmizer_mw.safety.redact.shape import draw_characters

REDACTOR = Redactor(pii=True, key=b"a key for tests of redaction")
SECRETS = st.sampled_from([example for rule in TOKENS for example in rule.examples[:1]])
WORDS = st.builds(lambda seed, size: draw_characters("W", size, str(seed)), st.integers(0, 10**6), st.integers(3, 40))
GLUE = st.sampled_from(
    [
        "password=",
        "token: ",
        '"secret": "',
        '"',
        "'",
        "`",
        "\\",
        "\n",
        "\\n",
        " ",
        "://u:",
        "@h/",
        "&key=",
        "?sig=",
        "=",
        ":",
        ";",
        "Authorization: Bearer ",
        "Cookie: s=",
        "kind: Secret\ndata:\n  a: ",
        "-----BEGIN PRIVATE KEY-----\n",
        "-u a:",
        "é",
        "密码",
        "😀",
        "\ud83d",
        "\ude00",
        "redacted:",
        "redacted:secret:",
        "{",
        "}",
        "[",
        "]",
        ",",
        "$",
        "+",
        "<",
        ">",
        "\0",
        "-----END PRIVATE KEY-----",
    ]
)
TEXTS = st.lists(st.one_of(SECRETS, WORDS, GLUE, st.text(max_size=12)), max_size=14).map("".join)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), TEXTS.map(lambda text: json.dumps({"password": text}))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(st.sampled_from(["password", "token", "content", "data", "type", "input"]), TEXTS),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(TEXTS)
@examples(4000)
def test_text(text: str) -> None:
    once = REDACTOR.redact(text)
    assert REDACTOR.redact(text) == once
    assert REDACTOR.redact(once) == once
    found = REDACTOR.find(text)
    assert (once is text) == (not found)
    place, done = 0, 0
    for one in found:
        assert done <= one.start < one.end <= len(text)
        kept = text[done : one.start]
        assert once.startswith(f"{kept}redacted:{one.kind}:", place)
        place += len(kept) + len(f"redacted:{one.kind}:") + 8
        done = one.end
    assert once[place:] == text[done:]


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
@examples(400)
def test_json(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    once = REDACTOR.redact_body(text)
    assert _shape(json.loads(once)) == _shape(json.loads(text))
    assert REDACTOR.redact_body(text) == once
    assert REDACTOR.redact_body(once) == once


@given(TEXTS)
@examples(200)
def test_explain_agrees_with_find(text: str) -> None:
    rows = REDACTOR.explain(text)
    assert [(row.kind, row.start, row.end) for row in rows if row.outcome == "redacted"] == [
        (one.kind, one.start, one.end) for one in REDACTOR.find(text)
    ]


def _shape(value: Any) -> Any:
    """The value without its strings."""
    if isinstance(value, dict):
        return [_shape(inner) for inner in value.values()]
    if isinstance(value, list):
        return [_shape(inner) for inner in value]
    return "" if isinstance(value, str) else value
