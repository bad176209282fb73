"""A hook of MkDocs: links of pages to files outside of ``docs/`` lead to the repository."""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """The page with ``](../FILE)`` made addresses in the repository."""
    return re.sub(r"\]\(\.\./([^)]+)\)", rf"]({config['repo_url']}/blob/main/\1)", markdown)
