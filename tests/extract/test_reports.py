"""What of a report of finished work is kept: what was asked for and what comes first, not each detail of it."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.message import Message, Role, ToolResult
from tokenmizer_mw.model.node import NodeType, Status

from .talks import changes, judged, labels, talk

ASKED = ("u: Build the portal of the library", "a: Here it is.", "u: the loans page needs a search field")
POINTS = (
    "- Added a search field to the loans page",
    "- Extended the query of the repository",
    "- Moved the icons into one sprite",
    "- Updated the order of the routes",
    "- Added the fonts to the theme",
    "- Renamed two variables of the template",
    "- Documented how the loans are searched, page by page",
    "- Cleaned up the imports of the module",
)


def test_of_a_long_report_the_first_points_count_and_those_that_speak_of_what_was_asked() -> None:
    done = labels(talk(*ASKED, "a: All set:\n\n" + "\n".join(POINTS)), NodeType.TASK, Status.COMPLETED)
    assert any("Documented how the loans" in label for label in done)
    assert not any("variables" in label or "imports" in label for label in done)


def test_a_short_report_is_kept_whole() -> None:
    done = labels(talk(*ASKED, "a: All set:\n\n" + "\n".join(POINTS[:2])), NodeType.TASK, Status.COMPLETED)
    assert any("query of the repository" in label for label in done)


def test_a_commit_in_the_words_of_the_order_stands_for_it() -> None:
    log = Message(Role.TOOL, tool_results=(ToolResult("", "Commit 1a2b3c4 feat: find loans by title or reader"),))
    orders = [Message(Role.USER, "Build the portal of the library"), Message(Role.ASSISTANT, "Here it is.")]
    graph = judged([*orders, Message(Role.USER, "Add a search field to the loans page"), log])
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["feat: find loans by title or reader"]
    other = judged([*orders, Message(Role.USER, "Document how to install it"), log])
    assert "Document how to install it" in labels(other, NodeType.TASK, Status.COMPLETED)


@pytest.mark.parametrize("said", ["I haven't pushed", "现在我们需要更新导入路径", "现在让我们检查一下配置"])
def test_what_is_not_done_is_no_claim(said: str) -> None:
    assert labels(talk(*ASKED, f"a: {said}"), NodeType.TASK, Status.COMPLETED) == []


def test_a_chinese_report_of_something_moved() -> None:
    graph = talk("u: 做一个图书馆网站", "a: 好的。", "u: 搜索框太难找了", "a: 将搜索框移动到页面顶部。")
    assert any("搜索框移动到页面顶部" in label for label in labels(graph, NodeType.TASK, Status.COMPLETED))
    assert changes(graph) == []


def test_an_answer_at_length_does_what_was_asked_once_the_talk_goes_on() -> None:
    opening = ("u: Help me with the newsletter of the club", "a: Gladly.", "u: Write a paragraph about the spring fair")
    answer = "a: " + "The fair opens on Saturday at ten, with honey, candles and a quiz for the children. " * 3
    done = labels(talk(*opening, answer, "u: The date is the 24th"), NodeType.TASK, Status.COMPLETED)
    assert any("spring fair" in label for label in done)
    asked = labels(talk(*opening, answer + "Shall I?", "u: The date is the 24th"), NodeType.TASK, Status.PENDING)
    assert any("spring fair" in label for label in asked)


@pytest.mark.parametrize(
    ("lead", "status"),
    [
        ("Still open:", Status.PENDING),
        ("**Not done yet:**", Status.PENDING),
        ("## Remaining work", Status.PENDING),
        ("Completed:", Status.COMPLETED),
    ],
)
def test_a_formal_marker_holds_for_each_item_of_its_list(lead: str, status: Status) -> None:
    graph = talk("u: Write the importer.", f"a: {lead}\n\n- totals per supplier\n- retries of the upload\n")
    assert labels(graph, NodeType.TASK, status) == ["totals per supplier", "retries of the upload"]


@pytest.mark.parametrize("report", ["Importer built.", "The importer works.", "Importer ready."])
def test_work_that_is_reported_is_no_decision(report: str) -> None:
    assert labels(talk("u: Build the importer.", f"a: {report}"), NodeType.DECISION) == []
