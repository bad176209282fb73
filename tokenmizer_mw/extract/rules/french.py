"""French: tu, vous and the plain infinitive, with and without accents."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.similar import words_of

from .rule import Act, Rule, Speaker
from .tongue import NAMES, Tongue

_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

_WORK: Final = (
    r"(?:ajout|implément|écri|corrig|répar|met|chang|modifi|enlèv|enlev|supprim|refactoris"
    r"|renomm|déplac|migr|convert|configur|déploi|déploy|install|intègr|intégr"
    r"|amélior|optimis|nettoi|nettoy|document|découp|fusionn|valid|génèr|génér|prépar|termin"
    r"|connect|tradui|cach|simplifi|rédui|augment|inclu|rédig|rel|ajust|adapt"
    r"|résum|tri|calcul|compar|programm|cré|mont|fai|envoi|envoy|test|vérifi|cherch|complèt"
    r"|complét|défini|réécri|expliqu|range|rang|raccourci|reformul|dessin|affich|export|import"
    r"|retir|rempl)"
    r"(?:e|es|er|ez|ons|is|it|s|t|ts|re|ir|rai|ise|isse|issez|vez|vons|vre|ttre|ttez|tez"
    r"|ds|tes|nds|ndre|sez|que|quer|lis|lire|lisez|ce|cer|ge|ger|h|her|he|o|de|dre|a|us)*"
)
_DONE: Final = (
    r"(?:ajouté|implémenté|créé|écrit|corrigé|mis à jour|mis|modifié|changé|enlevé|supprimé"
    r"|refactorisé|renommé|déplacé|migré|configuré|déployé|installé|intégré|amélioré|optimisé"
    r"|nettoyé|documenté|généré|préparé|terminé|connecté|traduit|simplifié|réduit|inclus"
    r"|rédigé|relu|ajusté|adapté|résumé|trié|calculé|programmé|monté|fait|envoyé|testé|vérifié"
    r"|complété|défini|réécrit|remplacé|séparé|découpé|retiré|appliqué)e?s?"
)
_USE: Final = (
    r"(?:utilise|utilisez|utilisons|on utilise|on utilisera|on prend|prends|prenez|prenons"
    r"|je prends|on part sur|partons sur|je pars sur|va pour|on va sur|je choisis|on choisit"
    r"|on garde|garde|gardons|gardez|je garde"
    r"|on reste sur|restons sur|on fait avec|ce sera|on opte pour|j'opte pour|je préfère prendre"
    r"|on met)"
)
_ORDERING: Final = (
    r"(?:(?:s'il te plaît|s'il vous plaît|stp|svp|maintenant|ensuite|puis|après|aussi|d'abord"
    r"|je (?:veux|voudrais|souhaite|dois)(?: que tu)?|j'aimerais(?: que tu)?|il faut(?: que tu)?"
    r"|il faudrait|faut|tu (?:peux|dois|pourrais)|vous pouvez|on doit|on peut"
    r"|nous devons|nous voulons|aide-moi à|aidez-moi à|j'ai besoin (?:de|d'|que tu)|reste à"
    r"|pense à|pensez à|et|me|nous|de),? ?|d')*"
)

RULES: Final = (
    Rule(
        "fr.goal",
        _BOTH,
        Act.GOAL,
        r"(?:l'|mon |notre |le )?(?:objectif|but)(?: du jour| principal| est| :|:|,)+ ?(?:de " r"|d')?(?P<label>.{4,})",
        0.92,
        "Objectif : une page de réservation pour l'atelier",
        "L'objectif photo est sale",
        explicit=True,
    ),
    Rule(
        "fr.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:décision(?: prise| finale)?|décidé|c'est décidé|acté|convenu) ?: ?(?P<label>.{2,})",
        0.92,
        "Décision : prix en centimes",
        "La décision était dure",
        explicit=True,
    ),
    Rule(
        "fr.pending",
        _BOTH,
        Act.LATER,
        r"(?:à faire|en attente|reste(?: à faire)?|il reste|prochaines? étapes?|pas encore fait"
        r"|todo) ?: ?(?P<label>.{3,})",
        0.92,
        "À faire : traduire les mails",
        "Affaire classée",
        explicit=True,
    ),
    Rule(
        "fr.done_mark",
        _BOTH,
        Act.CLAIM,
        r"(?:fait|terminé|fini) ?: ?(?P<label>.{3,})",
        0.9,
        "Fait : table des clients",
        "Fait divers",
        explicit=True,
    ),
    Rule(
        "fr.discarded",
        _BOTH,
        Act.REJECT,
        r"(?:écarté|rejeté|abandonné)e?s? ?: ?(?P<label>.{2,})",
        0.9,
        "Écarté : paiement par chèque",
        "Écarter les murs",
        explicit=True,
    ),
    Rule(
        "fr.instead",
        _USER,
        Act.REPLACE,
        rf"(?:plutôt |mieux vaut |{_USE} |mets |mettons |fais |faisons )*(?P<label>[^,;]{{2,60}}?),? "
        r"(?:au lieu (?:de|du|d')|à la place (?:de|du|d')|plutôt que(?: de)?|et pas|et non) ?"
        r"(?P<target>[^,;]+)(?:[,;] (?P<reason>.+))?",
        0.9,
        "utilise argon2 au lieu de bcrypt",
        "Dis-moi pourquoi au lieu de deviner",
        whole=True,
        unless=r"(?:dis|explique|montre|pourquoi|que)\b",
    ),
    Rule(
        "fr.switch",
        _USER,
        Act.REPLACE,
        r"(?:finalement )?(?:on |je )?(?:passons|passe|passez|change|changeons|bascule|basculons"
        r"|migre|migrons)(?: tout)?(?: (?:de|du) (?P<target>[^,;]{2,40}?))? (?:à|sur|vers|pour"
        r"|en) (?P<label>.{2,})",
        0.88,
        "passons de MySQL à Postgres, ça tient mieux",
        "passe me voir demain",
        unless=r".*\bpasse[rz]? (?:à|sur) (?:la maison|table|autre)",
    ),
    Rule(
        "fr.drop_for",
        _USER,
        Act.REPLACE,
        r"(?:oublie|laisse tomber|oublions|laissons tomber|vire|exit)(?: le| la| les| l')? ?"
        r"(?P<target>[^,;]{2,50}?)[,;.] ?(?:on |et |plutôt |finalement )*(?:prends|prend|utilise"
        r"|mets|met|part sur|plutôt|partons sur) (?P<label>.{2,})",
        0.9,
        "oublie Redux, prends Zustand",
        "oublie ça, on verra",
        whole=True,
    ),
    Rule(
        "fr.turned",
        _USER,
        Act.REPLACE,
        r"(?:finalement|en fait|tout compte fait|réflexion faite|à la réflexion|plutôt)[, ]+"
        r"(?:non[, ]+)?(?:on (?:fait|prend|met|utilise|part sur|garde) |je (?:prends|préfère"
        r"|veux) |plutôt |mets |avec |fais )*(?P<label>.{2,})",
        0.78,
        "finalement on prend SQLite",
        "en fait je ne sais pas",
        unless=r".*\b(?:sais|marche|est|pas|ça|c'est|ai|a été|fonctionne)\b|.*c'est",
    ),
    Rule(
        "fr.back",
        _USER,
        Act.RETURN,
        r"(?:on |je )?(?:revenons|reviens|revient|revenez|retour|retournons) (?:à|au|sur|aux) " r"(?P<label>.{2,})",
        0.85,
        "revenons à REST",
        "je reviens lundi",
    ),
    Rule(
        "fr.forget",
        _USER,
        Act.RETRACT,
        r"(?:laisse tomber|laissez tomber|oublie|annule|annulez|oublions|on abandonne|pas la peine de faire)"
        r" (?:le |la |les |l'|l’)?(?P<label>.{3,})",
        0.8,
        "laisse tomber les codes promo",
        "oublie pas de dormir",
        unless=r"oublie[zs]? pas\b|oublie ça$",
    ),
    Rule(
        "fr.no_want",
        _USER,
        Act.REJECT,
        r"(?:(?:je ne veux|je veux|on ne veut|on veut|nous ne voulons|surtout|non,)? ?(?:pas de"
        r"|pas d'|pas du|plus de|aucun|aucune|on évite|évite|sans) ?(?:le |la |les )?(?P<label>.{2,}))",
        0.78,
        "pas de cookies tiers",
        "pas de souci",
        unless=r"(?:pas de (?:souci|problème|panique|chance|soucis|quoi|doute)|pas d'(?:accord|idée"
        r"|urgence)|sans (?:doute|souci|problème|cela|ça)|plus de (?:\d|temps)|.*(?:aucune? "
        r"(?:idée|problème|souci|doute)))",
    ),
    Rule(
        "fr.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:(?:s'il te plaît|stp|svp|important|attention|et|ah et|désormais|dorénavant"
        r"|à partir de maintenant) ?[,:]? ?)*(?:toujours|jamais|ne jamais|ne \S+ (?:jamais|pas"
        r"|rien|plus)|n'\S+ (?:jamais|pas|rien|plus)|réponds|répondez|désormais|dorénavant|à partir de maintenant"
        r"|chaque fois que|avant (?:chaque|de|tout)|après chaque"
        r"|touche pas|ne touche|tous les [\pL]+ doivent|toutes les [\pL]+ doivent|uniquement"
        r"|interdit|interdiction|pense à toujours|reste (?:court|bref|poli)|tu ne dois|on vouvoie"
        r"|on tutoie|vouvoie).{3,})",
        0.84,
        "réponds toujours en français",
        "il n'a jamais plu ici",
        unless=r".*\b(?:n'arrive|ne (?:marche|fonctionne|sais|comprends|suis|peux|veut|s'affiche|trouve"
        r"|vois|démarre|passe|veux|voit)|n'ai|n'est|n'a)\b|avant de (?:partir|commencer, dis)",
    ),
    Rule(
        "fr.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:je |nous |on |moi )+(?:préfère|préférons|préférerais|aime(?:rais)?(?: bien| mieux)?"
        r"|aimons) (?P<label>.{3,})",
        0.76,
        "je préfère les guillemets simples",
        "j'aime",
        unless=r".*(?:que tu (?:fass|ajout|cré))|j'aimerais (?:savoir|que)",
    ),
    Rule(
        "fr.still",
        _USER,
        Act.STILL,
        r"(?P<label>(?:(?:non|hm|ben|mais)[, ]+)*(?:[^,;]{0,60}? )?(?:toujours (?:pas|la même"
        r"|le même|une|l'erreur|en erreur|cassé|rien|vide)|encore (?:la même|une erreur|cassé"
        r"|planté|le même)|ça (?:plante|bloque|marche) (?:encore|toujours)|marche (?:toujours"
        r"|encore) pas).*)",
        0.84,
        "la connexion ne marche toujours pas",
        "on est toujours contents",
    ),
    Rule(
        "fr.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>(?:(?:super|ok|merci|parfait|génial|oui|ah|nickel|maintenant|c'est bon)[,! ]+)*"
        r"(?:ça (?:marche|fonctionne|passe|roule)|c'est (?:bon|réglé|réparé|résolu|corrigé)|tout "
        r"(?:marche|passe|fonctionne)|nickel|impeccable)(?: maintenant| bien| enfin| merci| !)*"
        r"(?:$|[,.! ].*))",
        0.78,
        "ça marche maintenant, merci",
        "comment ça marche",
        unless=r".*\b(?:mais|pas|plus|sauf|comment|si)\b",
    ),
    Rule(
        "fr.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>(?:(?:maintenant|mais|aïe|hm|oups|là|bon)[, ]+)*(?:j'ai (?:une|un|des|cette"
        r"|l') ?(?:erreur|exception|bug|souci|problème|message d'erreur)|ça (?:plante|bloque"
        r"|casse|ne|marche pas|affiche rien|renvoie|crashe)|il y a (?:une erreur|un bug|un problème"
        r"|un souci)"
        r"|[^,;?]{2,70}? (?:ne |n')?(?:marche|fonctionne|démarre|compile|charge|s'affiche|s'ouvre"
        r"|répond|arrive|sauvegarde|passe|part|part)(?:nt)? (?:pas|plus)|[^,;?]{2,70}? (?:plante"
        r"|échoue|bugue|crashe|bloque|se coupe|déborde)(?:nt)?\b|[^,;?]{2,70}? (?:est|sont) "
        r"(?:\S+ )?(?:cassé|vide|faux|fausse|planté|en double|coupé|illisible|trop lent|perdu)e?s?"
        r"|[^,;?]{2,70}? (?:renvoie|retourne|donne|affiche) (?:une erreur|un 5\d\d|un 4\d\d|une page blanche"
        r"|n'importe quoi)).*)",
        0.76,
        "le bouton de paiement ne marche pas sur mobile",
        "ça ne fait rien",
        unless=r"ça ne (?:fait rien|me|presse)|comment|.*\b(?:ne (?:sert|change) )",
    ),
    Rule(
        "fr.fixed",
        _ASSISTANT,
        Act.FIX,
        r"(?:(?:j'ai|nous avons|on a|c'est) )?(?:corrigé|réparé|résolu|réglé)e?s? (?P<label>.{3,})",
        0.8,
        "J'ai corrigé l'arrondi des prix",
        "Corriger cela prend du temps",
    ),
    Rule(
        "fr.did",
        _BOTH,
        Act.CLAIM,
        r"(?:(?:ça y est|voilà|c'est bon|fait)[, :]+)?(?:j'ai|je l'ai|je t'ai|je vous ai|nous avons"
        rf"|on a)(?: bien| déjà| aussi| donc| maintenant)* (?P<label>{_DONE}(?: .{{3,}}))",
        0.78,
        "J'ai ajouté la colonne de statut",
        "J'ai une question",
    ),
    Rule(
        "fr.is_done",
        _BOTH,
        Act.CLAIM,
        rf"(?P<label>[^,;?]{{3,80}}? (?:est|sont|a été|ont été)(?: maintenant| bien| déjà| désormais"
        rf"| enfin)* (?:{_DONE}|prête?s?|en place|en ligne|finie?s?|faite?s?|envoyée?s?))(?:$"
        r"|[\s.,;].*)",
        0.72,
        "La page de réservation est maintenant prête",
        "La soupe est froide",
        unless=r"(?:quand|si|une fois|dès que|ce|c'|où|qui) |.*\b(?:pas|n'est|ne sont|mal)\b|.*n'(?:est" r"|a)",
    ),
    Rule(
        "fr.later",
        _BOTH,
        Act.LATER,
        r"(?:il |on )?(?:reste|manque|resterait)(?: encore| juste| plus qu'| plus que)*(?: à"
        r"| aussi)? ?(?P<label>.{4,})",
        0.76,
        "il reste à traduire les avis",
        "reste avec moi",
        unless=r"reste (?:avec|sur|poli|court|là|calme|bref)|on reste\b",
    ),
    Rule(
        "fr.tomorrow",
        _USER,
        Act.LATER,
        r"(?P<label>(?:je (?:le |la |les |lui |leur )?(?:[\pL]+(?:rai)|fais|vois|demande|m'en occupe"
        r"|m'occupe|appelle|envoie|écris)\b.{0,80}?(?:demain|plus tard|ce soir|lundi|mardi|mercredi"
        r"|jeudi|vendredi|la semaine prochaine|après)\b.*|(?:demain|plus tard|ce soir|lundi|mardi"
        r"|mercredi|jeudi|vendredi|la semaine prochaine)[, ]+(?:je|on) .{4,}))",
        0.74,
        "demain on attaque les tests du panier",
        "demain il pleut",
        unless=r".*\b(?:repos|vacances)\b",
    ),
    Rule(
        "fr.use",
        _USER,
        Act.CHOICE,
        rf"(?:(?:ok|d'accord|bon|alors|oui|donc|et|va),? )*{_USE} (?:donc |plutôt |sur )*(?P<label>.{{2,}})",
        0.8,
        "on part sur le paiement en boutique",
        "prends ton temps",
        unless=r"(?:prends|prenez) (?:ton|votre|soin|le temps)|on met (?:fin|du temps)|garde (?:en tête"
        r"|à l'esprit)",
    ),
    Rule(
        "fr.should",
        _USER,
        Act.WISH,
        rf"(?P<label>(?:le |la |les |l'|un |une |chaque |tout )(?:{NAMES}) (?:doit|doivent|devrait"
        rf"|devraient|ne doit|ne doivent) .{{4,}})",
        0.65,
        "le menu doit rester en haut",
        "le chat a faim",
    ),
    Rule(
        "fr.order",
        _USER,
        Act.REQUEST,
        rf"{_ORDERING}(?:me |nous |moi |-moi )?(?P<label>{_WORK}(?:-moi|-nous|-le|-la)? .{{3,}})",
        0.78,
        "ajoute un filtre par date à la liste",
        "les ajouts sont lents",
        unless=r"(?:fait|fais|test|tests|met|change|crée|tri|mont|range|cré|a|tes|trie|fait|rel|inclus"
        r"|calcul|document|documents|import|export|relis|cache|fai|mise|mes|rempl) (?:froid|chaud"
        r"|que|du|des|sur|pas|peur|nul|rien|de|est|et|dans)\b|.*\bpas$",
    ),
    Rule(
        "fr.need",
        _USER,
        Act.REQUEST,
        r"(?:j'ai besoin d'|j'ai besoin de |je veux |je voudrais |on veut |nous voulons |il me faut "
        r"|il nous faut |il faut |il faudrait |je cherche |j'aimerais )(?P<label>.{5,})",
        0.75,
        "il me faut une page pour les retours",
        "je veux savoir pourquoi",
        unless=r".*(?:veux|voudrais|aimerais|faut) (?:savoir|comprendre|dire|voir|attendre)\b|.*que tu ",
    ),
    Rule(
        "fr.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:je (?:propose|suggère|recommande|conseille|prendrais|partirais sur|te propose|vous propose)"
        r"|le mieux (?:est|serait)|mieux vaut)(?: de| d')? ?(?P<label>.{4,})",
        0.6,
        "Je recommande Redis pour les sessions",
        "Je ne sais pas",
    ),
)

FRENCH: Final = Tongue(
    code="fr",
    rules=RULES,
    cues=words_of(
        "prend prends utiliser virer enlever remplace remplacer ajouter corriger faudrait peux peut sont "
        "était avons avez leur leurs toute toutes chez bouton écran "
        "le les des du une est et pour dans avec sur pas ne que qui je tu nous vous il elle ça ca c'est j'ai"
        " mais donc alors ou où aussi très bien merci oui non"
        " utilise ajoute crée écris fais mets prends passe passons oublie corrige supprime enlève modifie change"
        " rédige revenons finalement plutôt toujours jamais décision objectif fait"
        " faire reste manque laisse tomber aimerais voudrais veux faut besoin au aux la de à en mon ma mes notre"
        " nos votre ton ta ce cette ces marche plante erreur maintenant demain"
        " d'accord garde partons part on l'on voilà terminé écarté résolu corrigé ajouté préfère préférerais"
        " l'objectif"
    )
    - words_of("on non change passe sur pour or des en part ton ma mes est marche il"),
    lead=r"(?:(?:ok|okay|d'accord|bon|bien|super|parfait|génial|merci(?: beaucoup)?|bonjour|bonsoir"
    r"|salut|oui|non|alors|donc|ah|euh|hm+|tiens|voilà|nickel|top|très bien|entendu|compris"
    r"|au fait|par contre|petite chose|c'est noté|c'est bon|stp|svp|s'il te plaît|s'il vous plaît"
    r"|ensuite|enfin|aussi|bref) ?[,.!:]+ ?|(?:et|mais|donc|alors|puis|ok|bon|par contre"
    r"|du coup|sinon|en plus|ah|oui|d'accord) )",
    asks=r"(?:pourquoi|comment|qu'est-ce|est-ce que|combien|quand est-ce|quelle?s? (?:est|sont)" r"|qui est|où )",
    polite=r"(?:(?:est-ce que )?(?:tu peux|tu pourrais|vous pouvez|vous pourriez|on peut|on pourrait)"
    r"|peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|peut-on|pourrait-on)(?: me| nous| aussi"
    r"| stp| s'il te plaît| s'il vous plaît| bien)* (?P<rest>.{4,})",
    supposes=r"(?:si (?:on|je|tu|vous|le|la|les|jamais|ça|nous|un)|s'il |quand |peut-être|éventuellement"
    r"|on pourrait|on aurait pu|par exemple|en théorie|imaginons|supposons|admettons|au cas où"
    r"|normalement|en général|d'habitude|je me demande|j'avais pensé|je pensais|je ne sais pas si"
    r"|j'hésite)",
    reports=r"(?:(?:le|la|les|mon|ma|l'|un|une|notre|d'après|selon) ?)?(?:[\pL']+ ){0,3}?(?:dit|disent"
    r"|a dit|propose|recommande|conseille|pense|veut|voulait|suggère|insiste)(?: que| d'"
    r"| de| pour)\b|(?:selon|d'après) ",
    border=r"\s*;\s+|,\s+(?:et |mais |puis |ensuite |aussi |donc )?|\s+(?:mais|et aussi|et puis"
    r"|et ensuite|et après)\s+|\s+[—–-]\s+| ?:\s+",
    because=r",?\s+(?:parce qu(?:e |')|car |puisqu(?:e |')|vu qu(?:e |')|comme ça |pour qu(?:e |')"
    r"|à cause d(?:e |u |')|afin d(?:e |'))|^(?:parce qu(?:e |')|car |comme ça |vu qu(?:e "
    r"|'))|\s+[—–]\s+|\s*\(",
    trailer=r",? (?:s'il te plaît|s'il vous plaît|stp|svp|alors|pour l'instant|plutôt|du coup|merci"
    r"|aussi|d'abord|donc|finalement)",
    offers=r"(?:(?:veux-tu|voulez-vous|souhaites-tu|souhaitez-vous|tu veux|vous voulez)(?: que je"
    r"| que l'on)?|si (?:tu veux|vous voulez),? je (?:peux|pourrais)|je (?:peux|pourrais"
    r"|propose|suggère|recommande|conseille)|on (?:peut|pourrait))(?: aussi| maintenant| te"
    r"| vous| ensuite| de| d')* ?(?P<label>.{4,})",
    choosing=r"\b(?:options?|façons|pistes|solutions|voies|possibilités|choix|alternatives|manières|chemins)\b",
    either=r"[,;]?\s+ou\s+(?:bien )?",
    yes=r"oui|ok|okay|d'accord|vas-y|allez-y|allez|parfait|super|nickel|très bien|bonne idée"
    r"|c'est (?:bon|parti|parfait)|ça me va|ça marche|fais(?: le|-le| ça| comme ça)*|faites"
    r"|je valide|validé|valide|volontiers|bien sûr|exactement|carrément|entendu|banco|go"
    r"|continue|je suis d'accord|on fait (?:ça|comme ça)|top|génial",
    no=r"non(?: merci)?|pas (?:maintenant|encore|la peine|besoin)|surtout pas|plutôt pas|laisse" r"(?: tomber)?",
    soft=r"merci|stp|svp|s'il te plaît|s'il vous plaît|pour moi|ça|le|et|alors|donc|tout|comme tu dis" r"|avec ça",
    both=r"les deux|tous les deux|toutes les deux|tout|tous|toutes",
    pick=r"la|le|l'|option|numéro|on prend|je prends|on part sur|va pour|plutôt|pour|je choisis"
    r"|solution|variante|prends|avec|choix|on fait|je dirais",
    picked=r" (?:option|solution|est|me|semble|parce|car|et|c'est|me va|plutôt)",
    ordinals={
        "première": 0,
        "premier": 0,
        "deuxième": 1,
        "seconde": 1,
        "second": 1,
        "troisième": 2,
        "dernière": -1,
        "dernier": -1,
    },
)
