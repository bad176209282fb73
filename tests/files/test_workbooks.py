"""Workbooks: the texts that cells share, what is too large to be opened, and ranges as they are."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from tokenmizer_mw.saving.files import Stopped, analyze, office

openpyxl = pytest.importorskip("openpyxl")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CELL = '<c r="{}{}" t="s"><v>{}</v></c>'
USED = 22
TYPE = (
    '<Override PartName="/xl/sharedStrings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
)


def workbook(rows: int, shared: str = "", kind: str = "", styles: str = "", unused: str = "") -> io.BytesIO:
    """Two columns of texts that are shared: the names "name" and "note", then texts with numbers, or ``shared``.

    ``unused``: shared texts, or other parts of their list, that stand behind the first ``USED`` texts and that no cell
    refers to.
    """
    made, told = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(made)
    gap = unused.count("<si")
    cells = [CELL.format("AB"[n % 2], 1 + n // 2, n + gap * (n >= USED)) for n in range(2 + 2 * rows)]
    lines = "".join(f'<row r="{1 + n // 2}">{cells[n]}{cells[n + 1]}</row>' for n in range(0, len(cells), 2))
    texts = ["name", "note", *(f"text number {n}" for n in range(2 * rows))]
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(told, "w", zipfile.ZIP_DEFLATED) as new:
        replaced = {
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>',
            "[Content_Types].xml": old.read("[Content_Types].xml").decode().replace("</Types>", TYPE),
            "xl/styles.xml": styles or old.read("xl/styles.xml").decode(),
        }
        for name in {*old.namelist(), *replaced} - {"xl/sharedStrings.xml"}:
            new.writestr(name, replaced.get(name) or old.read(name))
        items = [f"<si><t>{text}</t></si>" for text in texts]
        inner = shared or "".join([*items[:USED], unused, *items[USED:]])
        new.writestr("xl/sharedStrings.xml", f'{kind}<sst xmlns="{MAIN}">{inner}</sst>')
    return told


def told(file: io.BytesIO) -> str:
    return analyze(file, name="a.xlsx").text


def test_shared_texts_are_those_of_the_cells() -> None:
    text = told(workbook(3))
    assert "3 rows x 2 columns" in text
    assert "- name: text, all different, such as text number 0 and text number 2" in text


def test_shared_texts_in_pieces_and_with_their_sound() -> None:
    pieces = "<si><r><rPr><b/></rPr><t>na</t></r><r><t>me</t></r></si><si><t>note</t></si>"
    sound = '<si><t>東京</t><rPh sb="0" eb="2"><t>とうきょう</t></rPh></si><si><t xml:space="preserve">a  b</t></si>'
    text = told(workbook(1, pieces + sound))
    assert "- name: 東京" in text and "- note: a b" in text and "とう" not in text


@pytest.mark.parametrize(
    ("unit", "times", "rows"),
    [
        ("<si/>", office.STRINGS_MAX - 82, 40),
        ("<si/>", office.STRINGS_MAX - USED, 10),
        (" ", office.STRINGS_BYTES_MAX, 10),
    ],
    ids=["as many as are read", "more", "more bytes"],
)
def test_further_shared_texts_are_empty_and_it_is_said(unit: str, times: int, rows: int) -> None:
    """``rows``: how many of the 40 rows, with 82 texts of cells, are read."""
    digest = analyze(workbook(40, unused=unit * times), name="a.xlsx")
    assert ("not all of its shared texts were read" in digest.partial) is (rows < 40)
    assert "- name: text, all different, such as text number 0" in digest.text
    assert [column["distinct"] for column in digest.facts["sheets"][0]["columns"]] == [rows, rows]


def test_a_number_of_no_shared_text_is_a_fault_of_the_sheet() -> None:
    assert "sheet Sheet" in analyze(workbook(5, "<si><t>a</t></si>"), name="a.xlsx").partial


def test_entities_in_shared_texts_are_not_expanded() -> None:
    kind = '<!DOCTYPE s [<!ENTITY a "aaaaaaaa">]>'
    digest = analyze(workbook(1, "<si><t>&a;</t></si>", kind), name="a.xlsx")
    assert "entities" in digest.partial and "aaaa" not in digest.text


def test_whoever_waits_for_shared_texts_may_stop() -> None:
    def enough(done: int) -> None:
        raise Stopped

    assert analyze(workbook(3), name="a.xlsx", progress=enough).partial == "stopped before its sheets"


def test_styles_that_swell_are_not_opened() -> None:
    styles = "<styleSheet>" + " " * office.WHOLE_MAX + "</styleSheet>"
    assert "are not opened" in analyze(workbook(1, styles=styles), name="a.xlsx").partial


def test_ranges_are_exact(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{12_345.67 + n},{1_234_567 + n}\n" for n in range(23)))
    text = analyze(tmp_path / "t.csv").text
    assert "- a: number 12345.67..12367.67, mean 12357" in text
    assert "- b: integer 1234567..1234589, mean 1234578" in text
