"""Phrases of Spanish, from which the rules for Spanish sentences are made. Orders are listed in the forms for tú, usted
and vosotros."""

from __future__ import annotations

from typing import Final

from .tongue import make_tongue

SPANISH: Final = make_tongue(
    "es",
    words={
        "use": r"us(?:a|ar|e|emos|amos|aremos|ad)|utili(?:za|zar|cemos|zamos)|vamos (?:con|a usar|a por)|voy (?:con|a "
        r"usar)|(?:me|nos) qued(?:o|amos) con|quedémonos con|quedamos en|eli(?:jo|ge)|elegimos|elegí|escojo|escogemos"
        r"|prefiero usar|que sean?|tir(?:a|amos|emos) (?:con|de|por)|apostemos por|opt(?:o|amos) por|hemos (?:elegido"
        r"|decidido)|he (?:elegido|decidido)|pon(?:gamos|emos)?|dejamos|mantenemos|conservamos|cogemos",
        "rather": r"mejor|pues|entonces|y|así que|no|al final|ok|vale|por favor",
        "part": r"(?:agreg|añad|implement|actualiz|cambi|quit|elimin|borr|refactoriz|renombr|mov|migr|configur|despleg"
        r"|instal|integr|mejor|optimiz|limpi|document|divid|junt|valid|gener|prepar|termin|conect|traduc|simplific"
        r"|reduc|redact|revis|ajust|adapt|resum|orden|calcul|program|diseñ|cre|mont|sub|envi|mand|prob|complet|defin"
        r"|organiz|public|guard|aplic|restaur|cerr|activ|verific|comprob|entreg|recib|firm|reserv|compr|pag|arregl"
        r"|correg|export|import|ampli|reemplaz|sustitu|pas|copi|separ)[aií]d[oa]s?|(?:hech|escrit|puest|resuelt|list"
        r"|impres)[oa]s?",
        "have": r"(?:te |lo |la |los |las |se |me |ya )*(?:he|hemos|han)|ya (?:está|están)|queda(?:n|do)?|está|están",
        "when": r"(?:mañana(?: por la \pL+)?|pasado mañana|luego|más tarde|más adelante|esta (?:tarde|noche|semana)"
        r"|(?:para )?(?:el|este|hasta el) (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo|\d{1,2}(?: de "
        r"\pL+)?)|la (?:próxima semana|semana que viene)|(?:en|para) (?:enero|febrero|marzo|abril|mayo|junio|julio"
        r"|agosto|septiembre|octubre|noviembre|diciembre)|(?:para )?después(?: de .{3,30})?|yo(?: mism[oa])?|a "
        r"primera hora)",
        "do": r"(?:hablo|miro|hago|pido|pregunto|llamo|mando|envío|entrego|termino|reviso|pruebo|subo|escribo|compro"
        r"|aviso|imprimo|monto|cierro|paso|preparo|consulto|hablamos|hacemos|vemos|miramos|lanzamos|\pL{3,}(?:aré|eré"
        r"|iré|aremos|eremos|iremos)|voy a \pL+)",
        "make": r"(?:agreg|añad|anad|implement|escrib|arregl|correg|corrij|actualiz|cambi|quit|elimin|borr|refactoriz"
        r"|renombr|mov|muev|migr|conv[ie]*rt|configur|despl[ie]*g|instal|integr|mejor|optimiz|limpi|document|extra"
        r"|divid|junt|valid|gener|prepar|termin|conect|traduc|traduzc|escond|simplific|simplifiqu|reduc|reduzc|aument"
        r"|inclu|redact|revis|ajust|adapt|resum|orden|calcul|compar|investig|program|diseñ|cre|mont|met|pon|pas|haz"
        r"|hac|hag|arm|sub|env[ií]|mand|prob|prueb|busc|complet|defin|organiz|expl[ií]c|expliqu|ayúd"
        r"|ayud)(?:[aeiouáéíóú]|ar|er|ir|emos|amos|en|an|es|as|n|r|d|ás|és|me|lo|la|le|los|las|nos|te|mos|l)*",
        "asking": r"(?:(?:por favor|porfa|ahora|luego|después|también|primero|(?:quiero|quisiera|queremos|necesit(?:o"
        r"|amos)|me gustaría)(?: que)?|hay que|tienes que|tenemos que|deb(?:es|emos)|vamos a|ay[uú]da(?:me|nos) a|toca"
        r"|falta|puedes|podrías|podemos|a ver si|y|me|nos|te|le) )*",
    },
    rows={
        "goal": r"(?:el |mi |nuestro )?objetivo(?: de hoy| principal| es)*",
        "decided": r"(?:nueva )?decisi[oó]n(?: nueva| final| tomada)?|(?:queda )?decidido|acordado",
        "pending": r"pendientes?|por hacer|falta|queda por hacer|siguiente|próximos? pasos?",
        "done_mark": r"hecho|listo|terminado|completado",
        "discarded": r"descartad[oa]s?|rechazad[oa]s?",
        "instead": (
            r"(?:(?:<use>|<rather>|cambia a|pasa a|hazlo con) )*<new>,? en (?:vez|lugar) de <old><end>",
            r"(?:<rather> )*(?:(?:<use>|cambia a|pasa a|hazlo con) )+<new>,? y no <old><end>",
            r"(?:<rather> )*en (?:vez|lugar) de(?:l)? <old>,? (?:<rather> )*(?:<use> )+<new><end>",
            r"(?:<rather>,? )*(?:cambi(?:a|emos|amos|o|ar)|pas(?:a|emos|amos|o)|mig(?:ra|remos|ramos)|sustitu\pL+"
            r"|reempla\pL+)(?:nos|lo|la|te)?(?: todo)? (?:de |el |la |los |las )?<old> (?:a|por) <new><end>",
            r"(?:<rather>,? )*(?:olvid\pL+(?: de)?|quita|deja|dejemos|fuera|nada de) (?:el |la |lo del? )?<old>[,;.] "
            r"?(?:<rather> )*(?:<use> )+<new><end>",
            r"(?:el |la |los |las )?<old> (?:(?:es|sale|va|queda|está) (?:muy |demasiado )?\pL+|no), (?:<rather> "
            r")*(?:<use>|mejor|cambia a|pasamos a) (?:con )?<new><end>",
        ),
        "no_want": (
            r"(?:<rather>,? )*(?:no (?:quiero|queremos|us(?:es|emos|amos)|pongas|metas|metamos|vamos a usar|me "
            r"convence|nos sirve)(?: más)?|nada de|sin|paso de|descart(?:o|amos|ad[oa])|ni hablar de|fuera) <new><end>",
            r"<new> no, (?:que |porque |es que |nos |me )(?P<reason>.+)",
            r"(?:el |la )?<new> (?:queda|está|lo|la) (?:descartad[oa]|descart(?:o|amos))<end>",
        ),
        "bare": r"(?P<label>(?:ya )?(?:está )?<part>(?: ya)?[,.;:] ?.{4,}|<part> (?:en|con|a|al|por|el|la|los|las) "
        r".{4,})",
        "plan": (
            r"(?:(?:lo|la|los|las|le|se lo|yo) )*<do> (?:[^;?]{0,60}? )?<when>",
            r"<when> (?:lo |la |le |te |me )*<do> .{3,}",
            r"(?:lo|la|los|las) (?:llevan?|hacen?|hará|mira|revisa|prepara|firma|trae|manda|pide|gestiona) (?:\pL+ "
            r"?){1,3}$",
        ),
        "switch": r"(?:<rather>,? )*(?:cambi(?:a|emos|amos|o)|pas(?:a|emos|amos|o)|mig(?:ra|remos|ramos))(?:nos|lo|la"
        r"|te)?(?: todo)? a <all>",
        "back": r"(?:volv(?:amos|emos|er)|vuelve|regresemos) a(?: lo del?| la| el)? <all>",
        "turned": r"(?:al final|pens[aá]ndolo bien|mejor dicho|no, mejor|mejor)[, ]+(?:con |que sea |<use> |lo "
        r"hacemos con )?<all>",
        "rule": r"(?P<label>(?:(?:por favor|importante|ojo|y|pero)[,:]? )*(?:siempre|nunca|jamás|no (?:toques|cambies"
        r"|borres|hagas|añadas|agregues|escribas|modifiques|olvides|subas|mezcles|incluyas|envíes|publiques)|respond"
        r"|contest|todo (?:debe|tiene que|se queda)|tod[oa]s l[oa]s|cada vez que|a partir de ahora|de ahora en "
        r"adelante|respuestas (?:cortas|breves)|ningún|ninguna|nada de \pL+ (?:en|de|con)).{3,}|.{3,60}? (?:nunca|no) "
        r"(?:se )?(?:deben?|pueden?|tienen? que) .{3,}|.{3,60}? (?:deben?|tienen? que|han? de) .{4,})",
        "works": r"(?:ya|ahora) (?:\pL+ ){0,4}?(?:funciona|va|van|entra|sale|pasa)n?(?: bien)?|va bien|anda bien"
        r"|quedó bien|eso era|solucionado|resuelto",
        "prefer": r"(?:yo )?(?:prefiero|preferimos|preferiría|(?:me|nos) gustan?(?: más)?) <all>",
        "use": (
            r"(?:(?:<rather>),? )*<use> <all>",
            r"(?:para|en) [^,;?]{2,40} (?:usamos|usa|usemos|vamos con|ponemos|tiramos de|cogemos) <all>",
            r"(?P<label>(?:la|el|los|las) [^,;?]{2,50}? mejor (?:el|la|los|las|con|sin|en|a|de|por|para) .{1,})",
        ),
        "complaint": (
            r"(?:da|dio|dan|sale|salta|tira|aparece|devuelve|lanza|devuelven)(?: un| el| este| una| siempre)* (?:error"
            r"|excepción|fallo|vacío|cero|[45]\d\d)\pL*",
            r"no (?:me |se |nos )?(?:funciona|arranca|compila|carga|abre|guarda|llega|sale|aparece|conecta|responde"
            r"|deja|coincide|cuadra|ve|actualiza|envía|imprime|muestra)n?",
            r"se (?:cuelga|rompe|cae|cierra|borra|bloquea|cayó|rompió|apaga|duplica|repite|pierde|pisa|mezcla|corta"
            r"|desconecta|reinicia)n?(?: solo)?",
            r"(?:está|están|sale|salen|salió|queda|quedó|llega|llegan|aparece|ve)n? (?:\S+ ){0,2}?(?:rot|mal|vací|en "
            r"blanco|duplicad|cortad|dos veces|caíd|equivocad|desordenad)\pL*",
            r"fallan?|falló|fallaron|fallando|petó|peta|revienta|pesan? 0|(?:ha dejado|dejó|dejaron) de \S+|rechaz(?:ó"
            r"|aron|ad[oa])|tardan? (?:\S+ ){0,2}(?:mucho|demasiado|una eternidad|\d+ (?:segundos|minutos|horas))|va "
            r"(?:muy|demasiado) lent[oa]",
        ),
        "fixed": r"(?:(?:corregid|arreglad|solucionad|resuelt|reparad)[oa]s?|corregí|arreglé|solucioné|resolví|reparé)",
        "did": (
            r"<have> (?:ya |bien )?<part>|^<part> [^?]{4,}",
            r"(?:agregu|añad|implement|cre|actualic|cambi|quit|elimin|borr|migr|configur|instal|integr|mejor|prepar"
            r"|termin|conect|redact|revis|ajust|apliqu|gener|sub|envi|mand|complet|separ)(?:é|í)|escribí|moví|traduje"
            r"|hice|puse|dividí|resumí",
            r"ya (?:mandó|llegó|envió|firmó|pagó|respondió)",
        ),
        "later": r"(?:quedan?|faltan?|(?:nos|me) faltan?|está pendiente|sigue pendiente)(?: todavía| aún| por| "
        r"pendiente)* .{4,}|(?:aún|todavía) (?:no|está)|más adelante|l[oa]s? dejamos para|por hacer|dejamos para"
        r"|tengo que .{3,}",
        "set": r"(?:lo |la |los |las )?(?:dejamos|mantenemos|conservamos|nos quedamos con|quedamos en) .{3,}|^(?:los"
        r"|las|el|la) [^,;?]{2,40} que (?:salg|vay|se|us|teng|llev|vien|est)\pL{1,4} (?:con|por|en|de|a|sin) .{2,}"
        r"|^tod[oa]s? \pL{4,}(?:$|, .*)",
        "order": r"<asking>(?P<label><make> .{3,})",
        "need": r"(?:necesit(?:o|amos)|quiero|queremos|(?:me|nos) (?:hace|haría) falta|quisiera|busco) "
        r"(?P<label>.{5,})",
        "result": r"^(?:[\pL\pN`'\"/.#_()-]+ ){1,7}<part>$|^(?:[\pL\pN-]+ ){1,4}complet[oa]s?[,:] .{3,}",
    },
    unless={
        "instead": r"(?:dime|explica|muestra|por qué|qué)\b|.*\by no (?:s[eé]|puedo|tengo|hay|me|te|lo|la)\b",
        "no_want": r"no quiero (?:que|molest|\pL+[aei]r\b)|sin (?:embargo|duda|problema|querer|cambios|más)|(?:.* "
        r")?(?:ya|aún|todavía|ahora|hoy|mañana|eso|esto|creo que|que|si|por qué|así|yo|tú) no,|nada de \pL+ (?:en|de"
        r"|con)",
        "plan": r"(?:si|cuando|como) |.*te (?:digo|cuento|aviso)$|.*\b(?:ayer|siempre|pasad[oa])\b",
        "switch": r"pas[ao] a (?:ver|busc|recog|las? |por)",
        "back": r"(?:vuelve|volver|volvamos|volvemos) a [\pL]+[aei]r\b|.*\bcasa\b",
        "turned": r"al final (?:del|de)\b|mejor (?:que|dicho que|así|todavía|me|te|no)\b|.*\b(?:funciona|está|es)\b",
        "rule": r"siempre se|(?:siempre|nunca|jamás) (?:me|ha|he|hemos|falla|fall|da|dio|funcion|pasa)|tod[oa]s "
        r"l[oa]s (?:días|años)|no olvides|.* debe(?:n)? de |.*\b(?:tengo|tenemos|si) que|(?:si|cuando|creo) ",
        "works": r".*\b(?:pero|no|con gasolina|si|cuando|cómo|falta)\b",
        "complaint": r"(?:si|cuando|para que|que|por si) |no se (?:preocup|te)|no me deja de|no me importa|.*(?: sin "
        r"error| ya no |no fall|por si )",
        "did": r"(?:cuando|si|hasta que|una vez|que|para) |.*\b(?:no|falta|faltan|pensado|visto|dicho|sido|notado"
        r"|querido|podido|tenido|gustado|preguntado|leído|será|debe|cuidado|mejor que|list[oa]s? para)\b",
        "order": r"(?:para|como|creo|mira|hace|hacen|una?|unos|unas|pasa|pon(?:ga)?mos por caso|es|más|mejor|menos"
        r"|pones|cambian|prueba de|crees?|cada|pasan|ha|haya|hacía|mejora de|extra|busca de|hacia|paso|medio|mejores"
        r"|pasado) ",
        "need": r"(?:quiero|quisiera|necesito) (?:saber|decir|ver|entender|pensar|mucho)\b",
        "result": r"(?:si|cuando|falta|faltan|hay|quiero|necesito|debe|un|una|unos|unas|no|que|para|con|tras|es|está"
        r"|de|en|a) .*|.*\b(?:no|sin|falta|si|cuando|debe|será|por|para|puede|que|con)\b|(?:\pL+[aei]r|asegúrate"
        r"|comprueba|verifica) .*",
    },
    ahead={
        "hands": (
            r"(?:(?:eso|lo|la|los|las|le|me|ya) )+<do>(?: yo)?(?: (?:con|a) (?:el |la )?\pL+)?(?: <when>)?",
            r"(?:eso |lo |la |los |las |de eso )+(?:lleva|hace|mira|prepara|arregla|se encarga|se ocupa) "
            r"(?-i:\p{Lu}\pL+)(?: <when>)?",
            r"(?:eso |esto )?(?:queda |lo dejamos |es |mejor )*<when>",
        ),
        "left": (
            r"(?:todavía |aún |también )?(?:tengo|tenemos|hay) que (?:hablar|llamar|pedir|preguntar|comprar|mandar"
            r"|enviar|revisar|confirmar|decidir|avisar|reservar) .{3,}|(?:todavía|aún) (?:tengo|tenemos|hay) que .{4,}",
            r"(?:estoy|estamos|sigo|seguimos) (?:esperando|a la espera de) .{3,}|(?:espero|esperamos) (?:la respuesta"
            r"|a que) .{3,}",
            r".{3,60} (?:puede|pueden|tiene que|tendrá que) esperar\b.*|.{3,60} (?:todavía|aún) no (?:está|están|se ha"
            r"|he|hemos) .*",
        ),
        "plans": (
            r"(?:\pL+ )?<do> .*<when>",
            r"(?:la|el|los|las) .{3,40} (?:mejor|queda|quedan|será|lo dejamos) (?:para )?<when>",
        ),
        "hollow": r"(?:eso |lo |la |los |las )+(?:hago|haré|hacemos)\b(?: yo)?",
        "past": r".*\b(?:ayer|siempre|cada|era|estaba)\b",
    },
    said={
        "lead": r"(?:(?:ok|okay|vale|bueno|bien|perfecto|genial|gracias|muchas gracias|hola|buenas(?: tardes| noches)?"
        r"|buenos días|oye|mira|pues|entonces|y|pero|ah|uf|sí|si|claro|listo|dale|de acuerdo|por cierto|por favor"
        r"|porfa|una cosa(?: más)?|además|también|ahora|eh|venga|guay|estupendo|excelente|ya|a ver|espera|no)[,.!:]+ ?"
        r"|(?:ah y|y|pero|pues|oye|además|también|bueno|vale|ok|entonces) )",
        "asks": r"(?:por qué|qué (?:es|son|pasa|opinas|recomiendas|diferencia|tal)|cómo (?:se|puedo|hago|funciona|va)"
        r"|cuál(?:es)?|cuánt[oa]s?|dónde|quién)\b",
        "polite": r"(?:(?:me |nos )?(?:puedes|podrías|puede|podría|podéis|podemos|podríamos|te importaría|sería "
        r"posible)(?: por favor)?) (?P<rest>.{4,})",
        "supposes": r"si \pL|cuando |quizás?|tal vez|a lo mejor|igual podr|podría(?:mos|s)? |por ejemplo|en teoría"
        r"|imagina|supongamos|suponiendo|en caso de|normalmente|en general|habitualmente|había pensado|estaba pensando"
        r"|no s[eé] si|dudo",
        "reports": r"(?:(?:el|la|los|mi|un|una|según) )?(?:[\pL]+ ){0,3}?(?:dice|dicen|dijo|propone|recomienda|sugiere"
        r"|opina|quiere|quería|insiste)n? (?:que|usar|en|un)\b|según ",
        "border": r"\s*[;,]\s+|\s+(?:pero|y además|y también|y luego|y después)\s+|\s+y (?:no |que )|\s+[—–-]\s+|:\s+",
        "because": r",?\s+(?:porque|ya que|puesto que|dado que|así|para que|que así|pues|por culpa de|es que)\s+"
        r"|^(?:porque|ya que|es que|así|para que) |\s+[—–]\s+|\s*\(",
        "trailer": r",? (?:por favor|porfa|entonces|por ahora|mejor|y ya|y listo|gracias|también|primero|de momento)",
        "offers": r"(?:(?:quieres|quiere|queréis|[tl]e parece(?: bien)?|prefieres)(?: que| si)?|(?:si quieres,? "
        r")?(?:puedo|podría|podríamos|podemos|propongo|sugiero|recomiendo|yo)) (?P<label>.{4,})",
        "choosing": r"\b(?:opci(?:ón|ones)|caminos?|formas|maneras|alternativas|arreglos|vías|soluciones|posibilidades"
        r"|variantes)\b",
        "yes": r"sí|si|vale|dale|ok|okay|hazlo|hágalo|adelante|perfecto|de acuerdo|claro(?: que sí)?|me parece(?: bien"
        r"| genial| perfecto)?|procede|venga|genial|bien|correcto|exacto|eso(?: es)?|por supuesto|me gusta|va|listo"
        r"|así|está bien|estoy de acuerdo|tal cual",
        "no": r"no(?: gracias| hace falta)?|mejor no|todavía no|aún no|por ahora no|déjalo|ni hablar|de momento no",
        "soft": r"por favor|porfa|gracias|pues|entonces|y|muy|ya|todo|eso|lo|así|como dices|con eso|con",
        "both": r"(?:las|los) dos|ambas|ambos",
        "every": r"todo|todas|todos",
        "pick": r"la|el|lo|opci[oó]n|número|vamos con|voy con|elijo|mejor|prefiero|me quedo con|pues|usa|haz|por|con|a"
        r"|de|hagamos|tira con|tiremos por|vamos por|nos quedamos con|pasamos a|cogemos|tomamos",
        "picked": r" (?:opción|mejor|por|porque|que|parece|y)",
    },
    ordinals="primera|primero|primer segunda|segundo tercera|tercero -1 última|último|ultima",
    cues="actualicé actualizado adelante agrega agregado agregar ahora al anade arregla arreglar ayer añade añadido "
    "añadir añadí borra borrar buenas cada cambia cambiar cambiemos cogemos cojo corregido correo corrige crea crear "
    "creé cuando cómo dale de debe decidido decisión del descartado desde donde el elimina en entonces esa ese eso "
    "esta este esto está están falla falta faltan funciona gracias hacemos hacer hasta haz hazlo hecha hecho hemos "
    "hice hola hoy implementado jamás la las lista listo lo los luego mañana mejor mi mismo muy más nada necesitamos "
    "necesito ni nos nunca objetivo olvida olvídate otra otro pantalla para pendiente pero podrías pon ponemos pongo "
    "ponme por porque prefiero propongo puede pueden puedes pues que queda queremos quiero quisiera quita quitar qué "
    "se siempre sigue sin son su sus sí sólo también te tiene toda todas todos un una unas unos usa usamos usar "
    "usemos vale vamos volvamos voy ya",
)
"""The phrases and rules of Spanish (see ``tongue.Tongue``)."""
