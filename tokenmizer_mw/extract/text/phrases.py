"""Split a sentence before the rules read it (into introductory words, clauses, reasons, enumerations), and detect
sentences that state nothing, such as questions."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from .pattern import PatternSet, compile_lazily
from .similar import split_words

SENTENCE_MAX: Final = 600
"""Number of characters at the start of a sentence that are read."""

SENTENCES_KEPT: Final = 512
"""Number of sentences whose results each cache here holds, because several stages ask about the same sentences."""


def _has_one(text: str, signs: tuple[str, ...]) -> bool:
    # Sentence by sentence a loop costs half of what a generator does.
    for sign in signs:  # noqa: SIM110
        if sign in text:
            return True
    return False


_LEAD_INS: Final = split_words(
    "ok okay k yes yeah yep yup sure great perfect cool nice thanks thank thx alright right well so and but then also"
    " now actually hm hmm hmmm oh ah ahh good fine no nope please pls first firstly finally wait sorry hey hi hello"
    " awesome excellent lovely gotcha understood agreed ugh argh anyway btw ps lastly yay wow haha lol damn true done"
    " additionally plus again just kindly secondly meanwhile basically honestly aha absolutely certainly"
)
_RECONSIDERING: Final = (
    "i changed my mind",
    "i've changed my mind",
    "we changed our mind",
    "we changed our minds",
    "ich habe es mir anders überlegt",
    "wir haben es uns anders überlegt",
    "j'ai changé d'avis",
    "he cambiado de opinión",
    "he cambiado de idea",
    "mudei de ideia",
    "ho cambiato idea",
    "я передумал",
    "я передумала",
)
"""Phrases that announce a change before the words that say what changes."""
_LEAD_PHRASES: Final = (
    "thank you",
    "good point",
    "fair enough",
    "sounds good",
    "got it",
    "makes sense",
    "i think",
    "in that case",
    "on second thought",
    "by the way",
    "one more thing",
    "for now",
    "of course",
    "good idea",
    "no problem",
    "that's fine",
    "i guess",
    "you're right",
    "good call",
    "let me think",
    "next up",
    "one thing up front",
    "one thing upfront",
    "one thing in advance",
    "one thing first",
    "one thing before we start",
    "one important thing",
    "one condition",
    "one rule",
    "first of all",
    "up front",
    "before we start",
    "before you start",
    "just so you know",
    "for the record",
    "to be clear",
    "please note",
    "heads up",
    "very important",
    "most important",
    "most importantly",
    "important",
    "importantly",
    "fyi",
    *_RECONSIDERING,
)
_ANNOUNCING: Final = frozenset(
    {
        *_RECONSIDERING,
        *("one rule", "one condition", "before we start", "before you start", "up front", "for the record"),
        *("important", "importantly", "most important", "very important", "to be clear"),
    }
)
"""Phrases that count as introductory words only before a punctuation mark: "important: no ads", but not
"important files are in src"."""
_PHRASE_STARTS: Final = frozenset(phrase.partition(" ")[0] for phrase in _LEAD_PHRASES)
_CLOSERS: Final = frozenset(",.!;:-–—…\u2019'\"")
_SIGNS: Final = "-–—*•>,;:!. ✅✔☑🎉🚀👍🙌✨🔧\ufe0f"
_LEAD_INS_MAX: Final = 6

_VERBS: Final = (
    "add|implement|create|build|write|make|set|fix|update|change|remove|delete|drop|scrap|skip|forget|keep|use"
    "|go|switch"
    "|move|refactor|rename|migrate|convert|configure|deploy|install|integrate|extend|improve|clean|document"
    "|extract|split"
    "|merge|upgrade|port|rewrite|replace|put|leave|commit|push|test|cover|run|check|call|store|don't|dont|do"
    "|never|always"
    "|take|stick|stay|try|limit|cap|return|show|log|send|start|let's|lets|we|i|it|that|please|no|revert|undo|stop"
)
_JOINED: Final = (
    rf"\s*(?:;\s+|,?\s+(?:and then|but also|and also|and please|and (?:i|we|let's)\b)"
    rf"|,\s+(?:and |then |so |but |also |or )?)(?:{_VERBS})\b|\s+(?:--?|–|—)\s+(?:{_VERBS})\b|,?\s+but\s+|;\s+"
    rf"|:\s+(?:please|never|always|don't|do not|only|i'll|we'll|let's|add|use|fix|make|keep|no)\b"
    rf"|,?\s+and next time\b"
)
_STATEMENT_CLAUSE: Final = compile_lazily(_JOINED)
_ORDER_CLAUSE: Final = compile_lazily(rf"{_JOINED}|\s+and\s+(?:{_VERBS})\s")
_ORDERS: Final = PatternSet(
    rf"(?:please |let's |lets |can you |could you |i want (?:you )?to |we (?:need|should) )*(?:{_VERBS})\b"
)
_QUESTION_BEHIND: Final = compile_lazily(
    r"(?:,\s+|\s+(?:--?|–|—)\s+)(?:so |and |but |then |or )?(?:please )?"
    r"(?P<question>(?:(?:can|could|would|will|should|shall|do|may) (?:you|u|i|we|it)"
    r"|how (?:can|could|do|does|should|would|might|much|many|long|often) "
    r"|which (?:ones? |of |\w+ (?:should|would|could|can|do) )"
    r"|what (?:\w+ ){0,3}?(?:is|are|do"
    r"|does|should|would|could|can|will) |where (?:can|do|should|would|is|are) |why (?:is|are|do|does|did|would) "
    r"|(?:is|are) (?:it|that|this|there|these|they) |any (?:tips|advice|ideas?|suggestions?|thoughts)\b"
    r"|i'm (?:just )?(?:wondering|curious|not (?:really |quite |entirely )?sure)\b|i was wondering\b"
    r"|i (?:don't|do not) know (?:if|how|what|which|whether|where)\b).*)"
)
_QUESTION_SIGNS: Final = (", ", " - ", " -- ", " – ", " — ")
_CLAUSE_SIGNS: Final = (",", ";", ": ", " and ", " but ", " - ", " -- ", " – ", " — ")
_CLAUSES_MAX: Final = 8

_REASON: Final = compile_lazily(
    r"(?:,?\s+(?:because of|because|since|so that|so we|as it|as we|as that|due to|given that|for the sake of"
    r"|in order to)\s+"
    r"|,?\s*\breason(?: is|:)\s*|\s+(?:--|–|—)\s+|\s+-\s+|\s*:\s+|,\s+(?:it's|it is|that's|they're|it has|it was"
    r"|we have|"
    r"which|is |too |I know|people |nobody |everyone |we already|we don't|i don't|one less)\s*|\s*\()"
)
_REASON_SIGNS: Final = (
    ",",
    "(",
    ":",
    " - ",
    "--",
    "–",
    "—",
    " because",
    " since",
    " so ",
    " as ",
    " due",
    " given",
    "eason",
    " for ",
    " in order",
)
_REASON_CLOSERS: Final = ")].,;! "
_REASON_OPENERS: Final = ("because ", "due to ", "of ")
_OF_COURSE: Final = "of course"
_MIN_LABEL: Final = 2

_SUPPOSES: Final = (
    r"(?:if|when(?:ever)?|unless|what if|suppose|supposing|imagine|assuming|in case|once|had we|were we"
    r"|hypothetically|"
    r"in theory|theoretically|should we|could we|would it|maybe|perhaps|possibly|might|ideally|say we|let's say|"
    r"one could|you could|you can|you might|you may|we might|we may|for example|for instance|e\.g\.|as an example|"
    r"some people|others|another option|alternatively|in general|generally|typically|usually|normally|note that)\b"
)
_INSIDE: Final = (
    r".*\b(?:if (?:we|you|i|it|that|they|there|someone)\b.*\b(?:would|could|might|had|were|was|used)|would have"
    r"|could have|"
    r"might be|may be worth|could be|wouldn't|would be|were to)\b"
)
_REPORTS: Final = PatternSet(
    r"(?:(?:the|this|that|their|our|my|his|her|an?) )?(?:[\w'’-]+ ){1,3}?(?:says?|said|states?|wrote|writes|claims?"
    r"|claimed|suggests?|suggested|mentions?|mentioned|recommends?|recommended|thinks?|thought|told|keeps saying"
    r"|wants?"
    r"|asked|insists?)\b"
)
_IMAGINES: Final = PatternSet(_SUPPOSES, _INSIDE)
_SELF: Final = split_words("i we you i'd we'd")
_ASKS: Final = PatternSet(
    r"(?:what|why|how|when|where|who|which|whose|whom|is|are|was|were|does|did|do|has|have|can|could|should"
    r"|would|will|"
    r"shall|am|any|isn't|aren't|don't|doesn't|didn't|can't|couldn't|shouldn't|wouldn't|won't|what's|how's"
    r"|where's|who's)\b"
)
_POLITE: Final = compile_lazily(
    r"(?:please,? )?(?:(?:can|could|would|will) (?:you|u)|can we)(?: please| kindly| also| just| now"
    r"| maybe)* (?P<rest>[a-z].+)|"
    r"(?:would|do) you mind (?P<other>\w+ing .+)"
)


def bound_sentence(sentence: str) -> str:
    """Return a sentence in the form in which the rules read it: one line, made of its first ``SENTENCE_MAX``
    characters, with plain apostrophes and without a final ", ok?" (in one of several languages)."""
    return _bound_sentence(sentence[:SENTENCE_MAX])


@lru_cache(maxsize=SENTENCES_KEPT)
def _bound_sentence(sentence: str) -> str:
    text = " ".join(sentence.split())
    if not text.isascii():
        text = text.replace("\u2019", "'").replace("\u2018", "'")
    tag = _TAG.search(text) if text.endswith("?") else None
    return text[: tag.start()] if tag is not None else text


_TAG: Final = compile_lazily(
    r"(?i),? (?:ok(?:ay|ey)?|alright|vale|d'accord|va bene|in ordnung|tá bom|está bem|хорошо|ладно) ?\?+$"
)
"""Matches a question at the end of a statement that only asks for assent: "never store local times, ok?"."""


@lru_cache(maxsize=SENTENCES_KEPT)
def strip_lead(text: str) -> str:
    """Return ``text`` without introductory words such as "ok,", "great! now" and "thanks, but". If it has nothing else,
    the last of them stays, so that the result is "" only for ""."""
    for _ in range(_LEAD_INS_MAX):
        rest = _behind_lead(text)
        if rest == text or not rest:
            return text
        text = rest
    return text


def _behind_lead(text: str) -> str:
    if not text:
        return text
    word, _, rest = text.partition(" ")
    bare = word.rstrip(",.!;:-–—…").casefold()
    if bare in _PHRASE_STARTS:
        lower = text[:40].casefold()
        for phrase in _LEAD_PHRASES:
            if lower.startswith(phrase) and _is_end_of_lead(phrase, lower[len(phrase) : len(phrase) + 1]):
                return text[len(phrase) :].lstrip(" ,.!;:-–—…")
    if bare not in _LEAD_INS:
        return text.lstrip(_SIGNS) if text[0] in _SIGNS else text
    if (bare in _STATING and word[-1] not in _CLOSERS) or (bare == "done" and word[-1] == ":"):
        return text
    return rest.lstrip(" -–—")


def _is_end_of_lead(phrase: str, following: str) -> bool:
    return following in _CLOSERS if phrase in _ANNOUNCING else not following.isalnum()


_STATING: Final = split_words("no right fine done first true good again well plus great perfect nice sure just")
"""Words that count as introductory only before a punctuation mark: "no, use A" but not "no MQTT", "done, next" but
neither "done in alerts.py" nor "done: alerts.py"."""


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a sentence, split at semicolons and "but", and before verbs that begin a new order:
    "add a test, fix the login" has two. At most nine clauses are returned; the last one is then the rest of the
    sentence. [] for an empty text."""
    if not _has_one(text, _CLAUSE_SIGNS):
        return [text] if text else []
    found: list[str] = []
    rest = text
    border = _ORDER_CLAUSE if _ORDERS.any(text) else _STATEMENT_CLAUSE
    while len(found) < _CLAUSES_MAX and (match := border.search(rest)) is not None:
        start, end = match.start(), match.end()
        word_start = max(rest.rfind(" ", start, end - 1) + 1, start)
        if match.group().rstrip().casefold().endswith(("but", ";")):
            word_start = end
        elif match.group().endswith("time"):
            word_start = rest.casefold().rfind("next time", start, end)
        found.append(rest[:start])
        rest = rest[word_start:].lstrip(" ,;-–—")
    return [piece for clause in (*found, rest) if (piece := clause.strip(" ,;"))]


_GIVEN_FACT: Final = compile_lazily(
    r",\s+(?:the|our|my|their|his|her|this|these|those|every|all|there|he|she|you"
    r"|they) (?:[\w'-]+ ){0,4}?(?:is|are|was"
    r"|were|has|have|had|already|does|doesn't|do|can|can't|will|won't|costs?|comes?|works?|knows?|runs?|keeps?|needs?"
    r"|gives?|makes?|offers?|supports?|uses|pays?|likes?|hates?|belongs?|provides?|wants?)\b"
)
"""Matches a statement after a comma that gives a reason: "Postmark, the association already has an account"."""


_FOLLOWS: Final = compile_lazily(
    r"we (?:take|use|go|switch|move|chose|choose|pick|picked|took|moved|switched|went|drop|dropped|buy|bought|order"
    r"|ordered|decided|settled|stay|stick|return|are (?:taking|using|going|switching|moving))\b"
)
"""Matches "we" and a verb of choosing: after "so", such words are what a reason leads to. Others say what shall be
reached ("so we can lock rows")."""


def split_reason(text: str) -> tuple[str, str]:
    """Return a statement and its reason: "it is cheaper, so we take Redis" gives ("we take Redis", "it is cheaper").
    ``text`` and "" if it gives no reason.

    A reason follows a word such as "because", a dash, a colon, or a comma and words such as "it's"; or it is in
    brackets, or before "so we". Text after the brackets belongs to the statement.
    """
    match = _REASON.search(text) if _has_one(text, _REASON_SIGNS) else None
    given = _GIVEN_FACT.search(text) if ", " in text else None
    if given is not None and given.start() >= _MIN_LABEL and (match is None or given.start() < match.start()):
        return text[: given.start()], text[given.start() :].strip(_REASON_CLOSERS)
    if match is None or match.start() < _MIN_LABEL:
        return text, ""
    opener = match.group().strip(" ,").casefold()
    reason = text[match.end() :]
    if opener == "so we" and _FOLLOWS.match(f"we {reason}") is not None:
        return f"we {reason}", text[: match.start()]
    if opener.endswith("("):
        inside, _, behind = reason.partition(")")
        rest = behind.strip(" .,;")
        return (text[: match.start()] + (" " + rest if rest else "")), strip_reason_words(inside)
    keeps_word = opener.startswith(
        ("so that", "so we", "in order", "it", "they", "we", "too", "i ", "people", "nobody")
    )
    if keeps_word or opener.startswith(("that's", "everyone", "one less")):
        reason = text[match.start() :].lstrip(", ")
    return text[: match.start()], strip_reason_words(reason).strip(_REASON_CLOSERS)


def strip_reason_words(text: str) -> str:
    """Return a reason without the words that introduce it: "concurrent writes" for "because of concurrent writes"."""
    reason = text.strip()
    for opener in _REASON_OPENERS:
        if reason[: len(opener)].casefold() == opener and reason[: len(_OF_COURSE)].casefold() != _OF_COURSE:
            reason = reason[len(opener) :].lstrip()
    return reason


def split_enumeration(text: str, longest: int = 6) -> list[str]:
    """Return the items of an enumeration, which are separated by commas, "and", "plus", "&" and "+": "A, B and C" gives
    ``["A", "B", "C"]``.

    Returns ``[text]`` if ``text`` is no enumeration, or if an item has more than ``longest`` words.
    """
    pieces = [piece.strip() for chunk in _between_commas(text) for piece in _split_conjunctions(chunk)]
    items = [piece for piece in pieces if piece]
    if len(items) < _MIN_LABEL or any(len(item.split()) > longest for item in items):
        return [text]
    return items


def _between_commas(text: str) -> list[str]:
    """``text`` split at its commas, except those in numbers such as "12,000"."""
    pieces: list[str] = []
    for piece in text.split(","):
        if pieces and piece[:1].isdigit() and pieces[-1][-1:].isdigit():
            pieces[-1] += f",{piece}"
        else:
            pieces.append(piece)
    return pieces


def _split_conjunctions(chunk: str) -> list[str]:
    spaced = f" {chunk.strip()} "
    for word in (" and ", " plus ", " & ", " + "):
        spaced = spaced.replace(word, "\x00")
    return spaced.split("\x00")


_RELATIVE: Final = ("which ", "who ", "whose ", "where ", "because ", "so that ")
"""Beginnings of items of a list that only say more about the item before them."""


def split_list(text: str) -> list[str]:
    """Return the items of a list (the text after a marker such as "Next:"); an item may be long.

    The items are separated by semicolons, else by commas, else by " / "; ``[text]`` if by none. Text in brackets is not
    split. Items that only say more about the item before them ("which ...", "because ...") are left out.
    """
    for separator in ("; ", ", ", " / "):
        items = [item.strip() for item in _outside_brackets(text, separator)]
        if len(items) > 1 and all(items):
            return [item.removeprefix("and ") for item in items if not item.startswith(_RELATIVE)]
    return [text]


def _outside_brackets(text: str, separator: str) -> list[str]:
    items: list[str] = []
    for piece in text.split(separator):
        if items and items[-1].count("(") > items[-1].count(")"):
            items[-1] += separator + piece
        else:
            items.append(piece)
    return items


_TRAILERS: Final = (
    " then",
    " for this",
    " for that",
    " for it",
    " here",
    " please",
    " for now",
    " it is",
    " instead",
    " i guess",
    " i think",
    " too",
    " as well",
    " first",
    " right",
    " thanks",
    " again",
    " now",
)


def strip_trailer(text: str) -> str:
    """Return ``text`` without final punctuation, and without one final word or phrase that only softens it or says in
    which order ("SQLite then", "the user model first")."""
    text = text.rstrip(" ,.;:!")
    folded = text.casefold()
    if not folded.endswith(_TRAILERS):
        return text
    length = next(len(trailer) for trailer in _TRAILERS if folded.endswith(trailer))
    return text[:-length].rstrip(" ,.;:!") if len(text) > length else text


_DIGITS: Final = frozenset("0123456789")


def has_digit(text: str) -> bool:
    """Whether a sentence has a digit of any script."""
    return not _DIGITS.isdisjoint(text) or (not text.isascii() and any(map(str.isdigit, text)))


def is_question(text: str) -> bool:
    """Whether a sentence is a question: it ends with a question mark, or has one elsewhere and begins with a question
    word or an auxiliary verb. A polite order such as "can you fix the login?" is a question as well (see
    ``read_order``)."""
    stripped = text.rstrip(" \"')*_")
    return stripped.endswith(("?", "？", "؟")) or ("?" in text and _ASKS.any(text))


def read_order(text: str) -> str:
    """Return the order in a polite question: "fix the login" for "can you fix the login?"; "" if the text is no such
    question."""
    if text[:1] not in "cCwWpPdD":
        return ""
    match = _POLITE.fullmatch(text.rstrip(" ?!."))
    if match is None or _CONSIDERS.any(text):
        return ""
    return match.group("rest") or match.group("other")


_CONSIDERS: Final = PatternSet(
    r"can we (?:please |also |just |now |maybe )*(?:use|switch|move|go|take|change|replace|have|keep|stay|get rid"
    r"|drop)\b.*\?$"
)
"""Matches questions that put a choice up for discussion ("can we use MySQL?"); "can we add ...?" is an order
instead."""


def split_question(text: str) -> tuple[str, str]:
    """Return a statement and the question after it in the same sentence: "we use pnpm, can you fix the lockfile" gives
    "we use pnpm" and "can you fix the lockfile". Returns ``text`` and "" if there is no question or if fewer than
    ``_STATED_WORDS`` words stand before it."""
    match = _QUESTION_BEHIND.search(text) if _has_one(text, _QUESTION_SIGNS) else None
    if match is None or text[: match.start()].count(" ") < _STATED_WORDS - 1:
        return text, ""
    return text[: match.start()], match.group("question")


_STATED_WORDS: Final = 3


@lru_cache(maxsize=SENTENCES_KEPT)
def is_supposition(text: str) -> bool:
    """Whether a sentence only imagines, generalises or considers something ("if we used MySQL, ..."), and states
    nothing."""
    return _IMAGINES.any(text)


def is_report(text: str) -> bool:
    """Whether a sentence reports what somebody else than the speaker says or wants ("my boss wants Oracle")."""
    first = text.partition(" ")[0].casefold()
    return first not in _SELF and _REPORTS.any(text)
