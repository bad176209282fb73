"""Patterns for wishes, with which the goal of a session is found in its first message."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily

_SUBJECT: Final = (
    r"(?:(?P<self>i|we)|(?:our|my) [\w'-]+(?: [\w'-]+){0,3}?)"
    r"(?:'d|'m|'re|'ve| am| are| would| will| just| only| really| also| currently)*"
)
WANTS: Final = compile_lazily(
    rf"(?:{_SUBJECT} )?(?:(?:want|wants|need|needs|like|love|trying|hoping|hope|hopes|planning|plan|plans"
    r"|looking|supposed|going|aim|aims|aiming|wish|wishes|thinking (?:of|about))"
    r"(?: (?P<you>you))?(?: (?P<to>to)| for|(?P<rest> (?:a|an|the|some|one|my|our|[\w-]+ \w+ (?:by|per|for|of))))\b"
    r"|(?P<must>have to|has to|must|should|got to|have got to|gotta|need to)\b),? ?(?P<label>.{8,})"
)
"""Wishes of the speaker or of the speaker's own people ("our team needs ..."), matched at the start of a sentence."""

WANTS_BEHIND: Final = compile_lazily(
    r".{8,200}?(?:,|;| -| –| —)(?: so| and| but| now| then| therefore)* (?P<label>(?:i|we|our \w+|my \w+)(?:'d| would"
    r"| just| only| really| now| currently)* (?:want|wants|need|needs|like|have|has|must)(?: you)? (?:to|it|that|a|an"
    r"|the|some)\b.{8,})"
)
"""Wishes after the circumstances that they follow from ("we have 40 shops, so we need ..."). The group ``label``
contains the wish."""

MODAL_ABROAD: Final = compile_lazily(
    r"(?:ich|wir) (?:soll|sollen|sollte|muss|müssen|will|wollen|möchten?) "
    r"|(?:je|on|nous) (?:dois|doit|devons|veux|veut|voulons|voudrais|voudrions|souhaite|aimerais) "
    r"|(?:devo|dobbiamo|vorrei|vorremmo|vogliamo|voglio) |(?:tengo que|tenemos que|hay que|necesito|necesitamos) "
    r"|(?:preciso|precisamos|tenho (?:de|que)|temos (?:de|que)) "
)

WANTS_ABROAD: Final = PatternSet(
    r"(?:ich|wir)(?: \pL+){0,2}? (?:will|wollen|möchten?|muss|müssen|soll|sollen|sollte|brauchen?|würden? gern)\b.{8,}",
    r"(?:je|on|nous)(?: \pL+)? (?:dois|doit|devons|veux|veut|voulons|voudrais|voudrions|souhaite|souhaitons|cherche"
    r"|cherchons|aimerais|aimerions)\b.{8,}|j'aimerais\b.{8,}|j'ai besoin\b.{8,}|il (?:me |nous )?faut\b.{8,}",
    r"(?:devo|dobbiamo|vorrei|vorremmo|vogliamo|voglio|mi serve|ci serve|mi servirebbe|ho bisogno|abbiamo bisogno"
    r"|bisogna)\b.{8,}",
    r"(?:quiero|queremos|necesito|necesitamos|tengo que|tenemos que|hay que|me gustaría|nos gustaría|quisiera)\b.{8,}",
    r"(?:eu |nós )?(?:quero|queremos|preciso|precisamos|tenho (?:de|que)|temos (?:de|que)|gostaria|queria)\b.{8,}",
    r"(?:мне |нам |я |мы )?(?:надо|нужно|нужен|нужна|хочу|хотим|хотелось бы|требуется)[ ,].{8,}",
    r"(?:ik|we|wij)(?: \pL+)? (?:wil|willen|moet|moeten|zou|zouden)\b.{8,}",
    r"(?:potřebuj|chci|chceme|chtěl|musím|musíme|pojďme|pojdme)\pL*.{8,}",
    r"(?:chcę|chcemy|muszę|musimy|potrzebuj|chciał)\pL*.{8,}",
    r"(?:请|麻烦)?(?:帮我|帮忙|给我|我想|我要|我需要|我们想|我们要|我们需要|希望).{4,}",
    r".{8,}(?:istiyor|lazım|gerekiyor|gerek)\pL*$",
)
