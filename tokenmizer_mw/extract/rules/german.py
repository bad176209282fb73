"""German: du, Sie and the plain infinitive; verbs stand in front of, behind or around what they speak of."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.similar import words_of

from .rule import Act, Rule, Speaker
from .tongue import NAMES, Tongue

_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

_INFINITIVE: Final = (
    r"(?:einbauen|hinzufügen|ergänzen|anlegen|erstellen|bauen|schreiben|umschreiben|ändern"
    r"|anpassen|entfernen|löschen|umbenennen|verschieben"
    r"|migrieren|konfigurieren|einrichten|installieren|integrieren|verbessern|optimieren"
    r"|aufräumen|dokumentieren|aufteilen|testen|prüfen"
    r"|vorbereiten|übersetzen|kürzen|machen|umstellen|umbauen|einfügen|programmieren|implementieren"
    r"|zusammenfassen|entwerfen|hochladen"
    r"|einstellen|setzen|speichern|berechnen|vergleichen|planen|abschalten|ausbauen|reparieren"
    r"|beheben|fixen|deployen|committen|refactoren"
    r"|aktualisieren|fertig machen|finden|klären|sortieren|anzeigen|exportieren|importieren"
    r"|verschicken|senden|anrufen|fragen|bestellen|besorgen)"
)
_IMPERATIVE: Final = (
    r"(?:bau(?:e|en sie)?|füg(?:e|en sie)?|ergänz(?:e|en sie)?|leg(?:e|en sie)?|erstell(?:e"
    r"|en sie)?|schreib(?:e|en sie)?|änder(?:e|n sie)?"
    r"|pass(?:e|en sie)? |entfern(?:e|en sie)?|lösch(?:e|en sie)?|benenn(?:e|en sie)?|verschieb"
    r"(?:e|en sie)?|migrier(?:e|en sie)?"
    r"|konfigurier(?:e|en sie)?|richt(?:e|en sie)?|installier(?:e|en sie)?|verbesser(?:e"
    r"|n sie)?|optimier(?:e|en sie)?|räum(?:e|en sie)?"
    r"|dokumentier(?:e|en sie)?|teil(?:e|en sie)?|teste(?:n sie)?|prüf(?:e|en sie)?|bereite"
    r"(?:n sie)?|übersetz(?:e|en sie)?|kürz(?:e|en sie)?"
    r"|mach(?:e|en sie)?|stell(?:e|en sie)?|implementier(?:e|en sie)?|programmier(?:e|en sie)?"
    r"|fass(?:e|en sie)?|entwirf|setz(?:e|en sie)?"
    r"|speicher(?:e|n sie)?|berechne(?:n sie)?|vergleich(?:e|en sie)?|plan(?:e|en sie)|reparier"
    r"(?:e|en sie)?|behebe?|fix(?:e|en sie)?|zeig(?:e|en sie)?"
    r"|aktualisier(?:e|en sie)?|häng(?:e|en sie)?|zieh(?:e|en sie)?|gib|geben sie|hol(?:e"
    r"|en sie)?|such(?:e|en sie)?|schick(?:e|en sie)?|lad(?:e|en sie)?)"
)
_DONE: Final = (
    r"(?:eingebaut|hinzugefügt|ergänzt|angelegt|erstellt|gebaut|geschrieben|umgeschrieben"
    r"|geändert|angepasst|entfernt|gelöscht|umbenannt|verschoben"
    r"|migriert|konfiguriert|eingerichtet|installiert|integriert|verbessert|optimiert|aufgeräumt"
    r"|dokumentiert|aufgeteilt|getestet|geprüft|vorbereitet"
    r"|übersetzt|gekürzt|gemacht|umgestellt|umgebaut|eingefügt|programmiert|implementiert"
    r"|zusammengefasst|entworfen|hochgeladen|eingestellt|gesetzt"
    r"|gespeichert|berechnet|aktualisiert|erledigt|eingetragen|verschickt|bestellt|ausgelagert"
    r"|ersetzt|deployed|deployt|committet|abgeschaltet|fertig)"
)
_ORDERING: Final = (
    r"(?:(?:bitte|dann|jetzt|nun|noch|auch|als nächstes|danach|zuerst|erst mal|erstmal|mal"
    r"|und|ich (?:will|möchte|brauche|hätte gern(?:e)?|würde gern(?:e)?)|wir (?:wollen|müssen"
    r"|sollten|brauchen|möchten)"
    r"|ich muss|du (?:sollst|musst|kannst)|hilf mir(?: dabei|,)?|lass uns|können wir|da muss"
    r"|es muss|man müsste),? )*"
)

RULES: Final = (
    Rule(
        "de.goal",
        _BOTH,
        Act.GOAL,
        r"(?:das |mein |unser )?ziel(?: ist| heute| der sitzung|:)+,? ?(?P<label>.{4,})",
        0.92,
        "Ziel: eine Buchungsseite für die Werkstatt",
        "Zielgruppe sind Kinder",
        explicit=True,
    ),
    Rule(
        "de.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:(?:neue )?entscheidung(?: gefallen)?|entschieden|beschlossen|beschluss|abgemacht"
        r"|festgelegt): ?(?P<label>.{2,})",
        0.92,
        "Entscheidung: Preise in Cent speichern",
        "Die Entscheidung war schwer",
        explicit=True,
    ),
    Rule(
        "de.pending",
        _BOTH,
        Act.LATER,
        r"(?:offen|noch offen|ausstehend|zu tun|noch zu tun|to-?do|als nächstes|nächste schritte"
        r"|fehlt noch): ?(?P<label>.{3,})",
        0.92,
        "Noch offen: Mails übersetzen",
        "Offen gesagt, nein",
        explicit=True,
    ),
    Rule(
        "de.done_mark",
        _BOTH,
        Act.CLAIM,
        r"(?:erledigt|fertig|umgesetzt|abgeschlossen): ?(?P<label>.{3,})",
        0.9,
        "Erledigt: Tabelle der Kunden",
        "Fertig ist das nicht",
        explicit=True,
    ),
    Rule(
        "de.discarded",
        _BOTH,
        Act.REJECT,
        r"(?:verworfen|abgelehnt|gestrichen): ?(?P<label>.{2,})",
        0.9,
        "Verworfen: Zahlung per Scheck",
        "Verworfene Ideen gibt es viele",
        explicit=True,
    ),
    Rule(
        "de.instead",
        _USER,
        Act.REPLACE,
        r"(?:(?:nimm|nehmen wir|wir nehmen|nehmt|dann|doch|lieber|besser|bitte|ich nehme|verwende"
        r"|benutze|nutze|mach) )*(?P<label>[^,;]{2,60}?),? (?:statt|anstatt|anstelle von|und nicht"
        r"|, nicht) (?P<target>[^,;]+)"
        r"(?:[,;] (?P<reason>.+))?",
        0.9,
        "nimm argon2 statt bcrypt",
        "Zeig mir den Grund statt zu raten",
        whole=True,
        unless=r"(?:zeig|sag|erklär|warum|was)\b|.*statt(?:dessen)? zu\b",
    ),
    Rule(
        "de.switch",
        _USER,
        Act.REPLACE,
        r"(?:(?:lass uns|wir|ich|dann|doch|lieber|bitte|stell|wechseln|wechsle|steigen|gehen"
        r"|umsteigen|stellen) )+(?:von (?P<target>[^,;]{2,40}?) )?(?:auf|zu) (?P<label>[^,;]{2,60}?)"
        r"(?: um| wechseln| umsteigen| umstellen| gehen)(?:$|[,;] (?P<reason>.+))",
        0.88,
        "lass uns von MySQL auf Postgres umsteigen, das hält mehr aus",
        "ich gehe auf den Markt",
        whole=True,
    ),
    Rule(
        "de.drop_for",
        _USER,
        Act.REPLACE,
        r"(?:vergiss|weg mit|schmeiß|streich|lass)(?: den| die| das| mal)? (?P<target>[^,;]{2,50}?)"
        r"(?: raus| weg)?[,;.] ?(?:und |wir |dann |ich |lieber |stattdessen |doch )*(?:nimm|nehmen"
        r"|nehme|mach|machen|lieber|nehmen wir|nutzen wir|mit) (?:wir )?(?P<label>.{2,})",
        0.9,
        "vergiss Redux, nimm Zustand",
        "vergiss den Termin gestern",
        whole=True,
    ),
    Rule(
        "de.not_but",
        _USER,
        Act.REPLACE,
        r"(?:doch|jetzt doch|nee|nein),? (?:lieber |jetzt )*(?:nicht|kein|keine|keinen) (?P<target>[^,;]{2,40})[,;] "
        r"(?:sondern|wir|ich|dann|lieber|besser|nehmen|nehme|nimm|nutzen|mit|machen|stattdessen| )+"
        r" (?P<label>[^,;]{2,60})(?:$|[,;] (?P<reason>.+))",
        0.9,
        "doch nicht Hetzner, wir nehmen Netcup, weil dort schon die Domain liegt",
        "doch nicht heute, ich bin krank",
        whole=True,
        unless=r".*[,;] (?:ich|wir) (?:bin|sind|habe|haben|war|muss|müssen|kann|können|gehe|gehen)\b",
    ),
    Rule(
        "de.turned",
        _USER,
        Act.REPLACE,
        r"(?:doch|stattdessen|nee,? doch|nein,? doch|am ende doch|dann doch|dann lieber|lieber"
        r"|besser)(?: nicht [^,;]{2,40},)? (?:lieber |besser |mit |gleich |einfach )*(?P<label>[^?]{2,})",
        0.78,
        "dann doch lieber SQLite",
        "doch, das geht",
        unless=r"doch (?:nicht|noch|mal|klar|,|kein)|besser (?:als|so|wäre|ist)|lieber (?:nicht|herr"
        r"|kollege)|.*\b(?:geht|funktioniert|ist|wird|war|hat)\b",
    ),
    Rule(
        "de.back",
        _USER,
        Act.RETURN,
        r"(?:(?:wir |ich |lass uns |dann |also )*(?:gehen|gehe|zurück|wieder|doch) )+(?:wir )?"
        r"(?:wieder |zurück )?(?:zu|zum|zur|auf) (?P<label>[^,;]{2,60}?)(?: zurück| gehen)*$",
        0.85,
        "zurück zu REST",
        "ich gehe zum Arzt",
        unless=r"(?:ich|wir) gehen? (?:zu|zum|zur|auf) ",
    ),
    Rule(
        "de.forget",
        _USER,
        Act.RETRACT,
        r"(?:(?:vergiss|lass|streich)(?: mal)?(?: das mit)?(?: den| dem| der| die| das)? (?P<label>[^,;]{3,60}?)"
        r"(?: weg| sein| bleiben| erst mal)*$)",
        0.78,
        "lass das mit den Gutscheinen weg",
        "lass das Licht bitte über Nacht brennen",
        unless=r".*\b(?:brennen|an|laufen|uns|drin|so)\b",
    ),
    Rule(
        "de.no_want",
        _USER,
        Act.REJECT,
        r"(?:(?:bitte |ich will |wir wollen |wir nehmen |ich möchte |auf |also |dann )*(?:kein"
        r"|keine|keinen|keinerlei) (?P<label>[^,;?]{2,}?)(?: mehr| haben| verwenden| nutzen| nehmen"
        r"| einbauen| benutzen)*(?:$|[,;] (?P<reason>.+)))",
        0.78,
        "keine Cookies von Dritten",
        "keine Ahnung",
        whole=True,
        unless=r"(?:bitte )?keine?n? (?:neue|weitere|zusätzliche|externe|fremde)"
        r"|.*\b(?:ahnung|zeit|lust|problem|idee|sorge|angst|stress|eile|panik|fehler|frage)\b",
    ),
    Rule(
        "de.off_table",
        _USER,
        Act.REJECT,
        r"(?:und |also |damit )?(?P<label>[^,;]{2,50}?) (?:ist|sind|fällt|fallen|kommt|kommen"
        r"|scheidet)(?: (?:für mich|für uns|damit|also|erst mal))* (?:vom tisch|raus|weg|flach"
        r"|nicht in frage|nicht infrage|aus|gestorben)(?:$|[,;] ?(?P<reason>.*))",
        0.8,
        "Kubernetes ist damit vom Tisch",
        "der Müll ist draußen",
        unless=r"(?:es|das|ich|er|sie|der|die) (?:ist|sind|kommt|fällt) ",
    ),
    Rule(
        "de.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:(?:bitte|wichtig|achtung|und|nochmal|ab jetzt|ab sofort|generell|grundsätzlich)[,:]? )*"
        r"(?:immer|nie|niemals|nie wieder|ab jetzt|ab sofort|fass (?:\S+ )*nicht|ändere? (?:\S+ ){0,4}nicht"
        r"|lösch(?:e)? (?:\S+ ){0,4}nicht"
        r"|antworte|nichts (?:ohne|löschen|ändern|committen)|alle [\pL]+ (?:müssen|sollen)|jede[rs]? [\pL]+ "
        r"(?:muss|soll)|vor jede[mr]|nach jede[mr]|nur noch|kurze antworten|schreib(?:e)? (?:immer"
        r"|nie|bitte)).{3,})",
        0.85,
        "nie etwas ohne Rückfrage löschen",
        "Das war nie so",
        unless=r"(?:immer|nie) (?:noch|wieder|mehr|schon|dieses|der|die|das)\b",
    ),
    Rule(
        "de.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:(?:ich|wir|mir|uns|am) (?:mag|mögen|bevorzuge|bevorzugen|hätte(?:n)? (?:lieber|gern"
        r"(?:e)?)|finde|gefällt|gefallen|liebsten)(?: wäre(?:n)? mir)? (?P<label>.{3,}))",
        0.72,
        "ich bevorzuge einfache Anführungszeichen",
        "ich mag nicht mehr",
        unless=r"ich mag (?:nicht.*|das)$|ich finde (?:es|das|den|die|nicht|nichts|keine?|\S+ (?:gut" r"|toll|super))",
    ),
    Rule(
        "de.still",
        _USER,
        Act.STILL,
        r"(?P<label>(?:(?:das|es|der|die|hm|leider|doch|nein|nee|aber)[, ]+)*(?:[\pL-]+ )?(?:"
        r"(?:geht|funktioniert|klappt|läuft|kommt|passiert|hängt|stürzt|knallt|ist|wird) )?(?:immer noch"
        r"|noch immer|weiterhin|schon wieder|nach wie vor)(?: nicht| der| die| das| kein| falsch"
        r"| kaputt| rot| leer| fehler| derselbe)?.*|doch nicht\b.*)",
        0.82,
        "die Anmeldung geht immer noch nicht",
        "Es regnet",
        unless=r".*\b(?:toll|gut|super|froh)\b",
    ),
    Rule(
        "de.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>(?:(?:ja|super|top|danke|ok|jetzt|so|alles|perfekt|das|es|der \S+|die \S+)[,!]? )*"
        r"(?:geht(?:'s)?|läuft|klappt|funktioniert|passt|tut|steht)(?: jetzt| wieder| nun| alles"
        r"| es| endlich| prima| gut| super)*(?:$|[,;!. ]+(?:danke|super|top|perfekt).*))",
        0.78,
        "jetzt läuft es, danke",
        "geht das auch anders",
        unless=r".*\b(?:nicht|kein|aber|wie|was)\b",
    ),
    Rule(
        "de.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>(?:(?:jetzt|aber|leider|hm|oh|nun|da|bei mir|mist)[, ]+)*(?:(?:es |da |ich "
        r"|jetzt )?(?:kommt|bekomme|kriege|gibt|erscheint|fliegt|wirft|bekommt) (?:(?:ich|es"
        r"|er|jetzt|dann|immer|mir|ein|eine|einen|der|die|den) )*(?:\S* ?)?(?:fehler|exception"
        r"|absturz|5\d\d|4\d\d|fehlermeldung)\S*"
        r"|[^,;?]{2,70}? (?:geht|gehen|funktioniert|funktionieren|klappt|lädt|startet|kompiliert"
        r"|kommt|speichert|reagiert|öffnet|baut|läuft)(?: [\pL-]+){0,3} (?:nicht|kaputt|nie)"
        r"|[^,;?]{2,70}? (?:stürzt|bricht|hängt|schlägt)(?: [\pL-]+){0,4} (?:ab|sich auf|fehl"
        r"|fest)"
        r"|[^,;?]{2,70}? (?:ist|sind|bleibt|bleiben|wird|werden) (?:[\pL-]+ ){0,3}(?:kaputt|leer"
        r"|falsch|doppelt|weg|zu langsam|abgeschnitten|wacklig|rot|defekt|verschwunden)"
        r"|[^,;?]{2,70}? dauert (?:[\pL-]+ )?(?:zu lange|ewig|\d+ (?:minuten|sekunden|stunden))).*)",
        0.76,
        "der Bezahlknopf geht am Handy nicht",
        "das geht nicht nur dir so",
        unless=r".*\b(?:geht nicht (?:nur|um|darum)|nicht mehr nötig|nicht nur)\b",
    ),
    Rule(
        "de.fixed",
        _ASSISTANT,
        Act.FIX,
        r"(?:(?:ich|wir) (?:habe?|haben)|habe?) (?P<label>[^;]{3,}?) (?:behoben|repariert|gefixt"
        r"|korrigiert|gelöst)",
        0.8,
        "Ich habe den Rundungsfehler behoben",
        "Das zu beheben dauert",
    ),
    Rule(
        "de.did",
        _BOTH,
        Act.CLAIM,
        r"(?:(?:ich|wir) (?:habe?|haben)|habe?) (?:jetzt |nun |dir |schon |gestern |heute |gerade "
        rf"|auch |noch )*(?P<label>[^;,]{{3,}}? {_DONE})(?:$|[\s,;:.].*)",
        0.78,
        "Ich habe die Statusspalte hinzugefügt",
        "Ich habe eine Frage",
    ),
    Rule(
        "de.is_done",
        _BOTH,
        Act.CLAIM,
        rf"(?P<label>[^,;?]{{3,80}}? (?:ist|sind|wurde|wurden|steht|läuft)(?: jetzt| nun| schon"
        rf"| bereits| damit| komplett| alle)* (?:{_DONE}|drin|live|online|da|grün|durch))(?:$"
        r"|[\s,;:.].*)",
        0.72,
        "Die Buchungsseite ist jetzt fertig",
        "Die Suppe ist kalt",
        unless=r"(?:wenn|sobald|bis|falls|ob|wann|das|es|noch nicht) |.*\b(?:nicht|noch nicht|wenn)\b",
    ),
    Rule(
        "de.done_bare",
        _ASSISTANT,
        Act.CLAIM,
        rf"(?P<label>[\pL`'\"/.#_-]+(?: [\pL\pN`'\"/.#_-]+){{0,5}} {_DONE})$",
        0.68,
        "Spalte in der Tabelle ergänzt",
        "was ist hier fertig",
        unless=r".*\b(?:nicht|wird|werden|muss|soll|kann|ist|sind|hat|was)\b",
    ),
    Rule(
        "de.later",
        _USER,
        Act.LATER,
        r"(?P<label>(?:(?:das|den|die|dem|der) [^,;?]{0,50}?)?(?:mach|schreib|prüf|teste|hol"
        r"|bau|klär|frag|red|schick|sag|bestell|probier|erledig|guck|schau)\w* (?:ich|wir) [^?]*?"
        r"(?:morgen|später|nachher|heute abend|nächste woche|am \pL+tag|übermorgen|noch)\b.*"
        r"|(?:morgen|später|nachher|nächste woche|am \pL+tag|übermorgen) (?:\pL+) (?:ich|wir) .{3,})",
        0.74,
        "morgen schreibe ich die Tests für den Warenkorb",
        "morgen ist frei",
    ),
    Rule(
        "de.missing",
        _BOTH,
        Act.LATER,
        r"(?:(?:es |jetzt |da |nur |dann )*(?:fehlt|fehlen|bleibt|bleiben)(?: jetzt| mir| uns)? "
        r"(?:noch |nur noch |also noch )(?P<label>.{3,}))",
        0.78,
        "es fehlt noch die Seite für Rückgaben",
        "mir fehlen die Worte",
    ),
    Rule(
        "de.open",
        _BOTH,
        Act.LATER,
        r"(?P<label>[^,;?]{3,70}? (?:fehlt|fehlen|steht|ist|sind)(?: aber| auch)? (?:noch|noch aus"
        r"|noch offen|noch zu tun))(?:$|[\s.,;].*)",
        0.72,
        "das Impressum fehlt noch",
        "der Laden ist noch auf jeden Fall schön",
        unless=r".*\bnoch (?:auf|da|nie|schön)",
    ),
    Rule(
        "de.use",
        _USER,
        Act.CHOICE,
        r"(?:(?:ok|gut|also|dann|ja|bitte|und|na gut|komm),? )*(?:nimm|nehmt|nehmen sie|nehmen wir"
        r"|wir nehmen|ich nehme|nehm|nehme ich|verwende|verwenden wir|wir verwenden|wir nutzen"
        r"|nutze|nutzen wir|benutze|benutzen wir|wir bleiben bei|bleiben wir bei|bleib bei|ich bleibe bei"
        r"|wir setzen auf|ich entscheide mich für|wir entscheiden uns für|es wird|lass uns|machen wir mit)"
        r" (?P<label>[^?]{2,}?)(?: nehmen| verwenden| nutzen| benutzen| bleiben)?$",
        0.82,
        "wir nehmen die Zahlung im Laden",
        "nimm dir Zeit",
        unless=r"nimm (?:dir|dich|mich|mir)\b|lass uns (?:mal |kurz )?(?:sehen|schauen|reden|anfangen)"
        r"|es wird (?:kalt|spät|zeit|langsam|besser)",
    ),
    Rule(
        "de.then",
        _USER,
        Act.CHOICE,
        r"(?:dann |also )?(?P<label>[^,;?]{3,60}?) (?:also|soll es sein|reicht mir|reicht uns"
        r"|ist ok|passt|ist gut so|bleibt)$",
        0.7,
        "dann ein dynamischer Port also",
        "bis dann",
        unless=r"(?:bis|na|ok|gut|ja|das|es|so|und|was|erst|wie|alles|wann) ?.{0,6} (?:also|dann|passt"
        r"|reicht mir|reicht uns|ist ok|bleibt)$",
    ),
    Rule(
        "de.should",
        _USER,
        Act.WISH,
        rf"(?P<label>(?:der|die|das|den|ein|eine|alle|jede[rs]?|es)(?: {NAMES})? (?:soll|sollen"
        rf"|sollte|muss|müssen|darf|dürfen) .{{4,}})",
        0.65,
        "das Menü soll oben bleiben",
        "das muss reichen",
        unless=r"das (?:muss|sollte) (?:reichen|gehen|so|doch)|(?:ich|wir) ",
    ),
    Rule(
        "de.order",
        _USER,
        Act.REQUEST,
        rf"{_ORDERING}(?P<label>{_IMPERATIVE} .{{3,}})",
        0.8,
        "füge einen Datumsfilter zur Liste hinzu",
        "Macht nichts",
        unless=r"(?:mach|macht|teil|plan|passt?|richt|gib|zeig|hol|stell)(?:t|s|e)? (?:nichts|mir nichts"
        r"|dir|ihr|der|doch|mal sehen|es gut|auf|acht)\b|(?:teste|plane|mache|baue|füge|schreibe"
        r"|prüfe|lege|stelle|setze|hole|suche|schicke|habe) (?:ich|wir)\b",
    ),
    Rule(
        "de.order_behind",
        _USER,
        Act.REQUEST,
        rf"{_ORDERING}(?P<label>[^,;?]{{3,120}}? (?:zu |an)?{_INFINITIVE})(?:$|[\s,;.].*)",
        0.76,
        "bitte noch die Rechnungen als PDF exportieren",
        "das kann man so machen",
        unless=r"(?:das|man|es|kann|könnte|würde|sie|er|die leute|alle) |.*\b(?:kann|könnte|könnten"
        r"|würde|würden|werden|wird|nicht|ob|wie|um|ohne|statt)\b.*",
    ),
    Rule(
        "de.need",
        _USER,
        Act.REQUEST,
        r"(?:ich|wir|mir|uns)(?: auch| noch)? (?:brauche?n?|benötigen?|bräuchten?|möchten?|will"
        r"|wollen|hätten? gern(?:e)?|suchen?|fehlt)(?: auch| noch| dafür| dann| jetzt)* (?P<label>"
        r"(?:ein|eine|einen|noch|den|die|das|mehr|hilfe)\b.{4,})",
        0.75,
        "ich brauche eine Seite für Rückgaben",
        "ich will das verstehen",
        unless=r".*\b(?:verstehen|wissen|sagen|sehen|fragen)$",
    ),
    Rule(
        "de.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:ich (?:würde|schlage|empfehle|rate)(?: vor)?(?:,| dir| ihnen| zu)*|mein vorschlag:"
        r"|vorschlag:|am besten|besser wäre) ?(?P<label>.{4,})",
        0.6,
        "Ich würde Redis für die Sitzungen nehmen",
        "Ich weiß es nicht",
    ),
)

GERMAN: Final = Tongue(
    code="de",
    rules=RULES,
    cues=words_of(
        "nehme nutzen nutze machen mache heute gestern jede jeder alle alles nur ohne andere kannst könnte "
        "hatte waren seit eben halt gerade passt raus "
        "der das und ist nicht ich wir ein eine einen einem einer für mit auf zu zum zur von dem den des auch"
        " noch aber oder wenn dass wie was kann können bitte mach nimm"
        " nehmen lieber doch statt immer nie niemals kein keine keinen jetzt dann schon habe haben wird werden"
        " soll sollen muss müssen sind geht läuft"
        " funktioniert klappt füge ändere lösche erstelle schreibe bau baue prüfe teste zeig ziel entscheidung"
        " erledigt fertig offen fehlt verworfen ja nein danke gut genau"
        " zurück vergiss lass uns mir dir sie morgen später ok beim bei aus nach über im vom als hab unser unsere"
        " mein meine es stell wurde ergänzt angelegt behoben"
    )
    - words_of("was den des die ok dem im also"),
    lead=r"(?:(?:ok|okay|gut|super|perfekt|prima|danke|vielen dank|hallo|hi|moin|guten (?:tag"
    r"|morgen|abend)|ja|nee|nein|also|na gut|klar|genau|stimmt|hm+|ah|ach so|ach|alles klar"
    r"|übrigens|noch was|eins noch|wichtig|verstanden|top|fertig|so|na ja|naja|gerne?)[,.!:–-]+ ?"
    r"|(?:und|aber|also|ja|ok|okay|gut|na gut|so|ach|hm|übrigens|außerdem|achja|denn) )",
    asks=r"(?:warum|wieso|weshalb|wie (?:kann|geht|mache|funktioniert|viel|lange|oft)|was (?:ist"
    r"|sind|meinst|bedeutet|passiert|kostet)|welche[rs]?|wer|wo|wann|wozu)\b",
    polite=r"(?:kannst|könntest|können|könnten|würdest|würden|magst|machst) (?:du|sie|wir|ihr)(?: bitte"
    r"| mir| uns| mal| noch| auch| jetzt| kurz)* (?P<rest>.{4,})",
    supposes=r"(?:wenn |falls |vielleicht|eventuell|evtl|womöglich|man könnte|könnte man|wir könnten"
    r"|theoretisch|zum beispiel|z\.? ?b\.|angenommen|stell dir vor|was wäre|im prinzip|normalerweise"
    r"|generell gilt|üblicherweise|ich überlege|ich dachte|ich frage mich|keine ahnung ob"
    r"|mal sehen|sollten wir|soll ich)",
    reports=r"(?:(?:der|die|das|mein|unser|laut|ein) )?(?:[\pL]+ ){0,3}?(?:sagt|meint|schreibt|behauptet"
    r"|empfiehlt|schlägt vor|will|wollte|möchte|sagte|meinte|fordert)(?:,| dass | immer | man )"
    r"|laut ",
    border=r"\s*;\s+|,\s+(?:und |aber |dann |bitte |also |sonst |außerdem )?|\s+(?:aber|und dann"
    r"|und bitte|und danach|und außerdem)\s+|\s+und\s+(?:nimm|mach|füg|bau|schreib|lösch"
    r"|stell|kein|nie|immer|wir |prüf|teste)|\s+[—–-]\s+|:\s+",
    because=r",?\s*\b(?:weil|denn|da wir|da das|da es|damit|wegen)\s+|^(?:weil|denn|da|damit|wegen"
    r"|das|die|der|ist) |\s+[—–]\s+|\s*\(",
    trailer=r",? (?:bitte|dann|erst mal|erstmal|einfach|vorerst|also|danke|auch|mal|zuerst|wohl|lieber)",
    offers=r"(?:soll ich|sollen wir|möchtest du, dass ich|möchten sie, dass ich|willst du, dass ich"
    r"|magst du, dass ich|wenn du (?:willst|magst|möchtest),? (?:kann|könnte|baue|mache|schreibe) ich"
    r"|ich (?:kann|könnte|würde|schlage vor,?)|wir (?:können|könnten)|mein vorschlag:)(?: dir"
    r"| ihnen| dann| auch| noch| jetzt| gleich)* (?P<label>.{4,})",
    choosing=r"\b(?:wege?|möglichkeit(?:en)?|option(?:en)?|varianten?|alternativen?|lösung(?:en)?|ansätze|stellschrauben)\b",
    either=r"[,;]?\s+oder\s+",
    yes=r"ja|jo|jep|klar|gerne?|ok|okay|mach(?:en)?(?: wir| das| mal| es| so)*|passt|genau|einverstanden"
    r"|super|perfekt|gut|in ordnung|klingt gut|los|weiter|richtig|stimmt|bitte|so machen wir"
    r"(?: es| das|'s)|auf jeden fall|unbedingt|top|prima|abgemacht|deal",
    no=r"nein|nee|nö|lieber nicht|noch nicht|brauchen wir nicht|nicht nötig|lass(?: das| mal"
    r"| es)*|erst mal nicht|jetzt nicht",
    soft=r"danke|bitte|dann|das|so|wir|es|und|alles|sehr|mal|doch|auch|wie du (?:sagst|vorschlägst)" r"|damit",
    both=r"beides|beide|alle|alles|alle beide|alle drei",
    pick=r"die|den|das|der|option|variante|nummer|nr\.?|nimm|wir nehmen|ich nehme|nehmen wir|lieber"
    r"|dann|mit|für|vorschlag|punkt|weg|ich bin für|wir machen|machen wir|gehen wir mit|also|punkt",
    picked=r" (?:variante|option|bitte|weil|klingt|ist|passt|und|hab|machen|nehmen|möglichkeit|lösung" r"|weg)",
    ordinals={
        "erste": 0,
        "ersten": 0,
        "erster": 0,
        "ersteres": 0,
        "erstere": 0,
        "zweite": 1,
        "zweiten": 1,
        "dritte": 2,
        "dritten": 2,
        "letzteres": -1,
        "letztere": -1,
        "letzte": -1,
    },
)
