"""Studies and experiments: hypotheses, methods, findings."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.rules import Act

from .pack import Pack, row

_WE: Final = r"(?:(?:i|we)(?:'ve| have|'ll| will)? |(?:just|now|also) )*"

RESEARCH: Final = Pack(
    "research",
    r"\b(?:hypothes[ei]s|experiments?|ablations?|baselines?|cohort|participants?|respondents|p ?[<=] ?0?\.\d+"
    r"|effect size"
    r"|confidence interval|regression|dataset|sample size|n ?= ?\d+|preregist\w+|reviewers?|literature|citations?|paper"
    r"|manuscript|replicat\w+|interviews|coding scheme|survey|irb|ethics (?:board|committee))\b",
    (
        row(
            "research.rejected_hypothesis",
            Act.REJECT,
            rf"{_WE}(?:reject(?:ed)?|drop(?:ped)?|abandon(?:ed)?|discard(?:ed)?) (?:the )?(?:hypothesis|model"
            rf"|measure|scale"
            r"|covariate|condition|arm)(?: that| of| for)? (?P<label>.+)",
            "we drop the covariate for age",
            "the reviewers rejected the paper",
        ),
        row(
            "research.method",
            Act.CHOICE,
            rf"{_WE}(?:pre-?register|analy[sz]e it with|model it (?:as|with)|estimate it with|randomi[sz]e by"
            rf"|stratify by"
            r"|code it (?:by|with)|measure it (?:by|with|as)|operationali[sz]e it as) (?P<label>.+)",
            "we'll stratify by hospital",
            "to stratify by hand takes long",
            confidence=0.75,
        ),
        row(
            "research.exclude",
            Act.RULE,
            rf"{_WE}(?P<label>(?:exclude|include only|leave out|restrict (?:it|the sample|the analysis) to) (?:all "
            rf"|any )?"
            r"(?:participants?|respondents?|patients?|papers?|studies|trials?|sites?|subjects?|cases|records?|runs?"
            r"|rows) .+)",
            "exclude participants under 18",
            "exclude the cost of paper",
            confidence=0.8,
        ),
        row(
            "research.ran",
            Act.CLAIM,
            rf"{_WE}(?P<label>(?:ran|reran|re-ran|replicated|coded|transcribed|collected|recruited|screened|interviewed"
            r"|surveyed|preregistered|submitted|resubmitted) (?:the |all |another |\d)[\w ,./%-]+)",
            "reran the ablation without pretraining",
            "ran into the professor",
        ),
        row(
            "research.finding",
            Act.ENVIRONMENT,
            r"(?P<label>(?:the |our )?(?:main |overall )?(?:effect|result|finding|difference|correlation|accuracy"
            r"|agreement"
            r"|kappa|response rate|sample)(?: size)? (?:is|was|came out (?:at|as)|holds|held|vanish(?:es|ed)"
            r"|disappear(?:s|ed)"
            r"|drops?|dropped) .*\d.*)",
            "the response rate was 41%",
            "the result was nice",
        ),
        row(
            "research.reviewer",
            Act.REQUEST,
            r"(?:reviewer (?:\d|#\d|one|two|three)|the (?:editor|committee|board)) (?:wants?|asks? for|asked for"
            r"|demands?"
            r"|requests?|requested)(?: us to)? (?P<label>.+)",
            "reviewer 2 wants a power analysis",
            "reviewer 2 was friendly",
        ),
    ),
    "reviewer 2 doubts the effect size, n = 84 participants",
    "the pods restart every night",
)
