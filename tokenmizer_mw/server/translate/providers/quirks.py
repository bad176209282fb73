"""How OpenAI-compatible servers differ from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Quirks:
    """The deviations of one OpenAI-compatible server; the defaults suit most servers.

    - ``max_tokens`` and ``seed``: the names of these fields; ``system``: the role of system messages.
    - ``stream_options``: whether to ask a stream for its token counts.
    - ``effort``: how to set the reasoning effort: "reasoning_effort", DeepSeek's "thinking" beside it, OpenRouter's
      "reasoning", or "" if that is not possible.
    - ``thoughts``: the field in which earlier reasoning is sent back; "" drops it. With ``thoughts_needed`` every
      assistant message has the field, unless the call switches reasoning off.
    - ``bridge``: text of an assistant message inserted between a tool result and a user message, for servers that
      refuse these as neighbours; "" for none.
    - ``parallel`` and ``end_user``: whether there are fields for parallel tool calls and for the end user.
    - ``verbosity``: whether there is a field for the length of the reply.
    - ``attached``: whose format is used for documents and audio.
    - ``call_id`` and ``call_id_lengths``: allowed characters, and least and greatest length, of tool call ids; other
      ids are replaced.
    - ``lacks``: features that the server does not support, such as "sampling.seed", "format.schema" or "tools.strict",
      named as in ``asking.told``.
    """

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed: Literal["seed", "random_seed"] = "seed"
    system: Literal["system", "developer"] = "system"
    stream_options: bool = True
    effort: Literal["reasoning_effort", "thinking", "reasoning", ""] = "reasoning_effort"
    thoughts: Literal["reasoning_content", "reasoning", ""] = ""
    thoughts_needed: bool = False
    bridge: str = ""
    parallel: bool = True
    end_user: bool = True
    verbosity: bool = False
    attached: Literal["openai", "mistral"] = "openai"
    call_id: Literal["printable", "word", "alphanumeric"] = "printable"
    call_id_lengths: tuple[int, int] = (1, 40)
    lacks: frozenset[str] = frozenset({"sampling.top_k", "document.url", "audio.url"})
