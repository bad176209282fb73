"""Passwords made of words, as people state them; and sentences about passwords, which stay."""

from __future__ import annotations

import json
import random
import re
from typing import Final

import pytest

from tests.redact.about_passwords import ABOUT_PASSWORDS
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.rules.password_words import LANGUAGES, PREFIXES


def _words(text: str) -> list[str]:
    return text.split()


WORDS: Final = {
    "English": _words("elephant copper meadow violin kettle harbour walnut thunder pillow saddle marble cactus"),
    "German": _words("Elefant Kupfer Wiese Geige Kessel Hafen Walnuss Donner Kissen Sattel Marmor Kaktus"),
    "French": _words("éléphant cuivre prairie violon bouilloire cerise noisette tonnerre coussin selle marbre cactus"),
    "Spanish": _words("elefante cobre pradera violín tetera puerto nuez trueno almohada silla mármol cactus"),
    "Italian": _words("elefante rame collina violino bollitore porto noce tuono cuscino sella marmo cactus"),
    "Portuguese": _words("elefante cobre campina violino chaleira porto noz trovão almofada sela mármore cacto"),
    "Dutch": _words("olifant koper weide viool ketel haven walnoot donder kussen zadel marmer cactus"),
    "Russian": _words("слоник медник лужайка скрипка чайник гавань орешник громко подушка седло мрамор кактус"),
}
STATED: Final = {
    "English": [
        "my password: {compound}",
        "My password is {compound}.",
        'the wifi password is "{three}"',
        "the password is {four}",
        "the password is {four}, please keep it",
        "The Wi-Fi password: {four}",
        "the guest wifi password is '{three}'",
        "our root password: {compound}",
        "the password for the staging box is {compound}",
        'the password is now "{two}"',
        "Password: {compound}",
        'the admin password was "{two}" until today',
        "I changed the password to {compound}",
        "I set the password to {compound} for now",
        'the password has been set to "{three}"',
        "my wifi pass: {four}",
        "the passphrase is {three}",
        "my password: {one}\nthanks",
        "The password is “{two}”, please keep it",
        "please note: password is `{compound}`",
        'the password is "{one}"',
        "the password is **{compound}**",
        "Login: bob, my password is {compound}",
        "The password for the router: {compound}",
    ],
    "German": [
        "das WLAN-Passwort ist {four}",
        "mein Passwort: {compound}",
        "das Passwort ist „{three}“",
        "mein Passwort: {one}",
        "das Adminpasswort lautet {compound}",
        'Das Passwort für das Gäste-WLAN lautet "{two}"',
        "wir haben das Passwort auf {compound} geändert",
        "unser Passwort ist jetzt {compound}",
        'mein Passwort ist "mein {two}"',
        "das WLAN Passwort ist '{two}'",
        "unser Adminpasswort: {one}",
    ],
    "French": [
        "le mot de passe du wifi est « {three} »",
        "mon mot de passe : {compound}",
        "le mot de passe est {four}",
        "mon mot de passe : {one}",
        'notre mot de passe est "{two}"',
        "mot de passe wifi : {compound}",
        "le mot de passe du serveur est {compound}.",
        "le mot de passe wifi est {four}",
    ],
    "Spanish": [
        "la contraseña del wifi es {four}",
        "mi contraseña: {compound}",
        'la contraseña es "{three}"',
        "mi contraseña: {one}",
        "la contraseña del servidor es {compound}",
        "cambié la contraseña a {compound} ayer",
    ],
    "Italian": [
        'la password del wifi è "{three}"',
        "la mia password: {compound}",
        "la password è {four}",
        "la mia password: {one}",
        "la password del server è {compound}",
        "ho cambiato la password in {compound}",
    ],
    "Portuguese": [
        'a senha do wifi é "{three}"',
        "minha senha: {compound}",
        "a senha é {four}",
        "minha senha: {one}",
        "mudei a senha para {compound}",
    ],
    "Dutch": [
        'het wachtwoord van de wifi is "{three}"',
        "mijn wachtwoord: {compound}",
        "het wachtwoord is {four}",
        "mijn wachtwoord: {one}",
    ],
    "Russian": ["пароль от вайфая: {compound}", "пароль — «{three}»", "мой пароль: {one}"],
}


def _filled(language: str, seed: int) -> dict[str, str]:
    words = random.Random(seed).sample(WORDS[language], 12)
    long = next(word for word in words if len(word) > 5)
    return {
        "one": long,
        "two": " ".join(words[:2]),
        "three": " ".join(words[:3]),
        "four": " ".join(words[:4]),
        "compound": f"{words[0]}-{words[1]}",
    }


@pytest.mark.parametrize(
    ("language", "template"), [(language, template) for language, rows in STATED.items() for template in rows]
)
def test_a_stated_password_of_words_goes_alone(language: str, template: str, redactor: Redactor) -> None:
    [field] = re.findall(r"\{(\w+)\}", template)
    for seed in range(8):
        value = _filled(language, seed)[field]
        text = template.format_map(_filled(language, seed))
        found = redactor.find(text)
        expected = f"mein {value}" if "mein {two}" in template else value
        assert [text[one.start : one.end] for one in found] == [expected], text
        redacted = redactor.redact(text)
        assert value not in redacted and redactor.redact(redacted) == redacted
        for ascii_only in (True, False):
            body = json.dumps({"messages": [{"role": "user", "content": text}]}, ensure_ascii=ascii_only)
            assert json.loads(redactor.redact_body(body))["messages"][0]["content"] == redacted


@pytest.mark.parametrize("language", ABOUT_PASSWORDS)
def test_sentences_about_passwords_stay(language: str, redactor: Redactor) -> None:
    sentences = ABOUT_PASSWORDS[language].strip("\n").split("\n")
    assert len(sentences) >= 8
    for sentence in sentences:
        for text in (sentence, f"- {sentence}", f"{sentence}.", f"Well, {sentence}, I think", sentence.capitalize()):
            assert redactor.redact(text) is text, text


@pytest.mark.parametrize(
    "text",
    [
        "password: str",
        "  password: plain-text",
        'password: "Enter your password"',
        '{"password": "Passwort eingeben"}',
        "db_password: my-secret",
        ":param password: optional login thing here",
        "args.password: {value}",
        "--password: {value}",
        "user.password is {value}",
        "getPassword: {value}",
        'Password: "Mot de passe"',
        "'password': 'words of a label'",
    ],
)
def test_code_about_passwords_stays(text: str, redactor: Redactor) -> None:
    text = text.replace("{value}", _filled("English", 1)["compound"])
    assert redactor.redact(text) is text


def test_a_motion_needs_a_change(redactor: Redactor) -> None:
    value = _filled("English", 2)["compound"]
    assert value in redactor.redact(f"I added the password to {value}")
    assert value not in redactor.redact(f"I changed the password to {value}")


def test_the_lists_of_words_are_small_letters_and_name_each_language_once() -> None:
    for language in LANGUAGES:
        for listed in (language.mine, language.generic, language.links, language.predicates):
            assert all(word == word.lower() and " " not in word for word in listed)
        assert re.compile(language.endings) and re.compile(language.copulas) and re.compile(language.motions)
        assert not language.generic & language.mine
    assert all(prefix.isalpha() for prefix in PREFIXES)
