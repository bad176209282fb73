"""Verbs of work, as alternatives for a pattern."""

from __future__ import annotations

from typing import Final

WORK_VERBS: Final = (
    "add|implement|create|build|write|make|set ?up|set|fix|repair|update|change|remove|delete|refactor|rename"
    "|move|migrate|convert"
    "|configure|deploy|install|integrate|extend|improve|optimi[sz]e|clean ?up|document|extract|split|merge"
    "|upgrade|bump|port"
    "|rewrite|replace|introduce|enable|disable|support|handle|validate|generate|design|draft|prepare|finish"
    "|complete|commit"
    "|push|publish|release|test|cover|wire|hook|connect|expose|cache|translate|put|store|sort|filter|hide|simplify"
    "|reduce|increase|limit|cap|include|exclude|insert|append|reorder|style|align|cent(?:er|re)|localize"
    "|internationali[sz]e"
    "|restructure|reorgani[sz]e|separate|combine|export|import|register|schedule|resolve|debug|investigate"
    "|redesign|revise"
    "|adjust|adapt|tweak|polish|encrypt|sanitize|parametri[sz]e|dockeri[sz]e|containeri[sz]e|bundle|package"
    "|initiali[sz]e|scaffold"
    "|define|plan|organi[sz]e|book|order|send|contact|ask|measure|benchmark|profile|archive|backfill|seed|load"
)
"""What a request may begin with."""

DONE_VERBS: Final = (
    "added|implemented|created|built|wrote|written|made|set up|fixed|repaired|updated|changed|removed|deleted"
    "|refactored|renamed"
    "|moved|migrated|converted|configured|deployed|installed|integrated|extended|improved|optimi[sz]ed"
    "|cleaned up|documented"
    "|extracted|split|merged|upgraded|bumped|ported|rewrote|rewritten|replaced|introduced|enabled|disabled"
    "|handled|validated"
    "|generated|designed|drafted|prepared|finished|completed|committed|pushed|published|released|tested|covered"
    "|wired up|hooked up"
    "|connected|exposed|cached|translated|applied|stored|switched|simplified|reduced|increased|limited|capped"
    "|included|resolved"
    "|solved|debugged|redesigned|revised|adjusted|adapted|polished|registered|scheduled|defined|tweaked"
    "|restructured|reorgani[sz]ed"
    "|ran|verified|restored|reverted|dropped|bundled|scaffolded|initiali[sz]ed|corrected|ensured|patched|put"
    "|booked|ordered|sent"
)
"""What a claim of finished work may begin with."""
