"""A LangChain chain of 20 turns with the stock memories and with ours, in one run, with a scripted model.

- The model answers at once and extracts perfectly: if ``ConversationKGMemory`` asks it for triples, it returns those
  that the text states.
- Cost of a memory: calls of the model besides the chain's own, and the tokens of all prompts.
- A value is *stale* if a statement that the memory presents at the end names it without the value that replaced it. A
  remark before a quoted message, which says what was replaced by what, belongs to each statement of the message.
- Chat histories: what is left after two overlapping runs of one session, 400 appends of 8 threads, 160 appends of 8
  processes, and a restart. A message is out of order if it follows one that its writer added later. A history that
  supports one process only has no figure for eight.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.context.tokens import ModelCounters

from .measure import at_most

# fmt: off
TURNS: Final[tuple[tuple[str, tuple[str, str, str]], ...]] = (
    ("Let's build the invoice service. Use SQLite for storage.", ("invoice service", "stores data in", "SQLite")),
    ("Use Flask for the API.", ("API", "is written with", "Flask")),
    ("Never push to main without review.", ("main", "needs", "review")),
    ("Use Redis for the cache.", ("cache", "uses", "Redis")),
    ("The port is 8080.", ("port", "is", "8080")),
    ("Explain how invoices are numbered.", ("invoices", "are", "numbered")),
    ("Deploy it on Heroku.", ("deployment", "runs on", "Heroku")),
    ("Add tests for the tax rules.", ("tax rules", "need", "tests")),
    ("Switch from SQLite to PostgreSQL because of concurrent writes.",
     ("invoice service", "stores data in", "PostgreSQL")),
    ("What does that mean for the schema?", ("schema", "is", "affected")),
    ("Use pytest for the tests.", ("tests", "use", "pytest")),
    ("Switch from Flask to FastAPI because we need async.", ("API", "is written with", "FastAPI")),
    ("Show me the first endpoint.", ("endpoint", "is", "first")),
    ("Use Stripe for payments.", ("payments", "use", "Stripe")),
    ("Let's use Memcached instead of Redis for the cache.", ("cache", "uses", "Memcached")),
    ("How do we log errors?", ("errors", "are", "logged")),
    ("Change the port from 8080 to 9090.", ("port", "is", "9090")),
    ("Write a README for the service.", ("service", "needs", "README")),
    ("Move from Heroku to Fly.io, it is cheaper.", ("deployment", "runs on", "Fly.io")),
    ("What is still to do?", ("work", "is", "open")),
)
# fmt: on
REPLACED: Final = (
    ("SQLite", "PostgreSQL"),
    ("Flask", "FastAPI"),
    ("Redis", "Memcached"),
    ("8080", "9090"),
    ("Heroku", "Fly.io"),
)
STANDING: Final = ("PostgreSQL", "FastAPI", "Memcached", "9090", "Fly.io", "Stripe", "pytest", "review")
QUESTIONS: Final = {
    "What storage does the invoice service use?": "invoice service",
    "What is the API written with?": "API",
    "What does the cache use?": "cache",
    "What is the port?": "port",
    "Where does the deployment run?": "deployment",
    "How are payments made?": "payments",
    "What do the tests use?": "tests",
    "What about main?": "main",
}
"""What a memory is asked at the end, and the entity that each question names."""
THREADS: Final = 8
APPENDS: Final = 50
PROCESSES: Final = 8
APPENDS_OF_A_PROCESS: Final = 20
OPENING: Final = "friendly conversation"
"""Words that only the chain's own prompts contain."""
STATEMENT: Final = re.compile(r"; |\. |\.$")
REMARK: Final = re.compile(r"\[\d+ \w+\] \([^()]+: replaced in \[\d+\] by [^()]+\) ")
"""Matches what stands before a quoted message of which a statement was replaced later."""


class Scripted(BaseChatModel):
    """A model that answers the chain, and extracts what the newest line states if a memory asks for it. ``prompts``:
    all prompts that it received."""

    prompts: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        prompt = "\n".join(message.text for message in messages)
        self.prompts.append(prompt)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(_answer(prompt)))])


def _answer(prompt: str) -> str:
    known = dict(TURNS) | {question: (subject, "", "") for question, subject in QUESTIONS.items()}
    subject, relation, value = known[max(known, key=prompt.rfind)]
    if "proper nouns" in prompt:
        return subject
    if "knowledge triple" in prompt:
        return f"({subject}, {relation}, {value})"
    return "Understood."


Make = Callable[[BaseChatModel, str], Any]


def kg(model: BaseChatModel, store: str) -> Any:
    from langchain_community.memory.kg import ConversationKGMemory

    return ConversationKGMemory(llm=model)


def buffer(model: BaseChatModel, store: str) -> Any:
    from langchain_classic.memory import ConversationBufferMemory

    return ConversationBufferMemory()


def ours(model: BaseChatModel, store: str) -> Any:
    from langchain_tokenmizer_mw import TokenMizerMemory

    return TokenMizerMemory(memory=SessionMemory.open(store), session_id="s", llm=model)


def run() -> dict[str, Any]:
    memories: dict[str, Make] = {"ConversationBufferMemory": buffer, "TokenMizerMemory": ours}
    if find_spec("langchain_community") and find_spec("networkx"):
        memories = {"ConversationKGMemory": kg, **memories}
    with quiet():
        chains = {name: chain(make) for name, make in memories.items()}
        histories = {name: history(name) for name in HISTORIES}
    mine, kept = chains["TokenMizerMemory"], histories["TokenMizerChatMessageHistory"]
    bars = [
        at_most("model calls besides the chain's own, 20 turns", mine["extra_calls"], 0, digits=0),
        at_most("tokens of prompts besides the chain's own", mine["extra_prompt_tokens"], 0, digits=0),
        at_most("stale values presented as current, of five", len(mine["stale"]), 0, digits=0),
        at_most("current values not presented, of eight", len(mine["missing"]), 0, digits=0),
        at_most("current values lost after a restart, of eight", len(mine["missing_after_restart"]), 0, digits=0),
        at_most("messages lost of two overlapping runs", kept["overlap_lost"], 0, digits=0),
        at_most("messages lost of 400 appended by 8 threads", kept["threads_lost"], 0, digits=0),
        at_most("messages lost of 160 appended by 8 processes", kept["processes_lost"], 0, digits=0),
        at_most("messages of threads or processes that are out of order", kept["out_of_order"], 0, digits=0),
        at_most("messages lost after a restart", kept["restart_lost"], 0, digits=0),
    ]
    return {"figures": {"chains": chains, "histories": histories}, "bars": bars, "notes": __doc__}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Context in which warnings and output are suppressed, because the stock classes say that they are deprecated and
    print what they extract."""
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        importlib.import_module("langchain_classic.chains")  # switches its warnings on when it is imported
        warnings.simplefilter("ignore")
        yield


# -- chains ----------------------------------------------------------------------------------------------------


def chain(make: Make) -> dict[str, Any]:
    """Return the figures of one memory in a ``ConversationChain`` of 20 turns, and after a restart."""
    from langchain_classic.chains import ConversationChain

    count = ModelCounters(None).of("gpt-4o").counter.count
    with tempfile.TemporaryDirectory() as folder:
        store, model = f"sqlite:///{Path(folder) / 'memory.db'}", Scripted()
        memory = make(model, store)
        conversation = ConversationChain(llm=model, memory=memory)
        for text, _ in TURNS:
            conversation.invoke({"input": text})
        own = [prompt for prompt in model.prompts if OPENING in prompt]
        beside = [prompt for prompt in model.prompts if OPENING not in prompt]
        bare = [conversation.prompt.format(history="", input=text) for text, _ in TURNS]
        presented, again = _presented(memory), _presented(make(model, store))
    return {
        "extra_calls": len(beside),
        "extra_prompt_tokens": sum(map(count, beside)),
        "history_tokens": sum(map(count, own)) - sum(map(count, bare)),
        "stale": [old for old, new in REPLACED if _stale(presented, old, new)],
        "missing": [value for value in STANDING if value not in presented],
        "missing_after_restart": [value for value in STANDING if value not in again],
    }


def _presented(memory: Any) -> str:
    """All that a memory presents for the questions, one statement per line, each once."""
    told = "\n".join(memory.load_memory_variables({"input": question})["history"] for question in QUESTIONS)
    return "\n".join(dict.fromkeys(split_statements(told)))


def split_statements(text: str) -> list[str]:
    """Return the statements of a text that a memory presents, each with the remark at the beginning of its line."""
    return [statement for line in text.split("\n") for statement in _split_line(line)]


def _split_line(line: str) -> list[str]:
    found = REMARK.match(line)
    remark = found.group() if found is not None else ""
    return [f"{remark}{statement}" for statement in STATEMENT.split(line.removeprefix(remark))]


def _stale(presented: str, old: str, new: str) -> bool:
    return any(old in statement and new not in statement for statement in presented.splitlines())


# -- histories -------------------------------------------------------------------------------------------------

Open = Callable[[str], Callable[[str], Any]]
"""Function from a folder to a ``get_session_history``."""


def in_memory(folder: str) -> Callable[[str], Any]:
    from langchain_core.chat_history import InMemoryChatMessageHistory

    known: dict[str, Any] = {}
    return lambda session: known.setdefault(session, InMemoryChatMessageHistory())


def in_a_file(folder: str) -> Callable[[str], Any]:
    from langchain_community.chat_message_histories import FileChatMessageHistory

    return lambda session: FileChatMessageHistory(str(Path(folder) / f"{session}.json"))


def in_a_session(folder: str) -> Callable[[str], Any]:
    from langchain_tokenmizer_mw import TokenMizerChatMessageHistory

    return TokenMizerChatMessageHistory.factory(SessionMemory.open(f"sqlite:///{Path(folder) / 'memory.db'}"))


HISTORIES: Final[dict[str, Open]] = {
    "InMemoryChatMessageHistory": in_memory,
    **({"FileChatMessageHistory": in_a_file} if find_spec("langchain_community") else {}),
    "TokenMizerChatMessageHistory": in_a_session,
}


SESSIONS: Final = ("overlap", "threads", "processes")
WRITER: Final = """
import contextlib, sys
from langchain_core.messages import HumanMessage
from benchmarks.langchain_chain import HISTORIES

get = HISTORIES[sys.argv[1]](sys.argv[2])
for number in range(int(sys.argv[4])):
    with contextlib.suppress(Exception):
        get("processes").add_message(HumanMessage(f"{sys.argv[3]}:{number}"))
"""


def history(name: str) -> dict[str, Any]:
    """Return how many messages a kind of chat history loses. ``processes_lost`` is ``None`` for a history that only one
    process can use."""
    open_in = HISTORIES[name]
    with tempfile.TemporaryDirectory() as folder:
        get = open_in(folder)
        _overlap(get)
        _append(get)
        shared = open_in is not in_memory
        if shared:
            _append_from_processes(name, folder)
        overlapped, appended, written = found = [_left(get, session) for session in SESSIONS]
        again = [_left(open_in(folder), session) for session in SESSIONS]
    return {
        "overlap_lost": 4 - len(overlapped),
        "threads_lost": THREADS * APPENDS - len(appended),
        "processes_lost": PROCESSES * APPENDS_OF_A_PROCESS - len(written) if shared else None,
        "out_of_order": _out_of_order(appended) + _out_of_order(written),
        "restart_lost": sum(map(len, found)) - sum(map(len, again)),
    }


def _left(get: Callable[[str], Any], session: str) -> list[str]:
    """The messages that can be read; [] if the history cannot be read, because concurrent writes have broken its
    file."""
    try:
        return [message.text for message in get(session).messages]
    except ValueError:
        return []


def _out_of_order(messages: Sequence[str]) -> int:
    newest: dict[str, int] = {}
    late = 0
    for writer, _, number in (message.partition(":") for message in messages):
        late += int(number) < newest.get(writer, 0)
        newest[writer] = max(int(number), newest.get(writer, 0))
    return late


def _overlap(get: Callable[[str], Any]) -> None:
    """Run one session twice at the same time: both runs begin before either ends."""
    from langchain_core.runnables.history import RunnableWithMessageHistory

    inside = threading.Barrier(2)

    class Slow(Scripted):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            inside.wait(30)
            return super()._generate(messages, stop, run_manager, **kwargs)

    runnable = RunnableWithMessageHistory(Slow(), get)
    config: Any = {"configurable": {"session_id": "overlap"}}
    runs = [threading.Thread(target=runnable.invoke, args=([HumanMessage(text)], config)) for text in ("one", "two")]
    _together(runs)


def _append(get: Callable[[str], Any]) -> None:
    def write(who: int) -> None:
        for number in range(APPENDS):
            with contextlib.suppress(Exception):  # a file that another thread is writing cannot be read
                get("threads").add_message(HumanMessage(f"{who}:{number}"))

    _together([threading.Thread(target=write, args=(who,)) for who in range(THREADS)])


def _append_from_processes(name: str, folder: str) -> None:
    told = [sys.executable, "-W", "ignore", "-c", WRITER, name, folder]
    writers = [subprocess.Popen([*told, str(who), str(APPENDS_OF_A_PROCESS)]) for who in range(PROCESSES)]
    if failed := [writer.args for writer in writers if writer.wait()]:
        raise RuntimeError(f"{len(failed)} of {PROCESSES} writers failed: {failed[0]!r:.200}")


def _together(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
