"""The pages about LangChain run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
PAGES = [page for page in (HERE / "README.md", HERE.parents[1] / "docs" / "langchain.md") if page.exists()]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page: Path) -> None:
    pytest.importorskip("langchain.agents")
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    code = "\n".join(blocks)
    try:
        exec(compile(code, str(page), "exec"), {"__name__": page.stem})
    except TypeError as error:
        if "no summarizer= in SummarizationMiddleware" not in str(error):
            raise
        pytest.skip("this langchain takes no summarizer")
