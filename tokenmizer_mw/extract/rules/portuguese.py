"""Phrases of Portuguese, from which the rules for Portuguese sentences are made. Forms of Brazil and of Portugal are
listed."""

from __future__ import annotations

from typing import Final

from .tongue import make_tongue

PORTUGUESE: Final = make_tongue(
    "pt",
    words={
        "use": r"us(?:a|ar|e|amos|emos|o)|vamos (?:de|com|usar|pel[ao])|vou (?:de|com|usar)|(?:a gente )?fica(?:mos"
        r"|r)? com|escolh(?:o|emos|i)|prefiro usar|pode ser|opt(?:o|amos|ei) por|coloca(?:mos|r)?|põe|pomos|bota"
        r"|adota(?:mos)?|a gente usa|segue com|decidi(?:mos)?(?: por| usar)?",
        "rather": r"melhor|então|e|não|no fim|na verdade|ok|tá|prefiro|por favor|afinal|bom",
        "part": r"(?:(?:adicion|implement|atualiz|mud|troc|tir|apag|refator|renome|migr|configur|instal|integr|melhor"
        r"|otimiz|document|junt|valid|ger|prepar|termin|conect|simplific|revis|ajust|adapt|orden|calcul|program|desenh"
        r"|cri|mont|coloc|envi|mand|test|complet|organiz|acrescent|consert|public|guard|aplic|restaur|fech|lig|verific"
        r"|confirm|assin|reserv|compr|export|import|separ|aument)ad|(?:corrig|remov|mov|inclu|dividi?|defin|exclu"
        r"|convert|resum|traduz|substitu|reduz|receb|conclu)[ií]d|feit|escrit|revist|entregue|pront|impress)[oae]?s?",
        "have": r"(?:já )?(?:foi|foram|está|estão|tá|tão|ficou|ficaram)(?: já)?|tenho|temos",
        "when": r"(?:amanhã(?: de manhã| à tarde)?|hoje à (?:noite|tarde)|mais tarde|depois(?: d[aeo]s? .{3,30})?"
        r"|para a semana|na próxima semana|(?:na )?semana que vem|esta (?:tarde|noite|semana)|fim de semana|(?:n[ao]"
        r"|até|até à|até a|para) (?:segunda|terça|quarta|quinta|sexta|sábado|domingo)(?:-feira)?|(?:em|até) (?:janeiro"
        r"|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)|(?:no |até )?dia \d{1,2}"
        r"|eu(?: mesm[oa])?)",
        "do": r"(?:entrego|faço|farei|envio|mando|escrevo|trato|vejo|pergunto|falo|peço|ligo|revejo|corrijo|termino"
        r"|preparo|testo|compro|confirmo|fazemos|vemos|tratamos|falamos|(?:vou|vamos|a gente vai) \pL+r|\pL{3,}(?:arei"
        r"|erei|irei|aremos|eremos|iremos))",
        "make": r"(?:adicion|implement|escrev|corrig|corrij|atualiz|mud|troc|tir|remov|apag|exclu|refator|renome|mov"
        r"|migr|convert|configur|instal|integr|melhor|otimiz|limp|document|divid|junt|valid|ger|prepar|termin|conect"
        r"|traduz|simplific|reduz|aument|inclu|revis|ajust|adapt|resum|orden|calcul|compar|program|desenh|cri|mont"
        r"|coloc|põe|ponh|faz|faç|arrum|sub|envi|mand|test|busc|complet|defin|organiz|explic|ajud|acrescent|consert"
        r"|mostr|public)(?:[aeiou]|ar|er|ir|emos|amos|em|am|es|as|que|r|me|lo|la|os|nos|mos|ue)*",
        "asking": r"(?:(?:por favor|agora|depois|também|primeiro|quero(?: que)?|queria(?: que)?|precis(?:o|amos)(?: "
        r"que| de)?|gostaria(?: que)?|temos (?:que|de)|você (?:pode|deve)|pode|poderia|vamos|ajud[ae](?:-me| me)? a|me"
        r"|nos|e|falta|dá para|dá pra) )*",
    },
    rows={
        "goal": r"(?:o |meu |nosso )?objetivo(?: de hoje| principal| é)*",
        "decided": r"(?:nova )?decisão(?: tomada| final)?|decidido|ficou decidido|combinado",
        "pending": r"pendentes?|por fazer|a fazer|falta|próximos? passos?|todo",
        "done_mark": r"feito|pronto|concluído|terminado",
        "discarded": r"descartad[oa]s?|rejeitad[oa]s?",
        "instead": (
            r"(?:(?:<use>|<rather>|muda para) )*<new>,? (?:em vez d[eoa]|ao invés d[eoa]|no lugar d[eoa]) "
            r"<old><end>",
            r"(?:<rather> )*(?:(?:<use>|muda para) )+<new>,? e não <old><end>",
            r"(?:<rather> )*(?:em vez|ao invés|no lugar) d[eoa] <old>,? (?:<rather> )*(?:<use> )+<new><end>",
            r"(?:<rather>,? )*(?:mud(?:a|e|amos|ar)|troc(?:a|ar|amos|o)|pass(?:a|amos|ar)|migr(?:a|ar|amos)"
            r"|substitu\pL+) (?:tudo )?(?:d[eoa] |o |a )?<old> (?:para|pra|por|pelo|pela) <new><end>",
            r"(?:<rather>,? )*(?:esquece|deixa|tira|fora|nada de|chega de|não quero mais) (?:o |a |os |as "
            r")?<old>[,;.] ?(?:<rather> )*(?:<use>|mud[ae] (?:para|pra)) <new><end>",
            r"(?:o |a )?<old> (?:(?:é|sai|fica|está|tá) (?:muito )?\pL+(?: demais)?|não), (?:<rather> )*(?:<use>"
            r"|melhor|muda (?:para|pra)) <new><end>",
        ),
        "no_want": (
            r"(?:<rather>,? )*(?:não (?:quero|queremos|us[ae]|usamos|usar|vamos usar|coloca|precisa(?:mos)? de"
            r"|curti)(?: mais)?|nada de|sem|chega de|descart(?:o|amos|a)|tira|nem pensar em|esque(?:ce|ça|çam)) "
            r"(?:o |a |os |as "
            r")?<new><end>",
        ),
        "bare": r"(?P<label>(?:já )?(?:está )?<part>[,.;:] ?.{4,}|<part> (?:em|com|para|pra|no|na|o|a|os|as) .{4,})",
        "plan": (
            r"(?:(?:isso|o|a|os|as|eu|lhe) )*<do> (?:[^;?]{0,60}? )?<when>",
            r"<when>,? (?:eu |a gente |isso )*<do>|quem .{3,50} é (?:[oa] )?\pL+",
            r"fic(?:a|am|ou) para <when>|fica para .{3,}",
        ),
        "switch": r"(?:<rather>,? )*(?:mud(?:a|e|amos|ar)|troc(?:a|ar|amos)|pass(?:a|amos|ar)|migr(?:a|ar|amos)) "
        r"(?:tudo )?(?:para|pra) (?:o |a )?<all>",
        "back": r"(?:volt(?:a|amos|ar|e)|vamos voltar) (?:para |pra |a |ao |à )(?:o |a )?<all>",
        "turned": r"(?:no fim|na verdade|pensando (?:bem|melhor)|afinal|melhor)[, ]+(?:<use> |com )*<all>",
        "rule": r"(?P<label>(?:(?:por favor|importante|atenção|e|mas)[,:]? )*(?:sempre|nunca|jamais|não (?:apagu|toqu"
        r"|mex|mud|us|ponh|coloqu|envi|public|instal|alter|rod|exclu)(?:es?|as?|a|em|am)|responda|tod[oa]s? [oa]s? "
        r"\pL+ (?:deve|tem que|têm)|toda vez que|a partir de agora|de agora em diante|só em|proibido|ninguém (?:pode"
        r"|deve))\b.{3,}|.{3,60}? (?:nunca|não) (?:se )?(?:podem?|devem?|pode) .{3,}|.{3,60}? (?:devem?|tem que|têm "
        r"que|têm de|precisam?) .{4,})",
        "works": r"(?:agora|já|tudo) (?:\pL+ )?(?:funciona|funcionou|foi|vai|passou|aparece)|funcionou|deu certo"
        r"|resolvido|era isso",
        "prefer": r"(?:eu )?(?:prefiro|preferimos|gosto (?:mais )?d[eoa]|gostamos) <all>",
        "use": (
            r"(?:<rather>,? )*<use> (?:o |a |por )?<all>",
            r"(?:pra|para|no|na) [^,;?]{2,40} (?:vamos (?:de|com)|usamos|usa|a gente usa|coloca) <all>",
        ),
        "complaint": (
            r"não (?:\pL+ )?(?:funciona|abre|carrega|salva|chega|aparece|compila|responde|envia|roda|conecta|bate"
            r"|coincide|guarda|atualiza|passa|imprime|sai)m?",
            r"(?:está|estão|tá|ficou?|sai|saem|saiu|vem|chega|aparece)m? (?:\S+ ){0,2}?(?:errad|quebrad|vazi|em branco"
            r"|duplicad|cortad|duas vezes|desalinhad|trocad|lent|misturad|atrasad)\pL*",
            r"trav(?:a|ou|ando)|cai(?:u|em)?|sum(?:iu|em|iram)|quebr(?:ou|am|a)|falh(?:a|ou|am|aram)|se (?:repete"
            r"|duplica|perde)m?|rejeitou|recusou|(?:parou|pararam) de \S+|demora (?:\S+ ){0,2}(?:muito|\d+ (?:segundos"
            r"|minutos|horas))",
        ),
        "fixed": r"corrigi(?:do|da)?|consertei|resolvi(?:do|da)?|arrumei|consertad[oa]",
        "did": (
            r"<have> <part>|^<part> [^?]{4,}",
            r"(?:adicion|implement|cri|atualiz|mud|troqu|tir|apagu|configur|instal|integr|termin|prepar|test|revis|ajust"
            r"|aplic|ger|envi|mand|coloqu|mont|public|complet|deix|separ|acrescent|finaliz)(?:ei|amos)|(?:escrev|convert|mov|remov"
            r"|inclu|reescrev|traduz|divid|defin|subst)(?:i|emos|imos)|fiz|fizemos|pus",
        ),
        "later": r"(?:falta|faltam|resta|restam)(?: ainda| só)* .{4,}|ainda (?:não|falta|faltam|precis\pL+|tem|temos)"
        r"|mais (?:tarde|para a frente)|(?:deixa|fica) para depois|por fazer",
        "set": r"(?:deixa|deixamos|mantém|mantemos|fica|ficamos com)(?:-[ao]s?)? (?:na|no|em|com|o|a|os|as|por|tudo) "
        r".{3,}|\pL[\pL ]{1,30}? passam? a (?:ser )?\pL.{1,40}|^[^,;?]{4,40} não, .{4,}",
        "order": r"<asking>(?P<label><make> .{3,})",
        "need": r"(?:precis(?:o|amos)(?: de)?|quero|queremos|queria|gostaria de|busco) (?P<label>.{5,})",
        "result": r"^(?:[\pL\pN`'\"/.#_()-]+ ){1,6}<part>$",
    },
    unless={
        "instead": r"(?:me diz|explica|mostra|por que)\b",
        "no_want": r"(?:não quero|sem) (?:que|\pL+[aei]r\b)|sem (?:dúvida|problemas?|querer|pressa|mais)|tira "
        r"(?:dúvida|uma)",
        "plan": r"(?:se|quando|como) |.*\b(?:ontem|sempre|cada|era|estava)\b",
        "turned": r"melhor (?:que|assim|ainda|não|me)\b|.*\b(?:funciona|está|é|foi)\b",
        "rule": r"(?:sempre|nunca) (?:me|se|foi|falha|dá|deu|funciona|vi)\b|.*\b(?:se|quando|acho que|não sei)\b|(?:eu"
        r"|você|isso) ",
        "works": r".*\b(?:mas|não|se|quando|como|falta|só que)\b",
        "complaint": r"(?:se|quando|para que|caso|por que) |.*(?: sem erro| já não |não falh)|não (?:sei|precisa)",
        "fixed": r".*\b(?:não|falta|precisa)\b",
        "set": r".*fica (?:por causa|longe|perto|difícil|para|pra)|.*(?:ainda não|porque|por enquanto não)",
        "did": r"(?:quando|se|até que|que|para) |.*\b(?:não|falta|pensad|dit|visto|notad|quebrad|errad|vazi|parad"
        r"|cansad|certo que|será|deve|era|fic\pL+ (?:branco|pendente)|atrasad|duplicad)\pL*",
        "order": r"(?:faz|mand|test|sub|most|ger|cri|coloc|melhor|mud|tir)(?:o|a|e|i)?s? (?:que|de|frio|tempo|sentido"
        r"|parte|é)\b|(?:melhor|cria|geral|subida|testes?|movimento|programa|gerente) ",
        "need": r"(?:quero|queria|preciso|gostaria de) (?:saber|dizer|ver|entender|pensar)\b",
        "result": r"(?:se|quando|falta|um|uma|não|que|para|com|é|de|em|a|o) .*|.*\b(?:não|sem|falta|se|quando|deve"
        r"|será|por|para|pode|que|com|foi|está)\b",
    },
    ahead={
        "hands": (
            r"(?:isso|isto|ess[ea]|est[ea]|disso) <do>(?: eu| nós)?(?: <when>)?|(?:isso |isto )?ficam? para <when>",
            r"(?:isso |isto )?(?:quem (?:faz|trata|roda) .{0,30}é) (?:[oa] )?(?-i:\p{Lu}\pL+)(?: <when>)?",
        ),
        "left": (
            r"(?:ainda|também) (?:tenho|temos|há) (?:de|que) .{4,}|(?:tenho|temos) (?:de|que) (?:ligar|falar|pedir"
            r"|perguntar|mandar|enviar|comprar|reservar|avisar|confirmar) .{3,}",
            r".{3,60} (?:pode|podem|tem de|vai ter de) esperar\b.*|.{3,60} ainda não (?:está|estão|foi|foram|fiz"
            r"|fizemos|chegou) ?.*",
        ),
        "plans": (
            r"(?:eu )?<do> .*<when>",
            r"(?:e )?(?:o|a|os|as) .{3,60} ficam? para <when>",
            r"quem .{3,50} é (?:[oa] )?\pL+ <when>",
        ),
        "times": (r"(?:(?:mas|só|melhor) )*<when>",),
        "hollow": r"(?:isso|isto) (?:faço|farei|fazemos)\b(?: eu)?",
        "past": r".*\b(?:ontem|sempre|cada|era|estava)\b",
    },
    said={
        "lead": r"(?:(?:ok|okay|tá|beleza|blz|bom|bem|perfeito|ótimo|otimo|legal|show|valeu|obrigad[oa]|muito "
        r"obrigad[oa]|oi|olá|ola|bom dia|boa tarde|boa noite|sim|não|então|e|mas|ah|ei|olha|certo|pronto|entendi|por "
        r"sinal|aliás|por favor|mais uma coisa|além disso|também|agora|fechado|isso)[,.!:]+ ?|(?:e|mas|então|olha"
        r"|também|aí|além disso|só que|ah|ok|tá|bom) )",
        "asks": r"(?:por que|por quê|como (?:eu|faço|se|funciona)|qual|quais|quanto|quantos|onde|quem|o que (?:é|você "
        r"acha|acontece)|será que)(?: |$)",
        "polite": r"(?:(?:você |tu )?(?:pode|podes|poderia|podia|consegue)|dá pra|da pra|dá para|tem como|seria "
        r"possível)(?: por favor| me| também| já)* (?P<rest>.{4,})",
        "supposes": r"se \pL|caso |quando |talvez|quem sabe|poderia(?:mos)? |por exemplo|em teoria|imagina|suponha"
        r"|normalmente|em geral|geralmente|eu tinha pensado|estava pensando|tava pensando|não sei se|pensei em",
        "reports": r"(?:(?:o|a|os|meu|minha|um|segundo) )?(?:[\pL]+ ){0,3}?(?:diz|dizem|disse|falou|sugere|recomenda"
        r"|acha|quer|queria)(?: que| usar| pra| para)\b|segundo ",
        "border": r"\s*[;,]\s+(?:e |mas |também |depois )?|\s+(?:mas|e também|e depois|e aí)\s+|\s+[—–-]\s+|:\s+",
        "because": r",?\s+(?:porque|já que|pois|por causa d[eoa]|assim|para que|pra que)\s+|^(?:porque|já que|pois|é "
        r"que|assim) |\s+[—–]\s+|\s*\(",
        "trailer": r",? (?:por favor|então|por enquanto|mesmo|também|primeiro|obrigad[oa]|valeu|pf|pfv)",
        "offers": r"(?:(?:quer|queres|você quer|prefere)(?: que eu| que)?|(?:se quiser,? )?(?:eu )?(?:posso|poderia"
        r"|podemos|proponho|sugiro|recomendo))(?: também| agora| já)* (?P<label>.{4,})",
        "choosing": r"\b(?:opç(?:ão|ões)|caminhos?|formas|maneiras|jeitos|alternativas|soluções|possibilidades"
        r"|hipóteses)\b",
        "yes": r"sim|isso(?: mesmo| aí)?|ok|okay|tá(?: bom| ótimo)?|pode(?: ser| fazer| ir| mandar| continuar)?|beleza"
        r"|blz|claro|perfeito|ótimo|combinado|fechado|manda(?: ver| bala)?|faz(?: isso)?|faça|vai(?: em frente)?|bora"
        r"|concordo|de acordo|certo|exato|show|boa(?: ideia)?|gostei|segue|prossiga",
        "no": r"não(?: obrigad[oa]| precisa| quero)?|melhor não|ainda não|agora não|por enquanto não|deixa(?: pra lá)?"
        r"|nem pensar",
        "soft": r"por favor|obrigad[oa]|valeu|então|e|assim|isso|tudo|como você disse|com isso",
        "both": r"(?:os|as) du?[ao]i?s|ambos|ambas",
        "every": r"tudo|todos|todas",
        "pick": r"a|o|opção|número|vamos de|vamos com|vou de|prefiro|escolho|melhor|fico com|pode ser|com|de|vai"
        r"|vamos na|vamos pela?|ficamos com|passamos para",
        "picked": r" (?:opção|melhor|porque|que|parece|e)",
    },
    ordinals="primeira|primeiro segunda|segundo terceira|terceiro -1 última|último",
    cues="adiciona adicionar adicionei agora amanhã ao apaga até bora botão cada coloca continua corrigi cria criar "
    "criei da das de decidido decisão deixa descartado ele em então esquece essa esse esta este está estão eu falta "
    "faltam faz fazer feito ficou fiz foi funciona funcionou gosto hoje isso isto já mas melhor mesmo meu minha muda "
    "mudar na nada nas nosso nunca não o objetivo obrigada obrigado ontem os outra outro para pega pendente pensando "
    "pode podem por porque pra precisamos preciso prefiro pronto põe quando que queria quero sempre sim são só "
    "também tela tem tira troca tudo tá uma uns usa usar valeu vamos você voltar vou à é",
)
"""The phrases and rules of Portuguese (see ``tongue.Tongue``)."""
