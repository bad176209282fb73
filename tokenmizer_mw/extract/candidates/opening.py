"""Rank the sentences of a session's first message by how probably they state its goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.match.languages import detect_languages
from tokenmizer_mw.extract.match.other_languages import strip_foreign_lead
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.rules.wants import MODAL_ABROAD, WANTS, WANTS_ABROAD, WANTS_BEHIND
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, read_order, strip_lead
from tokenmizer_mw.extract.text.similar import content, split_words

from .finding_makers import TELLING_WORDS
from .pasted_task import TASK_TITLE

OPENING_SENTENCES: Final = 12
"""Number of sentences at the beginning of the message that are searched for the goal."""

_TITLE_MAX: Final = 160
_NOT: Final = ("not ", "never ")
_WHOLE_MAX: Final = 110
"""Longest sentence, in characters, that becomes a label as a whole, although only its end says what is wanted."""


class Rank(IntEnum):
    """The kind of a sentence in the first message, from least to most probable as the goal. The goal is the first
    sentence with the highest kind.

    - ``NOTHING``: no goal, such as a sentence about the speaker.
    - ``CHORE``: an order that belongs to any work, such as "run the tests".
    - ``LOOK``: an order to look at something.
    - ``BIT``: facts strung together ("11 stacks, 4 nodes").
    - ``POINTER``: an order about something that is not named ("fix it").
    - ``STATEMENT``, ``QUESTION``: any other statement or question.
    - ``SYMPTOM``: says what fails.
    - ``ORDER``: asks for work.
    - ``ANNOUNCED``: names the goal or task as such.
    """

    NOTHING = 0
    CHORE = 1
    LOOK = 2
    BIT = 3
    POINTER = 4
    STATEMENT = 5
    QUESTION = 6
    SYMPTOM = 7
    ORDER = 9
    ANNOUNCED = 10


@dataclass(frozen=True, slots=True)
class OpeningSentence:
    """A sentence of the first message. ``rank``: its kind; ``text``: the sentence without introductory words;
    ``label``: what it asks for, in its words; ``segment``: where it is."""

    rank: Rank
    text: str
    label: str
    segment: Segment


POINTS_BELOW: Final = PatternSet(
    r"<?(?:pr|issue|task|problem)_(?:description|statement)>?",
    r".{0,60}\b(?:the )?following (?:\w+ ){0,2}(?:issue|task|problem|bug|feature|ticket|story|pr|pull request"
    r"|requirement|description|plan)s?\b",
    r"here(?:'s| is| are) (?:the|my|a|your) (?:\w+ ){0,2}(?:issue|task|problem|bug|ticket|assignment|description"
    r"|details|text)\b",
)
"""Matches sentences that only refer to the text below them, which says what is wanted."""

_HANDS_PLAN: Final = PatternSet(
    r"(?:please )?(?:implement|execute|carry out|follow|do|work through) (?:the|this|my|our)(?: following)?"
    r"(?: approved| attached)? plan\b"
)
_PLAN_TITLE: Final = compile_lazily(
    r"(?:(?:implementation |the )?plan(?: for)?|task|feature|issue)\s*[:–—-]\s*(?P<title>.+)"
)

_HANDS_INPUT: Final = PatternSet(r"(?:user|feature|task) (?:input|request|description|prompt)$|arguments$")
"""Matches headings that templates of commands put above what the user typed."""

_LOOKS: Final = PatternSet(
    r"\(?note: |(?:please )?(?:comment on|examine|review|look (?:at|into|through|over)|check(?: out)?|read|inspect"
    r"|study|analy[sz]e"
    r"|have a look|take a look|go (?:through|over)|see|explain|summari[sz]e|describe|suggest|evaluate|assess|compare"
    r"|explore|understand|familiari[sz]e) "
)
"""Matches orders to look at something, which are the goal only if nothing else is wanted."""

_CHORES: Final = PatternSet(
    r"(?:please |then |and |just |now )*(?:git \w+|(?:commit|push|pull|merge|rebase|stash|stage|continue|proceed"
    r"|go on|go ahead|resume|retry|try again|restart|rerun|re-run)\b"
    r"|run (?:the |all |my |our )?(?:\w+ )?(?:tests?|suite|build|lint\w*|server|app|script|command|it|python|pytest"
    r"|npm|pnpm|yarn|bun|make|cargo|go)\b"
    r"|(?:prepare|write|make|create|draft|give me|suggest|generate)(?: me)? (?:a |an |the )?(?:\w+ ){0,2}?(?:commit"
    r"|pr|pull request|short name|branch name)\b|update (?:the )?changelog)"
)
"""Matches orders that belong to any work ("commit it"), which are the goal only if nothing else is wanted."""

_BITS: Final = PatternSet(
    r"~?\d[\w.,]* [\w.-]+|[\w./-]+/[\w.-]+,|(?:[\w()./+-]+ ){0,3}[\w()./+-]+, [\w()./+-]+ [\w()./+-]+$"
)
"""Matches facts strung together: "11 stacks, 4 nodes, two people"."""

_BACKGROUND: Final = PatternSet(
    r"(?:(?:i|we)(?:'m| am|'re| are| also)?(?: not)? (?:run|runs|running|own|manage|help out|work|works|volunteer"
    r"|teach|live|have"
    r"|keep|lead|organi[sz]e|maintain|look after|take care of|a|an|the|part of|in|at|on|new|responsible)"
    r"|(?:this|that|it|these|those) (?:was|were) \w+ (?:from|by|for|in)"
    r"|my name is|our \w+ (?:has|is|runs|was)|(?:i|we)(?:'ve| have)(?: been| got)?)\b",
    r"(?:ich (?:bin|arbeite|leite|betreue|habe)|wir (?:sind|haben|betreiben)|je (?:suis|travaille|gère|tiens)"
    r"|on (?:est|gère|tient)|nous (?:sommes|avons|gérons)|sono|siamo|gestisco|gestiamo|lavoro|lavoriamo|ho|abbiamo"
    r"|soy|somos|tengo|tenemos|trabajo|trabajamos|gestiono|gestionamos|sou|tenho|temos|trabalho|trabalhamos"
    r"|меня зовут|я работаю|мы работаем|у (?:нас|меня) (?:есть )?\pL+) ",
)
"""Matches sentences about who speaks or what exists already; they are no goal."""

_MAKES: Final = compile_lazily(
    r"(?:we(?:'re| are)|i(?:'m| am)) (?:currently |just |now )?"
    r"(?:building|making|developing|creating|designing|writing) (?:a|an|our|my) .{8,}"
)
"""Matches sentences that say that something is being made, which is the goal wherever they stand."""

_TASK_IS: Final = compile_lazily(
    r"(?:your|the|my|our) (?:task|job|assignment|mission|role)(?: here| now| today)? (?:is|will be)(?: to)?"
    r"(?:,? (?:first|now)(?: of all)?,?)? (?:to )?(?P<label>.{8,})"
    r"|(?:(?:today|now|this time),? )?(?:let's|lets|we're going to|we are going to) (?:work on|tackle) (?P<work>.{8,})"
)

_CODE: Final = PatternSet(r"[\w.]+ ?= ?\S.*", r".*[;{}]$", r"[A-Z]:\\|[$>❯] ", r"[\w./-]+:\d+:", r"</?[\w-]+>$")
"""Matches lines of code, of a console, or of tags, which nobody says."""

_POINTING: Final = split_words(
    "it this that these those them everything all above below following thing things help here you"
)
_POINTING_ABROAD: Final = PatternSet(
    r".{0,16}(?:원인|문제|이유)(?:을|를|이)? ?(?:찾|파악|확인)\pL* ?(?:해결|고쳐|수정)\pL*[.!]?$",
    r".{0,12}(?:上面|以上|下面|以下|我的需求|上記|下記|以下|위의?|아래)[^,，。]{0,8}$"
    r"|(?:bitte |por favor,? |per favore,? |s'il (?:te|vous) plaît,? )?(?:beheben|reparieren|lösen|fixen|arréglalo"
    r"|corrígelo|corrige|risolvi|risolvilo|conserta|corrija|répare|corrige|исправь|почини)(?: (?:bitte|das|es|esto|isso"
    r"|ça|это))?[.!]?$",
)
_NAMED: Final = 2
"""Fewest words with which an order says what it is about; "fix it please" refers to something said before."""

_COMMAND: Final = compile_lazily(r"/[a-z][\w-]* (?P<rest>.+)")
"""Matches the name of a client's command ("/plan ...") before the user's words."""

_RANKS: Final = {
    Act.GOAL: Rank.ANNOUNCED,
    Act.REQUEST: Rank.ORDER,
    Act.WISH: Rank.STATEMENT,
    Act.COMPLAINT: Rank.SYMPTOM,
    Act.PREFERENCE: Rank.NOTHING,
    Act.CHOICE: Rank.NOTHING,
    Act.RULE: Rank.NOTHING,
    Act.REPLACE: Rank.NOTHING,
    Act.RETURN: Rank.NOTHING,
    Act.REJECT: Rank.NOTHING,
    Act.RETRACT: Rank.NOTHING,
    Act.CONFIRM: Rank.NOTHING,
    Act.STILL: Rank.NOTHING,
}


_CHANGES: Final = frozenset({Act.REPLACE, Act.CHANGE, Act.RETURN})
"""Acts that change something. A session cannot begin with one, so a first sentence with many words that reads so is a
plain statement."""

_DECIDING: Final = _CHANGES | {Act.CHOICE, Act.REJECT}
_CHANGE_WORDS: Final = 8


def read_opening(spoken: Sequence[Segment], segments: Sequence[Segment]) -> list[OpeningSentence]:
    """Return the first ``OPENING_SENTENCES`` sentences of the first message in order, each with its rank. If the
    message hands over a task or plan, only the sentence with its title is returned. ``spoken``: the sentences to read;
    ``segments``: all segments of the message."""
    titled = _read_title(segments)
    if titled is not None:
        return [titled]
    found = [_make_sentence(segment, at) for at, segment in enumerate(spoken[:OPENING_SENTENCES])]
    logged = next((segment.start for segment in segments if segment.kind is SegmentKind.LOG), None)
    if logged is not None:
        found = [one for one in found if one.rank >= Rank.QUESTION or _is_said(one, logged)]
    return [one for one in found if not POINTS_BELOW.any(bound_sentence(one.segment.text))]


def _is_said(sentence: OpeningSentence, logged: int) -> bool:
    return sentence.rank is not Rank.CHORE and sentence.segment.start < logged


def _read_title(segments: Sequence[Segment]) -> OpeningSentence | None:
    """The title of a task or plan that the user hands over, or what a command's template marks as typed by the user;
    ``None`` for none of them."""
    for at, segment in enumerate(segments[:OPENING_SENTENCES]):
        if segment.kind is SegmentKind.CODE and len(segment.text) <= _TITLE_MAX:
            if _HANDS_INPUT.any(bound_sentence(segment.heading)):
                return _announced_sentence(segment, segment.text)
        elif segment.kind is SegmentKind.HEADING and segment.info == "1" and at:
            before = segments[at - 1]
            if at == 1 and _HANDS_PLAN.any(strip_lead(bound_sentence(before.text))):
                match = _PLAN_TITLE.match(segment.text)
                return _announced_sentence(segment, match.group("title") if match is not None else segment.text)
        elif segment.info == TASK_TITLE:
            return _announced_sentence(segment, segment.text)
    return None


def _announced_sentence(segment: Segment, text: str) -> OpeningSentence:
    said = bound_sentence(text)
    return OpeningSentence(Rank.ANNOUNCED, said, said, segment)


def _make_sentence(segment: Segment, at: int) -> OpeningSentence:
    text = strip_lead(bound_sentence(segment.text))
    command = _COMMAND.fullmatch(text)
    if command is not None:
        text = strip_lead(command.group("rest"))
    text = strip_foreign_lead(text)
    rank, label = _rank_sentence(text, at)
    return OpeningSentence(rank, text, label, segment)


def _rank_sentence(text: str, at: int) -> tuple[Rank, str]:
    """Rank and label of a sentence, from a task that is announced as such down to one that no rule reads. ``at``: its
    index."""
    order = read_order(text)
    task = _TASK_IS.match(text)
    if task is not None:
        return Rank.ANNOUNCED, task.group("label") or task.group("work")
    if _CHORES.any(order or text):
        return Rank.CHORE, order or text
    if _MAKES.match(text) is not None and not is_question(text):
        return Rank.ORDER, text
    read = () if order else read_hits(text, Speaker.USER)
    rank = (
        Rank.ORDER if order else max((_RANKS.get(hit.rule.act, Rank.STATEMENT) for hit in read), default=Rank.NOTHING)
    )
    if rank is Rank.ORDER:
        label = order or _label_of(text)
        return (Rank.POINTER if _is_pointing_back(label) else Rank.ORDER), label
    if rank is Rank.ANNOUNCED:
        return rank, _label_of(text)
    wanted = _find_wish(text, decided=any(hit.rule.act in _DECIDING for hit in read))
    if wanted:
        return Rank.ORDER, wanted
    if read:
        changes = at == 0 and all(hit.rule.act in _CHANGES for hit in read) and len(content(text)) >= _CHANGE_WORDS
        return (Rank.STATEMENT if changes else rank), text
    return _plain_rank(text), text


def _find_wish(text: str, *, decided: bool) -> str:
    if is_question(text):
        return ""
    match = WANTS.match(text)
    if match is not None:
        mine = match.group("self") and not match.group("you") and (match.group("to") or match.group("must"))
        must = match.group("must").casefold()
        if must and (
            decided or match.group("label").startswith(_NOT) or (must == "should" and not match.group("self"))
        ):
            return ""
        return match.group("label") if mine else text
    behind = WANTS_BEHIND.match(text)
    if behind is not None:
        return text if len(text) <= _WHOLE_MAX else behind.group("label")
    if not WANTS_ABROAD.any(text):
        return ""
    modal = MODAL_ABROAD.match(text)
    return text[modal.end() :] if modal is not None else text


def _plain_rank(text: str) -> Rank:
    """The rank of a sentence that no rule reads."""
    if _LOOKS.any(text) and len(text.split()) > TELLING_WORDS:
        return Rank.LOOK
    if len(content(text)) < TELLING_WORDS or _CODE.any(text):
        return Rank.NOTHING
    if is_question(text):
        return Rank.QUESTION
    if _BACKGROUND.any(text):
        return Rank.NOTHING
    return Rank.BIT if _BITS.any(text) else Rank.STATEMENT


def is_background(sentence: str) -> bool:
    """Whether a sentence only introduces the speaker, or says what exists already."""
    return _BACKGROUND.any(strip_lead(bound_sentence(sentence)))


def _is_pointing_back(order: str) -> bool:
    """Whether an order refers to something said before instead of naming it ("fix it please")."""
    if _POINTING_ABROAD.any(order):
        return True
    words = {word.strip(",.;:!?") for word in order.casefold().split()}
    return not words.isdisjoint(_POINTING) and len(content(order) - _POINTING) < _NAMED


def _label_of(text: str) -> str:
    read = read_hits(text, Speaker.USER)
    if detect_languages(text) and not any(hit.rule.act is Act.GOAL for hit in read):
        return text
    for hit in read:
        if hit.rule.act in (Act.GOAL, Act.REQUEST):
            return text[max(text.find(hit.label), 0) :] if len(read) == 1 and hit.label in text else hit.label
    return text
