"""Downloads of tables: CSV that is safe for spreadsheets, and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Final

from .asked import File

Records = Sequence[Mapping[str, object]]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell for a formula."""


def csv_file(name: str, records: Records) -> File:
    """Return records as CSV with a header. Text that a spreadsheet would evaluate as a formula gets a leading
    apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(records[0].keys() if records else ())
    writer.writerows([_cell(value) for value in record.values()] for record in records)
    return File(name, "text/csv; charset=utf-8", written.getvalue().encode("utf-8", "replace"))


def json_file(name: str, records: Records) -> File:
    """Return records as a JSON array."""
    text = json.dumps(records, ensure_ascii=False, indent=1)
    return File(name, "application/json", text.encode("utf-8", "replace"))


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
