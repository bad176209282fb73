"""Word classes for the sentence classifier, so that it recognises the form of a sentence on any topic.

English only: each function word ("the") is a class of its own, words of work and of trouble have a class each, and all
others are classed by their endings.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

KINDS: Final[dict[str, str]] = {
    "fails": "fail fails failed failing failure failures broken broke breaks break breaking crash crashes crashed"
    " crashing error errors errored bug bugs buggy wrong incorrect incorrectly missing lost loses losing stuck hang"
    " hangs hung"
    " hanging freeze freezes frozen timeout timeouts leak leaks leaking exception exceptions traceback panic panics"
    " flaky corrupt corrupted garbled mismatch mismatched unreadable blank weird ugly annoying unusable useless"
    " problem problems issue issues undefined null nan denied refused rejected invalid malformed regression regressed"
    " worse bad badly late overdue expired complaint complaints complained complaining complains collide collides"
    " conflict conflicts conflicting stale outdated duplicate duplicates duplicated twice slow slower sluggish laggy"
    " spinning nothing messed messes mess nonsense confusing confused unclear misleading inconsistent ignored ignores"
    " dropped drops vanished disappears disappeared overlaps overlap truncated cuts cropped misaligned offline down"
    " dead unreachable unresponsive segfault segfaults deadlock stalls stalled stalling rejects refuses double"
    " incomplete unfinished illegible awful terrible horrible wtf ruined spoiled burnt burned hurts allergic flooded"
    " overcharged unpaid bounced forgot forgotten mistake mistakes typo typos off 404 500 502 503",
    "works": "works working worked passes passing passed pass green clean resolved solved gone correct correctly"
    " perfect perfectly smoothly smooth successful successfully succeeds succeeded valid matches match fine verified"
    " confirmed tested checked looks responds loads loading runs renders",
    "did": "added implemented created built wrote written updated changed replaced removed deleted renamed moved"
    " refactored extracted split merged migrated converted configured installed integrated extended improved cleaned"
    " documented upgraded ported rewrote rewritten deployed pushed committed published released shipped sent booked"
    " ordered drafted redrafted filled signed scheduled bumped pinned reverted restored rolled wired hooked connected"
    " enabled disabled fixed patched corrected adjusted tweaked set tightened shortened trimmed reworded rephrased"
    " edited formatted sorted reordered grouped deduplicated generated exported imported uploaded downloaded copied"
    " translated calculated computed applied registered introduced switched swapped completed finished done made put"
    " given reduced increased lowered raised cached tuned optimised optimized rebuilt regenerated restarted cut"
    " attached included inserted appended prepared printed filed archived backed closed opened covered handled",
    "do": "add implement create build write update change replace remove delete rename move refactor extract split"
    " merge migrate convert configure install integrate extend improve clean document upgrade port rewrite deploy"
    " push commit publish release ship send book order draft redraft fill sign schedule bump pin restore wire hook"
    " connect enable disable fix patch correct adjust tweak tighten shorten trim reword rephrase edit format sort"
    " reorder group generate export import upload download copy translate calculate compute apply register introduce"
    " complete finish make put give reduce increase lower raise cache tune optimise optimize rebuild regenerate"
    " restart cut attach include insert append prepare print file archive close open cover handle show list find"
    " check test run try explain summarize summarise compare review look",
    "change": "instead rather switch swap drop scrap ditch revert undo rollback back longer anymore actually"
    " changed-mind reconsider reconsidered rethink scratch nevermind forget cancel cancelled switching going dropping"
    " replaces supersedes previously originally earlier former formerly not-anymore",
    "choose": "use using go pick choose take keep stay stick settle settled decide decided decision decisions chose"
    " chosen picked went prefer final leave stays keep keeps agreed approved",
    "ever": "always never every everytime whenever each any anything anyone anywhere forever future onwards"
    " henceforth generally consistently without only ever",
    "must": "must should shall need needs needed required requires mandatory ought has-to have-to supposed allowed"
    " forbidden mandatory please pls plz",
    "may": "maybe perhaps might could would may possibly probably presumably suppose supposing assuming imagine"
    " hypothetically theoretically if whether unless guess seems seem likely unlikely optionally alternatively"
    " consider considering suggest recommend recommended propose worth option options either idea",
    "yes": "yes yep yeah yup ya ok okay k sure fine great good perfect lgtm agreed absolutely definitely exactly"
    " deal cool nice love",
    "no": "no nope nah not don't dont doesn't doesnt didn't didnt isn't isnt aren't arent wasn't wasnt weren't won't"
    " wont can't cant cannot couldn't shouldn't wouldn't haven't hasn't hadn't ain't neither nor none nobody nowhere",
    "sorry": "sorry apologies apologise apologize misread misunderstood mistaken mistakenly overlooked wrongly"
    " claimed premature prematurely admit retract hadn't oversight misspoke",
    "thanks": "thanks thank thx cheers ty appreciated hi hello hey morning bye welcome",
    "still": "still again yet already",
    "soon": "let let's lets i'll we'll going about next first then now starting start begin beginning currently"
    " looking checking reading running",
    "because": "because since reason therefore hence so thus due means meaning which whereas although while typically"
    " usually normally often called known defined basically essentially",
    "asks": "what why how when where who which whose what's how's where's who's",
}
"""Maps each word class to its words, separated by spaces."""

_FUNCTION: Final = split_words(
    "a an the this that these those it its i you we he she they me us him her them my your our his their mine yours"
    " is are was were be been being am has have had do does did will can of to in on at for from with by into onto"
    " over under up out off about as than and or but there here all some more most both same other one two three"
    " too very just also i'm i've i'd you're you've you'd we're we've we'd it's that's there's they're he's she's"
    " let me want wants wanted like got get gets who after before until during between so"
)
_KIND_OF: Final = {
    **{word: word for word in _FUNCTION},
    **{word: f"<{kind}>" for kind, text in reversed(KINDS.items()) for word in text.split()},
}
_ENDINGS: Final = ("ing", "ed", "ly", "tion", "s")


@lru_cache(maxsize=4096)
def kind_of(word: str) -> str:
    """Return the class of a word in lower case: the word itself for a function word, "<did>" for "added", "~ing" for an
    ending, "#" for a number, "`" for a name from code, "." for a sign, "~" for any other word."""
    kind = _KIND_OF.get(word)
    if kind is not None:
        return kind
    if not word.isalpha():
        return (
            "#" if word[:1].isdigit() or word[-1:].isdigit() else "`" if not word.isalpha() and len(word) > 2 else "."
        )
    for ending in _ENDINGS:
        if word.endswith(ending):
            return f"~{ending}"
    return "~"
