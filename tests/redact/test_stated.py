"""Passwords that a person made up, as sentences state them; and sentences with the same words that state none."""

from __future__ import annotations

import json
import random
import re
from typing import Final

import pytest

from tests.redact.ordinary_sentences import ORDINARY
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters

WORDS: Final = ("walnut", "kettle", "harbour", "saddle", "thunder", "violin", "meadow", "copper")
STATED: Final = {
    "English": [
        "the password is {under}",
        "our password is {hyphen}",
        "the passphrase is {hyphen}",
        "the password's {camel}",
        "the password’s {camel}",
        "the password was changed to {camel}",
        "the password has been reset to {joined}.",
        "the password is {hyphen} and the user is admin",
        "Deploy is at five. The password is {hyphen} and the user is admin. Then we go.",
        "we changed the password to {camel} last night",
        "I think the wifi password is {under}!",
        'the password is "{joined}"',
        "the password is `{under}`",
        "the password is now {inside}",
        "pw is {inside}",
        "my password: {under}",
        "Password: {hyphen}",
        "pass {inside}",
        "user bob, pass {inside}",
        "log in as bob with pass {inside} and restart it",
        "the password is {joined}",
        "the password for the staging box is {camel}, please keep it",
    ],
    "German": [
        "das Passwort ist {hyphen}",
        "das Passwort lautet {camel}",
        "das Passwort wurde auf {camel} geändert",
        "unser Kennwort ist {under} und der Nutzer ist admin",
    ],
    "French": [
        "le mot de passe est {hyphen}",
        "le mot de passe du serveur est {under}",
        "le mot de passe a été changé en {camel}",
    ],
    "Spanish": [
        "la contraseña es {under}",
        "la contraseña fue cambiada a {camel}",
        "mi contraseña es {hyphen} y el usuario es admin",
    ],
    "Italian": [
        "la password è {hyphen}",
        "la password è stata cambiata in {camel}",
        "la password del server è {under}",
    ],
    "Portuguese": ["a senha é {under}", "a senha foi alterada para {camel}", "minha senha é {hyphen}"],
    "Dutch": ["het wachtwoord is {hyphen}", "het wachtwoord is gewijzigd naar {camel}", "ons wachtwoord is {under}"],
}


def _fill(seed: int) -> dict[str, str]:
    rng = random.Random(seed)
    first, second = rng.sample(WORDS, 2)
    number = rng.randrange(10, 99)
    return {
        "under": f"{first}_{second}_{number}",
        "hyphen": f"{first}-{number}-{second}",
        "camel": f"{first.capitalize()}{second.capitalize()}{number}",
        "inside": f"{first}{number % 9 + 1}{second}",
        "joined": f"{first}_{second}",
    }


@pytest.mark.parametrize(
    ("language", "template"), [(language, template) for language, rows in STATED.items() for template in rows]
)
def test_a_stated_password_goes_alone(language: str, template: str, redactor: Redactor) -> None:
    [field] = re.findall(r"\{(\w+)\}", template)
    for seed in range(12):
        text, value = template.format_map(_fill(seed)), _fill(seed)[field]
        redacted = redactor.redact(text)
        assert value not in redacted and not any(
            word in redacted for word in (*value.split("_"), *value.split("-")) if len(word) > 5
        ), text
        assert redactor.redact(redacted) == redacted
        [found] = redactor.find(text)
        assert text[found.start : found.end].rstrip("!") == value


@pytest.mark.parametrize("language", ORDINARY)
def test_ordinary_sentences_stay(language: str, redactor: Redactor) -> None:
    for sentence in ORDINARY[language].strip("\n").split("\n"):
        for text in (sentence, f"- {sentence}", sentence.rstrip("."), f"Well, {sentence}", f"{sentence} {sentence}"):
            assert redactor.redact(text) is text, text


def test_there_are_sixty_ordinary_sentences() -> None:
    assert sum(len(text.strip("\n").split("\n")) for text in ORDINARY.values()) >= 60


@pytest.mark.parametrize(
    "text",
    [
        "the password is SHA256 hashed",
        "the password is Argon2id now",
        "the password is pg_hba.conf",
        "the password is DB_PASSWORD",
        "the password is USER_NAME",
        "the password is get_user(1)",
        "the password is user.name2",
        "the password's too short",
        "the password is GitHub",
        "the password is k8s-managed",
        "the password is 12-character",
        "the password is tenant-specific-2",
        "user.password is walnut_kettle",
        "a password is walnut_kettle",
        "pass walnut77kettle to the function",
        "first pass walnut77",
        "we pass walnut77kettle on",
        "PASS walnut77kettle.spec.js",
    ],
)
def test_names_behind_a_password_stay(text: str, redactor: Redactor) -> None:
    assert redactor.redact(text) is text


def test_a_rule_finds_its_secret_behind_an_escaped_line_end(redactor: Redactor) -> None:
    secret = draw_characters("w", 20, "mc")
    for line in (
        f"mc alias set store https://s3.test admin {secret}",
        f"U: admin P: {secret}#7",
        f"jwt.sign(payload, '{secret}')",
        f"SELECT crypt('{secret}', gen_salt('bf'))",
        f"pass walnut7{secret[:4].lower()}kettle",
        f"the password is walnut_{secret[:4].lower()}_7",
    ):
        body = json.dumps({"messages": [{"role": "user", "content": f"Look:\n\n{line}"}]})
        assert json.loads(redactor.redact_body(body))["messages"][0]["content"] == redactor.redact(f"Look:\n\n{line}")
        assert redactor.redact(line) != line


def _key(count: int, seed: str) -> str:
    return f"{draw_characters('b', count - 4, seed)}aZ7q"


@pytest.mark.parametrize(
    "text",
    [
        "AWS_SECRET_ACCESS_KEY=\n{whole}\n",
        'AWS_SECRET_ACCESS_KEY =\n  "{whole}"\n',
        "AWS_SECRET_ACCESS_KEY\n{whole}\n",
        "AWS_SECRET_ACCESS_KEY={first}\n{last}\n",
        "AWS_SECRET_ACCESS_KEY={first}\\\n{last}\n",
        "AWS_SECRET_ACCESS_KEY: {first}\n  {last}\nnext",
        "my env: AWS_SECRET_ACCESS_KEY={first}\n{last} and it fails",
    ],
)
@pytest.mark.parametrize("cut", [10, 20, 32, 36])
def test_a_secret_access_key_in_two_lines(text: str, cut: int, redactor: Redactor) -> None:
    for seed in range(8):
        whole = _key(40, str(seed))
        redacted = redactor.redact(text.format(whole=whole, first=whole[:cut], last=whole[cut:]))
        assert whole[:cut] not in redacted and whole[cut:] not in redacted


def test_short_keys_in_tables(redactor: Redactor) -> None:
    for seed in range(8):
        named = f"sk-litellm-{draw_characters('l', 7, str(seed))}a1b2"
        short = f"sk-{draw_characters('d', 4, str(seed))}"
        text = f"| proxy | key |\n|---|---|\n| one | {named} |\n| two | `{short}` |\n"
        redacted = redactor.redact(text)
        assert named not in redacted and short not in redacted
        assert named not in redactor.redact(f"it is {named}")
    for text in ("| sk-learn | library |", "| sk-SK | Slovak |", "| sk-your-key1 | x |"):
        assert redactor.redact(text) is text


@pytest.mark.parametrize("template", STATED["English"][:8])
def test_neither_message_nor_label_nor_block_shows_it(template: str) -> None:
    [field] = re.findall(r"\{(\w+)\}", template)
    value = _fill(3)[field]
    memory = SessionMemory.open("memory://")
    memory.record(
        "s", [{"role": "user", "content": f"We decided to use PostgreSQL, and {template.format_map(_fill(3))}"}]
    )
    graph = memory.graph("s")
    assert all(value not in message.text for message in memory.restore("s", [1]))
    assert all(value not in f"{node.label} {node.detail} {node.source.quote}" for node in graph.nodes())
    assert value not in memory.resume("s").text
    memory.close()
