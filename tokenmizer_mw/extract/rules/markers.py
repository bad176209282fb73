"""Rules for formal markers ("Decided:", "Completed:", "Next:"), which mean the same from users and assistants."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker

_COLON: Final = r"\s*(?::|--?\s|–|—)\s*"
_B: Final = Speaker.BOTH
_PASSING: Final = (
    r" (?:(?:are|is|now|all|still|run|runs|ran|come|came|out|stays?|went) )*(?:pass(?:es|ed|ing)?|green"
    r"|succeed(?:s|ed)?)\b"
)


def _marker(
    name: str, act: Act, pattern: str, confidence: float, example: str, counter: str, *, unless: str = ""
) -> Rule:
    """Return a rule for a formal marker, which applies to both speakers."""
    return Rule(name, _B, act, pattern, confidence, example, counter, unless, explicit=True)


MARKERS: Final = (
    _marker(
        "marker.decided",
        Act.CHOICE,
        rf"(?:(?:final |new |design )?decision(?: made)?|decided|agreed|chosen|choice|settled){_COLON}(?P<label>.+)",
        0.95,
        "Decided: bcrypt for password hashing (industry standard)",
        "Decided nothing yet",
    ),
    _marker(
        "marker.decided_on",
        Act.CHOICE,
        r"(?:i(?:'ve| have)?|we(?:'ve| have)?|the team(?: has)?)? ?(?:decided|settled|agreed) (?:on|to use"
        r"|to go with|to keep"
        r"|to stick with|to adopt|upon|for) (?P<label>.+)",
        0.9,
        "We decided to use Kafka for events",
        "We decided to talk about it later",
    ),
    _marker(
        "marker.going_with",
        Act.CHOICE,
        r"(?:i'm |we're |i am |we are )?(?:going (?:with|for)|went (?:with|for)|opted for|sticking (?:with|to)|staying"
        r" (?:with|on)|choosing|chose|picking|picked|standardi[sz]ing on|settling on) (?P<label>.+)",
        0.85,
        "Going with JWT stored in httpOnly cookie (not localStorage — XSS safe)",
        "Going to look at the logs",
        unless=r"(?:going|staying|sticking|choosing|picking|standardi[sz]ing|settling) (?:with|for|on"
        r"|to)?.* (?:is|would|means"
        r"|gives|keeps|has|costs|requires|makes|will|can|could|allows|avoids|saves|needs|sounds|seems)\b",
    ),
    _marker(
        "marker.completed",
        Act.CLAIM,
        rf"(?:✅|✔️?|☑️?)?\s*(?:completed?|done|finished|implemented|shipped|delivered|built|added|ready|merged"
        rf"|removed|renamed|replaced|moved"
        rf"|deployed|migrated|refactored|committed|pushed|verified|extracted|installed|configured"
        rf"|cleaned up){_COLON}(?P<label>.+)",
        0.9,
        "Completed: user model in api/models.py",
        "Completed orders are shown in green",
    ),
    _marker(
        "marker.fixed",
        Act.FIX,
        rf"(?:✅|✔️?)?\s*(?:(?:bug ?)?fix(?:ed)?|resolved|solved|patched|hotfix){_COLON}(?P<label>.+)",
        0.9,
        "Fixed: 422 error, missing email validation",
        "Fixed width columns look odd",
    ),
    _marker(
        "marker.working_on",
        Act.PROGRESS,
        rf"(?:(?:now |currently |still )?working on|in progress|wip|ongoing|current task"
        rf"|started){_COLON}(?P<label>.+)",
        0.9,
        "Working on: refresh token rotation in api/auth.py",
        "Working on weekends is no fun",
    ),
    _marker(
        "marker.todo",
        Act.LATER,
        rf"(?:to-?dos?|to do|pending|remaining(?: work| tasks?)?|still (?:to do|open|missing|pending)"
        rf"|open(?: (?:until then|(?:right |for |as of )?now|at the moment|today|so far))?|left(?: to do)?"
        rf"|leftovers?|outstanding|open (?:items?|tasks?|points?)|action items?|follow-?ups?|backlog|not done(?: yet)?"
        rf"|missing|what's left|what is left|later)(?: (?:for|on|after|before) [\w ]{{1,20}})?{_COLON}(?P<label>.+)",
        0.85,
        "TODO: rate limiting, password reset",
        "Pending requests are cancelled on logout",
    ),
    _marker(
        "marker.next",
        Act.LATER,
        rf"(?:next(?: up| steps?| task)?|up next|tomorrow|then|coming up|after that){_COLON}(?P<label>.+)",
        0.75,
        "Next: refresh token support",
        "Next the router calls the handler",
        unless=rf".{{0,20}}{_COLON}(?:what|how|which|who|whose|when|where|why)\b",
    ),
    _marker(
        "marker.files",
        Act.FILES,
        r"(?:(?:new |changed |updated |modified |created |touched )?files?(?: (?:updated|changed|created"
        r"|modified|touched"
        r"|added|edited))?|creating|generating|scaffolding|adding files?|updating|updated|edited|editing|created"
        r"|modified"
        rf"|changes in|changed){_COLON}(?P<label>.+)",
        0.85,
        "Creating: api/main.py, api/auth.py",
        "Creating a good login page is hard",
    ),
    _marker(
        "marker.replaced",
        Act.REPLACE,
        r"(?:switching|switched|migrating|migrated|moving|moved|changing|changed|swapping|swapped)(?: over| away"
        r"| everything)? from"
        r" (?P<target>.{1,60}?) (?:over )?to (?P<label>.+)",
        0.9,
        "Switching from bert-base-uncased to distilbert-base-uncased",
        "Switching tabs from time to time",
    ),
    _marker(
        "marker.rejected",
        Act.REJECT,
        rf"(?:rejected|discarded|ruled out|not using|won't use|declined|dropped|abandoned"
        rf"|against){_COLON}(?P<label>.+)",
        0.85,
        "Rejected: optimistic locking",
        "Rejected promises are logged",
    ),
    _marker(
        "marker.error",
        Act.COMPLAINT,
        r"(?:(?:known |open |new )?(?:error|bug|issue|problem|failure|regression|defect|fault|crash)|fail(?:s|ed|ing)?"
        r"|still (?:fail(?:s|ing)|red|broken|crash(?:es|ing))|broken(?: right now| now)?)"
        rf"(?: (?:found|seen|reported))?{_COLON}(?P<label>.+)",
        0.85,
        "Defect: the mailer drops attachments",
        "Error handling is in middleware.py",
    ),
    _marker(
        "marker.goal",
        Act.GOAL,
        r"(?:(?:my |our |the |new |overall |main |end )*(?:goal|objective|aim|mission|target state))"
        rf"(?:{_COLON}|(?: now)? is (?:now )?(?:to )?)(?P<label>.+)",
        0.95,
        "Goal: customers book appointments online",
        "Goals are listed on the second page",
    ),
    _marker(
        "marker.rule",
        Act.RULE,
        r"(?:(?:one|another|my|our|the|an?|new|more|other|only|last|first|second|small|important) ){0,3}"
        r"(?:(?:house |ground |standing |hard )?(?:rule|constraint|requirement|convention|policy)s?"
        rf"(?: (?:for|before|about|from) [^:;,]{{2,40}})?){_COLON}(?P<label>.+)",
        0.9,
        "Rule: never push to main",
        "Rules are evaluated from top to bottom",
    ),
    _marker(
        "marker.tests_pass",
        Act.TESTED,
        r"(?P<label>(?:(?:all|the|both|my|our|these|those|your) )*(?:\d+ |\w+ of \w+ )?(?:[\w-]+ ){0,3}?(?:tests?"
        r"|specs?"
        r"|checks?|suites?|builds?|pipelines?|ci|lint(?:er|ing)?|pytest|jest|vitest|mypy|ruff|eslint|tsc"
        r"|test_\w+|\w+_tests?|(?-i:Test[A-Z]\w+))(?: of them)?"
        rf"{_PASSING}(?: (?:now|again|locally|in ci)\b)?"
        rf"|(?:they |(?:all|both|\d+|\w+ of \w+)(?: \d+)?(?: of them)?){_PASSING}(?: (?:now|again|locally|in ci)\b)?"
        r"(?:$|[,;:.!(]| --?| —| –| and\b| with\b| in \d))",
        0.85,
        "All 12 passing",
        "All 12 passengers are seated",
        unless=rf".*{_PASSING} (?:only|just|sometimes|occasionally|intermittently|now and then|on and off|mostly"
        rf"|half the"
        r" time|most of the time|every (?:other|second|third) (?:time|run|try))\b|.*\b(?:only )?(?:sometimes"
        r"|occasionally)"
        rf"{_PASSING}",
    ),
)
