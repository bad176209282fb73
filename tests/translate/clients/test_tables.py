"""Every field that the SDKs know is in a table: carried, left out for a reason, or refused."""

from __future__ import annotations

import typing
from typing import Any, Final

from anthropic.types import (
    Base64ImageSourceParam,
    Base64PDFSourceParam,
    DocumentBlockParam,
    ImageBlockParam,
    JSONOutputFormatParam,
    MetadataParam,
    OutputConfigParam,
    PlainTextSourceParam,
    RedactedThinkingBlockParam,
    TextBlockParam,
    ThinkingBlockParam,
    ThinkingConfigAdaptiveParam,
    ThinkingConfigDisabledParam,
    ThinkingConfigEnabledParam,
    ToolChoiceAnyParam,
    ToolChoiceAutoParam,
    ToolChoiceNoneParam,
    ToolChoiceToolParam,
    ToolParam,
    ToolResultBlockParam,
    ToolUseBlockParam,
    URLImageSourceParam,
    message_create_params,
)
from openai.types import chat, responses, shared_params
from openai.types.chat import chat_completion_content_part_param as chat_parts
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import namespace_tool_param, tool_param
from openai.types.responses import response_create_params as responses_params
from openai.types.responses import response_input_param as items

from tests.translate.clients.page import PAGE, page
from tokenmizer_mw.server.translate.clients import anthropic_request as anthropic
from tokenmizer_mw.server.translate.clients import openai_chat_request as openai_chat
from tokenmizer_mw.server.translate.clients import openai_responses_item, openai_shared
from tokenmizer_mw.server.translate.clients import openai_responses_request as openai_responses
from tokenmizer_mw.server.translate.clients.request_parts import Field, Table

CHAT: Final[list[tuple[Any, Table]]] = [
    (chat_params.CompletionCreateParamsStreaming, openai_chat.REQUEST),
    (chat.ChatCompletionStreamOptionsParam, openai_chat.STREAM_OPTIONS),
    (chat.ChatCompletionDeveloperMessageParam, openai_chat.MESSAGES["developer"]),
    (chat.ChatCompletionSystemMessageParam, openai_chat.MESSAGES["system"]),
    (chat.ChatCompletionUserMessageParam, openai_chat.MESSAGES["user"]),
    (chat.ChatCompletionAssistantMessageParam, openai_chat.MESSAGES["assistant"]),
    (chat.ChatCompletionToolMessageParam, openai_chat.MESSAGES["tool"]),
    (chat.ChatCompletionContentPartTextParam, openai_chat.PARTS["text"]),
    (chat.ChatCompletionContentPartRefusalParam, openai_chat.PARTS["refusal"]),
    (chat.ChatCompletionContentPartImageParam, openai_chat.PARTS["image_url"]),
    (chat.ChatCompletionContentPartInputAudioParam, openai_chat.PARTS["input_audio"]),
    (chat_parts.File, openai_chat.PARTS["file"]),
    (chat_parts.FileFile, openai_chat.FILE),
    (chat.chat_completion_content_part_image_param.ImageURL, openai_chat.IMAGE),
    (chat.chat_completion_content_part_input_audio_param.InputAudio, openai_chat.AUDIO),
    (chat.ChatCompletionMessageFunctionToolCallParam, openai_chat.CALLS["function"]),
    (chat.ChatCompletionMessageCustomToolCallParam, openai_chat.CALLS["custom"]),
    (chat.chat_completion_message_function_tool_call_param.Function, openai_chat.CALLED["function"]),
    (chat.chat_completion_message_custom_tool_call_param.Custom, openai_chat.CALLED["custom"]),
    (chat.ChatCompletionFunctionToolParam, openai_chat.TOOLS["function"]),
    (chat.ChatCompletionCustomToolParam, openai_chat.TOOLS["custom"]),
    (shared_params.FunctionDefinition, openai_chat.FUNCTION),
    (chat.chat_completion_custom_tool_param.Custom, openai_chat.CUSTOM),
    (chat.chat_completion_custom_tool_param.CustomFormatText, openai_chat.CUSTOM_FORMATS["text"]),
    (chat.chat_completion_custom_tool_param.CustomFormatGrammar, openai_chat.CUSTOM_FORMATS["grammar"]),
    (chat.chat_completion_custom_tool_param.CustomFormatGrammarGrammar, openai_shared.GRAMMAR),
    (chat.ChatCompletionNamedToolChoiceParam, openai_chat.CHOICES["function"]),
    (chat.ChatCompletionNamedToolChoiceCustomParam, openai_chat.CHOICES["custom"]),
    (chat.chat_completion_named_tool_choice_param.Function, openai_chat.CHOSEN),
    (shared_params.ResponseFormatText, openai_chat.FORMATS["text"]),
    (shared_params.ResponseFormatJSONObject, openai_chat.FORMATS["json_object"]),
    (shared_params.ResponseFormatJSONSchema, openai_chat.FORMATS["json_schema"]),
    (shared_params.response_format_json_schema.JSONSchema, openai_shared.JSON_SCHEMA),
]
RESPONSES: Final[list[tuple[Any, Table]]] = [
    (responses_params.ResponseCreateParamsStreaming, openai_responses.REQUEST),
    (responses_params.StreamOptions, openai_responses.STREAM_OPTIONS),
    (shared_params.Reasoning, openai_responses.REASONING),
    (responses.ResponseTextConfigParam, openai_responses.TEXT),
    (responses.ResponseFormatTextJSONSchemaConfigParam, openai_responses.FORMATS["json_schema"]),
    (responses.EasyInputMessageParam, openai_responses.ITEMS["message"]),
    (items.Message, openai_responses.ITEMS["message"]),
    (responses.ResponseOutputMessageParam, openai_responses.ITEMS["message"]),
    (responses.ResponseFunctionToolCallParam, openai_responses.ITEMS["function_call"]),
    (items.FunctionCallOutput, openai_responses.ITEMS["function_call_output"]),
    (responses.ResponseCustomToolCallParam, openai_responses.ITEMS["custom_tool_call"]),
    (responses.ResponseCustomToolCallOutputParam, openai_responses.ITEMS["custom_tool_call_output"]),
    (items.LocalShellCall, openai_responses.ITEMS["local_shell_call"]),
    (items.LocalShellCallAction, openai_responses_item.ACTION),
    (items.LocalShellCallOutput, openai_responses.ITEMS["local_shell_call_output"]),
    (responses.ResponseReasoningItemParam, openai_responses.ITEMS["reasoning"]),
    (responses.response_reasoning_item_param.Summary, openai_responses.SUMMARIES["summary_text"]),
    (responses.response_reasoning_item_param.Content, openai_responses.THOUGHTS["reasoning_text"]),
    (responses.ResponseInputTextParam, openai_responses.PARTS["input_text"]),
    (responses.ResponseInputImageParam, openai_responses.PARTS["input_image"]),
    (responses.ResponseInputFileParam, openai_responses.PARTS["input_file"]),
    (responses.ResponseOutputTextParam, openai_responses.PARTS["output_text"]),
    (responses.ResponseOutputRefusalParam, openai_responses.PARTS["refusal"]),
    (responses.FunctionToolParam, openai_responses.TOOLS["function"]),
    (responses.CustomToolParam, openai_responses.TOOLS["custom"]),
    (tool_param.LocalShell, openai_responses.TOOLS["local_shell"]),
    (responses.NamespaceToolParam, openai_responses.TOOLS["namespace"]),
    (namespace_tool_param.ToolFunction, openai_responses.GROUPED["function"]),
    (shared_params.custom_tool_input_format.Text, openai_responses.CUSTOM_FORMATS["text"]),
    (shared_params.custom_tool_input_format.Grammar, openai_responses.CUSTOM_FORMATS["grammar"]),
    (responses.ToolChoiceFunctionParam, openai_responses.CHOICES["function"]),
    (responses.ToolChoiceCustomParam, openai_responses.CHOICES["custom"]),
]
ANTHROPIC: Final[list[tuple[Any, Table]]] = [
    (message_create_params.MessageCreateParamsStreaming, anthropic.REQUEST),
    (MetadataParam, anthropic.METADATA),
    (OutputConfigParam, anthropic.OUTPUT),
    (JSONOutputFormatParam, anthropic.FORMATS["json_schema"]),
    (TextBlockParam, anthropic.TEXTS["text"]),
    (ImageBlockParam, anthropic.SHOWN["image"]),
    (DocumentBlockParam, anthropic.SHOWN["document"]),
    (ThinkingBlockParam, anthropic.BLOCKS["assistant"]["thinking"]),
    (RedactedThinkingBlockParam, anthropic.BLOCKS["assistant"]["redacted_thinking"]),
    (ToolUseBlockParam, anthropic.BLOCKS["assistant"]["tool_use"]),
    (ToolResultBlockParam, anthropic.BLOCKS["user"]["tool_result"]),
    (Base64ImageSourceParam, anthropic.SOURCES["base64"]),
    (Base64PDFSourceParam, anthropic.SOURCES["base64"]),
    (PlainTextSourceParam, anthropic.SOURCES["text"]),
    (URLImageSourceParam, anthropic.SOURCES["url"]),
    (ToolParam, anthropic.TOOLS["custom"]),
    (ToolChoiceAutoParam, anthropic.CHOICES["auto"]),
    (ToolChoiceAnyParam, anthropic.CHOICES["any"]),
    (ToolChoiceToolParam, anthropic.CHOICES["tool"]),
    (ToolChoiceNoneParam, anthropic.CHOICES["none"]),
    (ThinkingConfigEnabledParam, anthropic.THINKING["enabled"]),
    (ThinkingConfigAdaptiveParam, anthropic.THINKING["adaptive"]),
    (ThinkingConfigDisabledParam, anthropic.THINKING["disabled"]),
]


def test_every_field_of_the_sdk_has_its_treatment_and_what_is_left_out_a_reason() -> None:
    for known, table in (*CHAT, *RESPONSES, *ANTHROPIC):
        assert set(typing.get_type_hints(known)) - set(table) == set(), known
        passing: list[Field] = [field for field in table.values() if not field.carried and field.values != ()]
        assert all(field.reason for field in passing), known


def test_the_page_about_translation_is_that_of_the_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text)
