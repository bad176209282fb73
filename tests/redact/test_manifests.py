"""Kubernetes manifests: every value of a Secret is redacted, and no other manifest."""

from __future__ import annotations

import json

import pytest

from tests.steps import call_growth
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.manifests import MANIFEST_MAX
from tokenmizer_mw.safety.redact.shape import draw_characters

WORD = draw_characters("w", 10, "manifest")
OTHER = draw_characters("w", 10, "another value")
SENTENCE = " ".join(draw_characters("l", 6, str(number)) for number in range(3))
BETWEEN = {
    "a comment": "  # the next one is new",
    "a comment at the margin": "# the next one is new",
    "a blank line": "",
    "a blank line with spaces": "    ",
    "a short value": "  n: abc",
    "a value with spaces": f"  user: {SENTENCE}",
    "a value with spaces and a comment": f"  user: {SENTENCE}  # a name",
    "a value in quotes": f'  user: "{SENTENCE}"',
    "a value with quotes": f"  user: 'it''s \"{SENTENCE}\"'",
    "a literal block": f"  note: |\n    {SENTENCE}\n\n    # {SENTENCE}\n    more: {SENTENCE}",
    "a folded block": f"  note: >-2 # folded\n      {SENTENCE}\n    {SENTENCE}",
    "a value in two lines": f'  note: "{SENTENCE}\n    {SENTENCE}"',
    "a value below its name": f"  note:\n    {SENTENCE}",
    "JSON": f'  note: \'{{"a": "{SENTENCE}"}}\'',
    "a tag": f"  note: !!str {SENTENCE}",
    "templates": "{{- if .Values.x }}\n  y: {{ .Values.y | quote }}\n{{- end }}",
    "an empty value": '  empty: ""\n  none:',
    "no key": "  <<: *defaults",
}
FORMS = {
    "lines": lambda text: text,
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "a JSON string": lambda text: json.dumps({"content": text, "role": "user"}),
    "JSON in JSON": lambda text: json.dumps(json.dumps([text, "as it was"])),
    "indented": lambda text: "    " + text.replace("\n", "\n    "),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_a_block_is_read_to_its_end(between: str, form, redactor: Redactor) -> None:
    before = "apiVersion: v1\nkind: Secret\nstringData:"
    after = "metadata:\n  name: nothing-of-a-secret\n  note: as it was"
    text = form(f"{before}\n  zero: {OTHER}\n{between}\n  first: {WORD}\n{after}\n")
    redacted = redactor.redact(text)
    assert not any(secret in redacted for secret in (WORD, OTHER, SENTENCE))
    assert "nothing-of-a-secret" in redacted
    assert "note: as it was" in redacted
    assert redactor.redact(redacted) == redacted


def test_what_is_redacted_stays_yaml(redactor: Redactor) -> None:
    values = f"  a: |\n    {SENTENCE}\n    {WORD}\n\n  b: '{SENTENCE}' # why\n  c: {{{{ .Values.c }}}}\n"
    text = f"kind: Secret\nstringData:\n{values}"
    lines = redactor.redact(text).split("\n")
    assert [line.partition("redacted:kubernetes-secret:")[0] for line in lines] == [
        *("kind: Secret", "stringData:", "  a: |", "    ", "", "  b: '", "  c: {{ .Values.c }}", ""),
    ]
    assert lines[5].endswith("' # why")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_other_manifests_stay(form, redactor: Redactor) -> None:
    config = "kind: ConfigMap\ndata:\n  mode: plain-value\n\n  more: |\n    plain text\n"
    secret = f"kind: Secret\ndata:\n  a: {WORD}\n"
    documents = form(f"{config}---\n{secret}---\n{config}")
    assert redactor.redact(documents).count("plain-value") == redactor.redact(documents).count("plain text") == 2
    assert WORD not in redactor.redact(documents)
    items = f"- {config[:-1]}\n- {secret[:-1]}\n- {config[:-1]}".replace("\n", "\n  ").replace("\n  - ", "\n- ")
    assert redactor.redact(form(f"items:\n{items}")) == form(f"items:\n{items}").replace(
        WORD, redactor.redact(f"kind: Secret\ndata:\n  a: {WORD}").rpartition(" ")[2]
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_other_manifests_stay_in_json(indent: int | None, redactor: Redactor) -> None:
    config = {"data": {"mode": "plain-value"}, "kind": "ConfigMap"}
    secret = {"data": {"a": OTHER, "b": SENTENCE, "c": "abc", "d": WORD}, "kind": "Secret"}
    redacted = redactor.redact(json.dumps([config, secret, config], indent=indent))
    values = json.loads(redacted)
    assert values[0] == values[2] == config
    assert values[1]["data"].pop("c") == "abc"
    assert all(value.startswith("redacted:kubernetes-secret:") for value in values[1]["data"].values())


def test_secrets_in_a_body(redactor: Redactor) -> None:
    data = {"a": SENTENCE, "b": f"mode: fast\nword: {SENTENCE}", "c": "abc", "d": WORD, "e": {"f": SENTENCE}}
    secret = {"kind": "Secret", "stringData": data, "type": SENTENCE}
    config = {"kind": "ConfigMap", "data": {"mode": SENTENCE}}
    for body in (
        redactor.redact_body(json.dumps([secret, config])),
        json.dumps(redactor.redact_json([secret, config])),
    ):
        redacted, other = json.loads(body)
        assert redacted["stringData"].pop("c") == "abc"
        assert redacted["stringData"].pop("e")["f"].startswith("redacted:kubernetes-secret:")
        assert all(value.startswith("redacted:kubernetes-secret:") for value in redacted["stringData"].values())
        assert redacted["type"] == SENTENCE
        assert other == config
        assert redactor.redact_body(body) is body


def test_one_line(redactor: Redactor) -> None:
    redacted = redactor.redact(f"{{kind: Secret, data: {{a: '{SENTENCE}', n: abc, b: {WORD}}}, type: a-plain-type}}")
    assert WORD not in redacted and SENTENCE not in redacted
    assert redacted.endswith("}, type: a-plain-type}")


UNITS = {
    "values": " a: b c\n",
    "comments": " # a\n",
    "blank lines": "\n",
    "lines of a value": " a: b\n  c\n",
    "quotes": " a: 'b''\n",
    "escaped quotes": ' a: "b\\"\n',
    "manifests of a list": "- kind: Secret\n  data:\n   a: b c\n",
    "manifests in JSON": '{"kind":"Secret","data":{"a":"b c","d":"{"}}\n',
    "names of the kind": '"kind":"Secret"',
    "braces": '{"kind":"Secret","data":{',
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_steps_of_a_manifest(unit: str) -> None:
    redactor = Redactor(key=b"a key for tests of redaction")

    def redact(text: str) -> object:
        return redactor.redact(f"kind: Secret\nstringData:\n{text}")

    assert call_growth(redact, unit, MANIFEST_MAX // 4) <= 2.5
