"""The sentences that the classifier of dialogue acts is trained on, with their cues and weights."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import read_situation
from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.score.classifier import DialogueAct
from tokenmizer_mw.extract.score.classifier_findings import cues_of
from tokenmizer_mw.extract.score.cues import last_heard_sentence
from tokenmizer_mw.extract.text.phrases import bound_sentence
from tokenmizer_mw.model.message import Message, Role, ToolResult

from .acts import Line, Scene, scenes
from .beliefs import WIDER, load_cases
from .effects import FITTED, Trial, load_trials
from .labelled import OWN, Labelled, corpora

OWN_AUTHOR: Final = "own"
ACTS_OF: Final = {
    "goal": DialogueAct.GOAL,
    "decisions": DialogueAct.DECISION,
    "rejected": DialogueAct.REJECTION,
    "tasks_done": DialogueAct.COMPLETION,
    "tasks_pending": DialogueAct.POSTPONEMENT,
    "errors": DialogueAct.COMPLAINT,
    "environment": DialogueAct.STATE,
}
"""Maps a category of labels to what a sentence does that is quoted as evidence for such a label."""

TAGGED: Final[Mapping[Speaker, float]] = {Speaker.USER: 0.3, Speaker.ASSISTANT: 0.06}
"""Share of a speaker's sentences that do something in transcripts of real sessions, as counted in a sample. In the
training text the share is higher."""

TOLD_MIN: Final = 10
"""If an author tags at least this many sentences of a speaker with an act, the speaker's other sentences count as known
not to do it. With fewer tags, the author has not looked for the act."""

WEIGHED_ON: Final = frozenset({"author-f", "author-o", "author-t", "author-w", "author-x", "w3", "w5", "w6"})
"""Authors on whose text the weights of cues and sentence model are fitted: a quarter of the text, on which the sentence
model was not trained."""

_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence as extraction splits it, for training.

    - ``acts``: what it does; ``told``: the acts of which it is known whether it does them.
    - ``text``: the text that is embedded; ``own``: its cues; ``english``: whether its conversation is in English.
    - ``talk``: identifies the conversation; ``author``: who wrote that; ``speaker``: who says the sentence.
    - ``weight``: how many sentences of a real transcript it stands for.
    - ``before``: the sentence before it in its message; ``heard``: the last sentence of the other speaker; "" for none.
    """

    acts: frozenset[DialogueAct]
    text: str
    own: list[str]
    speaker: Speaker
    talk: str
    author: str
    english: bool
    told: Set[DialogueAct] = frozenset(DialogueAct)
    weight: float = 1.0
    before: str = ""
    heard: str = ""


def training_rows() -> list[Row]:
    """Return all sentences that the package's model is trained on, weighted."""
    own = next(corpus for corpus in corpora([OWN]))
    return weighted(
        [
            *(row for scene in scenes() for row in rows_of(scene)),
            *(row for session in own.sessions for row in rows_of_session(session)),
            *(row for trial in load_trials(FITTED) for row in rows_of_trial(trial)),
            *(row for talk in talks_of(load_trials(FITTED)).values() for row in rows_of_talk(talk)),
            *(row for path in sorted(WIDER.glob("*.json")) for row in rows_of_cases(path)),
        ]
    )


def weighted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, each with the acts that its author tags often enough for its speaker in ``told``. Sentences that
    do nothing get a weight of at least 1, so that the share of the others, for each author and speaker, is at most
    ``TAGGED``."""
    tells = Counter((row.author, row.speaker, act) for row in rows for act in row.acts)
    told: defaultdict[tuple[str, Speaker], set[DialogueAct]] = defaultdict(set)
    for (author, speaker, act), often in tells.items():
        if often >= TOLD_MIN:
            told[author, speaker].add(act)
    count = Counter((row.author, row.speaker, bool(row.acts)) for row in rows)

    def weight(row: Row) -> float:
        busy, idle = (count[row.author, row.speaker, acting] for acting in (True, False))
        share = TAGGED[row.speaker]
        return 1.0 if row.acts else max(1.0, busy * (1 - share) / (share * max(idle, 1)))

    return [replace(row, told=row.told & told[row.author, row.speaker], weight=weight(row)) for row in rows]


def rows_of(scene: Scene) -> list[Row]:
    """Return the sentences of a scene with their cues."""
    told = [(_message(Role(turn.speaker), turn.text), partial(_by_lines, turn.lines)) for turn in scene.turns]
    return _rows(told, scene.name, scene.author, english=scene.language == "en")


def rows_of_session(session: Labelled) -> list[Row]:
    """Return the sentences of a labelled session with their cues. A sentence that is quoted for a label does what the
    label's category says (``ACTS_OF``)."""
    quotes = [(act, quote) for name, act in ACTS_OF.items() for _, quote in session.gold.get(name, ()) if quote]
    said = [(turn["role"], turn.get("content") or "") for turn in session.turns]
    told = [(_message(Role(role), text), partial(_by_quotes, text, quotes)) for role, text in said]
    return _rows(told, session.id, OWN_AUTHOR, english=session.traits["language"] in ("", "en"))


def rows_of_trial(trial: Trial) -> list[Row]:
    """Return the sentences of a trial's last message, with their cues. [] if it has several sentences and withdraws
    something, because its label does not say which of them does."""
    told = [(_message(Role(role), text), _tells_nothing) for role, text in trial.turns]
    quotes = [(act, words) for effect in trial.effects for act, words in _acts_of(effect)]
    message = (_message(Role.USER, trial.message), partial(_by_words, quotes))
    rows = _rows([*told, message], trial.message, trial.author, english=trial.language == "en", only_last=True)
    withdraws = any(not words for _, words in quotes)
    return [] if withdraws and len(rows) > 1 else [replace(row, told=_told_beside(row.acts)) for row in rows]


def _told_beside(acts: Set[DialogueAct]) -> frozenset[DialogueAct]:
    """The acts of which it is known whether a sentence with these acts does them: all, except that a decision may or
    may not state how things are."""
    return frozenset(DialogueAct) - ({DialogueAct.STATE} if DialogueAct.DECISION in acts else set())


def talks_of(trials: Sequence[Trial]) -> dict[tuple[tuple[str, str], ...], list[Trial]]:
    """Return the trials by the conversation before their message."""
    found: defaultdict[tuple[tuple[str, str], ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        found[trial.turns].append(trial)
    return found


def rows_of_talk(trials: Sequence[Trial]) -> list[Row]:
    """Return the user's sentences of the conversation that these trials share, with their cues. A sentence with words
    that some message changes states how things are; of other acts nothing is known."""
    old = [(DialogueAct.STATE, effect["old"]) for trial in trials for effect in trial.effects if "old" in effect]
    first = trials[0]
    told = [(_message(Role(role), text), partial(_by_words, old)) for role, text in first.turns]
    rows = _rows(told, first.turns[0][1], first.author, english=first.language == "en")
    return [replace(row, told=frozenset({DialogueAct.STATE})) for row in rows if row.speaker is Speaker.USER]


def rows_of_cases(path: Path) -> Iterator[Row]:
    """Iterate over the sentences of the messages of an author's belief cases, with their cues. Of a message that must
    change nothing, it is only known that it decides, changes and rejects nothing."""
    for case in load_cases(path.parent, path.name):
        told = [(_message(Role(role), text), _tells_nothing) for role, text in case.turns]
        read = partial(_by_value, _CASE_ACTS[case.expected[-1]] if case.group == "status" else _NEW, case.expected[0])
        if case.group == "change":
            read = partial(_by_value, _NEW, case.expected[1])
        message = (_message(Role.USER, case.message), _tells_nothing if case.group == "keep" else read)
        rows = _rows([*told, message], case.message, path.stem, english=case.language == "en", only_last=True)
        known = _SETTLING if case.group == "keep" else None
        yield from (replace(row, told=known or _told_beside(row.acts)) for row in rows)


_NEW: Final = frozenset({DialogueAct.DECISION, DialogueAct.CHANGE})
_SETTLING: Final = frozenset({DialogueAct.DECISION, DialogueAct.CHANGE, DialogueAct.REJECTION, DialogueAct.RULE})
_CASE_ACTS: Final[Mapping[str, Set[DialogueAct]]] = {
    "errors": frozenset({DialogueAct.COMPLAINT}),
    "tests_failed": frozenset({DialogueAct.COMPLAINT}),
    "pending": frozenset({DialogueAct.POSTPONEMENT}),
    "rules": frozenset({DialogueAct.DECISION, DialogueAct.RULE}),
    "done": frozenset({DialogueAct.COMPLETION}),
    "decisions": frozenset({DialogueAct.DECISION}),
    "rejected": frozenset({DialogueAct.REJECTION}),
}
"""Maps the heading of a status case to what the sentence with the case's words does."""


def _by_value(acts: frozenset[DialogueAct], value: str, spoken: Sequence[Segment]) -> list[frozenset[DialogueAct]]:
    """The acts of each piece: ``acts`` if it contains ``value`` in one of its spellings (separated by "|"), else
    none."""
    spellings = [one.strip().casefold() for one in value.split("|")]
    return [acts if any(one in piece.text.casefold() for one in spellings) else frozenset() for piece in spoken]


def _acts_of(effect: Mapping[str, str]) -> Iterator[tuple[DialogueAct, str]]:
    """The acts of an effect, each with the effect's words in the message; "" if the words are not labelled."""
    words = effect.get("new", effect.get("what", ""))
    return ((act, words) for act in EFFECTS[effect["effect"]])


EFFECTS: Final[Mapping[str, Set[DialogueAct]]] = {
    "settles": {DialogueAct.DECISION},
    "replaces": {DialogueAct.DECISION, DialogueAct.CHANGE},
    "withdraws": {DialogueAct.REJECTION},
    "done": {DialogueAct.COMPLETION},
    "fixed": {DialogueAct.COMPLETION},
    "open": {DialogueAct.POSTPONEMENT},
    "fails": {DialogueAct.COMPLAINT},
    "rule": {DialogueAct.DECISION, DialogueAct.RULE},
    "rejects": {DialogueAct.REJECTION},
}
"""Maps the name of an effect to what the sentence that causes it does."""


def _message(role: Role, text: str) -> Message:
    if role is Role.TOOL:
        return Message(role=role, tool_results=(ToolResult("", text),))
    return Message(role=role, text=text)


Reader = Callable[[Sequence[Segment]], list[frozenset[DialogueAct]]]
"""Function that returns the acts of each piece of a message."""


def _rows(
    told: Sequence[tuple[Message, Reader]], talk: str, author: str, *, english: bool, only_last: bool = False
) -> list[Row]:
    messages = [(turn, message) for turn, (message, _) in enumerate(told, 1)]
    found: list[Row] = []
    for number, (message, acts_of) in enumerate(told):
        if only_last and number < len(told) - 1:
            continue
        situation = read_situation(messages[number], messages[:number], has_goal=number > 0)
        spoken = [piece for piece in segment(message.text) if piece.kind in _SPOKEN]
        read = [read_hits(piece.text, situation.speaker) for piece in spoken]
        heard = last_heard_sentence(situation)
        found += [
            Row(
                acts,
                bound_sentence(piece.text),
                cues_of(at, spoken, read, situation),
                situation.speaker,
                talk,
                author,
                english,
                before=bound_sentence(spoken[at - 1].text) if at else "",
                heard=heard,
            )
            for at, (piece, acts) in enumerate(zip(spoken, acts_of(spoken), strict=True))
        ]
    return found


def _by_lines(lines: Iterable[Line], spoken: Sequence[Segment]) -> list[frozenset[DialogueAct]]:
    """The acts of each piece of a message. If a written line is split into several pieces, the longest one has its
    acts."""
    acts: list[frozenset[DialogueAct]] = [frozenset()] * len(spoken)
    start = 0
    for told, line in lines:
        inside = [at for at, piece in enumerate(spoken) if start <= piece.start < start + len(line)]
        if inside:
            acts[max(inside, key=lambda at: len(spoken[at].text))] = told
        start += len(line) + 2
    return acts


def _tells_nothing(spoken: Sequence[Segment]) -> list[frozenset[DialogueAct]]:
    return [frozenset()] * len(spoken)


def _by_words(quotes: Sequence[tuple[DialogueAct, str]], spoken: Sequence[Segment]) -> list[frozenset[DialogueAct]]:
    """The acts of each piece: those of the quoted words that it contains."""
    return [frozenset(act for act, words in quotes if words in piece.text) for piece in spoken]


def _by_quotes(
    text: str, quotes: Sequence[tuple[DialogueAct, str]], spoken: Sequence[Segment]
) -> list[frozenset[DialogueAct]]:
    """The acts of each piece: those of the quotes that overlap it by at least half of the shorter of the two. Quotes
    that are not in ``text`` do not count."""
    places = [(act, at, at + len(quote)) for act, quote in quotes if (at := text.find(quote)) >= 0]
    return [
        frozenset(
            act for act, start, end in places if 2 * _shared(piece, start, end) >= min(end - start, len(piece.text))
        )
        for piece in spoken
    ]


def _shared(piece: Segment, start: int, end: int) -> int:
    return max(0, min(piece.end, end) - max(piece.start, start))
