"""Phrases of Italian, from which the rules for Italian sentences are made. Orders are listed in the forms for tu and
noi, prohibitions also with the infinitive."""

from __future__ import annotations

from typing import Final

from .tongue import make_tongue

ITALIAN: Final = make_tongue(
    "it",
    words={
        "use": r"us(?:a|iamo|are|o|eremo)|andiamo (?:con|su|di)|vado (?:con|di)|prend(?:i|iamo|o)|scel(?:go|to|gliamo)"
        r"|abbiamo scelto|ho scelto|metti(?:amo)?|optiamo per|puntiamo su|va(?:da)? per",
        "rather": r"meglio|piuttosto|allora|quindi|dai|no|alla fine|invece|e|ok|va bene|anzi",
        "part": r"(?:(?:aggiorn|cambi|elimin|cancell|rinomin|spost|migr|configur|install|integr|miglior|ottimizz"
        r"|document|gener|prepar|colleg|semplific|control|adatt|ordin|calcol|program|progett|cre|mont|prov|complet"
        r"|carica|stamp|invi|mand|salv|sistem|verific|pubblic|cancell|attiv|consegn|firm|prenot|compr|applic|ripristin"
        r"|archivi|test|copi|collaud|finalizz|control|caric|esport|import)at|(?:fin|pul|inser|rived|divid|sostitu"
        r"|convert|ricev|defin)[iu]t|fatt|scritt|corrett|mess|tolt|aggiunt|chius|tradott|rivist|divis|ridott|inclus"
        r"|pront)[oaie]",
        "have": r"(?:l'|li |le |lo |la |ci |vi |ti |ne )?(?:ho|abbiamo)|(?:è|sono) (?:stat[oaie] )?|ora è",
        "when": r"(?:domani(?: mattina| sera| pomeriggio)?|dopodomani|stasera|più (?:tardi|avanti)|dopo|la prossima "
        r"settimana|(?:la )?settimana prossima|(?:(?:di|entro|per|da|a) )?(?:lunedì|martedì|mercoledì|giovedì|venerdì"
        r"|sabato|domenica)|(?:a|entro|per) (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre"
        r"|ottobre|novembre|dicembre)|(?:entro )?il \d{1,2}(?: \pL+)?|dopo (?:il |la |le |i |gli |l')\pL+|io)",
        "do": r"(?:faccio|rifaccio|guardo|guardiamo|facciamo|vedo|vediamo|scrivo|mando|chiedo|sistemo|penso|preparo"
        r"|chiamo|sento|controllo|controlliamo|parlo|aggiorno|stampo|ristampo|porto|provo|finisco|consegno|compro"
        r"|\pL{3,}(?:erò|irò|eremo|iremo|arò|aremo))",
        "make": r"(?:aggiung|implement|scriv|corregg|sistem|aggiorn|cambi|tog|elimin|cancell|rinomin|spost|migr"
        r"|convert|configur|install|integr|miglior|ottimizz|pul|document|divid|gener|prepar|fin|colleg|traduc"
        r"|semplific|riduc|includ|rived|control|adatt|riassum|ordin|calcol|confront|program|progett|cre|mont|mett"
        r"|metti|prov|cerc|complet|defin|spieg|fai|fa|stamp|aiut|dimm|dammi|invi|mand|salv|rimuov|sostitu|accorci"
        r"|lancia|verific)(?:[aeiouèò]|are|ere|ire|iamo|ate|ete|mi|lo|la|li|le|ci|h|n|l|r|g|sc)*",
        "asking": r"(?:(?:per favore|ora|adesso|poi|dopo|anche|prima|voglio(?: che)?|vorrei(?: che)?|vogliamo|serve"
        r"|bisogna|devi|dobbiamo|dovresti|puoi|potresti|aiutami a|mi|ci|e) )*",
    },
    rows={
        "goal": r"(?:l'|il nostro |il mio )?obiettivo(?: di oggi| principale| è)*",
        "decided": r"(?:nuova )?decisione(?: presa| finale)?|deciso|abbiamo deciso|si è deciso|concordato",
        "pending": r"da fare|in sospeso|(?:resta|manca)(?: da fare)?|prossimi passi|todo",
        "done_mark": r"fatto|finito|completato",
        "discarded": r"scartat[oaie]|rifiutat[oaie]",
        "instead": (
            r"(?:(?:<use>|<rather>) )*<new>,? (?:invece (?:di|del|della|che)|al posto (?:di|del|della|dell')|anziché"
            r") ?<old><end>",
            r"(?:<rather> )*(?:<use> )+<new>,? e non <old><end>",
            r"(?:<rather> )*(?:invece|al posto) (?:di|del|della|dell') ?<old>,? (?:<rather> )*<use> <new><end>",
            r"(?:(?:ho cambiato idea|<rather>)[,:]? )*(?:passiamo|passa|cambi(?:a|amo)|migr(?:a|iamo)|sostitui(?:sci"
            r"|amo)|spostiamo|torniamo) (?:tutto )?(?:da |dal |dalla |il |la )<old> (?:a|al|alla|su|con|in) <new><end>",
            r"(?:<rather>,? )*(?:lascia (?:perdere|stare)|dimentica|togli|via|niente|basta) (?:il |la |l'|i |le |con "
            r")?<old>[,;.] ?(?:<rather> )*<use> <new><end>",
            r"(?:il |la |l')?<old> (?:(?:è|costa|va) (?:troppo )?\pL+|no), (?:<rather> )*(?:<use>|meglio|passiamo a) "
            r"<new><end>",
        ),
        "no_want": (
            r"(?:<rather>,? )*(?:non (?:voglio|vogliamo|usiamo|usare|mi convince|ci serve|serve)(?: più)?|niente|senza"
            r"|nessun[ao]?|basta|scart(?:o|iamo)|lascia perdere|togli|evitiamo) (?:il |la |l'|i |le |con )?<new><end>",
        ),
        "bare": r"(?P<label>(?:è )?<part>[,.;:] ?.{4,}|<part> (?:in|con|a|al|alla|per|il|la|i|le|nel|nella|sul) .{4,})",
        "plan": (
            r"(?:(?:lo|la|li|le|ci|ne|io|gli) )*<do> (?:[^;?]{0,60}? )?<when>",
            r"<when>,? (?:lo |la |le |ci |io )*<do>|(?:ci pensa|se ne occupa|lo fa|la fa) \pL+",
        ),
        "back": r"(?:torniamo|torna|ritorniamo) (?:a|al|alla|allo|su|con) <all>",
        "turned": r"(?:alla fine|ripensandoci|pensandoci bene|anzi|piuttosto|meglio)[, ]+(?:<use> |con )*<all>",
        "rule": r"(?P<label>(?:(?:per favore|importante|attenzione|e|ma)[,:]? )*(?:sempre|mai|non (?:\pL+are|\pL+ere"
        r"|\pL+ire) |d'ora in poi|da adesso|ogni volta|prima di ogni|tutt[ei] (?:i|le|gli) \pL+ (?:devono|deve)"
        r"|rispond|solo in|vietato|nessuno (?:deve|può)|non si (?:deve|può)|diamo del) ?.{3,}|.{3,60}? (?:deve|devono"
        r"|non (?:deve|devono|può|possono)) .{4,})",
        "works": r"(?:ora|adesso|tutto) (?:\pL+ )?(?:funziona|va|parte|passa)|funziona(?: tutto)?|va bene ora|risolto"
        r"|era quello",
        "use": (
            r"(?:<rather>,? )*<use> (?:di |sul? |con )?<all>",
            r"per [^,;?]{2,40} (?:abbiamo deciso|<use>)[:,]? <all>",
            r"(?:abbiamo|ho) deciso(?: che| di|:) <all>",
        ),
        "complaint": (
            r"non (?:si |mi |ci |li |lo )?(?:funziona|va|parte|carica|apre|salva|arriva|compare|appare|risponde"
            r"|compila|vede|stampa|aggiorna|torna|invia|legge|trova|corrispond|coincid|entra|sta)\pL*",
            r"(?:due|tre) volte|si (?:blocca|rompe|chiude|impalla|pianta|inchioda|sovrappone|spegne|perde|duplica)\pL*"
            r"|va in crash|crasha|fallisc\pL+|errore",
            r"(?:è|sono|esce|escono|risulta|viene|arriva)(?:no)? (?:\S+ ){0,2}(?:rott|sbagliat|vuot|doppi|duplicat"
            r"|tagliat|storto|lent|bloccat|sfocat)\pL*|ci mette (?:\S+ ){0,2}(?:troppo|un'eternità|\d+ (?:secondi"
            r"|minuti|ore))",
        ),
        "fixed": r"(?:corrett|risolt|riparat|sistemat)[oaie]",
        "did": (
            r"<have>(?: già| anche| ora| subito)* ?<part>|^<part> [^?]{4,}",
            r"(?:è|sono|ora è) (?:già |ora )?(?:pront|onlin|a posto)\pL*",
        ),
        "later": r"(?:manca|mancano|resta|restano|rimane|rimangono)(?: ancora| solo| da)* .{4,}|non ancora|più avanti"
        r"|da fare|(?:bisogna|devo|dobbiamo) (?:ancora|anche) .{4,}|rimand\pL+ .{4,}",
        "set": r"(?:facciamo|mettiamo|teniamo|lasciamo|tieni|lascia|restiamo|prendiamo|torno|rimaniamo) (?:a |con |su "
        r"|in |il |la |lo |i |le |tutto |solo |\d).{2,}|^\d+ allora",
        "order": r"<asking>(?P<label><make> .{3,})",
        "need": r"(?:(?:mi |ci )?serv(?:e|ono)|ho bisogno di|voglio|vorrei|vorremmo|vogliamo|cerco) (?P<label>.{5,})",
        "result": r"^(?:[\pL\pN`'\"/.#_()-]+ ){1,6}<part>$",
    },
    unless={
        "instead": r"(?:dimmi|spiega|mostra|perché)\b|.*\be non (?:so|posso|ho|c'è|mi|ti|lo|la)\b",
        "no_want": r"non (?:voglio|vogliamo) (?:che|\pL+(?:are|ere|ire)\b)|(?:senza|niente|nessun) (?:dubbio|problema"
        r"|problemi|fretta|altro|male)|basta (?:che|così)|lascia perdere$",
        "rule": r".*\b(?:non so|se|quando|perché non|ho mai|è mai)\b|sempre (?:la|lo|il|più|stesso)\b|mai (?:più "
        r")?(?:visto|avuto)|(?:io |chi |che |quanto )",
        "complaint": r"(?:se|quando|perché|così che|che) |non (?:va bene|mi va|si preoccupi|arriva prima)|.*(?:senza "
        r"errori|non più|errore mio)",
        "fixed": r".*\b(?:non|va|da|devo|bisogna)\b",
        "did": r"(?:quando|se|finché|una volta|che|chi|come) |.*\b(?:non|manca|visto|detto|pensato|notato|stato a"
        r"|provato a|potuto|voluto|avuto|capito|sentito|saranno|verrà|deve|dovrebbe|letto|sbagliat\pL|bloccat\pL"
        r"|vuot\pL|malat\pL)\b",
        "order": r"(?:fa|fatt|ordin|fin|prov|mett|cambi|control|cre|adatt|salv)(?:o|a|e|i|h)?(?:no|sc)? (?:che|da|di"
        r"|fa|freddo|male|parte)\b|(?:prima|fine|fino|prova|crede?|credo|mandi|fai|fa|finora) (?:di|che|a|parte|male"
        r"|il)\b",
        "need": r"(?:voglio|vorrei) (?:sapere|capire|dire|vedere)\b|non serve",
        "result": r"(?:se|quando|manca|un|una|non|che|per|con|è|di|in|a|il mio capo) .*|.*\b(?:non|senza|manca|se"
        r"|quando|deve|sarà|per|può|che|con|è|ho|abbiamo)\b",
    },
    ahead={
        "hands": (r"(?:(?:questo|quello|lo|la|li|le|ci|ne) )+<do>(?: io| noi)?(?: <when>)?",),
        "left": (
            r"(?:devo|dobbiamo|bisogna|c'è da) (?:ancora|anche) .{4,}|(?:devo|dobbiamo) (?:chiamare|chiedere|parlare"
            r"|sentire|mandare|comprare|prenotare|avvisare) .{3,}",
            r"(?:aspetto|aspettiamo|sto aspettando|stiamo aspettando) .{4,}",
            r".{3,60} (?:può|possono|deve|devono) aspettare\b.*|.{3,60} non (?:è|sono|l'ho|li ho|ho|abbiamo) ancora .*",
        ),
        "plans": (
            r"(?:e )?(?:il|lo|la|i|gli|le|l')\b.{3,50} (?:lo|la|li|le) <do>(?: io| noi)? <when>",
            r"(?:io |noi )?<do> .*<when>",
        ),
        "times": (r"(?:(?:ma|però|meglio|solo|fallo|falla) )*<when>",),
        "hollow": r"(?:lo|la|li|le) (?:faccio|farò|facciamo)\b(?: io| noi)?",
        "past": r".*\b(?:ieri|sempre|ogni|era|stava)\b",
    },
    said={
        "lead": r"(?:(?:ok|okay|va bene|bene|perfetto|ottimo|grande|grazie(?: mille)?|ciao|buongiorno|buonasera|salve"
        r"|sì|si|no|allora|dunque|quindi|ma|ah|eh|guarda|ecco|capito|certo|esatto|giusto|a proposito|per favore"
        r"|un'altra cosa|inoltre|anche|poi|dai|d'accordo|bello|intanto)[,.!:]+ ?|(?:e|ma|quindi|allora|poi|però"
        r"|inoltre|ah|dai|beh|ok|va bene) )",
        "asks": r"(?:perché|come (?:si|posso|faccio|funziona|mai)|qual è|quale|quali|quanto|quanti|dove|chi|cosa (?:è"
        r"|ne|succede|significa)|che cosa|secondo te)(?: |$)",
        "polite": r"(?:(?:mi |ci )?(?:puoi|potresti|può|potrebbe|possiamo|potremmo|riesci a)|è possibile|si può)(?: "
        r"per favore| anche| per piacere| ora)* (?P<rest>.{4,})",
        "supposes": r"se (?:[^n]|n[^e])|quando |forse|magari|eventualmente|si potrebbe|potremmo |per esempio|ad "
        r"esempio|in teoria|immagina|supponiamo|nel caso|di solito|in genere|normalmente|avevo pensato|stavo pensando"
        r"|pensavo|non so se|mi chiedo",
        "reports": r"(?:(?:il|la|lo|i|mio|mia|un|una|secondo) )?(?:[\pL]+ ){0,3}?(?:dice|dicono|ha detto|suggerisce"
        r"|consiglia|pensa|vuole|voleva|vorrebbe|raccomanda)(?: che| di| usare| tutto)\b|secondo ",
        "border": r"\s*[;,]\s+(?:e |ma |poi |anche |però )?|\s+(?:ma|però|e poi|e anche|e dopo)\s+|\s+[—–-]\s+|:\s+",
        "because": r",?\s+(?:perché|dato che|visto che|poiché|siccome|così|a causa d[iel]+|in modo che)\s+|^(?:perché"
        r"|dato che|visto che|così) |\s+[—–]\s+|\s*\(",
        "trailer": r",? (?:per favore|per piacere|allora|per ora|per adesso|grazie|anche|prima|intanto|quindi)",
        "offers": r"(?:(?:vuoi|vuole|volete|preferisci)(?: che)?|(?:se vuoi,? )?(?:posso|potrei|possiamo|potremmo"
        r"|propongo|suggerisco|consiglio))(?: anche| ora| di)* (?P<label>.{4,})",
        "choosing": r"\b(?:opzion[ei]|strad[ae]|mod[oi]|alternativ[ae]|vie|soluzioni|possibilità)\b",
        "yes": r"sì|si|ok|okay|va bene|certo|perfetto|ottimo|d'accordo|vai|procedi|fallo|fai(?: così| pure)?"
        r"|facciamo(?: così)?|bene|esatto|giusto|benissimo|mi piace|andata|concordo|continua|ottima idea|volentieri"
        r"|dai|assolutamente",
        "no": r"no(?: grazie)?|meglio di no|non ancora|per ora no|lascia (?:stare|perdere)|non serve|adesso no",
        "soft": r"grazie|per favore|allora|e|così|pure|tutto|come dici tu|con quello|anche",
        "both": r"entrambi|entrambe|tutti e due|tutte e due",
        "every": r"tutto|tutti|tutte",
        "pick": r"la|il|lo|l'|opzione|numero|andiamo con|vado con|scelgo|meglio|prendo|prendiamo|direi|preferisco|con"
        r"|facciamo|passiamo alla?|va(?:do)? per|scegliamo|teniamo",
        "picked": r" (?:opzione|perché|che|mi|è|va|sembra|e)",
    },
    ordinals="prima|primo seconda|secondo terza|terzo -1 ultima|ultimo",
    cues="abbiamo adesso aggiungere aggiungi aggiunto alla allora altra altro anche andiamo cambia cancella che ci "
    "consiglio continua corretto crea creare da dal dalla decisione deciso degli dei della delle di domani facciamo "
    "fai fatto fine fino funziona già gli grazie ho ieri il io l'obiettivo lascia lasciamo lo mai manca mancano "
    "meglio messo metti mettiamo metto nel nella niente obiettivo oggi ogni ora passiamo perché più possono "
    "preferisco prendiamo prendo propongo provato puoi può quando quello questa questo scartato scrivi sempre senza "
    "serve sistemato sono sostituisci stesso suggerisco sul sulla sì teniamo ti togli tolto torniamo tutto una uno "
    "usa usare userei usiamo voglio vorrei è",
)
"""The phrases and rules of Italian (see ``tongue.Tongue``)."""
