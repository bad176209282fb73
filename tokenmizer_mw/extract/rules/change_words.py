"""Patterns for words with which people change something, one row per language. Patterns are RE2, case ignored."""

from __future__ import annotations

from typing import Final

CHANGES: Final = (
    r"\b(?:instead(?: of)?|rather(?: than)?|from now on|from today|from here on|as of (?:this|next|today|now)"
    r"|after all"
    r"|no longer|no more|any ?more|then|(?:it|that)(?:'s| is)|it is$|make it|switch(?:ed|ing)?|mov(?:e|es|ed|ing)"
    r"|chang(?:e|ed|ing)|replac(?:e|ed|ing)|shift|bump|rename|drop(?:ped)?|scrap|forget|give up|gave up"
    r"|done with"
    r"|has to be|have to be|decided|settled on|agreed|talked me round|changed my mind"
    r"|so we|so i|so it|turns out|new (?:limit|date|price|budget)|go(?:es)? up to|lifted"
    r"|sorry|typo"
    r"|mistake|(?:is|are) history|archived|voted|booked|trimmed|granted|comes? first|first, then|i'll work with"
    r"|we(?:'re| are) (?:having|building|moving|doing|using|going)|get by with|can only afford"
    r"|i'd rather"
    r")\b",
    r"\b(?:statt|anstatt|anstelle|stattdessen|lieber|doch|jetzt|nun|ab (?:sofort|jetzt|heute)|nicht mehr"
    r"|kein\pL* mehr"
    r"|sondern|beschlossen|entschieden|geändert|wechseln|umsteigen|eben|tippfehler|falsch|mach|liegen"
    r"|erst später|sind jetzt"
    r"|nehmen wir|wir nehmen)\b",
    r"\b(?:plutôt|finalement|désormais|maintenant|au lieu|à la place|on passe|je passe|passé|on publie|ce sera"
    r"|va pour"
    r"|laisse\pL* tomber|ne \pL+ plus|abandonn\pL+|tranché|décidé|erreur|remplac\pL+|chang\pL+|on s'y|aura lieu)\b",
    r"\b(?:mejor|ahora|al final|a partir de|en vez|en lugar|ya no|cambi\pL+|pas(?:o|amos)|acordado|decidido"
    r"|subimos|sube"
    r"|baja|dejo en|lo dejo|pues|trabajaremos|usamos|me equivoqué|hemos)\b",
    r"\b(?:meglio|adesso|ora|alla fine|invece|al posto|non più|passiamo|cambiamo|melhor|agora|no fim|em vez"
    r"|mudamos|troca"
    r"|deciso|decidimos)\b",
    r"(?:改成|换成|改为|改用|改去|还是|不.{1,6}了|现在是|那就|只|就|降到|提到|定了|说错|不用了|别用|用回)",
    r"(?:теперь|вместо|всё-таки|все-таки|переходим|перешли|передумал\pL*|отменя\pL+|не берём|будем|значит|до \d"
    r"|урезали"
    r"|договорились|ошиб\pL+|лучше|больше не|решили|ограничь|ставим)",
    r"(?:やっぱり|変更|代わりに|今後|に変え|대신|바꾸|변경|이제|ab se|badal|की जगह|अब)",
)
"""Words of change, matched anywhere in a sentence. A sentence without one counts as a change only if it is a bare
value."""

EXPLICIT: Final = (
    r"\b(?:instead(?: of)?|rather than|from now on|from today|no longer|no more|after all|switched|moved"
    r"|replaced|shift|bump"
    r"|rename|drop|scrap|forget|give up|done with|changed my mind|typo)\b",
    r"\b(?:statt|anstatt|anstelle|doch|jetzt|nun|ab (?:sofort|jetzt|heute)|nicht mehr|kein\pL* mehr|sondern"
    r"|beschlossen"
    r"|tippfehler)\b",
    r"\b(?:plutôt|finalement|désormais|maintenant|on passe|je passe|passé|ce sera|va pour|laisse\pL* tomber"
    r"|petite erreur)\b",
    r"\b(?:mejor|ahora|al final|a partir de|en vez|ya no|cambi\pL+|paso|sube|baja|lo dejo|me equivoqué"
    r"|hemos acordado)\b",
    r"(?:改成|换成|改为|改用|改去|现在是|那就|只|降到|提到|说错|不.{1,6}了)",
    r"(?:теперь|вместо|всё-таки|переходим|передумал\pL*|отменя\pL+|не берём|значит|урезали|ошиб\pL+)",
)
"""Those words of ``CHANGES`` that say explicitly that something changes, matched anywhere."""

_ABOUT: Final = r"(?: (?:about|regarding|bei|wegen|sobre|riguardo|à propos|насчёт|насчет) [^,;:.]{1,40})?[ .!]*"
RECONSIDERS: Final = (
    r"(?:sorry,? |hm+,? |oh,? )?(?:i|we)(?:'ve| have)? (?:just )?"
    rf"(?:changed (?:my|our) minds?|thought (?:again|it over)){_ABOUT}",
    r"(?:ich |wir )?hab(?:e|en)?(?: wir| ich)? (?:es )?(?:mir|uns) (?:es )?(?:noch ?mal )?anders überlegt"
    rf"{_ABOUT}",
    rf"(?:j'ai|nous avons|on a) changé d'avis{_ABOUT}",
    rf"(?:he|hemos) cambiado de (?:opinión|idea){_ABOUT}|(?:eu )?(?:mudei|mudamos) de (?:ideia|idéia){_ABOUT}",
    rf"(?:ho|abbiamo) cambiato idea{_ABOUT}",
    rf"(?:я |мы )?передумал[аи]?{_ABOUT}",
    r"我(?:们)?改(?:变)?主意了?|気が変わ(?:りました|った)|(?:생각|마음)이 바뀌었(?:어요|습니다|어)",
    r"मैंने (?:अपना )?(?:इरादा|मन) बदल (?:दिया|लिया)(?: है)?",
)
"""Whole sentences that only announce a change ("I changed my mind about Hugo"). Another sentence says what the new
choice is."""

_ANEW: Final = r"(?:again|now|from now on|from here on|after all|any ?time|whenever)"
PERMITS: Final = (
    r"(?:you|we|they|one|it|everyone|everybody|anyone)(?:'re| are| is)? (?:may|can|allowed to|free to|welcome to) "
    rf".*\b{_ANEW}\b|(?:it(?:'s| is) (?:ok|okay|fine|allowed)|feel free) to .*\b{_ANEW}\b",
    r"(?:du|ihr|man|wir|sie) (?:darfst|dürft|darf|dürfen|kannst|könnt|kann|können) .*\b(?:wieder|jetzt|nun|ab (?:jetzt"
    r"|sofort|heute))\b",
    r"(?:tu|vous|on) (?:peux|pouvez|peut) .*\b(?:nouveau|maintenant|désormais|finalement)\b",
    r"(?:ya |ahora )?(?:puedes|podéis|podemos|se puede|pode(?:s|mos)?|já podes?|puoi|potete|si può) .*\b(?:otra vez|de"
    r" nuevo|ahora|a partir de|de novo|agora|outra vez|di nuovo|ora|adesso|d'ora in poi)\b",
    r"(?:теперь |снова |опять )?(?:ты )?(?:можно|можешь|можете)\b.*(?:снова|теперь|опять)|(?:теперь|снова) .*(?:можно"
    r"|можешь|можете)\b",
    r"(?:你)?(?:现在|以后|又|从现在起)(?:又)?可以.{2,}|.*(?:また|もう|今後は).*(?:てもいい|して(?:も)?よい|大丈夫)"
    r"|.*(?:이제|다시).*(?:해도 (?:돼|됩니다|괜찮)|하셔도)",
    r".*(?:अब|फिर से|ab|phir se) .*(?:सकते|सकती|sakte|sakti)\b",
)
"""Beginnings of sentences that allow something again ("you may push to main again")."""
