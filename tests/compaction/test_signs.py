"""A request that asks for nothing and brings nothing is told by a few words in its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tokenmizer_mw.context.compaction.contract import MARK
from tokenmizer_mw.server.proxy.api_paths import api_path_of
from tokenmizer_mw.server.proxy.compaction import _concerns

MESSAGES = api_path_of("/v1/messages", [])
KEEPS_ALL = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
KEEPS_ONE = {"edits": [{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}}]}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize(
    ("member", "concerns"),
    [
        ({}, False),
        ({"context_management": KEEPS_ALL}, False),
        ({"context_management": KEEPS_ONE}, True),
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, True),
        ({"compaction": {"type": "summarize"}}, True),
        ({"messages": [{"role": "assistant", "content": [{"type": "compaction", "content": "x"}]}]}, True),
        ({"messages": [{"role": "user", "content": f"{MARK}1.AAAA"}]}, True),
        ({"messages": [{"role": "user", "content": 'Say "compaction" and "keep": "all".'}]}, False),
    ],
)
def test_which_requests_are_read(member: dict[str, Any], concerns: bool, separators: tuple[str, str]) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **member}
    assert MESSAGES is not None
    assert _concerns(MESSAGES, json.dumps(body, separators=separators).encode()) is concerns
