"""The redactor on plain text: spans, placeholders, explanations, what users allow, personal data."""

from __future__ import annotations

import json

import pytest
import re2

from tokenmizer_mw.safety.redact import Allow, Custom, Redactor, Rules, SecretFinding
from tokenmizer_mw.safety.redact.shape import draw_characters, fakes

KEY = b"a key for tests of redaction"
TOKEN = next(fakes("ghp_{w36}", "t"))
WORD = draw_characters("w", 14, "word")


def test_only_the_secret_goes(redactor: Redactor) -> None:
    text = f"Zürich: use {TOKEN}, then 完了."
    start = text.index(TOKEN)
    assert redactor.find(text) == [SecretFinding("github-token", start, start + len(TOKEN))]
    before, after = text.split(TOKEN)
    assert redactor.redact(text).startswith(f"{before}redacted:github-token:")
    assert redactor.redact(text).endswith(after)


def test_a_quote_that_closes_on_a_later_line_hides_nothing(redactor: Redactor) -> None:
    text = redactor.redact('password = "Meadow-4821qk\nname = "bob"')
    assert "4821qk" not in text
    assert text.endswith('\nname = "bob"')


def test_clean_text_comes_back_as_the_same_object(redactor: Redactor) -> None:
    text = "nothing to see, not even a token: it is None"
    assert redactor.redact(text) is text


def test_a_placeholder_is_stable_and_hangs_on_the_key(redactor: Redactor) -> None:
    other = Redactor(key=KEY[::-1])
    assert redactor.redact(TOKEN) == Redactor(key=KEY).redact(f"{TOKEN} ").strip() != other.redact(TOKEN)
    assert TOKEN[4:] not in redactor.redact(TOKEN)


def test_a_key_is_needed() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        Redactor(key=b"short")


@pytest.mark.parametrize(
    "text",
    [
        f"PASSWORD={WORD}",
        f'"password": "{WORD}"',
        f"postgres://app:{WORD}@db/app",
        f"-u bob:{WORD}",
        f"Bearer {WORD * 2}",
    ],
)
def test_a_placeholder_is_no_secret(text: str, redactor: Redactor) -> None:
    once = redactor.redact(text)
    assert WORD not in once
    assert redactor.redact(once) is once


def test_the_most_telling_rule_names_an_overlap(redactor: Redactor) -> None:
    for text in (f"api_key={TOKEN}", f"Authorization: Bearer {TOKEN}", f"https://x.test/?token={TOKEN}&a=1"):
        assert [one.kind for one in redactor.find(text)] == ["github-token"]


def test_explain_says_what_and_why(redactor: Redactor) -> None:
    rows = redactor.explain(f"{TOKEN} and password: ${{DB_PASSWORD1}} and sk-{'x' * 40}")
    assert {row.outcome for row in rows} == {"redacted", "let through"}
    assert [row.kind for row in rows if row.outcome == "redacted"] == ["github-token"]
    assert all(row.why for row in rows)


def test_allowed_values_patterns_and_names_are_let_through() -> None:
    text = f"API_TOKEN={WORD}"
    for allow in (
        Allow("value", exact=frozenset({WORD})),
        Allow("pattern", pattern=re2.compile(WORD[:5].encode())),
        Allow("name", names=frozenset({"api_token"})),
        Allow("kind", kinds=frozenset({"secret"})),
    ):
        redactor = Redactor(allow=[allow], key=KEY)
        assert redactor.redact(text) is text
        assert [(row.outcome, row.why) for row in redactor.explain(text)] == [("allowed", f"allowed by {allow.name!r}")]
        assert redactor.redact(f"other {TOKEN}") != f"other {TOKEN}" or allow.name == "kind"


def test_rules_of_users_and_kinds_switched_off() -> None:
    custom = Custom("acme-key", re2.compile(rb"acme_([a-z]{6})"), keywords=(b"acme",))
    redactor = Redactor(Rules(custom=(custom,), without=frozenset({"github-token"})), key=KEY)
    assert redactor.find(f"acme_abcdef {TOKEN}") == [SecretFinding("acme-key", 5, 11)]


def test_personal_data_is_looked_for_on_request(redactor: Redactor, personal: Redactor) -> None:
    text = "mail bob@acme.test or call +44 20 7946 0958, card 4111 1111 1111 1111, iban GB82 WEST 1234 5698 7654 32."
    assert redactor.redact(text) is text
    assert [one.kind for one in personal.find(text)] == ["email", "telephone", "payment-card", "iban"]


def test_key_blocks_go_whole(redactor: Redactor) -> None:
    edge = "-" * 5
    lines = "\n".join(draw_characters("b", 64, str(n)) for n in range(4))
    block = f"{edge}BEGIN RSA PRIVATE KEY{edge}\n{lines}\n{edge}END RSA PRIVATE KEY{edge}"
    assert redactor.redact(f"a\n{block}\nb").split("redacted:private-key:")[0] == "a\n"
    assert redactor.redact(f"a\n{block}\nb").endswith("\nb")
    cut = block[: len(block) // 2]
    assert lines[70:90] not in redactor.redact(f"{cut}\nand so on, it says")
    assert redactor.redact(f"{cut}\nand so on, it says").endswith("\nand so on, it says")
    tail = block[100:]
    assert lines[-40:] not in redactor.redact(tail)


def test_manifests_lose_values_and_keep_names(redactor: Redactor) -> None:
    text = f"apiVersion: v1\ndata:\n  user: {WORD}\nkind: Secret\ntype: Opaque\n"
    assert "  user: redacted:kubernetes-secret:" in redactor.redact(text)
    assert redactor.redact(text).endswith("\nkind: Secret\ntype: Opaque\n")


def test_lone_surrogates_survive(redactor: Redactor) -> None:
    text = f"\ud800 {TOKEN} \udfff"
    assert redactor.redact(text) == f"\ud800 {redactor.redact(TOKEN)} \udfff"
    assert [text[one.start : one.end] for one in redactor.find(text)] == [TOKEN]
    assert [text[row.start : row.end] for row in redactor.explain(text)] == [TOKEN]


def test_a_value_before_a_name_is_no_part_of_the_name(redactor: Redactor) -> None:
    text = "password is meadow-4821qk " * 12
    assert "4821qk" not in redactor.redact(text)


@pytest.mark.parametrize(
    "sentence",
    ["the password is {s}", "the password was {s}, please log in", "log in as admin with {s} as the password"],
)
@pytest.mark.parametrize("words", [("harbour", "lantern"), ("copper", "ladder", "meadow"), ("thunderbird",)])
def test_words_with_a_number_that_a_sentence_calls_the_password(
    sentence: str, words: tuple[str, ...], redactor: Redactor
) -> None:
    secret = "-".join(words) + "-72"[len(words) == 1 :]
    assert secret not in redactor.redact(sentence.replace("{s}", secret))


@pytest.mark.parametrize(
    "text",
    ["we use postgres16 as the password store", "use sha256 as the password hasher", "password is required here"],
)
def test_words_beside_a_password_stay(text: str, redactor: Redactor) -> None:
    assert redactor.redact(text) == text


@pytest.mark.parametrize(
    "sentence",
    [
        "the password is {s}",
        "the password is {s}, then press enter",
        "password: {s}\nuser: bob",
        "pw: {s};",
        'the password is "{s}".',
    ],
)
@pytest.mark.parametrize("sign", ["&", ";", ","])
def test_a_stated_password_ends_at_a_blank_or_its_quote(sentence: str, sign: str, redactor: Redactor) -> None:
    begin, end = "Kettle7Moon", "4fox"
    found = redactor.redact(sentence.replace("{s}", f"{begin}{sign}{end}"))
    assert begin not in found
    assert end not in found


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("https://x.test/?password=Kettle7Moon&next=home1", "&next=home1"),
        ("{password: Kettle7Moon,user: bob7}", ",user: bob7}"),
        ("PGPASSWORD=Kettle7Moon && make", " && make"),
    ],
)
def test_what_follows_a_password_stays(text: str, rest: str, redactor: Redactor) -> None:
    found = redactor.redact(text)
    assert "Kettle7Moon" not in found
    assert found.endswith(rest)


@pytest.mark.parametrize("lead", ["login with anna / ", "log in as anna / ", "credentials: anna / "])
def test_a_password_behind_the_name_of_a_login_may_end_with_its_sign(lead: str, redactor: Redactor) -> None:
    assert "Kettle1999" not in redactor.redact(f"{lead}Kettle1999!")
    assert redactor.redact(f"{lead}Sprint2!") == f"{lead}Sprint2!"


@pytest.mark.parametrize("name", ["password", "client_secret", "api_key"])
def test_random_letters_of_a_telling_member_go(name: str, redactor: Redactor) -> None:
    for seed in range(100):
        value = draw_characters("A", 7, f"{seed} before") + "-_"[seed % 2] + draw_characters("A", 8, f"{seed} after")
        assert value not in redactor.redact(json.dumps({name: value, "note": "x"}))
        assert value not in json.dumps(redactor.redact_json({"of": {name: value}}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token", "refreshTokenExpired"),
        ("password", "must-not-be-empty"),
        ("password", "passwordTooShort"),
        ("secret", "database-credentials"),
        ("api_key", "OPENAI_API_KEY"),
    ],
)
def test_words_of_a_telling_member_stay(name: str, value: str, redactor: Redactor) -> None:
    text = json.dumps({name: value})
    assert redactor.redact(text) is text
