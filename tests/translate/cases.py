"""The matrix: every provider, streamed and not, text and tools, from each of three client dialects.

A case talks through a client's own SDK to whatever translates at an address, behind which the scripted upstream is:
``case.run(url)``. Models are named "provider/model", as a proxy routes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count, product
from typing import Final

from tests.end_to_end.sdks.anthropic import AnthropicTalk
from tests.end_to_end.sdks.openai_chat import OpenAIChatTalk
from tests.end_to_end.sdks.openai_responses import OpenAIResponsesTalk
from tests.end_to_end.sdks.talk import Talk
from tokenmizer_mw.server.translate.table import PROVIDERS

CLIENTS: Final[Mapping[str, type[Talk]]] = {
    "openai_chat": OpenAIChatTalk,
    "openai_responses": OpenAIResponsesTalk,
    "anthropic": AnthropicTalk,
}
QUESTION: Final = "Where does the Ünal river rise?"
THOUGHT: Final = "They want an answer."
RESULTS: Final = ("It rises in the hills.", "Saturday")

_SPELLED: Final = {"mistral": "-mistral-exact", "deepseek": "-deepseek"}
"""What the scripted upstream is told, to spell a dialect, and to refuse, as one provider does."""

_sessions: Final = count()


@dataclass(frozen=True, slots=True)
class Case:
    """One cell. ``plain``: the provider is asked for nothing but its dialect."""

    client: str
    provider: str
    stream: bool
    tools: bool
    plain: bool = False

    @property
    def name(self) -> str:
        """How a test is called."""
        kind = "tools" if self.tools else "text"
        return f"{self.client}-{self.provider}-{'streamed' if self.stream else 'whole'}-{kind}"

    def talk(self, url: str) -> Talk:
        """A conversation of its own."""
        return CLIENTS[self.client](url, f"matrix-{next(_sessions)}")

    def model(self, steering: str) -> str:
        """The model's name for the upstream's ``steering``."""
        return f"{self.provider}/{steering}{'' if self.plain else _SPELLED.get(self.provider, '')}"

    def run(self, url: str) -> None:
        """Hold the conversation. Raises ``AssertionError`` where the client hears something else than what the
        provider says, and the SDK's error where the provider refuses what the client sends back."""
        (_tools if self.tools else _text)(self, self.talk(url))


def _text(case: Case, talk: Talk) -> None:
    """A thought and an answer in many pieces, and a second turn with both in its history."""
    talk.user(QUESTION)
    said = talk.ask(case.model("fake-n4-uni-usage-think-split7"), stream=case.stream)
    assert said.text.startswith(f"You said: {QUESTION} Ünal"), said
    assert said.text.endswith("漢字 2 End."), said
    assert (said.thinking, said.calls) == (THOUGHT, ()), said
    talk.user("Thanks.")
    said = talk.ask(case.model("fake-n1"), stream=case.stream)
    assert said.text == "You said: Thanks. End.", said
    assert not said.thinking, said


def _tools(case: Case, talk: Talk) -> None:
    """A thought, a text and two calls at once; their results; an answer that names them; one more turn."""
    talk.user(QUESTION)
    said = talk.ask(case.model("fake-n2-think-tools"), stream=case.stream)
    assert (said.text, said.thinking) == ("Let me look that up.", THOUGHT), said
    assert [(call.name, call.arguments) for call in said.calls] == [
        ("lookup", {"topic": QUESTION, "deep": True, "limit": 3}),
        ("today", {}),
    ], said
    assert len({call.id for call in said.calls}) == 2, said
    for call, result in zip(said.calls, RESULTS, strict=True):
        talk.result(call, result)
    said = talk.ask(case.model("fake-n2-uni"), stream=case.stream)
    assert said.text.startswith(f"The tools say: {'; '.join(RESULTS)}."), said
    talk.user("Thanks.")
    said = talk.ask(case.model("fake-n1"), stream=case.stream)
    assert said.text == "You said: Thanks. End.", said


CASES: Final = tuple(
    Case(client, provider, stream, tools)
    for client, provider, stream, tools in product(CLIENTS, PROVIDERS, (True, False), (False, True))
)
"""All cells, where every call is translated."""

PROXIED: Final = tuple(replace(case, plain=case.client == PROVIDERS[case.provider].dialect) for case in CASES)
"""All cells for a proxy that hands on as it is what needs no translation: there the client must speak as the provider
does."""

KINDS: Final = (("text", True), ("text", False), ("tools", True), ("tools", False))


def matrix(passed: Callable[[str], bool | None]) -> str:
    """The matrix as text: a row for each provider, and under each client what passed (``+``), failed (``-``) or was not
    tried (``.``), by the names of the cases, in the order: text streamed, text whole, tools streamed, tools whole."""
    marks = {True: "+", False: "-", None: "."}
    width = max(map(len, PROVIDERS)) + 2
    lines = [" " * width + "  ".join(f"{client:16}" for client in CLIENTS)]
    cells = {(case.client, case.provider, case.tools, case.stream): passed(case.name) for case in CASES}
    for provider in PROVIDERS:
        row = (
            " ".join(marks[cells[client, provider, kind == "tools", stream]] for kind, stream in KINDS)
            for client in CLIENTS
        )
        lines.append(f"{provider:{width}}" + "  ".join(f"{cell:16}" for cell in row).rstrip())
    done = sum(result is True for result in cells.values())
    return "\n".join([*lines, f"{done} of {len(CASES)} cells, each: text streamed, text, tools streamed, tools"])
