"""Errors of all providers, and what clients do about them."""

from __future__ import annotations

from typing import Any

import pytest

from tokenmizer_mw.server.translate.chat import Fault
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.clients.reply_parts import FaultKind, kind_of

TOO_LONG = [
    Fault(400, "prompt is too long: 213462 tokens > 200000 maximum", "invalid_request_error"),
    Fault(413, "Prompt is too long", "request_too_large"),
    Fault(400, "Your input exceeds the context window of this model.", "context_length_exceeded"),
    Fault(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
    Fault(
        400,
        "The input token count (1196265) exceeds the maximum number of tokens allowed.",
        "INVALID_ARGUMENT",
    ),
    Fault(400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    Fault(400, "too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs."),
    Fault(400, "the request exceeds the available context size, try increasing it"),
    Fault(400, "Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 of context"),
    Fault(0, "", "context_length_exceeded"),
]
OTHERS = [
    (Fault(400, "max_tokens is too large: 99999"), FaultKind.REQUEST),
    (Fault(400, "the name of the tool is too long"), FaultKind.REQUEST),
    (Fault(429, "too many tokens per minute"), FaultKind.RATE),
    (Fault(500, "the maximum context length could not be read"), FaultKind.SERVER),
    (Fault(429, "You exceeded your current quota", "insufficient_quota"), FaultKind.BILLING),
    (Fault(0, "slow down", "rate_limit_error"), FaultKind.RATE),
    (Fault(0, "slow down", "RESOURCE_EXHAUSTED"), FaultKind.RATE),
    (Fault(0, "oh", "something"), FaultKind.SERVER),
    (Fault(401, "no", "api_error"), FaultKind.KEY),
    (Fault(404, "no such model", "model_not_found"), FaultKind.MISSING),
    (Fault(529, "busy", "overloaded_error"), FaultKind.OVERLOADED),
    (Fault(418, "tea"), FaultKind.REQUEST),
    (Fault(599, "what"), FaultKind.SERVER),
]


@pytest.mark.parametrize("fault", TOO_LONG)
def test_a_prompt_that_is_too_long_is_told_as_each_client_knows_it(fault: Fault) -> None:
    assert kind_of(fault) is FaultKind.OVERFLOW
    for side in (OpenAIChatClient(), OpenAIResponsesClient()):
        assert side.error(fault)["error"]["code"] == "context_length_exceeded"
    told = AnthropicClient().error(fault)["error"]
    assert told["type"] == "invalid_request_error"
    assert "prompt is too long" in told["message"].lower() and fault.message in told["message"]


@pytest.mark.parametrize(("fault", "kind"), OTHERS)
def test_other_errors_are_what_their_status_or_code_says(fault: Fault, kind: FaultKind) -> None:
    assert kind_of(fault) is kind
    assert AnthropicClient().error(fault)["error"]["message"] == fault.message


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(404, "no", "model_not_found"), "model_not_found"),
        (Fault(404, "no", "not_found_error"), "not_found"),
        (Fault(429, "no", "RESOURCE_EXHAUSTED"), "rate_limit_exceeded"),
        (Fault(429, "no", "insufficient_quota"), "insufficient_quota"),
        (Fault(400, "no", "invalid_request_error"), None),
        (Fault(400, "no", "invalid_image_url"), "invalid_image_url"),
        (Fault(503, "no"), "server_is_overloaded"),
    ],
)
def test_codes_are_those_of_openai_unless_the_provider_tells_more(fault: Fault, code: Any) -> None:
    assert OpenAIChatClient().error(fault)["error"]["code"] == code
    assert OpenAIResponsesClient().error(fault)["error"]["code"] == code
