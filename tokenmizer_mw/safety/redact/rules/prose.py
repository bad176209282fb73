"""Secrets that people write in sentences."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import LINE, QUOTES, PlaceRule, behind
from tokenmizer_mw.safety.redact.rules.assignments import spelt

_CODE: Final = (
    r"(?:[0-9]{1,2}[.)][ \t]+|[*-][ \t]+)?(?:[A-Za-z0-9]{4,6}[- ][A-Za-z0-9]{4,6}(?:-[A-Za-z0-9]{4,6}){0,3}"
    r"|[A-Za-z0-9]{8,12})"
)
"""Pattern for one code in a list of recovery codes."""

_LABEL: Final = (
    rf"(?i:password|passwort|passphrase|kennwort|{spelt(('contraseña', 'mot de passe', 'senha', 'wachtwoord'))})"
)
"""Pattern for the label on the line above a password."""

_AWS_NAME: Final = rf"(?i:secret[_ -]?access[_ -]?key)(?:{QUOTES}|\*)*[ \t]*(?::=|[:=])(?:[ \t]|{QUOTES})*"

# fmt: off
PROSE: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("seed-phrase",
        r"(?i:mnemonic|seed|seed[ _-]?phrase|recovery[ _-]?(?:phrase|words))"
        rf"(?:\\*[\"'`*])*(?:[ \t]*[:=][ \t]*|[ \t]+is[ \t:]+|[:=]?[ \t]*{LINE}[> \t]*)"
        r"(?:\\*[\"'`])?[a-z]{3,8} [a-z]{3,8} [a-z]{3,8} [a-z]{3,8} ",
        rf"(?i:[a-z _-]+?)(?:\\*[\"'`*])*(?:[ \t]*[:=][ \t]*|[ \t]+is[ \t:]+|[:=]?[ \t]*{LINE}[> \t]*)"
        r"(?:\\*[\"'`])?"
        r"((?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){12})?[a-z]{3,8})", "any",
        ("seed phrase: ", "{L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5}", ""),
        "seed: one two three four five"),
    PlaceRule("seed-phrase",
        rf"(?i:mnemonic|(?:seed|recovery|secret|backup)[ _-]?(?:phrase|words?))[^\r\n:\\]{{0,40}}:?(?:{LINE}|[ \t])*"
        rf"(?:[0-9]{{1,2}}[.):]?[ \t]*[a-z]{{3,8}}(?:{LINE}|[ \t,])*){{3}}",
        rf"(?i:[a-z _-]+)[^\r\n:\\]{{0,40}}:?(?:{LINE}|[ \t])*"
        rf"((?:[0-9]{{1,2}}[.):]?[ \t]*[a-z]{{3,8}}(?:{LINE}|[ \t,])*){{11,23}}[0-9]{{1,2}}[.):]?[ \t]*[a-z]{{3,8}})",
        "any",
        (
        "Seed words:\n",
        "1. {L5} 2. {L5} 3. {L5} 4. {L5} 5. {L5} 6. {L5} 7. {L5} 8. {L5} 9. {L5} 10. {L5} 11. {L5} 12. {L5}",
        "",
        ), "Seed words:\n1. plant\n2. water\n3. light"),
    PlaceRule("grouped-key",
        rf"(?i:pass(?:word|wort)?|pwd?|secret|keys?|seed|2fa|totp|otp)(?:{QUOTES}|[*\]])*[ \t]*"
        rf"(?:[:=]|is\b|was\b|ist\b)[ \t]*(?:{QUOTES}|\*)*"
        r"(?:(?:[a-z0-9]{4}[ -]){3}[a-z0-9]{4}|(?:[A-Z2-7]{4}[ -]){3}[A-Z2-7]{4})",
        rf"(?i:[a-z0-9]+)(?:{QUOTES}|[*\]])*[ \t]*(?:[:=]|is\b|was\b|ist\b)[ \t]*"
        rf"(?:{QUOTES}|\*)*((?:[a-z0-9]{{4}}[ -]){{3,15}}[a-z0-9]{{4}}|(?:[A-Z2-7]{{4}}[ -]){{3,15}}[A-Z2-7]{{4}})",
        "grouped", ("2FA secret: ", "{l4} {l4} {l4} {l4} {l4} {l4} {l4} {l4}", ""),
        "the key is what they said when last seen", edge=False),
    PlaceRule("recovery-codes",
        r"(?i:(?:recovery|backup|scratch|emergency|one[- ]time)[ _-](?:codes?|passwords))[^\r\n:\\]{0,40}:"
        rf"(?:{LINE}|[ \t])*(?:[0-9]{{1,2}}[.)][ \t]+|[*-][ \t]+)?[A-Za-z0-9]{{4,10}}[- ]?[A-Za-z0-9]{{4}}",
        rf"(?i:[a-z _-]+)[^\r\n:\\]{{0,40}}:(?:{LINE}|[ \t])*((?:{_CODE}(?:{LINE}|[ \t,;]){{1,4}}){{0,31}}{_CODE})",
        "codes", ("Recovery codes:\n", "{h5}-{d5}\n{h5}-{d5}\n{h5}-{d5}", "\n"),
        "Backup codes:\nprinted and locked away"),
    PlaceRule("key-bytes", r"\[[ \t\r\n]*(?:[0-9]{1,3},[ \t\r\n]*){16}",
        r"\[[ \t\r\n]*((?:[0-9]{1,3},[ \t\r\n]*){63}[0-9]{1,3})[ \t\r\n]*\]", "any",
        ("secretKey: [", ",".join(["{d3}", "{d2}", "{d1}", "{d3}"] * 16), "]"),
        "key codes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]", edge=False,
        before=r"(?i)(?:key|secret|wallet|signer|id\.json|solana)[^\n]{0,40}\n?$"),
    behind("password",
        r"(?i:logins?|log[ -]in|log(?:ged)? in (?:as|with)|creds?|credentials|sign in (?:as|with)"
        r"|(?:user(?:name)?|u)[ ]?(?:/|and|&|\+)[ ]?(?:pass(?:word|wd)?|pw|p)|zugang|zugangsdaten"
        r"|anmeldedaten|identifiants?|credenciales|credenziali|credenciais|inloggegevens|inlog)"
        r"(?:[ \t]?[:=]|[ \t](?:is|are|with|as|for|sind|lauten|sont|son):?)?"
        rf"[ \t]+(?:{QUOTES}|\*)*[A-Za-z0-9_-]+(?:[A-Za-z0-9.+_-]*@[A-Za-z0-9.-]+)?(?:{QUOTES}|\*)*[ \t]*[/:|]"
        rf"[ \t]*(?:{QUOTES}|\*)*", "login", ("Zugangsdaten: admin / ", "{w5}Q7x{w5}", ""),
        "login: https://x.test/Oauth2", value=r"[^\s\"'`\\()\[\]{}<>]"),
    behind("password", rf"(?i:use|using|with|try|enter|type|and|is|nimm|mit|avec|con|com|usa)[ \t]+(?:{QUOTES}|\*)*",
        "stated", ("use ", "{w5}#{w5}7x", " as the admin password"), "use Argon2id as the password hash",
        value=r"[^\s\"'`\\*]", least=6,
        after=rf"(?:{QUOTES}|\*)*[ \t]+(?:as|for|als|comme|como|come)[ \t]+(?:[a-z']{{1,12}}[ \t]+){{0,3}}"
        r"(?:passwor[dt]|passphrase|passcode|kennwort|mot de passe|contrase\xc3\xb1a|senha|wachtwoord)"
        r"(?:[^a-z \t]|[ \t][^h]|$)"),
    behind("password",
        r"(?i:(?:here(?:'s| is| are)|this is|my|initial|temporary|generated|following|new|default|admin|root|your)[ \t]"
        r"(?:[a-z-]{1,12}[ \t]){0,3}(?:password|token|secret|(?:api|secret|access|private)[ _-]key)[^\r\n:\\]{0,60}:)"
        rf"[ \t]*{LINE}(?:[> \t]|{QUOTES})*", "key",
        ("Please use the following password to proceed:\n\n", "{h32}", "\n"),
        "Please use the following password to proceed:\n\nthe-one-that-was-sent-to-you", value=r"[A-Za-z0-9_+/=.~-]",
        least=12),
    behind("secret",
        r"(?i:(?:secret|access|api|auth|private|client|master|signing)[ _-]?(?:access[ _-]?)?(?:key|token|secret))"
        rf"(?:{QUOTES}|\*)*[ \t]*(?::=|[:=])?[ \t]*{LINE}(?:[> \t]|{QUOTES})*", "drawn",
        ("AWS_SECRET_ACCESS_KEY=\n", "{b40}", "\n"), "Secret key:\nhow-to-rotate-the-secret-key-of-a-service",
        value=r"[A-Za-z0-9_+/=.~-]", least=20, edge=False),
    PlaceRule("aws-secret",
        rf"{_AWS_NAME}[A-Za-z0-9+/]{{4,39}}[ \t]*(?:\\+[ \t]*)?{LINE}",
        rf"{_AWS_NAME}([A-Za-z0-9+/]{{4,39}}[ \t]*(?:\\+[ \t]*)?{LINE}[> \t+]*[A-Za-z0-9+/]{{1,36}})"
        r"(?:[^A-Za-z0-9+/=]|$)", "broken-40", ("AWS_SECRET_ACCESS_KEY=", "{b32}\n{b8}", "\n"),
        "AWS_SECRET_ACCESS_KEY=\nAWS_REGION=eu-west-1", edge=False),
    PlaceRule("litellm-key", r"\|[ \t]*(?:\*\*|`)*sk-[A-Za-z_-]{0,24}[0-9]",
        r"\|[ \t]*(?:\*\*|`)*(sk-[A-Za-z0-9_-]{4,})(?:\*\*|`)*[ \t]*\|", "short-key",
        ("| local | ", "sk-{d4}", " |"), "| sk-learn | the library |", edge=False),
    behind("password",
        rf"(?i:password|passphrase)[ ]for[ ](?:[a-z]{{1,12}}[ ]){{0,2}}"
        rf"(?:{QUOTES}[^\r\n\"'`]{{1,80}}{QUOTES}|[^\s:]{{1,60}}):[ \t]*", "strong",
        ("Enter passphrase for key '/home/bob/.ssh/id_rsa': ", "{w5}Q7x{w5}", "\n"),
        "password for key '/home/bob/.ssh/id_rsa': asked once"),
    PlaceRule("password", rf"{_LABEL}[ \t]*:?[ \t]*{LINE}[ \t]*[^\s\"'`\\0-9]{{1,40}}[0-9]",
        rf"{_LABEL}[ \t]*:?[ \t]*{LINE}[ \t]*([^\s\"'`\\]{{6,64}})[ \t]*(?:[\r\n\\]|$)", "strong",
        ("Username\nbob\nPassword\n", "{L4}Q7x{w5}", "\n"), "Username\nPassword\nForgot it2?",
        before=r"(?:^|\n|\\n)[ \t*#>-]*$"),
    behind("password", r"[Uu](?:ser)?[:=][ \t]*[^\s,;]+[ \t,;/|]+[Pp](?:w)?[:=][ \t]*", "strong",
        ("U: admin P: ", "{w5}#{w5}7x", " (staging)"), "u: up p: page"),
    behind("password", rf"(?:{spelt(('密码', '密碼', '口令', 'パスワード', '비밀번호'))})", "strong",
        ("账号admin，密码", "{w5}#{w5}7x", "，先别改"), "密码AES256加密", value=r"[!-&(-\[\]-_a-~]", edge=False),
    PlaceRule("one-time-code", r"(?:[A-Z]-)?[0-9]{4,8}[ ]is[ ]your[ ]",
        r"((?:[A-Z]-)?[0-9]{4,8})[ ]is[ ]your[ ](?:[A-Za-z0-9.-]{1,20}[ ]){0,4}(?i:code|otp|pin|passcode)", "any",
        ("", "{d6}", " is your X verification code."), "1234 is your place in the queue for the code"),
)
# fmt: on
