"""Products and data: scope, launches, metrics, customers."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.rules import Act

from .pack import Pack, row

_WE: Final = r"(?:(?:let's|i|we)(?:'ve| have|'ll| will|'re|'m| are)? |(?:just|now|also|then|please) )*"
_RELEASE: Final = (
    r"(?:v\d[\w.]*|version \d\S*|the (?:mvp|first (?:release|version)|beta|launch|pilot|next release)|q[1-4]|phase \d)"
)

PRODUCT: Final = Pack(
    "product",
    r"\b(?:launch(?:es|ed)?|roadmap|backlog|mvp|beta|churn|conversion|funnel|retention|nps|kpis?|okrs?|stakeholders?"
    r"|customers?|pricing|go[- ]to[- ]market|personas?|user stor(?:y|ies)|a/b test|sprint|dashboard|metrics?|segment"
    r"|onboarding|release|pilot|subscription|trial|mrr|arr)\b",
    (
        row(
            "product.in_scope",
            Act.CHOICE,
            rf"(?P<label>[\w '/-]{{3,80}}? (?:is|are|stays?|goes|go|makes?|comes?|ships?) (?:in(?: scope)?(?: for)?"
            rf"|in|into|with"
            rf"|for) {_RELEASE})(?: .*)?",
            "the CSV export goes into v1",
            "the meeting is in Q1 town",
            unless=r".*\b(?:not|isn't|aren't|won't|never)\b|(?:it|that|this|what|which|the (?:bug|error|meeting)) ",
        ),
        row(
            "product.out_of_scope",
            Act.REJECT,
            rf"(?P<label>[\w '/-]{{3,80}}?) (?:is|are|stays?|goes|gets?) (?:out of scope|not in scope|out of {_RELEASE}"
            rf"|pushed (?:out )?(?:of|to) {_RELEASE}|cut(?: from {_RELEASE})?|parked|descoped"
            rf"|off the roadmap)(?:[,;:.( ].*)?",
            "social login is out of scope for the pilot",
            "the hair is cut",
            unless=r"(?:it|that|this|the (?:hair|grass|budget|ribbon|power|line)) ",
        ),
        row(
            "product.cut",
            Act.REJECT,
            rf"{_WE}(?:cut|descope|park|punt(?: on)?|defer|postpone) (?P<label>[\w '/-]+?) (?:from|to|until|till"
            rf"|for) {_RELEASE}.*",
            "cut the referral program from the MVP",
            "cut costs from v1",
            unless=r".*\bcut (?:costs?|prices?|time)\b",
        ),
        row(
            "product.metric_target",
            Act.CHOICE,
            r"(?:our |the )?(?:target|goal|bar|success metric|north[- ]star(?: metric)?|okr"
            r"|kpi)(?: for (?:\w+ ){1,3}?)?"
            r"(?: is| will be| stays|:) (?P<label>.*(?:\d|churn|retention|activation|nps|conversion|signups?"
            r"|revenue).*)",
            "the success metric is weekly activation above 35%",
            "the goal is far",
        ),
        row(
            "product.who_pays",
            Act.CHOICE,
            rf"{_WE}(?:price|charge|sell) (?:it|this|them|the \w+(?: \w+)?) (?:at|for) (?P<label>.*\d.*)",
            "we price the team plan at 12 euros a seat",
            "sell it for good",
        ),
        row(
            "product.shipped",
            Act.CLAIM,
            rf"{_WE}(?P<label>(?:shipped|launched|released|rolled out|announced|signed off|onboarded|published|pulled"
            r"|segmented|instrumented) (?:the |our |a |an |\d|v\d|to )[\w ,./%-]+)",
            "launched the beta to 40 customers",
            "released from prison",
        ),
        row(
            "product.blocked_on",
            Act.BLOCKED,
            r"(?P<label>(?:we're|we are|i'm|it's|this is|launch is) (?:blocked|waiting|stuck) (?:on|for|by) (?:legal"
            r"|finance|security"
            r"|marketing|sales|the (?:client|customer|vendor|board|design(?:ers)?|data team)|sign[- ]off|approval"
            r"|budget)\b.*)",
            "we're blocked on legal for the terms",
            "we're waiting for the bus",
        ),
    ),
    "the launch slips, churn is up and two customers want the pilot",
    "the second paragraph reads stiff",
)
