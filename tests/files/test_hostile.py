"""Hostile files: whatever they hold, reading one ends, and takes a bounded amount of memory in a process of its own."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sampling import sample
from tokenmizer_mw.saving.files import ReadingLimits, Stopped, analyze, excerpt

openpyxl = pytest.importorskip("openpyxl")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MEMORY = 96 * 1024 * 1024
SECONDS = 6.0
SLACK = 60.0
"""Seconds that starting the process and a loaded machine may add."""


def _workbook(path: Path, sheet: bytes, **parts: bytes) -> None:
    plain = io.BytesIO()
    openpyxl.Workbook().save(plain)
    replaced = {"xl/worksheets/sheet1.xml": sheet, **{name.replace("__", "/"): part for name, part in parts.items()}}
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, replaced.get(name) or old.read(name))


def _sheet(inner: bytes) -> bytes:
    return f'<worksheet xmlns="{MAIN}"><sheetData>'.encode() + inner + b"</sheetData></worksheet>"


def huge_row(path: Path) -> None:
    _workbook(path, _sheet(b'<row r="1"><c r="A1"><v>1</v></c></row><row r="999999999"><c r="A1"><v>2</v></c></row>'))


def one_wide_row(path: Path) -> None:
    """All cells in one row, which the library reads as a whole."""
    _workbook(path, _sheet(b'<row r="1">' + b"<c><v>1</v></c>" * 2_000_000 + b"</row>"))


def many_styles(path: Path) -> None:
    style = f'<styleSheet xmlns="{MAIN}"><cellXfs>'.encode() + b"<xf/>" * 790_000 + b"</cellXfs></styleSheet>"
    _workbook(path, _sheet(b""), xl__styles=b"", **{"xl/styles.xml": style})


def shared_texts(path: Path) -> None:
    plain = io.BytesIO()
    openpyxl.Workbook().save(plain)
    texts = f'<sst xmlns="{MAIN}">'.encode() + b"<si><t>a</t></si>" * 3_000_000 + b"</sst>"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, texts if name == "xl/sharedStrings.xml" else old.read(name))


def deep_json(path: Path) -> None:
    path.write_bytes(b'{"a":' * 1_000_000)


def deep_xml(path: Path) -> None:
    path.write_bytes(b"<?xml version='1.0'?>" + b"<a>" * 1_000_000)


def long_attribute_xml(path: Path) -> None:
    path.write_bytes(b"<?xml version='1.0'?><a b='" + b"x" * 30_000_000 + b"'/>")


def deep_yaml(path: Path) -> None:
    path.write_bytes(b"[" * 200_000)


def dotted_toml(path: Path) -> None:
    path.write_bytes(b".".join([b"a"] * 200_000) + b" = 1\n")


def wide_toml(path: Path) -> None:
    path.write_bytes(b"a = [" + b"{}," * 4_000_000 + b"]\n")


def pdf_bomb(path: Path) -> None:
    """A page whose content unpacks to a thousand times its size, through two filters."""
    content = zlib.compress(zlib.compress(b"BT (a) Tj ET\n" * 4_000_000, 9), 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << >> >>",
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    made, places = b"%PDF-1.5\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"xref\n0 5\n0000000000 65535 f \n" + table
    path.write_bytes(
        made + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(made) - len(table) - 29)
    )


def many_entries(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(60_000):
            archive.writestr(f"{number}" + "x" * 200, b"")


def swelling_archive(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("zeros")
        info.size = 1 << 28
        with open("/dev/zero", "rb") as zeros:
            archive.addfile(info, zeros)


def swelling_text(path: Path) -> None:
    with gzip.open(path, "wb", 9) as file:
        for _ in range(400):
            file.write(b"\n" * (1 << 20))


def greedy_dictionary(path: Path) -> None:
    """A small file whose unpacking asks for a dictionary of 1.5 GB."""
    small = lzma.compress(b"a,b\n1,2\n" * 100, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}])
    head = bytearray(small)
    size = 4 * (head[12] + 1)
    head[16] = 39  # the property byte that stands for 3 GB
    head[12 + size - 4 : 12 + size] = zlib.crc32(bytes(head[12 : 12 + size - 4])).to_bytes(4, "little")
    path.write_bytes(bytes(head))


pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")

HOSTILE: list[tuple[str, Callable[[Path], None]]] = [
    ("rows.xlsx", huge_row),
    ("wide.xlsx", one_wide_row),
    ("styles.xlsx", many_styles),
    ("texts.xlsx", shared_texts),
    ("deep.json", deep_json),
    ("deep.xml", deep_xml),
    ("attribute.xml", long_attribute_xml),
    ("deep.yaml", deep_yaml),
    ("dotted.toml", dotted_toml),
    ("wide.toml", wide_toml),
    ("bomb.pdf", pdf_bomb),
    ("entries.zip", many_entries),
    ("zeros.tar.gz", swelling_archive),
    ("lines.csv.gz", swelling_text),
    ("greedy.csv.xz", greedy_dictionary),
]

MEASURED = """
import json, resource, sys, time
from tokenmizer_mw.saving.files import ReadingLimits, analyze
start = time.monotonic()
digest = analyze(sys.argv[1], limits=ReadingLimits(int(sys.argv[2]), float(sys.argv[3])))
mine = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([time.monotonic() - start, mine * 1024, child * 1024, digest.tokens, digest.partial, digest.text]))
"""


@pytest.mark.parametrize("name", sample([name for name, _ in HOSTILE], 3))
def test_reading_ends_within_its_limits(tmp_path: Path, name: str) -> None:
    make = dict(HOSTILE)[name]
    make(tmp_path / name)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    called = [sys.executable, "-c", MEASURED, str(tmp_path / name), str(MEMORY), str(SECONDS)]
    run = subprocess.run(called, capture_output=True, text=True, check=True, env=environment, timeout=120)
    seconds, parent, child, tokens, _, text = json.loads(run.stdout)
    assert text.startswith(name) and tokens <= 300
    assert seconds < SECONDS + SLACK
    assert parent < 120 * 1024 * 1024, "the caller's memory stays small"
    assert child < MEMORY + 120 * 1024 * 1024, "the reader's memory is bounded"


def test_what_was_read_before_the_time_was_over_is_reported(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "long.csv.gz", "wb", 1) as file:
        file.write(b"service,port\n")
        for _ in range(300):
            file.write(b"web,8080\n" * 100_000)
    digest = analyze(tmp_path / "long.csv.gz", limits=ReadingLimits(seconds=2.0))
    assert "takes more than 2 s" in digest.partial
    assert digest.kind == "csv" and "- service: text, always web" in digest.text


def test_rows_before_a_huge_gap_are_reported(tmp_path: Path) -> None:
    huge_row(tmp_path / "rows.xlsx")
    text = analyze(tmp_path / "rows.xlsx").text
    assert "sheet Sheet" in text and "- column 1: 1" in text and "in the first 100,000" in text


def test_the_caller_can_stop_the_reading(tmp_path: Path) -> None:
    (tmp_path / "many.json").write_bytes(b"[" + b'{"name": "value"},' * 200_000 + b"1]")
    done = 0

    def progress(more: int) -> None:
        nonlocal done
        done += more
        if done > 1_000_000:
            raise Stopped

    digest = analyze(tmp_path / "many.json", progress=progress)
    assert "stopped before the end" in digest.partial and "[].name" in digest.text


def test_an_excerpt_of_a_swelling_file_ends(tmp_path: Path) -> None:
    swelling_text(tmp_path / "lines.csv.gz")
    started = time.monotonic()
    text = excerpt(tmp_path / "lines.csv.gz", find="nowhere", limits=ReadingLimits(seconds=1.0))
    assert "takes more than 1 s" in text
    assert time.monotonic() - started < SLACK


def test_nothing_of_a_reader_is_left_running(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    before = os.times().children_user
    assert "a: " in analyze(tmp_path / "a.json").text
    assert os.times().children_user > before, "it ran elsewhere and was waited for"
