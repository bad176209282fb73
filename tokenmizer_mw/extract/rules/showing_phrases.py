"""Phrases with which users show somebody else's text without naming it: an order without an object ("proofread please",
"translate to German:"), the place where they read it ("I read on a forum:"), or a file.

Each language has one ``Showing``, whose methods build RE2 patterns from its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .handover_phrases import NOTHING, write_word

_LETTER: Final = r"[\p{L}\p{M}\p{N}_'’-]"
_BESIDE: Final = r"[ \t,()]+"
_MARKS: Final = r"[^\p{L}\p{M}\p{N}]*"

FILE: Final = r"[\w./\\-]*[\w-]\.(?:md|mdc|markdown|txt|rst|adoc|org|log|eml|msg|csv|tsv|html?|pdf|docx?|odt|rtf)\b"
"""RE2 for the name of a file of prose, or of one that a program wrote, such as a log. Files of code are left out,
because they contain no statements of people."""

MENTION: Final = f"@{FILE}"
"""RE2 for such a file name with "@" before it: "@notes.md"."""


@dataclass(frozen=True, slots=True)
class Showing:
    """The words of one language that show somebody else's text. Each field lists words, separated by spaces; an
    underscore stands for a space, and a star at the end for any ending. "" for none.

    - ``prose``: verbs of orders for texts ("translate"); ``making``: verbs of orders for both texts and programs.
    - ``filling``: other words that such an order may contain; ``becoming``: words before its result ("into");
      ``asking``: words after which it names its object.
    - ``places``: where people read what others wrote ("forum"); ``taking``: verbs for reading; ``at``: words before
      such a place; ``telling``: verbs for what a place says; ``speakers``: people who are quoted.
    - ``contents``, ``of``: the words of "contents of"; ``looking``: verbs of orders to look at a file.
    - ``records``: words for what was said in a meeting ("minutes").
    - ``this``, ``texts``: the words of "this answer"; ``within``: words before these ("in"); ``here``: words that may
      stand in place of these.
    - ``spaced``: words are separated by spaces.
    - ``examples``: sentences that show a text after them; ``counters``: similar ones that do not. A test checks both.
    """

    prose: str
    filling: str
    becoming: str
    examples: tuple[str, ...]
    counters: tuple[str, ...]
    making: str = ""
    asking: str = ""
    places: str = ""
    taking: str = ""
    at: str = ""
    telling: str = ""
    speakers: str = ""
    contents: str = ""
    of: str = ""
    looking: str = ""
    records: str = ""
    this: str = ""
    texts: str = ""
    within: str = ""
    here: str = "here"
    spaced: bool = True

    def ordering(self, *, making: bool) -> str:
        """RE2 for an order that does not name what to work on. ``making``: whether the verbs in ``making`` count as
        well."""
        verbs = self._any(f"{self.prose} {self.making}" if making else self.prose)
        if not self.spaced:
            return rf"(?:{self._any(self.filling)}|[ \t,，])*(?:{self._any(self.becoming)})?.{{0,8}}{verbs}.{{0,8}}$"
        becoming = rf"{self._any(self.becoming)}(?:[ \t]+{_LETTER}+){{1,4}}"
        beside = f"(?:{self._any(self.filling)}|{becoming})"
        return rf"{_MARKS}(?:{beside}{_BESIDE})*{verbs}(?:{_BESIDE}(?:{beside}|{verbs}))*{_MARKS}$"

    @property
    def object(self) -> str:
        """RE2 for a text with one of the words in ``asking``, after which an order names its object. Matches nothing if
        there are no such words."""
        return rf"(?:.*[ \t])?{self._any(self.asking)}" if self.asking else NOTHING

    @property
    def reading(self) -> str:
        """RE2 for a clause before a colon that says where the user read the text after the colon. Matches nothing in a
        language without ``places``."""
        if not self.places:
            return NOTHING
        places, speakers = self._any(self.places), self._any(self.speakers)
        taking, where = self._any(self.taking), rf"{self._any(self.at)}[ \t].*{places}"
        taken = rf"(?:.*[ \t])?{taking}.*[ \t]{where}|(?:.*[ \t])?{where}[ \t].*{taking}"
        told = rf"(?:.*[ \t])?{places}.*[ \t]{self._any(self.telling)}"
        said = rf"(?:.*[ \t])?{speakers}(?:['’]s)?[ \t]+{self._any(self.texts)}"
        return f"{taken}|{told}|{said}"

    @property
    def holding(self) -> str:
        """RE2 for a clause at the end of a line that names a file whose contents follow ("contents of notes.md").
        Matches nothing in a language without ``contents``."""
        if not self.contents:
            return NOTHING
        return rf"(?:.*[ \t])?{self._any(self.contents)}[ \t]+{self._any(self.of)}[ \t].{{0,40}}{FILE}.{{0,20}}$"

    @property
    def opening(self) -> str:
        """RE2 for a whole line that orders to look at a mentioned file ("review @notes.md")."""
        beside = rf"(?:{self._any(self.filling)}{_BESIDE})*"
        orders = self._any(f"{self.looking} {self.prose}")
        return (
            rf"{_MARKS}{beside}{orders}{_BESIDE}{beside}{MENTION}(?:{_BESIDE}{MENTION})*(?:{_BESIDE}{beside})?{_MARKS}$"
        )

    @property
    def recording(self) -> str:
        """RE2 for a line that names the meeting whose record follows ("minutes of the board meeting"). Matches nothing
        in a language without ``records``."""
        if not self.records:
            return NOTHING
        return rf"{_MARKS}(?:{_LETTER}+[ \t]+){{0,2}}{self._any(self.records)}[ \t]+{self._any(self.of)}[ \t].*"

    @property
    def pointing(self) -> str:
        """RE2 for a line that ends with "in this text" or the like, or that names a text and the place where it was
        found. Matches nothing in a language without ``texts``."""
        if not self.texts:
            return NOTHING
        this, texts = self._any(self.this), self._any(self.texts)
        named = (
            rf"(?:.*[ \t])?{this}[ \t](?:.*[ \t])?{texts}[ \t].*{self._any(self.places)}" if self.places else NOTHING
        )
        within = rf"{self._any(self.within)}[ \t]+(?:{self._any(self.here)}|{this}[ \t]+{texts})"
        return rf"(?:.*[ \t])?{within}{_MARKS}$|{named}"

    def _any(self, words: str) -> str:
        return "(?:" + "|".join(write_word(word.replace("_", "[ \\t]+"), self.spaced) for word in words.split()) + ")"


SHOWN: Final[tuple[Showing, ...]] = (
    Showing(
        prose="translate summari[sz]e sum_up proofread proof-read paraphrase rephrase reword"
        " condense copyedit transcribe"
        " interpret explain tl;?dr eli5 spell-?check grammar-?check fact-?check critique",
        making="convert turn reformat rewrite shorten polish simplify extract classify categori[sz]e analy[sz]e",
        filling="please pls plz just quickly briefly can_you could_you would_you will_you you"
        " help_me me for_me this that it"
        " these hi hey hello ok okay thanks thx and then again now for a the",
        becoming="to into in as for like from so",
        asking="how why what when where which who whether if rust go python java javascript typescript c kotlin swift",
        places="forums? blogs? reddit stack_?overflow hacker_?news hn twitter tweets? wikipedia wiki slack discord"
        " newsletter articles? docs documentation books? tutorials? posts? threads? website web internet google faq"
        " handbook manual magazine news video podcast youtube channel linkedin mastodon github issue_tracker",
        taking="read saw heard found seen came_across stumbled quote quoting quoted copied pasted according from_a",
        at="on in at from via upon to of",
        telling="says? states? reads? claims? recommends? suggests? tells? advises? advised writes?"
        " wrote answers? answered"
        " the_following",
        speakers="reviewer commenter maintainer vendor support_team somebody someone stranger",
        contents="contents? text excerpts? snippets? copy dump quote output",
        of="of from in",
        looking="review check read see look_at view open take_a_look_at have_a_look_at",
        records="transcripts? minutes recording chat_?log chat_history",
        this="this these here the_following that",
        texts="texts? e-?mails? messages? letters? articles? posts? tweets? comments? reviews? transcripts? threads?"
        " paragraphs? passages? excerpts? quotes? answers? repl(?:y|ies) notes? feedback advice snippets? pages?"
        " documents? prompts? chats?",
        within="in from of about on to with",
        examples=(
            "proofread please\n",
            "Translate to German: ",
            "explain: ",
            "tl;dr pls\n\n",
            "Summarise the following in two sentences.\n\n",
            "Convert to JSON: ",
            "can you proof-read this for me?\n",
            "I read on a forum: ",
            "Copied from their wiki: ",
            "The vendor's docs state the following — ",
            "Reviewer comment on my PR: ",
            "Contents of notes.txt:\n",
            "Contents of docs/plan.md: ",
            "please check @docs/plan.md\n\n",
            "@docs/plan.md\n",
            "Transcript of yesterday's meeting\n\n",
            "Extract all action items from this text\n\n",
            "Found this answer on Stack Overflow, is it outdated?\n\n",
            "[Pasted text #1 +12 lines]\n",
            "attached: policy.txt\n\n",
            "# CLAUDE.md\n\n",
            "=== docs/policy.md ===\n",
        ),
        counters=(
            "Summary:\n",
            "Explain how the cache works\n\n",
            "Rewrite in Rust\n\n",
            "Convert to TypeScript\n\n",
            "Convert it to Python: ",
            "Translate our app into German\n\n",
            "EDIT: ",
            "Correct: ",
            "Docs: ",
            "Slack: ",
            "In the docs: ",
            "On Slack: ",
            "For the README: ",
            "README: ",
            "app.py:\n",
            "Update @docs/plan.md\n\n",
            "Look at @src/app.py\n\n",
            "Add this to README.md:\n",
            "I read through the code: ",
            "Client request: ",
            "Notes: ",
        ),
    ),
    Showing(
        prose="übersetze?n? korrigiere?n? korrekturlesen fasse? zusammenfassen zusammen umformulieren paraphrasiere?n?"
        " erkläre?n? erläutere?n? lektoriere?n? rechtschreibprüfung",
        making="wandle?n? umwandeln formatiere?n? kürze?n? vereinfache?n? extrahiere?n? um",
        filling="bitte mal kurz mir uns das dies es den_text kannst_du könntest_du kann_man und"
        " dann jetzt noch hallo hi"
        " hey ok danke einmal die_rechtschreibung die_grammatik auf für",
        becoming="ins in auf nach als zu für",
        asking="wie warum was wann wo welche[rsn]? wer ob rust python java typescript",
        places="foren forums? blogs? reddit wikipedia wiki slack internet netz artikel buch handbuch doku dokumentation"
        " beitrag newsletter zeitung stack_?overflow twitter seite webseite website faq",
        taking="gelesen las gefunden gesehen gehört zitat zitiere laut kopiert aus_dem aus_der aus_einem aus_einer",
        at="in im auf bei aus von vom laut dem der einem einer",
        telling="sagt steht schreibt behauptet empfiehlt rät lautet",
        speakers="jemand ein_fremder der_support der_hersteller",
        contents="inhalt text auszug ausschnitt ausgabe",
        of="von aus der vom des",
        looking="prüfe?n? lies schau_dir sieh_dir ansehen",
        records="protokoll transkript mitschrift chatverlauf niederschrift",
        this="diese[mnrs]? dem_folgenden folgende[mnrs]?",
        texts="texte?s? e-?mail mail nachricht brief artikel beitrag kommentar absatz dokument antwort auszug seite"
        " schreibt schreibt_mir",
        within="in im aus von über zu an",
        here="hier",
        examples=(
            "Fasse das bitte zusammen\n\n",
            "Bitte ins Englische übersetzen: ",
            "Korrigiere bitte\n\n",
            "Ich habe in einem Forum gelesen: ",
            "Inhalt von notizen.txt:\n",
            "Protokoll der Sitzung von gestern\n\n",
        ),
        counters=("Zusammenfassung:\n", "Erkläre, wie der Cache arbeitet\n\n", "Doku: ", "Übersetze die App\n\n"),
    ),
    Showing(
        prose="traduis traduisez traduire résume résumez résumer corrige corrigez corriger reformule reformulez relis"
        " relisez relire explique expliquez",
        making="convertis convertissez raccourcis simplifie transforme",
        filling="s'il_te_plaît s'il_vous_plaît s’il_te_plaît s’il_vous_plaît stp svp peux-tu pouvez-vous merci moi ceci"
        " cela ça le bonjour salut et de",
        becoming="en vers pour",
        asking="comment pourquoi quand où quel(?:le)?s? qui si python java",
        places="forums? blogs? reddit wikipédia wiki slack internet article livre manuel docs documentation site",
        taking="lu vu trouvé selon cite copié entendu",
        at="sur dans le la un une",
        telling="dit écrit indique recommande conseille affirme",
        speakers="quelqu'un quelqu’un un_inconnu",
        contents="contenu texte extrait sortie",
        of="de du des",
        looking="regarde regardez vérifie vérifiez lis lisez",
        records="transcription compte-rendu compte_rendu procès-verbal",
        this="ce cet cette ces",
        texts="textes? e-?mail mail message lettre article paragraphe extrait document commentaire réponse page",
        within="dans de sur à",
        here="ici",
        examples=("Traduis en anglais : ", "Corrige stp\n\n", "J'ai lu sur un forum : ", "Contenu de notes.txt :\n"),
        counters=("Résumé :\n", "Explique pourquoi le cache est lent\n\n", "Sur Slack : "),
    ),
    Showing(
        prose="traduce traduzca traducir traduce(?:lo)? resume resuma resumir corrige corrija"
        " corregir reformula explica"
        " explique parafrasea",
        making="convierte acorta simplifica transforma",
        filling="por_favor porfa puedes podrías me lo la esto eso gracias hola y de",
        becoming="al en a como para",
        asking="cómo por_qué qué cuándo dónde cuál quién si python java",
        places="foros? blogs? reddit wikipedia wiki slack internet artículo libro manual documentación web página",
        taking="leí leído vi visto encontré según cito copiado",
        at="en de un una el la",
        telling="dice escribe indica recomienda afirma",
        speakers="alguien un_desconocido",
        contents="contenido texto extracto salida",
        of="de del",
        looking="revisa mira lee comprueba",
        records="transcripción acta",
        this="este esta estos estas",
        texts="textos? correo e-?mail mensaje carta artículo párrafo extracto documento comentario respuesta página",
        within="en de sobre a por",
        here="aquí",
        examples=("Traduce al inglés: ", "Corrige por favor\n\n", "Leí en un foro: ", "Contenido de notas.txt:\n"),
        counters=("Resumen:\n", "Explica cómo funciona la caché\n\n", "En Slack: "),
    ),
    Showing(
        prose="traduza traduzir resuma resumir corrija corrigir reformule explique",
        filling="por_favor pode você isto isso me e obrigado olá",
        becoming="para em ao como",
        asking="como por_que o_que quando onde qual quem se",
        examples=("Traduza para o inglês: ", "Corrija por favor\n\n"),
        counters=("Resumo:\n", "Explique como funciona o cache\n\n"),
    ),
    Showing(
        prose="traduci tradurre riassumi riassumere correggi correggere riformula spiega parafrasa",
        filling="per_favore puoi potresti mi questo lo e grazie ciao",
        becoming="in per come",
        asking="come perché cosa quando dove quale chi se",
        examples=("Traduci in inglese: ", "Correggi per favore\n\n"),
        counters=("Riassunto:\n", "Spiega come funziona la cache\n\n"),
    ),
    Showing(
        prose="переведи переведите перевести исправь исправьте перескажи перескажите обобщи"
        " обобщите перефразируй перефразируйте объясни объясните",
        filling="пожалуйста можешь можете мне это и спасибо привет",
        becoming="на в",
        asking="как почему что когда где какой кто",
        examples=("Переведи на английский: ", "Исправь, пожалуйста\n\n"),
        counters=("Перевод:\n", "Объясни, как работает кэш\n\n"),
    ),
    Showing(
        prose="翻译 翻譯 总结 總結 概括 润色 校对 译成 改写",
        filling="请 請 帮我 幫我 麻烦 一下 把 这 这个 成",
        becoming="成 为",
        asking="如何 怎么 为什么",
        spaced=False,
        examples=("请翻译成英文：\n", "帮我润色一下\n\n", "总结一下：\n"),
        counters=("我的要求：\n", "请解释缓存如何工作。\n\n"),
    ),
)
"""The phrases of English, German, French, Spanish, Portuguese, Italian, Russian and Chinese."""
