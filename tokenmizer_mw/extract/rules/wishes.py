"""How people say what is to hold for the work at hand: conditions, ways of working, names and places."""

from __future__ import annotations

from typing import Final

from .rule import Act
from .rule import user_rule as _rule

_NAME: Final = r"(?:the |an? )?[\w@.+#/-]+(?: [\w@.+#/-]+){0,3}"
_BETTER: Final = r"simpler|easier|better|best|cool|nicer|cleaner|safer|more \w+|like the (?:best|right|better) \w+"

WISHES: Final = (
    _rule(
        "it_should",
        Act.WISH,
        r"(?P<label>(?:it|this|that|they) (?:should|must|has to|needs to|ought to) (?:also |always |only |just |not )*"
        r"(?:have|use|contain|include|support|accept|require|keep|follow|be (?:able|\w+ed|as|in|on|at|under|part"
        r"|a|an|the|callable|optional|possible to|easy to))\b .{3,})",
        0.65,
        "It should have a dry-run flag",
        "that should have worked",
        unless=r"(?:it|this|that|they) (?:should|must) (?:not )?have (?:been|\w+ed|gone|come|run|made|had|seen"
        r"|\w+n)\b|.*\bbe (?:fixed|resolved|solved|done|finished)\b",
    ),
    _rule(
        "each_before",
        Act.RULE,
        r"(?P<label>(?:please )?(?:explain|show|describe|list|tell|ask|run|check|test|confirm|verify|print|log|document"
        r"|commit|review|name|cite|quote) (?:me )?(?:each|every|all|any) .{3,80}? (?:before|after|when(?:ever)?|first"
        r"|as you go|in \w+)\b.*)",
        0.8,
        "Explain every command before you run it",
        "Explain the command to me",
    ),
    _rule(
        "in_steps",
        Act.RULE,
        r"(?P<label>.{0,80}\b(?:one (?:step|phase|file|thing|change|question|item|task) at a time|step by step"
        r"|in small steps|incrementally)\b.*)",
        0.75,
        "Go through the plan one file at a time",
        "What is a step at a time",
        unless=r"(?:i|we|it|he|she|they|explain|show|tell|give|write|describe)\b.* step by step",
    ),
    _rule(
        "before_doing",
        Act.RULE,
        r"(?P<label>(?:after|before|when|while) (?:\w+ing|you|every|each|any)\b[^,]{0,60}, (?:please )?(?:always|never"
        r"|don't|do not|make sure|be sure|ask|run|check|test|verify|wait|stop|commit|update|show|tell|keep|write|use)"
        r"\b.{3,})",
        0.7,
        "Before changing the schema, ask me",
        "Before lunch, we talked about it",
        whole=True,
    ),
    _rule(
        "tests_first",
        Act.RULE,
        r"(?P<label>(?:(?:please|always) )?(?:write|add|make|do|run|start with) (?:the |some )?(?:failing )?tests?\b"
        r".{0,60}\b(?:first|before .+))$",
        0.75,
        "Write the tests for it first",
        "Run the first test",
    ),
    _rule(
        "for_these",
        Act.WISH,
        r"(?P<label>for (?:the |all |each |every |any |our |new )?[\w -]{2,40}, (?:please )?(?:use|pad|put|add|keep"
        r"|write"
        r"|make|set|start|leave|name|call|return|show|sort|store|round|wrap|format|follow) .{3,})",
        0.75,
        "For dates, show the weekday as well",
        "For a while, it worked",
        whole=True,
    ),
    _rule(
        "build_with",
        Act.CHOICE,
        r"(?:(?:please|let's|can we|could we|we can|we'll|and|then|can you|could you) )*(?:build|do|make|write"
        r"|implement|solve"
        r"|handle|set up|run) (?:it|this|that|them|the whole thing|everything|all of it) (?:with|in|on|using"
        r"|on top of|via|through)"
        r" (?P<label>[^,;]{2,100})$",
        0.8,
        "build it with FastAPI",
        "do it with care",
        unless=r".* (?:with|in) (?:care|caution|me|us|him|her|them|a (?:second|minute|moment|hurry)|one go|parallel"
        r"|mind|peace"
        r"|order|time|place|your|that|this|the (?:morning|evening|end|meantime|background))\b",
    ),
    _rule(
        "follow",
        Act.WISH,
        r"(?:please |and |just |always )*(?P<label>(?:follow|adhere to|comply with|conform to|match|mirror|mimic"
        r"|respect|imitate) (?:the |our |my |your )?[\w`'./-]+.*)",
        0.75,
        "follow snake_case in the new models",
        "I follow you so far",
        unless=r"follow(?:ing)? (?:up|me|along|suit|that|it)\b|follow the (?:following|steps|link|instructions below)",
    ),
    _rule(
        "leave_alone",
        Act.RULE,
        r"(?:please )?(?P<label>(?:ignore|exclude|leave out|disregard|leave) (?:the|all|any|every|everything|our|my"
        r"|these|those) [\w`'./-]+.{0,60})$",
        0.7,
        "ignore the generated folders for now",
        "ignore the last message",
        unless=r"(?:ignore|disregard) (?:the|my|all|any) (?:last|previous|above|message|question|typo|part|noise"
        r"|comment)",
    ),
    _rule(
        "named",
        Act.WISH,
        r"(?P<label>(?:(?:please|let's|we can|we could|we should|i'd|you can) )*(?:call|name|rename|label|refer to)"
        r" (?:it|this|that|them|the [\w`'./-]+(?: [\w-]+){0,2}|[\w`'./-]+)(?: to| as)? .{2,60})$",
        0.7,
        "let's call the section Rules",
        "call me tomorrow",
        unless=r"(?:.* )?call (?:me|us|him|her|them|you|the \w+ (?:method|function|endpoint|api))\b|name (?:one|two"
        r"|three)",
    ),
    _rule(
        "you_must_use",
        Act.CHOICE,
        r"(?:you(?:'ll| will)? (?:need|have) (?:to|ot)|you(?:'d| had) better|you must|we(?:'ll| will) (?:need|have) to"
        r"|(?:we|you) should (?:probably|really|definitely|just|rather|also)|it(?:'s| is) (?:best|better) to)"
        r" (?:use|keep|go with|take|stick to|stick with) (?P<label>.{3,})",
        0.75,
        "you'll need to use the staging key",
        "you'll need to look at it",
    ),
    _rule(
        "looks_best",
        Act.CHOICE,
        rf"(?P<label>{_NAME}) (?:looks?|sounds?|seems?) (?:{_BETTER})(?:$|[,.;:!]| (?:to me|for us|for me|here))"
        r"(?: ?(?:let's |i'd |we'll |i'll )?(?:take|use|do|go with|try) (?:that|it|this|that one))?.{0,40}$",
        0.7,
        "Valkey looks cool, take that",
        "the page looks better than before in every way",
        unless=r"(?:it|that|this|everything|which|what|the (?:page|site|app|code|output|result|ui|layout|design))\b"
        r"|.*\b(?:better|easier|simpler|nicer) (?:than|now|already)\b|.*\b(?:page|site|output|result|code"
        r"|layout) looks",
    ),
    _rule(
        "controlled_by",
        Act.WISH,
        r"(?P<label>(?:this|it|that|they) (?:will|should|must|can) be (?:controlled|governed|configured|set|switched"
        r"|turned off|driven|decided|determined|stored|read|written) (?:by|in|via|through|with|from|as) .{3,})",
        0.65,
        "This will be controlled by a flag in the settings",
        "It will be done by noon",
    ),
)
