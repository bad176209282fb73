"""Read sentences that say in one clause that something is done and in another that something is not:
"I fixed the importer but not the login". Each clause is read by itself, with the words added that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.rules.mixed_status import (
    AT_TIMES,
    BORDER,
    DENIALS,
    DONE,
    DONE_WORD,
    DONE_WORDS,
    EXCEPT,
    EXPLAINS,
    FAILS,
    GENERAL,
    LEFT_OUT,
    LEFT_OUT_GROUPS,
    MENDED,
    MIXED_RULES,
    NEXT,
    NO_FAULT,
    NO_THING,
    NOT_YET,
    OF_PEOPLE,
    OPEN,
    PARTIAL,
    PARTLY,
    RELATIVE,
    REST,
    SAYS_NOTHING,
    SUCCESS,
    WELL,
    WHERE,
)
from tokenmizer_mw.extract.text.pattern import PatternSet, PatternTable, compile_lazily
from tokenmizer_mw.extract.text.phrases import strip_lead
from tokenmizer_mw.extract.text.similar import content

from .hit import Hit, RuleTable, is_anaphoric

CLAUSES_MAX: Final = 6
"""Most borders at which a sentence is split into clauses."""
LABEL_MAX: Final = 140
"""Longest sentence, in characters, that becomes a label as a whole."""

_BORDER: Final = compile_lazily(BORDER)
_EXCEPT: Final = compile_lazily(EXCEPT)
_DONE: Final = compile_lazily(DONE)
_PARTIAL: Final = compile_lazily(PARTIAL)
_WELL: Final = compile_lazily(WELL)
_FAILS: Final = PatternSet(FAILS)
_NO_FAULT: Final = PatternSet(NO_FAULT)
_OPEN: Final = PatternSet(OPEN)
_NEXT: Final = PatternSet(NEXT)
_PARTLY: Final = PatternSet(PARTLY)
_RELATIVE: Final = PatternSet(RELATIVE)
_LEFT_OUT: Final = compile_lazily(LEFT_OUT)
_MENDED: Final = PatternSet(MENDED)
_NOT_YET: Final = PatternSet(NOT_YET)
_GENERAL: Final = PatternSet(GENERAL)
_REST: Final = PatternSet(REST)
_AT_TIMES: Final = PatternTable((AT_TIMES,))
_OF_PEOPLE: Final = PatternSet(OF_PEOPLE)
_EXPLAINS: Final = PatternSet(EXPLAINS)
_WHERE: Final = PatternSet(WHERE)
_NO_THING: Final = PatternSet(NO_THING)
_STEP: Final = PatternSet(rf"(?:yet )?(?:{DONE_WORD})(?: yet)?$")
_SAYS_NOTHING: Final = PatternSet(SAYS_NOTHING)
_SUCCESS: Final = PatternSet(SUCCESS)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause and its status.

    - ``act``: CLAIM (done), COMPLAINT (fails) or LATER (left to do); ``None`` for neither.
    - ``word``: the word that says that it is done, "" for other acts; ``works``: that word says that it works.
    - ``says_little``: the clause does not name what it is about.
    """

    text: str
    act: Act | None = None
    word: str = ""
    works: bool = False
    says_little: bool = False


def read_mixed_status(line: str, table: RuleTable, speaker: Speaker = Speaker.USER) -> tuple[Hit, ...]:
    """Return the hits of a sentence that says what is done and what is not, or that something is done or works only in
    part or at times: one hit for the whole sentence, or one per clause. () for any other sentence.

    - ``line``: the sentence, without introductory words.
    - ``table``: the rules for the clauses about what is done, and for those that say neither.
    - ``speaker``: of an assistant's sentences only those count that first say what is done and then what is not,
      because assistants also say what they repaired ("the test failed, it passes now"), give reasons and announce the
      next step.
    """
    if _SAYS_NOTHING.any(line):
        return ()
    if len(line) <= LABEL_MAX and _AT_TIMES.any(line) and not _OF_PEOPLE.any(line):
        return (Hit(MIXED_RULES[Act.COMPLAINT], line, line),)
    if _PARTLY.any(line) and len(line) <= LABEL_MAX:
        return _read_part(line)
    if not _SUCCESS.any(line) or (_BORDER.search(line) is None and _EXCEPT.search(line) is None):
        return ()
    parts = _judge(_split(line))
    if speaker is Speaker.ASSISTANT and not _reports_shortfall(parts):
        return ()
    acts = {part.act for part in parts}
    if Act.CLAIM not in acts or not acts & {Act.COMPLAINT, Act.LATER}:
        return ()
    open_parts = [part for part in parts if part.act in (Act.COMPLAINT, Act.LATER)]
    if len(line) <= LABEL_MAX and any(_is_whole(part, parts) for part in open_parts):
        fails = any(part.act is Act.COMPLAINT or _FAILS.any(part.text) for part in parts)
        act = Act.COMPLAINT if fails else Act.LATER
        return (Hit(MIXED_RULES[act], line, line),)
    return tuple(hit for part in parts if (hit := _hit(part, table)) is not None)


def _reports_shortfall(parts: Sequence[_Clause]) -> bool:
    """Whether the first clause of an assistant's sentence that has a status says that something is done, and no such
    clause explains anything."""
    judged = [part for part in parts if part.act is not None]
    return bool(judged) and judged[0].act is Act.CLAIM and not any(_EXPLAINS.any(part.text) for part in judged)


def _read_part(line: str) -> tuple[Hit, ...]:
    """The hits of a sentence that holds only in part: what works in part fails, what is done in part is left to do. ()
    if it says neither."""
    head = _split(line)[0]
    done, well = _DONE.fullmatch(head), _WELL.fullmatch(head)
    if done is None and well is None and _PARTIAL.search(line) is None:
        return ()
    fails = _FAILS.any(line) or (done is None and well is not None)
    return (Hit(MIXED_RULES[Act.COMPLAINT if fails else Act.LATER], line, line),)


def _split(line: str) -> list[str]:
    found: list[str] = []
    rest = line
    while len(found) < CLAUSES_MAX and (border := _BORDER.search(rest)) is not None:
        found.append(rest[: border.start()])
        rest = rest[border.end() :]
    texts: list[str] = []
    for text in (text for part in (*found, rest) if (text := part.strip(" .,;:!，。；"))):
        if texts and _RELATIVE.any(f"{text} "):
            texts[-1] = f"{texts[-1]}, {text}"
        else:
            texts.append(text)
    return texts


def _judge(texts: Sequence[str]) -> list[_Clause]:
    """The clauses with their status. A denial without a verb ("but not the login") denies what the clause before it
    says."""
    parts: list[_Clause] = []
    for text in texts:
        done = next((part for part in reversed(parts) if part.word), None)
        exception = _EXCEPT.search(text)
        if exception is not None:
            parts.append(_judge_clause(text[: exception.start()]))
            if parts[-1].act is Act.CLAIM:
                act = Act.COMPLAINT if parts[-1].works else Act.LATER
                parts.append(_Clause(text[exception.end() :], act))
            continue
        parts.append(_complete(text, done) if done is not None else _judge_clause(text))
    return parts


def _judge_clause(text: str) -> _Clause:
    said = strip_lead(text)
    if _OPEN.any(said):
        return _Clause(text, Act.LATER)
    if (done := _DONE.fullmatch(said)) is not None:
        return _Clause(
            text, Act.CLAIM, next(word for at in range(1, DONE_WORDS + 1) if (word := done.group(f"word{at}")))
        )
    if _FAILS.any(said) and not _NO_FAULT.any(said):
        return _Clause(text, Act.COMPLAINT)
    if (well := _WELL.fullmatch(said)) is not None:
        return _Clause(text, Act.CLAIM, well.group("word") or well.group("works"), works=True)
    return _Clause(text, Act.LATER if _NEXT.any(text) else None)


def _complete(text: str, done: _Clause) -> _Clause:
    """The clause ``text`` after ``done``, with the word that it leaves out: "the map: not yet finished" for
    "the map not yet" after "the list is finished"."""
    denied = _LEFT_OUT.fullmatch(text)
    if denied is None:
        return _judge_clause(text)
    thing = next(filter(None, map(denied.group, LEFT_OUT_GROUPS))).strip(" ,")
    if not content(thing) or is_anaphoric(thing.rpartition(" ")[2]) or _NO_THING.any(thing):
        return _Clause(text)
    if _STEP.any(thing):
        return _Clause(text, Act.LATER, says_little=True)
    if done.works and _WHERE.any(thing):
        return _Clause(text, Act.COMPLAINT, says_little=True)
    later = _NOT_YET.any(text) or not (done.works or _MENDED.any(done.word))
    last = text.rpartition(" ")[2]
    denial = denied.group("no") or ("no" if denied.group("aside") else last if last in DENIALS else "not")
    says_no = "not yet" if _NOT_YET.any(text) and text.isascii() else denial
    label = f"{thing}: {says_no} {done.word}"
    return _Clause(label, Act.LATER if later else Act.COMPLAINT)


def _is_whole(part: _Clause, parts: Sequence[_Clause]) -> bool:
    """Whether only the whole sentence says what is wrong: "3 of 5 tests pass, the rest fail"."""
    first = parts[0]
    return part.says_little or _REST.any(part.text) or (first.act is Act.CLAIM and _GENERAL.any(strip_lead(first.text)))


def _hit(part: _Clause, table: RuleTable) -> Hit | None:
    said = strip_lead(part.text).rstrip(" .!…")
    read = table.first(said, table.reading(said)) if part.act in (None, Act.CLAIM) else None
    if part.act is None:
        return read
    if read is not None and read.rule.act in _OF_WORK:
        return read
    return Hit(MIXED_RULES[part.act], said, said) if content(said) else None


_OF_WORK: Final = frozenset({Act.CLAIM, Act.FIX, Act.CONFIRM, Act.TESTED})

__all__ = ["CLAUSES_MAX", "LABEL_MAX", "read_mixed_status"]
