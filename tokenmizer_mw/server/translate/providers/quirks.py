"""Where servers that speak OpenAI Chat differ from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Quirks:
    """How one server spells what others spell differently; the defaults suit most servers.

    - ``max_tokens`` and ``seed``: the names of these fields; ``system``: the role of system messages.
    - ``stream_options``: whether a stream is asked for its token counts.
    - ``effort``: how thinking is asked for: "reasoning_effort", DeepSeek's "thinking" beside it, OpenRouter's
      "reasoning", or "" where it cannot be.
    - ``thoughts``: the field in which thoughts of earlier answers go back; "" leaves them out. With
      ``thoughts_needed`` every answer has it, unless the call asks for no thinking.
    - ``bridge``: what an answer says that stands between a result and a message of the user, where a server takes no
      such neighbours; "" where it does.
    - ``parallel`` and ``end_user``: whether there are fields that say if several tools may be called at once, and for
      whom the call is made.
    - ``verbosity``: whether there is a field for how wordy an answer may be.
    - ``attached``: whose parts of a content are documents and sounds.
    - ``call_id`` and ``call_id_lengths``: what the ids of calls are made of, and how few and how many characters they
      have; others are replaced.
    - ``lacks``: what cannot be said, in the words of a call: "sampling.seed", "format.schema", "tools.strict" and so
      on, as ``asking.told`` names them.
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
