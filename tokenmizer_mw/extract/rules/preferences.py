"""How people say what they like better, in what order things matter to them, and how they work best."""

from __future__ import annotations

from typing import Final

from .rule import Act
from .rule import user_rule as _rule

_OFTEN: Final = (
    r"(?:really |much |strongly |generally |usually |definitely |personally |still |always |also |just |do )*"
)
_WE: Final = rf"(?:i|we)(?:'d| would|'ve always| have always)? {_OFTEN}"
_SO: Final = r",? (?:and )?(?:so|that's why|which is why|that is why|hence|therefore)"
_ADVICE: Final = (
    r"(?:.* )?(?:some|any|your|more|a few|an?)(?: more)? (?:advice|help|tips|guidance|feedback|input|ideas?"
    r"|suggestions?|thoughts?|opinion|examples?|explanation|insights?|recommendations?)\b"
)
_HEARD: Final = (
    r"(?:.* )?(?:love|prefer|like|rather) (?:to (?:get|hear|see|know|learn|have a|understand|discuss|explore|ask|try"
    r"|go over|talk)|it if|if you|you to)\b"
)
_MINE: Final = (
    r"(?:write|work|focus|learn|study|think|concentrate|sleep|train|code|edit|read|perform|function|cook|practi[cs]e)"
)
_BEST: Final = (
    r"focused|productive|creative|alert|comfortable|efficient|awake|effective|relaxed|energetic|energi[sz]ed|motivated"
)

PREFERENCES: Final = (
    _rule(
        "prefer_because",
        Act.PREFERENCE,
        rf"(?:i'm |we're |i am |we are )?(?:just |also )?(?P<reason>[^?]{{8,160}}?){_SO} {_WE}prefer (?P<label>[^?]+)",
        0.9,
        "we have two people for this, so we prefer boring tools",
        "I'm so glad that we prefer tea",
        unless=rf"{_ADVICE}|{_HEARD}|.*\bso (?:i|we) prefer (?:it|that|this|them)\b",
        whole=True,
    ),
    _rule(
        "prefer_what_is_used",
        Act.PREFERENCE,
        r"(?:.* )?(?:using|use|with|chose|picked|took|bought|tried) (?:the )?(?P<label>[\w@.+#/' -]{2,60}?),? (?:and"
        rf"|because|since|as) {_WE}prefer (?:it|that|this|them) (?:over|to|rather than|instead of) (?P<target>[^,;?]+)",
        0.85,
        "The site is built with Hugo and I prefer it over Jekyll",
        "I prefer it",
        whole=True,
    ),
    _rule(
        "prefer_over",
        Act.PREFERENCE,
        rf"{_WE}prefer (?P<label>.+?) (?:over|rather than|instead of|as opposed to|more than) (?P<target>[^,;?]+.*)",
        0.9,
        "I prefer tabs over spaces",
        "the preferred port is taken",
        unless=rf"{_ADVICE}|{_HEARD}",
    ),
    _rule(
        "prefer",
        Act.PREFERENCE,
        rf"{_WE}prefer (?P<label>.+)",
        0.9,
        "we usually prefer small commits",
        "which one do you prefer",
        unless=rf"{_ADVICE}|{_HEARD}",
    ),
    _rule(
        "rather",
        Act.PREFERENCE,
        r"(?:i|we)(?:'d| would) (?:much |really )?(?:rather|like it better if we|love) (?P<label>.+)",
        0.75,
        "I'd rather keep the number of dependencies small",
        "would you rather stop here",
        unless=rf"{_ADVICE}|{_HEARD}",
    ),
    _rule(
        "prioritise",
        Act.PREFERENCE,
        rf"(?:i|we)(?:'m|'re| am| are|'ve been| have been)? {_OFTEN}(?P<label>(?:prioriti[sz](?:e|ing)|favou?r(?:ing)?)"
        r" [\w'-]+ [\w'-]+.*)",
        0.8,
        "we always prioritise readability over speed",
        "I prioritise them",
        unless=r".* (?:in favou?r of|favou?r to ask|need to|have to|want to|trying to|(?:my|the|our) (?:tasks?|work"
        r"|backlog|to-?dos?)\b)",
    ),
    _rule(
        "my_preference",
        Act.PREFERENCE,
        r"(?:.*\b)?(?:my|our) (?:personal |strong |usual |general )?preference (?:for|is(?: for)?|would be"
        r"|has always been|towards?|leans to)(?: to)? (?P<label>[^?]+)",
        0.8,
        "given my preference for plain SQL, leave the ORM out",
        "what is your preference for lunch",
    ),
    _rule(
        "best_when",
        Act.PREFERENCE,
        rf"(?P<label>(?:i|we) {_MINE} (?:best|better|most (?:\w+ly )?) .+)",
        0.75,
        "I learn best with worked examples",
        "I work most of the week",
        unless=r"(?:i|we) \w+ (?:better|best) (?:than|of all)\b|(?:i|we) \w+ most (?:of|days?|weeks?|nights?|times?)\b",
    ),
    _rule(
        "most_at",
        Act.PREFERENCE,
        rf"(?P<label>(?:i'm|i am|we're|we are) (?:usually |always )?(?:most|more|far more|much more) (?:{_BEST}) "
        r"(?:in|at|on|when|with|during|before|after|early|late|between|right) .+)",
        0.75,
        "I'm most productive before lunch",
        "I'm more productive than last year",
    ),
    _rule(
        "kind_of_person",
        Act.PREFERENCE,
        r"(?:i'm|i am|we're|we are) (?:more of |very much |definitely |really )?(?P<label>an? (?:[\w-]+ ){0,2}?"
        r"(?:learner|thinker|owl|(?:morning|evening|night|people|detail|numbers) (?:person|type)|early bird))"
        r"(?:[,;].*)?",
        0.7,
        "I'm more of a visual learner",
        "I am a person with two jobs",
    ),
    _rule(
        "works_for_me",
        Act.PREFERENCE,
        r"(?P<label>[\w@.+#/' -]{3,80}?) (?:works?|suits?|fits?)"
        r" (?:me|us|(?:much |far )?(?:best|better|well) for (?:me|us))"
        r"(?: (?:best|better|well|fine))?(?:[,;.:].*)?",
        0.7,
        "short paragraphs work best for me",
        "nothing of this works for me yet",
        unless=r"(?:it|this|that|which|what|nothing|none|everything|either|neither|both|whatever|thursday|monday"
        r"|tuesday|wednesday|friday|saturday|sunday)\b|.*\b(?:n't|not|never|nor)\b",
    ),
)
