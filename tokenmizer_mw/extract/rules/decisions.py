"""Rules for users' sentences about decisions: choices, replacements, rejections, rules that hold from now on, and
wishes."""

from __future__ import annotations

from typing import Final

from .rule import Act
from .rule import user_rule as _rule

_LETS: Final = (
    r"(?:(?:let's|lets|let us|we'll|we will|we|i'll|i will|i'd like to|i want to|i want you to|we should|we can"
    r"|you can|you should|i"
    r"|please|just|can we|could we|can you|could you|may as well|might as well|rather|i'd rather|simply) )*"
)
_THEN: Final = r"(?: ?(?:[,;:]|--?|—|–))? ?(?:(?:and|then|so|instead|just|please|let's|lets|we'll|we|i'll) )*"
_TAKE: Final = (
    r"(?:go(?:ing)? (?:with|for|by|there by)|travel by|hire|rent|book|use|take|switch to"
    r"|move to|do|try|pick|choose|adopt|make it|back to|keep)"
)
_BUILT_WITH: Final = (
    r"(?:build|do|make|write|run|solve|implement|set up) (?:it|this|that|them|all|everything)"
    r" (?:with|using|in|on|via|by|through)"
)
_NAME: Final = r"[\w@.+#/-]+(?: [\w@.+#/-]+){0,4}"
_TOO: Final = (
    r"(?:is|are|was|were|turned out|feels|seems|looks|has been|have been|keeps|kept|doesn't|don't"
    r"|can't|cannot|won't|isn't)"
)


REPLACEMENTS: Final = (
    _rule(
        "scrap_for",
        Act.REPLACE,
        rf"{_LETS}(?:scrap|drop|forget(?: about)?|ditch|kill|lose|dump|no more|enough of|get rid of|throw out|skip)"
        rf" (?:the |that |this )?(?P<target>[^,;.:]{{1,60}}?)(?:[,;:]| --?| —| –| and){_THEN}{_TAKE} (?P<label>.+)",
        0.92,
        "scrap Jenkins, go with GitHub Actions",
        "drop the old table and create a new one",
        whole=True,
    ),
    _rule(
        "against_and_for",
        Act.REPLACE,
        r"(?:(?:we|i|they|the (?:team|board|group))(?:'ve| have)? (?:all |both )?)?(?:decided|voted|opted|chose"
        r"|came down|settled) against (?:using |having |taking |the |an? )*(?P<target>[^,;:(]{2,60}?),? (?:and|but) "
        r"(?:for|in favou?r of) (?P<label>.+)",
        0.9,
        "we decided against Jenkins and for GitHub Actions",
        "we decided against the trip and for once nobody minded",
        unless=r".* for (?:once|now|good|that|this)\b",
        whole=True,
    ),
    _rule(
        "from_to",
        Act.REPLACE,
        rf"{_LETS}(?:switch|migrate|go|swap|move|change|convert|port)(?:ed)?(?: over| away| everything| it"
        rf"| this)? from"
        r" (?P<target>.{1,60}?) (?:over )?to (?P<label>.+)",
        0.95,
        "Switch from BERT to DistilBERT — faster inference",
        "go from door to door",
        unless=r".* from (?:door|time|day|top|start|scratch|here|there|one|left|right|a|the) to\b",
        whole=True,
    ),
    _rule(
        "replace_with",
        Act.REPLACE,
        rf"{_LETS}(?:replace|swap(?: out)?|substitute) (?:the |our )?(?P<target>.{{1,60}}?) (?:with"
        rf"|by) (?P<label>.+)",
        0.9,
        "replace Redux with Zustand",
        "replace the header image on the start page",
        unless=r".* (?:with|by) (?:tonight|tomorrow|hand|default|now|then|monday|friday|next|the end|me|us|today"
        r"|noon)\b",
        whole=True,
    ),
    _rule(
        "take_instead_of",
        Act.REPLACE,
        rf"{_LETS}{_TAKE} (?P<label>{_NAME}(?: (?:for|in|on|as) {_NAME})?),? (?:instead of|rather than|in place of)"
        r" (?P<target>.+)",
        0.9,
        "We switch to PostgreSQL instead of SQLite",
        "we do guess instead of looking",
        unless=r".*\b(?:instead of|rather than|in place of) \w+ing\b|.*\d ?(?:ms|s|x|mb|kb|gb|%|min)\b.* instead of",
        whole=True,
    ),
    _rule(
        "instead_of",
        Act.REPLACE,
        rf"{_LETS}(?:{_BUILT_WITH} |{_TAKE} )?(?P<label>{_NAME}(?: (?:for|in|on|as|to) {_NAME})?),? (?:instead of"
        r"|rather than"
        rf"|in place of)"
        r" (?P<target>.+)",
        0.9,
        "pnpm instead of npm",
        "show me why it fails instead of guessing",
        unless=r"(?:show|tell|give|explain|why|what|how|it|this|that|i|we|you|he|she|they)\b|.*\d ?(?:ms|s|x|mb"
        r"|kb|gb|%|min)\b.*"
        r" instead of",
        whole=True,
    ),
    _rule(
        "switch_to",
        Act.REPLACE,
        rf"{_LETS}(?:switch|move|migrate|change)(?: this| it| everything| us| over| that"
        rf"| all)*(?: over)? to (?P<label>.+)",
        0.9,
        "move to Postgres, SQLite is too weak",
        "move the button to the left",
        whole=True,
    ),
    _rule(
        "too_weak_use",
        Act.REPLACE,
        rf"(?P<target>{_NAME}) (?P<reason>{_TOO} [^,;.]{{2,80}})[,;.]{_THEN}(?:use|go with|go for|switch to"
        rf"|move to|take)"
        r" (?P<label>.+)",
        0.9,
        "SQLite is too slow for this, use Postgres",
        "The table is too wide, what now",
        whole=True,
    ),
    _rule(
        "value_corrected",
        Act.REPLACE,
        r"(?:(?:.{0,80}?[,;:] )?(?:the )?(?P<target>\d[\d:.,]*)[^,;]{0,20}? (?P<reason>(?:is"
        r"|are) [^,;.]{2,60})[,;.:] ?)?"
        r"(?:(?:please|let's|so|rather|better) )*(?:make|set|change) (?:it|that|this|them)(?: to| at)?"
        r" (?P<label>\d[\d:.,]*)(?: ?(?:am|pm|%|s|ms|min|minutes?|seconds?|hours?|days?|o'clock))?$",
        0.85,
        "8 is too early, make it 10",
        "make it 10 times faster",
        whole=True,
    ),
    _rule(
        "instead",
        Act.REPLACE,
        rf"{_LETS}(?:{_TAKE} )(?P<label>[^,;]{{1,80}}?),? instead(?:[,;: ]+(?P<reason>.+))?",
        0.9,
        "use Vitest instead",
        "use it as it is",
        whole=True,
    ),
    _rule(
        "back_to",
        Act.RETURN,
        rf"{_LETS}(?:(?:go|switch|move|revert|roll|change|going|get|it's|stay|return) )?"
        r"(?:back to|revert to|return to) (?P<label>[^,;]+?(?:, [^,;]{0,30}\d[^,;]{0,20})?)(?:[,;:] (?P<reason>.+))?$",
        0.9,
        "back to REST, the GraphQL schema is a burden",
        "please get back to me tomorrow",
        unless=r".*\bback to (?:work|bed|school|you|me|us|him|her|them|business|normal|reality|square one|sleep|it"
        r"|(?:the|my|our) (?:topic|subject|point|question|desk|office|drawing board))\b",
    ),
    _rule(
        "was_better",
        Act.RETURN,
        r"(?:(?:never ?mind|scratch that|on second thought|forget it|no|sorry|hm+),? )*(?P<label>(?:[\w'.+#-]+ ){0,4}?"
        r"[\w'.+#-]+) (?:was|were|looked|worked|felt) (?:(?:much|way|a lot|so much|actually|really) )?better"
        r"(?:$|[,;:] (?P<reason>.+))",
        0.85,
        "never mind, left was better, it covers the chat button",
        "it would be nice if this was better",
        unless=r"(?:\w+,? )*(?:it|this|that|which|what|who|if|there|nothing|everything|everyone|i|he|she|they|we"
        r"|\w+ing) (?:was|were|looked|worked|felt)\b|(?:.* )?(?:if|whether|wish|when|why)\b",
        whole=True,
    ),
    _rule(
        "goal_now",
        Act.GOAL,
        r"(?:the )?(?:new goal|new aim|goal now|what we really want|the real goal)(?: is|:)? (?:to "
        r"|that )?(?P<label>.+)",
        0.9,
        "the real goal is cloud saves on PC and Steam Deck",
        "the goal post moved",
    ),
    _rule(
        "point_is",
        Act.GOAL,
        r"(?:the |my |our )?(?:whole |main |real |actual )?(?:point|idea|purpose) (?:here |of (?:this|it|all this|the"
        r" (?:whole )?\w+) )?is (?:to |that (?:i|we|they|people|users?|customers?|everyone|(?:my|our|the) \w+) can )"
        r"(?P<label>.{8,})",
        0.9,
        "the whole point is that we can hand this to the front desk on Monday",
        "the point is that it is too slow",
    ),
    _rule(
        "supposed_now",
        Act.GOAL,
        r"(?:.{0,60}\b(?:and|so|but) )?now (?:i'm|i am|we're|we are) (?:supposed|asked|expected|meant) to"
        r" (?P<label>.{8,})",
        0.9,
        "the boss saw it and now we are supposed to support three languages",
        "I am supposed to be at lunch now",
        whole=True,
    ),
)


CHOICES: Final = (
    _rule(
        "use",
        Act.CHOICE,
        rf"{_LETS}(?:use|adopt|pick|choose|opt for) (?P<label>.+)",
        0.9,
        "Use Python 3.12 and bcrypt for password hashing",
        "Users like bcrypt",
        unless=r".*\b(?:pick|choose) (?:between|from|up|a (?:good|quiet|time|day)|the right)\b|.*\buse (?:some"
        r"|more) (?:help|advice"
        r"|tips|time|support|guidance)\b",
    ),
    _rule(
        "not_that_one",
        Act.CHOICE,
        r"(?P<label>(?:the |an? )?[\w@.+#/-]+(?: [\w@.+#/-]+){0,3}), (?:definitely |certainly |but |and |please "
        r"|so )?not (?:the |a )?"
        rf"(?P<target>{_NAME})$",
        0.85,
        "the YAML file, definitely not the Google Sheet",
        "I know, not a big deal",
        unless=r"(?:i|we|you|it|that|this|he|she|no|yes|ok|well|true|sure|maybe|sorry) ?|\w+ing, not \w+ing$"
        r"|.*, not (?:a big|bad|sure|yet|now|too|so|that)\b",
    ),
    _rule(
        "quantity",
        Act.CHOICE,
        r"(?P<label>(?:the |our |my )?(?:[\w-]+ ){0,2}?(?:port|timeout|limit|budget|deadline|target|threshold"
        r"|interval|retention|quota"
        r"|batch size|page size|ttl) (?:is|are|should be|becomes|stays|=) .*\d.*)",
        0.75,
        "the limit is 8 degrees for the fridges",
        "the limit is not known",
    ),
    _rule(
        "go_with",
        Act.CHOICE,
        rf"{_LETS}(?:go(?:ing)?|went|run) (?:with|for) (?P<label>.+)",
        0.9,
        "let's go with Postgres",
        "go through the list",
    ),
    _rule(
        "take",
        Act.CHOICE,
        rf"{_LETS}(?:take|stick to) (?P<label>.+)",
        0.75,
        "take MemoryPack",
        "taken from the docs",
        unless=r".*\btake (?:(?:a|an|some|short|regular|more|frequent|small|the|my|your|full|good|any"
        r"|quick) )*(?:action"
        r"|advantage|breaks?|care|charge|control|courage|deep|effect|into account|it (?:easy|slow|step|one|day)|look"
        r"|notes?"
        r"|part|place|pride|responsibility|seriously|steps?|time|turns|walks?)\b"
        r"|.*\bstick to (?:it|that|this|these|them|the (?:plan|schedule|routine)|my (?:plan|schedule"
        r"|routine))(?: and see.*)?$",
    ),
    _rule(
        "stay",
        Act.CHOICE,
        rf"{_LETS}(?P<label>(?:stay|stick|remain) (?:with|on|to|at) .+)",
        0.85,
        "stay on traefik then",
        "stay away from it",
    ),
    _rule(
        "keep",
        Act.CHOICE,
        rf"{_LETS}(?P<label>(?:keep(?: using)?|leave) .+)",
        0.7,
        "keep 400 days, then delete",
        "keep going",
        unless=r"(?:i |we )?(?:keep|leave) (?:going|in mind|up|at it|me|trying|it up|that in mind|calm|on"
        r"|getting|it|that"
        r"|this)\b|.*\bkeep (?:an? (?:close |closer )?eye|(?:you|him|her|them|us|everyone|everybody) (?:posted|updated"
        r"|informed|in the loop)|in (?:touch|mind)|track|up\b|at it|.{2,40} (?:going|moving|on track)$"
        r"|(?:[a-tv-z]\w*|u[a-rt-z]\w*)ing\b)",
    ),
    _rule(
        "it_is",
        Act.CHOICE,
        r"(?P<label>[^,;:]{1,50}?) it is(?:$|[,;:] ?(?P<reason>.+)| then\b.*| for (?:me|us|now)\b.*)",
        0.9,
        "dns-01 it is",
        "how slow it is",
        unless=r"(?:how|what|as|that|where|which|whatever|if|since|so|and|i|we|because|like|now|the way|however"
        r"|like)\b",
    ),
    _rule(
        "then",
        Act.CHOICE,
        r"(?P<label>[\w@.+#-]+(?: [\w@.+#-]+){0,3}?),? then$",
        0.8,
        "SQLite then",
        "since then",
        unless=r"(?:not|no|proceed|continue|do|go|let|try|run|start|stop|look|ok|okay|since|until|till|back|by|just"
        r"|and"
        r"|but|only|even|what|why|who|how|now|until|from"
        r"|every now and|if so|well|done|good|great|fine|see you|bye|later|tomorrow|yes|no|ok)\b",
    ),
    _rule(
        "category",
        Act.CHOICE,
        r"(?P<label>(?:database|db|cache|frontend|backend|queue|orm|auth|hosting|ci|license|licence|port|framework"
        r"|package manager|deployment|styling|testing)\s*[:=]\s*\S.*)",
        0.85,
        "database: SQLite",
        "database errors are logged",
    ),
)


RULES_AND_WISHES: Final = (
    _rule(
        "never",
        Act.RULE,
        r"(?P<label>(?:never(?: ever)?|do not ever|don't ever|under no circumstances|at no point) .+)",
        0.92,
        "never push to main",
        "I never saw that",
        unless=r"never (?:again$|said|did|was|had|saw|seen|been|set|got|knew|happened|heard|used to|made|worked"
        r"|ran|ended)\b",
    ),
    _rule(
        "always",
        Act.RULE,
        r"(?P<label>(?:always|from now on,?|going forward,?|in future,?|in the future,?|as a rule,?|whenever you"
        r"|every time you"
        r"|each time you|at all times,?) .+)",
        0.9,
        "always answer in French",
        "I always get this wrong",
    ),
    _rule(
        "dont",
        Act.RULE,
        r"(?P<label>(?:do not|don't|dont|you must not|you mustn't|must not|you should not|you shouldn't|avoid"
        r"|refrain from"
        r"|no need to|stop) (?:[a-z]+(?:ing)?\b).+)",
        0.8,
        "don't touch the public API",
        "don't worry about it",
        unless=r"(?:do not|don't|dont|no need to) (?:know|think|worry|want|need|understand|care|mind|bother|forget|have"
        r"|get|see|remember|like|believe|feel|recall|expect|really|even|we|you|i|seem|quite)\b",
    ),
    _rule(
        "must",
        Act.RULE,
        r"(?P<label>(?:(?:the|all|every|each|any|our|new|no|nothing|everything|it|tests?|commits?"
        r"|code) ?)(?:[\w'/-]+ ){0,5}?"
        r"(?:must(?: not|n't)?|may not|has to|have to|needs to|need to|should always|should never|should not"
        r"|shouldn't"
        r"|cannot be|can't be) (?:be |stay |remain |have |use |work |run |get |keep |not |change |go |come "
        r"|match |follow )?.+)",
        0.7,
        "the tests have to stay green",
        "I must have missed it",
        unless=r".*\b(?:has|have|must|needs?)(?: to)? wait\b",
    ),
    _rule(
        "only",
        Act.RULE,
        r"(?P<label>(?:only (?:use|touch|change|edit|work|write|commit|push|answer|reply|ever|run)|use only"
        r"|nothing but) .+)",
        0.85,
        "only touch files under src/",
        "only the first test fails",
    ),
)


REJECTIONS: Final = (
    _rule(
        "changed_mind",
        Act.REJECT,
        r"(?:i|we)(?:'ve| have)? (?:just )?changed (?:my|our) minds? (?:about|on|regarding) (?:using |having )?"
        r"(?P<label>[^,;:.]{2,40})",
        0.8,
        "I changed my mind about Hugo",
        "I changed my mind",
    ),
    _rule(
        "no_thing",
        Act.REJECT,
        r"(?:no|not|without|zero) (?P<label>(?:(?:new|more|extra|other|external|third[- ]party) )?[\w@.+#/-]+"
        r"(?: [\w@.+#/-]+){0,3}?)(?: please| here| for us| for now| yet)?"
        r"(?:$|(?:[,;:.(]| because| --?| —| –) ?(?P<reason>.*?)\)?$)",
        0.8,
        "No MQTT: a broker is one more thing that can die",
        "no idea what this is",
        unless=r"no (?:[\w-]+ ){1,2}to \w+(?: (?:for|after|of|with|about))?$"
        r"|no such\b|(?:no|not) (?:wait|hold|enough|sorry)\b|not \w+(?:ing|ed)\b"
        r"|not (?:built|done|made|sent|written|found|seen|read|ready|finished)\b"
        r"|no (?:remarks?|comments?|questions?|complaints?|objections?|news|to-?dos?|action)\b"
        r"|(?:no|not) (?:tonight|today|tomorrow|this|these|there|idea|worries|problem|rush|need|thanks|one"
        r"|way|matter|longer|more|doubt|wonder"
        r"|luck|change|sure|yet|really|only|just|so|too|that|the|a|an|if|in|for|at|bad|as|to|my|your|it|this"
        r"|much|all|many|clue|offen[cs]e|hurry|issues?|errors?|difference|effect|response|output|result|even"
        r"|quite|exactly|necessarily|always|every|being|having|because|great|good|nice|working|now|here|there|i"
        r"|we|you|is|are|was|what|how|why|when|where)\b",
    ),
    _rule(
        "skip",
        Act.REJECT,
        r"(?:skip|drop|forget(?: about)?|ditch|scrap|kill|dump|abandon|omit|lose) (?:the |that |this "
        r"|all )?(?P<label>.+)",
        0.85,
        "forget nginx",
        "forgetting the semicolon breaks it",
    ),
    _rule(
        "we_are_not_doing",
        Act.REJECT,
        r"(?:we|i)(?:'re| are|'m| am) (?:not|no longer) (?:doing|adopting|going (?:with|for)|moving to|switching to)"
        r" (?:the |an? )?(?P<label>[^,;:(]{2,60}?)(?:$|(?:[,;:(]| because| since| --?| —| –) ?(?P<reason>.*?)\)?$)",
        0.8,
        "we're not doing microservices, there are two of us",
        "we're not doing well",
        unless=r".* doing (?:it|that|this|so|too|well|great|good|fine|much|any|bad|badly)\b",
    ),
    _rule(
        "decided_against",
        Act.REJECT,
        r"(?:(?:we|i|they|the (?:team|board|group))(?:'ve| have)? (?:all |both )?)?(?:decided|voted|opted|chose"
        r"|came down|settled) against (?:using |having |taking |the |an? )*(?P<label>[^,;:(]{2,60}?)"
        r"(?:$|(?:[,;:(]| because| since| --?| —| –) ?(?P<reason>.*?)\)?$)",
        0.85,
        "we decided against a queue, nobody can run one",
        "he voted against his own party",
        unless=r".* against .*\b(?:and|but) (?:for|in favou?r of) ",
    ),
    _rule(
        "dont_need",
        Act.REJECT,
        r"(?:i|we) (?:really |actually )?(?:do not|don't|dont|won't|will not) (?:need|want|use|do|take"
        r"|go (?:with|for)) (?:a |an |the |any |to (?:use|have|run|need|depend on|buy|add|install|adopt"
        r"|go with|host|maintain) )?"
        r"(?P<label>.+)",
        0.85,
        "we don't need Kubernetes for this",
        "we need a cluster",
        unless=r".* (?:want|need) to (?:lose|risk|break|miss|wait|waste|spend|bother|think|worry|deal|know|see|hear"
        r"|be|repeat"
        r"|scare|annoy|do|forget|discuss|talk|get|give|send|explain|learn|click|type|enter|fill|scroll"
        r"|remember|find)\b"
        r"|.* (?:want|need) (?:the|a|an|my|our|you|it|them|this|that|anyone|anybody|people"
        r"|users?)(?: \w+)? to \w+",
    ),
    _rule(
        "never_mind",
        Act.RETRACT,
        r"(?:never ?mind|nvm|forget (?:it|that|about it)|scratch that|cancel (?:that|it)|disregard|ignore)"
        r"(?:[,:]? (?:about |the |that |my last )?(?P<label>.+))?",
        0.85,
        "never mind the cache",
        "ignored files are listed in .gitignore",
        unless=r"(?:never ?mind|nvm|ignored?|disregard) (?:me|you|him|us)\b|ignored?\b.*\b(?:files?|are|is)\b",
    ),
)
