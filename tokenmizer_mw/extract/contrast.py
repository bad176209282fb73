"""What a choice is told apart from in its own sentence: "per cent in MQTT, not raw values", "SSE instead of polling".

A row is what a language says for it; where the old value comes first the words between them say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding import Finding, Move, Segment
from .hit import anaphoric
from .pattern import PatternTable, compiled
from .phrases import asks, bounded, has_digit, split_reason, supposes, without_lead
from .similar import content, words_of
from .situation import Situation

OLD_WORDS: Final = 8
"""Most words of what a choice is told apart from; more are a sentence of their own."""

_OLD: Final = r"(?P<target>[^,;:.!?()—–]{2,60}?)"
_END: Final = (
    r"(?:$|[,;:.!?()—–]|\s-\s|\s(?:because|since|as|so|anywhere|any more|anymore|please|here|after all|weil"
    r"|da|damit)\b)"
)

CONTRASTS: Final = (
    rf"(?P<label>.{{2,}}?),? (?:instead of|rather than|in place of|in lieu of|as opposed to) (?:the |a |an |our |my )?"
    rf"{_OLD}{_END}",
    r"(?P<label>.{2,}?),? (?:statt|anstatt|anstelle (?:von|des|der)) (?:dem |der |den |des |die |das |einem |einer )?"
    rf"{_OLD}{_END}",
    r"(?P<label>.{2,}?),? (?:en vez de|en lugar de|em vez de|ao invés de|em lugar de|au lieu d[e'u]|plutôt qu[e'] ?"
    rf"|invece di|invece che|al posto d[ie]l?|anziché) ?{_OLD}{_END}",
    rf"(?P<label>.{{2,}}?),? вместо {_OLD}{_END}",
    r"(?P<label>[^，。；]{2,})，?(?:而不是|而非|代替)(?P<target>[^，。；]{1,30})",
    r"(?:不是|不要|不用)(?P<target>[^，。；]{1,30})，?(?:而是|改成|改用|要用|用)(?P<label>[^，。；]{2,})",
    r"(?P<target>[^、。]{1,30})(?:ではなく|じゃなくて|の代わりに|をやめて)、?(?P<label>[^。]{2,})",
    r"(?P<target>[^,.]{1,30}?)(?: 대신에?| 말고|가 아니라|이 아니라),? (?P<label>[^.]{2,})",
    r"(?P<target>[^,।]{1,40}?)(?: की जगह| के बजाय| के बदले| ki jagah| ke bajay| ke badle),? (?P<label>[^।]{2,})",
)
"""Words that say that one thing comes in the place of another."""

DENIALS: Final = (
    rf"(?P<label>.{{2,}}?)(?:,| and|,? but)? not (?:the |a |an )?{_OLD}{_END}",
    rf"(?P<label>.{{2,}}?)(?:,| und|, und) (?:nicht|kein|keine|keinen) {_OLD}{_END}",
    rf"(?P<label>.{{2,}}?),? (?:não|pas|e non|e não|et pas|y no) {_OLD}{_END}",
    rf"(?P<label>.{{2,}}?), а не {_OLD}{_END}",
    r"(?P<label>[^，。；]{2,})，不是(?P<target>[^，。；]{1,30})",
)
"""Words that only say what something is not; that counts where it was spoken of as if it were."""

_NAMED: Final = r"(?P<target>[\w@.+#/-]+(?: [\w@.+#/-]+){0,3})"

LEAVINGS: Final = (
    r"(?:(?:it|that|this|which) )?replaces (?:the |our |my |that )?(?P<target>[^,;:.!?()]{2,60})",
    rf"(?:the |our |my )?{_NAMED} (?:(?:is|are|gets?|has been"
    r"|was|were|can be|will be) )?(?:removed|deleted|dropped|uninstalled|gone|thrown out|not needed any ?more"
    r"|no longer needed|history)",
    rf"(?:so )?(?:the |our |my )?{_NAMED} (?:isn't|aren't) needed (?:any ?more|then|now)",
    rf"(?:so |then )*(?:no|no more|enough of|goodbye|bye) {_NAMED} (?:then|any ?more|after all)",
    rf"(?:den |die |das |der )?{_NAMED} (?:fliegt raus|kommt weg|ist raus|entfällt"
    r"|fällt weg|brauchen wir (?:dann )?nicht mehr)",
    r"(?:y |así que )?(?:fuera|quitamos|adiós a|nada de|se acabó) (?:el |la |los |las |lo de )?"
    r"(?P<target>[^,;:.!?()]{2,40})",
    r"(?:via|niente|basta con|addio a) (?:il |la |i |le |lo |l')?(?P<target>[^,;:.!?()]{2,40})",
    r"(?:plus de|fini|adieu) (?:le |la |les |l')?(?P<target>[^,;:.!?()]{2,40})",
    r"(?:那|就|所以)*(?:不用|不放|不要|不走|不上|不再用|放弃|去掉) ?(?P<target>[^，。；了]{1,20}?) ?了",
    r"(?P<target>[^,।]{1,30}?) (?:छोड़िए|छोड़ दीजिए|हटा दीजिए|chhodo|hata do|hatao)",
    r"(?P<target>[^、。]{1,20})(?:はやめ|をやめ|は不要|は要らない)(?:て|ます|ましょう|る)?",
    r"(?P<target>[^,.]{1,20}?)(?:은|는|을|를) (?:빼|버리|없애)(?:고|요|죠|주세요)?",
)
"""Sentences and clauses beside a choice that say what goes."""

_LEAVES: Final = PatternTable(rf"(?:{pattern})(?:$|[,;:.!?()।。，；！])" for pattern in LEAVINGS)
_PAUSES: Final = compiled(r"[,;:.!?()।。，；！]\s*| - | – | — ")
CLAUSES_MAX: Final = 6

_TABLE: Final = PatternTable((*CONTRASTS, *DENIALS))
_NO_OLD: Final = words_of(
    "yet now sure too so that this it only just really necessarily if when more less to be a one because nötig mehr"
    " noch sicher ya más mais sono è es é c'est"
)
_QUOTES: Final = " \"'“”«»„`"
_CHOSEN: Final = frozenset({Move.NOTE, Move.ADOPT})


def told_apart(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """``found`` with what the sentences of its choices, or those beside them, name as the thing that goes for them."""
    choices = [finding for finding in found if _is_choice(finding)]
    if not choices:
        return list(found)
    gone = _left(choices, spoken, situation)
    return [_with_old(finding, gone, situation) if finding in choices else finding for finding in found]


def _left(
    choices: Sequence[Finding], spoken: Sequence[Segment], situation: Situation
) -> dict[tuple[int, int] | None, str]:
    """What the sentence beside a choice says to go, by the place of the choice."""
    places = {finding.span for finding in choices}
    gone: dict[tuple[int, int] | None, str] = {}
    for at, segment in enumerate(spoken):
        if (segment.start, segment.end) not in places:
            continue
        near = (segment, *spoken[at + 1 : at + 2], *spoken[max(0, at - 1) : at])
        targets = (target for one in near for target in _leaving(one.text))
        known = situation.told_words | situation.asked_words
        if (target := next((target for target in targets if content(target) & known), "")) != "":
            gone[(segment.start, segment.end)] = target
    return gone


def _leaving(text: str) -> Iterator[str]:
    """What the clauses of a sentence say to go."""
    rest = bounded(text)
    if asks(rest) or supposes(rest):
        return
    for _ in range(CLAUSES_MAX):
        said = without_lead(rest)
        for number in _LEAVES.matching(said):
            match = _LEAVES[number].match(said)
            if match is not None and not anaphoric(target := match.group("target").strip(_QUOTES)):
                yield target
        border = _PAUSES.search(rest)
        if border is None:
            return
        rest = rest[border.end() :]


def _is_choice(finding: Finding) -> bool:
    decided = finding.type is NodeType.DECISION and finding.status is Status.ACTIVE
    chosen = finding.kind is DecisionKind.CHOICE and finding.move in _CHOSEN and not finding.target
    return decided and chosen and finding.trust in (Trust.STATED, Trust.ADOPTED)


def _with_old(finding: Finding, gone: Mapping[tuple[int, int] | None, str], situation: Situation) -> Finding:
    for text in (finding.label, finding.quote):
        label, target, sure = contrast(text)
        old = content(target)
        if not old - content(label) or not content(label) & content(finding.label):
            continue
        if sure or old <= situation.told_words | situation.asked_words:
            return replace(finding, move=Move.REPLACE, target=target)
    target = gone.get(finding.span, "")
    if target and content(target) - content(finding.label):
        return replace(finding, move=Move.REPLACE, target=target)
    return finding


def contrast(text: str) -> tuple[str, str, bool]:
    """What a sentence chooses, what it leaves for that, and whether its words say that it is in the place of it;
    ("", "", False) when it tells nothing apart."""
    line = without_lead(bounded(text)).rstrip(" .!…。")
    if not line or asks(line) or supposes(line):
        return "", "", False
    for number in _TABLE.matching(line):
        match = _TABLE[number].match(line)
        if match is None:
            continue
        said = split_reason(match.group("target"))[0].strip()
        target = said.strip(_QUOTES)
        first = target.casefold().partition(" ")[0]
        if first not in _NO_OLD and not anaphoric(target) and len(target.split()) <= OLD_WORDS:
            sure = number < len(CONTRASTS) or has_digit(target) or target != said
            return match.group("label"), target, sure
    return "", "", False
