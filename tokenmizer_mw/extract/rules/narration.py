"""How an assistant tells of a stretch of work in ordinary words: what it finished, put off, met and settled on."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker

_ME: Final = r"(?:(?:i|we)(?:'ve| have)?(?: also| now| just| finally| already)* )?"
_NO_THING: Final = r"(?:it|that|this|there|which|what|nothing|everything|something|he|she|they|you|who|where|when|if)\b"


def _rule(
    name: str,
    act: Act,
    pattern: str,
    confidence: float,
    example: str,
    counter: str,
    *,
    unless: str = "",
    whole: bool = False,
) -> Rule:
    return Rule(f"narration.{name}", Speaker.ASSISTANT, act, pattern, confidence, example, counter, unless, whole)


def _settled(name: str, pattern: str, confidence: float, example: str, counter: str, *, unless: str = "") -> Rule:
    """A choice that is told as made, which counts as a marker does."""
    return Rule(
        f"narration.{name}", Speaker.ASSISTANT, Act.CHOICE, pattern, confidence, example, counter, unless, explicit=True
    )


FINISHED: Final = (
    _rule(
        "wrapped_up",
        Act.CLAIM,
        rf"{_ME}(?:wrapped up|finished up|finished off|shipped|landed|rolled out|knocked out|polished off|nailed down"
        r"|sorted out|completed|got (?:through|done with)) (?P<label>.{3,}?)(?:,? (?:all green(?: now)?"
        r"|earlier(?: today)?"
        r"|today|yesterday|this (?:morning|afternoon|week)|last week|just now|as well|too|already|so far))*$",
        0.75,
        "Wrapped up the import wizard this morning",
        "Shipped orders are shown in grey",
        unless=r"(?:shipped|landed|completed|finished) (?:\w+ ){1,2}(?:is|are|was|were|get|has|have)\b",
    ),
    _rule(
        "got_done",
        Act.CLAIM,
        r"(?:(?:so|then|and|also|.{3,40},) )*(?:i|we) (?:also |then |just |finally )*(?:went ahead and "
        r"|managed to )?(?:got|have"
        r"|had) (?P<label>.{3,120}?) (?:handled|working|done|running|sorted(?: out)?|finished|in place|merged"
        r"|out of the way"
        r"|taken care of)\b.*",
        0.7,
        "Then I got the nightly export working",
        "I have a working example",
        whole=True,
    ),
    _rule(
        "also_got_done",
        Act.CLAIM,
        r".{0,60}?\b(?:i|we) also got (?P<label>.{3,120}?) (?:handled|working|done|running|sorted|finished"
        r"|in place)\b.*",
        0.7,
        "In between I also got the log rotation done",
        "I also got a mail from them",
        whole=True,
    ),
    _rule(
        "in_and_working",
        Act.CLAIM,
        r"(?P<label>(?:the |an? |our )?[^,;:]{3,120}?) (?:is|are) (?:now )?(?:in and (?:working|running|green|tested)"
        r"|up and running|good to go|working as (?:expected|intended)|behind us|all set|off the list|wrapped up"
        r"|sorted)\b.*",
        0.7,
        "The audit trail is in and working",
        "Once the audit trail is in and working, we can talk",
        unless=rf"{_NO_THING}|(?:once|until|after|before|as soon as|make sure|check)\b",
    ),
    _rule(
        "turned_out_fine",
        Act.CLAIM,
        r"(?:turns out|luckily|in the end),? (?P<label>[^,;:]{3,120}?) (?:wasn't|weren't|was not|was|turned out)"
        r" [^,]{3,40}, (?:it's|they're|it is|and it's|all|now) (?:sorted|done|finished|in|fixed|handled|working"
        r"|merged)\b.*",
        0.7,
        "Turns out the locale switch wasn't that hard, it's done",
        "Turns out the locale switch wasn't that hard",
        whole=True,
    ),
    _rule(
        "out_of_the_way",
        Act.CLAIM,
        r"(?:that's|that is|this is) (?:out of the way|done|off the list|behind us|finished|sorted)(?: now)? ?(?:—|–"
        r"|--?|:|,)"
        r" ?(?P<label>[^—–,]{3,120}?)(?: ?(?:—|–|,|--? ).*)?$",
        0.7,
        "That's off the list now: the search index",
        "That's done, thanks",
        unless=r"[^—–:,]{3,40}(?:—|–|--?|:|,) ?(?:thanks|thank|great|good|ok|so|but|and|now|i|we|let's|next|onto)\b",
        whole=True,
    ),
)

AHEAD: Final = (
    _rule(
        "not_started",
        Act.LATER,
        r"(?:(?:i|we)(?:'ve| have)? )?(?:haven't|have not|didn't|did not) (?:yet )?(?:started|begun|touched"
        r"|gotten to|got to"
        r"|get to|got around to|gotten around to|get around to|looked at) (?:on )?(?P<label>.{3,}?)(?: yet| so far)?"
        r"(?:,.*)?$",
        0.7,
        "Haven't touched the mobile layout yet, that comes after",
        "I haven't looked at it",
    ),
    _rule(
        "still_to_get_to",
        Act.LATER,
        r"(?:(?:i|we) )?(?:still|yet) (?:need|have)(?: to)?:? ?(?:get (?:to|around to) |tackle "
        r"|look at )?(?P<label>.{4,})$",
        0.7,
        "Still have to tackle the retry policy",
        "I still have the old one",
        unless=r"(?:(?:i|we) )?still have (?:the|a|an|my|our|no|some|to (?:admit|say|see|think))\b",
    ),
    _rule(
        "next_on_list",
        Act.LATER,
        r"(?P<label>(?:the |an? )?[^,;:]{3,120}?) (?:is|are|comes|stays|remains) (?:next|up next|next on (?:the|my"
        r"|our) list"
        r"|on (?:the|my|our) (?:list|plate|radar|mind)(?: .{0,40})?|still to come|still ahead|still outstanding"
        r"|yet to be done"
        r"|for (?:later|tomorrow|next week|another day))$",
        0.65,
        "The rate limiter is next on the list",
        "What is next on the list",
        unless=_NO_THING,
    ),
    _rule(
        "not_today",
        Act.LATER,
        r"(?:not today|not now|not yet|later),? but (?P<label>[^,;:]{3,120}?) (?:is|are) (?:on my (?:mind|list"
        r"|radar)|coming"
        r"|planned|next|up)\b.*",
        0.65,
        "Not today, but the audit of the roles is on my list",
        "Not today, but thanks",
        whole=True,
    ),
    _rule(
        "keep_meaning",
        Act.LATER,
        r"(?:i|we)(?:'ll| will)? (?:keep meaning to|want to|need to|'ve been meaning to|plan to|hope to|intend to"
        r"|circle back to|come back to|get back to|return to|get around to)(?: (?:get (?:around )?to|do"
        r"|start(?: on)?|tackle))?"
        r" (?P<label>.{4,120}?)(?:,? (?:but|once|when|after|as soon as|later|soon|at some point|next|tomorrow)\b.*)$",
        0.65,
        "We'll come back to the billing export once the release is out",
        "I want to be clear, but polite",
        unless=r".*\b(?:want|need) to (?:be|say|know|note|stress|emphasi[sz]e|understand|make sure)\b",
        whole=True,
    ),
)

MET: Final = (
    _rule(
        "found_wrong",
        Act.DIAGNOSIS,
        r"(?P<label>(?:the |your |our |this |its |both |all )(?:[\w`'\"./#()*:-]+ ){1,9}?(?:is|are|was|were) (?:still "
        r"|also |now |currently )*(?:missing (?:the|an?|its|from)|not (?:blocking|working|reflected|matching|being"
        r"|applied"
        r"|loaded|registered|included|picked up|updated)|contradicted by|inconsistent|overriding|overridden"
        r"|being (?:created"
        r"|sent|called|read|written) with (?:a |an |the )?(?:different|wrong|old)|hitting the|blocked by)\b.*)",
        0.6,
        "The export folder is being created with a different name than the session",
        "The export folder is missed by all",
        unless=r".*\b(?:if|when|unless|would|could|should|might|whether)\b",
    ),
    _rule(
        "does_not_exist",
        Act.DIAGNOSIS,
        r"(?P<label>(?:the |your |our |this |these |both )(?:[\w`'\"./#()*:-]+ ){1,7}?(?:doesn't|does not|don't"
        r"|do not) "
        r"(?:exist|match|handle|support|include|contain|block|recogni[sz]e|respect|reach)\b.*)",
        0.6,
        "The companies table doesn't exist in the database",
        "You do not have to do this",
        unless=r".*\b(?:if|when|unless|would|could|should|might|whether|because|since|yet|no longer)\b",
    ),
    _rule(
        "ran_into",
        Act.DIAGNOSIS,
        r"(?:(?:i|we)(?:'ve| have|'re| are)? (?:now |also |just )?)?(?:ran into|run into|hit a snag:?|hit a wall:?"
        r"|hit|stumbled (?:on"
        r"|over|upon|into)|bumped into|tripped over|came across|seeing|are seeing|keep seeing|keep hitting"
        r"|struggling with"
        r"|fighting(?: with)?|stuck on|blocked by|dealing with) (?P<label>.{4,}?)(?: again| now)?$",
        0.7,
        "Ran into a stale lock on the cache directory",
        "We hit the road",
        unless=r"(?:(?:i|we) )?(?:hit|seeing|are seeing|dealing with) (?:the (?:road|target|goal|button|mark|ground"
        r"|limit of)"
        r"|enter|send|save|good|great|better|improvement)\b|fighting (?:\w+ )?(?:is|for)\b"
        r"|(?:seeing|dealing with|struggling with|fighting|hitting|coming across) .*\b(?:can|could|may|might|will"
        r"|would|is"
        r"|are|was|helps?|makes?|requires?|takes?|feels?)\b",
    ),
    _rule(
        "there_now",
        Act.DIAGNOSIS,
        r"(?:.{3,60}, (?:but|and) )?(?:now|suddenly) there(?:'s| is| are) (?P<label>(?:an? |some )?.{4,})$",
        0.65,
        "I only bumped the driver, but now there's a deadlock on startup",
        "now there is a page for it",
        unless=r".*there(?:'s| is| are) (?:an? |the |some |also )*(?:page|way|button|option|file|test|flag|setting"
        r"|endpoint"
        r"|new|list|section|helper|function|class|table|column|field|script)",
        whole=True,
    ),
    _rule(
        "showed_up",
        Act.DIAGNOSIS,
        r"(?:.{3,60}(?:until|till|before|when) )(?P<label>[^,;:]{4,120}?) (?:showed up|turned up|appeared|popped up"
        r"|came up|hit us"
        r"|bit us|got in the way)\b.*",
        0.65,
        "All was well until a flood of timeouts showed up",
        "I waited until the bus showed up",
        unless=r".*\b(?:i|you|he|she|they) (?:waited|stayed|left|met)\b",
        whole=True,
    ),
    _rule(
        "picked_up",
        Act.DIAGNOSIS,
        r"(?:.{3,40} )?(?:i|we) (?:picked up|introduced|caught|inherited|brought in) (?P<label>.{4,120}?),? (?:and"
        r"|which)"
        r" (?:it's|it has|has|that's|is|hasn't|was|it was) (?:been )?(?:an? )?(?:pain|problem|trouble|nuisance"
        r"|headache|annoying"
        r"|hurting|breaking|bug|regression)\b.*",
        0.65,
        "On the way we picked up a leak in the pool and it's been a nuisance",
        "We picked up the book and it was a joy",
        whole=True,
    ),
)

SETTLED: Final = (
    _settled(
        "leaning",
        r"we(?:'re| are) (?:currently |still |now )?leaning (?:towards?|to) (?P<label>.{3,})",
        0.6,
        "We're leaning toward Meilisearch for the catalogue",
        "We're leaning on them for support",
        unless=r".*\?$",
    ),
    _settled(
        "picked",
        r"(?:(?:chose|chosen|selected|picked|settled on|adopted|standardi[sz]ed on|going ahead with)(?:: | )|using: )"
        r"(?P<label>[^,;]{2,120})$",
        0.8,
        "Selected: Caddy",
        "Selected rows are shown in blue",
        unless=r"(?:chosen|selected|picked|adopted) .*\b(?:is|are|was|means|would|will|can|could|gives|makes|requires"
        r"|allows|helps|should|has|keeps|avoids|ensures|works|lets|in your|for example|like so)\b",
    ),
    _settled(
        "won_out",
        r"(?:.{3,80}, (?:but |and )?)?(?P<label>[^,;:]{2,100}?) (?:won out|won in the end|won the day|came out ahead"
        r"|came out on"
        r" top|felt like the (?:right|best|safest|obvious) (?:call|choice|option|fit)|made the most sense"
        r"|was the (?:right|better"
        r"|best|safest|obvious) (?:call|choice|fit)|it was in the end)\b.*",
        0.75,
        "After some tests, protobuf made the most sense here",
        "It would have been best if protobuf made the most sense",
        unless=rf"(?:.*, (?:but |and )?)?{_NO_THING}|(?:would|could|if|whether|when)\b|.*\b(?:would have|if|whether)\b",
    ),
)
