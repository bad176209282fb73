"""Portuguese of both sides of the ocean, with and without accents."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.similar import words_of

from .rule import Act, Rule, Speaker
from .tongue import NAMES, Tongue

_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

_WORK: Final = (
    r"(?:adicion|acrescent|implement|escrev|consert|arrum|corrij|corrig|atualiz|mud|alter"
    r"|troc|tir|remov|apag|delet|exclu|refator|renome|mov|migr|convert|configur|instal|integr"
    r"|melhor|otimiz|limp|document|separ|divid|junt|valid|ger|prepar|termin|conect|traduz"
    r"|escond|simplific|reduz|aument|inclu|inclui|redij"
    r"|revis|ajust|adapt|resum|orden|calcul|compar|program|desenh|cri|mont|met|coloc|bot"
    r"|faz|faç|fac|envi|mand|test|verifi|complet|defin|organiz|reescrev|explic|sub|public"
    r"|pesquis|encurt|import|export|mostr)"
    r"(?:a|e|ar|er|ir|em|amos|emos|imos|ando|o|as|es|que|quem|ue|ça|ce|cer|ei|iu|u|r|ia|ie"
    r"|eie|eia)*"
)
_DONE: Final = (
    r"(?:adicionei|acrescentei|implementei|escrevi|consertei|arrumei|corrigi|atualizei|mudei"
    r"|alterei|troquei|tirei|removi|apaguei|deletei|refatorei|renomeei|movi|migrei|configurei"
    r"|instalei|integrei|melhorei|otimizei|limpei|documentei|separei|dividi|juntei|gerei"
    r"|preparei|terminei|conectei|traduzi|simplifiquei|reduzi|incluí|incluo|redigi|revisei"
    r"|ajustei|adaptei"
    r"|resumi|calculei|montei|coloquei|botei|fiz|enviei|mandei|testei|completei|defini|organizei"
    r"|reescrevi|subi|publiquei|criei|apliquei|passei|deixei)"
)
_PART: Final = (
    r"(?:pront|feit|criad|adicionad|atualizad|removid|configurad|implementad|instalad|publicad"
    r"|terminad|migrad|concluíd|concluid|corrigid|traduzid|escrit|enviad|aplicad|testad|gerad"
    r"|revisad|definid|ajustad)[oa]s?"
)
_USE: Final = (
    r"(?:usa|use|usar|usem|usamos|vamos usar|vamos de|vamos com|vou usar|vou de|vou com|fico com"
    r"|ficamos com|escolho|escolhemos|prefiro usar|melhor usar|fica com|pode ser|utiliza"
    r"|utilize|utilizamos|vamos manter|mantém|mantem|mantenha|fechamos com|fechado com|bora de"
    r"|bora com)"
)
_ORDERING: Final = (
    r"(?:(?:por favor|agora|depois|também|tambem|primeiro|quero(?: que)?|queria(?: que)?"
    r"|queremos|gostaria(?: de| que)?|preciso(?: de| que)?|precisamos(?: de)?|tem que|temos que"
    r"|temos de|tens de|você pode|pode|podes|poderia|dá pra|da pra|vamos|bora|me ajuda a"
    r"|ajuda-me a|falta|você|e|me|nos|já|aí),? )*"
)

RULES: Final = (
    Rule(
        "pt.goal",
        _BOTH,
        Act.GOAL,
        r"(?:o |meu |nosso )?(?:objetivo|objectivo|meta)(?: de hoje| principal| é|:)+ ?(?P<label>.{4,})",
        0.92,
        "Objetivo: uma página de reservas para a oficina",
        "A objetiva está suja",
        explicit=True,
    ),
    Rule(
        "pt.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:decisão(?: final| nova)?|decidido|combinado|fica decidido): ?(?P<label>.{2,})",
        0.92,
        "Decisão: preços em centavos",
        "A decisão foi difícil",
        explicit=True,
    ),
    Rule(
        "pt.pending",
        _BOTH,
        Act.LATER,
        r"(?:pendentes?|pendências?|a fazer|por fazer|falta|próximos? passos?): ?(?P<label>.{3,})",
        0.92,
        "Pendente: traduzir os e-mails",
        "Estou pendente",
        explicit=True,
    ),
    Rule(
        "pt.done_mark",
        _BOTH,
        Act.CLAIM,
        r"(?:feito|pronto|concluído|concluido|terminado): ?(?P<label>.{3,})",
        0.9,
        "Feito: tabela de clientes",
        "Feito à mão",
        explicit=True,
    ),
    Rule(
        "pt.discarded",
        _BOTH,
        Act.REJECT,
        r"(?:descartad[oa]s?|rejeitad[oa]): ?(?P<label>.{2,})",
        0.9,
        "Descartado: pagamento com cheque, não compensa",
        "Descartes era francês",
        explicit=True,
    ),
    Rule(
        "pt.instead",
        _USER,
        Act.REPLACE,
        rf"(?:melhor |{_USE} |põe |coloca |bota |muda para )*(?P<label>[^,;]{{2,60}}?),? (?:em vez d[eoa]"
        r"|ao invés d[eoa]|no lugar d[eoa]|e não) (?P<target>[^,;]+)(?:[,;] (?P<reason>.+))?",
        0.9,
        "usa argon2 em vez de bcrypt",
        "Diz o motivo em vez de adivinhar",
        whole=True,
        unless=r"(?:diz|diga|explica|mostra|por que)",
    ),
    Rule(
        "pt.switch",
        _USER,
        Act.REPLACE,
        r"(?:melhor |vamos |bora |então )*(?:mud(?:a|e|ar|amos)|pass(?:a|e|ar|amos)|troc(?:a"
        r"|ar|amos)|troque|migr(?:a|e|ar|amos))(?: tudo)?(?: d[eoa] (?P<target>[^,;]{2,40}?))? "
        r"(?:para|pra|pro|por|pelo|pela) (?:o |a )?(?P<label>.{2,})",
        0.88,
        "vamos mudar de MySQL para Postgres, aguenta mais",
        "passa lá amanhã",
    ),
    Rule(
        "pt.swap",
        _USER,
        Act.REPLACE,
        r"(?:troca|troque|substitui|substitua|trocar|substituir) (?:o |a )?(?P<target>[^,;]{2,50}?) "
        r"(?:por|pelo|pela) (?P<label>.{1,})",
        0.9,
        "troca o Redux pelo Zustand",
        "troca a lâmpada",
        whole=True,
    ),
    Rule(
        "pt.drop_for",
        _USER,
        Act.REPLACE,
        r"(?:esquece|esqueça|larga|deixa|tira)(?: o| a| isso de| essa de)? (?P<target>[^,;]{2,50}?)[,;.] ?"
        r"(?:e |vamos |melhor |bora )*(?:usa|usar|de|com|vai de|vai com|melhor|fica com|põe) "
        r"(?P<label>.{2,})",
        0.88,
        "esquece o Redux, vamos de Zustand",
        "esquece isso, vai dormir",
        whole=True,
    ),
    Rule(
        "pt.turned",
        _USER,
        Act.REPLACE,
        r"(?:no fim|no final|pensando bem|pensando melhor|mudei de ideia|melhor)[, ]+(?:vamos "
        r"|usar |usa |com |de |fica |põe |vou de )*(?P<label>.{2,})",
        0.78,
        "pensando bem, vamos de SQLite",
        "no final do mês",
        whole=True,
        unless=r"no (?:fim|final) (?:d[aeo])|melhor (?:que|assim|não|ainda|impossível)",
    ),
    Rule(
        "pt.back",
        _USER,
        Act.RETURN,
        r"(?:vamos |melhor |então )*(?:volta(?:r|mos)?|volte(?:mos)?) (?:a|ao|à|para|pra|pro)"
        r"(?: o| a)? (?P<label>.{2,})",
        0.85,
        "vamos voltar ao REST",
        "volto amanhã",
        unless=r".*\b(?:casa|trabalh|cama|fazer)",
    ),
    Rule(
        "pt.forget",
        _USER,
        Act.RETRACT,
        r"(?:esquece|esqueça|cancela|cancele|deixa(?: pra lá| de lado)?|desiste d[eoa]) (?:o "
        r"|a |os |as |isso d[eoa] )?(?P<label>.{3,})",
        0.8,
        "esquece os cupons",
        "deixa a luz acesa",
        unless=r"(?:deixa|esquece) (?:a luz|que|claro|tudo|isso$|um|uma|eu|comigo)",
    ),
    Rule(
        "pt.no_want",
        _USER,
        Act.REJECT,
        r"(?:não (?:quero|queremos|usa|use|vamos usar|gosto d[eoa]|vou usar|serve|curti)|nada de"
        r"|sem|nem pensar em|dispenso) (?P<label>.{2,})",
        0.78,
        "não quero cookies de terceiros",
        "sem problema",
        unless=r"sem (?:problema|dúvida|querer|pressa|falta|mais)|não quero (?:que|incomod|\pL+[aei]r\b)"
        r"|não (?:quero|gosto) (?:mais|nada)$",
    ),
    Rule(
        "pt.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:(?:por favor|importante|atenção|e|ah)[,:]? )*(?:sempre|nunca|jamais|não "
        r"(?:mexa|mexe|altere|altera|apague|apaga|mude|crie|faça|adicione|escreva|suba|commite"
        r"|toque|publique|coloque)|responda|responde|toda vez que|a partir de agora|daqui pra frente"
        r"|daqui em diante|todos os [\pL]+ (?:devem|têm)|todas as [\pL]+ (?:devem|têm)|respostas curtas"
        r"|antes de (?:cada|qualquer|mudar|apagar|publicar|commitar)|é proibido).{3,})",
        0.84,
        "não suba nada sem o meu ok",
        "isso nunca foi assim",
        unless=r"(?:sempre|nunca) (?:me|foi|deu|dá|falha|funciona|vi|tive)\b",
    ),
    Rule(
        "pt.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:eu |a gente |nós )?(?:prefiro|preferimos|preferia|gosto mais d[eoa]|gosto d[eoa]"
        r"|gostamos d[eoa]) (?P<label>.{3,})",
        0.76,
        "prefiro aspas simples",
        "gosto disso",
    ),
    Rule(
        "pt.still",
        _USER,
        Act.STILL,
        r"(?P<label>(?:(?:não|hm|mas)[, ]+)*(?:[^,;]{0,60}? )?(?:ainda (?:não|dá|está dando|está com"
        r"|tá|falha|quebra|o mesmo|aparece)|continua (?:dando|falhando|quebrad|sem|com|igual"
        r"|o mesmo|não|travando|lento|errad)|de novo o (?:mesmo )?erro|mesmo erro|outra vez o erro).*)",
        0.84,
        "o login continua falhando",
        "ainda é cedo",
    ),
    Rule(
        "pt.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>(?:(?:sim|ok|obrigad[oa]|valeu|perfeito|boa|legal|show|agora|aê|opa|beleza)[,! ]+)*"
        r"(?:agora |já |tudo )*(?:funcionou|funciona|está funcionando|tá funcionando|deu certo"
        r"|rodou|passou|resolvido|resolveu|foi)(?:$|[,.! ].*))",
        0.78,
        "agora funcionou, obrigado",
        "funciona a gasolina",
        unless=r".*\b(?:mas|não|gasolina|como|foi (?:o|a|um|uma))\b",
    ),
    Rule(
        "pt.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>(?:(?:agora|mas|ih|hm|opa|só que)[, ]+)*(?:(?:está |tá )?(?:dá|deu|dando"
        r"|aparece|apareceu|retorna|recebo|tomei)(?: um| o| uma| este)? (?:erro|exceção|falha"
        r"|5\d\d|4\d\d)|não (?:funciona|abre|carrega|salva|compila|roda|aparece|responde|conecta"
        r"|inicia|envia)"
        r"|[^,;?]{2,70}? (?:não (?:funciona|abre|carrega|salva|compila|roda|aparece|responde"
        r"|conecta|inicia|envia|chega|está funcionando|tá funcionando|atualiza)|falha|trava|travou"
        r"|quebra|quebrou|caiu|cai|sumiu|some|está (?:quebrad|vazi|errad|lent|duplicad)\pL*|tá "
        r"(?:quebrad|vazi|errad|lent|duplicad)\pL*|dá (?:erro|pau)|deu (?:erro|pau)|demora (?:muito"
        r"|demais|\d))).*)",
        0.76,
        "o botão de pagamento não funciona no celular",
        "se não funciona, reinicia",
        unless=r"se |quando ",
    ),
    Rule(
        "pt.fixed",
        _ASSISTANT,
        Act.FIX,
        r"(?:já )?(?:corrigi|consertei|resolvi|arrumei|corrigid[oa]|resolvid[oa]) (?P<label>.{3,})",
        0.8,
        "Corrigi o arredondamento dos preços",
        "Corrigir isso demora",
    ),
    Rule(
        "pt.did",
        _BOTH,
        Act.CLAIM,
        rf"(?:(?:pronto|feito|ok)[,.:!]+ )?(?:eu |já |também |te |lhe )*(?P<label>{_DONE} .{{3,}})",
        0.76,
        "Adicionei a coluna de estado",
        "Adicionar é fácil",
    ),
    Rule(
        "pt.is_done",
        _BOTH,
        Act.CLAIM,
        rf"(?P<label>[^,;?]{{3,80}}? (?:já |agora )*(?:está|estão|tá|foi|foram|ficou|ficaram)"
        rf"(?: já| agora)* {_PART})(?:$|[\s.,;].*)",
        0.72,
        "A página de reservas já está pronta",
        "A sopa está fria",
        unless=r"(?:quando|se|depois que|assim que|isso) |.*\bnão\b",
    ),
    Rule(
        "pt.later",
        _BOTH,
        Act.LATER,
        r"(?P<label>(?:só |ainda )*(?:falta(?:m)?|fica faltando|ficou faltando|está pendente" r"|resta) .{4,})",
        0.76,
        "falta traduzir os avisos",
        "a falta foi leve",
        unless=r"faltam? (?:pouco|nada)",
    ),
    Rule(
        "pt.tomorrow",
        _USER,
        Act.LATER,
        r"(?P<label>(?:[^,;?]{0,50}? )?(?:amanhã|depois|mais tarde|semana que vem|na próxima semana"
        r"|segunda|terça|quarta|quinta|sexta|à noite) (?:eu |a gente |já )*(?:\pL+(?:rei|remos)"
        r"|vou|faço|fazemos|vejo|escrevo|termino|testo|falo|peço|mando|ligo|reviso|resolvo)\b.*"
        r"|vou [^?]{3,60}? (?:amanhã|mais tarde|depois|semana que vem|na (?:segunda|terça|quarta"
        r"|quinta|sexta)).*)",
        0.74,
        "amanhã escrevo os testes do carrinho",
        "amanhã é feriado",
    ),
    Rule(
        "pt.use",
        _USER,
        Act.CHOICE,
        rf"(?:(?:ok|beleza|então|sim|tá|bom|e|por favor),? )*{_USE} (?P<label>.{{2,}})",
        0.82,
        "vamos com o pagamento na loja",
        "usa a cabeça",
        unless=r"usa a cabeça",
    ),
    Rule(
        "pt.should",
        _USER,
        Act.WISH,
        rf"(?P<label>(?:o|a|os|as|um|uma|cada|todo|isso)(?: {NAMES})? (?:deve|devem|deveria|tem que"
        rf"|têm que|tem de|precisa|precisam) .{{4,}})",
        0.65,
        "o menu tem que ficar em cima",
        "o gato tem fome",
    ),
    Rule(
        "pt.order",
        _USER,
        Act.REQUEST,
        rf"{_ORDERING}(?P<label>{_WORK} .{{3,}})",
        0.78,
        "adiciona um filtro por data na lista",
        "a melhora foi grande",
        unless=r"(?:melhor|para|como|cri[oa]nça|sub|test[eo]s|mando|faz (?:sentido|tempo|parte)|ordem"
        r"|geral|mesmo|mesma|muda nada|tira-teima) ?",
    ),
    Rule(
        "pt.need",
        _USER,
        Act.REQUEST,
        r"(?:preciso de|preciso|precisamos de|precisamos|quero|queremos|queria|gostaria de|estou precisando de"
        r"|busco) (?P<label>.{5,})",
        0.75,
        "preciso de uma página para devoluções",
        "quero saber por quê",
        unless=r".*(?:quero|queria|preciso|gostaria de) (?:saber|entender|ver|dizer|pensar|dormir)",
    ),
    Rule(
        "pt.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:(?:eu )?(?:proponho|sugiro|recomendo|recomendaria|usaria|iria de|aconselho)|o melhor "
        r"(?:é|seria)) (?P<label>.{4,})",
        0.6,
        "Eu usaria Redis para as sessões",
        "O que você diz é verdade",
    ),
)

PORTUGUESE: Final = Tongue(
    code="pt",
    rules=RULES,
    cues=words_of(
        "tudo hoje ontem cada são foi pode podem só até outro outra mesmo vou ficou deixa põe pega tela botão "
        "não que os as uma uns para pra pro por com em na nos nas do da dos das ao à é está estão tá isso isto"
        " esse essa esta este eu você ele ela meu minha nosso também já mas porque quando"
        " usa usar vamos bora quero queria preciso precisamos adiciona adicionar cria criar faz fazer fiz coloca"
        " põe muda mudar troca tira apaga melhor prefiro sempre nunca agora amanhã então sim obrigado"
        " obrigada valeu falta faltam pendente pronto feito decisão decidido objetivo descartado descartado"
        " funciona funcionou continua esquece pensando voltar adicionei corrigi criei eu o gosto se nada tem"
        " de e"
    )
    - words_of("do as no com pro e se nos dos ela"),
    lead=r"(?:(?:ok|okay|tá|beleza|blz|bom|bem|perfeito|ótimo|otimo|legal|show|valeu|obrigad[oa]"
    r"|muito obrigad[oa]|oi|olá|ola|bom dia|boa tarde|boa noite|sim|não|então|e|mas|ah|ei"
    r"|olha|certo|pronto|entendi|por sinal|aliás|por favor|mais uma coisa|além disso|também"
    r"|agora|fechado|isso)[,.!:]+ ?|(?:e|mas|então|olha|também|aí|além disso|só que|ah|ok"
    r"|tá|bom) )",
    asks=r"(?:por que|por quê|como (?:eu|faço|se|funciona)|qual|quais|quanto|quantos|onde|quem"
    r"|o que (?:é|você acha|acontece)|será que)(?: |$)",
    polite=r"(?:(?:você |tu )?(?:pode|podes|poderia|podia|consegue)|dá pra|da pra|dá para|tem como"
    r"|seria possível)(?: por favor| me| também| já)* (?P<rest>.{4,})",
    supposes=r"(?:se (?:a gente|eu|você|o|a|os|as|for|não|usar|der|fosse|quiser|tiver)|caso |quando "
    r"|talvez|quem sabe|poderia(?:mos)? |por exemplo|em teoria|imagina|suponha|normalmente"
    r"|em geral|geralmente|eu tinha pensado|estava pensando|tava pensando|não sei se|pensei em)",
    reports=r"(?:(?:o|a|os|meu|minha|um|segundo) )?(?:[\pL]+ ){0,3}?(?:diz|dizem|disse|falou|sugere"
    r"|recomenda|acha|quer|queria)(?: que| usar| pra| para)\b|segundo ",
    border=r"\s*[;,]\s+(?:e |mas |também |depois )?|\s+(?:mas|e também|e depois|e aí)\s+|\s+[—–-]\s+" r"|:\s+",
    because=r",?\s+(?:porque|já que|pois|por causa d[eoa]|assim|para que|pra que)\s+|^(?:porque|já que"
    r"|pois|é que|assim) |\s+[—–]\s+|\s*\(",
    trailer=r",? (?:por favor|então|por enquanto|mesmo|também|primeiro|obrigad[oa]|valeu|pf|pfv)",
    offers=r"(?:(?:quer|queres|você quer|prefere)(?: que eu| que)?|(?:se quiser,? )?(?:eu )?(?:posso"
    r"|poderia|podemos|proponho|sugiro|recomendo))(?: também| agora| já)* (?P<label>.{4,})",
    choosing=r"\b(?:opç(?:ão|ões)|caminhos?|formas|maneiras|jeitos|alternativas|soluções|possibilidades|hipóteses)\b",
    either=r"[,;]?\s+ou\s+(?:então )?",
    yes=r"sim|isso(?: mesmo| aí)?|ok|okay|tá(?: bom| ótimo)?|pode(?: ser| fazer| ir| mandar| continuar)?"
    r"|beleza|blz|claro|perfeito|ótimo|combinado|fechado|manda(?: ver| bala)?|faz(?: isso)?"
    r"|faça|vai(?: em frente)?|bora|concordo|de acordo|certo|exato|show|boa(?: ideia)?|gostei"
    r"|segue|prossiga",
    no=r"não(?: obrigad[oa]| precisa| quero)?|melhor não|ainda não|agora não|por enquanto não"
    r"|deixa(?: pra lá)?|nem pensar",
    soft=r"por favor|obrigad[oa]|valeu|então|e|assim|isso|tudo|como você disse|com isso",
    both=r"(?:os|as) du?[ao]i?s|ambos|ambas|tudo|todos|todas",
    pick=r"a|o|opção|número|vamos de|vamos com|vou de|prefiro|escolho|melhor|fico com|pode ser|com|de|vai"
    r"|vamos na|vamos pela?|ficamos com|passamos para",
    picked=r" (?:opção|melhor|porque|que|parece|e)",
    ordinals={
        "primeira": 0,
        "primeiro": 0,
        "segunda": 1,
        "segundo": 1,
        "terceira": 2,
        "terceiro": 2,
        "última": -1,
        "último": -1,
    },
)
