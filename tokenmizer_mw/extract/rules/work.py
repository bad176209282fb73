"""Rules for users' sentences about work: what is to be done, what is done, what works now."""

from __future__ import annotations

from typing import Final

from .rule import Act
from .rule import user_rule as _rule
from .verbs import BY_HAND, WORK_VERBS

REQUESTS: Final = (
    _rule(
        "order",
        Act.REQUEST,
        r"(?:(?:please|now|next|then|also|finally|let's|lets|let us|we (?:need|have|want|ought) to|we should"
        r"|we must|we can"
        r"|i (?:need|want|have|would like|'d like)(?: you)? to|i'd like (?:you )?to|you (?:need|have|should|must"
        r"|can)(?: to)?"
        r"|help me(?: to)?|time to|go ahead and|try to|make sure (?:to|you|that you)|be sure to|start by|first"
        r"|just|could you"
        r"|can you|would you|will you|go and|remember to|need to|have to|gotta|want to) )*"
        rf"(?P<label>(?:{WORK_VERBS}).{{2,}})",
        0.8,
        "add rate limiting to the auth endpoints",
        "addition of two vectors",
        unless=r"put (?:that|it) (?:way|like that|differently)\b|make it \d|commit [0-9a-f]{7,40}\b|build (?:success"
        r"|fail)",
    ),
    _rule(
        "need_thing",
        Act.REQUEST,
        r"(?:i|we|it|this|that|the \w+)(?:'d (?:really |also |just )?(?:like|love)"
        r"|(?:'ll| will)? (?:also |still |now |really |just )?(?:needs?|wants?|would (?:really )?(?:like"
        r"|love)|want to have"
        r"|could use|require|am looking for|are looking for|is missing|lacks?)) (?:(?:a|some) (?:hand|help) (?:with "
        r"|in |on )?)?(?P<label>(?:\w+ing|a|an|the|some|more"
        r"|better|another"
        r"|support|tests?|at least|\d+) .+)",
        0.7,
        "we also need a page for refunds",
        "we'd love some advice on refunds",
        unless=r".* (?:a|an|the|some|more|better|another)(?: (?:bit|little|lot|few|more|of|good|general|practical"
        r"|specific"
        r"|extra|honest))* (?:help|tips?|advice|guidance|suggestions?|ideas?|recommendations?|insights?|pointers"
        r"|feedback"
        r"|clarity|clarification|examples?|hints?|opinions?)\b",
    ),
    _rule(
        "should",
        Act.WISH,
        r"(?P<label>(?:[\w'\"`/.#-]+ ){1,7}?(?:should|ought to|needs to|has to|must|will need to) (?:also "
        r"|always |only |just |not )?(?:be|have"
        r"|show|return|use|work|go|get|display|open|close|send|look|become|include|support|allow|read|say|take"
        r"|run|stay|start|stop|contain"
        r"|come|handle|accept|appear|only|live|match|follow|follow|point|keep|start|raise|log|write|wait|happen"
        r"|default)\b.*)",
        0.65,
        "the button should be on the right",
        "that should do",
        unless=r"(?:i|that|it|this|which|what|he|she|they|you|who|so|why|how|if|when|and that|as|because|think"
        r"|sure|maybe|guess)(?: \w+)? (?:should|must|has to|needs"
        r" to|ought to) (?:be (?:fine|ok|okay|enough|good|it|easy|possible|fixed|solved|resolved|done|ready)|work|do"
        r"|have|help|go)\b|(?:why|how"
        r"|what|when|if|where) |.*\b(?:wonder(?:ing)?|curious|unsure|not (?:\w+ )?sure|don't know|no idea|understand"
        r"|figure out"
        r"|decide|debating|asking|thinking|maybe|perhaps|specified|whether|if|how (?:\w+ ){1,3}) ?.*\bshould\b"
        r"|.*\bshould(?:n't)? (?:not )?have \w+(?:ed|en|ne|t)\b|.*\bshould be (?:\w+ )?(?:great|fun|good|perfect"
        r"|interesting"
        r"|nice|easy|helpful)\b",
    ),
    _rule(
        "make_sure_always",
        Act.RULE,
        r"(?:please |also |and |but |just )*(?:make sure|be sure|ensure)(?: that| to| you)*"
        r" (?P<label>(?:[\w'-]+ ){0,3}?(?:never|always)\b.{4,})",
        0.75,
        "just make sure it never shows a cancelled train",
        "I made sure that it never does",
    ),
    _rule(
        "make_sure",
        Act.WISH,
        r"(?:please |also |and |but |just )*(?:make sure|be sure|ensure)(?: that| to| you)* (?P<label>.{6,})",
        0.7,
        "make sure the search box is on the left",
        "I made sure of it",
    ),
    _rule(
        "spec_will",
        Act.WISH,
        r"(?P<label>(?:the |an? |our |all |each |every |files? |new |old )(?:[\w'\"`/.#-]+ ){1,7}?(?:will"
        r"|shall) (?:not |also |always |only )?(?:be|have|use"
        r"|contain|live|go|run|stay|come|get|return|show|include)\b.*)",
        0.6,
        "all files of that kind will be written as heredocs",
        "it will be fine",
        unless=r".*\bwill (?:also |really |definitely |probably |certainly )*be (?:(?:a|an|so|super|really|very|quite"
        r"|most) )*"
        r"(?:fine|ok|okay|back|ready|there|done|late|great|good|enough|out|available|helpful|key|useful|crucial"
        r"|important|vital"
        r"|essential|engaging|perfect|right|fun|interesting|amazing|nice|tough|hard|challeng(?:e|ing)|worth|easy"
        r"|useful|big"
        r"|beneficial|to|how|finding|figuring|getting|making|sticking|keeping|staying|balancing)\b"
        r"|(?:the |my |our )?(?:biggest|main|real|hardest|key|only|best|worst|trick|tricky)\b",
    ),
    _rule(
        "myself",
        Act.LATER,
        r"(?P<label>[^,;]{3,80}?) (?:i|we)(?:'ll| will)? (?:do|handle|take care of|fix|write|finish)(?: it"
        r"| that)? (?:myself|ourselves|tomorrow"
        r"|later|tonight|next week|on \w+day)\b.*",
        0.7,
        "The calibration I'll do myself",
        "what I do myself is my business",
        unless=r"(?:what|how|that|as|if|when|whatever|because|so) ",
    ),
    _rule(
        "by_hand",
        Act.LATER,
        rf"(?P<label>{BY_HAND})",
        0.65,
        "Manual: open the page in a browser and check the print view",
        "manual testing takes us a day",
        unless=r"manual(?:ly)? \w+ (?:is|takes|was|costs|has|needs|works|would|of each)\b",
    ),
    _rule(
        "still_need",
        Act.LATER,
        r"(?:i|we|you)?(?:'ll| will)? ?(?:still|also) (?:need|have|want|got)(?: to)? (?P<label>.{4,})",
        0.75,
        "we still need to migrate the old users",
        "it is still there",
    ),
)


DENIED: Final = (
    r".*(?:n't|\b(?:not|never|cannot|unable|failed|refuses|no longer|hardly|barely|rarely|sometimes|nothing|nobody"
    r"|none|neither)) (?:[^,;]* )?(?:works?|working|fixed|green|up|ready|gone|ok|okay|fine|clean|good|great|right"
    r"|pass(?:es)?|loads?)\b|(?:nothing|none|nobody|no one|neither)\b"
)
"""Beginnings of sentences that deny, at least in part, what their verb says: "I couldn't get the login to work"."""

STATES: Final = (
    _rule(
        "did",
        Act.CLAIM,
        r"(?:(?:i|we)(?:'ve| have)? )?(?:just |already |finally |also )?"
        r"(?P<label>(?:fixed|solved|resolved|repaired|merged|shipped|released|deployed|implemented|finished)"
        r" (?:the|an?|all|our|my|both|every|that|this) .{3,})",
        0.8,
        "I fixed the login bug",
        "fixed costs are too high for the small plan",
        unless=r".*\b(?:but|not|except|still|yet|almost|half|nearly)\b|.*n't\b",
    ),
    _rule(
        "that_fixed_it",
        Act.CONFIRM,
        r"(?:that|this|it|which)(?:'s| has| seems to have)? ?(?:(?:fixed|solved|resolved|worked|sorted|helped)"
        r" ?(?:it|the trick|the (?:issue|problem|error|bug)|that|out)?|(?:did|does|was) (?:it|the trick"
        r"|the (?:issue|problem|error|bug|culprit|cause)))(?:[,;:! ].{0,60})?$",
        0.8,
        "thanks, that fixed it",
        "that was the old list",
        unless=r".*\b(?:not|never|only half|partly)\b|.*n't\b",
    ),
    _rule(
        "works",
        Act.CONFIRM,
        r"(?:(?:it|that|this|everything|all(?: of it)?|now it|and it|yes it)(?:'s| is| now| all"
        r"| just)* )?(?:works?|worked|working|fixed"
        r"|solved|passes|runs|resolved|good now|ok now|fine now|gone"
        r"|(?:back )?(?:up|online|live)(?: and running)?)(?: (?:now|fine|great|again|perfectly|well"
        r"|like a charm|as expected"
        r"|nicely|for me|here|it|that|the (?:issue|problem|error|bug)|my (?:issue|problem)|too|!+))*(?:[,;:!-].*)?$",
        0.85,
        "works now",
        "works on the first floor of the house and elsewhere",
    ),
    _rule(
        "thing_worked",
        Act.CONFIRM,
        r"(?P<label>[^,;:]{2,50}?) (?:worked|did (?:it|the trick)|(?:has )?(?:fixed|solved|sorted) (?:it|that|the"
        r" (?:issue|problem|error|bug))|helped)(?: (?:now|again|fine|perfectly|too|for (?:me|us)|in the end"
        r"|this time))*"
        r"(?:(?:[,;] ?| )(?:so|and|then) (?P<reason>.{6,})|[,;:!] ?.*)?$",
        0.75,
        "Clearing the cache worked",
        "We worked on the cache",
        unless=rf"{DENIED}|(?:i|we|he|she|they|you|who|what|it|that|this|which|nothing|only|if|when)\b"
        r"|.*\b(?:n't|not|never|nobody|hardly|only half|partly) ?(?:\w+ )?(?:worked|helped|did)\b",
    ),
    _rule(
        "thing_works",
        Act.CONFIRM,
        r"(?P<label>.{2,60}?) (?:now )?(?:works?|is working|are working|is fixed|are fixed|is green|are green"
        r"|is up|is ready|is gone|are gone"
        r"|is ok|is okay|is fine|is clean|are fine|looks? (?:good|great|right|fine)|pass(?:es)?|loads?)"
        r"(?: (?:now|again|fine|perfectly|great|too|as expected|after .+))*(?:[,;!].*)?$",
        0.8,
        "the login works now",
        "I couldn't get the login to work",
        unless=DENIED,
    ),
)
