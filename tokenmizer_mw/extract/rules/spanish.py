"""Spanish: tú, usted and the plain infinitive, with and without accents."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.similar import words_of

from .rule import Act, Rule, Speaker
from .tongue import NAMES, Tongue

_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

_WORK: Final = (
    r"(?:agreg|añad|anad|implement|escrib|arregl|correg|corrij|actualiz|cambi|quit|elimin"
    r"|borr|refactoriz|renombr"
    r"|mov|muev|mig?r|conviert|convert|configur|despleg|despliegu|instal|integr|mejor|optimiz"
    r"|limpi|document|extra"
    r"|divid|junt|valid|gener|prepar|termin|conect|traduc|traduzc|escond|simplific|simplifiqu"
    r"|reduc|reduzc|aument"
    r"|inclu|redact|revis|ajust|adapt|resum|orden|calcul|compar|investig|program|diseñ|cre"
    r"|mont|met|pon|pas|haz|hac"
    r"|hag|arm|sub|env[ií]|mand|prob|prueb|busc|complet|defin|organiz|reescrib|expl[ií]c"
    r"|expliqu)"
    r"(?:[aeiouáéíóú]|ar|er|ir|emos|amos|en|an|es|as|n|r|d|ás|és|me|lo|la|le|los|las|nos"
    r"|te|mos|l)*"
)
_DONE: Final = (
    r"(?:agregado|añadido|implementado|creado|escrito|arreglado|corregido|actualizado|cambiado"
    r"|quitado|eliminado"
    r"|borrado|refactorizado|renombrado|movido|migrado|configurado|desplegado|instalado|integrado"
    r"|mejorado|optimizado"
    r"|documentado|generado|preparado|terminado|conectado|traducido|simplificado|reducido"
    r"|incluido|redactado|revisado"
    r"|ajustado|adaptado|resumido|ordenado|calculado|programado|diseñado|montado|hecho|puesto"
    r"|completado|definido"
    r"|reescrito|separado|dividido|añadida|creada|hecha|actualizada|probado|aplicado|guardado"
    r"|pasado)"
)
_DID: Final = (
    r"(?:agregué|añadí|implementé|creé|escribí|actualicé|cambié|quité|eliminé|borré|moví"
    r"|migré|configuré|instalé"
    r"|integré|mejoré|preparé|terminé|conecté|traduje|redacté|revisé|ajusté|resumí|ordené"
    r"|calculé|diseñé|hice|puse"
    r"|completé|dejé|apliqué|reescribí|separé|dividí|generé|subí|envié|mandé)"
)
_USE: Final = (
    r"(?:usa|usar|use|usemos|usamos|usaremos|utiliza|utilicemos|utilizar|utilizamos|vamos con"
    r"|vamos a usar|voy con"
    r"|voy a usar|me quedo con|nos quedamos con|quedémonos con|quedamos en|elijo|elegimos"
    r"|escojo|prefiero usar"
    r"|mejor usa|que sea|que sean|tiramos con|tira con|mejor con|apostemos por|optamos por"
    r"|opto por)"
)
_ORDERING: Final = (
    r"(?:(?:por favor|porfa|ahora|luego|después|también|primero|quiero(?: que)?|quisiera"
    r"(?: que)?|queremos(?: que)?"
    r"|necesito(?: que)?|necesitamos(?: que)?|hay que|tienes que|tenemos que|debes|debemos"
    r"|me gustaría(?: que)?|vamos a"
    r"|ayúdame a|ayudame a|toca|falta|puedes|podrías|podemos|a ver si|y|me|nos|te|le) )*"
)

RULES: Final = (
    Rule(
        "es.goal",
        _BOTH,
        Act.GOAL,
        r"(?:el |mi |nuestro )?objetivo(?: de hoy| principal| es|:)+ ?(?P<label>.{4,})",
        0.92,
        "Objetivo: una página de reservas para el taller",
        "El objetivo de la cámara está sucio",
        explicit=True,
    ),
    Rule(
        "es.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:(?:nueva )?decisi[oó]n(?: nueva| final| tomada)?|decidido|queda decidido|acordado):"
        r" ?(?P<label>.{2,})",
        0.92,
        "Decisión: guardamos los precios en céntimos",
        "La decisión fue difícil",
        explicit=True,
    ),
    Rule(
        "es.pending",
        _BOTH,
        Act.LATER,
        r"(?:pendientes?|por hacer|falta|queda por hacer|siguiente|próximos? pasos?):"
        r" ?(?P<label>.{3,})",
        0.92,
        "Pendiente: traducir los correos",
        "Estoy pendiente del cartero",
        explicit=True,
    ),
    Rule(
        "es.done_mark",
        _BOTH,
        Act.CLAIM,
        r"(?:hecho|listo|terminado|completado):? (?P<label>.{3,})",
        0.9,
        "Hecho: tabla de clientes",
        "Hechos son amores",
        explicit=True,
    ),
    Rule(
        "es.discarded",
        _BOTH,
        Act.REJECT,
        r"(?:descartad[oa]s?|rechazad[oa]):? (?P<label>.{2,})",
        0.9,
        "Descartado: el pago con cheque",
        "Descartes era francés",
        explicit=True,
    ),
    Rule(
        "es.instead",
        _USER,
        Act.REPLACE,
        rf"(?:mejor |{_USE} |cambia a |pasa a |pon(?:er|gamos)? |haz(?:lo)? con )*(?P<label>[^,;]{{2,60}}?),?"
        r" (?:en vez de|en lugar de|y no) (?P<target>[^,;]+)(?:[,;] (?P<reason>.+))?",
        0.9,
        "usa argon2 en vez de bcrypt",
        "Dime qué pasa en vez de adivinar",
        whole=True,
        unless=r"(?:dime|explica|muestra|por qué|qué)\b",
    ),
    Rule(
        "es.switch",
        _USER,
        Act.REPLACE,
        r"(?:mejor )?(?:cambi(?:a|emos|amos|o)|pas(?:a|emos|amos|o)|mig(?:ra|remos|ramos))(?:nos"
        r"|lo|la|te)?(?: todo)?"
        r"(?: de (?P<target>[^,;]{2,40}?))? a (?P<label>.{2,})",
        0.88,
        "pasemos de MySQL a Postgres, aguanta más",
        "pasa a verme mañana",
        unless=r"pas[ao] a (?:ver|busc|recog|las? |por)",
    ),
    Rule(
        "es.drop_for",
        _USER,
        Act.REPLACE,
        r"(?:olvida(?:te de)?|olvídate de|quita|deja|dejemos|fuera) (?:el |la |lo de(?:l| la)? )?"
        r"(?P<target>[^,;]{2,50}?)"
        rf"[,;.] ?(?:mejor |y |vamos con |{_USE} )+(?P<label>.{{2,}})",
        0.9,
        "olvídate de Redux, mejor Zustand",
        "olvida la cita de ayer",
        whole=True,
    ),
    Rule(
        "es.turned",
        _USER,
        Act.REPLACE,
        r"(?:al final|pensándolo bien|pensandolo bien|mejor dicho|no, mejor|mejor)[, ]+(?:con "
        r"|que sea |usamos |usa |pon |lo hacemos con )?"
        r"(?P<label>.{2,})",
        0.8,
        "al final usamos SQLite",
        "al final del día cierro",
        unless=r"al final (?:del|de)\b|mejor (?:que|dicho que|así|todavía|me|te|no)\b|.*\b(?:funciona" r"|está|es)\b",
    ),
    Rule(
        "es.back",
        _USER,
        Act.RETURN,
        r"(?:volvamos|volvemos|vuelve|volver|regresemos) a(?: lo de(?:l)?| la| el)? (?P<label>.{2,})",
        0.85,
        "volvamos a REST",
        "vuelve a casa pronto",
        unless=r"(?:vuelve|volver|volvamos|volvemos) a [\pL]+[aei]r\b|.*\bcasa\b",
    ),
    Rule(
        "es.forget",
        _USER,
        Act.RETRACT,
        r"(?:(?:eso )?ya no hace falta|olvida(?:te de)?|olvídate de|deja|déjalo|dejémoslo|cancela) ?"
        r"(?:lo de(?:l)? |el |la |los |las )?"
        r"(?P<label>.*)",
        0.8,
        "olvídate de los cupones",
        "deja la luz encendida en el tablero, gracias",
        unless=r"(?:deja|olvida) (?:la luz|que|de |claro|todo|un|una|me)",
    ),
    Rule(
        "es.no_want",
        _USER,
        Act.REJECT,
        r"(?:no (?:quiero|queremos|uses|usemos|usamos|pongas|metas|metamos|vamos a usar|me convence"
        r"|me gusta|nos sirve)"
        r"|nada de|sin|paso de|descarto|descartamos|ni hablar de) (?P<label>.{2,})",
        0.8,
        "nada de cookies de terceros",
        "no quiero molestar",
        unless=r"no quiero (?:que|molest|\pL+[aei]r\b)|sin (?:embargo|duda|problema|querer|cambios|más)"
        r"|no me gusta (?:nada|cómo|como)\b",
    ),
    Rule(
        "es.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:(?:por favor|importante|ojo|y)[,:]? )*(?:siempre|nunca|jamás|no (?:toques"
        r"|cambies|borres|hagas|añadas|agregues|escribas|modifiques"
        r"|olvides|subas)|respond|contest|todo (?:debe|tiene que)|todos los|todas las|cada vez que"
        r"|a partir de ahora|de ahora en adelante|respuestas (?:cortas|breves)).{3,})",
        0.85,
        "nunca subas nada sin avisarme",
        "la nunca vista oferta",
        unless=r"(?:siempre|nunca|jamás) (?:me|se|ha|he|hemos|he|falla|fall|da|dio|funcion|pasa)"
        r"|todos los (?:días|años)|no olvides",
    ),
    Rule(
        "es.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:yo )?(?:prefiero|preferimos|preferiría|me gusta(?:n|ría)?(?: más)?|nos gusta(?:n)?"
        r"(?: más)?) (?P<label>.{3,})",
        0.78,
        "prefiero comillas simples",
        "me gusta tu idea, gracias",
        unless=r"me gusta(?:ría)? (?:tu|la idea|cómo|como|mucho$|que (?:agreg|añad|hag|cre))",
    ),
    Rule(
        "es.still",
        _USER,
        Act.STILL,
        r"(?P<label>(?:no, )?(?:sigue(?:n)?|todavía|aún|aun|otra vez|de nuevo|igual)(?: sin| dando"
        r"| fallando| no| igual| el mismo| con).*"
        r"|no (?:pasa|funciona|va|compila|arranca) (?:todavía|aún|aun|tampoco).*)",
        0.85,
        "sigue fallando el inicio de sesión",
        "sigue el camino",
    ),
    Rule(
        "es.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>(?:ya |ahora |perfecto,? |genial,? )*(?:funciona|va bien|ya va|anda bien"
        r"|quedó|quedó bien|eso era|solucionado|arreglado|resuelto)\b.*)",
        0.8,
        "ya funciona, gracias",
        "funciona con gasolina y luz",
        unless=r".*\b(?:pero|no|con gasolina)\b",
    ),
    Rule(
        "es.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>(?:(?:ahora|pero|oye|uf|ay),? )*(?:(?:me |nos )?(?:da|dio|sale|salta|tira"
        r"|aparece|devuelve|lanza)(?: un| el| este| una)? (?:error|excepción|fallo|5\d\d|4\d\d)"
        r"|no (?:me )?(?:funciona|arranca|compila|carga|abre|guarda|llega|sale|aparece|conecta"
        r"|responde|deja|se)|se (?:cuelga|rompe|cae|cierra|queda|borra|bloquea|cayó|rompió|me)"
        r"|[^,;]{2,60}? (?:no (?:funciona|arranca|compila|carga|abre|guarda|llega|aparece|conecta"
        r"|responde|se \pL+)|falla|se (?:cuelga|rompe|cae|bloquea)|está(?:n)? (?:rot|mal|vací)\pL*"
        r"|sale(?:n)? (?:mal|vací\pL*|en blanco|duplicad\pL*|dos veces)"
        r"|da(?:n)? (?:un )?(?:error|fallo)|tarda(?:n)? (?:mucho|demasiado|una eternidad|\d))).*)",
        0.78,
        "el botón de pago no funciona en el móvil",
        "no se preocupe",
        unless=r"no se (?:preocup|te)|no me (?:deja de|importa)",
    ),
    Rule(
        "es.fixed",
        _ASSISTANT,
        Act.FIX,
        r"(?:he |hemos |ya (?:está |he )?|queda(?:do)? )?(?:(?:corregid|arreglad|solucionad|resuelt"
        r"|reparad)[oa]s?|corregí|arreglé|solucioné|resolví|reparé) (?P<label>.{3,})",
        0.8,
        "He corregido el redondeo de los precios",
        "Corregir esto lleva tiempo",
    ),
    Rule(
        "es.did",
        _ASSISTANT,
        Act.CLAIM,
        r"(?:listo[,:.]? |hecho[,:.]? |ya )?(?:te |lo |la |se )?(?:(?:he|hemos|ya he|ha|han) )"
        rf"(?P<label>{_DONE} .{{3,}})",
        0.8,
        "He añadido la columna de estado",
        "He visto el problema",
    ),
    Rule(
        "es.did_past",
        _BOTH,
        Act.CLAIM,
        rf"(?:ya |listo[,:]? )?(?:te |lo |la |se )?(?P<label>{_DID} .{{3,}})",
        0.75,
        "Creé la tabla de pedidos",
        "Creo que sí",
    ),
    Rule(
        "es.is_done",
        _BOTH,
        Act.CLAIM,
        r"(?:(?:ya|listo)[,:]? )?(?P<label>[^,;]{3,60}? (?:ya )?(?:está|están|queda|quedan|quedó)"
        r"(?: ya)? (?:list|hech|terminad|cread|complet|implementad|configurad|desplegad|instalad"
        r"|publicad|subid|migrad)[oa]s?).*",
        0.72,
        "La página de reservas ya está lista",
        "La sopa está fría",
        unless=r"(?:cuando|si|hasta que|una vez) ",
    ),
    Rule(
        "es.user_did",
        _USER,
        Act.CLAIM,
        rf"(?:ya )(?:lo |la |los |las )?(?:he|tengo|hemos|está|están) (?P<label>(?:{_DONE}|list[oa]s?)"
        r"(?:$|[ ,.].*))",
        0.75,
        "ya he instalado el certificado",
        "ya lo veo",
    ),
    Rule(
        "es.later",
        _BOTH,
        Act.LATER,
        r"(?P<label>(?:queda(?:n)?|falta(?:n)?|nos falta|me falta|está pendiente|sigue pendiente)"
        r"(?: por| pendiente)? .{4,})",
        0.75,
        "falta traducir los avisos",
        "la falta fue leve",
        unless=r"falta(?:n)? (?:poco|nada|dos minutos)|queda(?:n)? (?:claro|bien|así|list|perfect)",
    ),
    Rule(
        "es.tomorrow",
        _USER,
        Act.LATER,
        r"(?P<label>(?:eso |lo )?(?:mañana|luego|el (?:lunes|martes|miércoles|jueves|viernes)"
        r"|la (?:próxima )?semana(?: que viene)?|más adelante|más tarde|esta tarde)"
        r" (?:lo |la |le |te |me |os )?(?:\pL+(?:ré|remos)|hago|hacemos|miro|termino|escribo"
        r"|pruebo|digo|hablo|llamo|pido|reviso|subo) ?.{3,})",
        0.72,
        "mañana escribo las pruebas del carrito",
        "mañana es fiesta",
        unless=r".*\bte (?:digo|cuento|aviso)$",
    ),
    Rule(
        "es.use",
        _USER,
        Act.CHOICE,
        rf"(?:(?:ok|vale|entonces|pues|mejor|por favor|y),? )*{_USE} (?P<label>.{{2,}})",
        0.82,
        "vamos con la opción de pago en tienda",
        "usa la cabeza",
        unless=r"usa (?:la cabeza|tu)\b|use(?:d|r)",
    ),
    Rule(
        "es.let_be",
        _USER,
        Act.WISH,
        r"(?P<label>(?:(?:y )?que )(?:se |no |el |la |los |las |me |solo |cada )*[\pL]+.{4,})",
        0.62,
        "que el logo salga a la izquierda",
        "que te vaya bien",
        unless=r"que (?:te|tal|va|yo|pasa|opinas|recomiendas|hago|pena|bien|raro|lío)\b",
    ),
    Rule(
        "es.must",
        _USER,
        Act.WISH,
        rf"(?P<label>(?:el|la|los|las|un|una|esto|eso|cada|todo)(?: {NAMES})? (?:debe|deben|debería"
        rf"|deberían|tiene que|tienen que|ha de) .{{4,}})",
        0.65,
        "el menú tiene que quedar arriba",
        "el gato debe de tener hambre",
        unless=r".* debe(?:n)? de ",
    ),
    Rule(
        "es.order",
        _USER,
        Act.REQUEST,
        rf"{_ORDERING}(?P<label>{_WORK} .{{3,}})",
        0.8,
        "añade un filtro por fecha al listado",
        "la mejora fue grande",
        unless=r"(?:para|como|creo|mira|hace|hacen|una?|unos|unas|pasa|pon(?:ga)?mos por caso|es|más"
        r"|mejor|menos|pones|cambian|prueba de|crees?|cada|pasan|ha|haya|hacía|mejora de|extra"
        r"|busca de) ",
    ),
    Rule(
        "es.need",
        _USER,
        Act.REQUEST,
        r"(?:necesito|necesitamos|quiero|queremos|me hace falta|nos hace falta|nos haría falta"
        r"|quisiera|busco) (?P<label>.{5,})",
        0.75,
        "necesito una página para las devoluciones",
        "quiero saber por qué",
        unless=r"(?:quiero|quisiera|necesito) (?:saber|decir|ver|entender|pensar|mucho)\b",
    ),
    Rule(
        "es.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:(?:yo )?(?:propongo|sugiero|recomiendo|recomendaría|usaría|iría con|te aconsejo)"
        r"|lo mejor (?:es|sería)|mejor) (?P<label>.{4,})",
        0.6,
        "Yo usaría Redis para las sesiones",
        "Lo que dices es verdad",
    ),
)

SPANISH: Final = Tongue(
    code="es",
    rules=RULES,
    cues=words_of(
        "ponemos pongo cojo cogemos hoy ayer cada son puede pueden sólo todos toda todas desde hasta otro "
        "otra mismo pantalla correo "
        "que los las una unos unas del al por para pero porque cuando donde cómo qué está están esta este eso"
        " esto ese esa es con"
        " usa usar usemos usamos vamos voy quiero quisiera necesito necesitamos queremos agrega agregar añade"
        " añadir anade crea crear haz hazlo"
        " hacer hacemos hice hecho hecha pon ponme cambia cambiar cambiemos quita quitar borra borrar elimina"
        " arregla arreglar corrige mejor prefiero"
        " siempre nunca jamás también ahora ya mañana luego entonces pues vale sí falta faltan queda pendiente"
        " listo lista decisión decidido"
        " descartado sigue funciona falla he hemos te nos lo ni muy más sin olvida olvídate volvamos dale adelante"
        " gracias hola buenas como si"
        " propongo podrías puedes creé añadí actualicé nada debe tiene objetivo de la el en un una se su mi"
        " sus agregado añadido corregido actualizado implementado"
    )
    - words_of("con es como si me he"),
    lead=r"(?:(?:ok|okay|vale|bueno|bien|perfecto|genial|gracias|muchas gracias|hola|buenas(?: tardes"
    r"| noches)?|buenos días|oye|mira|pues|entonces|y|pero|ah|uf|sí|si|claro|listo|dale|de acuerdo"
    r"|por cierto|por favor|porfa|una cosa(?: más)?|además|también|ahora|eh|venga|guay|estupendo"
    r"|excelente|ya|a ver|espera|no)[,.!:]+ ?|(?:ah y|y|pero|pues|oye|además|también|bueno|vale"
    r"|ok|entonces) )",
    asks=r"(?:por qué|qué (?:es|son|pasa|opinas|recomiendas|diferencia|tal)|cómo (?:se|puedo|hago"
    r"|funciona|va)|cuál(?:es)?|cuánt[oa]s?|dónde|quién)\b",
    polite=r"(?:(?:me |nos )?(?:puedes|podrías|puede|podría|podéis|podemos|podríamos|te importaría"
    r"|sería posible)(?: por favor)?) (?P<rest>.{4,})",
    supposes=r"(?:si (?:no|el|la|se|lo|usa|hac|pon|tuvi|fuer|quier|hay|alg)|cuando |quizás?|quizas?"
    r"|tal vez|a lo mejor|igual podr|podría(?:mos|s)? |por ejemplo|en teoría|imagina|supongamos"
    r"|suponiendo|en caso de|normalmente|en general"
    r"|habitualmente|había pensado|estaba pensando|no sé si|no se si|dudo)",
    reports=r"(?:(?:el|la|los|mi|un|una|según) )?(?:[\pL]+ ){0,3}?(?:dice|dicen|dijo|propone|recomienda"
    r"|sugiere|opina|quiere|quería|insiste)n? (?:que|usar|en|un)\b|según ",
    border=r"\s*[;,]\s+|\s+(?:pero|y además|y también|y luego|y después)\s+|\s+y (?:no |que )|\s+[—–-]\s+" r"|:\s+",
    because=r",?\s+(?:porque|ya que|puesto que|dado que|así|para que|que así|pues|por culpa de|es que)\s+"
    r"|^(?:porque|ya que|es que|así|para que) |\s+[—–]\s+|\s*\(",
    trailer=r",? (?:por favor|porfa|entonces|por ahora|mejor|y ya|y listo|gracias|también|primero" r"|de momento)",
    offers=r"(?:(?:quieres|quiere|queréis|te parece(?: bien)?|le parece(?: bien)?|prefieres)(?: que"
    r"| si)?|(?:si quieres,? )?(?:puedo|podría|podríamos|podemos|propongo|sugiero|recomiendo"
    r"|yo)) (?P<label>.{4,})",
    choosing=r"\b(?:opci(?:ón|ones)|caminos?|formas|maneras|alternativas|arreglos|vías|soluciones|posibilidades|variantes)\b",
    either=r"[,;]?\s+[ou]\s+(?:bien )?",
    yes=r"sí|si|vale|dale|ok|okay|hazlo|hágalo|adelante|perfecto|de acuerdo|claro(?: que sí)?"
    r"|me parece(?: bien| genial| perfecto)?|procede|venga|genial|bien|correcto|exacto|eso"
    r"(?: es)?|por supuesto|me gusta|va|listo|así|está bien|estoy de acuerdo|tal cual",
    no=r"no(?: gracias| hace falta)?|mejor no|todavía no|aún no|por ahora no|déjalo|ni hablar" r"|de momento no",
    soft=r"por favor|porfa|gracias|pues|entonces|y|muy|ya|todo|eso|lo|así|como dices|con eso|con",
    both=r"(?:las|los) dos|ambas|ambos|todo|todas|todos",
    pick=r"la|el|lo|opción|opcion|número|vamos con|voy con|elijo|mejor|prefiero|me quedo con|pues"
    r"|usa|haz|por|con|a|de|hagamos|tira con|tiremos por|vamos por|nos quedamos con|pasamos a|cogemos|tomamos",
    picked=r" (?:opción|mejor|por|porque|que|parece|y)",
    ordinals={
        "primera": 0,
        "primero": 0,
        "primer": 0,
        "segunda": 1,
        "segundo": 1,
        "tercera": 2,
        "tercero": 2,
        "última": -1,
        "último": -1,
        "ultima": -1,
    },
)
