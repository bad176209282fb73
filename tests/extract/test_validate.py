"""The gate of findings: labels, types, floor and caps."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.extract.compose.validate import clean_label, correct_type, format_quote, validate_findings
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, NodeType, Status, Trust
from tokenmizer_mw.settings import Settings


def finding(label: str, type_: NodeType = NodeType.TASK, **changes: object) -> Finding:
    given_ = {"status": Status.PENDING, "trust": Trust.STATED, "confidence": 0.8, "quote": label} | changes
    return Finding(type_, label, **given_)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("  rate limiting.  ", "rate limiting"),
        ("**bold** choice", "bold choice"),
        ("`api/main.py`", "api/main.py"),
        ("`__init__.py` in shop", "__init__.py in shop"),
        ("rename pkg/__main__.py", "rename pkg/__main__.py"),
        ("__two words__ in bold", "two words in bold"),
        ("two\nlines", "two lines"),
        ("zero\u200bwidth and \u202eoverride", "zerowidth and override"),
        ("\ufb01le name", "file name"),
        ("(in parentheses)", "in parentheses"),
        ("trailing, ", "trailing"),
        ("unpaired)", "unpaired"),
        ("POST /api/login (returns JWT)", "POST /api/login (returns JWT)"),
        ("the", ""),
        ("...", ""),
        ("", ""),
        ("\x00\x07", ""),
    ],
)
def test_labels_are_clean(text: str, label: str) -> None:
    assert clean_label(text) == label


@given(st.text(max_size=1_000))
def test_any_label_is_one_short_line_without_control_characters(text: str) -> None:
    label = clean_label(text)
    assert len(label) <= LABEL_MAX
    assert all(unicodedata.category(char)[0] != "C" for char in label)
    assert "\n" not in label
    assert label == label.strip()
    assert unicodedata.is_normalized("NFKC", label)


def test_long_labels_end_at_a_word() -> None:
    label = clean_label("word " * 100)
    assert label.endswith("word")
    assert len(label) <= LABEL_MAX


@pytest.mark.parametrize(
    ("label", "type_"),
    [
        ("src/App.tsx", NodeType.FILE),
        ("config.py", NodeType.FILE),
        ("https://example.org/api", NodeType.ENDPOINT),
        ("POST /api/auth/login", NodeType.ENDPOINT),
        ("Node.js", NodeType.DECISION),
        ("whisper.cpp", NodeType.DECISION),
        ("src/whisper.cpp", NodeType.FILE),
        ("Python 3.12", NodeType.DECISION),
        ("use config.py for settings", NodeType.DECISION),
    ],
)
def test_types_are_corrected(label: str, type_: NodeType) -> None:
    assert correct_type(NodeType.DECISION, label) is type_


def test_the_floor_holds_for_words_and_not_for_structure() -> None:
    doubtful = finding("low confidence work", confidence=0.3)
    certain = finding("seen in a tool call", confidence=0.3, trust=Trust.STRUCTURE)
    assert [kept.label for kept in validate_findings([doubtful, certain], Settings())] == ["seen in a tool call"]
    assert len(validate_findings([doubtful], Settings(confidence_floor=0.2))) == 1


def test_caps_and_empty_labels() -> None:
    many = [finding(f"work number {number}") for number in range(9)]
    assert len(validate_findings(many, Settings(labels_max=4))) == 4
    assert validate_findings([finding("the")], Settings()) == []
    assert validate_findings([finding("", move=Move.CLOSE)], Settings()) != []


def test_quoted_text_makes_no_decision() -> None:
    found = finding("MongoDB", NodeType.DECISION, trust=Trust.QUOTED, kind=DecisionKind.CHOICE, status=Status.ACTIVE)
    assert validate_findings([found], Settings()) == []


def test_a_corrected_type_leaves_slot_and_kind_behind() -> None:
    found = finding("config.py", NodeType.DECISION, kind=DecisionKind.CHOICE, slot="settings", status=Status.ACTIVE)
    (clean,) = validate_findings([found], Settings())
    assert (clean.type, clean.kind, clean.slot) == (NodeType.FILE, None, "")


def test_quotes_are_one_capped_line() -> None:
    assert format_quote("a\nb") == "a b"
    assert len(format_quote("x " * 1_000)) <= 240


@pytest.mark.parametrize(("quote", "kept"), [("the import crashes:", 0), ("the import crashes.", 1)])
def test_a_complaint_that_leads_to_what_is_shown_below_is_no_error(quote: str, kept: int) -> None:
    said = finding("the import crashes", NodeType.ERROR, status=Status.ACTIVE, quote=quote)
    assert len(validate_findings([said], Settings())) == kept


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("it need not be fast), this is for tests", "it need not be fast"),
        ("add a page to the shop with a map (a picture will do for the", "add a page to the shop with a map"),
        ("GET /users (admins only)", "GET /users (admins only)"),
        ("1) the first option", "1) the first option"),
        ("main() calls foo(bar)", "main() calls foo(bar)"),
    ],
)
def test_a_bracket_without_its_counterpart_ends_a_label(text: str, label: str) -> None:
    assert clean_label(text) == label
