"""Phrases with which users introduce a text that somebody else wrote: "Translate the following text:",
"Here is the mail:".

Each language has one ``Handing``, whose properties build RE2 patterns from its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NOTHING: Final = r"\x00nothing\x00"
"""RE2 that matches no text."""

RESUMES: Final = (
    r"(?i)(?:and |also,? |but |now,? |so,? |then |und |et |y )?(?:please|pls|can you|could you|would you|let's|let us|"
    r"i want|i'd|i would|i need|i prefer|we (?:need|want|should)|from now on|question|task|"
    r"my question|bitte|kannst du|könntest|lass uns|ich |nimm|ab jetzt|frage|s'il (?:te|vous) plaît|peux-tu|"
    r"pouvez-vous|je |merci de|question|por favor|puedes|podrías|quiero|pregunta|请|问题|我)"
)
"""Beginnings of sentences in which users write in their own words again after a pasted text, such as "please ...". RE2,
case ignored."""

_WHOSE: Final = r"(?:(?:the|my|our|[A-Z]{2,5})[ \t]+)?"
_OF_WHAT: Final = r"(?:[ \t]+(?:of|from|by|I|we|#)[^:]{1,60})?"
"""What may follow the name of a text in a heading: "of the bug" in "description of the bug", "#7 by Ann" in
"issue #7 by Ann"."""

_EDGE: Final = r"(?:^|[^\p{L}\p{M}\p{N}_])"


@dataclass(frozen=True, slots=True)
class Handing:
    """The words of one language that introduce somebody else's text. Each field lists words, separated by spaces.
    ``translat*`` stands for every word with this beginning, an underscore for a space.

    - ``treat``: verbs for work on a text ("translate").
    - ``texts``: kinds of texts ("mail"); ``files``: kinds of texts from work (a file, a log, a ticket), after which the
      user may go on in own words.
    - ``handle``: more verbs for these files ("fix").
    - ``here``: words that present a text ("here is"); ``following``: words that announce it ("the following");
      ``this``: words that may refer to it.
    - ``voices``: words that introduce what somebody else says.
    - ``last``: verbs may follow their object; ``spaced``: words are separated by spaces.
    - ``examples``: sentences that introduce a text after them; ``counters``: similar ones that do not. A test checks
      both.
    """

    treat: str
    following: str
    this: str
    texts: str
    here: str
    examples: tuple[str, ...]
    counters: tuple[str, ...]
    files: str = ""
    handle: str = ""
    voices: str = ""
    last: bool = False
    spaced: bool = True

    @property
    def treating(self) -> str:
        """RE2 for a sentence that asks for work on a text, beginning with the verb if ``last`` is false. Polite words
        before the verb ("please") are not matched."""
        return f".*{self._any(self.treat)}" if self.last else self._bare(self.treat)

    @property
    def naming(self) -> str:
        """RE2 for a sentence that names one of ``texts``."""
        return f".*{self._any(self.texts)}"

    @property
    def announcing(self) -> str:
        """RE2 for a clause that asks for work on "the following". A text follows after it, with or without a colon."""
        treat, following = self._any(self.treat), self._any(self.following)
        return f".*{treat}.*{following}|.*{following}.*{treat}"

    @property
    def showing(self) -> str:
        """RE2 for a clause before a colon that introduces a text ("here is the mail", "translate this")."""
        treat, texts = self._any(self.treat), self._any(self.texts)
        this = self._any(f"{self.this} {self.texts}")
        about = f"{treat}.*{this}|.*{this}.*{treat}" if self.last else f"{treat}.*{this}"
        return f".*{about}|.*{self._any(self.here)}.*{texts}"

    @property
    def heading(self) -> str:
        """RE2 for a whole line that is the heading of a text; it may name the author or the topic."""
        return rf"[ \t*#_]*{_WHOSE}(?:{self._bare(self.texts)}){_OF_WHAT}[ \t*_]*$"

    @property
    def showing_file(self) -> str:
        """RE2 for a clause before a colon that introduces a file, a log or a ticket ("fix this log"). Matches nothing
        in a language without ``files``."""
        if not self.files:
            return NOTHING
        verbs, files = self._any(f"{self.treat} {self.handle} {self.here}"), self._any(self.files)
        return f".*{verbs}.*{files}|.*{files}.*{verbs}" if self.last else f".*{verbs}.*{files}"

    @property
    def heading_file(self) -> str:
        """RE2 for a whole line that is the heading of a pasted file, log or ticket: "PR description", "our log" or
        "issue #7 by Ann". Matches nothing in a language without ``files``."""
        return rf"[ \t*#_]*{_WHOSE}(?:{self._bare(self.files)}){_OF_WHAT}[ \t*_]*$" if self.files else NOTHING

    @property
    def reporting(self) -> str:
        """RE2 for a clause before a colon that introduces what somebody else says. Matches nothing in a language
        without ``voices``."""
        return f".*{self._any(self.voices)}" if self.voices else NOTHING

    def _any(self, words: str) -> str:
        return f"{_EDGE if self.spaced else ''}(?:{self._bare(words)})"

    def _bare(self, words: str) -> str:
        return "|".join(write_word(word.replace("_", "[ \\t]+"), self.spaced) for word in words.split())


def write_word(word: str, spaced: bool) -> str:
    r"""Return RE2 for one word of ``Handing``: for a word with a star at its end, the beginning before the star.

    If ``spaced`` and the word ends with an ASCII letter, ``\b`` is added, so that longer words do not match. ``\b``
    does not work after other letters.
    """
    if word.endswith("*"):
        return word[:-1]
    return word + r"\b" if spaced and word.rstrip("?]")[-1:].isascii() else word


HANDED: Final[tuple[Handing, ...]] = (
    Handing(
        treat="translat* summari* proofread* paraphras* rephras* rewrit* reword* shorten* condens* polish* copyedit*"
        " edit correct analy* classif* categori* explain* interpret* critique* evaluat* grade rate simplif* improv*"
        " transcrib* tl;?dr summary_of translation_of opinion_on comment_on what_is_in what_does"
        " reply_to respond_to an_answer_to"
        " a_reply_to",
        following="following below between_the_lines attached_file attached_text attached_document",
        this="this these",
        texts="e-?mails? mails? messages? letters? articles? posts? tweets? comments? reviews? transcripts?"
        " conversations? threads? texts? paragraphs? passages? essays? poems? story stories abstracts? papers?"
        " press_releases? documents? excerpts? quotes? contracts? complaints? minutes"
        " job_description newsletter memo",
        here="here's here’s here_is here_are below_is below_are this_is i_got i_received we_got we_received"
        " wrote wrote_me wrote_us sent_me sent_us got_this received_this",
        files="readme files? logs? logfiles? outputs? issues? tickets? bug_reports? pages? context docs?"
        " documentation wiki handbook manual traceback stack_?trace errors? error_messages? code snippets? scripts?"
        " changelog release_notes results? responses? search_results? chunks? sources? meeting_notes attachments?"
        " pull_requests? descriptions? reports? website contents? configs? configuration",
        handle="review* check* fix* debug* look* read see consider refactor* resolve solve inspect",
        voices="sent_me sent_us sent_this wrote writes told_me told_us e?-?mailed_me messaged_me forwarded gave_me"
        " gave_us showed_me shared_with says states reads replied answered responded posted got_this got_back"
        " found_this came_across printed",
        examples=(
            "Here is the README:\n",
            "Context:\n",
            "Review this file:\n",
            "Fix this issue:\n\n",
            "I ran it and got this output:\n",
            "Search results:\n",
            "The page I found says:\n\n",
            "My colleague sent me this:\n",
            "Can you explain the text between the lines?\n",
            "What is in the attached file?\n\n",
            "Translate the following text:\n",
            "Please translate the following text into German.\n\n",
            "Summarise this:\n",
            "Can you summarize this article for me: ",
            "Here is the mail:\n",
            "Here's the e-mail that I got from the client this morning:\n",
            "My boss sent me this message:\n",
            "Proofread the text below:\n",
            "Rewrite these paragraphs in a friendlier tone:\n",
            "What does it say? TL;DR of the following:\n",
            "Shorten it, please.\n\nText:\n",
        ),
        counters=(
            "Here are my notes:\n",
            "My plan:\n",
            "We have two constraints:\n",
            "Next steps:\n",
            "I said:\n",
            "Add these to the README:\n",
            "Fix this:\n",
            "Do the following:\n",
            "Please follow these rules:\n",
            "Here is what we decided:\n",
            "Here are the requirements:\n",
            "We agreed on this:\n",
            "Translate the app into German.\n",
            "Explain how you do it. From now on:\n",
            "Fix the following:\n",
            "The text of the button is too long.\n",
            "This is the plan:\n",
        ),
    ),
    Handing(
        treat="übersetz* fass* zusammenfass* korrigier* korrekturles* umformulier* formulier* umschreib*"
        " schreib*_um kürz* verbesser* analysier* erklär* erläuter* bewert* klassifizier* zusammenfassung",
        following="folgend* untenstehend*",
        this="das dies* den_text",
        texts="texte?s? e-?mails? mails? nachricht* artikels? briefe?s? absätze absatz* beiträge beitrag*"
        " protokoll* transkript* kommentar* rezension* dokumente?s? auszüge auszug* gedichte?s? aufsatz* vertrag*",
        here="hier_ist hier_sind hier_kommt das_ist dies_ist anbei unten_ist hier_noch hier_mal habe_ich_bekommen"
        " schrieb schreibt hier_die hier_der hier_das",
        files="readme datei* logs? logdatei* ausgabe ticket* issues? fehlerbericht* seite kontext dokumentation wiki"
        " handbuch fehler fehlermeldung code skript* suchergebnis* quelle* anhang konfiguration meldung*",
        handle="prüf* sieh schau* lies behebe* beheb* lös* durchsieh*",
        voices="mir_das mir_dies* uns_das uns_dies* geschickt geschrieben weitergeleitet schrieb schreibt sagt meint"
        " steht bekam bekommen gefunden lautet antwortet*",
        examples=(
            "Hier ist die README:\n",
            "Kontext:\n",
            "Behebe dieses Ticket:\n",
            "Meine Kollegin hat mir das geschickt:\n",
            "Übersetze den folgenden Text ins Englische:\n",
            "Fasse das bitte zusammen:\n",
            "Fass den folgenden Artikel zusammen.\n\n",
            "Hier ist die Mail vom Kunden:\n",
            "Kannst du diesen Absatz verbessern:\n",
        ),
        counters=(
            "Meine Regeln:\n",
            "Mach bitte Folgendes:\n",
            "Hier ist der Plan:\n",
            "Wir haben uns so entschieden:\n",
        ),
        last=True,
    ),
    Handing(
        treat="tradui* résum* corrig* reformul* réécri* raccourci* amélior* analys* expliqu* relis*"
        " relire synthétis* paraphras*",
        following="suivant* ci-dessous",
        this="ceci cela ça ce cet cette ces",
        texts="textes? e-?mails? mails? courriels? messages? articles? lettres? paragraphes? extraits? documents?"
        " commentaires? avis transcriptions? poèmes? contrats? passages? compte-rendu compte_rendu",
        here="voici voilà ci-joint j'ai_reçu j’ai_reçu m'a_écrit c'est",
        files="readme fichiers? journal journaux logs? sortie ticket* page contexte documentation wiki manuel erreurs?"
        " code script* résultats? source* rapport* pièce_jointe anomalie",
        handle="relis vérifi* regarde* lis lisez corrig* voir obtenu",
        voices="m'a m’a nous_a a_écrit écrit dit répond* répondu obtenu reçu trouvé indique*",
        examples=(
            "Voici le README :\n",
            "Relis ce fichier :\n",
            "Ma collègue m'a envoyé ceci :\n",
            "Traduis le texte suivant en anglais :\n",
            "Peux-tu résumer cet article :\n",
            "Voici le mail du client :\n",
            "Corrige le texte ci-dessous.\n",
        ),
        counters=("Mes règles :\n", "Fais ce qui suit :\n", "Voici le plan :\n", "Nous avons décidé ceci :\n"),
    ),
    Handing(
        treat="traduc* tradúc* traduz* resum* resúm* corrig* corríg* correg* reescrib* reformul* parafrase*"
        " acort* mejor* analiz* explic* explíc*",
        following="siguiente* a_continuación abajo",
        this="este esta estos estas esto",
        texts="textos? correos? e-?mails? mensajes? artículos? cartas? párrafos? documentos? comentarios?"
        " reseñas? transcripción fragmentos? contratos? actas?",
        here="aquí_está aquí_están aquí_tienes aquí_va este_es esta_es recibí adjunto me_escribió te_paso",
        files="readme archivos? ficheros? registros? logs? salida tickets? incidencia* página contexto documentación"
        " wiki manual error* código script* resultados? fuente* informe* adjunto",
        handle="revisa* comprueba* arregla* lee mira obtuve",
        voices="me_envió me_mandó me_escribió me_ha escribió dice dijo respondió obtuve recibí encontré indica",
        examples=(
            "Aquí está el README:\n",
            "Revisa este archivo:\n",
            "Lo ejecuté y obtuve esta salida:\n",
            "Mi compañera me envió esto:\n",
            "Traduce el siguiente texto al inglés:\n",
            "Resume esto:\n",
            "Aquí está el correo del cliente:\n",
            "¿Puedes corregir este párrafo?: ",
        ),
        counters=("Mis reglas:\n", "Haz lo siguiente:\n", "Este es el plan:\n", "Hemos decidido esto:\n"),
    ),
    Handing(
        treat="traduz* traduc* resum* corrij* corrig* reescrev* reformul* encurt* melhor* analis* expliqu* explic*"
        " parafrase*",
        following="seguinte* abaixo a_seguir",
        this="este esta estes estas isto isso esse essa",
        texts="textos? e-?mails? mensage* artigos? cartas? parágrafos? documentos? comentários?"
        " avalia* transcri* trechos? contratos? atas?",
        here="aqui_está aqui_estão aqui_vai segue segue-se este_é esta_é recebi eis me_escreveu",
        examples=(
            "Traduza o seguinte texto para o inglês:\n",
            "Resuma isto:\n",
            "Segue o e-mail do cliente:\n",
            "Corrija o texto abaixo.\n",
        ),
        counters=("Faça o seguinte:\n", "Este é o plano:\n", "Decidimos isto:\n"),
    ),
    Handing(
        treat="traduc* tradur* tradurre riassum* correggi* correggere riscriv* riformul* accorcia* miglior* analizz*"
        " spieg* parafras* sintetizz*",
        following="seguent* qui_sotto sottostant*",
        this="questo questa questi queste quest* ciò",
        texts="test[oi] e-?mail mail messagg* articol* letter[ae] paragraf* document[oi] comment[oi] recension*"
        " trascrizion* bran[oi] contratt[oi] verbale",
        here="ecco di_seguito questo_è questa_è ho_ricevuto mi_ha_scritto",
        examples=(
            "Traduci il seguente testo in inglese:\n",
            "Riassumi questo:\n",
            "Ecco la mail del cliente:\n",
            "Correggi il testo qui sotto.\n",
        ),
        counters=("Fai quanto segue:\n", "Ecco il piano:\n", "Abbiamo deciso questo:\n"),
    ),
    Handing(
        treat="перевед* перевест*"
        " излож* резюмир*"
        " сократ* исправ*"
        " перепиш*"
        " перефразир*"
        " проанализир* объясн*"
        " обобщ* улучш*",
        following="следующ* ниже",
        this="это этот эту эти",
        texts="текст* письм* сообщени* стать* абзац* документ* отзыв* комментар* отрыв* расшифров*",
        here="вот ниже это",
        examples=(
            "Переведи следующий текст:\n",
            "Вот письмо клиента:\n",
            "Переведи это: ",
        ),
        counters=(
            "Сделай следующее:\n",
            "Вот план:\n",
        ),
    ),
    Handing(
        treat="翻译 总结 概括 润色 改写 校对 分析 解释 归纳 摘要 译成 翻譯 總結",
        following="以下 下面 如下 下列",
        this="这段 这篇 这封 这个 此 這段 這篇",
        texts="邮件 文章 文本 文字 消息 原文 段落 文档 评论 全文 信件 新闻 计要 纪要 郵件",
        here="以下是 下面是 这是 这里是 這是 收到",
        files="readme 文件 日志 输出 问题 工单 页面 网页 上下文 文档 手册 报错 错误 代码 脚本 结果 来源",
        handle="审阅 检查 查看 修复 看看 得到",
        voices="发给我 发来 写道 得到 收到 找到 回复 写的",
        examples=(
            "这是 README：\n",
            "修复这个问题：\n",
            "我的同事发给我这个：\n",
            "请翻译以下文字：\n",
            "把下面这段话翻译成英文。\n",
            "以下是客户的邮件：\n",
        ),
        counters=("我的要求：\n", "请按以下步骤做：\n", "这是计划：\n"),
        last=True,
        spaced=False,
    ),
    Handing(
        treat="翻訳 要約 添削 校正 書き直 言い換え まとめて 分析 説明 訳し",
        following="以下 次の 下記",
        this="この これを こちら",
        texts="メール 文章 記事 テキスト メッセージ 本文 原文 議事録 文書",
        here="以下は 以下が これは 次は 届いた",
        examples=(
            "次の文章を英語に翻訳してください。\n",
            "以下は客先からのメールです：\n",
        ),
        counters=("次の通りにしてください：\n",),
        last=True,
        spaced=False,
    ),
    Handing(
        treat="번역 요약 교정 다듬어 고쳐 분석 설명",
        following="다음 아래",
        this="이_ 이것",
        texts="메일 글을 글입 기사 텍스트 메시지 본문 문서 문단 회의록",
        here="다음은 아래는 이것은 여기",
        examples=(
            "다음 글을 영어로 번역해 주세요:\n",
            "다음은 고객이 보낸 메일입니다:\n",
        ),
        counters=("다음과 같이 해 주세요:\n",),
        last=True,
        spaced=False,
    ),
    Handing(
        treat="अनुवाद सारांश संक्षेप सुधार* विश्लेषण anuvad saransh translate summarize",
        following="निम्नलिखित नीचे neeche niche",
        this="इस इसे यह इसका is ise iska",
        texts="पाठ ईमेल संदेश लेख पत्र टेक्स्ट text mail email message",
        here="यह ये यहाँ यहां yeh ye yahan",
        examples=(
            "निम्नलिखित पाठ का अनुवाद करें:\n",
            "इसका सारांश दीजिए: ",
        ),
        counters=("निम्नलिखित करें:\n",),
        last=True,
    ),
)
"""The phrases of English, German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese, Korean and
Hindi."""
