"""Users' rules from YAML, and what is said about rows that are wrong."""

from __future__ import annotations

import pytest
import yaml

from benchmarks.redaction_corpus import cases
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.config import Redaction, load
from tokenmizer_mw.safety.redact.shape import draw_characters

KEY = b"a key for tests of redaction"

FULL = """
pii: true
without: [github-token]
rules:
  - name: acme-key
    pattern: 'acme_([a-z0-9]{6})'
    keywords: [Acme]
    entropy: 1.0
allow:
  - name: fixtures
    exact: [abc123]
    kinds: [acme-key]
  - name: demo
    keys: [DEMO_TOKEN]
"""


def test_a_full_file() -> None:
    read = load(FULL)
    redactor = Redactor(read.rules, allow=read.allow, pii=read.pii, key=KEY)
    assert redactor.redact("acme_abc123 acme_zz9yy8 acme_aaaaaa").split(" ")[::2] == ["acme_abc123", "acme_aaaaaa"]
    assert "redacted:acme-key:" in redactor.redact("acme_zz9yy8")
    demo = f"DEMO_TOKEN={draw_characters('w', 30, 'x')}"
    assert redactor.redact(demo) is demo


@pytest.mark.parametrize("text", ["", "# nothing", "{}"])
def test_nothing_is_the_default(text: str) -> None:
    assert load(text) == Redaction()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "no YAML"),
        ("- a", "no mapping"),
        ("nope: 1", "unknown setting 'nope'"),
        ("pii: maybe", "'pii'"),
        ("without: [nonsense]", "unknown kind: 'nonsense'"),
        ("without: [nonsense-secret]", "unknown kind: 'nonsense-secret'"),
        ("without: telephone", "'without' is no list"),
        ("allow: [{name: a, kinds: [nonsense]}]", r"allow\[0\] \(a\): 'kinds' names an unknown kind: 'nonsense'"),
        ("rules: 1", "'rules' is no list"),
        ("rules: [{pattern: a}]", r"rules\[0\]: no 'name'"),
        ("rules: [{name: a b, pattern: a}]", "'a b' is not of small letters"),
        ("rules: [{name: a}]", r"\(a\): no 'pattern'"),
        ("rules: [{name: a, pattern: '('}]", r"rules\[0\] \(a\): the pattern is not RE2"),
        ("rules: [{name: a, pattern: '(?=x)y'}]", "the pattern is not RE2"),
        ("rules: [{name: a, pattern: 'x*'}]", "fits an empty text"),
        ("rules: [{name: a, pattern: x, entropy: high}]", "'entropy'"),
        ("rules: [{name: a, pattern: x, keywords: x}]", "'keywords' is no list"),
        ("rules: [{name: a, pattern: x, colour: red}]", "unknown setting 'colour'"),
        ("allow: [{name: a}]", r"allow\[0\] \(a\): nothing says"),
        ("allow: [{name: a, pattern: '['}]", "the pattern is not RE2"),
        ("allow: [{name: a, keys: [1]}]", "'keys' is no list of texts"),
    ],
)
def test_errors_name_the_row(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(text)


def test_every_kind_that_is_found_can_be_named() -> None:
    redactor = Redactor(key=KEY, pii=True)
    kinds = sorted({finding.kind for case in cases() for finding in redactor.find(case.text)})
    assert len(kinds) > 150
    assert load(yaml.safe_dump({"without": kinds})).rules.without == frozenset(kinds)
    assert load(yaml.safe_dump({"allow": [{"name": "all", "kinds": kinds}]})).allow[0].kinds == frozenset(kinds)


@pytest.mark.parametrize("kind", ["openai-secret", "stripe-key", "one-time-code", "value", "web-key", "email"])
def test_kinds_of_values_by_name_can_be_named(kind: str) -> None:
    assert load(f"without: [{kind}]").rules.without == {kind}


def test_a_kind_of_the_users_own_can_be_let_through() -> None:
    assert load("rules: [{name: acme, pattern: 'a(b)'}]\nallow: [{name: x, kinds: [acme]}]").allow[0].kinds == {"acme"}
