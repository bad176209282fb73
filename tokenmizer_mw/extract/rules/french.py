"""Phrases of French, from which the rules for French sentences are made. Orders are listed in the forms for tu and
vous, statements also with on."""

from __future__ import annotations

from typing import Final

from .tongue import make_tongue

FRENCH: Final = make_tongue(
    "fr",
    words={
        "use": r"(?:on |je |nous )?(?:utiliser?(?:ons|ez|a|ai)?|prends|prend|prenez|prenons|par[st] sur|partons sur"
        r"|choisi[st]?|gard(?:e|ons|ez)|restons? sur|reste sur|opte pour|fait avec|va sur|met|part avec)|va pour|ce "
        r"sera",
        "rather": r"plutôt|finalement|en fait|alors|donc|bon|et|non|mieux vaut|on|je|nous",
        "part": r"(?:(?:ajout|implément|corrig|chang|modifi|enlev|supprim|renomm|déplac|migr|convert|configur|déploy"
        r"|install|intégr|amélior|optimis|nettoy|document|découp|fusionn|valid|génér|prépar|termin|connect|simplifi"
        r"|rédig|ajust|adapt|résum|tri|calcul|programm|cré|mont|envoy|test|vérifi|complét|range|reformul|dessin|export"
        r"|import|retir|remplac|sépar|appliqu|boucl|ferm|branch|activ|livr|sign|imprim|réserv|achet|command|publi"
        r"|enregistr|restaur)é|mis(?: à jour| en place)?|écrit|réécrit|fait|refait|traduit|réduit|inclus|défini|fini"
        r"|reçu|construit|rempli|converti|relu)(?:e|s|es)?",
        "have": r"j'ai|je (?:l'|les |t'|vous |viens de |te l'|vous l')ai|nous avons|on (?:l'|les )?a",
        "when": r"(?:demain(?: matin| soir)?|après-demain|ce soir|cet après-midi|plus tard|(?:ce |le |avant |d'ici "
        r"|dès )?(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)(?: prochain)?|la semaine prochaine|(?:en"
        r"|avant) (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)|moi-même"
        r"|(?:le|avant le|d'ici le) \d{1,2}(?: \pL+)?|après (?:le |la |les |l')\pL+)",
        "do": r"(?:fais|fait|ferai|fera|demande|vois|voit|verrai|verra|regarde|appelle|envoie|enverrai|écris|finis"
        r"|prépare|passe|teste|relis|dépose|commande|occupe|parle|imprime|livre|corrige|vérifie|vais \pL+"
        r"|\pL{3,}(?:erai|irai|era|ira|erons|irons))",
        "make": r"(?:ajout|implément|écri|corrig|répar|met|chang|modifi|enlèv|enlev|supprim|renomm|déplac|migr|convert"
        r"|configur|déploi|déploy|install|int[èé]gr|amélior|optimis|nettoi|nettoy|document|découp|fusionn|valid"
        r"|gén[èé]r|prépar|termin|connect|tradui|cach|simplifi|rédui|augment|inclu|rédig|ajust|adapt|résum|tri|calcul"
        r"|compar|programm|cré|mont|fai|envoi|envoy|test|vérifi|cherch|compl[èé]t|défini|réécri|expliqu|rang|raccourci"
        r"|reformul|dessin|affich|export|import|retir|rempl|relis|aide)(?:e|es|er|ez|ons|is|it|s|t|ts|re|ir|rai|ise"
        r"|issez|vez|vons|vre|ttre|ttez|tez|ds|nds|ndre|ce|cer|ge|ger|h|o|dre|a|us)*(?:-moi|-nous|-le|-la)?",
        "asking": r"(?:(?:s'il (?:te|vous) plaît|stp|svp|maintenant|ensuite|puis|après|aussi|d'abord|je (?:veux"
        r"|voudrais|souhaite|dois)(?: que tu)?|j'aimerais(?: que tu)?|il faut(?: que tu)?|il faudrait|faut|tu (?:peux"
        r"|dois|pourrais)|vous pouvez|on (?:doit|peut)|nous (?:devons|voulons)|aide[zr]?-moi à|j'ai besoin (?:de|d'"
        r"|que tu)|pense[zr]? à|et|me|nous|de),? ?|d')*",
    },
    rows={
        "goal": r"(?:l'|mon |notre |le )?(?:objectif|but)(?: du jour| principal)?",
        "decided": r"décision(?: prise| finale)?|décidé|c'est décidé|acté|convenu",
        "pending": r"à faire|en attente|(?:il )?reste(?: à faire)?|prochaines? étapes?|pas encore fait|todo",
        "done_mark": r"fait|terminé|fini",
        "discarded": r"(?:écarté|rejeté|abandonné)e?s?",
        "instead": (
            r"(?:(?:<use>|<rather>|mets|mettons|fais|faisons) )*<new>,? (?:au lieu (?:de |du |d')|à la place (?:de "
            r"|du |d')|plutôt que (?:de )?)<old><end>",
            r"(?:<rather> )*(?:(?:<use>|mets|mettons|fais|faisons) )+<new>,? et (?:pas|non) <old><end>",
            r"(?:<rather> )*(?:passe[zr]?|passons|change[zr]?|changeons|bascule|basculons|migre|migrons|remplace[zr]?"
            r"|remplaçons)(?: tout)? (?:de |du |d'|le |la |les |l')?<old> (?:à|sur|vers|pour|en|par) <new><end>",
            r"(?:<rather> )*(?:oublie|oublions|laisse tomber|on laisse tomber|vire|exit|pas|plus) (?:de |d'|le |la "
            r"|les |l')?<old>[,;.] (?:<rather> )*(?:<use>|mets|plutôt) <new><end>",
            r"(?:le |la |les |l')?<old> (?:est|c'est|coûte|devient|me) (?:vraiment )?(?:trop )?\pL+, (?:<rather> "
            r")*(?:<use>|plutôt|on passe à|je suis passé à|mets|on met) <new><end>",
        ),
        "no_want": (
            r"(?:<rather>,? )*(?:(?:je ne veux|je veux|on ne veut|on veut|nous ne voulons|surtout) )?(?:pas|plus|on "
            r"évite|évite|sans|aucune?|laisse tomber|on abandonne)(?: (?:de |d'|du |la |le |les )|(?: d'| l')| "
            r")<new><end>",
        ),
        "bare": r"(?P<label>(?:c'est )?<part>[,.;:] ?.{4,}|c'est <part> (?:dans|sur|pour|en|avec|par) .{4,})",
        "plan": (
            r"(?:je|j'|on|nous) ?(?:(?:le|la|les|l'|lui|leur|en|m'en|te|vous) ?)*<do> (?:[^;?]{0,60}?)<when>",
            r"<when>[, ]+(?:je|on) .{4,}|c'est \pL+ qui (?:s'en (?:occupe|charge)|(?:le |la |les )?(?:fait|gère)"
            r"|envoie)",
        ),
        "switch": r"(?:<rather> )*(?:passons|passe[zr]?|change[zr]?|changeons|bascule|basculons|migre|migrons)(?: "
        r"tout)? (?:à|sur|vers|pour|en) <new><end>",
        "back": r"(?:on |je )?(?:reven(?:ons|ez)|reviens|revient|retour|retournons) (?:à|au|sur|aux) <all>",
        "turned": r"(?:finalement|en fait|tout compte fait|réflexion faite|à la réflexion|plutôt)[, ]+(?:non[, "
        r"]+)?(?:on (?:fait|prend|met|utilise|part sur|garde|publie) |je (?:prends|préfère|veux) |plutôt |mets |avec "
        r"|fais )*<all>",
        "rule": r"(?P<label>(?:(?:s'il te plaît|stp|svp|important|attention|et|ah et|désormais|dorénavant|à partir de "
        r"maintenant) ?[,:]? ?)*(?:toujours|jamais|ne \S+ (?:jamais|pas|rien|plus)|n'\S+ (?:jamais|pas|rien|plus)"
        r"|réponds|répondez|désormais|dorénavant|à partir de maintenant|chaque fois que|avant (?:chaque|de|tout)"
        r"|après chaque|touche pas|tou(?:te)?s les \pL+ doivent|uniquement|interdi(?:t|ction)|pense à toujours|tu ne "
        r"dois|on (?:vou|tu)toie|vouvoie).{3,}|.{0,60}?(?:il ne faut (?:jamais|pas)|ne (?:doit|doivent) (?:jamais|pas"
        r"|plus)) .{3,}|.{3,60}? (?:doit|doivent) (?:toujours|obligatoirement|impérativement) .{3,})",
        "works": r"ça (?:marche|fonctionne|passe|roule)|c'est (?:bon|réglé|réparé|résolu|corrigé)|tout (?:marche|passe"
        r"|fonctionne)|nickel|impeccable",
        "prefer": r"(?:je |nous |on |moi )+(?:préf[èé]r(?:e|ons|erais)|aime(?:rais)? (?:bien|mieux)|aimons) <all>",
        "use": (
            r"(?:(?:<rather>|ok|d'accord),? )*<use> (?:donc |plutôt |sur )*<all>",
            r"pour [^,;?]{2,40} (?:on|tu) (?:part|pars|prends?|utilise|mets?|vas?)(?: sur| avec)? <all>",
            r"(?:le comité |l'équipe |on |nous |j')(?:a|ai|avons) (?:tranché|décidé|choisi)[,:]? (?:que |de |d')?<all>",
        ),
        "complaint": (
            r"(?:j'ai|il y a|renvoie|retourne|donne|affiche) (?:une|un|des|cette|l') ?(?:erreurs?|exception|bug|souci"
            r"|problème|message d'erreur|[45]\d\d|page blanche)",
            r"(?:ne |n')?(?:\S+ )?(?:marche|fonctionne|démarre|compile|charge|s'affiche|s'ouvre|répond|arrive"
            r"|sauvegarde|passe|part|colle|tombe|correspond|veut)(?:nt)? (?:pas|plus)",
            r"plante(?:nt)?|a planté|échou(?:e|ent|é)|bugue|bogue|crashe|se (?:coupe|bloque|perd|duplique|répète"
            r"|mélange)\pL*|déborde|ça rame|bloqué|refusée?s?|disparaît|disparue?s?|c'est faux|en double|deux fois|en "
            r"panne|n'importe quoi",
            r"(?:est|sont|reste|sort|arrive) (?:\S+ ){0,2}(?:cassé|vide|faux|fausse|coupé|illisible|trop lent|perdu"
            r"|décalé)\pL*",
            r"met (?:\S+ ){0,2}\d+ (?:secondes|minutes|heures)",
        ),
        "fixed": r"(?:(?:j'ai|nous avons|on a|viens de|c'est|est|sont|été) (?:\S+ )?)?(?:corrig|répar|résol|régl)(?:é"
        r"|u|er)(?:e|s|es)?",
        "did": (
            r"<have> (?:bien |déjà |aussi |donc |maintenant |tout )*<part>",
            r"^<part> (?:dans|sur|pour|le|la|les|un|une|des) .{4,}",
            r"(?:est|sont|a été|ont été)(?: maintenant| bien| déjà| désormais| enfin)* (?:<part>|prête?s?|en place|en "
            r"ligne)",
        ),
        "later": r"(?:il |on |lui |me |nous )?(?:rest(?:e|ent|erait)|manqu(?:e|ent))(?: encore| juste| plus qu'| plus "
        r"que)*(?: à| aussi)?[ :].{4,}|pas encore|plus tard|on verra|reste à faire|remet\pL* à|il faut encore|je dois "
        r"encore",
        "set": r"^[^,;?]{3,50}?,? (?:je|on) (?:la |le |les |l')(?:garde|laisse|met|mets)(?:$|[ ,].*)|^(?:on|je) "
        r"(?:garde|laisse|reste) .{2,}|(?:d'occasion|plutôt) .{3,}, pas .{3,}|(?:ce sera|aura lieu) .{3,}",
        "order": r"<asking>(?:me |nous |moi |-moi )?(?P<label><make> .{3,})",
        "need": r"(?:j'ai besoin d'|j'ai besoin de |je veux |je voudrais |on veut |nous voulons |il (?:me |nous "
        r")?(?:faut|faudrait) |je cherche |j'aimerais )(?P<label>.{5,})",
        "result": r"^(?:[\pL\pN`'\"/.#_()-]+ ){1,6}<part>$",
    },
    unless={
        "instead": r"(?:dis|explique|montre|pourquoi|que)\b",
        "no_want": r".*\bpas (?:de (?:souci|problème|panique|chance|soucis|quoi|doute)|d'(?:accord|idée|urgence)|mal"
        r"|encore|du tout|si|très|vraiment|besoin|grave|sûr|la peine|maintenant|tomber)|sans (?:doute|souci|problème"
        r"|cela|ça)|plus (?:de (?:\d|temps)|tard|\pL+ que)|.*aucune? (?:idée|problème|souci|doute)|(?:plus|pas) \pL+$"
        r"|laisse tomber$",
        "plan": r"(?:si|quand|comme) |.*\b(?:repos|vacances|hier|toujours)\b",
        "turned": r".*\b(?:sais|marche|est|pas|ça|c'est|ai|a été|fonctionne)\b|.*c'est",
        "rule": r".*\b(?:n'arrive|ne (?:marche|fonctionne|sais|comprends|suis|peux|veut|s'affiche|trouve|vois|démarre"
        r"|passe|veux|voit)|n'ai|n'est|n'a)\b|avant de (?:partir|commencer, dis)|toujours (?:pas|la|le|une|l)\b",
        "works": r".*\b(?:mais|pas|plus|sauf|comment|si|que|dès)\b",
        "use": r"(?:prends|prenez) (?:ton|votre|soin|le temps)|on met (?:fin|du temps)|garde[zr]? (?:en tête|à "
        r"l'esprit)|(?:j'|on )(?:ai|a) décidé (?:de ne|pas)",
        "complaint": r"(?:si|quand|lorsque|pour que|comment) |ça ne (?:fait rien|me|presse)|.*\b(?:ne (?:sert|change) "
        r"|sans erreur|n'est pas faux|n'échoue pas|plus d'erreur)",
        "fixed": r".*\b(?:pas|faut|pour|vais|peux|peut|faudrait|doit)\b",
        "did": r"(?:quand|si|une fois|dès que|ce|c'|où|qui) |.*\b(?:pas|n'est|ne sont|mal|doit|sera|plus|jamais|pensé"
        r"|remarqué|regardé|trouvé|essayé|demandé|été (?:clair|long)|oublié|passé)\b|.*n'(?:est|a|ai)\b",
        "result": r"(?:si|quand|il|un|une|qui|que|pour|avec|ce qui|on|dès|en|à|je|le marché) .*|.*\b(?:pas|plus|jamais"
        r"|sans|si|doit|sera|être|est|a)\b",
        "later": r"reste (?:avec|sur|poli|court|là|calme|bref)|on reste\b|.*\b(?:est|c'est) plus tard",
        "order": r"(?:fait|fais|test|tests|met|change|crée|tri|mont|cré|a|tes|trie|rel|document|import|export|cache"
        r"|fai|mise|mes)s? (?:froid|chaud|que|du|des|sur|pas|peur|nul|rien|de|est|et|dans)\b|.*\bpas$",
        "need": r".*(?:veux|voudrais|aimerais|faut) (?:savoir|comprendre|dire|voir|attendre)\b|.*que tu |.*faut (?:pas"
        r"|jamais)",
    },
    ahead={
        "hands": (
            r"(?:ça |cela |celui-là |celle-là )?,? ?je (?:le |la |les |lui |leur |m'en )+<do>(?: moi-même)?(?: "
            r"<when>)?",
            r"(?:vas-y|fais-le|on (?:voit|fait|verra|fera) ça|ça attendra|ce sera pour|c'est pour) <when>",
        ),
        "left": (
            r"(?:je dois|on doit|nous devons|il faut|il faudra) (?:encore|aussi) .{4,}|(?:je dois|il faut que j[e']) "
            r"?(?:appel|demand|parl|envo|achet|réserv|prévenir|confirm)\pL* .{3,}",
            r"(?:j'attends|on attend|nous attendons)(?: encore| toujours)? .{3,}",
            r".{3,60} (?:peut|peuvent|doit|devra) attendre\b.*|.{3,60} (?:n'est|ne sont|n'ai|n'a|n'avons) pas encore "
            r".*",
        ),
        "plans": (r"je (?:le |la |les |lui |leur )?<do> .*<when>",),
        "times": (r"(?:(?:mais|plutôt|seulement) )*<when>",),
        "hollow": r"(?:ça,? )?je (?:le |la |les |m'en )+(?:fais|ferai|occupe|occuperai)\b(?: moi-même)?",
        "past": r".*\b(?:hier|toujours|chaque|était|avait)\b",
    },
    said={
        "lead": r"(?:(?:ok|okay|d'accord|bon|bien|super|parfait|génial|merci(?: beaucoup)?|bonjour|bonsoir|salut|oui"
        r"|non|alors|donc|ah|euh|hm+|tiens|voilà|nickel|top|très bien|entendu|compris|au fait|par contre|petite chose"
        r"|c'est (?:noté|bon)|stp|svp|s'il (?:te|vous) plaît|ensuite|enfin|aussi|bref) ?[,.!:]+ ?|(?:et|mais|donc"
        r"|alors|puis|ok|bon|par contre|du coup|sinon|en plus|ah|oui|d'accord) )",
        "asks": r"(?:pourquoi|comment|qu'est-ce|est-ce que|combien|quand est-ce|quelle?s? (?:est|sont)|qui est|où |ça "
        r"coûte)",
        "polite": r"(?:(?:est-ce que )?(?:tu (?:peux|pourrais)|vous (?:pouvez|pourriez)|on (?:peut|pourrait))|(?:peux"
        r"|pourrais)-tu|(?:pouvez|pourriez)-vous|(?:peut|pourrait)-on)(?: me| nous| aussi| stp| s'il (?:te|vous) plaît"
        r"| bien)* (?P<rest>.{4,})",
        "supposes": r"si \pL|s'ils? |quand |peut-être|éventuellement|on pourrait|on aurait pu|par exemple|en théorie"
        r"|imaginons|supposons|admettons|au cas où|normalement|en général|d'habitude|je me demande|j'avais pensé|je "
        r"pensais|je ne sais pas si|j'hésite",
        "reports": r"(?:(?:le|la|les|mon|ma|l'|un|une|notre|d'après|selon) ?)?(?:[\pL']+ ){0,3}?(?:dit|disent|a dit"
        r"|propose|recommande|conseille|pense|veut|voulait|suggère|insiste)(?: que| qu'| d'| de| pour)|(?:selon"
        r"|d'après) ",
        "border": r"\s*;\s+|,\s+(?:et |mais |puis |ensuite |aussi |donc )?|\s+(?:mais|et aussi|et puis|et ensuite|et "
        r"après)\s+|\s+[—–-]\s+| ?:\s+",
        "because": r",?\s+(?:parce qu(?:e |')|car |puisqu(?:e |')|vu qu(?:e |')|comme ça |pour qu(?:e |')|à cause "
        r"d(?:e |u |')|afin d(?:e |'))|^(?:parce qu(?:e |')|car |comme ça |vu qu(?:e |'))|\s+[—–]\s+|\s*\(",
        "trailer": r",? (?:s'il (?:te|vous) plaît|stp|svp|alors|pour l'instant|plutôt|du coup|merci|aussi|d'abord|donc"
        r"|finalement)",
        "offers": r"(?:(?:veux-tu|voulez-vous|souhaites-tu|souhaitez-vous|tu veux|vous voulez)(?: que je| que l'on)?"
        r"|si (?:tu veux|vous voulez),? je (?:peux|pourrais)|je (?:peux|pourrais|propose|suggère|recommande|conseille)"
        r"|on (?:peut|pourrait))(?: aussi| maintenant| te| vous| ensuite| de| d')* ?(?P<label>.{4,})",
        "choosing": r"\b(?:options?|façons|pistes|solutions|voies|possibilités|choix|alternatives|manières|chemins)\b",
        "yes": r"oui|ok|okay|d'accord|vas-y|allez-y|allez|parfait|super|nickel|très bien|bonne idée|c'est (?:bon|parti"
        r"|parfait)|ça me va|ça marche|fais(?: le|-le| ça| comme ça)*|faites|je valide|validé|valide|volontiers|bien "
        r"sûr|exactement|carrément|entendu|banco|go|continue|je suis d'accord|on fait (?:ça|comme ça)|top|génial",
        "no": r"non(?: merci)?|pas (?:maintenant|encore|la peine|besoin)|surtout pas|plutôt pas|laisse(?: tomber)?",
        "soft": r"merci|stp|svp|s'il te plaît|s'il vous plaît|pour moi|ça|le|et|alors|donc|tout|comme tu dis|avec ça",
        "both": r"les deux|tous les deux|toutes les deux",
        "every": r"tout|tous|toutes",
        "pick": r"la|le|l'|option|numéro|on prend|je prends|on part sur|va pour|plutôt|pour|je choisis|solution"
        r"|variante|prends|avec|choix|on fait|je dirais",
        "picked": r" (?:option|solution|est|me|semble|parce|car|et|c'est|me va|plutôt)",
    },
    ordinals="première|premier deuxième|seconde|second troisième -1 dernière|dernier",
    cues="aimerais ajoute ajouter ajouté alors au aussi aux avec avez avons besoin bien bouton c'est ca ce ces cette "
    "chez corrige corriger corrigé crée d'accord dans de demain donc du décision elle enlever enlève erreur et faire "
    "fais fait faudrait faut finalement garde j'ai jamais je l'objectif l'on la laisse le les leur leurs maintenant "
    "mais manque merci mets modifie mon ne nos notre nous objectif ou oublie oui où partons pas passons peut peux "
    "plante plutôt prend prends préfère préférerais que qui remplace remplacer reste revenons rédige résolu sont "
    "supprime ta terminé tomber toujours toute toutes très tu une utilise utiliser veux virer voilà votre voudrais "
    "vous à ça écarté écran écris était",
)
"""The phrases and rules of French (see ``tongue.Tongue``)."""
