"""How people turn over what stands in other languages than English: "X is too slow, let us take Y", "no X, rather Y",
"X no, it costs us"."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker

_NAME: Final = r"[\pL\pM\pN.+#_-]+(?: [\pL\pM\pN.+#_-]+){0,2}?"
_END: Final = r"(?:$|[,.;] ?(?P<reason>.*))"


def _row(name: str, act: Act, pattern: str, example: str, counter: str, unless: str = "") -> Rule:
    return Rule(name, Speaker.USER, act, pattern, 0.8, example, counter, unless, whole=True)


def _too(code: str, fault: str, rather: str, example: str, counter: str) -> Rule:
    """What is at fault, and what is to be instead."""
    article = r"(?:el |la |il |le |der |die |das |o |a )?"
    pattern = rf"{article}(?P<target>{_NAME}) {fault}, (?:{rather}) (?P<label>[^,;?]{{2,50}}?){_END}"
    return _row(f"{code}.too", Act.REPLACE, pattern, example, counter)


def _no(code: str, pattern: str, example: str, counter: str, unless: str = "") -> Rule:
    return _row(f"{code}.not_that", Act.REJECT, pattern, example, counter, unless)


OVERTURNED: Final[dict[str, tuple[Rule, ...]]] = {
    "es": (
        _too(
            "es",
            r"(?:es|sale|va|queda|está) (?:muy |demasiado )?(?:car|lent|pesad|complicad|grand|larg|mal)\pL*",
            r"(?:y |así que |entonces )?(?:mejor|usa|usamos|pon|ponemos|vamos con|tira de|cambia a"
            r"|pasamos a)(?: con| el| la)?",
            "Mailgun es muy caro, mejor el SMTP de la casa",
            "el café es muy caro, qué pena",
        ),
        _row(
            "es.no_rather",
            Act.REPLACE,
            rf"(?P<target>{_NAME}) no, (?:mejor|usa|usamos|pon|ponemos"
            rf"|vamos con)(?: con)? (?P<label>[^,;?]{{2,50}}?){_END}",
            "Stripe no, mejor Bizum para todos",
            "hoy no, que estoy fuera",
        ),
        _no(
            "es",
            rf"(?P<label>{_NAME}) no, (?:que |porque |es que |nos |me )(?P<reason>.+)",
            "Mailgun no, que nos cobra por correo",
            "hoy no, que estoy fuera",
            r"(?:.* )?(?:ya|aún|todavía|ahora|hoy|mañana|eso|esto|claro que|creo que|que|si|por qué|así|yo|tú) no,",
        ),
    ),
    "pt": (
        _too(
            "pt",
            r"(?:é|sai|fica|está|tá) (?:muito |caro demais|demasiado )?(?:car|lent|pesad|complicad|grand|ruim)\pL*",
            r"(?:e |então )?(?:melhor|usa|usamos|põe|coloca|vamos de|vamos com|bota|muda para|muda pra)(?: o| a)?",
            "Algolia é muito caro, vamos de Fuse",
            "o pão é muito caro, que pena",
        ),
        _row(
            "pt.no_rather",
            Act.REPLACE,
            rf"(?P<target>{_NAME}) não, (?:melhor|usa|usamos|põe|coloca|vamos de"
            rf"|vamos com) (?P<label>[^,;?]{{2,50}}?){_END}",
            "o Stripe não, vamos de Pix para todos",
            "hoje não, estou fora",
        ),
    ),
    "it": (
        _row(
            "it.no_rather",
            Act.REPLACE,
            rf"(?P<target>{_NAME}) no, (?:meglio|usiamo|usa|mettiamo|metti"
            rf"|prendiamo) (?P<label>[^,;?]{{2,50}}?){_END}",
            "stripe no, meglio satispay per tutti gli abbonati",
            "oggi no, sono fuori",
        ),
    ),
    "fr": (
        _too(
            "fr",
            r"(?:est|c'est|coûte|devient) (?:trop |vraiment trop )(?:ch|lent|lourd|compliqu|grand|cher)\pL*",
            r"(?:et |alors |donc )?(?:plutôt|on prend|prends|on passe à|on part sur|on utilise|mets|on met"
            r"|utilise)",
            "Mailgun est trop cher, on prend le serveur de la mairie",
            "le pain est trop cher, on en parle",
        ),
        _no(
            "fr",
            r"(?:finalement |non,? |en fait )(?:non,? )?pas (?:de |d'|du |la "
            r"|le )?(?P<label>[^,;.?]{2,40}?)(?:, (?P<reason>.+))?$",
            "finalement pas de carte en ligne, trop cher",
            "finalement pas mal du tout",
            r".*pas (?:mal|encore|du tout|si|très|vraiment|besoin|grave|sûr|la peine)",
        ),
    ),
    "de": (
        _too(
            "de",
            r"(?:ist|wird|kostet) (?:mir |uns )?(?:viel )?(?:zu )(?:teuer|langsam|schwer|kompliziert|groß"
            r"|umständlich|viel)",
            r"(?:also |dann )?(?:lieber|nimm|nehmen wir|wir nehmen|nutzen wir|machen wir|nutze|besser)",
            "Firebase ist uns zu teuer, nehmen wir Keycloak",
            "das Brot ist zu teuer, lass mal",
        ),
        _no(
            "de",
            r"(?:doch|nee,?|nein,?) (?:jetzt )?(?:kein|keine"
            r"|keinen) (?P<label>[^,;.?]{2,40}?)(?:, (?P<reason>.+))?$",
            "doch kein Firebase, wegen Datenschutz",
            "nee, keine Ahnung",
            r".*(?:ahnung|zeit|lust|problem|fehler|frage|sorge|bock)",
        ),
    ),
    "ru": (
        _row(
            "ru.too",
            Act.REPLACE,
            rf"(?P<target>{_NAME}) (?:слишком |очень )(?:тяж|дорог|медлен|слож|неудоб|громозд)\pL*, (?:и "
            rf"|так что |поэтому )?(?:давай(?:те)?|лучше"
            r"|бер[её]м|возьм[её]м|переходим на|поставь)(?: вместо (?:него|неё"
            r"|нее))?(?: тогда)? (?P<label>[^,;?]{2,50})",
            "Celery слишком тяжёлый, давай вместо него APScheduler",
            "Celery слишком тяжёлый, жаль",
        ),
    ),
    "zh": (
        _row(
            "zh.too",
            Act.REPLACE,
            r"(?P<target>[^，,。？?]{1,20}?)(?:还是)?(?:太|有点|不太|不够?)(?:重|贵|慢|麻烦|复杂|好用|稳定?"
            r"|行|合适|大)了?[，,](?:我们|还是|那|就|直接|先)*(?:换成|改成|改用|换用|用|换)"
            r" ?(?P<label>[^，,。？?]{2,40}?)(?:吧|了)?(?:[，,。](?P<reason>.*))?$",
            "Elasticsearch 太重了，换成 Meilisearch",
            "这个菜太贵了，下次再来",
        ),
    ),
    "hi": (
        _row(
            "hi.too",
            Act.REPLACE,
            r"(?P<target>[^,।?]{1,30}?) (?:बहुत |ज़्यादा )?(?:महँगा|महंगा|धीमा|भारी"
            r"|मुश्किल)(?: पड़ता)? है, (?:तो )?(?P<label>[^,।?]{1,40}?) (?:रखो|रखिए|लो|लीजिए|कर दो"
            r"|लगाओ|इस्तेमाल करो|रखते हैं).*",
            "SMS महँगा है, WhatsApp रखो",
            "दूध महँगा है, क्या करें",
        ),
    ),
    "hinglish": (
        _row(
            "hinglish.too",
            Act.REPLACE,
            r"(?P<target>[^,?]{1,30}?) (?:bahut |bohot |zyada |kaafi )?(?:mehnga|mehenga|costly|slow|heavy"
            r"|mushkil|complex)(?: padta)? hai, (?:to |toh |so )?"
            r"(?P<label>[^,?]{1,40}?) (?:use karo|use karte hain|rakho|rakhte hain|laga do|lagao|le lo"
            r"|kar do|pe chalte hain).*",
            "twilio mehnga hai, msg91 use karo",
            "chai mehnga hai, kya karein",
        ),
    ),
}
"""By the code of the language."""
