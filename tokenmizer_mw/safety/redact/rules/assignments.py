"""Patterns for names and their values: words for secrets in a dozen languages, signs and words of assignment, and the
first characters of secrets."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import LINE

PASSWORDS: Final = (
    *("password", "passwort", "passwd", "passphrase", "passcode", "passwrd", "pass", "pwd", "pswd", "pw", "psk"),
    *(
        "bindpw",
        "rootpw",
        "kennwort",
        "losungswort",
        "clave",
        "senha",
        "palavra-passe",
        "contrasena",
        "contraseña",
        "wachtwoord",
    ),
    *("mot de passe", "mdp", "parola", "parolă", "haslo", "hasło", "heslo", "jelszo", "jelszó", "lozinka"),
    *("losenord", "lösenord", "passord", "adgangskode", "kodeord", "salasana", "sifre", "şifre", "kata sandi"),
    *("mật khẩu", "пароль", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호"),
    *("كلمة المرور", "كلمة السر", "סיסמה", "पासवर्ड", "รหัสผ่าน"),
)
"""Words for a password, in lower case."""

OPAQUES: Final = (
    *("secret", "secrets", "token", "tokens", "credential", "credentials", "jwt", "bearer", "cookie", "auth"),
    *("authorization", "sessid", "session_id", "session-id", "sess_id", "sessionid", "session", "sid", "signature"),
    *("sig", "csrf", "secret_id", "secretid", "connection_string", "connection string", "connectionstring"),
    *("connection-string", "令牌", "токен"),
    *("api-schlüssel", "api schlüssel", "api-sleutel", "clé api", "clé d'api", "clave api", "clave de api"),
    *("chave api", "chave de api", "chave da api", "chiave api", "ключ api", "klucz api"),
    *("apiキー", "アクセスキー", "シークレットキー", "トークン", "密钥", "密鑰", "秘钥", "토큰"),
)
"""Words for secrets that programs generate, such as tokens and keys."""

_CODES: Final = r"(?i:otp|pin|tan|totp|mfa|2fa|code)"


def spelt(words: tuple[str, ...]) -> str:
    """Return an RE2 alternative of the words, over bytes of UTF-8. It is used under ``(?i)``, which works for ASCII
    only; so a word with other letters is included in three spellings: as it is, capitalised, and in upper case."""
    found: dict[str, None] = {}
    for word in words:
        cases = (word,) if word.isascii() else (word, word.capitalize(), word.upper())
        found.update((_escape_word(case), None) for case in cases)
    return "|".join(found)


def _escape_word(word: str) -> str:
    return "".join(chr(code) if code < 128 else f"\\x{code:02x}" for code in word.encode())


_PASSWORDS: Final = spelt(PASSWORDS)
_OPAQUES: Final = spelt(OPAQUES)
_TAIL: Final = r"(?:[_-]?[0-9]{1,3}|_[a-z0-9]+)?"
_QUOTE: Final = r"(?:\\*[\"'`])"
_ABOUT: Final = (
    r"(?:[ \t](?:[0-9]{1,2}|\([^()\r\n]{1,40}\)|\[[A-Za-z0-9*]{1,24}\]|(?:(?:is|was|has been)[ \t][a-z]+[ \t])?"
    r"(?:for|of|to|on|in|at|from|with|below|de|del|du|da|do|della|pour|para|per|van"
    r"|voor|zum|f\xc3\xbcr|dla|\xd0\xb4\xd0\xbb\xd1\x8f|\xd0\xbe\xd1\x82)(?:[ \t][a-z0-9_.@/\x80-\xff-]+){1,7}?))?"
)
"""What the value is for ("password for the VPN is"), between its name and the assignment."""

_VERB: Final = (
    r"(?:(?:is|was|are|has been|have been|will be|should be|is to be)(?:[ \t](?:now|still|currently|again|just|set"
    r"|reset|changed|updated)){0,3}(?:[ \t](?:to|as))?"
    r"|(?:set|reset|changed|updated)[ \t]to|to|as|auf|ist|war|lautet|lautete|est|es|era|ser\xc3\xa1"
    r"|\xc3\xa9|\xc3\xa8|je|este|l\xc3\xa0|adalah|\xc3\xa4r|er|jest|\xd1\x8d\xd1\x82\xd0\xbe|\xd0\xb1\xd1\x8b\xd0\xbb)"
)
_COPULA: Final = r"(?:\xe6\x98\xaf|\xe7\x82\xba|\xe4\xb8\xba|\xe3\x81\xaf|\xeb\x8a\x94|\xec\x9d\x80)"
_SIGN: Final = (
    r"(?::[ \t]*(?:&?[a-z]{3,6}|[a-z]+\[[a-z, |]*\])[ \t]*=|:=|===?|=>|=|->|<-|:|\|\||\?\?|\?:|\|"
    rf"|\xef\xbc\x9a|\xe2\x86\x92|>|,|[ \t](?:\xe2\x80[\x93\x94]|-|or)[ \t]|[ \t]{_VERB}[ \t]*:?[ \t]|[ \t]?{_COPULA})"
)
_OPEN: Final = (
    r"(?:[ \t]|\\*[\"'`*(\[]|\xe2\x80[\x98\x9c\x9e]|\xc2[\xa0\xab]"
    r"|\xe3\x80[\x80\x8a\x8c\x8e\x90]|[bruNE@](?:\\*[\"']))*"
)
_CONSTRUCTED: Final = (
    r"(?:new[ \t]+)?(?:[A-Za-z_]+(?:::|\.))*"
    r"(?:from|of|new|wrap|bytes|fromstring|string|secret[a-z]*|password|secure[a-z]*|securestring|literal)"
    rf"\([ \t]*[bruNE@]?{_QUOTE}"
)
SEPARATOR: Final = (
    rf"(?:{_QUOTE}?,?(?:\s|\\+n)*(?:{_QUOTE}?(?:value|content){_QUOTE}?[ \t]*[:=]|--value[ \t=])(?:[ \t]|\\*[\"'])*"
    r"|</[a-z]{2,4}>(?:\s|\\+[nr])*(?:<value>)?<(?:string|t[dh]|dd)[^<>]{0,40}>"
    r"|>(?:\s|\\+[nr])*<value>"
    rf"|:[ \t]*[|>][+-]?[ \t]*{LINE}[ \t]+"
    rf"|(?:[ \t]*(?::=|=|:)[ \t]*(?:{_CONSTRUCTED}|<%=[ \t]*{_QUOTE})|\([ \t]*[bruNE@]?{_QUOTE})"
    rf"|{_ABOUT}(?:\\*[\"'`*\])}}])*[ \t]*{_SIGN}{_OPEN}|[ \t]+{_OPEN})"
)
"""What stands between a name and its value, including the quote that opens the value; RE2, to be used ignoring case."""

_LETTERS: Final = r"[A-Za-z_+/.~%!@#$^*-]"
_TO_DIGIT: Final = rf"{_LETTERS}*"
_MIXED_CASE: Final = r"[A-Za-z_-]{0,12}[a-z][A-Z][a-z]?[A-Z][A-Za-z_-]{3}"
"""Letters that change case faster than names in code do, so that the first pass does not stop at those."""

_DRAWN: Final = rf"{_LETTERS}{{6}}{_TO_DIGIT}[0-9][A-Za-z0-9+/=_-]{{3}}|{_LETTERS}{{10}}{_TO_DIGIT}[0-9]|{_MIXED_CASE}"

_LETTERED: Final = rf"{_TAIL}{_QUOTE}[ \t]*:[ \t]*{_QUOTE}[A-Za-z_-]{{12}}"
"""A quoted member name with the beginning of its quoted value. This does not occur in sentences, so a value of letters
suffices."""

GATE: Final = (
    rf"(?i:(?:{_PASSWORDS}){_TAIL}{SEPARATOR})"
    r"(?:[A-Za-z_.-]*[0-9!@#$%^&*+~?][^\s\"'`]{2}|[A-Za-z_.-]{4}[A-Za-z_.-]*[0-9!@#$%^&*+~?]"
    rf"|{_MIXED_CASE})"
    rf"|(?i:(?:{_OPAQUES}){_TAIL}{SEPARATOR})"
    rf"(?:{_TO_DIGIT}[0-9][^\s\"'`(){{}}<>,;]{{4}}|{_DRAWN})"
    rf"|(?i:keys?{_TAIL}{SEPARATOR})"
    rf"(?:{_TO_DIGIT}[0-9][A-Za-z0-9+/=_.~%:!@#$^*-]{{6}}|{_DRAWN})"
    rf"|(?i:{_PASSWORDS}|{_OPAQUES}|keys?){_LETTERED}"
    rf"|{_CODES}(?:\\*[\"'`*])*(?::|=|[ \t](?i:is|was)|\xef\xbc\x9a)(?:[ \t]|\\*[\"'`*])*[0-9]{{3,4}}[ -]?[0-9]{{1,4}}"
)
"""RE2 for where a scan stops because a value has a name: a name that promises a secret, an assignment, and the
beginning of a value that is no plain word."""

NAMED: Final = rf"(?i)((?:{_PASSWORDS}|{_OPAQUES}|keys?|{_CODES}){_TAIL})({SEPARATOR})"
"""A name that promises a secret (first group), and the assignment behind it (second group)."""
