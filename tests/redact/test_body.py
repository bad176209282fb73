"""The redactor on JSON: names as context, nested JSON, fields that stay, every other character kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters, fakes

TOKEN = next(fakes("sk-ant-api03-{W93}AA", "t"))
WORD = draw_characters("w", 14, "word")
SIGNED = f"https://files.test/cat.png?X-Amz-Signature={draw_characters('h', 64, 'signed')}&token={WORD * 2}"


def body(value: Any, *, ascii_only: bool = True) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_escapes_and_everything_else_stay(redactor: Redactor, ascii_only: bool) -> None:
    text = body({"a": f'😀 "quoted" é\n{TOKEN}\n\\ 😀', "b": [1.0, None, "x"]}, ascii_only=ascii_only)
    before, after = text.split(TOKEN)
    redacted = redactor.redact_body(text)
    assert redacted.startswith(before)
    assert redacted.endswith(after)
    assert json.loads(redacted)["b"] == [1.0, None, "x"]


@pytest.mark.parametrize(
    "value",
    [
        {"password": WORD},
        {"env": [{"name": "DB_PASSWORD", "value": WORD}]},
        {"headers": {"Authorization": f"Bearer {WORD * 2}"}},
        {"headers": {"Cookie": f"theme=dark; session={WORD}"}},
        ["deploy", "--token", WORD * 2],
        {"kind": "Secret", "data": {"one": WORD}},
        {"keys": [{"kty": "oct", "k": WORD * 2}]},
        {"raw": [["Host", "x.test"], ["X-Access-Token", WORD * 2]]},
        {f"{TOKEN}": 1},
        {"messages": [{"role": "tool", "content": [{"type": "text", "text": f"export API_KEY={WORD}"}]}]},
    ],
)
def test_names_tell_what_values_are(redactor: Redactor, value: Any) -> None:
    redacted = redactor.redact_body(body(value))
    json.loads(redacted)
    assert WORD not in redacted
    assert TOKEN not in redacted
    assert redactor.redact_body(redacted) is redacted
    assert redactor.redact_json(value) == json.loads(redacted)


def test_json_in_strings_is_read_at_any_depth(redactor: Redactor) -> None:
    inner = {"password": WORD, "more": json.dumps({"token": TOKEN, "note": 'a "b" \\ é'})}
    text = body({"tool_calls": [{"id": "call_1", "function": {"name": "f", "arguments": json.dumps(inner)}}]})
    found = json.loads(json.loads(redactor.redact_body(text))["tool_calls"][0]["function"]["arguments"])
    assert found["password"].startswith("redacted:password:")
    assert json.loads(found["more"]) == {"token": redactor.redact(TOKEN), "note": 'a "b" \\ é'}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "x", "signature": TOKEN},
        {"type": "redacted_thinking", "data": TOKEN},
        {"type": "reasoning", "encrypted_content": TOKEN},
        {"thoughtSignature": TOKEN},
        {"type": "tool_use", "id": TOKEN},
        {"tool_call_id": TOKEN},
        {"inlineData": {"mimeType": "image/png", "data": TOKEN}},
        {"type": "input_audio", "input_audio": {"data": TOKEN, "format": "wav"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": TOKEN}},
        {"type": "image", "base64": TOKEN, "mime_type": "image/png"},
        {"type": "file", "source_type": "base64", "data": TOKEN, "mime_type": "application/pdf"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{TOKEN}"}},
        {"type": "image_url", "image_url": {"url": SIGNED, "detail": "low"}},
        {"type": "image_url", "image_url": SIGNED},
        {"type": "input_image", "image_url": SIGNED},
        {"type": "video_url", "video_url": {"url": SIGNED}},
        {"type": "input_file", "file_url": SIGNED},
        {"type": "document", "source": {"type": "url", "url": SIGNED}},
        {"fileData": {"mimeType": "image/png", "fileUri": SIGNED}},
        {"file_data": {"mime_type": "image/png", "file_uri": SIGNED}},
        {"role": "user", "content": "What is on them?", "images": [TOKEN, f"AAAA+{TOKEN}+BBBB"]},
    ],
)
def test_what_providers_check_is_left_alone(redactor: Redactor, part: dict[str, Any]) -> None:
    text = body({"messages": [{"role": "assistant", "content": [part]}]})
    assert redactor.redact_body(text) is text


@pytest.mark.parametrize(
    "request_",
    [
        {"tools": [{"type": "mcp", "server_label": "x", "server_url": SIGNED, "authorization": TOKEN}]},
        {"tools": [{"type": "mcp", "headers": {"Authorization": f"Bearer {TOKEN}", "X-Api-Key": TOKEN}}]},
        {"mcp_servers": [{"type": "url", "url": SIGNED, "name": "x", "authorization_token": TOKEN}]},
        {"tools": [{"mcpServers": [{"streamableHttpTransport": {"url": SIGNED, "headers": {"X-Api-Key": TOKEN}}}]}]},
        {"tools": [{"retrieval": {"externalApi": {"apiAuth": {"apiKeyConfig": {"apiKeyString": TOKEN}}}}}]},
        {"tools": [{"googleMaps": {"authConfig": {"apiKey": TOKEN, "oauthConfig": {"accessToken": TOKEN}}}}]},
        {"data_sources": [{"parameters": {"authentication": {"type": "api_key", "key": TOKEN}}}]},
        {"tools": [{"container": {"network_policy": {"domain_secrets": [{"name": "KEY", "value": TOKEN}]}}}]},
    ],
)
def test_what_providers_sign_in_with_elsewhere_is_left_alone(redactor: Redactor, request_: dict[str, Any]) -> None:
    text = body(request_)
    assert redactor.redact_body(text) is text
    said = body({"messages": [{"role": "user", "content": text}, {"type": "tool_use", "input": request_}]})
    assert TOKEN not in redactor.redact_body(said)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": SIGNED},
        {"type": "document", "source": {"type": "text", "data": f"token: {TOKEN}"}},
        {"role": "user", "content": "x", "images": [{"caption": f"token: {TOKEN}"}]},
        {"type": "tool_use", "input": {"images": [TOKEN], "image_url": {"url": SIGNED}}},
        {"type": "tool_use", "input": {"type": "url", "url": SIGNED}},
    ],
)
def test_links_and_images_that_are_said_are_read(redactor: Redactor, part: dict[str, Any]) -> None:
    redacted = redactor.redact_body(body({"messages": [{"role": "assistant", "content": [part]}]}))
    assert TOKEN not in redacted
    assert SIGNED not in redacted


def test_names_of_the_api_mean_nothing_in_what_tools_say(redactor: Redactor) -> None:
    text = body({"type": "tool_use", "input": {"id": TOKEN, "signature": f"x {TOKEN}"}})
    assert TOKEN not in redactor.redact_body(text)


def test_clean_and_foreign_texts(redactor: Redactor) -> None:
    clean = body({"messages": [{"role": "user", "content": "token: none"}]})
    assert redactor.redact_body(clean) is clean
    value = {"messages": ["hello"]}
    assert redactor.redact_json(value) is value
    assert redactor.redact_body(f"data: {TOKEN}\n") == f"data: {redactor.redact(TOKEN)}\n"


def test_escapes_do_not_hide_a_secret(redactor: Redactor) -> None:
    spelt = TOKEN.replace("-", "\\u002d")
    assert redactor.redact_body(f'{{"a": "{spelt}"}}') == f'{{"a": "{redactor.redact(TOKEN)}"}}'


def test_halves_of_characters_move_nothing(redactor: Redactor) -> None:
    text = f'{{"a": "\\ud83d é {TOKEN} \\udc00\\ud83d\\ude00 {TOKEN} \\ude00"}}'
    assert redactor.redact_body(text) == text.replace(TOKEN, redactor.redact(TOKEN))


@pytest.mark.parametrize("depth", [70, 500])
def test_deep_nesting_is_read_to_the_bottom(redactor: Redactor, depth: int) -> None:
    text = "[" * depth + f'"{TOKEN}"' + "]" * depth
    assert redactor.redact_body(text) == "[" * depth + f'"{redactor.redact(TOKEN)}"' + "]" * depth


def test_the_same_name_twice(redactor: Redactor) -> None:
    text = f'{{"a": "{TOKEN}", "a": 1, "\\u0061": "{TOKEN}"}}'
    assert TOKEN not in redactor.redact_body(text)


def test_half_of_a_character_as_a_name_keeps_the_rest_read_as_json(redactor: Redactor) -> None:
    text = body({"kind: Secret\ndata:\n  a: password=": {"\ud83d": TOKEN}}, ascii_only=False)
    once = redactor.redact_body(text)
    assert "redacted:kubernetes-secret:" in once
    assert TOKEN not in once
    assert redactor.redact_body(once) == once
