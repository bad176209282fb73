"""Words of sentences that say of one thing that it is done and of another that it is not.

A pattern contains the words of all languages, because no language uses the words of another with another meaning.
Patterns are RE2, case ignored.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

from .rule import Act, Rule, Speaker
from .states import FAILING
from .verbs import DONE_VERBS, WHEN_DONE

BORDER: Final = (
    r"(?:[,;:]|\s(?:--?|–|—))\s+(?:(?:and|but|while|whereas|though|although|yet|only|just|und|aber|doch|nur|et|mais|y"
    r"|pero|e|ma|mas|però|а|но|и|зато)\s+)?|\s+(?:but|while|whereas|though|aber|doch|mais|pero|però|mas|но)\s+"
    r"|[，；](?:但是?|不过|只是|而)?|(?:但是|不过|只是)"
)
"""Matches what separates two clauses, such as a comma, a dash or "but"."""

EXCEPT: Final = (
    r",?\s+(?:except(?: for| that)?|apart from|other than|save for|barring|bis auf|außer|ausser"
    r"|à part|sauf|hormis|excepto|salvo|menos|tranne|a parte|eccetto|exceto|кроме|за исключением)\s+"
)
"""Matches what stands before an exception ("except the login")."""

_TAIL: Final = (
    r"(?: (?:now|again|here|too|es|durch|already|finally|at last|locally|fine|well|perfectly|lokal|localement"
    r"|localmente|jetzt|wieder|schon|endlich|hier"
    r"|maintenant|déjà|enfin|ya|ahora|por fin|già|adesso|ora|já|agora|уже|теперь|наконец))*"
    r"(?: (?:on|in|at|under|for|with|by|auf|im|bei|für|mit|sur|dans|chez|pour|en|para|con|su|per|em|na|no|на|в|у|с)"
    r" .+)?"
)
DONE_WORDS: Final = 4
"""How many groups of ``DONE`` (``word1`` to ``word4``) may contain the word that says that something is done."""
DONE_WORD: Final = (
    r"done|finished|complete|fixed|merged|deployed|shipped|live|written|solved|sorted(?: out)?|gone|in place|ready"
    r"|ordered|booked|paid|sent|signed|printed|painted|delivered|imported|exported|uploaded|packed|typed|graded|marked|planted"
    rf"|{DONE_VERBS}"
    r"|fertig|erledigt|repariert|behoben|gebaut|bestellt|gebucht|gedruckt|verschickt|geschrieben|übersetzt|umgezogen"
    r"|terminée?s?|finie?s?|corrigée?s?|réparée?s?|faite?s?|prête?s?|envoyée?s?|commandée?s?|traduite?s?|livrée?s?"
    r"|terminad[oa]s?|hech[oa]s?|list[oa]s?|arreglad[oa]s?|corregid[oa]s?|enviad[oa]s?|pedid[oa]s?|traducid[oa]s?"
    r"|finit[oaie]|fatt[oaie]|pront[oaie]|sistemat[oaie]|corrett[oaie]|inviat[oaie]|ordinat[oaie]|tradott[oaie]"
    r"|terminad[oa]s?|pront[oa]s?|feit[oa]s?|corrigid[oa]s?|enviad[oa]s?|traduzid[oa]s?"
    r"|готов[аоы]?|сделан[аоы]?|исправлен[аоы]?|починил[аи]?|сделал[аи]?|исправил[аи]?|закончил[аи]?|отправлен[аоы]?"
)
"""Participles and other words for finished work."""

_DONE_HAN: Final = "做完|完成|搞定|修好|修复|弄好|写完|上线"

DONE: Final = (
    rf"(?:(?:i|we)(?:'ve| have)? (?:just |now |finally |already )*)?(?P<word1>{DONE_VERBS}|done with|finished(?: with)?"
    rf"|solved|sorted out) \S.*"
    rf"|(?:.*[ \pL])?(?: is| are|'s| was| were| been| got| gets|ist|sind|est|sont|está|están|è|sono|são) (?:all |now "
    rf"|finally |already |just )*(?P<word2>{DONE_WORD})"
    rf"(?:{WHEN_DONE})?{_TAIL}"
    rf"|\S+(?: \S+){{0,5}} (?P<word3>{DONE_WORD}){_TAIL}"
    rf"|.*(?P<word4>{_DONE_HAN})了?.*"
)
"""A clause that says that something is done. One of the groups ``word1`` to ``word4`` contains the word that says
so."""

_WELL_WORD: Final = (
    r"works?|working|pass(?:es|ed|ing)?|green|fine|up|runs?|running|ok(?:ay)?|loads?|opens?"
    r"|goes (?:out|through)|went through|compiles?|builds?|geht|gehen|läuft|laufen|besteht|bestehen|funktioniert"
    r"|funktionieren|klappt|klappen|grün"
    r"|marche(?:nt)?|fonctionne(?:nt)?|passe(?:nt)?|réussi(?:t|ssent)|verte?s?|funcionan?|pasan?|verdes?|funzionano?|passano?|passam?|verd[ei]"
    r"|работает|работают|проходит|проходят|зел[её]н\pL+"
)
_WELL_HAN: Final = "能用|可以用|正常|通过|没问题|好了|过了"

WELL: Final = rf"(?:.+ )?(?P<word>{_WELL_WORD}){_TAIL}|.*(?P<works>{_WELL_HAN}).*"
"""A clause that says that something works. The group ``word`` or ``works`` contains the word that says so."""

SUCCESS: Final = rf".*(?:^|[^a-z])(?:{DONE_WORD}|{_WELL_WORD})(?:[^a-z]|$)|.*(?:{_DONE_HAN}|{_WELL_HAN})"
"""Sentences with a word of ``DONE`` or ``WELL``. Only such a sentence can have a clause that either of them matches."""

FAILS: Final = (
    rf".*\b(?:{FAILING})\b|.*\b(?:red|(?:is|are|goes|went) down|loops|empty|blank|unreachable|rot|kaputt|leer|hängt"
    rf"|bricht|scheitert|rouges?"
    r"|schl(?:ägt|agen) (?:\pL+ ){0,3}fehl|(?:stürzt|stürzen) (?:\pL+ ){0,3}ab|klemmt|klemmen|streikt|plante(?:nt)?"
    r"|bugue(?:nt)?|se (?:cuelgan?|caen?|bloquean?)|si blocca(?:no)?|crasha(?:no)?|trava(?:m)?"
    r"|cassée?s?|vides?|roj[oa]s?|rot[oa]s?|vací[oa]s?|falla(?:n|ndo)?|ross[oaie]|rott[oaie]|vuot[oaie]|falham?"
    r"|vermelh[oa]s?|quebrad[oa]s?)\b|.*(?:^|[^\pL])échou(?:e|ent|é)(?:[^\pL].*)?$|.*(?:красн\pL+|пада\pL+|пуст\pL*"
    r"|слома\pL+|не работа\pL+)"
    r"|.*(?:报错|失败|挂了|崩|打不开"
    r"|不行|红)"
)
"""A clause that says that something fails."""

NO_FAULT: Final = (
    r".*\b(?:no|0|zero|without|not a|none|kein\pL*|ohne|aucune?|sans|ningun[oa]?|ningún|sin|nessun\pL*|senza|nenhum\pL*"
    r"|sem)\b|.*(?:^| )(?:без|нет|ни) |.*(?:没有|无)"
)
"""A clause that denies a fault: "no failures"."""

OPEN: Final = (
    r".*\b(?:still (?:needs?|open|missing|to|has to|have to|waiting|wants?)|(?:is|are|'s|'re) (?:still )?(?:missing"
    r"|pending|open|waiting|left|outstanding|on hold|blocked)|untouched|(?:haven't|hasn't|have not"
    r"|has not) (?:\w+ )?(?:been"
    r" )?(?:touched|started|begun|done|written|tested|looked)|waiting (?:for|on)|needs? (?:a|an|another|to be)"
    r"|not started|fehlt|fehlen|offen|steht (?:noch )?aus|noch zu|wartet|il reste|reste(?:nt)? à|manquent?|falta|faltan"
    r"|queda|quedan|pendientes?|manca|mancano|resta|restano|da fare|faltam|por fazer|pendentes?)\b.*"
    r"|.*(?:осталось|осталась|остался|остались|не хватает|ждёт|ждет|ждём).*|.*(?:还差|还剩|剩下|还没|还要|还得|待).*"
)
"""A clause that says explicitly that something is left to do."""

NEXT: Final = (
    r"(?:next(?: up)?(?: is| are|:)?|now(?: for)?|on to|then|up next|moving on to|als nächstes|jetzt|dann|ensuite"
    r"|maintenant|après|ahora|luego|después|siguiente|ora|poi|adesso|agora|depois|теперь|дальше"
    r"|потом|接下来|下一步) ?\S.*"
    r"|.+ (?:(?:is |are |comes? |up )?next|to go|to come|tomorrow|(?:is|are) left|remains?|als nächstes|après|ensuite"
    r"|después|mañana|dopo|domani|depois|amanhã|дальше|потом|завтра)$"
)
"""A clause that says what comes next, if nothing else applies to it."""

PARTLY: Final = (
    r"(?:only |about |roughly |just |over )*(?:half|a (?:third|quarter)|two thirds|three quarters|\d{1,2} ?(?:%"
    r"|percent)"
    r") (?:of )?(?:the|my|our|all|it|them)\b.*"
    r"|.*\b(?:half[- ]?|(?:halfway|partly|partially|nearly|almost) )(?:done|finished|through|ready|complete|built"
    r"|written"
    r"|there|works?|working|green|migrated|translated|merged|deployed)\b.*|.*(?:\b(?:is|are|am|got|gone|about|only)"
    r"|'m|'s|'re) halfway\b.*"
    r"|(?:(?:erst|nur|etwa|ungefähr|gut) )*(?:die hälfte|zur hälfte|ein drittel|teilweise|halb fertig)\b.*"
    r"|.*\b(?:fast|halb) fertig\b.*|(?:seulement )?(?:la moitié|un tiers|une partie)\b.*|.*\b(?:à moitié"
    r"|presque fini\w*)\b.*"
    r"|(?:solo |apenas )?(?:la mitad|metà|metade|un tercio|un terzo|um terço)\b.*|.*\b(?:a medias|a metà"
    r"|pela metade)\b.*"
    r"|(?:только )?(?:половин\pL+|треть|часть) .*|.*(?:наполовину|почти готов\pL*).*|.*(?:一半|差不多好|快好了).*"
)
"""Sentences that say that something is done or works only in part: "half of the pages are translated"."""


_THING: Final = r"[^,;]{2,80}?"
LEFT_OUT: Final = (
    rf"(?:(?:but |und |et |y |e )?(?P<no>not|nicht|pas|non|não|не)(?: yet| noch| encore| todavía| ancora| ainda)?"
    rf" (?P<behind>{_THING})|(?:pero )?no (?P<aside>(?:el|la|los|las|en|con|mi|por) {_THING}))"
    rf"|(?P<before>{_THING}) (?:isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|won't|is not|are not"
    r"|does not|do not|did not|has not|have not|not|noch nicht|nicht|pas encore|toujours pas|pas|non|todavía no|aún no"
    r"|no|non ancora|ancora no|ainda não|não|ещё нет|еще нет|пока нет|нет|ещё не|еще не|не)(?: yet| so far| at all)?"
    r"|(?P<apart>.{1,30}?)(?:还没有?|没有?|还不行)"
)
"""A clause that leaves out what it denies: "the login isn't", "but not the login", "der Download nicht"."""

WHERE: Final = (
    r"(?:in|on|at|under|for|with|auf|im|bei|mit|unter|für|en|sur|dans|sous|chez|pour|con|bajo|su|per|em|no|na|в|на|у)\b"
)
"""Beginnings of what such a clause names, if it is only the case in which something does not hold: "not in Safari"."""

NO_THING: Final = r"(?:that|because|to|as|just|only|even|so|dass|weil|que|parce|porque|perché|что)\b"
"""Beginnings of what such a clause names, if nothing is left out: "not that it matters"."""

DENIALS: Final = split_words("nicht pas no non não не нет")
"""Denials at the end of such a clause, which its label keeps."""

LEFT_OUT_GROUPS: Final = ("behind", "aside", "before", "apart")
"""The groups of ``LEFT_OUT`` one of which contains what the clause names."""

MENDED: Final = (
    r"(?:fixed|repaired|solved|resolved|gone|corrected|patched|debugged|behoben|repariert|corrigée?s?|réparée?s?"
    r"|arreglad[oa]s?|corregid[oa]s?|sistemat[oaie]|corrett[oaie]|corrigid[oa]s?|исправ\pL+|почин\pL+|修好|修复)$"
)
"""Words of work that only an error needs ("fixed"): if they are denied, something is still wrong."""

NOT_YET: Final = r".*\b(?:yet|noch nicht|pas encore|todavía|aún|ancora|ainda)\b|.*(?:ещё|еще|пока|还没)"
"""Words which say that something comes later."""

GENERAL: Final = (
    r"(?:it|this|that|all|everything|everyone|most|both|tests?|the tests|the suite|\d+|nine|[\w-]+ of (?:the )?[\w-]+"
    r"|works?|runs?|passes|green|(?:lokal|hier|bei (?:mir|uns)) (?:läuft|geht|klappt|funktioniert) (?:es|alles|das)"
    r"|funcionan?|funzionano?|marche|fonctionne|работает|работают|es|alles|alle|das|tout|tous|ça|todos?|todo|todas|tutti|tutto|tudo|всё|все|全部|都)\b"
)
"""Beginnings of clauses whose subject names nothing ("everything", "the tests"), so that only the whole sentence says
what is wrong."""

PARTIAL: Final = (
    r"\b(?:halfway|half[- ]?(?:done|finished|ready|complete|built|written)|(?:partly|partially|nearly|almost) \w+"
    r"|halb fertig|fast fertig|à moitié"
    r"|presque|a medias|a metà|pela metade)\b|наполовину|почти|一半|差不多|快好"
)
"""Those words of ``PARTLY`` that say by themselves that something is done in part."""

RELATIVE: Final = r"(?:which|who|whose|where|welche[rs]?|qui|dont|que|cui|котор\pL+)\b"
"""Beginnings of relative clauses, which stay with the words before the comma."""

REST: Final = (
    r"(?:the |all the )?(?:rest|others?|remaining|second|third|one|ones|\d+ of \d+|andere[nr]?|rest|autres?|otr[oa]s?"
    r"|altr[oaie]|outr[oa]s?|остальн\pL+)\b|.*\btest_\w+$|.*(?-i:\bTest[A-Z]\w+)$"
)
"""Words for a part that only the whole sentence names ("the rest")."""

SAYS_NOTHING: Final = (
    r".*\b(?:used to|instead|anymore|never|thought|said|supposed|claimed|had|must|should|let's|please|would|could"
    r"|might|if|when|once|until|unless|wenn"
    r"|falls|sobald|si|quand|cuando|quando|se|если|когда)\b|.*[?？]$|.*(?:如果|要是|之前|以为|本来|原来)"
)
"""Sentences that suppose, order or demand something, and so say nothing about what is done."""

EXPLAINS: Final = (
    r"(?:next|then|now|on to|moving on|als nächstes|dann|jetzt|ensuite|maintenant|ahora|luego|poi|ora|agora)\b"
    r"|.*\b(?:was|were|had|previously|before|earlier|because|without|otherwise|whenever|so that|which|fails? fast"
    r"|war|waren|weil|ohne|damit|sonst|était|étaient|parce|sans|era|estaba|porque|sin)\b"
)
"""Clauses in which an assistant announces its next step, explains something, or says what was wrong before."""


def _row(name: str, act: Act, confidence: float, example: str, *, explicit: bool = False) -> Rule:
    label = "(?P<label>.+)"
    return Rule(f"mixed.{name}", Speaker.BOTH, act, label, confidence, example, "", explicit=explicit)


MIXED_RULES: Final = {
    Act.CLAIM: _row("done", Act.CLAIM, 0.75, "the importer is done, the exporter isn't"),
    Act.COMPLAINT: _row("fails", Act.COMPLAINT, 0.85, "the upload works, the download doesn't", explicit=True),
    Act.LATER: _row("open", Act.LATER, 0.8, "done with the importer, exporter next"),
}
"""The rules of the hits in such sentences, by act."""
