"""Words that distinguish a password from a sentence about passwords, in eight languages.

``LANGUAGES`` has a row for each language. Its main lists are function words, which are no part of a password, and words
that describe passwords ("wrong", "encrypted", "stored"). All are in lower case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.safety.redact.judge import words
from tokenmizer_mw.safety.redact.rules.assignments import spelt


@dataclass(frozen=True)
class PasswordLanguage:
    """The words of a language by which a sentence that states a password is told from one about passwords.

    - ``names``: words for a password.
    - ``copulas``: pattern for verbs that state a password ("is"); ``changes``: for verbs that state to what it was
      changed ("was changed to"); ``motions``: for the preposition alone ("to"), which needs a verb of change nearby.
    - ``mine``: words before the name that show whose it is ("my"); ``generic``: words before it that refer to passwords
      in general ("any").
    - ``links``: function words (articles, prepositions, pronouns, auxiliaries, adverbs): a password ends before them,
      and none begins with one.
    - ``predicates``: words that describe passwords ("wrong").
    - ``endings``: pattern for the endings of further words that describe something ("-able").
    - ``is_listed``: whether the lists are complete enough to recognise a password of several words without quotes.
    """

    names: tuple[str, ...]
    copulas: str
    changes: str
    motions: str
    mine: frozenset[str]
    generic: frozenset[str]
    links: frozenset[str]
    predicates: frozenset[str]
    endings: str
    is_listed: bool = True


_ENGLISH: Final = PasswordLanguage(
    names=("password", "passphrase", "passcode", "passwd", "pass phrase", "pass", "pwd", "pw"),
    copulas=(r"(?:is|was)(?: (?:now|still|currently|again|just|simply|called))?|will be|'s(?: (?:now|still))?"),
    changes=(
        r"(?:is|was|got|has been|have been|will be)(?: (?:now|just|since|recently))?"
        r" (?:set|changed|reset|updated|rotated|switched) to"
    ),
    motions="to",
    mine=words("my our your his her their"),
    generic=words(
        "a an any every each no some good bad strong weak wrong invalid incorrect empty such which whose what"
    ),
    links=words(
        "a an the this that these those it its it's he she they them their theirs there here we you your yours our"
        " ours my mine i me us him his her hers who whom whose what which when where why how not no nor never neither"
        " none nothing nobody and or but if then than so because since while until unless although though whether as"
        " at by for from in into of off on onto out over per to toward towards under up upon via with within without"
        " about above across after again against along among around before behind below beneath beside besides between"
        " beyond down during except inside near outside through throughout till is are was were be been being am do"
        " does did done has have had having can could may might must shall should will would cannot isn't wasn't won't"
        " can't don't doesn't didn't isn aren't hasn't haven't only just also even still yet already always often"
        " sometimes usually generally normally typically ever once twice soon later now today tomorrow yesterday"
        " tonight currently maybe perhaps probably possibly actually really very too quite rather pretty fairly almost"
        " nearly enough much many more most less least few some any all both each every either other another such same"
        " own else something anything everything someone anyone everyone somewhere elsewhere anywhere everywhere"
        " somehow like unlike instead therefore however otherwise please yes ok okay well far ago back away together"
        " apart etc eg ie let's that's what's let lets get gets getting got make makes whatever whichever"
    ),
    predicates=words(
        "wrong right correct correctly incorrect good bad fine short long longer shorter weak strong stronger simple"
        " complex easy hard difficult required optional mandatory necessary needed hashed salted encrypted encoded"
        " stored saved kept plain plaintext cleartext clear empty blank missing absent present invalid valid expired"
        " reset changed set unset unknown known secret safe unsafe secure insecure public private masked hidden"
        " visible shown printed logged sent shared rotated generated random default unchanged different new old"
        " temporary permanent forgotten lost leaked compromised breached exposed available supplied provided given"
        " passed read written used unused reused unique null none nil undefined true false case sensitive insensitive"
        " protected locked disabled enabled verified checked validated rejected accepted refused denied allowed"
        " ignored trimmed truncated stripped limited equal identical similar ready gone dead broken fixed obsolete"
        " outdated stale fresh current live active inactive cleared deleted removed revoked unavailable unreadable"
        " useless important critical irrelevant redundant confidential personal individual common standard special"
        " specific own password passwords passphrase hash hashes salt value values field fields string strings text"
        " input parameter parameters argument arguments option options column variable variables env environment file"
        " files folder vault secrets store storage manager keychain keyring database db table server servers client"
        " clients side service services account accounts user users username login logins session token tokens key"
        " keys email emails mail sms url form page policy policies rule rules length character characters char chars"
        " minimum maximum min max digit digits letter letters number numbers symbol symbols uppercase lowercase"
        " capital config configuration setting settings repo repository code test tests example examples placeholder"
        " sample prompt prompted admin administrator root owner bcrypt argon scrypt sha pbkdf base utf ascii json yaml"
        " xml http https ssh ssl tls api app application system machine device host bit bits byte bytes day days week"
        " month year years hour hours minute minutes second seconds time times attempt attempts retry error errors"
        " message warning info data information knowledge type types object property attribute schema model request"
        " response header cookie process step part thing issue problem bug question answer matter requirement"
        " requirements confirmation recovery rotation expiry strength hint line lines copy backup format output parse"
        " parsed encoding authentication authenticated credentials certificate authority based only free level wide"
        " aware agnostic compliant compatible friendly dependent independent driven proof first last one two three"
        " four five six seven eight nine ten twelve sixteen end point peer state art date typed entered asked retyped"
        " redacted stated left stays comes works fails goes needs breaks expires dictionary word words numeric"
        " alphanumeric alpha entropy high low single use party third source native style quality hard-coded literal"
        " simply sure exists changes matches matched matching contains consists includes follows means looks seems"
        " appears pending internal external tbd unsaved unfinished whichever contain contained must enter choose"
        " select hosted owned issued pinned frozen gated bitwarden keepass keepassxc vaultwarden lastpass dashlane"
        " onepassword see below above"
    ),
    endings=r"(?:[a-z]{2}ed|[a-z]{2}ly|able|ible|less|ful|ous|tional|ational|ive)",
)
_GERMAN: Final = PasswordLanguage(
    names=("passwort", "kennwort", "losungswort", "passphrase", "password"),
    copulas=r"(?:ist|lautet)(?: (?:jetzt|nun|noch|weiterhin|einfach|aktuell|momentan|ab sofort))?|war|lautete|heißt",
    changes=r"wurde (?:auf|(?:geändert|gesetzt|zurückgesetzt) (?:auf|zu))",
    motions="auf",
    mine=words("mein meinem unser unserem dein deinem ihr ihrem sein euer"),
    generic=words("ein kein jedes welches dessen deren falsches schwaches starkes gutes leeres"),
    links=words(
        "der die das den dem des ein eine einen einem einer eines kein keine keinen nicht nie niemals nichts und oder"
        " aber wenn dann als wie so weil da damit dass daß ob bis seit während obwohl ich du er sie es wir ihr mich"
        " dich ihn uns euch ihnen mein dein sein unser euer ihre seine meine deine unsere dieser diese dieses dies"
        " jener jene welche welcher was wer wo wann warum hier dort nun jetzt heute morgen gestern schon noch immer"
        " auch nur sehr zu ganz ziemlich leider wohl vielleicht wahrscheinlich bereits bisher derzeit aktuell momentan"
        " wieder mehr weniger etwas alles alle allen jeder jede jedes beide andere anderes anderen selbe gleiche"
        " gleich selbst in im an am auf aus bei beim mit nach von vom vor über unter für durch gegen ohne um zwischen"
        " hinter neben per via laut ist sind war waren wird werden wurde wurden worden hat haben hatte kann können"
        " muss müssen soll sollen sollte darf dürfen will wollen bitte ja nein doch mal eben zwar jedoch sonst sowie"
        " nochmal zuerst zuletzt danach davor darin daran dafür dabei davon dazu drin"
    ),
    predicates=words(
        "falsch richtig korrekt kurz lang schwach stark sicher unsicher leer gesetzt gespeichert gehasht"
        " verschlüsselt geändert zurückgesetzt abgelaufen ungültig gültig bekannt unbekannt geheim vergessen verloren"
        " nötig erforderlich notwendig pflicht optional identisch unverändert neu alt temporär vorläufig öffentlich"
        " sichtbar versteckt maskiert geleakt kompromittiert zufällig generiert einfach komplex gut schlecht weg"
        " fertig möglich abhängig sensitiv verpflichtend obligatorisch zwingend klar klartext eingegeben angegeben"
        " hinterlegt vorhanden ausreichend länger kürzer stärker schwächer besser passwort passwörter kennwort hash"
        " wert feld text eingabe datei tresor datenbank server konto benutzer benutzername nutzer anmeldung login"
        " sitzung schlüssel mail email link formular seite regel richtlinie länge zeichen buchstaben ziffern zahlen"
        " sonderzeichen variable umgebungsvariable konfiguration einstellung teil daten system mindestens höchstens"
        " minimum maximum bestätigen bestätigt wiederholen eingeben ändern festlegen setzen prüfen groß klein standard"
        " beispiel platzhalter admin administrator root test bestandteil gegenstand sache problem fehler grund frage"
        " intern extern später egal keins keines folgt offen ausstehend unbekanntes irrelevant seitig vergeben siehe"
        " bitwarden keepass keepassxc unten oben"
    ),
    endings=r"(?:ge[a-zäöüß]{2,}(?:t|en)|(?:ver|be|er|ent|zer)[a-zäöüß]{3,}t|iert|bar|lich|los|haft|pflichtig|sam|basiert)",
)
_FRENCH: Final = PasswordLanguage(
    names=("mot de passe", "mdp", "phrase secrète", "phrase de passe"),
    copulas=r"(?:est|c'est)(?: (?:maintenant|désormais|toujours|encore|donc))?|était|sera|devient",
    changes=r"a été (?:changé|modifié|remplacé|réinitialisé|mis|défini) (?:en|par|à)",
    motions="à|en|par",
    mine=words("mon notre ton votre son leur"),
    generic=words("un aucun chaque tout quel dont mauvais bon"),
    links=words(
        "le la les un une des du de d l au aux à a et ou où mais donc or ni car si que qu qui quoi dont quand comme"
        " comment pourquoi ne n pas plus jamais rien aucun aucune non oui je tu il elle on nous vous ils elles me te"
        " se s lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces celui celle ceux c"
        " ça cela ceci ci là y en dans sur sous avec sans pour par vers chez entre depuis pendant avant après contre"
        " selon est sont était étaient sera seront être été ai as ont avait peut peuvent doit doivent faut fait très"
        " trop assez peu bien mal déjà encore toujours souvent aussi seulement même mêmes autre autres tout tous toute"
        " toutes chaque quelque quelques plusieurs maintenant aujourd'hui hier demain ici moins environ via peut-être"
        " puis ensuite alors désormais actuellement bientôt dessous dessus joint"
    ),
    predicates=words(
        "faux fausse correct incorrect court long longue faible fort forte sûr sécurisé vide défini stocké haché"
        " chiffré changé modifié réinitialisé expiré invalide valide connu inconnu secret oublié perdu nécessaire"
        " requis obligatoire optionnel facultatif identique inchangé nouveau ancien temporaire public visible caché"
        " masqué compromis aléatoire généré simple complexe bon mauvais enregistré conservé transmis envoyé demandé"
        " sensible protégé erroné manquant absent disponible différent clair passe mot hash hachage valeur champ texte"
        " saisie fichier coffre base données serveur compte utilisateur identifiant connexion session clé jeton mail"
        " courriel email lien formulaire page règle politique longueur caractère caractères lettres chiffres minimum"
        " maximum minuscules majuscules variable environnement configuration paramètre exemple test partie système"
        " confirmer retaper entrer saisir erreur problème question défaut administrateur admin casse interne externe"
        " seule seul lecture plus-tard vérifié voir bitwarden keepass"
    ),
    endings=r"(?:[a-z]{2}é(?:e|s|es)?|ment|able|ible|aire|ique)",
)
_SPANISH: Final = PasswordLanguage(
    names=("contraseña", "contrasena", "clave", "password"),
    copulas=r"es(?: (?:ahora|todavía|simplemente))?|era|será",
    changes=(
        r"(?:fue|ha sido) (?:cambiada|modificada|actualizada|restablecida) (?:a|por)"
        r"|se (?:ha cambiado|cambió) (?:a|por)"
    ),
    motions="a|por",
    mine=words("mi nuestra tu su vuestra"),
    generic=words("una ninguna cada cualquier cuya qué mala buena"),
    links=words(
        "el la los las un una unos unas lo al del de a y e o u pero si no ni que quien cual cuando como donde por"
        " para con sin en entre sobre bajo desde hasta hacia según tras contra durante ante mi mis tu tus su sus"
        " nuestro nuestra vuestro este esta esto ese esa eso aquel aquella yo tú él ella usted nosotros ellos me te se"
        " le les nos es son era eran será ser sido está están estaba fue ha han había hay puede pueden debe deben muy"
        " más menos mucho poco demasiado bastante ya aún todavía siempre nunca jamás también solo sólo mismo misma"
        " otro otra otros todo toda todos cada algo nada nadie alguien aquí allí ahí ahora hoy ayer mañana luego"
        " después antes así tan tanto quizá quizás porque aunque mientras vía casi actualmente"
    ),
    predicates=words(
        "incorrecta incorrecto correcta correcto corta larga débil fuerte segura insegura vacía obligatoria"
        " obligatorio opcional necesaria requerida válida inválida conocida desconocida secreta olvidada perdida"
        " cifrada encriptada guardada almacenada cambiada caducada expirada nueva antigua temporal pública privada"
        " visible oculta aleatoria generada simple compleja buena mala igual idéntica diferente distinta sensible"
        " única demasiado texto plano contraseña clave hash valor campo archivo fichero base datos servidor cuenta"
        " usuario sesión token correo email enlace formulario página regla política longitud carácter caracteres"
        " letras números dígitos mínimo máximo mayúsculas minúsculas variable entorno configuración ejemplo prueba"
        " parte sistema confirmar repetir introducir escribir error problema defecto administrador admin interna"
        " externa interno externo ninguna pendiente solo-lectura lectura ver véase bitwarden keepass"
    ),
    endings=r"(?:[a-zñ]{4}[ai]d[oa]s?|mente|able|ible|oria|orio)",
)
_ITALIAN: Final = PasswordLanguage(
    names=("password", "parola d'ordine", "parola chiave", "passphrase"),
    copulas=r"(?:è|e')(?: (?:ora|adesso|ancora|sempre))?|era|sarà",
    changes=r"(?:è|fu) stata (?:cambiata|modificata|impostata|reimpostata|aggiornata) (?:in|a|con)",
    motions="a|in|con",
    mine=words("mia nostra tua sua vostra"),
    generic=words("una nessuna ogni qualsiasi cui quale"),
    links=words(
        "il lo la i gli le l un uno una del dello della dei degli delle di a ad al allo alla ai agli alle da dal"
        " dalla in nel nella nei nelle con su sul sulla per tra fra e ed o oppure ma se non né che chi cui quale"
        " quando come dove perché io tu lui lei noi voi loro mi ti si ci vi ne mio mia tuo tua suo sua nostro nostra"
        " questo questa quello quella è sono era erano sarà essere stato stata ha hanno aveva può possono deve devono"
        " molto più meno poco troppo abbastanza già ancora sempre mai anche solo stesso stessa altro altra tutto tutti"
        " tutte ogni qualcosa niente nulla qui qua lì là ora adesso oggi ieri domani poi dopo prima così tanto forse"
        " mentre via senza sotto sopra verso circa attualmente"
    ),
    predicates=words(
        "sbagliata errata corretta giusta corta lunga debole forte sicura insicura vuota obbligatoria opzionale"
        " facoltativa necessaria richiesta valida invalida scaduta nota sconosciuta segreta dimenticata persa cifrata"
        " criptata salvata memorizzata cambiata modificata reimpostata nuova vecchia temporanea pubblica visibile"
        " nascosta casuale generata semplice complessa buona cattiva uguale identica diversa sensibile unica chiaro"
        " testo password hash valore campo file database server account utente sessione token chiave mail email link"
        " modulo pagina regola politica lunghezza carattere caratteri lettere numeri cifre minimo massimo maiuscole"
        " minuscole variabile ambiente configurazione esempio prova parte sistema conferma ripeti inserire errore"
        " problema amministratore admin predefinita interna esterna interno esterno nessuna sospeso lettura vedi"
        " bitwarden keepass"
    ),
    endings=r"(?:[a-z]{4}[aiu]t[oa]|[a-z]{4}[aiu]t[ei]|mente|abile|ibile|oria|orio)",
)
_PORTUGUESE: Final = PasswordLanguage(
    names=("senha", "palavra-passe", "password"),
    copulas=r"é(?: (?:agora|ainda|simplesmente))?|era|será",
    changes=r"foi (?:alterada|mudada|trocada|redefinida|atualizada) (?:para|por)",
    motions="para",
    mine=words("minha nossa tua sua vossa"),
    generic=words("uma nenhuma cada qualquer cuja qual"),
    links=words(
        "o a os as um uma uns umas ao à aos às do da dos das de no na nos nas em num numa por pelo pela para com sem"
        " entre sobre sob desde até e ou mas se não nem que quem qual quando como onde porque eu tu ele ela você nós"
        " eles me te lhe lhes vos meu minha teu tua seu sua nosso nossa este esta isto esse essa isso aquele aquela é"
        " são era eram será ser sido está estão estava foi tem têm tinha há pode podem deve devem muito mais menos"
        " pouco demais bastante já ainda sempre nunca também só somente apenas mesmo mesma outro outra todo toda todos"
        " tudo cada algo nada ninguém alguém aqui ali lá agora hoje ontem amanhã depois antes assim tão tanto talvez"
        " via quase embora enquanto atualmente"
    ),
    predicates=words(
        "incorreta incorreto correta correto errada curta longa fraca forte segura insegura vazia obrigatória"
        " obrigatório opcional necessária exigida válida inválida expirada conhecida desconhecida secreta esquecida"
        " perdida criptografada cifrada guardada armazenada alterada redefinida nova antiga temporária pública privada"
        " visível oculta aleatória gerada simples complexa boa má igual idêntica diferente sensível única texto puro"
        " senha hash valor campo arquivo ficheiro banco dados servidor conta usuário utilizador sessão token chave"
        " e-mail email link formulário página regra política comprimento caractere caracteres letras números dígitos"
        " mínimo máximo maiúsculas minúsculas variável ambiente configuração exemplo teste parte sistema confirmar"
        " repetir digitar inserir erro problema padrão administrador admin interna externa interno externo nenhuma"
        " pendente leitura ver veja bitwarden keepass"
    ),
    endings=r"(?:[a-zç]{4}[ai]d[oa]s?|mente|ável|ível|ória|ório)",
)
_DUTCH: Final = PasswordLanguage(
    names=("wachtwoord", "wachtzin"),
    copulas=r"is(?: (?:nu|nog|weer|gewoon))?|was|luidt",
    changes=r"(?:is|werd) (?:gewijzigd|veranderd|ingesteld|aangepast) (?:naar|in|op)",
    motions="naar|in",
    mine=words("mijn ons je jouw uw zijn haar hun"),
    generic=words("een geen elk ieder welk wiens"),
    links=words(
        "de het een geen niet nooit niets en of maar als dan dus want omdat dat die dit deze wie wat waar wanneer"
        " waarom hoe ik jij je u hij zij ze wij we jullie mij me jou hem haar ons hen hun mijn jouw uw zijn onze er"
        " hier daar nu vandaag morgen gisteren al nog altijd vaak soms ook alleen zelfs zeer te heel erg vrij nogal"
        " bijna genoeg veel meer meest minder weinig alle alles iedereen elk ieder ander andere zelfde eigen iets in"
        " op aan uit bij met naar van voor door over onder tegen tussen achter naast tot om per via zonder na is was"
        " waren wordt worden werd geworden heeft hebben had kan kunnen moet moeten mag mogen zal zullen wil willen"
        " graag ja nee toch wel weer helaas misschien momenteel"
    ),
    predicates=words(
        "fout verkeerd juist correct onjuist kort lang zwak sterk veilig onveilig leeg verplicht optioneel nodig"
        " vereist geldig ongeldig verlopen bekend onbekend geheim vergeten kwijt gehasht versleuteld opgeslagen"
        " gewijzigd gereset veranderd nieuw oud tijdelijk openbaar zichtbaar verborgen willekeurig gegenereerd"
        " eenvoudig complex goed slecht gelijk hetzelfde identiek anders gevoelig hoofdlettergevoelig uniek tekst"
        " wachtwoord hash waarde veld bestand kluis database server account gebruiker gebruikersnaam sessie sleutel"
        " mail email link formulier pagina regel beleid lengte teken tekens letters cijfers minimum maximum"
        " hoofdletters variabele omgeving configuratie instelling voorbeeld test deel systeem bevestigen herhalen"
        " invoeren probleem standaard beheerder admin intern extern later geen volgt alleen-lezen lezen zie bitwarden"
        " keepass"
    ),
    endings=r"(?:ge[a-z]{3,}(?:d|t|en)|(?:ver|be|her|ont)[a-z]{3,}(?:d|t)|baar|lijk|loos|plichtig|gevoelig)",
)
_RUSSIAN: Final = PasswordLanguage(
    names=("пароль",),
    copulas=r"—|–|-|это|был|теперь",
    changes="изменён на|изменен на",
    motions="на",
    mine=words("мой наш твой ваш его её их"),
    generic=words("любой каждый никакой какой чей"),
    links=words(
        "и в во не на я он она оно мы вы они с со что это этот эта как но по к у за из от для о об при без до под над"
        " если или то же бы так да нет уже ещё еще очень слишком только также тоже всегда никогда сейчас теперь"
        " сегодня вчера завтра был была было были будет есть мой твой наш ваш его её их свой весь все всё кто где"
        " когда почему можно нужно надо должен тот та те там тут здесь через после перед между чтобы"
    ),
    predicates=words(
        "неверный неправильный верный правильный короткий длинный слабый сильный надёжный пустой обязателен"
        " обязательный нужен необходим неверен верен изменён изменен сброшен истёк истек недействителен действителен"
        " известен неизвестен секретный забыт утерян хранится хешируется зашифрован сохранён новый старый временный"
        " публичный виден скрыт случайный простой сложный тот прежний одинаковый пароль хеш значение поле строка файл"
        " база данных сервер аккаунт пользователь пользователя логин сессия ключ почта ссылка форма страница длина"
        " символ символов букв цифр минимум максимум переменная конфигурация пример тест повторите введите ошибка"
        " внутренний внешний позже нет"
    ),
    endings=r"(?:ный|ная|ное|ные|ен|ён|ется|ится|аться|иться|ют|ут|ого|ому)",
    is_listed=False,
)

LANGUAGES: Final = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _RUSSIAN)

COMPOUNDS: Final = words(
    "end-to-end peer-to-peer state-of-the-art day-to-day one-to-one face-to-face case-by-case step-by-step"
    " side-by-side wi-fi e-mail co-op hi-fi sign-in log-in sign-on log-on opt-in built-in plug-in stand-in mix-up"
    " look-up set-up back-up pop-up sign-up roll-out time-out work-in-progress run-of-the-mill top-notch peut-être"
    " c'est-à-dire vis-à-vis soi-disant rendez-vous"
)
"""Words with hyphens that are no passwords."""

PREFIXES: Final = words(
    "non pre re auto self semi multi anti over under co ex half well ill all cross inter intra hyper meta mid off"
    " on out up down in un mis pseudo quasi sub trans ultra nicht vor nach neu alt selbst halb no sin sem senza"
    " sans mal bien zelf voor niet"
)
"""First parts of words with hyphens that describe something ("non-", "self-")."""


def _in_bytes(pattern: str) -> str:
    """Convert a pattern of letters to RE2 over bytes. A blank in it matches any number of blanks and tabs."""
    spelt_out = "".join(
        char if char.isascii() else "".join(f"\\x{byte:02x}" for byte in char.encode()) for char in pattern
    )
    return spelt_out.replace(" ", r"[ \t]+")


CHANGES: Final = "(?i)" + _in_bytes(
    r"chang|reset|updat|rotat|switch|\bset|änder|umgestellt|gesetz|setz|modifi|remplac|cambi|actualiz|mud[eoa]|alter"
    "|troqu|trocad|impost|aggiorn|wijzig|verander|ingesteld|измен|смен|поменял|установ"
)
"""Pattern for verbs of change, which must stand near a name that is followed by a preposition alone ("to")."""

LETTER: Final = r"[A-Za-z'\x80-\xff]"
"""Pattern for a byte of a word in any script."""

_NARROW: Final = r"(?:[ ]|\xc2\xa0|\xe2\x80\xaf)?"
"""Pattern for a blank before a colon, or inside of quotation marks, as in French."""

_QUOTE: Final = rf"(?:\\*[\"'`]|\xe2\x80[\x98\x9c\x9e\xb9]|\xc2\xab{_NARROW}|\xe3\x80\x8c)"
_QUOTE_IN_JSON: Final = rf"(?:{_QUOTE}|\\u(?i:201[89ce]|2039|00ab(?:[ ]|\\u(?:00a0|202f))?|300c))"
_NAMES: Final = spelt(tuple(dict.fromkeys(name for language in LANGUAGES for name in language.names)))
_OF: Final = (
    r"(?:[ \t]+(?:wi-?fi|wlan|vpn|ssh|smtp|imap|admin|root|router|mail|guest))?"
    r"(?:[ \t]+(?:\([^()\r\n]{1,40}\)|(?:for|of|to|on|at|from|de|del|du|des|de la|da|do|della|dello|pour|para|per"
    + _in_bytes("|van|voor|per il|zum|zur|für|vom|von|im|des|der|для|от|на")
    + r")(?:[ \t]+[A-Za-z0-9_.@/'\x80-\xff-]+){1,5}?))?"
)
"""Pattern for what the password is for ("for the VPN"), behind its name."""

_SHORT_VERB: Final = r"(?:'|\xe2\x80\x99)s(?:[ \t]+(?:now|still))?"
"""Pattern for the verb in "the password's now ..."."""

_VERBS: Final = "|".join(
    _in_bytes("|".join(part))
    for part in (
        [language.changes for language in LANGUAGES],  # the longer ones first
        [f"{language.copulas}|{language.motions}" for language in LANGUAGES],
    )
)
STATED: Final = (
    rf"(?i)(?P<name>{_NAMES})(?:\*\*|[\"'`]|\))?{_OF}"
    rf"(?:(?P<colon>{_NARROW}(?::|\xef\xbc\x9a)[ \t]*)|(?P<verb>[ \t]+(?:{_VERBS})|{_SHORT_VERB})[ \t]*:?[ \t]+)"
    rf"(?:\*\*)?(?P<quote>{_QUOTE})?"
)
"""RE2 for the words before a stated password, with the groups ``name``, ``colon``, ``verb`` and ``quote``."""

_GATE_VERBS: Final = (
    rf"(?i:(?:{_NAMES})(?:\*\*|[\"'`]|\))?{_OF}(?:[ \t]+(?:{_VERBS})|{_SHORT_VERB})[ \t]*:?[ \t]+)(?:\*\*)?"
)
_GATE_COLON: Final = rf"(?i:(?:{_NAMES})(?:\*\*)?{_OF}(?:{_NARROW}|\\u(?:00a0|202f))(?::|\xef\xbc\x9a)[ \t]*)(?:\*\*)?"
_COMPOUND: Final = rf"{LETTER}{{2,}}-{LETTER}{{2}}"
STATED_GATE: Final = (
    rf"{_GATE_VERBS}(?:{_QUOTE_IN_JSON}{LETTER}{{3}}|{_COMPOUND}|{LETTER}{{3,}}[ ]{LETTER}{{3,}}[ ]{LETTER}{{3,}})"
    rf"|{_GATE_COLON}(?:{_QUOTE_IN_JSON}{LETTER}{{3}}|{_COMPOUND}|{LETTER}{{3,}}[ ]{LETTER}{{3,}}[ ]{LETTER}{{3,}}"
    rf"|{LETTER}{{6,}}[.!]?[ \t]*(?:[\r\n\\\"]|$))"
)
"""RE2 for where a scan stops for a password of words: a word for a password, a verb or colon, and the beginning of
words."""

_CHOSEN: Final = r"(?:[A-Za-z0-9\x80-\xff][A-Za-z\x80-\xff-]{0,40}[0-9_]|[A-Za-z\x80-\xff-]{0,40}[a-z][A-Z][a-z])"
CHOSEN_GATE: Final = rf"(?:{_GATE_VERBS}|{_GATE_COLON}){_QUOTE_IN_JSON}?{_CHOSEN}"
"""RE2 for where a scan stops for a password of one word: a word for a password, a verb or colon, and the beginning of a
word with a digit, an underscore or a capital inside."""

PASS_GATE: Final = r"[Pp]ass:?[ \t]+[A-Za-z][A-Za-z_-]{3,40}[0-9]"
"""RE2 for where a scan stops for a password behind "pass": that word, and the beginning of a word with a digit."""

TECHNICAL: Final = words(
    "sha md bcrypt argon argonid argoni argond scrypt pbkdf blake blakeb blakes hmac hs rs es utf ucs ascii iso base"
    " ebcdic aes des rsa dsa ecdsa ed curve x secp totp hotp otp fido oauth auth saml openid oidc ldap kerberos ntlm"
    " http https tls ssl ssh smtp imap ftp ip ipv tcp udp v version ver rev release step phase stage tier level"
    " section chapter ticket issue jira case item part test int uint float double long bool str num var arg args param"
    " func fn obj tmp temp foo bar baz qux node python java js ts php ruby go rust perl sql mysql postgres postgresql"
    " sqlite mariadb mongo redis kafka web win windows linux mac macos ios android ubuntu debian centos log ec ecs rds"
    " kms iam aws gcp azure vault cred creds pw pwd pass passwd passphrase passcode pin pins id ids uid uuid guid name"
    " names ref refs url uri path dir bit bits byte bytes kb mb gb hex octal binary camel snake kebab char varchar"
    " nvarchar blob bytea hash hashes encryption encrypted handler helper service services controller module class"
    " method function callback listener component hook util utils factory provider validator checker input output form"
    " page view screen route endpoint job task worker queue cluster pod container image volume secret secrets github"
    " gitlab bitbucket javascript typescript postgre graphql nosql mongodb dynamodb lastpass onepassword keepass"
    " bitwarden dashlane icloud iphone youtube linkedin paypal whatsapp openssl openssh winscp filezilla putty"
    " powershell vscode intellij webauthn passkey passkeys minio rabbitmq elasticsearch wordpress localhost"
    " letsencrypt salt salted nist pci dss gdpr owasp fips prod staging dev qa uat local master slave primary"
    " secondary replica shard bucket region zone"
)
"""Technical terms. A word with a number that contains one is a version or a variable, not a password."""
