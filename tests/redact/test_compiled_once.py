"""Rules are compiled once in a process, whoever asks for them."""

from __future__ import annotations

from dataclasses import replace

from tokenmizer_mw.safety.redact.scan import DEFAULT


def test_the_same_rules_share_their_compiled_form() -> None:
    assert DEFAULT.scanner(pii=False) is replace(DEFAULT).scanner(pii=False)


def test_other_rules_have_their_own() -> None:
    shared = DEFAULT.scanner(pii=False)
    assert DEFAULT.scanner(pii=True) is not shared
    assert replace(DEFAULT, without=frozenset({DEFAULT.tokens[0].kind})).scanner(pii=False) is not shared
