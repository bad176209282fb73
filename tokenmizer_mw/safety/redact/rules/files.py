"""Secrets in configuration files with a grammar of their own."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import LINE, QUOTES, PlaceRule, behind

_WRAPPED_PEM: Final = (
    "LS0tLS1CRUdJTiB(?:QUklWQVRFIEtFWS|SU0EgUFJJVkFURSBL|FQyBQUklWQVRFIEtF|PUEVOU1NIIFBSSVZB|FTkNSWVBURUQgUFJJ|QR1AgUFJJVkFU"
    "|EU0EgUFJJVkFU)"
)
"""How the first lines of private keys read in base 64, as kubeconfig files and CI variables hold them."""

# fmt: off
FILES: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("netrc-password", r"machine[ \t]+[^\s]+\s+login[ \t]+[^\s]+\s+password[ \t]+[^\s\"'`\\]{4}",
        r"machine[ \t]+[^\s]+\s+login[ \t]+[^\s]+\s+password[ \t]+([^\s\"'`\\]{4,})", "password",
        ("machine x.test login bob password ", "{W12}", ""), "machine x.test login bob password $PASS"),
    PlaceRule("private-key", rf"(?:{_WRAPPED_PEM})[A-Za-z0-9+/]{{40}}",
        rf"((?:{_WRAPPED_PEM})[A-Za-z0-9+/]{{40,}}={{0,2}})", "any",
        ("client-key-data: ", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt{b80}", ""),
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t{b80}"),
    behind("configured-password",
        r"(?:requirepass|masterauth|bindpw|rootpw(?:[ \t]+--plaintext)?"
        r"|passwd/[a-z-]{1,40}[ \t]+password|r[ow]community6?|snmp-server[ \t]+community|auth[-_]pass|server-key"
        r"|enable[ \t]+(?:secret|password)"
        r"|pre-shared-key(?:[ \t]+(?:local|remote|ascii-text))*|(?:radius|tacacs)-server[ \t]+key|authentication-key"
        rf"|message-digest-key[ \t]+[0-9]+[ \t]+md5|stats[ \t]+auth[ \t]+[^\s:]+)"
        rf"(?:[ \t]*[:=][ \t]*|[ \t]+|:)(?:[0-9][ \t]+)?{QUOTES}?", "chosen", ("requirepass ", "{W12}", "\n"),
        "requirepass is off"),
    behind("configured-password", r"(?:(?:password|secret|passwd|md5|community)[ \t]+[0-9]|key[ ]7)[ \t]+", "short",
        ("enable secret 5 ", "{w16}", ""), "the password 3 times", value=r"[^\s\"'`\\<>]", least=6),
    behind("configured-password", r"(?i:pwd|password)=\\*\{", "short", ("Driver={x};UID=sa;PWD={", "{W12}", "};"),
        "<Login password={userPassword} />", value=r"[^{}\r\n]", after=r"\\*\}", edge=False),
    behind("configured-password", r"<(?i:password|passphrase|master)>\{", "coded",
        ("<password>{", "{b43}=", "}</password>"), "<password>{project.deploy.password}</password>",
        value=r"[A-Za-z0-9+/=]", least=24, after=r"\}"),
    behind("configured-secret",
        r"variable[ \t]+\\*\"[a-z0-9_]*(?:password|passwd|secret|token|api_key|private_key|access_key)"
        r"[a-z0-9_]*\\*\"[ \t]*\{[^{}]{0,200}\sdefault[ \t]*=[ \t]*\\*\"", "chosen",
        ('variable "api_token" {\n  type = string\n  default = "', "{w32}", '"\n}'),
        'variable "api_token" {\n  type = string\n  default = ""\n}', value=r"[^\"\\\r\n]"),
    behind("configured-secret",
        r"(?i:password|passwd|secret|token|api_?key)[A-Za-z0-9]{0,16}:[ \t]*"
        rf"{LINE}(?:[ \t]+[A-Za-z]+:[^\n\\]{{0,80}}{LINE}){{0,3}}[ \t]+(?:Default|default):[ \t]*{QUOTES}?", "chosen",
        ("  DbPassword:\n    Type: String\n    NoEcho: true\n    Default: ", "{w6}8{w6}", "\n"),
        "  DbPassword:\n    Type: String\n    Default: ''", edge=False),
    behind("configured-secret", rf"BUNDLE_[A-Z0-9]+(?:__?[A-Z0-9]+)+{QUOTES}?[ \t]*[:=][ \t]*{QUOTES}?", "drawn",
        ('BUNDLE_GEMS__X__COM: "', "{h8}:{h8}", '"'), "BUNDLE_PATH__SYSTEM: true"),
    behind("configured-password", rf":[ \t]*(?:EAP|PSK|XAUTH|NTLM)[ \t]+{QUOTES}", "chosen",
        ('bob : EAP "', "{w6}7{w6}", '"'), 'bob : EAP "password"', value=r"[^\"\\\r\n]", edge=False),
    behind("configured-secret",
        rf"(?:github-oauth|gitlab-token|gitlab-oauth){QUOTES}[ \t]*:\s*\{{\s*{QUOTES}[a-z0-9.-]{{1,64}}{QUOTES}"
        rf"[ \t]*:[ \t]*{QUOTES}", "key", ('{"github-oauth":{"github.com":"', "{h40}", '"}}'),
        '{"github-oauth":{"github.com":"the-one-of-your-own"}}', value=r"[A-Za-z0-9_-]", least=16),
    behind("configured-secret",
        rf"(?i:password|passwd|secret|token|api_?key)[ \t]*=[ \t]*{QUOTES}[^\"\n]{{0,80}}{QUOTES}"
        rf"[ \t]*->[ \t]*{QUOTES}", "chosen", ('~ admin_password = "old" -> "', "{w6}7{w6}", '"'),
        '~ admin_password = "old" -> "changeme"', value=r"[^\"\\\r\n]", edge=False),
    behind("configured-password", r"<(?:[A-Za-z]{1,12}:)?(?i:password|passphrase|secret|token)[ \t][^<>\r\n]{1,120}>",
        "chosen", ('<wsse:Password Type="#PasswordText">', "{w6}7{w6}", "</wsse:Password>"),
        '<Password label="x">Choose one with 8 signs</Password>', value=r"[^\s<>\"'`\\]", after="</", edge=False),
    behind("wifi-password", r"WIFI:(?:[A-OQ-Z]:[^;\s]*;){0,4}P:\\*\"?", "password",
        ("WIFI:T:WPA;S:Office;P:", "{w16}", ";;"), "WIFI:T:nopass;S:Office;;", value=r"[^;\"\s]"),
    behind("password-hash", r":[0-9]{3,6}:[A-Fa-f0-9]{32}:", "any",
        ("Administrator:500:aad3b435b51404eeaad3b435b51404ee:", "{h32}", ":::"),
        "Administrator:500:aad3b435b51404eeaad3b435b51404ee:00000000000000000000000000000000:::", value=r"[A-Fa-f0-9]",
        least=32, after=":::", edge=False),
    behind("configured-password",
        rf"chpasswd:[ \t]*{LINE}(?:[ \t]+[a-z_]+:[^\r\n\\]{{0,40}}{LINE}){{0,3}}?"
        r"[ \t]+(?:-[ \t]+)?[a-z_][a-z0-9_-]*:[ \t]*", "password", ("chpasswd:\n  list: |\n    ubuntu:", "{w14}", "\n"),
        "chpasswd:\n  expire: false\n  users:\n    - {name: eve, type: RANDOM}", edge=False),
)
# fmt: on
