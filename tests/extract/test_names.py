from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import covering
from tokenmizer_mw.extract.candidates.finding_makers import find_paths
from tokenmizer_mw.extract.text.names import (
    Name,
    as_path,
    find_endpoints,
    find_file_paths,
    is_same_path,
)

FILES = [
    ("Creating: api/main.py, config.py, requirements.txt", ["api/main.py", "config.py", "requirements.txt"]),
    ("see `./src/App.tsx:42` and tests/test_x.py::test_y.", ["src/App.tsx", "tests/test_x.py"]),
    ("Dockerfile, docker/Dockerfile.dev, Makefile", ["Dockerfile", "docker/Dockerfile.dev", "Makefile"]),
    (".env, .env.local and .gitignore", [".env", ".env.local", ".gitignore"]),
    (".github/workflows/ci.yml is red", [".github/workflows/ci.yml"]),
    ("src/pages/Timeline.tsx(44,18): error", ["src/pages/Timeline.tsx"]),
    ("[auth](api/auth.py) (see src/a.py) open(x.py)", ["api/auth.py", "src/a.py", "x.py"]),
    ("app/[id]/page.tsx and app/(group)/page.tsx", ["app/[id]/page.tsx", "app/(group)/page.tsx"]),
    ("在StockService.java里，config/X.java", ["StockService.java", "config/X.java"]),
    ("D:\\proj\\src\\x.cs and ~/.config/app/contexts.json", ["D:\\proj\\src\\x.cs", "~/.config/app/contexts.json"]),
    ("/var/lib/app/traefik-config.yaml", ["/var/lib/app/traefik-config.yaml"]),
    ("rel/env.sh.eex and Save.cs.meta", ["rel/env.sh.eex", "Save.cs.meta"]),
    ("go.mod, poetry.lock, package-lock.json, pom.xml", ["go.mod", "poetry.lock", "package-lock.json", "pom.xml"]),
    ("resources/views/booking.blade.php", ["resources/views/booking.blade.php"]),
    ("static/fonts/Lora-Regular.ttf and logs/app.log", ["static/fonts/Lora-Regular.ttf", "logs/app.log"]),
    ("--config=app.yaml README.md.", ["app.yaml", "README.md"]),
    ("App.js and Button.vue", ["App.js", "Button.vue"]),
    ("Łódź/plan.md", ["Łódź/plan.md"]),
]

NO_FILES = [
    "and/or, 3/4, he/she, CI/CD, TCP/IP, n/a",
    "10.5, v1.2.3, 3.12, 1.0.0-rc1",
    "Node.js, Next.js, Vue.js, three.js, D3.js",
    "e.g. this, i.e. that, etc.",
    "example.com, docs.rs, crates.io, www.example.com/index.html",
    "https://example.com/a/b.py and http://x.y/z.json",
    "mail me at someone@example.py",
    "*.py, src/**/*.ts, {name}.py, <id>.json, $HOME/x.py, ${A}/b.py",
    "the .py and .ts files",
    "response.json() and console.log(x) and process.env",
    "os.path.join, self.config, user.name, a.b.c",
    "GET /index.html",
    "error.log, report.pdf, x.c",
    "localhost:8000/index.html",
    "the file is gone",
    "",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use whisper.cpp for transcription, and Llama.cpp.", ()),
        ("whisper.cpp and main.cpp", ("main.cpp",)),
        ("Edit the file whisper.cpp", ("whisper.cpp",)),
        ("the leak is in `whisper.cpp`", ("whisper.cpp",)),
        ("whisper.cpp:12 leaks, src/llama.cpp too", ("whisper.cpp", "src/llama.cpp")),
    ],
)
def test_a_product_named_like_a_file_is_a_file_where_the_text_says_so(text: str, expected: tuple[str, ...]) -> None:
    assert find_paths(text) == expected


@pytest.mark.parametrize(("text", "expected"), FILES)
def test_files(text: str, expected: list[str]) -> None:
    found = find_file_paths(text)
    assert [name.text for name in found] == expected
    assert all(text[name.start : name.end] == name.text for name in found)


@pytest.mark.parametrize("text", NO_FILES)
def test_no_files(text: str) -> None:
    assert find_file_paths(text) == []


PATHS = [
    ("`api/auth.py`:", "api/auth.py"),
    ("./a.py", "a.py"),
    ("**src/x.ts**", "src/x.ts"),
    ("edit a.py", ""),
    ("a.py b.py", ""),
    ("plain words", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), PATHS)
def test_as_path(text: str, expected: str) -> None:
    assert as_path(text) == expected


SAME = [
    ("a/b.py", "./a/b.py", True),
    ("/home/x/proj/a/b.py", "a/b.py", True),
    ("D:\\proj\\a\\b.py", "a/b.py", True),
    ("A/B.py", "a/b.py", True),
    (".env", "/srv/.env", True),
    ("b.py", "ab.py", False),
    ("a/b.py", "c/b.py", False),
    ("", "a.py", False),
]


@pytest.mark.parametrize(("one", "other", "expected"), SAME)
def test_same_path(one: str, other: str, expected: bool) -> None:
    assert is_same_path(one, other) is is_same_path(other, one) is expected


ROUTES = [
    (
        "Implemented: POST /api/auth/register, POST /api/auth/login (returns JWT)",
        ["POST /api/auth/register", "POST /api/auth/login"],
    ),
    ("`GET /api/slots?service=3` and `DELETE /api/items/{id}`", ["GET /api/slots", "DELETE /api/items/{id}"]),
    ("POST to `/upload/`", ["POST /upload/"]),
    ("brute force on /auth/login. Then", ["/auth/login"]),
    ("the /users route", ["/users"]),
    ("/orders returns 404", ["/orders"]),
    ("`/api/v1/users/:id`", ["/api/v1/users/:id"]),
    ("接口是 POST /api/v1/orders", ["POST /api/v1/orders"]),
    ("GET https://api.example.com/v1/users?x=1", ["GET https://api.example.com/v1/users"]),
    ("moved /home/x/foo and /var/lib/app", []),
    ("use /compact now", []),
    ("and/or, n/a, 3/4 km/h", []),
    ("the endpoint reads /etc/app/config.yaml", []),
    ("GET well soon", []),
]


@pytest.mark.parametrize(("text", "expected"), ROUTES)
def test_endpoints(text: str, expected: list[str]) -> None:
    assert [name.text for name in find_endpoints(text)] == expected


RECOGNISERS = (find_file_paths, find_endpoints)
PIECES = st.sampled_from(
    ["a.py", "/", "`", "POST ", "https://", "(", ")", "[", "]", "@", "$A_B", " ", "./", "\\", "1.2", "é", "。"]
)


@pytest.mark.parametrize("recognise", RECOGNISERS)
@given(st.text() | st.lists(PIECES).map("".join))
def test_names_lie_within_the_text(recognise: Callable[[str], list[Name]], text: str) -> None:
    end = 0
    for name in recognise(text):
        assert name.text
        assert end <= name.start < name.end <= len(text)
        end = name.end


HOSTILE = [
    "a.", "x.py ", "x.py/", "x.py(", "a/", "A", "(", "](x.py", "...", "GET /a ", " /api/x", "`a` ", "1.1.", "A_", "$A",
    "http://a ", "é/",
]  # fmt: skip


@pytest.mark.parametrize(("recognise", "unit"), covering(RECOGNISERS, HOSTILE))
def test_time_is_linear(
    recognise: Callable[[str], list[Name]],
    unit: str,
    growth: Callable[[Callable[[str], object], str, int], float],
) -> None:
    assert growth(recognise, unit, 100_000) <= 3
