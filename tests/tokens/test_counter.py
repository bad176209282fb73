import hashlib
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.context.tokens import TokenCounter, counter_for, estimate, tables
from tokenmizer_mw.context.tokens.tables import SAME_TABLE, TABLES, directories, find_encoding

GOLDEN = [
    ("", 0, 0),
    ("hello world", 2, 2),
    ("The quick brown fox can't jump over 1234567 lazy dogs.", 14, 15),
    ("def area(r):\n    return 3.14159 * r ** 2\n", 17, 17),
    ("<|endoftext|> and <|im_start|>system", 15, 14),
    ("我们上周把任务迁移到了新的队列。", 12, 15),
    ("\ud800 alone", 2, 2),
]


@pytest.mark.parametrize("text, new, old", GOLDEN)
def test_the_counts_of_tiktoken(text: str, new: int, old: int, exact: TokenCounter, older: TokenCounter) -> None:
    assert (exact.count(text), older.count(text)) == (new, old)


MODELS = [
    ("gpt-4o", "o200k_base", True),
    ("gpt-4o-2024-08-06", "o200k_base", True),
    ("openai/gpt-4.1-mini", "o200k_base", True),
    ("GPT-5-mini", "o200k_base", True),
    ("ft:gpt-4o-mini:acme::1", "o200k_base", True),
    ("gpt-oss-120b", "o200k_base", True),
    ("gpt-4-turbo", "cl100k_base", True),
    ("gpt-3.5-turbo-0125", "cl100k_base", True),
    ("gpt-99", "o200k_base", False),
    ("", "o200k_base", False),
    ("mistral-large-latest", "o200k_base*1.25", False),
    ("claude-sonnet-4-5", "o200k_base*1.2", False),
    ("claude-sonnet-5", "o200k_base*1.55", False),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "o200k_base*1.2", False),
]


@pytest.mark.parametrize("model, name, own", MODELS)
def test_which_counter_a_model_gets(model: str, name: str, own: bool, exact: TokenCounter, older: TokenCounter) -> None:
    counter = counter_for(model)
    assert (counter.name, counter.exact) == (name, own)


def test_without_a_table_everything_is_estimated_high() -> None:
    counter = counter_for("text-similarity-babbage-001")
    if counter.exact:
        pytest.skip("this machine has the r50k_base table")
    assert (counter.name, counter.count("some words")) == ("estimate", estimate("some words"))


def test_a_safety_factor_never_lowers_a_count(exact: TokenCounter) -> None:
    for text, _, _ in GOLDEN:
        assert counter_for("some-model").count(text) >= counter_for("").count(text)


NO_NETWORK = """
import sys
import threading

def refuse(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.gethostbyname")):
        raise SystemExit(f"network: {event} {args}")

sys.addaudithook(refuse)
from tokenmizer_mw.context.tokens import counter_for
for model in ("gpt-4o", "gpt-4", "davinci", "text-davinci-003", "gpt2", "claude-x", ""):
    assert counter_for(model).count("some words in a row") > 0
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"llama_index", "litellm", "requests"}, loaded
"""


def test_no_network_and_no_foreign_import() -> None:
    run = subprocess.run([sys.executable, "-c", NO_NETWORK], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def _table_file(name: str) -> Path:
    for folder in directories(None, {}):
        path = folder / TABLES[name].file_name
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == TABLES[name].sha256:
            return path
    pytest.skip(f"no copy of the {name} table on this machine")


def test_a_directory_with_tables(tmp_path: Path) -> None:
    source = _table_file("o200k_base")
    (tmp_path / source.name).write_bytes(source.read_bytes())
    assert counter_for("gpt-4o", str(tmp_path)).exact


@pytest.mark.parametrize("damage", [b"", b"not a table", b"YQ== 0\nYg== x\n", bytes(range(256))])
def test_a_damaged_table_is_not_used(tmp_path: Path, damage: bytes) -> None:
    for table in TABLES.values():
        (tmp_path / table.file_name).write_bytes(damage)
    assert find_encoding("r50k_base", str(tmp_path)) is find_encoding("r50k_base")
    assert counter_for("gpt-4o", str(tmp_path)).count("hello world") > 0


@pytest.mark.parametrize("directory", ["/does/not/exist", "", "\x7f", "a" * 5_000])
def test_an_unusable_directory_is_passed_over(directory: str) -> None:
    assert counter_for("gpt-4o", directory).name == counter_for("gpt-4o").name


def test_encodings_share_tables() -> None:
    assert set(SAME_TABLE.values()) <= TABLES.keys()
    assert find_encoding("nonsense") is None


def test_directories_in_order() -> None:
    found = list(directories("/given", {"TIKTOKEN_CACHE_DIR": "/first", "DATA_GYM_CACHE_DIR": "/second"}))
    assert found[:3] == [Path("/given"), Path("/first"), Path("/second")]


WORDS = st.lists(st.sampled_from(["word", "Größe", "x=1;", "中文", "123", "  ", "\n", "it's", "-", "🙂"]), max_size=60)


@given(WORDS, st.integers(1, 200))
def test_long_texts_are_counted_as_a_whole(words: list[str], times: int) -> None:
    counter = counter_for("gpt-4o")
    encoding = find_encoding("o200k_base")
    if encoding is None:
        return
    text = " ".join(words) * times
    whole = len(encoding.encode_ordinary(text))
    assert whole <= counter.count(text) <= whole * 1.01 + 2


@pytest.mark.parametrize("unit", ["A", " ", "a.", "é", "中", '"', "\n", "aA0"])
def test_linear_on_hostile_text(unit: str, exact: TokenCounter) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        start = time.process_time()
        exact.count(text)
        return time.process_time() - start

    assert min(cost(400_000) for _ in range(3)) <= 8 * min(cost(100_000) for _ in range(3)) + 2e-3


def test_many_threads_that_need_a_table_first_read_it_once() -> None:
    """A server meets its first long chats at the same time; each reading takes a second of CPU and 40 MB."""
    _table_file("o200k_base")
    tables._load_encoding.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        ready = threading.Barrier(8)

        def find() -> object:
            ready.wait()
            return find_encoding("o200k_base")

        found = [future.result() for future in [pool.submit(find) for _ in range(8)]]
    assert found[0] is not None and all(one is found[0] for one in found)
    assert tables._load_encoding.cache_info().misses == 1
