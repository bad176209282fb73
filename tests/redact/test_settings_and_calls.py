"""Secrets that stand in calls, commands and files of settings, and what only looks like them."""

from __future__ import annotations

import base64

import pytest

from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters

WORD = draw_characters("w", 14, "word")
LETTERS = draw_characters("A", 18, "letters only")
LONG = draw_characters("w", 32, "long")
HEX = draw_characters("h", 40, "hex")
EDGE = "-" * 5
WRAPPED = base64.b64encode(f"{EDGE}BEGIN EC PRIVATE KEY{EDGE}\n{draw_characters('b', 120, 'pem')}".encode()).decode()
CERTIFICATE = base64.b64encode(f"{EDGE}BEGIN CERTIFICATE{EDGE}\n{draw_characters('b', 120, 'pem')}".encode()).decode()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("secret_key_base: {s}", draw_characters("h", 128, "rails")),
        ('network={{\n ssid="Home"\n psk="{s}"\n}}', WORD),
        ("Das Passwort lautet {s} für den Server", WORD),
        ("POSTGRES_PASSWORD={s}", LETTERS),
        ('"Default": "Host=db;Username=app;Password={s}"', LETTERS),
        ("MISTRAL_API_KEY={s}\nMODEL=large", LETTERS + LETTERS),
        ("https://x.test/magic-login/{s}", LONG),
        ("server.login('bob@x.test', '{s}')", WORD),
        ('smtp.PlainAuth("", "u@x.test", "{s}", "mail.x.test")', WORD),
        ('requests.get(url, auth=("bob", "{s}"))', WORD),
        ("jwt.sign(payload, '{s}')", LONG),
        ("wandb login {s}", HEX),
        ("sonar-scanner -Dsonar.login={s}", HEX),
        ("    client-key-data: {s}\n", WRAPPED),
        ("db.x.test:5432:prod:app:{s}\n", WORD),
    ],
)
def test_the_secret_goes_and_nothing_else(text: str, secret: str, redactor: Redactor) -> None:
    said = text.format(s=secret)
    [found] = redactor.find(said)
    assert said[found.start : found.end] == secret


@pytest.mark.parametrize(
    "text",
    [
        "mongodb://<username>:<password>@cluster0.x1.mongodb.net/db",
        'kubectl get secret db -o jsonpath="{.data.password}" | base64 -d',
        "echo $PASSWORD | sha256sum",
        "password: !vault db_password",
        "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?missing}",
        "Arguments to pass to `client2.request`.",
        "password: getPasswordFromVault",
        "secretKey = readSecretFromEnvironment",
        f"certificate-authority-data: {CERTIFICATE}",
        "smtp.login(user, settings.smtp_password)",
    ],
)
def test_what_only_looks_like_one_stays(text: str, redactor: Redactor) -> None:
    assert redactor.redact(text) is text
