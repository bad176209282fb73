"""Rules for whole sentences about how things are: what always holds, fails, is left to do, or is done. The whole
sentence becomes the label.

The rules in ``HALF`` come before all others. ``SENTENCES`` is used only if no other rule matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

from .rule import Act, Rule, Speaker
from .verbs import WHEN_DONE

ENGLISH_WORDS: Final = split_words(
    "the our my your their with and is are was were of to for this that we it they have has been at from by on i you"
    " help when what which who will would should don't doesn't can't it's i'm we're"
)
"""Frequent short words of English. A sentence with one of them is probably English."""

FAILING: Final = (
    r"fail(?:s|ed|ing)?|broken?|breaks|crash(?:es|ed|ing)?|hang(?:s|ing)?|throws?|threw|die[sd]|dying|refuses?|leaks?"
    r"|drips?|stuck|red on|times? out|timed out|goes wrong|points the wrong way|falls through|comes out wrong"
    r"|misfires?|fired falsely|stutters?|flickers?|keeps (?:crashing|failing|returning|losing|forgetting"
    r"|sending|showing)"
    r"|(?:doesn't|does not|don't|didn't|won't|can't|cannot) (?:work|add up|load|open|start|run|connect|close"
    r"|build|compile"
    r"|render|save|print|show|respond|be right|find|read|update|match|fit)|(?:isn't|is not|aren't|are not"
    r"|not) (?:working"
    r"|showing|loading|updating|responding|saving|visible|there)|(?:still|again|is|are) (?:wrong|off|broken|missing)"
    r"|black screen|nil pointer|exception|traceback|segfault|(?:has|have|got|there(?:'s| is|'re| are)) (?:an?|another"
    r"|some) (?:mistake|error|bug|typo|crash)s?"
    r"(?:$|[,.;:!]| (?:in|with|when|where|on|at|that|which|if|after|since|here)\b)"
    r"|(?:leads to|returns|gets?|got|throws|shows?|says) (?:an? |the )?(?:'[^']{3,}'|404|4\d\d|50\d|error|wrong"
    r"|blank|empty)"
    r"|no idea why"
)
_GOES_WELL: Final = (
    r"all|everything|everyone|nine|\d+|[\w-]+ of (?:the )?[\w-]+|tests?|it|the [\w ]{3,40}|works?|green|passes|pass"
    r"|succeed(?:s|ed)?|fine|up|finished"
)


def _row(code: str, act: Act, pattern: str, example: str, counter: str, *, unless: str = "") -> Rule:
    label = rf"(?P<label>(?:{pattern}).*)" if pattern.startswith("^") else rf"(?P<label>.*?(?:{pattern}).*)"
    name = f"{code}.state_{act.value}"
    return Rule(name, Speaker.USER, act, label, _CONFIDENCE[act], example, counter, unless, whole=True)


_CONFIDENCE: Final = {Act.RULE: 0.8, Act.COMPLAINT: 0.75, Act.LATER: 0.7, Act.CLAIM: 0.7}
_NOT_A_RULE: Final = (
    r".*\b(?:must|should|may|could|can) (?:not |never |always )?have \w+(?:ed|en|ne|t)\b|(?:i|that|this|it|he"
    r"|she|they)"
    r" (?:never|always) .*\b(?:was|were|had|did|said|thought|knew|worked|liked)\b|never ?mind|i(?:'ve| have)? never\b"
    r"|.*\b(?:may|must|does|do) not (?:know|need|want|matter)\b|i must (?:not )?(?:forget|admit|say|go|leave"
    r"|confess)|(?:it|that|this) must be (?:the|a|an)\b"
)

_HALF_UNLESS: Final = r".*\b(?:fixed|no longer|used to|was|were|instead|anymore|never|must|should|let's|we'll|please)\b"

HALF: Final[Mapping[str, tuple[Rule, ...]]] = {
    "en": (
        Rule(
            "en.half_except",
            Speaker.BOTH,
            Act.COMPLAINT,
            r"(?P<label>(?:.*?\b(?:all|everything|everyone|works?|pass(?:es|ed)?|green|succeed(?:s|ed)?)\b.*?"
            rf"\b(?:except|but not|save for|apart from|other than)\b.*"
            rf"(?:\b(?:{FAILING}|test_\w+|Test[A-Z]\w+)|\b(?:in|on|for|under)\b).*"
            r"|.*?\b(?:all|everything)\b.*?\bbut (?:for )?(?:test_\w+|Test[A-Z]\w+).*"
            r"|.*?\b\d+ (?:tests? )?(?:pass(?:es|ed)?|green|ok|succeed(?:s|ed)?)\b,? ?"
            r"(?:and |but )?[1-9]\d* (?:tests? )?(?:still |now )?fail(?:s|ed|ing)?\b.*))",
            0.85,
            "all tests pass except test_tax",
            "all tests pass on each runner",
            unless=_HALF_UNLESS,
            whole=True,
            explicit=True,
        ),
        Rule(
            "en.half_fails",
            Speaker.USER,
            Act.COMPLAINT,
            rf"(?P<label>.*?\b(?:{_GOES_WELL})\b.*(?:\b(?:except|but(?: not)?|save for|apart from|other than)\b|, )"
            rf".*\b(?:{FAILING}|test_\w+|(?:not|fails) (?:in|on)\b).*)",
            0.85,
            "the tests pass, the linter crashes",
            "all tests pass on each runner",
            unless=_HALF_UNLESS,
            whole=True,
        ),
        Rule(
            "en.half_open",
            Speaker.BOTH,
            Act.LATER,
            r"(?P<label>.+?(?:, | but | and | except ).*\b(?:(?:i |we |you )?(?:still (?:have|has|need|needs"
            r"|had) (?:to\b|\w+)"
            r"|still to (?:do|come)|has to be redone|(?:isn't|aren't|is not|are not|hasn't been"
            r"|haven't been) (?:\w+ )?(?:yet|"
            r"done|written|finished|ready))|back on the list|i have to chase).*)",
            0.8,
            "two lists are typed, the third one I still have to do",
            "the list is typed, and the letter as well",
            unless=r".*\b(?:fails?|crash\w*|error)\b|(?:if|when|once)\b",
            whole=True,
        ),
    ),
}
"""Rules for sentences of which one half says that things are well and the other half what is not. By code of the
language ("en")."""

_FAIL: Final = (
    r"(?:fail|crash|break|hang|leak|time out|freeze|flicker|stutter|drip|error out|throw|complain|loop|jam|disconnect)"
)
_FAILS_NOW: Final = r"(?:red|broken|failing|crashing|hanging|leaking|down|stuck|flaky|blank|empty)"
_ANY_MORE: Final = r"(?:any ?more|any longer)"
_SUPPOSED: Final = (
    r"(?:if|when|so that|until|once|make sure|ensure|check|verify|which|that|what|why|i want|we want|i need|we need)\b"
    r"|.*\b(?:if|until|should|must|would|could|might|may|will|so that|hopefully|make sure|yet)\b"
)

RECOVERED_ABROAD: Final = Rule(
    "report.recovered_abroad",
    Speaker.BOTH,
    Act.CONFIRM,
    r"(?P<label>(?:.*[ ,])?(?:(?:stürzt|stürzen|bricht|brechen|hängt|schlägt|schlagen|klemmt|spinnt|hakt|scheitert"
    r"|scheitern) (?:\pL+ ){0,3}nicht mehr\b.*|kein\pL* (?:fehler|absturz|abstürze|ausfälle?) mehr\b.*"
    r"|(?:ne |n')?(?:se )?(?:plantent?|plante|buguent?|bugue|échouent?|échoue|crashent?|crashe|bloquent?|bloque"
    r"|ramenent"
    r"|rame|fuit) plus(?: jamais)?(?:$|[ ,.].*)|plus (?:d'erreurs?|de bugs?|de plantages?)\b.*"
    r"|ya no (?:fallan?|se (?:cuelga|bloquea|cae|rompe|apaga)n?|dan? error\pL*|hay errores)\b.*"
    r"|non (?:si )?(?:fallisc\pL+|crasha\w*|blocca\w*|rompe|dà|danno) (?:errori? )?più(?:$|[ ,.].*)"
    r"|(?:já não (?:falha|trava|quebra)m?|não (?:falha|trava|quebra)m? mais)\b.*"
    r"|больше не (?:пада|висн|зависа|лома|глюч|сып)\pL+.*)"
    r"|.*(?:不再|不会再)(?:报错|崩溃|失败|卡住|出错).*|.*不(?:报错|崩溃?|卡|出错)了.*)$",
    0.78,
    "der Export stürzt nicht mehr ab",
    "der Export stürzt noch ab",
    unless=r".*(?:\b(?:wenn|falls|damit|soll|muss|si|pour que|doit|cuando|para que|debe|se|perché|deve|quando|para)\b"
    r"|если|чтобы|должен|如果|应该|要)",
    whole=True,
)
"""Rule for sentences in languages other than English that say that something no longer fails."""

REPORTS: Final = (
    Rule(
        "report.no_longer_fails",
        Speaker.BOTH,
        Act.CONFIRM,
        rf"(?P<label>[^,;:]{{2,60}}?) (?:no longer {_FAIL}(?:e?s)?"
        rf"|(?:doesn't|does not|don't|do not) {_FAIL}(?: [\w-]+){{0,4}} {_ANY_MORE}|(?:is|are) no longer {_FAILS_NOW}"
        rf"|(?:isn't|is not|aren't|are not) {_FAILS_NOW} {_ANY_MORE})\b.*",
        0.8,
        "the nightly import no longer crashes",
        "make sure the nightly import no longer crashes",
        unless=_SUPPOSED,
        whole=True,
    ),
    Rule(
        "report.none_works",
        Speaker.BOTH,
        Act.COMPLAINT,
        r"(?:now |and |but )*(?P<label>(?:no|none of (?:the|our|my|these)|not (?:a"
        r"|one)(?: single)?(?: of the)?) (?:[\w-]+ )"
        r"{1,4}?(?:works?|loads?|opens?|starts?|passes|pass|responds?|prints?|compiles?|builds?)(?: any ?more| now"
        r"| at all)?)$",
        0.8,
        "none of the buttons works",
        "no page may load slowly",
        unless=_SUPPOSED,
        whole=True,
        explicit=True,
    ),
    Rule(
        "report.could_not",
        Speaker.BOTH,
        Act.COMPLAINT,
        r"(?:unfortunately,? |sadly,? |however,? |but |so far,? )*(?P<label>(?:i|we)(?:'ve|'m| have| am| was| were)?"
        r" (?:couldn't|could not|can't|cannot|haven't|have not|didn't|did not|never|wasn't able to|unable to"
        r"|not able to|failed"
        r" to)(?: yet)?(?: manage(?:d)? to| been able to)? (?:(?:get|got|make|bring) .{2,80}? (?:to )?(?:work|working"
        r"|run|running|pass|passing|compile|build|start|green)|(?:fix|fixed|solve|solved|repair"
        r"|repaired) .{3,80}?)\b.*)",
        0.8,
        "I couldn't get the printer driver to run",
        "If we couldn't get it to run, we would buy another one",
        unless=r".*\b(?:if|unless|would|might)\b",
        whole=True,
        explicit=True,
    ),
)
"""Rules for English sentences of either speaker that say that something fails, or no longer fails."""

SENTENCES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "en": (
        _row(
            "en",
            Act.RULE,
            r"\b(?:must|should|may|shall|ought to|can) (?:never|only ever|under no circumstances)\b|\b(?:must|shall)"
            r" (?:not|always|only)\b|\bmay (?:not|only)\b|\bshould always\b|\bmustn't\b|\b(?:nobody|no one"
            r"|none of \w+)"
            r" (?:may|must|should|shall|is (?:allowed )?to|gets to)\b|\b(?:is|are) (?:not|never"
            r"|strictly) (?:allowed|permitted"
            r"|to be)\b|(?:^|[\pL,;:.!] )(?:forbidden|prohibited)\b"
            r"|\b(?:off[- ]limits|no exceptions|non-negotiable|i mean it|without exception)\b"
            r"|^(?:we |i )?(?:never|always) \w+ \w|^(?:please )?(?:make sure|ensure) (?:that )?(?:all|every"
            r"|each|no|nobody"
            r"|nothing|only)\b|^(?:i|we) (?:really |absolutely )*(?:don't|do not|never) want any|^no \w+(?: \w+){0,2}"
            r" (?:anywhere|ever|before|on|after|between|during|in|without|until|unless)\b|^no \w+ and no \w+"
            r"|^every \w+"
            r"(?: \w+){0,3} (?:needs|must|has to|gets)\b|\bimportant\b.*(?:\bnever\b|\balways\b"
            r"|\bthat\b.*\bwithout\b)"
            r"|^(?:explain|show|ask|tell|go through|run|check|commit|write) .*\b(?:before you|at a time"
            r"|every time|each time)\b"
            r"|^(?:before|whenever|every time|each time) .+, (?:ask|run|check|tell|show|write|update|commit)\b",
            "Phone numbers must never appear on public pages",
            "This should never have happened",
            unless=_NOT_A_RULE,
        ),
        _row(
            "en",
            Act.COMPLAINT,
            rf"\b(?:{FAILING})\b",
            "the login page throws a 500 when the password is empty",
            "the login page is blue",
            unless=r"(?:people|folks|nobody|everybody|hardly anyone|most \w+) "
            r"(?:(?:don't|do not|never|hardly|rarely) )?(?:reads?|likes?|uses?|wants?|cares?|knows?|pays?"
            r"|answers?|watch(?:es)?|buys?|comes?)\b"
            r"|.*\b(?:fixed|no longer|must (?:\w+ )?(?:fail|break|crash|stop|abort)"
            r"|never|should|if|would|might|could|used to|let's|please|add|make|write|test that"
            r"|handle|handles|so that|instead|anymore|no (?:errors?|failures?|crash\w*))\b|(?:fix|use|check"
            r"|find|see|why|i'd)\b",
        ),
        _row(
            "en",
            Act.LATER,
            r"\b(?:still (?:have|has|need|needs) to|still (?:needs|to do|to come|open|missing|needs? (?:a|his"
            r"|her|its|their))"
            r"|can wait|put(?:ting)? (?:it|that|this)? ?off|(?:hasn't|haven't|isn't|aren't) (?:\w+ )?(?:yet"
            r"|arrived|written|"
            r"done)|not (?:\w+ ){0,3}yet|(?:we'll|i'll|we|i) (?:do|leave|plan|tackle"
            r"|handle) (?:\w+ ){0,3}(?:later|at the (?:very"
            r" )?end|in (?:may|june|july|august|autumn|spring|summer|winter)|for (?:the )?(?:autumn|spring"
            r"|summer|winter|later)"
            r"|next (?:week|month|year))|i'll do later|remind me to|i'll go through|haven't got"
            r"|(?:is|are|'s|'re) (?:still )?(?:waiting (?:for|on)|on hold|blocked (?:by|on|until))|(?:has|have) to wait"
            r"|(?:can't|cannot|can not) .* (?:until|before))\b|^(?:next up|up next)\b|^next (?:is|comes|on (?:the"
            r"|my) list)\b"
            r"|^(?:only|just) .* (?:left|missing|remains?|to go)$",
            "the restore test is still to do",
            "the restore test is green",
            unless=r"(?:if|when|once)\b|(?:i'm |we're )?not (?:\w+ )?(?:sure|certain|clear)\b"
            r"|.*\b(?:fails?|crash\w*|errors?|broken)\b",
        ),
        _row(
            "en",
            Act.CLAIM,
            r"\b(?:is|are|'s|was|were|got|has been|have been) (?:all |now |finally |already )*(?:done|finished"
            r"|completed|merged|deployed|shipped|live"
            r"|ordered|booked|bought|paid|sent|signed(?: off)?|printed|dismantled|out|in place|off the list)\b"
            rf"(?:{WHEN_DONE})?(?:$|[,.;:!]| and\b| now\b)"
            r"|\bthat job is finished\b|,? tick$",
            "the CSV upload is finished and merged",
            "the CSV upload is slow",
            unless=r".*\b(?:if|when|once|until|after|before|not|isn't|never|should|must|almost|nearly|but|except|still)\b",
        ),
    ),
    "de": (
        _row(
            "de",
            Act.RULE,
            r"\b(?:darf|dürfen|soll|sollen|wird|werden|muss|müssen) (?:\pL+ ){0,5}?(?:nie(?:mals)?|nirgends"
            r"|nicht|kein\pL*|immer"
            r"|nur|ausschließlich)\b|^(?:niemals|nie|immer|nirgends) |^kein\pL* \pL+(?: \pL+){0,5}$|\bniemand darf\b",
            "Kundennamen dürfen nirgends im Log stehen",
            "Wir gehen heute nicht schwimmen",
        ),
        _row(
            "de",
            Act.COMPLAINT,
            r"\b(?:fehler|kaputt|stürzt|abgestürzt|bricht .*ab|hängt|schlägt fehl|geht (?:immer noch )?nicht"
            r"|funktioniert"
            r" (?:immer noch )?nicht|läuft nicht|klemmt|fällt aus|leer bleibt|bis auf test\w*)\b",
            "der Drucker bricht dauernd ab",
            "der Drucker ist grau",
        ),
        _row(
            "de",
            Act.LATER,
            r"\b(?:nur noch .* (?:fehlt|fehlen|offen|übrig)|(?:wartet|warten|wartet noch) auf|(?:muss|müssen) warten"
            r"|noch nicht"
            r"|noch kein\pL*|verschieben|verschoben|später|müssen wir noch|muss (?:ich )?noch"
            r"|steht noch aus"
            r"|fehlt noch|doch nicht fertig|bleibt (?:noch )?zu)\b",
            "die Einladung habe ich noch nicht geschrieben",
            "die Einladung ist schön",
        ),
    ),
    "fr": (
        _row(
            "fr",
            Act.RULE,
            r"\b(?:jamais (?:de|d'|\pL+)|ne (?:doit|doivent|faut) (?:jamais|pas)|interdit|toujours)\b"
            r"|^(?:pas de|aucun\pL*) \pL+",
            "jamais de nom de client dans les journaux",
            "je ne suis jamais allé à Lyon hier",
            unless=r"(?:je|on"
            r"|nous|il|elle) (?:ne |n')?\pL+ (?:jamais|toujours) (?:\pL+é(?: |$))"
            r"|.*\btoujours (?:pas|en panne|vide|là)\b",
        ),
        _row(
            "fr",
            Act.COMPLAINT,
            r"\b(?:plante|erreur|en panne|cassé\pL*|ne (?:marche|fonctionne|s'affiche|répond"
            r"|démarre)\pL* (?:plus|pas|toujours pas)"
            r"|reste vide|bogue|(?:un|le|ce|des|les|du) bugs?|bugu?e(?:nt)?)\b",
            "la galerie plante au démarrage",
            "la galerie est jolie",
        ),
        _row(
            "fr",
            Act.CLAIM,
            r"\b(?:est|sont) (?:\pL+ )?(?:terminée?s?|finie?s?|prête?s?|en ligne|faite?s?|envoyée?s?|commandée?s?)\b",
            "la page est terminée et en ligne",
            "la page est longue",
            unless=r".*\b(?:pas|si|quand|mais|sauf)\b",
        ),
    ),
    "es": (
        _row(
            "es",
            Act.RULE,
            r"\b(?:nunca (?:se )?\pL+|jamás|nadie (?:debe|puede)|no se (?:debe|puede)|siempre (?:hay que|se)"
            r"|prohibid[oa])\b"
            r"|^(?:ningún|ninguna|nada de) \pL+",
            "nunca se publica el nombre de un cliente",
            "nunca fui a Lima",
        ),
        _row(
            "es",
            Act.COMPLAINT,
            r"\b(?:falla\pL*|error|se (?:apaga|cuelga|cae|bloquea)\pL*|no (?:funciona|carga|abre|lee"
            r"|arranca)\pL*|sigue sin"
            r"|rot[oa]s?|menos test\w*)\b",
            "la impresora se cuelga cada tarde",
            "la impresora es gris",
        ),
    ),
    "zh": (
        _row(
            "zh",
            Act.RULE,
            r"(?:不准|不得|禁止|必须|一律|任何人(?:都)?不|绝不|永远不|不许|不能出现|不要出现)",
            "日志里不准出现姓名",
            "日志很长",
        ),
        _row(
            "zh",
            Act.LATER,
            r"(?:还没|尚未|卡在|要等|等(?:他|她|对方|客户|财务).{0,8}(?:回|给|批)|没订成|下个版本再|以后再|先放一放"
            r"|还得|还要做|待办|改天|回头再)",
            "门票还没买",
            "门票很贵",
        ),
        _row(
            "zh",
            Act.CLAIM,
            r"(?:已经(?:做完|完成|上线|搞定|订好|买好)|做完了|完成了|上线了|搞定了|弄好了)",
            "报表页已经做完了",
            "报表页很长",
            unless=r".*(?:没|还|但|如果)",
        ),
    ),
    "ru": (
        _row(
            "ru",
            Act.RULE,
            r"(?:^| )(?:никогда|нельзя|запрещ\pL+|никак(?:ой|их|ого) \pL+|всегда|никто не|обязательно)(?: |,|$)",
            "имена клиентов в логи не пишем никогда",
            "логи длинные",
            unless=r"(?:я|он|она|мы|они) никогда не (?:был|видел|знал)\pL*",
        ),
        _row(
            "ru",
            Act.COMPLAINT,
            r"(?:падает|упал\pL*|ошибк\pL+|не (?:работает|закрывается|открывается|запускается|грузится"
            r"|собирается)|сломал\pL*"
            r"|заклинил\pL*|завис\pL*|кроме test\w*)",
            "сборка падает на сервере",
            "сборка длится минуту",
        ),
        _row(
            "ru",
            Act.LATER,
            r"(?:ещё не|еще не|(?:ждёт|ждет|ждут|ждём) |отложим|отложить|осталось|потом сделаем|пока не|надо ещё"
            r"|доделать)",
            "фундамент ещё не залит",
            "фундамент серый",
        ),
        _row(
            "ru",
            Act.CLAIM,
            r"(?:^| )(?:готов(?:а|о|ы)?|сделан\pL*|закончен\pL*|завершен\pL*|принят\pL*|отправлен\pL*)(?: |,|\.|$)",
            "отчёт готов и принят",
            "отчёт длинный",
            unless=r".*(?:^| )(?:не|ещё|еще|если|но)(?: |,)",
        ),
    ),
}
"""Rules for whole sentences about a state, by code of the language."""
