"""Texts: drafts, structure, voice, length."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.rules import Act, Speaker

from .pack import Pack, row

_WE: Final = r"(?:(?:let's|i|we)(?:'ve| have|'ll| will|'re|'m)? |(?:just|now|also|then|please) )*"
_PART: Final = (
    r"(?:chapters?|scenes?|paragraphs?|sections?|prologue|epilogue|intro(?:duction)?|conclusion|abstract|headline|title"
    r"|opening|ending|outline|draft|cover letter|caption|footnotes?|foreword|blurb|essay|article|post|newsletter)"
)

WRITING: Final = Pack(
    "writing",
    r"\b(?:chapter|scenes?|prologue|epilogue|draft(?:s|ed)?|paragraph|manuscript|essay|article|newsletter|headline"
    r"|outline"
    r"|narrator|protagonist|characters?|first person|third person|tone|voice|wording|word count|\d+ words|proofread\w*"
    r"|edit(?:or|ing|s)?|copy|blog post|cover letter|stanza|poem)\b",
    (
        row(
            "writing.cut",
            Act.REJECT,
            rf"{_WE}(?:cut|kill|lose|drop|scrap|delete|take out|get rid of) (?P<label>(?:the |my |our |this "
            rf"|that )?(?:\w+ )?{_PART}"
            r"\b.*)",
            "kill the prologue, it gives away the ending",
            "cut paragraph breaks in half",
            unless=r".*\b(?:in half|in two|to the chase)\b",
        ),
        row(
            "writing.voice",
            Act.RULE,
            rf"{_WE}(?:write |keep |make |do |put )?(?:it |everything |the whole thing "
            rf"|all of it )?(?P<label>(?:in (?:the )?)?"
            r"(?:first|second|third)[- ]person\b.*|(?:in )?(?:past|present) tense\b.*|(?:british|american) spelling\b.*"
            r"|no (?:exclamation marks?|adverbs|passive(?: voice)?|jargon|buzzwords|em[- ]dashes|clich[eé]s)\b.*)",
            "first person, past tense",
            "the first person in line",
            speaker=Speaker.USER,
            confidence=0.8,
        ),
        row(
            "writing.length",
            Act.RULE,
            rf"{_WE}(?P<label>(?:keep|make|get|bring|hold|cap|cut) (?:it|this|that|the (?:\w+ )?{_PART}"
            rf"|each {_PART}) (?:down )?"
            r"(?:under|to|below|at|within|between|around|at most|no more than) .*\d.*(?:words?|pages?|lines?|sentences?"
            r"|characters?|paragraphs?))",
            "keep the intro under 150 words",
            "keep the intro nice",
            speaker=Speaker.USER,
            confidence=0.8,
        ),
        row(
            "writing.drafted",
            Act.CLAIM,
            rf"{_WE}(?P<label>(?:drafted|redrafted|rewrote|rewritten|revised|proofread|finished|outlined|tightened"
            rf"|trimmed"
            rf"|cut|reworked|polished) (?:the |my |your |a new |chapter|scene|section|all |\d)[\w ,'/%-]*?)",
            "rewrote the second chapter from her side",
            "finished work is a pleasure",
        ),
        row(
            "writing.part_is_done",
            Act.CLAIM,
            rf"(?P<label>(?:the |my |your )?(?:\w+ )?{_PART}(?: \w+)?) (?:is|are) (?:done|finished|drafted|written"
            rf"|revised|in good"
            r" shape|ready(?: to (?:send|go|publish))?)(?:[,;:. ].*)?",
            "chapter four is drafted",
            "the draft is bad",
        ),
        row(
            "writing.reads_badly",
            Act.COMPLAINT,
            rf"(?P<label>(?:the |my |this |that |your )?(?:\w+ )?(?:{_PART}|sentence|dialogue|pacing|tone"
            rf"|voice)(?: \w+)? (?:still )?"
            r"(?:reads?|sounds?|feels?|drags?|is) (?:too |a bit |very |really )?(?:stiff|flat|cold|wordy|clunky"
            r"|corny|dull|preachy"
            r"|rushed|slow|vague|repetitive|forced|off|long|confusing|drags?)\b.*)",
            "the second paragraph reads stiff",
            "the tone is warm",
        ),
    ),
    "the narrator of chapter two speaks in another voice",
    "the cluster lost a node",
)
