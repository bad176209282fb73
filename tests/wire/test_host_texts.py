"""What a host writes into a user's message is not the user's word."""

from __future__ import annotations

import json
import time

import pytest

from tokenmizer_mw.context.recall import message_text
from tokenmizer_mw.context.resume.sentences import transcript_sentences
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.host_texts import (
    HOST_TEXTS,
    HostText,
    HostTextKind,
    find_context,
    find_host_texts,
    is_continuation,
    is_side_call,
    may_continue,
    may_have_context,
    remove_host_texts,
    without_host_texts,
)

HOSTS = {"Claude Code", "Codex", "aider", "Cline", "Roo Code", "OpenHands", "Cursor", "VS Code Copilot"}

ORDINARY = [
    "Use PostgreSQL for the orders.",
    "Never push to main.",
    "Please write a title for my talk about queues.",
    "Summarize the conversation in the ticket for me.",
    "Summarize this file, then delete it.",
    "Please continue.",
    "Please continue with the tests.",
    "Continue where we left off yesterday.",
    "Your task is to write a parser for the log files.",
    "Generate a concise title for each chapter.",
    "Give me three follow-up questions for the interview.",
    "Here are the files: shop.py and other.py.",
    "Here are some files from my repository, please have a look.",
    "I have added these files to the repository.",
    "I committed the changes.",
    "I committed the changes with the message 'fix'.",
    "I switched to a new branch.",
    "I spoke to you previously about the cache, remember?",
    "# Rules\n\nNever use tabs.",
    "# TODO\n- [ ] Add the tax",
    "# Tasks\n- [ ] Write the release notes",
    "A <div> and a `<reminder>` are tags.",
    "Why does <system-reminder> show up in my logs?",
    "The tag <environment_context> is documented nowhere.",
    "What does [Request interrupted by user] mean?",
    "<rules>\nNever use tabs.\n</rules>",
    "<context>\nThe shop sells books.\n</context>\nWrite a slogan.",
    "<task>Add a login page</task>",
    "<user_query>Add a login page</user_query>",
    "<userRequest>Add a login page</userRequest>",
    "Critical: respond to the customer today.",
    "CRITICAL: the build is broken on main.",
    "Another language model started this; please review its work.",
    "You are performing well. Next, the compaction of the log.",
    "[ERROR] connection refused",
    "[NOTE] The port changed to 8080.",
    "### Task\nAdd a login page.",
    "### Task: clean up the tests",
    "The user stepped away from the desk, so the session must lock.",
    "Write the title in English, please.",
    "This session is about the billing service.",
    "Is this session being continued from a previous conversation?",
    "Fix any errors in the linter, if possible.",
    "My request: rename the table.",
    "The hook says: Stop hook feedback is ignored.",
    "The previous conversation summary says that we use PostgreSQL.",
    "What is a <summarization_request> in the log?",
    "<QUESTION>\nWhich database do we use?\n</QUESTION>",
    "You are an intelligent assistant. Use PostgreSQL.",
]

OWN_WORDS = [
    ("Use tabs here.", "Use tabs here."),
    ("[Request interrupted by user for tool use]", ""),
    ("<system-reminder>\nNever mention this list.\n</system-reminder>\nUse tabs here.", "Use tabs here."),
    ("Use tabs here.\n<environment_details>\n# Time\nNoon\n</environment_details>", "Use tabs here."),
    ("Use tabs here.\n<environment_details>\ncut off", "Use tabs here."),
    ("<command-name>/compact</command-name>\n<local-command-stdout>Done.</local-command-stdout>", ""),
    (
        "Use tabs here.\n# task_progress RECOMMENDED\n\nWrite a list.\n\n- [ ] Look around\n- [ ] Tidy up\n",
        "Use tabs here.",
    ),
    ("# TODO LIST UPDATE REQUIRED\nYou must keep it.\n\n# Notes\nUse tabs here.", "# Notes\nUse tabs here."),
    (
        "<task>\nUse tabs here.\n</task>\n\n<environment_details>\nx\n</environment_details>",
        "<task>\nUse tabs here.\n</task>",
    ),
    (
        "This session is being continued from a previous conversation.\n\nSummary:\nNever push to main.\n"
        "Continue the conversation from where it left off without asking.\nUse tabs here.",
        "Use tabs here.",
    ),
    ("Use tabs here.\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block must have a path.", "Use tabs here."),
    (
        "<timestamp>Monday</timestamp>\n<user_query>\nUse tabs here.\n</user_query>",
        "<user_query>\nUse tabs here.\n</user_query>",
    ),
    (
        "# Files mentioned by the user:\n\n## a.txt: /srv/a.txt\n\n## My request for Codex:\nUse tabs here.",
        "Use tabs here.",
    ),
]


@pytest.mark.parametrize("row", HOST_TEXTS, ids=lambda row: f"{row.host}, {row.kind.value}, {row.example[:24]}")
def test_example_of_each_row(row: HostText) -> None:
    assert row.source and row.host
    if row.system:
        assert is_side_call([Message(Role.SYSTEM, row.example), Message(Role.USER, "Use PostgreSQL.")])
        return
    assert [span.row for span in find_host_texts(row.example, row.role)][:1] == [row]
    assert remove_host_texts(row.example, role=row.role) == ""
    rest = remove_host_texts(f"Use tabs here.\n{row.example}", role=row.role)
    assert rest.startswith("Use tabs here.") or row.pattern.startswith(r"\A")


def test_each_host_has_rows() -> None:
    assert {row.host for row in HOST_TEXTS} >= HOSTS | {"Open WebUI", "LibreChat"}
    assert {row.kind for row in HOST_TEXTS} == set(HostTextKind)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_sentences_are_the_users(text: str) -> None:
    assert remove_host_texts(text) is text
    assert not is_side_call([Message(Role.SYSTEM, text), Message(Role.USER, text)])


@pytest.mark.parametrize(("text", "expected"), OWN_WORDS)
def test_words_of_the_user_remain(text: str, expected: str) -> None:
    assert remove_host_texts(text) == expected


COMPACTED = (
    "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\nNever push."
    "\n\nIf you need specific details from before compaction, read the full transcript at: /srv/a.jsonl\n"
    "<local-command-caveat>Caveat: The messages below were generated by the user.</local-command-caveat>\n\n"
    "<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n"
    "            <command-args></command-args>\n\n"
    "<local-command-stdout>Compacted\nPreCompact [hook PreCompact] completed successfully: decisions are kept"
    "</local-command-stdout>\n\nContinue from where you left off.\n"
)
"""What Claude Code sends as one message of the user after a compaction."""

CREATED = "File created successfully at: /srv/shop/orders.py"
REMARK = " (file state is current in your context \u2014 no need to Read it back)"

SAID = [
    (Message(Role.USER, COMPACTED), ""),
    (Message(Role.USER, f"{COMPACTED}Use tabs here."), "Use tabs here."),
    (Message(Role.ASSISTANT, "No response requested."), ""),
    (Message(Role.ASSISTANT, "It says: No response requested."), "It says: No response requested."),
    (Message(Role.USER, "No response requested."), "No response requested."),
    (Message(Role.USER, "Please continue from where you left off."), "Please continue from where you left off."),
    (Message(Role.TOOL, tool_results=(ToolResult("c1", CREATED + REMARK),)), CREATED),
    (Message(Role.USER, tool_results=(ToolResult("c1", CREATED + REMARK),)), CREATED),
    (Message(Role.TOOL, tool_results=(ToolResult("c1", "grep: (file state)"),)), "grep: (file state)"),
]


@pytest.mark.parametrize(("message", "expected"), SAID)
def test_words_of_each_author_remain(message: Message, expected: str) -> None:
    own = without_host_texts(message)
    assert "".join([own.text, *(result.text for result in own.tool_results)]) == expected
    assert without_host_texts(own) is own


@pytest.mark.parametrize("role", [Role.USER, Role.TOOL])
def test_what_hosts_write_is_neither_quoted_nor_found(role: Role) -> None:
    messages = [
        Message(Role.USER, "Write the order service."),
        Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "Write", '{"file_path": "/srv/shop/orders.py"}'),)),
        Message(role, tool_results=(ToolResult("c1", CREATED + REMARK),)),
        Message(Role.USER, COMPACTED),
        Message(Role.ASSISTANT, "No response requested."),
        Message(Role.USER, "Go on with the orders."),
    ]
    read = " ".join(sentence.text for sentence in transcript_sentences(list(enumerate(messages, 1))))
    found = " ".join(map(message_text, messages))
    for text in (read, found):
        assert CREATED in text
        for words in ("Read it back", "No response", "Never push", "Compacted", "left off"):
            assert words not in text


def test_compaction_and_continuation_of_cursor() -> None:
    """Its summary is asked for behind a transcript of the chat, and stands for the chat afterwards."""
    rendered = "user: Never push to main.\n\nassistant: Fine.\n<summarization_request>Sum up.</summarization_request>"
    assert is_side_call([Message(Role.USER, rendered)])
    notice = Message(Role.USER, "[Previous conversation summary]: Never push to main.")
    assert is_continuation(notice)
    assert not is_side_call([notice, Message(Role.USER, "Use tabs here.")])
    assert may_continue(b'{"messages": [{"role": "user", "content": "[Previous conversation summary]: x"}]}')


def test_what_a_host_sends_beside_the_chat() -> None:
    """Only with the host's own reply behind it; in front of the examples' end everything belongs to them."""
    files = Message(Role.USER, "I have *added these files to the chat* so you can go ahead and edit them.\n\nshop.py")
    fine = Message(Role.ASSISTANT, "Ok, any changes I propose will be to those files.")
    asked, done = Message(Role.USER, "Go."), Message(Role.ASSISTANT, "Done.")
    ends = Message(Role.USER, "I switched to a new code base. Please don't consider the above files.")
    chat = [asked, done, ends, Message(Role.ASSISTANT, "Ok."), asked, done, files, fine, asked]
    assert find_context(chat) == {0, 1, 2, 3, 6, 7}
    assert find_context(chat, 4) == {6, 7}
    for reply in ("I see shop.py.", "Okay, the logo is blue."):
        for sent in (files, Message(Role.USER, "Image file: logo.png")):
            assert find_context([sent, Message(Role.ASSISTANT, reply), asked, files]) == set()


@pytest.mark.parametrize("row", [row for row in HOST_TEXTS if row.context], ids=lambda row: row.example[:30])
def test_the_quick_check_finds_what_a_host_sends_beside_the_chat(row: HostText) -> None:
    own = {"role": "assistant", "content": "Ok."}
    body = json.dumps({"messages": [{"role": "user", "content": row.example}, own]}, ensure_ascii=False)
    assert may_have_context(body) and may_have_context(body, body.index("content"))
    assert not may_have_context(body, len(body) - 5)
    assert not may_have_context(body.replace("Ok.", "Yes."))


def test_continuations_and_side_calls() -> None:
    notice = "This session is being continued from a previous conversation.\n\nSummary:\nNever push to main."
    prompt = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nSummarize."
    assert is_continuation(Message(Role.USER, f"<system-reminder>\na\n</system-reminder>\n{notice}"))
    assert not is_continuation(Message(Role.ASSISTANT, notice))
    assert not is_side_call([Message(Role.USER, notice)])
    assert is_side_call([Message(Role.USER, "Then the queue."), Message(Role.USER, f"The queue.\n{prompt}")])
    reminder = Message(Role.SYSTEM, "Keep the list of tasks up to date.")
    assert is_side_call([Message(Role.USER, "Then the queue."), Message(Role.USER, prompt), reminder])
    assert not is_side_call(
        [Message(Role.USER, prompt), Message(Role.ASSISTANT, "A summary."), Message(Role.USER, "On.")]
    )
    assert not is_side_call([])


@pytest.mark.parametrize(
    "unit", ["<reminder>", "# TODO LIST a\nb\n", "<system-reminder>x</system-reminder>\n", "[Request ", "<session>\n"]
)
def test_cost_is_linear(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        start = time.process_time()
        find_host_texts(text)
        return time.process_time() - start

    least = min(seconds(50_000) for _ in range(3))
    assert min(seconds(200_000) for _ in range(3)) < 8 * least + 0.05


def test_a_lone_surrogate_hides_no_host_text() -> None:
    text = "Fix it \ud83d\n<system-reminder>Be brief</system-reminder>"
    assert [span.row.kind for span in find_host_texts(text)] == [HostTextKind.REMINDER]
    assert remove_host_texts(text) == "Fix it \ud83d"
    assert not is_side_call([Message(Role.SYSTEM, "\udc00"), Message(Role.USER, "\ud83d")])
