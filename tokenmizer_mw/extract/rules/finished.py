"""How people tell in other languages than English that work is done: by its result, or by a bare participle with what
came of it."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker


def _told(code: str, pattern: str, example: str, counter: str, unless: str = "") -> Rule:
    """A sentence that begins with what was done to the thing at hand: "done, tests pass on the tablet"."""
    return Rule(f"{code}.bare", Speaker.USER, Act.CLAIM, pattern, 0.72, example, counter, unless, whole=True)


def _result(
    code: str, pattern: str, example: str, counter: str, unless: str = "", *, by: Speaker = Speaker.BOTH
) -> Rule:
    """A thing, and that it is done."""
    return Rule(f"{code}.result", by, Act.CLAIM, pattern, 0.7, example, counter, unless)


_ES: Final = (
    r"(?:hech|cread|añadid|agregad|borrad|eliminad|actualizad|corregid|arreglad|instalad|configurad|montad"
    r"|probad|subid"
    r"|publicad|cambiad|movid|migrad|desplegad|enviad|guardad|puest|quitad|aplicad|generad|preparad|escrit"
    r"|restaurad"
    r"|terminad|cerrad|conectad|activad|ajustad|verificad|comprobad|traducid|revisad|entregad|recibid|firmad|impres"
    r"|reservad|comprad|pagad|list)[oa]s?"
)
_PT: Final = (
    r"(?:feit|criad|adicionad|apagad|removid|atualizad|corrigid|instalad|configurad|montad|testad|publicad"
    r"|trocad|movid"
    r"|migrad|enviad|guardad|aplicad|gerad|preparad|escrit|restaurad|terminad|fechad|ligad|ajustad"
    r"|verificad|confirmad"
    r"|traduzid|revist|revisad|entregue|recebid|assinad|impress|reservad|comprad|pag|pront)[oa]?s?"
)
_IT: Final = (
    r"(?:fatt|creat|aggiunt|cancellat|eliminat|aggiornat|corrett|sistemat|installat|configurat|mess|mont"
    r"|provat|caricat"
    r"|pubblicat|cambiat|spostat|migrat|inviat|mandat|salvat|tolt|applicat|generat|preparat|scritt"
    r"|ripristinat|finit"
    r"|chius|collegat|attivat|verificat|controllat|tradott|rivist|consegnat|ricevut|firmat|stampat|prenotat|comprat"
    r"|ordinat|inserit)[oaie]"
)
_FR: Final = (
    r"(?:fait|créé|ajouté|supprimé|mis à jour|corrigé|installé|configuré|monté|testé|publié|changé|déplacé"
    r"|migré|envoyé"
    r"|enregistré|enlevé|appliqué|généré|préparé|écrit|restauré|terminé|bouclé|fermé|branché|activé|vérifié"
    r"|traduit|relu"
    r"|livré|reçu|signé|imprimé|réservé|acheté|payé|remplacé|retiré|intégré|arrivé)(?:e|s|es)?"
)
_DE: Final = (
    r"(?:eingebaut|hinzugefügt|ergänzt|angelegt|erstellt|gebaut|geschrieben|geändert|angepasst|entfernt"
    r"|gelöscht|umbenannt"
    r"|verschoben|migriert|konfiguriert|eingerichtet|installiert|getestet|geprüft|vorbereitet|übersetzt"
    r"|gekürzt|gemacht"
    r"|umgestellt|umgebaut|eingefügt|hochgeladen|eingestellt|gesetzt|gestellt|gespeichert|berechnet"
    r"|aktualisiert|erledigt"
    r"|eingetragen|verschickt|bestellt|ersetzt|deployt|committet|gepusht|gestartet|ausgerollt|abgeschaltet"
    r"|gekauft|gedruckt"
    r"|unterschrieben|gesteckt|verlegt|aufgebaut|umgezogen)"
)
_RU: Final = (
    r"(?:накати|свери|прогна|раската|задепло|подня|перезапусти|почисти|повеси|верну|откати|зарелизи|прописа"
    r"|добави|сдела"
    r"|созда|написа|исправи|почини|обнови|поменя|замени|убра|удали|перенес|настрои|установи|подключи"
    r"|провери|реализова|собра"
    r"|посчита|выгрузи|загрузи|зали|отправи|постави|купи|заказа|договори|позвони|сда|подписа|распечата)"
    r"(?:л|ла|ли|лась|лись|лся)"
)

FINISHED: Final[dict[str, tuple[Rule, ...]]] = {
    "es": (
        _told(
            "es",
            rf"(?P<label>(?:ya )?(?:está )?{_ES}(?: ya)?[,.;:] ?.{{4,}}|{_ES} (?:en|con|a|al|por|el|la|los"
            rf"|las|los?) .{{4,}})",
            "puesto, ya salen en otro orden",
            "puesto que no hay tiempo, lo dejamos",
            r"puesto que|list[oa]s? para|hecho (?:de|por)|.*(?: pero no | falta )",
        ),
        _result(
            "es",
            rf"(?P<label>(?:[\pL\pN`'\"/.#_()-]+ ){{1,8}}?(?:y )?{_ES}(?:$|[ ,.;:(].*)"
            rf"|(?:[\pL\pN-]+ ){{1,4}}?(?:complet[oa]s?)[,:] .{{3,}}"
            r"|[^,;?]{3,60}? (?:lo|la|los|las|le) (?:he|hemos) \pL+(?:ado|ido|to|cho|so)(?:$|[ ,.;:].*)"
            r"|(?:el|la|los|las) [^,;?]{2,50}? ya (?:mandó|llegó|envió|firmó|pagó|respondió|está|están) .{3,})",
            "Copia de prueba borrada",
            "falta la copia borrada",
            r"(?:si|cuando|falta|faltan|hay|quiero|necesito|debe|un|una|unos|unas|el|los|no|que|para|con"
            r"|tras|es|está) .*"
            rf"(?:{_ES})|.*(?: no | sin | falta| si | cuando | debe| será| por | para | puede"
            r"|que est| con una? | de tener )|(?:\pL+[aei]r|asegúrate|comprueba|verifica) .*",
        ),
        Rule(
            "es.done_first",
            Speaker.ASSISTANT,
            Act.CLAIM,
            rf"(?P<label>{_ES} (?:y \pL+ )?.{{4,}})",
            0.7,
            "Configurado el correo saliente en config/mail.php",
            "Configurado así no arranca",
            r".*(?: no | así )|list[oa]s? (?:para|de)",
        ),
    ),
    "pt": (
        _told(
            "pt",
            rf"(?P<label>(?:já )?(?:está )?{_PT}(?: já)?[,.;:] ?.{{4,}}|{_PT} (?:em|no|na|nos|nas|com|ao"
            rf"|por|para|pelo|o|a) .{{4,}}|"
            r"(?:vi|visto|confirmei|testei|conferi|rodei), .{4,})",
            "testei, agora abre certo",
            "pronto para sair",
            r"pront[oa]s? (?:para|pra)|feit[oa] (?:de|por)|.*(?: mas não | falta )",
        ),
        _result(
            "pt",
            rf"(?P<label>(?:[\pL\pN`'\"/.#_()-]+ ){{1,8}}?{_PT}(?:$|[ ,.;:(].*))",
            "Horas e fuso da agenda corrigidos",
            "falta a agenda corrigida",
            rf"(?:se|quando|falta|faltam|há|tem|quero|preciso|um|uma|o|os|a|as|não|que|para|com|é|está) .*(?:{_PT})"
            r"|.*(?: não | sem | falta| se | quando | deve| será| por | para | pode)",
        ),
    ),
    "it": (
        _told(
            "it",
            rf"(?P<label>{_IT}(?: già)?[,.;:] ?.{{4,}}|{_IT} (?:ieri|oggi|in|con|a|al|alla|il|la|lo|i|gli"
            rf"|le|sul|nel|dal|su|\pL{{5,}})"
            r" ?.{4,})",
            "provato il widget ieri, adesso si collega",
            "finito il pranzo dobbiamo parlare del menu",
            r"finit[oaie] il |fatt[oaie] (?:così|di)|.*(?: ma non | manca |dobbiamo)",
        ),
        _result(
            "it",
            r"(?P<label>[^,;?]{3,60}? (?:l'|lo |la |li |le )?(?:ho|abbiamo) (?:già )?"
            rf"{_IT}(?:$|[ ,.;:].*)|(?:[\pL\pN`'\"/.#_()-]+ ){{1,8}}?{_IT}(?:$|[,.;:(].*))",
            "le sedie rotte le ho spostate in cantina",
            "non ho spostato le sedie",
            r"(?:se|quando|manca|mancano|c'è|voglio|serve|un|una|il|lo|i|gli|non|che|per|con|è) .*"
            r"|.*(?: non | senza | manca| se | quando | deve| sarà| per | può)",
        ),
    ),
    "fr": (
        _told(
            "fr",
            rf"(?P<label>(?:c'est )?{_FR}[,.;:] ?.{{4,}}|c'est {_FR} (?:dans|sur|pour|en|avec|par) .{{4,}})",
            "c'est changé dans le budget, il reste 200 euros",
            "fait divers, rien de grave",
            r"fait (?:divers|que)|.*(?: mais pas | manque )",
        ),
        _result(
            "fr",
            rf"(?P<label>[^,;?]{{3,60}}? (?:est|sont|c'est|a été|ont été) (?:bien |déjà |enfin )?{_FR}(?:$"
            rf"|[ ,.;:].*)"
            rf"|[^,;?]{{3,60}}?,? (?:je|on|nous) (?:l'|les |te l'|vous l')(?:ai|as|a|avons) {_FR}(?:$|[ ,.;:].*)"
            rf"|(?:[\pL\pN`'\"/.#_()-]+ ){{1,6}}?{_FR}(?:$|[,.;:(].*))",
            "la lettre du maire est arrivée",
            "la lettre n'est pas arrivée",
            r"(?:si|quand|il|un|une|qui|que|pour|avec|pas|ce qui|on|dès que|une fois) .*|.*(?: pas | plus "
            r"| jamais | sans | si | doit"
            r"| sera | pour être|n'est)",
        ),
    ),
    "de": (
        _told(
            "de",
            rf"(?P<label>(?:ist |alles |schon )?{_DE}(?: jetzt)?[,.;:] ?.{{4,}}|(?:steht|läuft|ist drin"
            rf"|drin)[,.:;] ?.{{6,}}"
            r"|(?:ist|steht|liegt|läuft) jetzt (?:nur )?(?:in|im|auf|unter|bei) .{3,})",
            "gestartet, der Dienst kommt jetzt von selbst hoch",
            "gebaut wird morgen",
            r".*(?: aber nicht| fehlt )",
        ),
        _result(
            "de",
            rf"(?P<label>[^;?]{{3,80}}?,? (?:und )?{_DE}(?:$|[,.;:(].*)|[^,;?]{{3,60}}? (?:hab|habe"
            rf"|haben) (?:ich|wir) [^;?]{{0,60}}?"
            rf"{_DE}(?:$|[ ,.;:].*)|[^,;?]{{3,80}}? wird (?:jetzt|nun) [^,;?]{{3,80}}?{_DE}(?:$|[ ,.;:].*))",
            "Preise und Rabatte geprüft, gebaut und gepusht",
            "die Preise müssen noch geprüft werden",
            r"(?:wenn|falls|ob|was|noch|bitte|ich|wir|er|sie|es) .*|.*(?: nicht | nie | muss | müssen "
            r"| soll | sollen | wird noch"
            r" | werden | noch (?:nicht )?| kann| sagst| gesagt|nicht "
            r"| trotzdem | doppelt | zweimal | alles erledigt| mal | wird beim )",
        ),
    ),
    "ru": (
        _told(
            "ru",
            rf"(?P<label>(?:вс[её] |уже )?{_RU}[,.;:] ?.{{4,}}|{_RU} [^,;?]{{2,}}.*)",
            "накатил, первая заливка идёт",
            "накатил бы, да нет доступа",
            r".*(?: бы(?:[ ,]|$)|если | но не | не )",
        ),
    ),
    "zh": (
        _told(
            "zh",
            r"(?P<label>(?:都|已经?|刚|全)?(?:改|写|加|换|清|修|测|跑|删|搞|弄|部署|上线|导|配|装|发|建|做"
            r"|压|调|补|接|挪|迁)(?:了|好了?|完了?|掉了?|定了?|过了?)"
            r"[^？?]{0,6}[，,。][^？?]{3,}|(?:清|删|改|加|补|修|换|导|发|跑)了 ?\d+ ?[^？?]{1,})",
            "写好了，注解也加上了，本地能跑",
            "写好了吗，什么时候能跑",
            r".*(?:吗|没写|如果|了再|了才|之后再|但是?|不过|可是)",
        ),
    ),
    "ko": (
        _result(
            "ko",
            r"(?P<label>.{0,80}?(?:(?:바꿨|고쳤|넣었|뺐|추가했|만들었|옮겼|지웠|되돌렸|나눴|적용했)(?:고 .+"
            r"|습니다.*|어요.*)|테스트.{0,20}?통과(?:합니다|했습니다|해요|했어요).*"
            r"|(?:커밋|배포|푸시|머지|설치|적용|배치|마이그레이션)(?:했습니다|했어요|됐습니다|됐어요|했고).*))",
            "날짜 형식을 바꿨고 화면에 잘 나옵니다",
            "날짜 형식을 바꿨나요",
            r".*(?:나요|까요|지 않|못했|실패)",
            by=Speaker.ASSISTANT,
        ),
    ),
    "hi": (
        _told(
            "hi",
            r"(?P<label>(?:(?:लग|कर|बन|जोड़|हटा|भेज|लिख|बदल|डाल|जाँच|देख|पूछ|चुन|खरीद)(?:वा|ा)? (?:दिया|दी"
            r"|दिए|लिया|ली|लिए)|हो गया|हो गई)"
            r"(?: है| हैं)?[,।] ?.{3,})",
            "लगवा दिए, अब सब सीधे हैं",
            "लगवा दोगे क्या, कब तक",
        ),
    ),
    "hinglish": (
        _told(
            "hinglish",
            r"(?P<label>(?:wapas |sab |haan )?(?:kar|laga|bana|daal|hata|badal|likh|push|test kar|merge kar"
            r"|deploy kar|bhej) (?:diya|di|diye"
            r"|liya|li)(?: hai| hain)?, ?.{4,})",
            "laga diya, ab list jaldi khulti hai",
            "laga du kya, bata de",
            r".*(?: kya$|agar )",
        ),
    ),
}
"""By the code of the language."""
