"""Phrases of German, from which the rules for German sentences are made. Orders are listed in the forms for du and Sie
and as plain infinitives. A verb may stand before, after or around its object."""

from __future__ import annotations

from typing import Final

from .tongue import make_tongue

GERMAN: Final = make_tongue(
    "de",
    words={
        "use": r"nimm|nehmt|nehmen (?:wir|sie)|(?:wir|ich) nehmen?|nehme ich|(?:verwend|benutz|nutz)en?(?: wir| sie)?"
        r"|(?:wir|ich) (?:verwend|benutz|nutz|setz)en?(?: auf)?|(?:wir|ich) bleiben? bei|bleib(?:en wir)? bei|(?:wir"
        r"|ich) entscheiden? (?:uns|mich) für|es wird|machen wir(?: es)? mit|setzen wir auf",
        "rather": r"doch|lieber|besser|dann|stattdessen|jetzt|also|eben|nun|bitte|wir|ich|lass uns|nee,?|nein,?",
        "too": r"ist|wird|kostet|läuft|war",
        "part": r"(?:(?:um|ein|an|aus|auf|ab|hoch|hinzu|vor|zusammen|her|weg|nach|frei)?ge(?:baut|fügt|legt|schrieben"
        r"|passt|räumt|teilt|testet|prüft|macht|stellt|setzt|tragen|richtet|laden|fasst|lagert|rollt|schaltet|kauft"
        r"|druckt|steckt|zogen|kürzt|pusht|startet|löscht|ändert|speichert|bucht|liefert|sperrt|tauscht|hängt|nommen"
        r"|schickt|sendet|wandelt|tan|fixt|strichen|sucht)|(?:er|ver|be|ent|über|unter)(?:gänzt|stellt|ändert|fernt"
        r"|schoben|bessert|schickt|setzt|rechnet|ledigt|hoben|worfen|schrieben|arbeitet|legt|wendet)|\pL*(?:mig|konfig"
        r"|instal|impl|integ|doku|opti|aktual|progr|import|export|sort)\pL*iert|umbenannt|eingerichtet|vorbereitet"
        r"|committet|deployt|fertig)",
        "have": r"(?:ich|wir) haben?|haben? (?:ich|wir)|hab(?: ich)?|habe",
        "when": r"(?:(?:erst|dann|gleich|am|bis|ab|zum|für|im|in der|nicht vor|frühestens) )*(?:morgen(?: früh| "
        r"vormittag| mittag| nachmittag| abend)?|übermorgen|heute (?:abend|nacht|nachmittag)|später|nachher"
        r"|nächste[nrs]? (?:woche|monat|mal|sprint|jahr)|(?:mon|diens|donners|frei|sams|sonn)tag\pL*|mittwoch\pL*"
        r"|wochenende|\d{1,2}\.(?: ?\pL+|\d{1,2}\.?)?|januar|februar|märz|april|juni|juli|august|september|oktober"
        r"|november|dezember|frühjahr|sommer|herbst|winter)|nach (?:der|dem|den) \pL+|selbst|selber",
        "do": r"(?:mach|erledig|schreib|klär|frag|prüf|test|schick|bau|fix|kümmer|sag|red|hol|bestell|probier|guck"
        r"|schau|änder|trag|lösch|stell|richt|ruf|organisier|besorg|übernehm|mess|kauf|bring|lad|zeig|nehm|druck|geb"
        r"|räum|les|plan|sprech)\pL*",
        "work": r"[\pL]*(?:einbauen|hinzufügen|ergänzen|anlegen|erstellen|bauen|schreiben|ändern|anpassen|entfernen"
        r"|löschen|umbenennen|schieben|ieren|richten|bessern|räumen|teilen|testen|prüfen|bereiten|setzen|kürzen|machen"
        r"|stellen|fügen|fassen|werfen|laden|speichern|rechnen|gleichen|planen|schalten|ausbauen|beheben|fixen"
        r"|deployen|finden|klären|anzeigen|schicken|senden|anrufen|fragen|bestellen|besorgen)",
        "make": r"(?:bau|füg|ergänz|leg|erstell|schreib|änder|pass|entfern|lösch|benenn|schieb|verschieb|[\pL]+ier"
        r"|richt|verbesser|räum|teil|teste|prüf|bereite|übersetz|kürz|mach|stell|fass|setz|speicher|berechne|vergleich"
        r"|behebe?|fix|zeig|häng|zieh|hol|such|schick|lad)(?:e|en sie|n sie)?|entwirf|gib|geben sie|hilf",
        "asking": r"(?:(?:bitte|dann|jetzt|nun|noch|auch|als nächstes|danach|zuerst|erst ?mal|mal|und|du (?:sollst"
        r"|musst|kannst)|(?:ich|wir) (?:will|wollen|möchten?|müssen|muss|sollten|brauchen?|hätten? gerne?|würden? "
        r"gerne?)|hilf (?:mir|uns)(?: dabei|,)?|lass uns|können wir|da muss|es muss|man müsste),? )*",
    },
    rows={
        "goal": r"(?:das |mein |unser )?ziel(?: ist| heute| der sitzung)*",
        "decided": r"(?:neue )?entscheidung(?: gefallen)?|entschieden|beschlossen|beschluss|abgemacht|festgelegt",
        "pending": r"(?:noch )?offen|ausstehend|(?:noch )?zu tun|to-?do|als nächstes|nächste schritte|fehlt noch",
        "done_mark": r"erledigt|fertig|umgesetzt|abgeschlossen",
        "discarded": r"verworfen|abgelehnt|gestrichen",
        "instead": (
            r"(?:(?:<use>|<rather>|bitte|mach) )*<new>,? (?:statt|anstatt|anstelle von) <old><end>",
            r"(?:<rather> )*(?:(?:<use>|mach) )+<new>,? (?:und nicht|, nicht) <old><end>",
            r"(?:<rather> )*(?:an)?statt <old>,? (?:<rather> )*(?:<use>|gibt es|kommt|kommen) <new><end>",
            r"(?:<rather> |stell\w* |wechs\w+ |steig\w+ )+von <old> (?:auf|zu) <new>(?: um| wechseln| umsteigen| "
            r"umstellen| gehen)*<end>",
            r"(?:vergiss|weg mit|schmeiß|streich|lass|(?:<rather> )+(?:nicht|keine?n?)) (?:den |die |das |mal "
            r")*<old>(?: raus| weg)?[,;.] ?(?:sondern |<rather> |und )*(?:<use>|sondern|nehmen|mit|machen|lieber) "
            r"(?:wir )?<new><end>",
            r"(?:der |die |das )?<old> <too> (?:mir |uns |viel )*(?:zu \pL+|raus|weg), (?:<rather> )*(?:<use>|lieber"
            r"|besser|dann eben) <new><end>",
        ),
        "no_want": (
            r"(?:<rather> |ich will |ich möchte |auf )*(?:keine?n?|keinerlei) <new>(?: mehr| haben| verwenden| nutzen"
            r"| nehmen| einbauen| benutzen)*<end>",
            r"(?:und |also |damit )?<new> (?:(?:ist|sind)(?: für (?:mich|uns)| damit| also)* (?:vom tisch|raus"
            r"|gestorben)|(?:fällt|fallen|fliegt|scheidet|kommt|kommen)(?: für (?:mich|uns)| damit| also)* (?:raus|weg"
            r"|flach|aus|nicht in ?frage))<end>",
            r"(?:auf )?<new> (?:brauchen|wollen|nehmen) (?:wir|ich) (?:doch |also )?(?:nicht|keine?n?)(?: mehr)?<end>",
        ),
        "bare": r"(?P<label>(?:ist |alles |schon )?(?:<part>|drin)(?: jetzt)?[,.;:] ?.{4,}|(?:ist|steht|liegt|läuft) "
        r"jetzt (?:nur )?(?:in|im|auf|unter|bei) .{3,})",
        "plan": (
            r"<do> (?:ich|wir) (?:[^;?]{0,60}? )?<when>",
            r"(?:ich|wir) <do> (?:[^;?]{0,60}? )?<when>|<when> <do> (?:ich|wir) .{3,}",
            r"(?:übernimmt|klärt|bestellt|schickt|besorgt|bringt|erledigt) (?:der |die |meine? |unsere? )?\pL{3,}(?: "
            r"<when>| bis \pL+)?$",
        ),
        "switch": r"(?:<rather> |stell\w* |wechs\w+ |steig\w+ |gehen? )+(?:auf|zu) <new> (?:um|wechseln|umsteigen"
        r"|umstellen|gehen)<end>",
        "back": r"(?:<rather> |gehe?n? |wieder )*zurück (?:zu|zum|zur|auf) <new>(?: gehen)?$",
        "turned": r"(?:doch|stattdessen|(?:nee,? |nein,? |am ende |dann )doch|(?:dann )?lieber|besser)(?: nicht "
        r"[^,;]{2,40},)? (?:lieber |besser |mit |gleich |einfach )*(?P<label>[^?]{2,})",
        "rule": r"(?P<label>(?:(?:bitte|wichtig|achtung|und|nochmal|generell|grundsätzlich|ab jetzt|ab sofort)[,:]? "
        r")*(?:immer|nie|niemals|ab jetzt:?|ab sofort:?|nichts (?:ohne|löschen|ändern|committen)|alle \pL+ (?:müssen"
        r"|sollen)|jede[rs]? \pL+ (?:muss|soll)|[vn](?:or|ach) jede[mr]|nur noch|kurze antworten|antworte|(?:fass"
        r"|änder|lösch|schreib)e? (?:\S+ ){0,4}(?:nicht|immer|nie)) .{3,}|.{3,80}? (?:darf|dürfen|soll|sollen|muss"
        r"|müssen) (?:\S+ ){0,6}?(?:nie(?:mals)?|nicht|kein\pL*|immer|nur|auf keinen fall) .{2,}|.{3,80}? (?:auf "
        r"keinen fall|niemals) .{3,})",
        "works": r"(?:geht|läuft|klappt|funktioniert|passt|tut)(?:'s)? (?:jetzt|wieder|nun|endlich|prima|gut|super"
        r"|alles|es)|jetzt (?:geht|läuft|klappt|funktioniert|passt)(?:'s| es| alles)?",
        "use": (
            r"(?:<rather> )*(?:<use>) (?P<label>[^?]{2,}?)(?: nehmen| verwenden| nutzen| benutzen| bleiben)?$",
            r"(?:ich|wir) haben? (?:\S+ ){0,4}(?:beschlossen|entschieden|festgelegt)[,:] <all>",
            r"(?:für|bei|als) [^,;?]{2,40} (?:<use>) <all>",
        ),
        "complaint": (
            r"(?:kommt|bekomme|kriege|gibt|erscheint|fliegt|wirft) (?:\S+ ){0,4}(?:fehler|exception|absturz|5\d\d"
            r"|4\d\d)\S*",
            r"(?:geht|gehen|funktionier\pL+|klapp\pL+|lädt|laden|start\pL+|kompilier\pL+|komm\pL+|speicher\pL+"
            r"|reagier\pL+|öffne\pL+|baut|läuft|stimm\pL+) (?:[\pL-]+ ){0,4}nicht",
            r"(?:stürzt|bricht|hängt|schlägt) (?:\S+ ){0,9}(?:ab|sich auf|fehl|fest)",
            r"(?:ist|sind|bleibt|bleiben|wird|werden|war|kommt|steht|erscheint) (?:\S+ ){0,3}?(?:kaputt|leer|falsch"
            r"|doppelt|zweimal|abgeschnitten|wacklig|instabil|defekt|verschwunden|down|abgestürzt|zu (?:langsam|spät))",
            r"dauert (?:\pL+ )?(?:zu lange|ewig|\d+ (?:minuten|sekunden|stunden))|fehlgeschlagen|stürzt|knallt|spinnt"
            r"|zickt|zeigt (?:\S+ ){0,7}nur (?:\S+ ){0,3}(?:leere?|weiße|schwarze)\pL*|verschwinde[tn]|(?:wird"
            r"|werden) (?:\S+ ){0,5}?(?:nicht|trotzdem|doppelt) (?:\S+ )?[\pL]+(?:t|en)|gibt nur \S+",
        ),
        "fixed": r"(?:behoben|repariert|gefixt|korrigiert|gelöst)",
        "did": (
            r"<have> (?:\S+ ){0,14}?<part>|(?:wurden?|ist|sind)(?: jetzt| nun| schon| bereits| damit| komplett| alle| "
            r"auch| alles)* <part>|(?:hat|haben) \S+ (?:\S+ )?(?:schon|bereits|gestern|heute) (?:\S+ ){0,6}?<part>",
            r"(?:ist|sind|steht|läuft)(?: jetzt| nun| schon| bereits| damit| komplett| alle)* (?:drin|live|online|grün"
            r"|durch|erledigt)",
        ),
        "later": (
            r"fehl(?:t|en) (?:\pL+ ){0,2}noch|(?:es|dann) bleibt noch|noch (?:offen|zu tun|aus|nicht \pL+t|kein\pL*)"
            r"|steht noch aus|offen (?:ist|sind|bleibt)|(?:muss|müssen|müsste|sollten?) (?:ich |wir )?noch|fehlt noch",
            r"(?:verschieb\pL+|machen wir|kommt|warte[tn]?) (?:\S+ ){0,4}(?:auf )?<when>",
        ),
        "set": r"^(?:gut|ok|na gut|also|hm)?,? ?dann (?:(?:ein|eine|einen|der|die|das|den|doch|lieber|eben|halt|auf"
        r"|mit) )*\pL[^;?]{4,80}|bleibt es bei .{3,}|(?:bleibt|passt|reicht (?:mir|uns)|soll es sein|ist (?:ok|gut "
        r"so))$|bleibt (?:danach |noch |bei |so |wie |im |in |auf )+.{2,}",
        "order": r"<asking>(?P<label>(?:<make>) .{3,})",
        "need": r"(?:ich|wir|mir|uns)(?: auch| noch)? (?:brauche?n?|benötigen?|bräuchten?|möchten?|will|wollen"
        r"|hätten? gerne?|suchen?|fehlt)(?: auch| noch| dafür| dann| jetzt)* (?P<label>(?:ein|eine|einen|noch|den|die"
        r"|das|mehr|hilfe)\b.{4,})",
        "result": r"^(?:[\pL\pN`'\"/.#_-]+ ){1,6}(?:<part>)$",
    },
    unless={
        "instead": r"(?:zeig|sag|erklär|warum|was)\b|.*statt(?:dessen)? zu\b|.*[,;] (?:ich|wir) (?:bin|sind|habe|haben"
        r"|war|muss|müssen|kann|können|gehe|gehen)\b",
        "no_want": r"(?:bitte )?keine?n? (?:neue|weitere|zusätzliche|externe|fremde)|.*\b(?:ahnung|zeit|lust|problem"
        r"|idee|sorgen?|angst|stress|eile|panik|fehler|frage)\b|(?:es|das|ich|er|sie|der|die) (?:ist|sind|kommt"
        r"|fällt) ",
        "turned": r"doch (?:nicht|noch|mal|klar|,|kein)|besser (?:als|so|wäre|ist)|lieber (?:nicht|herr|kollege)"
        r"|.*\b(?:geht|funktioniert|ist|wird|war|hat)\b",
        "rule": r"(?:immer|nie) (?:noch|wieder|mehr|schon|dieses|der|die|das)\b|.*\b(?:kann|könnte|ob)\b|(?:das|es) ",
        "works": r".*\b(?:nicht|kein|keine|aber|wie|was|wenn|sobald|noch|nur)\b",
        "use": r"nimm (?:dir|dich|mich|mir)\b|es wird (?:kalt|spät|zeit|langsam|besser)",
        "complaint": r"(?:wenn|falls|sobald|ob|damit) |.*\b(?:geht nicht (?:nur|um|darum)|nicht mehr (?:nötig|nur)"
        r"|nicht nur)\b",
        "did": r"(?:wenn|sobald|bis|falls|ob|wann|was|wie|noch nicht) |.*\b(?:nicht|nie|muss|müssen|soll|sollen|kann"
        r"|wäre|kein\pL*|gesagt|gedacht|gemeint|gesehen|gefragt|verstanden|gewesen|überlegt|vergessen|gefallen"
        r"|gegangen|angefangen|gewünscht|gehört|gefunden|fast|kaum|doppelt|erst)\b",
        "result": r".*\b(?:nicht|wird|werden|muss|soll|kann|ist|sind|hat|habe|haben|was|bitte|wurde|wir|ich)\b",
        "set": r".*dann (?:ist|sind|war|geht|gehen|läuft|kommt|kommen|wird|werden|muss|müssen|kann|können|mach|machen"
        r"|mache|sag|schau|hab|haben|hat|braucht|brauchen|noch|bitte|erst|auch|eigentlich|ich|wir|wär|ja|nicht|nochmal"
        r"|passt|steht|bis) ?.*|.*dann \S+en$|(?:bis|na|ok|gut|ja|das|es|so|und|was|erst|wie|alles|wann) "
        r".{0,6}(?:passt|bleibt)$",
        "order": r"(?:mach|macht|teil|plan|passt?|richt|gib|zeig|hol|stell)(?:t|s|e)? (?:nichts|mir nichts|dir|ihr|der"
        r"|doch|mal sehen|es gut|auf|acht)\b|\pL+e (?:ich|wir)\b",
        "need": r".*\b(?:verstehen|wissen|sagen|sehen|fragen)$",
    },
    ahead={
        "hands": (
            r"(?:(?:das|die|den|es|dies|darum|drum|ihn|sie|beides) )?<do> (?:ich|wir)(?: (?:mich|uns|das|es|ihn|sie"
            r"|darum|drum|dann|noch|aber|auch))*(?: <when>)*",
            r"(?:das |es |die )(?:kommt|kommen|bleibt|wartet|muss warten|macht|übernimmt|erledigt)(?: \pL+)? <when>",
        ),
        "plans": (r"(?:.{2,60} )?<do> (?:ich|wir)\b.* <when>", r"(?:ich|wir) <do> .*<when>"),
        "left": (
            r"(?:ich|wir|da|man) (?:muss|müssen|müsste|sollten?|wollten?|will|wollen) (?:erst |auch )?(?:noch|später) "
            r".{4,}",
            r"(?:muss|müsste|sollte) (?:ich|man|noch)(?: noch)? .{4,}|(?:(?:ich|wir) )?warten? (?:noch )?auf .{3,}",
            r".{3,70} (?:ist|sind|habe ich|haben wir|hab ich) noch nicht \pL+|erinnere? mich (?:bitte )?(?:daran|an) "
            r".{3,}",
        ),
        "times": (r"(?:(?:aber|erst|lieber|dann|nein|ja|genau) )*<when>(?: dann| erst)?",),
        "hollow": r"(?:(?:das|die|den|es) )?(?:mach|erledig)\pL* (?:ich|wir)\b(?: (?:das|es|dann|selbst|selber))*",
        "past": r".*\b(?:gestern|war|waren|hatte|jeden|immer)\b|ich (?:finde|denke|glaube|weiß)\b",
    },
    said={
        "lead": r"(?:(?:ok|okay|gut|super|perfekt|prima|danke|vielen dank|hallo|hi|moin|guten (?:tag|morgen|abend)|ja"
        r"|nee|nein|also|na gut|klar|genau|stimmt|hm+|ah|ach so|ach|alles klar|übrigens|noch was|eins noch|wichtig"
        r"|verstanden|top|fertig|so|na ja|naja|gerne?)[,.!:–-]+ ?|(?:und|aber|also|ja|ok|okay|gut|na gut|so|ach|hm"
        r"|übrigens|außerdem|achja|denn) )",
        "asks": r"(?:warum|wieso|weshalb|wie (?:kann|geht|mache|funktioniert|viel|lange|oft)|was (?:ist|sind|meinst"
        r"|bedeutet|passiert|kostet)|welche[rs]?|wer|wo|wann|wozu)\b|(?:ist|sind|wäre|sollen|sollten|könnten) (?:es"
        r"|das|wir|der|die) .*(?:eigentlich|oder|sinnvoll|besser)",
        "polite": r"(?:kannst|könntest|können|könnten|würdest|würden|magst|machst) (?:du|sie|wir|ihr)(?: bitte| mir| "
        r"uns| mal| noch| auch| jetzt| kurz)* (?P<rest>.{4,})",
        "supposes": r"wenn |falls |vielleicht|eventuell|evtl|womöglich|man könnte|könnte man|wir könnten|theoretisch"
        r"|zum beispiel|z\.? ?b\.|angenommen|stell dir vor|was wäre|im prinzip|normalerweise|generell gilt"
        r"|üblicherweise|ich überlege|ich dachte|ich frage mich|keine ahnung ob|mal sehen|sollten wir|soll ich"
        r"|.*\b(?:würde ich auch|irgendwann mal|wäre schön)\b",
        "reports": r"(?:(?:der|die|das|mein|meine|unser|laut|ein) )?(?:[\pL]+ ){0,3}?(?:sagt|meint|schreibt|behauptet"
        r"|empfiehlt|schlägt vor|will|wollte|möchte|sagte|meinte|fordert)(?:,| dass | immer | man )|laut ",
        "border": r"\s*;\s+|,\s+(?:und |aber |dann |bitte |also |sonst |außerdem )?|\s+(?:aber|und dann|und bitte|und "
        r"danach|und außerdem)\s+|\s+und\s+(?:nimm|mach|füg|bau|schreib|lösch|stell|kein|nie|immer|wir |prüf|teste)"
        r"|\s+[—–-]\s+|:\s+",
        "because": r",?\s*\b(?:weil|denn|da wir|da das|da es|damit|wegen)\s+|^(?:weil|denn|da|damit|wegen|das|die|der"
        r"|ist) |\s+[—–]\s+|\s*\(",
        "trailer": r",? (?:bitte|dann|erst mal|erstmal|einfach|vorerst|also|danke|auch|mal|zuerst|wohl|lieber)",
        "offers": r"(?:soll ich|sollen wir|(?:möchtest|willst|magst) du, dass ich|möchten sie, dass ich|wenn du "
        r"(?:willst|magst|möchtest),? (?:kann|könnte|baue|mache|schreibe) ich|ich (?:kann|könnte|würde|schlage vor,?)"
        r"|wir (?:können|könnten)|mein vorschlag:)(?: dir| ihnen| dann| auch| noch| jetzt| gleich)* (?P<label>.{4,})",
        "choosing": r"\b(?:wege?|möglichkeit(?:en)?|option(?:en)?|varianten?|alternativen?|lösung(?:en)?|ansätze"
        r"|stellschrauben)\b",
        "yes": r"ja|jo|jep|klar|gerne?|ok|okay|mach(?:en)?(?: wir| das| mal| es| so)*|passt|genau|einverstanden|super"
        r"|perfekt|gut|in ordnung|klingt gut|los|weiter|richtig|stimmt|bitte|so machen wir(?: es| das|'s)|auf jeden "
        r"fall|unbedingt|top|prima|abgemacht|deal",
        "no": r"nein|nee|nö|lieber nicht|noch nicht|brauchen wir nicht|nicht nötig|lass(?: das| mal| es)*|erst mal "
        r"nicht|jetzt nicht",
        "soft": r"danke|bitte|dann|das|so|wir|es|und|alles|sehr|mal|doch|auch|wie du (?:sagst|vorschlägst)|damit|gute "
        r"idee",
        "both": r"beides|beide|alle beide",
        "every": r"alle|alles|alle drei",
        "pick": r"die|den|das|der|option|variante|nummer|nr\.?|nimm|wir nehmen|ich nehme|nehmen wir|lieber|dann|mit"
        r"|für|vorschlag|punkt|weg|ich bin für|wir machen|machen wir|gehen wir mit|also",
        "picked": r" (?:variante|option|bitte|weil|klingt|ist|passt|und|hab|machen|nehmen|möglichkeit|lösung|weg)",
    },
    ordinals="erste|ersten|erster|ersteres|erstere zweite|zweiten dritte|dritten -1 letzteres|letztere|letzte",
    cues="aber alle alles als andere angelegt auch auf aus bau baue behoben bei beim bitte danke dann das dass der "
    "dir doch eben ein eine einem einen einer entscheidung ergänzt erledigt erstelle es fehlt fertig funktioniert "
    "füge für geht genau gerade gestern gut hab habe haben halt hatte heute ich immer ist ja jede jeder jetzt kann "
    "kannst kein keine keinen klappt können könnte lass lieber läuft lösche mach mache machen mein meine mir mit "
    "morgen muss müssen nach nehme nehmen nein nicht nie niemals nimm noch nur nutze nutzen oder offen ohne passt "
    "prüfe raus schon schreibe seit sie sind soll sollen später statt stell teste und uns unser unsere vergiss "
    "verworfen vom von waren wenn werden wie wir wird wurde zeig ziel zu zum zur zurück ändere über",
)
"""The phrases and rules of German (see ``tongue.Tongue``)."""
