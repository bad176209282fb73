"""Runs the demonstration: a session of 40 turns through the middleware, between a client and a model."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.chat.usage import warn_without_prices
from tokenmizer_mw.context.tokens import MessageCounter, counter_for
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.choosing import data_folder

from .app import (
    OPENAI_URL,
    CutSeen,
    DemoUpstream,
    HttpProvider,
    RequestRecorder,
    RunFigures,
    SeenRequest,
    compare_messages,
    create_app,
    judge_answer,
    serve_app,
)
from .conversation import SESSION, Client, Conversation, DemoReply, RequestRefused, ask, summary, tool_results
from .screen import Screen, show_compaction, show_figures, show_memory, show_next, show_store
from .script import DemoScript, ScriptTurn, load_script, message_tokens, request_tokens
from .scripted_model import MODEL, Pace, ScriptedModel

WINDOW: Final = 8_000
"""The model's context window in tokens. It is small, so that it fills up within the 40 turns."""

_PACE: Final = Pace(first=0.05, between=0.004)
_FAST: Final = Pace(fragment=96)
_COMPARED: Final = 4_000
"""Characters per chunk of the run without memory. The chunks are large because only the time to the first byte is
measured there."""


def demonstrate(*, fast: bool = False, live_model: str | None = None, keep: str | None = None) -> int:
    """Play the scripted session and print it. Return 0 if it was played to its end, the transcript was cut and the
    model still knew all old facts that it was asked for; else 1.

    - ``fast``: leave out the pauses of the scripted model.
    - ``live_model``: name of a model to ask at ``OPENAI_BASE_URL`` with the key in ``OPENAI_API_KEY``; ``None`` for the
      scripted model.
    - ``keep``: folder for the database ``demo.db``. ``None``: the folder ``demo`` in the user's data directory, which
      is emptied before each run.

    If the model refuses a request, the session ends early and 1 is returned; what was measured until then is printed.
    Raises ``ConfigError`` for a missing key and if the folder has such a database, and ``StoreError`` if the store
    fails.
    """
    settings = Settings(context_window=WINDOW, savings=True)
    database = _database(keep)
    screen = Screen(WINDOW)
    figures = RunFigures()
    with _open_rehearsal(settings, database, fast, live_model, screen, figures) as rehearsal:
        _introduce(screen, live_model)
        try:
            for turn in rehearsal.script.turns:
                rehearsal.play(turn)
        except RequestRefused as error:
            figures.refused_at = turn.number
            screen.stop()
            screen.lines([f"The model refused: {error}"], style="bold red")
        finally:
            screen.stop()
        rehearsal.memory.flush()
        show_memory(screen, rehearsal.memory)
        show_compaction(screen, rehearsal.memory, rehearsal.conversation.request())
    show_figures(screen, figures, rehearsal.counter.counter.name)
    show_store(screen, database, own_folder=keep is None)
    show_next(screen)
    _conclude(screen, figures)
    return 0 if figures.succeeded else 1


@dataclass(slots=True)
class Rehearsal:
    """One run of the demonstration.

    - ``memory``, ``conversation``: the sessions, and the chat as the client has it.
    - ``tap``: remembers what the application with memory received.
    - ``remembering``, ``plain``: clients of the application with memory and without it. ``plain`` is ``None`` for a
      live model.
    - ``counter``: counts tokens. ``screen``: prints. ``figures``: what is measured.
    - ``threshold``: number of tokens from which on the middleware cuts.
    """

    script: DemoScript
    memory: SessionMemory
    conversation: Conversation
    tap: RequestRecorder
    remembering: Client
    plain: Client | None
    counter: MessageCounter
    screen: Screen
    figures: RunFigures
    threshold: int
    _before: SeenRequest = field(default_factory=SeenRequest)
    _plain_first: bool = True

    def play(self, turn: ScriptTurn) -> None:
        """Play one turn: send the user message, answer tool calls until the model makes no more, and print the turn. If
        the turn has a probe (a question about an old fact), judge the answer. Raises ``RequestRefused``."""
        conversation, tools = self.conversation, 0
        conversation.messages.append({"role": "user", "content": turn.user})
        self.screen.begins(turn.number, turn.user)
        body = conversation.request()
        first, compared = self._send_both(body)
        request = self._note_reply(turn, body, first)
        tokens, reply = request.received, first
        while calls := reply.message.get("tool_calls"):
            results = list(tool_results(turn, calls, conversation.messages[:-1]))
            for call, result in zip(calls, results, strict=True):
                self.screen.show_tool_call(summary(call, result["content"]))
            conversation.messages.extend(results)
            tools += len(calls)
            body = conversation.request()
            reply = ask(self.remembering, body, self.screen.show_text)
            request = self._note_reply(turn, body, reply)
            tokens = max(tokens, request.received)
        self.screen.ends(turn.number, turn.user, tools, tokens, first.first_byte, compared)
        if turn.probe is not None:
            answered = judge_answer(turn.number, turn.probe, reply.message["content"] or "", request)
            self.figures.answers.append(answered)
            self.screen.probe(turn.user, answered, request.dropped)

    def _send_both(self, body: dict[str, Any]) -> tuple[DemoReply, float | None]:
        """Send a request to the application with memory, and the same request to the application without memory. Which
        of them is asked first alternates from call to call.

        Returns the reply with memory, and the seconds to the first byte without memory. The latter is ``None`` for a
        live model, for which there is no application without memory.
        """
        if self.plain is None:
            return ask(self.remembering, body, self.screen.show_text), None
        self._plain_first = not self._plain_first
        if self._plain_first:
            without = ask(self.plain, body, _ignore_text).first_byte
            reply = ask(self.remembering, body, self.screen.show_text)
        else:
            reply = ask(self.remembering, body, self.screen.show_text)
            without = ask(self.plain, body, _ignore_text).first_byte
        self.figures.with_memory.append(reply.first_byte)
        self.figures.without_memory.append(without)
        return reply, without

    def _note_reply(self, turn: ScriptTurn, body: dict[str, Any], reply: DemoReply) -> SeenRequest:
        """Append a reply to the chat and add the request to the figures. Print a notice if the middleware has newly
        replaced old messages, or has appended a new reminder (facts looked up for the newest message). ``body``: the
        request as the client sent it. Returns the request before and after the middleware."""
        self.conversation.messages.append(reply.message)
        sent, counter = body["messages"], self.counter
        request = compare_messages(
            sent, self.tap.request()["messages"], request_tokens(body, counter), reply.prompt_tokens
        )
        figures = self.figures
        figures.requests += 1
        figures.tokens_sent += request.sent
        figures.tokens_received += request.received
        figures.refused_without += request.sent > WINDOW
        if request.dropped > self._before.dropped:
            uncut = sum(message_tokens(message, counter) for message in sent[1 : 1 + self._before.dropped])
            held = request.sent - uncut + (counter.text(self._before.block) if self._before.block else 0)
            figures.cuts.append(CutSeen(turn.number, held, request, reply.first_byte))
            self.screen.cut(figures.cuts[-1], self.threshold, show_block=len(figures.cuts) == 1)
        if request.reminder and request.reminder != self._before.reminder:
            self.screen.reminder(request.reminder)
        self._before = request
        return request


def _ignore_text(text: str) -> None:
    """Do nothing: the text of replies without memory is not shown."""


@contextmanager
def _open_rehearsal(
    settings: Settings, database: Path, fast: bool, live_model: str | None, screen: Screen, figures: RunFigures
) -> Iterator[Rehearsal]:
    script = load_script()
    model = live_model or MODEL
    counter = MessageCounter(counter_for(model, settings.tokenizer_dir))
    counter.text(script.system)  # loads the tokenizer's table, which is the scripted model's and not the middleware's
    pace = _FAST if fast else _PACE
    with ExitStack() as stack:
        with leave_out_price_warning():
            memory = SessionMemory.open(f"sqlite:///{database}", settings)
        stack.callback(memory.close)
        tap = RequestRecorder(_provider() if live_model else ScriptedModel(script, counter, pace=pace, window=WINDOW))
        remembering = Client(stack.enter_context(serve_app(create_app(tap, memory))), session=SESSION)
        stack.callback(remembering.close)
        plain = None
        if live_model is None:
            unpaced = ScriptedModel(script, counter, pace=Pace(first=pace.first, fragment=_COMPARED))
            # The first calls connect: no measured call pays for that.
            plain = Client(stack.enter_context(serve_app(create_app(RequestRecorder(unpaced)))))
            stack.callback(plain.close)
            ask(
                plain,
                {"model": model, "messages": [{"role": "user", "content": "Hello"}], "stream": True},
                _ignore_text,
            )
        remembering.connect()
        conversation = Conversation(model, script)
        threshold = int(WINDOW * settings.cut_at)
        yield Rehearsal(script, memory, conversation, tap, remembering, plain, counter, screen, figures, threshold)


@contextmanager
def leave_out_price_warning() -> Iterator[None]:
    """While the context is active, suppress the log message that no prices are known. The demonstration shows tokens,
    not money."""
    logger = logging.getLogger("tokenmizer_mw")

    def is_other(record: logging.LogRecord) -> bool:
        return record.funcName != warn_without_prices.__name__

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)


def _provider() -> DemoUpstream:
    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        raise ConfigError("--live needs your key in OPENAI_API_KEY")
    return HttpProvider(key, os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)


def _database(keep: str | None) -> Path:
    folder = Path(keep).absolute() if keep else _empty_folder()
    database = folder / "demo.db"
    if database.exists():
        raise ConfigError(f"{database} exists: the demonstration starts from nothing, give another folder to --keep")
    return database


def _empty_folder() -> Path:
    """Return the empty folder ``demo`` in the user's data directory, without the files of an earlier run. If it cannot
    be created, return a new temporary folder."""
    try:
        folder = data_folder()
        if folder is None:
            return Path(tempfile.mkdtemp(prefix="tokenmizer-demo-"))
        shutil.rmtree(folder / "demo", ignore_errors=True)
        (folder / "demo").mkdir(parents=True)
        return folder / "demo"
    except OSError:
        return Path(tempfile.mkdtemp(prefix="tokenmizer-demo-"))


def _introduce(screen: Screen, live_model: str | None) -> None:
    behind = f"{live_model} at the provider" if live_model else "a built-in scripted model (no key, no network)"
    screen.heading("A working session of 40 turns, in a context of 8,000 tokens")
    screen.paragraph(
        f"""A person and an assistant build a fridge monitor for a food bank. In front: a client that resends the whole
        history with every call, as SDKs do. Behind: {behind}. Between them a FastAPI application with
        app.add_middleware(TokenMizerMiddleware, memory=memory), under uvicorn. Beside it runs the same application
        without the middleware, for comparison."""
    )
    screen.paragraph(
        f"""The context window is set to {WINDOW:,} tokens, so that it fills within the session; most models have
        128,000 or more."""
    )
    screen.paragraph("")
    screen.table_head()


def _conclude(screen: Screen, figures: RunFigures) -> None:
    if figures.succeeded:
        screen.lines(
            ["", "The session outlived its context: the transcript was cut and all that was asked for was known."]
        )
        return
    screen.lines(["", f"The demonstration failed: {_name_failure(figures)}."], style="bold red")


def _name_failure(figures: RunFigures) -> str:
    if figures.refused_at is not None:
        return f"a request of turn {figures.refused_at} was refused"
    unknown = "; ".join(answer.probe.question for answer in figures.answers if not answer.right)
    return f"no longer known: {unknown}" if figures.cuts else "the transcript was never cut"
