"""Verbs of work, as parts of RE2 patterns."""

from __future__ import annotations

from typing import Final

_CLEAR: Final = (
    "add|implement|create|build|write|set ?up|fix|repair|update|change|remove|delete|refactor|rename|move|migrate"
    "|convert|configure|deploy|install|integrate|extend|improve|optimi[sz]e|clean ?up|document|extract|split|merge"
    "|upgrade|bump|rewrite|replace|introduce|enable|disable|handle|validate|generate|prepare|finish|connect|expose"
    "|translate|hide|simplify|reduce|increase|include|exclude|insert|append|reorder|align|cent(?:er|re)|locali[sz]e"
    "|internationali[sz]e|restructure|reorgani[sz]e|separate|combine|register|resolve|debug|investigate|redesign"
    "|revise"
    "|adjust|adapt|tweak|polish|encrypt|sanitize|parametri[sz]e|dockeri[sz]e|containeri[sz]e|initiali[sz]e|scaffold"
    "|define|organi[sz]e|benchmark|backfill|backport|deduplicate|paginate|memoi[sz]e|throttle|debounce|mock|stub"
)
_VAGUE: Final = (
    "make|set|support|design|draft|complete|commit|push|publish|release|test|cover|wire|hook|cache|put|store|sort"
    "|filter|limit"
    "|cap|style|export|import|schedule|bundle|package|plan|book|order|send|contact|ask|measure|profile|archive"
    "|seed|load"
    "|port|index|log|track|turn|swap|pin|trim|shrink|expand"
)
_OBJECT: Final = (
    r" (?:(?:the|a|an|all|this|that|these|those|it|them|my|our|your|its|some|more|both|each|every|any|another"
    r"|everything"
    r"|up|in|on|out|off|down|for|only|just|users?|new|old|me|us)\b|(?-i:[A-Z`'\"/@.\d]))"
)
WORK_VERBS: Final = rf"(?:{_CLEAR}) |(?:{_VAGUE}){_OBJECT}"
"""Beginnings of orders: verbs that hardly mean anything else ("add
"), and ambiguous verbs together with an object ("set the")."""

DONE_VERBS: Final = (
    "added|implemented|created|built|wrote|written|made|set up|fixed|repaired|updated|changed|removed|deleted"
    "|refactored"
    "|renamed|moved|migrated|converted|configured|deployed|installed|integrated|extended|improved|optimi[sz]ed"
    "|cleaned up"
    "|documented|extracted|split|merged|upgraded|bumped|ported|rewrote|rewritten|replaced|introduced|enabled|disabled"
    "|handled|validated|generated|designed|drafted|prepared|finished|completed|committed|pushed|published"
    "|released|tested"
    "|covered|wired up|hooked up|connected|exposed|cached|translated|applied|stored|switched|simplified|reduced"
    "|increased"
    "|limited|capped|included|resolved|solved|debugged|redesigned|revised|adjusted|adapted|polished|registered"
    "|scheduled"
    "|defined|tweaked|restructured|reorgani[sz]ed|verified|restored|reverted|dropped|bundled|scaffolded|initiali[sz]ed"
    "|corrected|ensured|patched|booked|ordered"
)
"""Verb forms with which reports of finished work begin ("added")."""


BY_HAND: Final = (
    r"(?:manual(?:ly)?:|manual(?:ly)? (?:check|test|verif|run|smoke|open|confirm|inspect|walk)\w*"
    r"|visual(?:ly)? (?:check|verif|inspect|confirm|test)\w*|by hand: |smoke[- ]test) ?.{6,}"
)
"""Items of a plan that somebody has to check by hand ("manually test ..."). No passing test completes such an item."""

WHEN_DONE: Final = (
    r" (?:(?:an?|\d+|two|three|some|a few) (?:minutes?|hours?|days?|weeks?) ago|yesterday|today|tonight|this (?:morning"
    r"|afternoon|evening|week)|last (?:night|week)|earlier|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
"""Words for the time at which something was finished ("an hour ago")."""
