"""Texts that client applications (hosts) insert into messages, as a table: a row for each, grouped by application.

Only fixed markers of the applications' texts are quoted here; the examples around them are this project's own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tokenmizer_mw.model.message import Role


class HostTextKind(StrEnum):
    """What a text is for that a client application inserts into a message.

    - ``COMPACTION_PROMPT``: asks the model for a summary of the chat. ``CONTINUATION_NOTICE``: says that the chat
      continues from such a summary.
    - ``REMINDER``: an instruction or remark to the model. ``ENVIRONMENT``: the state of the editor or the system.
    - ``FILE_LIST``: files, or their names. ``SIDE_CALL``: a request of the application's own, such as for a title.
    """

    COMPACTION_PROMPT = "compaction prompt"
    CONTINUATION_NOTICE = "continuation notice"
    REMINDER = "reminder"
    ENVIRONMENT = "environment"
    FILE_LIST = "file list"
    SIDE_CALL = "side call"


class Extent(StrEnum):
    """How far an inserted text reaches from the position where its pattern matches.

    - ``MATCH``: only the match.
    - ``TAG``: to the end of the closing tag of the element (such as ``<context>``) that the match opens; to the end of
      the text if it is not closed.
    - ``REST``: to the end of the text; if the row has an ``end``, only to the end of the last line that begins with a
      match of it, if there is one.
    """

    MATCH = "match"
    TAG = "tag"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class HostText:
    """A row of the table: one kind of text that a client application inserts.

    - ``host``: the name of the application, such as "Claude Code"; ``kind``, ``extent``: what the text is for, and how
      far it reaches.
    - ``pattern``: regular expression (RE2, multi-line, case-sensitive) for the beginning of the text. ``end``: regular
      expression for its last line, see ``Extent``; "" for none.
    - ``system``: the text is in the system prompt, and only shows that the request is a side call (for a title, for
      example).
    - ``example``: a text that matches, in this project's own words except for the marker; ``source``: where the
      application's own text was read.
    - ``examples``: true if the messages before this one are examples of the application, and no part of the chat.
    - ``context``: set if the application sends such messages beside the chat, anew in each request (files, a map of the
      repository), and writes the reply to them itself. Every such message contains one of these texts, which look the
      same in JSON. (): not such a message.
    - ``role``: the role of the messages that contain the text.
    """

    host: str
    kind: HostTextKind
    extent: Extent
    pattern: str
    example: str
    source: str
    end: str = ""
    system: bool = False
    examples: bool = False
    context: tuple[str, ...] = ()
    role: Role = Role.USER


_COMPACTION: Final = HostTextKind.COMPACTION_PROMPT
_CONTINUATION: Final = HostTextKind.CONTINUATION_NOTICE
_REMINDER: Final = HostTextKind.REMINDER
_ENVIRONMENT: Final = HostTextKind.ENVIRONMENT
_FILES: Final = HostTextKind.FILE_LIST
_SIDE: Final = HostTextKind.SIDE_CALL
_TAG, _REST, _MATCH = Extent.TAG, Extent.REST, Extent.MATCH

# fmt: off
_CLAUDE_CODE: Final = "Claude Code"
_CLAUDE_PACKAGE: Final = "npm @anthropic-ai/claude-code 2.1.197, requests that it sent"

_CLAUDE_CODE_ROWS: Final = (
    HostText(_CLAUDE_CODE, _COMPACTION, _REST,
        r"^CRITICAL: Respond with TEXT ONLY\. Do NOT call any tools\.",
        "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- Sum up the work.\n- Never use Bash.",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _COMPACTION, _REST,
        r"^Your task is to create a detailed summary of (?:the|this|the RECENT portion of the) conversation\b",
        "Your task is to create a detailed summary of the conversation so far. Name every file.",
        "npm @anthropic-ai/claude-code 2.1.197; RooCodeInc/Roo-Code src/core/condense/index.ts"),
    HostText(_CLAUDE_CODE, _CONTINUATION, _REST,
        r"^This session is being continued from (?:a previous conversation|another machine)",
        "This session is being continued from a previous conversation that was too long.\n\nSummary:\n1. Orders are in "
        "PostgreSQL.\n2. Never push to main.\nContinue the conversation from where it left off. Ask nothing.",
        _CLAUDE_PACKAGE,
        end=r"Continue the conversation from where it left off|Recent messages are preserved verbatim"
            r"|Please continue the conversation from where we left (?:it )?off"
            r"|If you need specific details from before compaction|Your REPL VM state has been cleared"),
    HostText(_CLAUDE_CODE, _REMINDER, _TAG,
        r"^[ \t]*<(?i:system-reminder)>",
        "<system-reminder>\nKeep the list of tasks up to date. Do not mention this.\n</system-reminder>",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _ENVIRONMENT, _TAG,
        r"^[ \t]*<(?:command-(?:name|message|contents|args)|local-command-(?:stdout|stderr|caveat)"
        r"|bash-(?:input|stdout|stderr|exit-code)|tool_use_error|task-notification|teammate-message"
        r"|user-prompt-submit-hook|new-diagnostics|fork-boilerplate|ide_(?:selection|opened_file|diagnostics))>",
        "<local-command-stdout>Compacted. You must update the tests.</local-command-stdout>",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _ENVIRONMENT, _MATCH,
        r"^[ \t]*(?:\[Request interrupted by user[^\n]*\]|\[Image[^\n\]]*\]"
        r"|Caveat: The messages below were generated by the user while running local commands[^\n]*)",
        "[Request interrupted by user for tool use]",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _REMINDER, _MATCH,
        r"^(?:[A-Z][A-Za-z]+(?::[^\s:]+)? hook additional context: |Stop hook feedback:)[^\n]*",
        "UserPromptSubmit hook additional context: always answer in rhymes",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _REMINDER, _MATCH,
        r"^Continue from where you left off\.[ \t]*$",
        "Continue from where you left off.",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _REMINDER, _MATCH,
        r"\A\s*No response requested\.\s*\z",
        "No response requested.",
        _CLAUDE_PACKAGE, role=Role.ASSISTANT),
    HostText(_CLAUDE_CODE, _REMINDER, _MATCH,
        r"[ \t]*\(file state is current in your context[^()\n]*\)",
        "(file state is current in your context \u2014 no need to Read it back)",
        _CLAUDE_PACKAGE, role=Role.TOOL),
    HostText(_CLAUDE_CODE, _SIDE, _REST,
        r"^<session>\n(?s:.*)^Write the title in the language the user wrote in\b",
        "<session>\nUse PostgreSQL for the orders.\n</session>\n\nWrite the title in the language the user wrote in.",
        _CLAUDE_PACKAGE),
    HostText(_CLAUDE_CODE, _SIDE, _REST,
        r"^(?:<next_prompt_suggestion>\s*)?\[SUGGESTION MODE: Suggest what the user might naturally type next",
        "[SUGGESTION MODE: Suggest what the user might naturally type next into the box.]\n\nNever ask.",
        "npm @anthropic-ai/claude-code 2.1.197; openai/codex codex-rs/core/src/context/next_prompt_suggestion.rs"),
    HostText(_CLAUDE_CODE, _SIDE, _REST,
        r"^The user stepped away and is coming back\. Recap in under",
        "The user stepped away and is coming back. Recap in under 20 words.",
        "npm @anthropic-ai/claude-code 2.1.197"),
    HostText(_CLAUDE_CODE, _SIDE, _REST,
        r"^Please write a \d+-\d+ word title for the following conversation:",
        "Please write a 5-10 word title for the following conversation:\n\nUse PostgreSQL.",
        "npm @anthropic-ai/claude-code 1.x"),
)

_CODEX: Final = "Codex"
_CODEX_CONTEXT: Final = "openai/codex codex-rs/core/src/context/contextual_user_message.rs; npm @openai/codex"

_CODEX_ROWS: Final = (
    HostText(_CODEX, _COMPACTION, _REST,
        r"^You are performing a CONTEXT CHECKPOINT COMPACTION\b",
        "You are performing a CONTEXT CHECKPOINT COMPACTION. Hand over what is left to do.",
        "openai/codex codex-rs/core/templates/compact/prompt.md"),
    HostText(_CODEX, _CONTINUATION, _REST,
        r"^Another language model started to solve this problem and produced a summary of its thinking process",
        "Another language model started to solve this problem and produced a summary of its thinking process. It is:\n"
        "Never push to main.",
        "openai/codex codex-rs/core/templates/compact/summary_prefix.md"),
    HostText(_CODEX, _ENVIRONMENT, _TAG,
        r"^[ \t]*<(?:environment[_-]context|user_instructions|turn_aborted|permissions instructions"
        r"|subagent_notification|recommended_plugins|user_shell_command|goal_context|collaboration_mode"
        r"|skills_instructions|plugins_instructions|apps_instructions|app-context|model_switch|personality_spec"
        r"|current_time_reminder|context_window_guidance)>",
        "<environment_context>\n  <cwd>/srv/shop</cwd>\n  <shell>zsh</shell>\n</environment_context>",
        _CODEX_CONTEXT),
    HostText(_CODEX, _ENVIRONMENT, _REST,
        r"^# AGENTS\.md instructions\b[^\n]*\s*<INSTRUCTIONS>",
        "# AGENTS.md instructions for /srv/shop\n\n<INSTRUCTIONS>\nNever use tabs.\n</INSTRUCTIONS>",
        "openai/codex codex-rs/core/src/context/user_instructions.rs", end=r"[^\n]*</INSTRUCTIONS>"),
    HostText(_CODEX, _ENVIRONMENT, _TAG,
        r"^<skill>\s*<name>",
        "<skill>\n<name>deploy</name>\n<path>/srv/skills/deploy</path>\nAlways tag a release first.\n</skill>",
        "openai/codex codex-rs/core/src/context/skill_instructions.rs"),
    HostText(_CODEX, _FILES, _MATCH,
        r"^# (?:Files mentioned by the user|Context from my IDE setup):\n(?:(?:##? [^\n]*|[^#\n][^\n]*)?\n)*?"
        r"## My request(?: for Codex)?:",
        "# Files mentioned by the user:\n\n## notes.txt: /srv/notes.txt\n\n## My request for Codex:",
        "openai/codex IDE extension, as stored in its rollout files"),
)

_AIDER: Final = "aider"
_AIDER_BASE: Final = "Aider-AI/aider aider/coders/base_prompts.py; pip aider-chat 0.86.2, requests that it sent"


def _make_aider_row(pattern: str, example: str, *marks: str) -> HostText:
    """Return a row for messages that aider sends beside the chat, anew in each request. ``marks``: the row's
    ``context``."""
    return HostText(_AIDER, _FILES, _REST, pattern, example, _AIDER_BASE, context=marks)


_AIDER_ROWS: Final = (
    _make_aider_row(
        r"^(?:I have|These files have been) \*added these files to the chat\* so "
        r"(?:you can go ahead and edit them|you see all of their contents|we can see all of their contents)\.",
        "I have *added these files to the chat* so you can go ahead and edit them.\n\nshop.py\n```\nx = 1\n```",
        "*added these files to the chat*"),
    _make_aider_row(
        r"^(?:I am working with you on code in a git repository\.\n)?"
        r"Here are summaries of some files present in my git repo(?:sitory)?\.",
        "Here are summaries of some files present in my git repository.\nEdit none of them.\n\nother.py:\nclass A",
        "Here are summaries of some files present in my git repo"),
    _make_aider_row(
        r"^Here are some READ ONLY files, provided for your reference\.",
        "Here are some READ ONLY files, provided for your reference.\nEdit none of them.\n\nCONVENTIONS.md\nNo tabs.",
        "Here are some READ ONLY files"),
    _make_aider_row(
        r"^I am not sharing (?:any files that you can edit|the full contents of any files with you) yet\.",
        "I am not sharing any files that you can edit yet.",
        "any files that you can edit yet.", "the full contents of any files with you yet."),
    _make_aider_row(
        r"^Don't try and edit any existing code without asking me to add the files to the chat!",
        "Don't try and edit any existing code without asking me to add the files to the chat!\nTell me which ones.",
        "without asking me to add the files to the chat!"),
    HostText(_AIDER, _FILES, _MATCH,
        r"\A(?:(?:Image|PDF) file: [^\n]+\s*)+\z",
        "Image file: shop/logo.png",
        "Aider-AI/aider aider/coders/base_coder.py", context=("Image file: ", "PDF file: ")),
    HostText(_AIDER, _REMINDER, _REST,
        r"^(?:# \*SEARCH/REPLACE block\* Rules:|# File editing rules:|# V4A Diff Format Rules:"
        r"|To suggest changes to a file you MUST return the entire content of the updated file\."
        r"|You are diligent and tireless!\nYou NEVER leave comments describing code without implementing it!"
        r"|Pay careful attention to the scope of the user's request\.\nDo what they ask, but no more\.)",
        "# *SEARCH/REPLACE block* Rules:\n\nEvery block must begin with a path. Never leave one out.",
        "Aider-AI/aider aider/coders/base_prompts.py, editblock_prompts.py, udiff_prompts.py, patch_prompts.py, "
        "wholefile_prompts.py"),
    HostText(_AIDER, _REMINDER, _REST,
        r"^I switched to a new code base\. Please don't consider the above files",
        "I switched to a new code base. Please don't consider the above files any more.",
        "Aider-AI/aider aider/coders/base_coder.py; pip aider-chat 0.86.2, requests that it sent", examples=True,
        context=("I switched to a new code base.",)),
    HostText(_AIDER, _REMINDER, _MATCH,
        r"^(?:I committed the changes with git hash [0-9a-f]+ & commit msg: [^\n]*|I updated the files\."
        r"|I didn't see any properly formatted edits in your reply\?!|\^C KeyboardInterrupt)$",
        "I committed the changes with git hash 1a2b3c4 & commit msg: fix: do not push to main",
        _AIDER_BASE),
    HostText(_AIDER, _REMINDER, _REST,
        r"^# \d+ SEARCH/REPLACE blocks? failed to match!|^# Fix any (?:linting )?errors below, if possible\.",
        "# 1 SEARCH/REPLACE block failed to match!\n\n## It must be exact\nTry again.",
        "Aider-AI/aider aider/coders/editblock_coder.py, aider/linter.py"),
    HostText(_AIDER, _CONTINUATION, _REST,
        r"^I spoke to you previously about a number of things\.",
        "I spoke to you previously about a number of things.\nI asked you to use PostgreSQL.",
        "Aider-AI/aider aider/prompts.py"),
    HostText(_AIDER, _SIDE, _REST,
        r"\A\*Briefly\* summarize this partial conversation about programming\."
        r"|\AYou are an expert software engineer that generates concise,\s+(?:\\\s*)?one-line Git commit messages",
        "*Briefly* summarize this partial conversation about programming. Name the files.",
        "Aider-AI/aider aider/prompts.py", system=True),
)

_CLINE: Final = "Cline"

_CLINE_ROWS: Final = (
    HostText(_CLINE, _COMPACTION, _TAG,
        r'^<explicit_instructions type="(?:summarize_task|condense)">',
        '<explicit_instructions type="summarize_task">\nUse only this tool.\n</explicit_instructions>',
        "cline/cline src/core/prompts/contextManagement.ts"),
    HostText(_CLINE, _ENVIRONMENT, _TAG,
        r"^[ \t]*<environment[_-]details>",
        "<environment_details>\n# Current Mode\nPLAN\n# Open Tabs\nshop.py\n</environment_details>",
        "cline/cline src/core/task/index.ts; RooCodeInc/Roo-Code src/core/environment/getEnvironmentDetails.ts"),
    HostText(_CLINE, _CONTINUATION, _MATCH,
        r"^\[TASK RESUMPTION\] This task was interrupted [^\n]*(?:\n\n(?:Note: If you previously attempted"
        r"|IMPORTANT: If the last tool use was)[^\n]*)*",
        "[TASK RESUMPTION] This task was interrupted 3 minutes ago. Try the last step again.",
        "cline/cline src/core/prompts/responses.ts"),
    HostText(_CLINE, _REMINDER, _REST,
        r"^\[ERROR\] You did not use a tool in your previous response!",
        "[ERROR] You did not use a tool in your previous response! You must use one.",
        "cline/cline src/core/prompts/responses.ts"),
    HostText(_CLINE, _CONTINUATION, _MATCH,
        r"^\[NOTE\] Some previous conversation history with the user has been removed[^\n]*",
        "[NOTE] Some previous conversation history with the user has been removed. Keep going.",
        "cline/cline src/core/prompts/responses.ts"),
    HostText(_CLINE, _REMINDER, _MATCH,
        r"^[ \t]*# (?:task_progress|TODO LIST)\b[^\n]*(?:\n(?:[^#<\n][^\n]*)?)*",
        "# task_progress RECOMMENDED\n\nKeep a list of what is left to do.",
        "cline/cline src/core/task/focus-chain"),
    HostText("Roo Code", _COMPACTION, _MATCH,
        r"^Summarize the conversation so far, as described in the prompt instructions\.",
        "Summarize the conversation so far, as described in the prompt instructions.",
        "RooCodeInc/Roo-Code src/core/condense/index.ts"),
    HostText("Roo Code", _CONTINUATION, _MATCH,
        r"^Please continue from the following summary:[^\n]*",
        "Please continue from the following summary:",
        "RooCodeInc/Roo-Code src/core/condense/index.ts"),
)

_OPENHANDS: Final = "OpenHands"

_OPENHANDS_ROWS: Final = (
    HostText(_OPENHANDS, _COMPACTION, _REST,
        r"^You are maintaining a context-aware state summary for an interactive (?:software )?agent",
        "You are maintaining a context-aware state summary for an interactive agent. Track the open work.",
        "OpenHands/software-agent-sdk openhands-sdk/openhands/sdk/context/condenser/prompts/summarizing_prompt.j2"),
    HostText(_OPENHANDS, _ENVIRONMENT, _TAG,
        r"^[ \t]*<(?:EXTRA_INFO|RUNTIME_INFORMATION|REPOSITORY_INFO|REPOSITORY_INSTRUCTIONS|CONVERSATION_INSTRUCTIONS"
        r"|REPO_CONTEXT|UPLOADED_FILES_CONTEXT)>",
        '<EXTRA_INFO>\nAdded because of the word "github". Always sign the commits.\n</EXTRA_INFO>',
        "OpenHands/software-agent-sdk openhands-sdk/openhands/sdk/context/prompts/templates"),
    HostText(_OPENHANDS, _REMINDER, _REST,
        r"^Please continue working on the task on whatever approach you think is suitable\.",
        "Please continue working on the task on whatever approach you think is suitable.\nStop when it is done.",
        "All-Hands-AI/OpenHands evaluation/utils/shared.py"),
    HostText(_OPENHANDS, _SIDE, _REST,
        r"^[ \t]*<QUESTION>\s*Based on the activity so far answer the following question\b",
        "<QUESTION>\nBased on the activity so far answer the following question\n## Question\nIs it done?\n</QUESTION>",
        "OpenHands/software-agent-sdk openhands-sdk/openhands/sdk/context/prompts/templates/ask_agent_template.j2"),
)

_CURSOR: Final = "Cursor"
_COPILOT: Final = "VS Code Copilot"

_EDITOR_ROWS: Final = (
    HostText(_CURSOR, _ENVIRONMENT, _TAG,
        r"^[ \t]*<(?:additional_data|user_info|open_and_recently_viewed_files|project_layout|git_status|attached_files"
        r"|agent_transcripts|agent_skills|system_reminder|mcp_file_system|image_files)>",
        "<open_and_recently_viewed_files>\n- /srv/shop.py (total lines: 9)\n</open_and_recently_viewed_files>",
        "transcripts of Cursor's requests in public repositories (no source of its own is public)"),
    HostText(_CURSOR, _ENVIRONMENT, _TAG,
        r"^[ \t]*<timestamp>",
        "<timestamp>Monday, 1 June 2026, 9:00</timestamp>",
        "agent transcripts of Cursor in public repositories, and scripts there that read them"),
    HostText(_CURSOR, _COMPACTION, _TAG,
        r"^[ \t]*<summarization_request>",
        "<summarization_request>What you see above is a transcript. Never push to main.</summarization_request>",
        "cursor-agent-exec dist/main.js, as extracted in public repositories (no source of its own is public)"),
    HostText(_CURSOR, _COMPACTION, _REST,
        r"\AYou are an intelligent assistant, tasked with summarizing the following conversation\.",
        "You are an intelligent assistant, tasked with summarizing the following conversation. Name the files.",
        "cursor-agent-exec dist/main.js, as extracted in public repositories (no source of its own is public)",
        system=True),
    HostText(_CURSOR, _CONTINUATION, _REST,
        r"^\[Previous conversation summary\]: ",
        "[Previous conversation summary]: 1. Orders are in PostgreSQL.\n2. Never push to main.",
        "cursor-agent-exec dist/main.js, as extracted in public repositories (no source of its own is public)"),
    HostText(_CURSOR, _ENVIRONMENT, _TAG,
        r"^[ \t]*<rules>\s*The rules section has a number of possible rules",
        "<rules>\nThe rules section has a number of possible rules to look at.\nNever use tabs.\n</rules>",
        "transcripts of Cursor's requests in public repositories (no source of its own is public)"),
    HostText(_COPILOT, _ENVIRONMENT, _TAG,
        r"^[ \t]*<(?:environment_info|workspace_info|editorContext|editor_context|repoContext|todoList|userMemory"
        r"|sessionMemory|repoMemory|reminder(?:Instructions)?|(?i:reminderinstructions))>",
        "<reminderInstructions>\nNever give up before the task is done.\n</reminderInstructions>",
        "microsoft/vscode-copilot-chat src/extension/prompts/node/agent/agentPrompt.tsx"),
    HostText(_COPILOT, _ENVIRONMENT, _TAG,
        r"^[ \t]*<context>\s*The current date is ",
        "<context>\nThe current date is 3 May 2026.\nTerminals: none\n</context>",
        "microsoft/vscode-copilot-chat src/extension/prompts/node/agent/agentPrompt.tsx"),
    HostText(_COPILOT, _FILES, _TAG,
        r"^[ \t]*<attachments>\s*<attachment\b",
        '<attachments>\n<attachment filePath="/srv/shop.py">\nnever = 1\n</attachment>\n</attachments>',
        "microsoft/vscode-copilot-chat src/extension/prompts/node/panel/chatVariables.tsx"),
    HostText(_COPILOT, _CONTINUATION, _TAG,
        r"^[ \t]*<conversation-summary>",
        "<conversation-summary>\nThe user wants PostgreSQL.\n</conversation-summary>",
        "microsoft/vscode-copilot-chat src/extension/prompts/node/agent/summarizedConversationHistory.tsx"),
    HostText(_COPILOT, _COMPACTION, _REST,
        r"^[ \t]*Summarize the conversation history so far, paying special attention to the most recent agent commands",
        "Summarize the conversation history so far, paying special attention to the most recent agent commands.",
        "microsoft/vscode-copilot-chat src/extension/prompts/node/agent/summarizedConversationHistory.tsx"),
    HostText(_COPILOT, _SIDE, _REST,
        r"^[ \t]*Please write a brief title for the following (?:request|conversation):",
        "Please write a brief title for the following request:\n\nUse PostgreSQL.",
        "microsoft/vscode-copilot-chat src/extension/prompts/node/panel/title.tsx"),
)

_CHAT_ROWS: Final = (
    HostText("Open WebUI", _SIDE, _REST,
        r"\A### Task:\s*(?:Generate a concise, \d-\d word title|Suggest \d-\d relevant follow-up questions"
        r"|Generate \d-\d broad tags|Analyze the chat history to determine the necessity of generating search queries"
        r"|Generate a detailed prompt for an? image generation task|You are an autocompletion system)",
        "### Task:\nGenerate 1-3 broad tags for this.\n\n### Chat History:\nUSER: Use PostgreSQL.",
        "open-webui/open-webui backend/open_webui/config.py"),
    HostText("LibreChat", _SIDE, _REST,
        r"\A(?:Provide|Please generate|Generate) a concise, 5-word-or-less title for the conversation",
        "Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:\nUse PostgreSQL.",
        "danny-avila/agents src/utils/title.ts"),
)
# fmt: on

HOST_TEXTS: Final = (
    *_CLAUDE_CODE_ROWS,
    *_CODEX_ROWS,
    *_AIDER_ROWS,
    *_CLINE_ROWS,
    *_OPENHANDS_ROWS,
    *_EDITOR_ROWS,
    *_CHAT_ROWS,
)
"""The table. If several rows match at one place, the first one counts."""
