"""Italian: tu, Lei and the plain infinitive."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.similar import words_of

from .rule import Act, Rule, Speaker
from .tongue import NAMES, Tongue

_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

_WORK: Final = (
    r"(?:aggiung|implement|scriv|sistem|corregg|aggiorn|cambi|modific|togl|elimin|cancell"
    r"|rimuov|rifattorizz|rinomin|spost|migr|convert|configur|install|integr|miglior|ottimizz"
    r"|pul|document|divid|unisc|valid|gener|prepar|finisc|finir|colleg|traduc|tradur|nascond"
    r"|semplific|ridu|aument|inclu|redig|rived"
    r"|adatt|riassum|ordin|calcol|confront|programm|disegn|cre|mont|mett|fa|facci|invi|mand"
    r"|prov|test|verific|complet|defin|organizz|riscriv|pubblic|carica|accorci|mostr|esport"
    r"|import|sostitu)"
    r"(?:a|i|e|o|are|ere|ire|re|iamo|amo|te|ate|ete|ite|ca|chi|che|mi|lo|la|li|le|ci|hi|ndo"
    r"|sci|sca|r|rre|i|isci)*"
)
_DONE: Final = (
    r"(?:aggiunt|implementat|scritt|sistemat|corrett|aggiornat|cambiat|modificat|tolt|eliminat"
    r"|cancellat|rimoss|rinominat|spostat|migrat|configurat|installat|integrat|migliorat"
    r"|ottimizzat|pulit|documentat|divis|unit|generat|preparat|finit|collegat|tradott|semplificat"
    r"|ridott|inclus|redatt|rivist|adattat"
    r"|riassunt|ordinat|calcolat|programmat|creat|montat|mess|fatt|inviat|mandat|provat|testat"
    r"|verificat|completat|definit|organizzat|riscritt|pubblicat|caricat|sostituit|separat"
    r"|applicat)[oaie]"
)
_USE: Final = (
    r"(?:usa|usi|usiamo|usate|usare|useremo|prendi|prendiamo|prendo|andiamo con|andiamo di"
    r"|vado con|scelgo|scegliamo|teniamo|tieni|tengo|restiamo su|restiamo con|rimaniamo su"
    r"|facciamo con|utilizza|utilizziamo|meglio usare|preferisco usare|va bene con|puntiamo su)"
)
_ORDERING: Final = (
    r"(?:(?:per favore|per piacere|adesso|ora|poi|dopo|anche|prima|voglio(?: che)?|vorrei"
    r"(?: che)?|vogliamo|ho bisogno di|abbiamo bisogno di|bisogna|devi|dobbiamo|dovresti"
    r"|puoi|potresti|mi serve|ci serve|aiutami a|mi|ci|e|mi puoi|manca da|resta da),? )*"
)

RULES: Final = (
    Rule(
        "it.goal",
        _BOTH,
        Act.GOAL,
        r"(?:l'|il mio |il nostro )?obiettivo(?: di oggi| principale| è|:)+ ?(?P<label>.{4,})",
        0.92,
        "Obiettivo: una pagina di prenotazione per l'officina",
        "L'obiettivo fotografico è sporco",
        explicit=True,
    ),
    Rule(
        "it.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:decisione(?: finale| presa)?|deciso|abbiamo deciso|stabilito): ?(?P<label>.{2,})",
        0.92,
        "Decisione: prezzi in centesimi",
        "La decisione era dura",
        explicit=True,
    ),
    Rule(
        "it.pending",
        _BOTH,
        Act.LATER,
        r"(?:da fare|in sospeso|manca(?:no)?|resta(?:no)?|prossimi passi|prossimo passo|ancora da fare): ?"
        r"(?P<label>.{3,})",
        0.92,
        "Da fare: tradurre le mail",
        "Dà fastidio",
        explicit=True,
    ),
    Rule(
        "it.done_mark",
        _BOTH,
        Act.CLAIM,
        r"(?:fatto|completato|finito): ?(?P<label>.{3,})",
        0.9,
        "Fatto: tabella dei clienti",
        "Fatto a mano",
        explicit=True,
    ),
    Rule(
        "it.discarded",
        _BOTH,
        Act.REJECT,
        r"(?:scartat[oaie]|respint[oaie]): ?(?P<label>.{2,})",
        0.9,
        "Scartato: pagamento con assegno",
        "Scartare la carta",
        explicit=True,
    ),
    Rule(
        "it.instead",
        _USER,
        Act.REPLACE,
        rf"(?:meglio |{_USE} |metti |mettiamo )*(?P<label>[^,;]{{2,60}}?),? (?:invece (?:di|del"
        r"|della|che|dei)|al posto (?:di|del|della|dei)|anziché|e non) (?P<target>[^,;]+)(?:[,;] "
        r"(?P<reason>.+))?",
        0.9,
        "usa argon2 invece di bcrypt",
        "Dimmi il motivo invece di indovinare",
        whole=True,
        unless=r"(?:dimmi|spiega|mostra|perché)",
    ),
    Rule(
        "it.switch",
        _USER,
        Act.REPLACE,
        r"(?:meglio |allora |poi )*(?:passiamo|passa|passare|cambiamo|migriamo|spostiamoci|passerei)"
        r"(?: tutto)?(?: d(?:a|al|alla|all') (?P<target>[^,;]{2,40}?))? (?:a|al|alla|ad|su|verso) "
        r"(?P<label>.{2,})",
        0.88,
        "passiamo da MySQL a Postgres, regge di più",
        "passa domani",
        unless=r"pass[oa] a (?:trovar|prend)",
    ),
    Rule(
        "it.swap",
        _USER,
        Act.REPLACE,
        r"(?:sostituisci|sostituiamo|sostituire|cambia|rimpiazza) (?:il |la |lo |l')?(?P<target>[^,;]{2,50}?)"
        r" con (?P<label>.{1,})",
        0.9,
        "sostituisci Redux con Zustand",
        "cambia la lampadina",
        whole=True,
    ),
    Rule(
        "it.drop_for",
        _USER,
        Act.REPLACE,
        r"(?:lascia perdere|lasciamo perdere|dimentica|togli|scordati)(?: il| la| lo)? (?P<target>[^,;]{2,50}?)[,;.]"
        r" ?(?:e |andiamo |meglio |poi )*(?:usa|usiamo|con|prendi|prendiamo|meglio|metti) (?P<label>.{2,})",
        0.88,
        "lascia perdere Redux, usiamo Zustand",
        "dimentica tutto, dormi",
        whole=True,
    ),
    Rule(
        "it.turned",
        _USER,
        Act.REPLACE,
        r"(?:alla fine|ripensandoci|pensandoci bene|anzi|ho cambiato idea|meglio)[, ]+(?:no[, ]+)?"
        r"(?:andiamo con |usiamo |facciamo |prendiamo |con |metti |meglio )*(?P<label>.{2,})",
        0.78,
        "alla fine usiamo SQLite",
        "alla fine del mese",
        unless=r"alla fine (?:del|della|di)|meglio (?:di|così|non|tardi|che)|anzi,? (?:no|grazie)$|.*\b"
        r"(?:funziona|ha|è)\b",
    ),
    Rule(
        "it.back",
        _USER,
        Act.RETURN,
        r"(?:allora |meglio )*(?:torniamo|torna|tornare|ritorniamo) (?:a|al|alla|su|all'|indietro a) ?"
        r"(?P<label>.{2,})",
        0.85,
        "torniamo a REST",
        "torno lunedì",
        unless=r".*\bcasa\b",
    ),
    Rule(
        "it.forget",
        _USER,
        Act.RETRACT,
        r"(?:lascia perdere|lasciamo perdere|lascia stare|annulla|dimentica|niente più) (?:il "
        r"|la |i |le |gli |l')?(?P<label>.{3,})",
        0.8,
        "lascia perdere i coupon",
        "lascia la luce accesa",
    ),
    Rule(
        "it.no_want",
        _USER,
        Act.REJECT,
        r"(?:non (?:voglio|vogliamo|usare|usiamo|mi piace|mi convince|useremo|ci serve)|niente"
        r"|senza|nessun|nessuna) (?P<label>.{2,})",
        0.78,
        "niente cookie di terze parti",
        "senza problemi",
        unless=r"senza (?:problemi|dubbio|fretta|volere)|niente (?:di|da|male|paura|panico)|nessun(?:a)? "
        r"(?:problema|fretta|idea)|non voglio (?:che|\pL+re\b)",
    ),
    Rule(
        "it.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:(?:per favore|importante|attenzione|e|ah)[,:]? )*(?:sempre|mai|non (?:toccare"
        r"|cambiare|modificare|cancellare|aggiungere|creare|fare|scrivere|pubblicare|mandare"
        r"|usare mai|\pL+re mai)|rispondi|rispondimi|ogni volta che|d'ora in poi|da adesso in poi"
        r"|tutti i [\pL]+ devono|tutte le [\pL]+ devono|risposte (?:brevi|corte)|prima di (?:ogni"
        r"|cambiare|cancellare|pubblicare|modificare)|vietato|è vietato|dammi sempre|dammi del).{3,})",
        0.84,
        "rispondi sempre in italiano",
        "mai visto prima, bello",
        unless=r"(?:mai|sempre) (?:visto|stato|così|il solito|lo stesso|la stessa)",
    ),
    Rule(
        "it.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:io |noi |a me |mi |ci )*(?:preferisco|preferiamo|preferirei|piace|piacciono|piacerebbe) "
        r"(?:di più )?(?P<label>.{3,})",
        0.76,
        "preferisco le virgolette singole",
        "mi piace",
        unless=r".*piace(?:rebbe)? (?:l'idea|come|sapere)",
    ),
    Rule(
        "it.still",
        _USER,
        Act.STILL,
        r"(?P<label>(?:(?:no|hm|ma)[, ]+)*(?:[^,;]{0,60}? )?(?:ancora (?:non|lo stesso|errore"
        r"|la stessa|rotto|niente)|continua a (?:non|dare|fallire|crash|\pL+re)|non (?:va|funziona"
        r"|parte) ancora|sempre lo stesso errore|stesso errore|di nuovo (?:l'errore|errore|rotto)).*)",
        0.84,
        "il login continua a fallire",
        "ancora un caffè",
    ),
    Rule(
        "it.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>(?:(?:sì|ok|grazie|perfetto|ottimo|bene|adesso|ora|evviva)[,! ]+)*(?:adesso "
        r"|ora |tutto )*(?:funziona|va|parte|risolto|a posto|è a posto|passano|passa)(?: tutto"
        r"| bene| adesso| ora)*(?:$|[,.!] ?.*))",
        0.78,
        "adesso funziona, grazie",
        "come funziona",
        unless=r".*\b(?:ma|non|come|però)\b",
    ),
    Rule(
        "it.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>(?:(?:adesso|ma|oddio|hm|ora|però)[, ]+)*(?:(?:mi )?(?:dà|da|esce|compare"
        r"|restituisce|ricevo|ottengo)(?: un| l'| il| questo)? ?(?:errore|eccezione|5\d\d|4\d\d)"
        r"|non (?:funziona|si apre|carica|salva|compila|parte|appare|risponde|si connette|va)"
        r"|[^,;?]{2,70}? (?:non (?:funziona|funzionano|si apre|carica|salva|compila|parte|appare"
        r"|risponde|si connette|va|arriva|arrivano|si vede|si vedono)|fallisce|falliscono|si blocca"
        r"|si rompe|va in crash|crasha|è (?:rott|vuot|sbagliat|lentissim|sparit|tagliat)[oaie]"
        r"|sono (?:rott|vuot|sbagliat|sparit|doppi)[oaie]?|dà errore|ci mette (?:troppo|\d))).*)",
        0.76,
        "il pulsante di pagamento non funziona sul telefono",
        "se non funziona, riavvia",
        unless=r"se |quando |perché ",
    ),
    Rule(
        "it.fixed",
        _ASSISTANT,
        Act.FIX,
        r"(?:(?:ho|abbiamo) )?(?:corretto|sistemato|risolto|riparato) (?P<label>.{3,})",
        0.8,
        "Ho corretto l'arrotondamento dei prezzi",
        "Correggere richiede tempo",
    ),
    Rule(
        "it.did",
        _BOTH,
        Act.CLAIM,
        r"(?:(?:fatto|ecco|ok|pronto)[,.:!]+ )?(?:l'|te l'|ti |le |li )?(?:ho|abbiamo)(?: già"
        rf"| anche| appena| ora| adesso)* (?P<label>{_DONE} .{{3,}})",
        0.78,
        "Ho aggiunto la colonna di stato",
        "Ho una domanda",
    ),
    Rule(
        "it.is_done",
        _BOTH,
        Act.CLAIM,
        rf"(?P<label>[^,;?]{{3,80}}? (?:è|sono|è stat[oa]|sono stat[ie])(?: già| ora| adesso)* "
        rf"(?:{_DONE}|pront[oaie]|a posto|online))(?:$|[\s.,;].*)",
        0.72,
        "La pagina di prenotazione è pronta",
        "La zuppa è fredda",
        unless=r"(?:quando|se|una volta che|appena) |.*\bnon\b",
    ),
    Rule(
        "it.later",
        _BOTH,
        Act.LATER,
        r"(?:(?:ancora|poi|ci|mi|solo|adesso) )*(?P<label>(?:manca(?:no)?|resta(?:no)?|rimane"
        r"|rimangono)(?: ancora| solo| da)* .{4,})",
        0.76,
        "manca la traduzione degli avvisi",
        "mi manchi tanto",
        unless=r"manca(?:no)? (?:poco|niente)",
    ),
    Rule(
        "it.tomorrow",
        _USER,
        Act.LATER,
        r"(?P<label>(?:[^,;?]{0,50}? )?(?:domani|dopo|più tardi|stasera|lunedì|martedì|mercoledì"
        r"|giovedì|venerdì|la settimana prossima|settimana prossima) (?:[\pL]+ ){0,3}?(?:\pL+"
        r"(?:rò|remo)|scrivo|faccio|facciamo|guardo|provo|chiedo|mando|chiamo|controllo|sento"
        r"|finisco|preparo|parlo)\b.*|(?:lo |la |li |le |ci )?(?:faccio|scrivo|chiedo|guardo"
        r"|mando|sento|chiamo|penso|farò|scriverò|chiederò)\b [^?]{0,60}?(?:domani|più tardi"
        r"|stasera|lunedì|martedì|mercoledì|giovedì|venerdì|settimana prossima|io).*)",
        0.74,
        "domani scrivo i test del carrello",
        "domani è festa",
    ),
    Rule(
        "it.use",
        _USER,
        Act.CHOICE,
        rf"(?:(?:ok|va bene|allora|sì|e|quindi|dai|per favore),? )*{_USE} (?P<label>.{{2,}})",
        0.82,
        "andiamo con il pagamento in negozio",
        "usa la testa",
        unless=r"usa la testa|prendi(?:ti)? (?:tempo|il tuo tempo)|tieni (?:presente|conto)",
    ),
    Rule(
        "it.should",
        _USER,
        Act.WISH,
        rf"(?P<label>(?:il|la|lo|i|le|gli|un|una|ogni|questo|tutto)(?: {NAMES})? (?:deve|devono"
        rf"|dovrebbe|dovrebbero) .{{4,}})",
        0.65,
        "il menu deve stare in alto",
        "il gatto ha fame",
    ),
    Rule(
        "it.order",
        _USER,
        Act.REQUEST,
        rf"{_ORDERING}(?P<label>{_WORK} .{{3,}})",
        0.78,
        "aggiungi un filtro per data alla lista",
        "la prova era lunga",
        unless=r"(?:fa (?:freddo|caldo|male|sì|parte|schifo)|meno|come|prova a|importa (?:poco|che)"
        r"|fare? (?:male|tardi)|testo|provi?|ordine|fai? (?:bene|male)|crede?) ?",
    ),
    Rule(
        "it.need",
        _USER,
        Act.REQUEST,
        r"(?:mi serve|ci serve|mi servono|ci servono|ho bisogno di|abbiamo bisogno di|voglio"
        r"|vogliamo|vorrei|vorremmo|devo|dobbiamo|cerco) (?P<label>.{5,})",
        0.75,
        "mi serve una pagina per i resi",
        "voglio sapere perché",
        unless=r".*(?:voglio|vorrei|devo) (?:sapere|capire|dire|vedere|pensare|andare)",
    ),
    Rule(
        "it.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:(?:io )?(?:propongo|suggerisco|consiglio|raccomando|userei|andrei con|ti consiglio)"
        r"|la cosa migliore (?:è|sarebbe)) (?:di )?(?P<label>.{4,})",
        0.6,
        "Io userei Redis per le sessioni",
        "Quello che dici è vero",
    ),
)

ITALIAN: Final = Tongue(
    code="it",
    rules=RULES,
    cues=words_of(
        "facciamo mettiamo teniamo lasciamo tolto provato oggi ieri ogni può possono senza fino altro altra "
        "stesso messo metto prendo prendiamo usiamo "
        "che gli un una uno per non con del della dei delle degli nel nella sul sulla al alla dal dalla è sono"
        " ho hai abbiamo questo questa quello mi ci ti si anche già ma perché quando come il lo la le di"
        " usa usiamo usare andiamo voglio vorrei aggiungi aggiungere crea creare scrivi fare fai fatto metti"
        " mettiamo cambia togli cancella meglio preferisco sempre mai adesso ora domani allora sì grazie"
        " manca mancano da decisione deciso obiettivo l'obiettivo scartato funziona continua lascia torniamo"
        " passiamo niente senza corretto aggiunto sistemato sostituisci serve più alla fine puoi tutto io userei"
        " propongo suggerisco consiglio"
    )
    - words_of("con come fare si mi un ma hai con la le no per del al non"),
    lead=r"(?:(?:ok|okay|va bene|bene|perfetto|ottimo|grande|grazie(?: mille)?|ciao|buongiorno"
    r"|buonasera|salve|sì|si|no|allora|dunque|quindi|ma|ah|eh|guarda|ecco|capito|certo|esatto"
    r"|giusto|a proposito|per favore|un'altra cosa|inoltre|anche|poi|dai|d'accordo|bello"
    r"|intanto)[,.!:]+ ?|(?:e|ma|quindi|allora|poi|però|inoltre|ah|dai|beh|ok|va bene) )",
    asks=r"(?:perché|come (?:si|posso|faccio|funziona|mai)|qual è|quale|quali|quanto|quanti|dove"
    r"|chi|cosa (?:è|ne|succede|significa)|che cosa)(?: |$)",
    polite=r"(?:(?:mi |ci )?(?:puoi|potresti|può|potrebbe|possiamo|potremmo|riesci a)|è possibile"
    r"|si può)(?: per favore| anche| per piacere| ora)* (?P<rest>.{4,})",
    supposes=r"(?:se (?:non|il|la|lo|si|tu|noi|usa|fos|av|vuo|c'è|do)|quando |forse|magari|eventualmente"
    r"|si potrebbe|potremmo |per esempio|ad esempio|in teoria|immagina|supponiamo|nel caso"
    r"|di solito|in genere|normalmente|avevo pensato|stavo pensando|pensavo|non so se|mi chiedo)",
    reports=r"(?:(?:il|la|lo|i|mio|mia|un|una|secondo) )?(?:[\pL]+ ){0,3}?(?:dice|dicono|ha detto"
    r"|suggerisce|consiglia|pensa|vuole|voleva|raccomanda)(?: che| di| usare)\b|secondo ",
    border=r"\s*[;,]\s+(?:e |ma |poi |anche |però )?|\s+(?:ma|però|e poi|e anche|e dopo)\s+|\s+[—–-]\s+" r"|:\s+",
    because=r",?\s+(?:perché|dato che|visto che|poiché|siccome|così|a causa d[iel]+|in modo che)\s+"
    r"|^(?:perché|dato che|visto che|così) |\s+[—–]\s+|\s*\(",
    trailer=r",? (?:per favore|per piacere|allora|per ora|per adesso|grazie|anche|prima|intanto|quindi)",
    offers=r"(?:(?:vuoi|vuole|volete|preferisci)(?: che)?|(?:se vuoi,? )?(?:posso|potrei|possiamo"
    r"|potremmo|propongo|suggerisco|consiglio))(?: anche| ora| di)* (?P<label>.{4,})",
    choosing=r"\b(?:opzion[ei]|strad[ae]|mod[oi]|alternativ[ae]|vie|soluzioni|possibilità)\b",
    either=r"[,;]?\s+(?:o|oppure)\s+",
    yes=r"sì|si|ok|okay|va bene|certo|perfetto|ottimo|d'accordo|vai|procedi|fallo|fai(?: così"
    r"| pure)?|facciamo(?: così)?|bene|esatto|giusto|benissimo|mi piace|andata|concordo|continua"
    r"|ottima idea|volentieri|dai|assolutamente",
    no=r"no(?: grazie)?|meglio di no|non ancora|per ora no|lascia (?:stare|perdere)|non serve" r"|adesso no",
    soft=r"grazie|per favore|allora|e|così|pure|tutto|come dici tu|con quello|anche",
    both=r"entrambi|entrambe|tutti e due|tutte e due|tutto|tutti|tutte",
    pick=r"la|il|lo|l'|opzione|numero|andiamo con|vado con|scelgo|meglio|prendo|prendiamo|direi"
    r"|preferisco|con|facciamo|passiamo alla?|va(?:do)? per|scegliamo|teniamo",
    picked=r" (?:opzione|perché|che|mi|è|va|sembra|e)",
    ordinals={"prima": 0, "primo": 0, "seconda": 1, "secondo": 1, "terza": 2, "terzo": 2, "ultima": -1, "ultimo": -1},
)
