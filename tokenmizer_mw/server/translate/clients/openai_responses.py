"""Translator for clients with the API format (dialect) OpenAI Responses: writes replies and streams. Requests are
parsed in ``openai_responses_request``.

A stream of this dialect contains everything three times: in pieces, as finished items, and in the final response. An
error inside a stream is sent as a failed response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, assert_never

from tokenmizer_mw.server.translate import chat

from .openai_responses_item import NAME, Items, response, status_of, summary_part, text_part
from .openai_responses_request import WORDS, read
from .openai_shared import error
from .reply_parts import COMMENT, PartEnd, Progress, Step, StreamPart, named_event, parts_of


class OpenAIResponsesWriter:
    """Writes a streamed reply to ``call`` as numbered events of OpenAI Responses. ``created``: the time of the reply to
    report, in seconds since the epoch."""

    def __init__(self, call: chat.ChatCall, created: int) -> None:
        self._call = call
        self._created = created
        self._progress = Progress(call.model, str(created))
        self._known = Items(call, "")
        self._begun = False
        self._summed = False
        self._number = 0
        self._output: list[dict[str, Any]] = []

    def send(self, event: chat.StreamEvent) -> bytes:
        """Return ``event`` as server-sent events of OpenAI Responses; b"" if the API format has none for it."""
        steps = chain.from_iterable(self._of(step) for step in self._progress.steps(event))
        return b"".join(self._number_event(values) for values in steps)

    def ping(self) -> bytes:
        """Return a comment line as bytes, which keeps an idle stream alive; clients ignore it."""
        return COMMENT

    def _number_event(self, values: dict[str, Any]) -> bytes:
        kind = values.pop("type")
        numbered = {"type": kind, "sequence_number": self._number, **values}
        self._number += 1
        return named_event(numbered)

    def _of(self, step: Step) -> Iterator[dict[str, Any]]:
        match step:
            case chat.Began():
                yield from self._begin()
            case chat.PartStart(part):
                yield from self._open_part(part)
            case chat.Grew(more):
                yield from self._grew(more) if more else ()
            case PartEnd():
                yield from self._close_part(step)
            case chat.Ended():
                kind = "response.incomplete" if status_of(step.finish) == "incomplete" else "response.completed"
                yield {"type": kind, "response": self._response(step.finish, step.usage)}
            case chat.Fault():
                yield from self._failure_events(step)
            case _:
                assert_never(step)

    def _begin(self) -> Iterator[dict[str, Any]]:
        self._begun = True
        self._known = Items(self._call, self._name)
        yield {"type": "response.created", "response": self._response()}
        yield {"type": "response.in_progress", "response": self._response()}

    def _open_part(self, part: StreamPart) -> Iterator[dict[str, Any]]:
        if self._form(part) == "local_shell":  # an item that is only sent whole
            return
        yield self._event("response.output_item.added", item=self._item(part, "in_progress"))
        match part:
            case chat.Text():
                yield {
                    "type": "response.content_part.added",
                    **self._place(part, content_index=0),
                    "part": text_part(""),
                }
            case chat.Thought(hidden=False):
                place = self._place(part, summary_index=0)
                yield {"type": "response.reasoning_summary_part.added", **place, "part": summary_part("")}

    def _grew(self, more: str) -> Iterator[dict[str, Any]]:
        part = self._progress.part
        match part:
            case chat.Text():
                place = self._place(part, content_index=0)
                yield {"type": "response.output_text.delta", **place, "delta": more, "logprobs": []}
            case chat.Thought(hidden=False):
                place = self._place(part, summary_index=0)
                if not self._summed:
                    self._summed = True
                    yield {"type": "response.reasoning_summary_part.added", **place, "part": summary_part("")}
                yield {"type": "response.reasoning_summary_text.delta", **place, "delta": more}
            case chat.ModelToolCall() if self._form(part) == "function":
                yield {"type": "response.function_call_arguments.delta", **self._place(part), "delta": more}

    def _close_part(self, closed: PartEnd) -> Iterator[dict[str, Any]]:
        part, form = closed.part, self._form(closed.part)
        item = self._item(part, "incomplete" if closed.cut else "completed")
        match part:
            case chat.Text(text):
                yield from self._close_text(part, text)
            case chat.Thought(text) if self._summed:
                yield from self._close_thought(part, text)
            case chat.ModelToolCall() if form == "function":
                values = {"arguments": part.arguments, "name": item["name"]}
                yield {"type": "response.function_call_arguments.done", **self._place(part), **values}
            case chat.ModelToolCall() if form == "custom":
                place = self._place(part)
                yield {"type": "response.custom_tool_call_input.delta", **place, "delta": item["input"]}
                yield {"type": "response.custom_tool_call_input.done", **place, "input": item["input"]}
            case chat.ModelToolCall():
                yield self._event("response.output_item.added", item={**item, "status": "in_progress"})
        yield self._event("response.output_item.done", item=item)
        self._output.append(item)

    def _close_text(self, part: chat.Text, text: str) -> Iterator[dict[str, Any]]:
        place = self._place(part, content_index=0)
        yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": text_part(text)}

    def _close_thought(self, part: chat.Thought, text: str) -> Iterator[dict[str, Any]]:
        place = self._place(part, summary_index=0)
        yield {"type": "response.reasoning_summary_text.done", **place, "text": text}
        yield {"type": "response.reasoning_summary_part.done", **place, "part": summary_part(text)}

    def _failure_events(self, fault: chat.Fault) -> Iterator[dict[str, Any]]:
        """Yield the events of a failed response. If the response has not begun, yield first the events that begin it,
        because clients wait for them."""
        if not self._begun:
            yield from self._begin()
        values = error(fault)["error"]
        failure = {"code": values["code"] or values["type"], "message": values["message"]}
        yield {"type": "response.failed", "response": {**self._response(), "status": "failed", "error": failure}}

    def _event(self, kind: str, **members: Any) -> dict[str, Any]:
        return {"type": kind, "output_index": len(self._output), **members}

    def _place(self, part: StreamPart, **members: int) -> dict[str, Any]:
        return {
            "item_id": self._known.make_item_id(part, len(self._output)),
            "output_index": len(self._output),
            **members,
        }

    def _item(self, part: StreamPart, status: str) -> dict[str, Any]:
        return self._known.item(part, len(self._output), status)

    def _form(self, part: StreamPart) -> str:
        return self._known.form(part) if isinstance(part, chat.ModelToolCall) else ""

    def _response(self, finish: chat.Finish | None = None, counts: chat.Usage | None = None) -> dict[str, Any]:
        model = self._progress.began.model
        return response(
            self._call,
            name=self._name,
            model=model,
            created=self._created,
            output=self._output,
            finish=finish,
            counts=counts,
        )

    @property
    def _name(self) -> str:
        return _response_id(self._progress.began.id, self._created)


def _response_id(name: str, created: int) -> str:
    """Return the id of a response: the provider's id with "resp_" in front, unless it begins with that. If the provider
    gives none ("" in ``name``), the time ``created`` is used instead."""
    return name if name.startswith("resp_") else f"resp_{name or created}"


class OpenAIResponsesClient:
    """Translates requests, replies, streams and errors for clients with OpenAI Responses."""

    name: Final = NAME
    words: Final = WORDS
    call = staticmethod(read)
    error = staticmethod(error)
    writer = OpenAIResponsesWriter

    def reply(self, answer: chat.ModelReply, call: chat.ChatCall, *, created: int) -> Mapping[str, Any]:
        """Return the model's reply ``answer`` to the request ``call`` as the JSON body of a response. ``created``: the
        time to report, in seconds since the epoch. Raises ``ForeignReply`` for content that this API format cannot
        express, such as an image."""
        name = _response_id(answer.id, created)
        items, parts = Items(call, name), parts_of(answer)
        whole = ["completed"] * len(parts)
        if whole and answer.finish is chat.Finish.LENGTH:
            whole[-1] = "incomplete"
        output = [items.item(part, index, whole[index]) for index, part in enumerate(parts)]
        model = answer.model or call.model
        return response(
            call, name=name, model=model, created=created, output=output, finish=answer.finish, counts=answer.usage
        )
