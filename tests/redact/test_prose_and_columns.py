"""Secrets that people write in sentences and show in columns, and what only reads like one."""

from __future__ import annotations

import pytest

from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters

CHOSEN = f"{draw_characters('L', 5, 'a').capitalize()}!{draw_characters('L', 6, 'b')}{draw_characters('d', 2, 'c')}"
NUMBERED = (
    f"Qu{draw_characters('l', 5, 'd')}-{draw_characters('d', 4, 'e')}"
    f"{draw_characters('L', 2, 'f')}{draw_characters('A', 3, 'g')}"
)
WORD = f"Q{draw_characters('w', 12, 'word')}7x"
LONG = draw_characters("w", 40, "long")
KEY = draw_characters("W", 43, "web key")


@pytest.mark.parametrize(
    "text",
    [
        "I changed the root password to {s} last night",
        "The database password was set to `{s}` by the last admin.",
        "The password for the gateway in the big hall is {s}.",
        "why is the password {s} rejected?",
        "use {s} as the admin password",
        "try {s}, that used to be the password",
        "login admin / {s} on the box",
        "Zugangsdaten: admin / {s}",
        "U: admin P: {s} (staging)",
        "admin password – {s}",
        "Mot de passe : {s}",
        "a senha do servidor é {s}",
        "hasło: {s}",
        "Şifre: {s}",
        "ПАРОЛЬ: {s}",
        "密码{s}，先别改",
        "パスワードは「{s}」です",
        "비밀번호는 {s} 입니다",
        "कृपया लिखें, पासवर्ड: {s}",
    ],
)
def test_a_password_that_is_told(text: str, redactor: Redactor) -> None:
    said = text.replace("{s}", CHOSEN)
    [found] = redactor.find(said)
    assert said[found.start : found.end] == CHOSEN


@pytest.mark.parametrize(
    "text",
    [
        "the password is {s}",
        "user is deploy, password is {s}, host is db2",
        "the db password ({s}) has changed",
        "mein Passwort ist „{s}“.",
        "la clave es {s}",
        "мой пароль {s}",
        "Password\n{s}\n",
        "Password set to {s}",
        "Enter passphrase for key '/home/bob/.ssh/id_rsa': {s}",
        "PASS {s}\r\n230 Logged in",
        'args: ["--password", "{s}"]',
        "  ENV ADMIN_PASSWORD {s}",
        "token = {s} (expires tomorrow)",
    ],
)
def test_a_word_with_a_number_that_letters_follow(text: str, redactor: Redactor) -> None:
    said = text.replace("{s}", NUMBERED)
    [found] = redactor.find(said)
    assert said[found.start : found.end] == NUMBERED


@pytest.mark.parametrize(
    "text",
    [
        "| user | password |\n|---|---|\n| bob | {s} |",
        "user,password,role\nbob,{s},admin\n",
        "name;secret access key\nci;{s}",
        "INSERT INTO users (name, password) VALUES ('it''s', NULL), ('bob', '{s}');",
        'ds.setPassword("{s}");',
        'let password = String::from("{s}");',
        "secret: process.env.SESSION_SECRET || '{s}',",
        'API_TOKEN: Final[str] = "{s}"',
        "token: |\n  {s}\nother: 1",
        "<key>ApiSecret</key>\n<string>{s}</string>",
        "<td>Password</td><td>{s}</td>",
        "aws ssm put-parameter --name /p/password --value '{s}' --type SecureString",
        "CREATE LOGIN svc WITH PASSWORD = N'{s}', CHECK_POLICY = OFF;",
    ],
)
def test_a_value_of_a_column_or_of_code(text: str, redactor: Redactor) -> None:
    said = text.replace("{s}", WORD)
    [found] = redactor.find(said)
    assert said[found.start : found.end] == WORD


def test_the_private_members_of_a_web_key_go(redactor: Redactor) -> None:
    said = f'{{"kty":"EC","crv":"P-256","x":"{KEY[::-1]}","d":"{KEY}"}}'
    assert redactor.redact(said).startswith(f'{{"kty":"EC","crv":"P-256","x":"{KEY[::-1]}","d":"redacted:web-key:')


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong!",
        "Use a passphrase of four words as the password.",
        "login / signup / logout pages share a layout",
        "fix(auth): login redirect loop (Repo#1234)",
        "the object identified by 'name2' is a node",
        "docker run -u 1000:1000 --rm web",
        "passphrase = passphrase.encode('latin1')",
        "if (!isValidPassword('abc1')) throw new InvalidPassword('E1234');",
        "validate_passwords('new_password1', 'new_password2')",
        "INSERT INTO tokens (id, token, kind) VALUES (1, 'if', 'keyword'), (2, 'else', 'keyword');",
        "INSERT INTO users (name, password) VALUES (?, ?);",
        "| field | type | password |\n|---|---|---|\n| login | string | required |",
        "user,password,role\nalice,,admin\nbob,,user",
        "LoginService$Inner1 and Login$2 are in the bundle of the login page",
        "session_id: run-2024-11-21-a",
        "password: https://wiki.test/Passwords2",
        "the password is Base_64 encoded",
        "password = Config.Port8080",
        "Password\nForgot it?\n",
        "PASS tests/Login2.spec.js",
        "The 2FA code is six digits long.",
        f"token fixed in commit:\n{draw_characters('h', 40, 'sha')}\n",
        f'{{"kty":"RSA","e":"AQAB","n":"{KEY * 4}"}}',
    ],
)
def test_what_only_reads_like_a_secret_stays(text: str, redactor: Redactor) -> None:
    assert redactor.redact(text) is text
