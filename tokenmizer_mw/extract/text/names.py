"""Recognise names in prose: file paths and endpoints of web services.

The names are returned in order, each with its position. A text that only looks like a name is left out: "and/or",
"Node.js", "v1.2.3" and "docs.rs" are no files. Linear time; patterns are RE2 and run only if a cheap test says that
they may match.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

from tokenmizer_mw.runtime.lazy import expression

from .similar import split_words

NAMES_MAX: Final = 200
"""Greatest number of names of one kind that are returned for one text."""


CANDIDATES_MAX: Final = 2_000
"""Number of possible names of one kind that are examined in one text."""


class Name(NamedTuple):
    """A name as it is shown to people, and its position: characters ``[start, end)`` of the text."""

    text: str
    start: int
    end: int


_EXTENSIONS: Final = (
    "adoc|asm|astro|bat|bib|bicep|blade\\.php|c|cabal|cairo|cc|cfg|cjs|clj|cljs|cmake|conf|cpp|cs|cshtml|csproj|css|csv|cts"
    "|cue|cxx|dart|eex|ejs|el|elm|erb|erl|ex|exs|fs|fsproj|gd|gemspec|go|gql|gradle|graphql|groovy|h|haml|hbs|hcl|heex"
    "|hh|hpp|hrl|hs|htm|html|ini|ipynb|j2|java|jinja|jinja2|jl|js|json|json5|jsonc|jsonl|jsx|kt|kts|less|lua|md|mdx|mjs"
    "|ml|mli|mm|mts|nim|nix|php|phtml|pl|plist|podspec|pony|prefab|prisma|proto|ps1|pug|py|pyi|pyx|razor|rb|rego|resx"
    "|rmd|rs|rst|sass|sbt|scala|scss|sh|sln|sol|sql|storyboard|sv|svelte|svg|swift|tex|tf|tfvars|toml|tpl|ts|tsv|tsx"
    "|twig|txt|uxml|vb|vim|vue|xaml|xcconfig|xml|yaml|yml|zig|zsh"
)
_EXTENSIONS_IN_FOLDERS: Final = (
    "bak|bash|bin|cmd|d|dat|db|docx|fish|gif|ico|jpeg|jpg|log|m|otf|parquet|pdf|pkl|pm|png|po|pot|pptx|properties|r|s"
    "|sample|sqlite|sqlite3|tmpl|template|ttf|v|webp|wasm|woff|woff2|xlsx|zip"
)
"""Extensions that count only in a path with a folder: a bare "app.log" is too often an attribute in code or a file that
a program made."""

_SECOND_EXTENSIONS: Final = "bak|dist|eex|erb|example|j2|local|map|meta|orig|sample|template|tmpl|tpl"
_WHOLE_NAMES: Final = (
    "Dockerfile|Containerfile|Makefile|GNUmakefile|Jenkinsfile|Procfile|Gemfile|Rakefile|Vagrantfile|Pipfile|Justfile|"
    "justfile|Caddyfile|Brewfile|Tiltfile|Podfile|Fastfile|CODEOWNERS|BUILD\\.bazel|WORKSPACE\\.bazel|MANIFEST\\.in|"
    "go\\.(?:mod|sum|work)|(?:requirements|dev|test)\\.in|(?:gradle|application|sonar-project|local)\\.properties|"
    "(?:yarn|poetry|Cargo|composer|Gemfile|Pipfile|uv|bun|flake|pubspec|mix|Podfile|pdm|deno)\\.lock|gradlew|mvnw"
)
_DOT_FILES: Final = (
    "env(?:\\.[a-z][a-z.]*[a-z])?|envrc|git(?:ignore|attributes|modules)|gitlab-ci\\.yml|dockerignore|editorconfig|npmrc"
    "|nvmrc|npmignore|prettierrc|prettierignore|eslintrc|eslintignore|babelrc|stylelintrc|browserslistrc|python-version"
    "|node-version|ruby-version|tool-versions|flake8|coveragerc|pylintrc|bashrc|zshrc|profile|vimrc|htaccess|clang-format"
    "|dockerconfigjson|pre-commit-config\\.yaml|swiftlint\\.yml|rubocop\\.yml|golangci\\.ya?ml"
)
_SIGN: Final = r"[\p{Latin}\pN_@.+()\[\]-]"
_FOLDERS: Final = rf"(?:(?:[A-Za-z]:)?[\\/]|~[\\/])?(?:{_SIGN}+[\\/])*"
_PATH: Final = expression(
    rf"{_FOLDERS}(?:{_SIGN}+\.(?:{_EXTENSIONS}|{_EXTENSIONS_IN_FOLDERS})(?:\.(?:{_SECOND_EXTENSIONS}))?\b"
    rf"|(?:{_WHOLE_NAMES})\b(?:\.[a-z][\w-]*\b)?|\.(?:{_DOT_FILES})\b)"
)
_IN_FOLDERS: Final = frozenset(_EXTENSIONS_IN_FOLDERS.split("|"))
_WHOLE: Final = expression(rf"(?:{_WHOLE_NAMES})(?:\.[\w-]+)?")
_DOTTED: Final = expression(rf"\.(?:{_DOT_FILES})")

_PRODUCTS: Final = frozenset(
    f"{name}.js"
    for name in split_words(
        "node next nuxt vue react angular ember backbone express three d3 chart moment day p5 alpine solid preact "
        "meteor electron nest koa hapi knex sequelize passport socket discord tensorflow tone plotly leaflet matter"
        " anime video fuse highlight prism marked handlebars underscore lodash mocha jest cypress puppeteer"
        " playwright ethers web3 hono astro qwik remix brain ml5 paper fabric pixi babylon phaser cannon gsap zod pdf"
        " fastify feathers"
        " polymer knockout require"
    )
)
PROJECTS: Final = split_words("llama.cpp whisper.cpp stable-diffusion.cpp bark.cpp clip.cpp rwkv.cpp gemma.cpp")
"""Products named like a file. In prose they mean the product unless the text says otherwise (``is_project_name``)."""

_FILE_WORDS: Final = expression(
    r"(?i)(?:edit|edits|edited|editing|open|opened|rename|renamed|delete|deleted|compile|compiled|rewrite|rewrote|file)"
    r" (?:the )?(?:file )?$"
)
_NO_FILES: Final = split_words(
    "response.json res.json resp.json request.json req.json r.json result.json docs.rs bun.sh astral.sh"
    " brew.sh get.sh self.c self.h this.c"
)
_LETTER_EXTENSIONS: Final = frozenset("ch")
_QUOTES: Final = frozenset("`'\"")
_BARRED_BEFORE: Final = frozenset("*{}<%$&?#@/\\\u2026")
_BARRED_BEHIND: Final = frozenset("*{<@$%")
_HOST_ENDINGS: Final = (
    ".com",
    ".org",
    ".net",
    ".io",
    ".dev",
    ".app",
    ".ai",
    ".co",
    ".edu",
    ".gov",
    ".example",
    ".test",
)


def find_file_paths(text: str) -> list[Name]:
    """Return the file paths in ``text``, in order and with repetitions, at most ``NAMES_MAX``; [] for none. A path is
    returned as it is written, but without "./", line numbers and test ids ("::test_login")."""
    if "." not in text and "file" not in text:
        return []
    found: list[Name] = []
    for match in islice(_PATH.finditer(text), CANDIDATES_MAX):
        name = _balance_brackets(match.group(), match.start(), match.end())
        if _is_file(text, name):
            found.append(name)
            if len(found) == NAMES_MAX:
                break
    return found


def is_project_name(text: str, name: Name) -> bool:
    """Whether ``name``, found in ``text``, is one of ``PROJECTS`` and means the product and not a file. It means a file
    if a quotation mark or a line number is next to it, if it has a folder, or if a verb of work on files precedes it
    ("edit llama.cpp")."""
    if name.text.lower() not in PROJECTS or name.text != text[name.start : name.end]:
        return False
    around = (text[name.start - 1 : name.start], text[name.end : name.end + 1])
    is_quoted = any(sign in _QUOTES for sign in filter(None, around)) or text[name.end : name.end + 2][1:].isdigit()
    return not is_quoted and not _FILE_WORDS.search(text[: name.start])


def as_path(text: str) -> str:
    """Return the path, without "./", if ``text`` is one file path and nothing else; else "". White space, colons,
    quotation marks and stars at the ends of ``text`` are ignored."""
    text = text.strip(" \t\r\n:`'\"*")
    found = find_file_paths(text)
    if len(found) == 1 and found[0].end == len(text) and text[: found[0].start] in ("", "./"):
        return found[0].text
    return ""


def is_same_path(one: str, other: str) -> bool:
    """Whether two spellings mean one file: they are equal, or the longer one ends with "/" and the shorter one. Case,
    the kind of slash, and "./" or "~/" at the beginning make no difference. False if one is ""."""
    a, b = (path.replace("\\", "/").removeprefix("./").removeprefix("~/").lower() for path in (one, other))
    short, long = sorted((a, b), key=len)
    return bool(short) and (short == long or long.endswith("/" + short.lstrip("/")))


_HOME: Final = expression(r"(?:[A-Za-z]:)?[\\/](?:(?:Users|home)[\\/][^\\/]+|root)[\\/]")
_DOTTED_PART: Final = expression(r"[\\/](\.[A-Za-z][^\\/]*(?:[\\/].*)?)$")


def is_in_home_folder(path: str) -> bool:
    """Whether ``path`` is absolute and its first part in a home directory begins with a dot ("/root/.cache/x"): such
    files belong to a program, not to the project."""
    home = _HOME.match(path) if path[:1] in ("/", "\\") or path[1:2] == ":" else None
    return home is not None and path[home.end() : home.end() + 1] == "."


def project_path(path: str) -> str:
    """Return an absolute ``path`` from its first name with a leading dot on, because that name marks the root of a
    project: "/srv/shop/.github/ci.yml" becomes ".github/ci.yml". Unchanged are relative paths, and paths without such a
    name or with it directly in a home folder or in the root of the disk."""
    if path[:1] not in ("/", "\\") and path[1:2] != ":":
        return path
    home = _HOME.match(path)
    rest = path[home.end() - 1 :] if home else path
    part = _DOTTED_PART.search(rest)
    return part.group(1) if part and part.start() else path


def _balance_brackets(path: str, start: int, end: int) -> Name:
    """The path at ``[start, end)`` of a text as a name: without "./", and without the part up to the last bracket that
    has no counterpart in it."""
    if "(" in path or "[" in path or ")" in path or "]" in path:
        depth, cut = 0, 0
        for index in range(len(path) - 1, -1, -1):
            depth += (path[index] in ")]") - (path[index] in "([")
            if depth < 0:
                cut = index + 1
                break
        if depth > 0:
            cut = max(path.rfind(")"), path.rfind("]")) + 1
        path, start = path[cut:], start + cut
    while path.startswith("./"):
        path, start = path[2:], start + 2
    return Name(path, start, end)


def _is_file(text: str, name: Name) -> bool:
    path, start, end = name
    while text.startswith("./", start - 2) and start > 1:
        start -= 2
    before, behind = text[start - 1 : start], text[end : end + 1]
    if not path or before in _BARRED_BEFORE or behind in _BARRED_BEHIND or (path[0] == "." and before.isalnum()):
        return False
    if behind == "(" and not text[end + 1 : end + 2].isdigit():
        return False
    if (behind == "." and text[end + 1 : end + 2].isalnum()) or _is_in_code(text, start, end):
        return False
    slash = max(path.rfind("/"), path.rfind("\\"))
    return _is_named_like_file(path[slash + 1 :], alone=slash < 0) and (
        slash < 0 or _is_standing_alone(text, path, start)
    )


def _is_in_code(text: str, start: int, end: int) -> bool:
    """Whether a name is the rest after a placeholder ("<Action>View.cs"), or the last argument of a call, in quotation
    marks."""
    if text[start - 1 : start] == ">":
        return text[start - 2 : start - 1].isalnum()
    called = text[end : end + 2] in ('")', "')")
    return called and text[max(start - 4, 0) : start - 1].rstrip()[-1:] in ("(", "/", ",")


def _is_named_like_file(name: str, *, alone: bool) -> bool:
    if name[:1] == ".":
        return bool(_DOTTED.fullmatch(name)) or (name.count(".") > 1 and name[1:2].isalpha())
    stem, _, extension = name.rpartition(".")
    if not stem:
        return True
    if not alone:
        return True
    low = name.lower()
    if low in _PRODUCTS or low in _NO_FILES or "@" in name:
        return False
    if extension.lower() in _IN_FOLDERS or (extension in _LETTER_EXTENSIONS and len(stem.rpartition(".")[2]) < 2):
        return bool(_WHOLE.fullmatch(name))
    return not stem.startswith(("-", "+"))


def _is_standing_alone(text: str, path: str, start: int) -> bool:
    """Whether a path with a folder is no part of a web address. Such a part begins with "//", a host, an e-mail address
    or a port, or is absolute and stands after a request method ("GET /a.js")."""
    if path.startswith("//") or (text[start - 1 : start] == ":" and path[0].isdigit()):
        return False
    first = path.replace("\\", "/").lstrip("/").split("/", 1)[0]
    if first.endswith(_HOST_ENDINGS) or first.startswith("www.") or ("@" in first and first[0] != "@"):
        return False
    return not (path[0] == "/" and text[:start].rstrip("` ").endswith(_METHODS))


_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_ROUTE_SIGN: Final = r"[\w{}:.<>~%$@*\[\]/-]"
_METHOD_ROUTE: Final = expression(
    rf"\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b(?:[ `:\"'*|-]{{1,4}}(?:request )?(?:to |on |at )?[`\"']?)"
    rf"(https?://[^\s<>\"'`|)]+|/{_ROUTE_SIGN}*)"
)
_ROUTE: Final = expression(rf"(?:^|[\s`\"'(])(/{_ROUTE_SIGN}+)")
_SYSTEM_FOLDERS: Final = split_words(
    "home usr var etc tmp opt Users dev proc root mnt bin sbin lib src workspace workspaces testbed srv sys private"
    " Applications Library run boot media Volumes nix c d"
)
_ROUTE_HEADS: Final = split_words(
    "api v1 v2 v3 v4 auth oauth graphql health healthz livez readyz metrics rest rpc webhook webhooks callback"
    " login logout signup register"
)
_ROUTE_WORDS: Final = expression(
    r"(?i)\b(?:endpoints?|routes?|urls?|uri|requests?|calls?|calling|hits?|curl|returns?|responds?|handler|ruta|rota|route"
    r"|endpunkt|status|[1-5]\d\d)\b|接口|路由|эндпоинт|エンドポイント|엔드포인트"
)
_CONTEXT: Final = 40


_OPENING: Final = {")": "(", "]": "[", "}": "{"}


def find_endpoints(text: str) -> list[Name]:
    """Return the endpoints of web services in ``text``, in order, at most ``NAMES_MAX``; [] for none. An endpoint is
    "POST /auth/login" (or with a whole URL) if a method stands before the route, or "/auth/login" if its form or the
    words around it show that it is one. Query strings are left out."""
    if "/" not in text:
        return []
    found: list[Name] = []
    if any(method in text for method in _METHODS):
        for match in islice(_METHOD_ROUTE.finditer(text), CANDIDATES_MAX):
            route = _trim_route(match.group(2))
            found.append(Name(f"{match.group(1)} {route}", match.start(), match.start(2) + len(route)))
            if len(found) == NAMES_MAX:
                return found
    taken = {name.end for name in found}
    for match in islice(_ROUTE.finditer(text), CANDIDATES_MAX):
        route = _trim_route(match.group(1))
        end = match.start(1) + len(route)
        if end not in taken and _is_route(text, route, match.start(1), end):
            found.append(Name(route, match.start(1), end))
            if len(found) == NAMES_MAX:
                break
    return sorted(found, key=lambda name: name.start)


def _trim_route(route: str) -> str:
    route = route.split("?", 1)[0].rstrip(".,;:!*_")
    while route and route[-1] in ")]}>" and route.count(route[-1]) > route.count(_OPENING.get(route[-1], "<")):
        route = route[:-1].rstrip(".,;:!*_")
    return route


def _is_route(text: str, route: str, start: int, end: int) -> bool:
    if route.startswith("//") or "*" in route or len(route) < 2:
        return False
    segments = route.strip("/").split("/")
    if segments[0] in _SYSTEM_FOLDERS or segments[0][:1] in "-." or not segments[0] or as_path(route):
        return False
    if segments[0].lower() in _ROUTE_HEADS and (len(segments) > 1 or segments[0] in ("graphql", "healthz", "metrics")):
        return True
    if any(part[:1] in "{:<" and len(part) > 1 for part in segments):
        return True
    around = text[max(0, start - _CONTEXT) : start] + " " + text[end : end + _CONTEXT]
    return bool(_ROUTE_WORDS.search(around))
