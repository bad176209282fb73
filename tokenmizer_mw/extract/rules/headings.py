"""Headings and list lead-ins that say what the points under them are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.extract.pattern import PatternSet

from .rule import Act, Speaker


@dataclass(frozen=True, slots=True)
class Heading:
    """Points under a heading that ``pattern`` matches do ``act``, when ``speaker`` writes them."""

    speaker: Speaker
    act: Act
    pattern: str
    example: str
    counter: str


HEADINGS: Final = (
    Heading(
        Speaker.BOTH,
        Act.LATER,
        r"(?:to-?dos?|to do|remaining(?: (?:work|tasks|items|steps))?|pending(?: tasks| items)?|still (?:to do"
        r"|open|missing|pending)"
        r"|left(?: to do)|leftovers?|outstanding|open (?:items|tasks|points|work)|action items?"
        r"|not done(?: yet)?|what(?:'s| is) left"
        r"|unfinished)(?: .{0,30})?",
        "Remaining work",
        "Left column",
    ),
    Heading(
        Speaker.USER,
        Act.LATER,
        r"(?:next(?: up| steps?)?|tomorrow|later|for (?:tomorrow|next week|monday)|backlog|plan"
        r"|what's next)(?: .{0,20})?",
        "Next steps",
        "Planning poker",
    ),
    Heading(
        Speaker.ASSISTANT,
        Act.HANDOVER,
        r"(?:what you(?:'ll| will)? (?:still )?(?:need|have) to do|you(?:'ll| will)? (?:still )?(?:need|have) to"
        r"|your (?:next steps?|turn|to-?dos?)|manual steps?|next steps? for you|(?:required|remaining) actions?"
        r"|(?:your )?action required|before (?:you )?(?:deploy|merg|releas|go)\w*(?: live)?)(?: .{0,30})?",
        "What you need to do",
        "What you need to know",
    ),
    Heading(
        Speaker.USER,
        Act.CLAIM,
        r"(?:done|completed|finished|implemented|shipped|what (?:i|we) (?:did|have done|changed|built"
        r"|implemented|fixed)|what was done"
        r"|what's done|accomplished|completed (?:work|tasks|items))(?: .{0,20})?",
        "What I did",
        "Donations",
    ),
    Heading(
        Speaker.USER,
        Act.RULE,
        r"(?:rules|ground rules|constraints|conventions|requirements|house rules|please (?:always|never|note)"
        r"|guidelines)(?: .{0,30})?",
        "Ground rules",
        "Rulesets in ESLint",
    ),
    Heading(
        Speaker.BOTH,
        Act.CHOICE,
        r"(?:(?:key |our |final |design )?decisions?(?: made| so far)?|decided|what we (?:decided|agreed on)"
        r"|agreed|settled)$",
        "Decisions made",
        "Decision trees",
    ),
    Heading(
        Speaker.USER,
        Act.REQUEST,
        r"(?:i (?:want|need|would like)(?: you to)?|please(?: do)?|(?:my )?(?:tasks|requests|wishes|changes)"
        r"|can you|what i (?:need|want)|features)(?: .{0,20})?",
        "I want you to",
        "Featured products",
    ),
    Heading(
        Speaker.BOTH,
        Act.LATER,
        r"(?:(?:tareas |cosas )?pendientes?|por hacer|(?:noch )?offen(?:e (?:punkte|aufgaben))?|noch zu tun"
        r"|nächste schritte"
        r"|reste à faire|à faire|(?:tâches )?en attente|pendências|a fazer|da fare|in sospeso|осталось(?: сделать)?"
        r"|待办(?:事项)?|未完成|剩余(?:工作|任务)?"
        r"|残り(?:の作業|のタスク)?|未対応|未完了|남은 (?:일|작업)|할 일|बाकी(?: काम)?)",
        "Noch offen",
        "Offene Fenster im Haus",
    ),
    Heading(
        Speaker.USER,
        Act.CLAIM,
        r"(?:hechos?|completado|terminado|erledigt|fertig|gemacht|fait|terminé|feito|concluído|fatto|completato|сделано"
        r"|готово"
        r"|已完成|完成|完了|対応済み?|완료|한 일|हो गया|पूरा)",
        "Erledigt",
        "Faits divers",
    ),
    Heading(
        Speaker.USER,
        Act.RULE,
        r"(?:reglas|normas|regeln|règles|regras|regole|правила|规则|要求|ルール|규칙|नियम)",
        "Regeln",
        "Reglas de tres",
    ),
    Heading(
        Speaker.BOTH,
        Act.CHOICE,
        r"(?:decisiones|entscheidungen|décisions|decisões|decisioni|решения"
        r"|决定|决策|決定(?:事項)?|결정(?: ?사항)?|फ़ैसले|निर्णय)",
        "Décisions",
        "Decisiones difíciles de la vida",
    ),
)


_COMPILED: Final = tuple((heading, PatternSet(rf"(?:{heading.pattern})$")) for heading in HEADINGS)
_HEADING_MAX: Final = 60


def heading_act(heading: str, speaker: Speaker) -> Act | None:
    """What the points under ``heading`` do when ``speaker`` writes them; ``None`` when it does not tell."""
    if not heading or len(heading) > _HEADING_MAX:
        return None
    for row, pattern in _COMPILED:
        if row.speaker in (speaker, Speaker.BOTH) and pattern.any(heading):
            return row.act
    return None
