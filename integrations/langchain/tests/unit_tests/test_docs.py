"""The pages about LangChain run as they stand and print what they show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tokenmizer_mw.context.tokens import counter_for

HERE = Path(__file__).parents[2]
PAGES = [page for page in (HERE / "README.md", HERE.parents[1] / "docs" / "langchain.md") if page.exists()]
SNIPPET = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langchain.agents")
    snippets = SNIPPET.findall(page.read_text(encoding="utf-8"))
    assert snippets
    names: dict[str, Any] = {"__name__": page.stem}
    for code, shown in snippets:
        try:
            exec(compile(code, str(page), "exec"), names)
        except TypeError as error:
            if "no summarizer= in SummarizationMiddleware" not in str(error):
                raise
            pytest.skip("this langchain takes no summarizer")
        printed = capsys.readouterr().out
        if shown and counter_for("").name != "estimate":  # where a cut lies depends on the tokenizer
            assert with_fixed_numbers(printed) == with_fixed_numbers(shown)


def with_fixed_numbers(text: str) -> str:
    """``text`` with one number for the random ones of blocks, and one time for the times of messages."""
    text = re.sub(r"(session-record) \d+", r"\1 5577", text)
    return re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b", "2026-11-21 10:07", text)
