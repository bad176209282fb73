"""Patterns for words with which assistants acknowledge what a user stated, and for sentences that say that something
fails, is postponed or could not be done.

Patterns are RE2, matched at the start, case ignored. ``TAKES_UP`` and ``WORKS_ON`` are one pattern each, the others
tuples of alternatives.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

TAKES_UP: Final = (
    r"(?:noted|right|updated|corrected|changed"
    r"|gut|passt|okay|einverstanden|verstanden|alles klar|geändert|notiert|prima|super|genau|klar"
    r"|de acuerdo|vale|entendido|perfecto|apuntado|anotado|claro|hecho|bien"
    r"|d'accord|très bien|parfait|compris|entendu|noté|c'est noté|bien reçu"
    r"|va bene|perfetto|certo|capito|d'accordo|combinado|perfeito|certo|entendi|feito"
    r"|хорошо|понял|поняла|договорились|好的?|明白|了解|收到|はい|承知しました|네|알겠습니다)"
)
"""Words that acknowledge a statement before it is repeated ("noted", "alles klar")."""

WORKS_ON: Final = (
    r"(?:starting|beginning|adding|fixing|checking|running|committing|pushing|looking|moving|creating|writing|updating"
    r"|reading|testing|removing|working|switching|changing|preparing|reviewing|building|deploying|installing)\b",
    r"(?:tagged|committed|pushed|merged|deployed|released|renamed|installed|uploaded|started|stopped|tested) ",
    r"(?:hm+|oh|ah|i see|interesting|strange|odd|weird|sorry|ach|ay|tiens)\b",
)
"""Beginnings of an assistant's sentences about its own work, or about a surprise; such sentences repeat nothing."""

DENIES: Final = (
    r".*\b(?:isn't|is not|aren't|are not|wasn't|weren't|doesn't|does not|didn't|won't|can't|cannot|couldn't|hasn't"
    r"|haven't|no longer)\b",
    r".*\b(?:nicht mehr|(?:ist|sind|geht|läuft|tut|kommt|lädt|lässt|funktioniert|reagiert|klappt|startet)\b.*"
    r"\bnicht)\b",
    r".*\b(?:no (?:funciona|carga|aparece|abre|se puede|hay|sale|va|está|responde)|ya no"
    r"|não (?:funciona|abre|carrega|aparece|está)|non (?:funziona|va|parte|si apre|carica|è)"
    r"|ne (?:\pL+) (?:pas|plus)|n'\pL+ (?:pas|plus))\b",
    r".*(?:не (?:работает|открывается|загружается|видно|запускается)|больше не|不(?:能|行|工作|显示|动)|打不开"
    r"|(?:でき|動か|開か|表示され)(?:ない|ません)|안 (?:돼|되|열|나)|지 않)",
)
"""Sentences that say that a thing does not do something or is not something."""

FAULTS: Final = (
    r"(?:(?:only|but|just|the|my|our|that|this|its?) )*(?:[\w'.-]+ ){1,6}?"
    r"(?:isn't|is not|aren't|are not|wasn't|weren't) (?:\w+ly )?(?:\w+ing|clickable|reachable|accessible|visible"
    r"|responsive|sorted|there|available|found|recogni[sz]ed|shown|saved|sent|loaded)\b",
    r"(?:(?:only|but|just|the|my|our|that|this|its?) )*(?:[\w'.-]+ ){1,6}?(?:doesn't|does not|don't|didn't|won't|can't"
    r") (?:work|load|start|open|appear|show|respond|do anything|run|build|compile|connect|render|fit|match|help)\b",
    r"(?:(?:only|but|just|the|my|our) )*(?:[\w'.-]+ ){1,6}?still (?:points?|says?|shows?|fails?|crash(?:es)?|breaks?"
    r"|returns?|prints?|throws?|gives?|hangs?|looks?|appears?|complains?|mentions?|contains?|refers?|lists?)\b",
)
"""Statements that something does not work as it should, or has not changed although it should have."""

LEAVES_OPEN: Final = (
    r".*\b(?:leave|ignore|skip|park|postpone)s? (?:it|that|this|them|those|these|the \w+)\b|.*\bfor now\b"
    r"|.*\b(?:tomorrow|later|another day|next (?:week|time|sprint)|before the release)\b",
    r".*\b(?:lass (?:das|es)|morgen|später|erst ?mal|laisse|demain|plus tard|déjalo|mañana|luego|más tarde|deixa"
    r"|amanhã|depois|lascia|domani|dopo|потом|завтра|позже|оставь)\b|.*(?:先不|以后再|明天|后面再|あとで|明日|나중에|내일)",
)
"""Sentences that say that something will not be done at once."""

COULD_NOT: Final = (
    r"(?:.*\b)?(?:i|we) (?:could not|couldn't|cannot|can't|(?:am|was|were) (?:unable|not able) to|wasn't able to)\b",
    r".*\b(?:could not|couldn't|cannot|can't) be \w+(?:ed|en|t|n|d)\b",
    r"(?:.*\b)?(?:i|we)(?:'ll| will)? need .{2,60} before (?:i|we) can\b",
    r".*\b(?:konnte|kann) .*\bnicht\b",
    r".*\b(?:no (?:pude|he podido|puedo)|je n'ai pas pu|je ne peux pas|não (?:consegui|pude|posso)"
    r"|non (?:ho potuto|sono riuscit[oa]|posso))\b",
    r".*(?:не (?:смог|могу|удалось)|无法|没能|でき(?:ません|なかった)|못했|할 수 없)",
)
"""Sentences in which an assistant says that it could not do what it was asked."""

FAULT_WORDS: Final = split_words(
    "still again bug bugs error errors crash crashes issue problem problems fails failing broken noch wieder fehler"
    " toujours encore erreur todavía sigue fallo ainda erro problema ancora errore ошибка снова"
)
"""Words of users that may be about any open error."""
