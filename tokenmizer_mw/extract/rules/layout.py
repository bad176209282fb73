"""Patterns for what lines of pasted documents look like, and for how users refer to a document. Compiled RE2 patterns
for ``extract.read``."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.runtime.lazy import expression

_TIME: Final = r"\d{1,2}[:.h]\d\d(?:[:.,]\d\d\d?)?"
_DATE: Final = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d)?(?: ?(?i:[ap]\.?m)\b\.?)?"

_QUANTITY: Final = (
    r"(?:\d[\d.,/]*|\d* ?[½¼¾⅓⅔⅛]|\d+ \d/\d) ?(?i:cups?|tbsps?|tablespoons?|tsps?|teaspoons?|pinch(?:es)?|ounces?|oz"
    r"|sticks?|el|tl|esslöffel|teelöffel|prisen?|tassen?|becher|tasses?|cuillères?|pincées?|tazas?|cucharad(?:it)?as?|pizcas?"
    r"|xícaras?|colher(?:es)?|tazz[ae]|cucchiai(?:ni)?|pizzic[oh]i?|стакана?|ложк[аи])\b"
)
"""An amount in a kitchen unit, as in recipes. Other units are left out, because people also use them for their own
work."""

COPIED_LINE: Final = expression(
    r"^\s*(?:"
    rf"[\[(]?{_DATE}[T ,]+{_TIME}"  # a log, an export of a chat
    rf"|[\[(]{_TIME}[\])]"
    rf"|{_TIME} *(?:[-–|] *)?<?@?[\p{{L}}][\w.-]*>?:\s"
    r"|\d{1,2}:\d\d[\d:.,]* *-->"  # subtitles
    r"|\d{1,6} *[|│┃]\s"  # a gutter
    r"|<[@\w][\w.\- ]{0,30}>\s+\S"  # a chat
    r"|@[\w-]+\b[^.\n]{0,24}:(?:\s|$)"
    r"|<([a-z][\w-]*)(?:>.*</[a-z][\w-]*>|\s[^<>]*>.*)$"  # an element in a line
    r"|[\[{]\s*[\"{\[].*[\]},]\s*$"  # JSON
    r"|[\])}]+[;,]?\s*$|[\w.]+ ?[({=].*[{;]\s*$|//\s|/\*|\\[a-z]+\{"  # code
    r"|(?:SELECT|INSERT INTO|CREATE TABLE|ALTER TABLE|UPDATE|DELETE FROM|COMMENT ON)\s\S"
    r"|[A-Z][A-Z-]{2,}(?:;[A-Z]+=[^:\n]*)?:[^\s/]"  # a calendar, a card
    r"|\$ [a-z]\S*|[\w.-]+@[\w.-]+[: ][^\n$#]*[$#] |PS [A-Z]:|>>> "  # a terminal
    r"|§+ ?\d|(?i:art(?:\.|icle|icolo|ículo|ikel|igo)?) ?\d+[a-z]?(?: ?\(\d+\))?\s*(?:[.:—–-]|$)"
    r"|第[一二三四五六七八九十百\d]+[条條章]"
    r"|(?:[△▲▼▽↑↓] *-?\d*|-?\d+ *[△▲▼▽↑↓]) *(?:[△▲▼▽↑↓]|$)"
    r"|(?:@@ -\d|diff --git |commit [0-9a-f]{7,40}$)"
    r"|at [\w$.<>]+\(.*\)$"
    rf"|[-*•]? ?{_QUANTITY} [^.!?\n]*$"  # ingredients of a recipe
    r")"
)
"""A line that was copied from elsewhere, whatever stands around it: of a log, of code, of JSON. A paragraph that begins
with one counts as copied."""

NAME_AND_TIME: Final = expression(
    rf"^[^.!?。]+\s{_CLOCK}\W*$|^\W*{_CLOCK}\s+[\p{{Lu}}@][^.!?,。]*$|^\W*(?:by |@|u/)\S+ +[·•|]"
    r"|^\W*(?:[ru]/\w+$|(?i:posted|asked|answered|commented|edited|replied|updated)\b.*\b(?:by|at|on|ago)\b)"
)
"""A short line with a name and a time, as chats show it above a message."""

OPENING_LINE: Final = expression(
    r"(?:"
    r"^[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: \S"  # a field of a mail or of HTTP
    rf"|^\s*[\p{{L}}][\p{{L}} _-]*[:：] .*(?:<[^<>\s]+@[^<>\s]+>|\b{_DATE}\b|\b\d{{1,2}}:\d\d\b)"
    r"|^\s*!?\[[^\[\]]*\]\([^()\s]*\)\s*$|^\s*\[!\["  # a picture, a link, a badge by itself
    r"|^[\p{Lu}][\p{Lu}\d_.-]*\(\d\w?\)\s"  # a manual page
    rf"|^\W*v?\d+\.\d+(?:\.\d+)*\]?\s*[-–—(]+\s*{_DATE}"  # a list of changes
    r"|^\W*(?i:page|seite|página|pagina|pág|стр|第)\.? ?\d+(?: ?(?i:of|von|de|sur|di|из|/) ?\d+|页|頁|ページ)?\W*$"
    r"|[★☆⭐]{2}|^\W*\d[\d.,]*[kK]? (?i:likes?|comments?|replies|shares|points?|views|(?:up)?votes|answers?|reviews?)\b"
    r"|^-- $|^\s*(?i:sent from my )"
    r"|^\s*(?:[©®]|(?i:copyright\b|all rights reserved\b|spdx-))"
    r")"
)
"""A line that begins or ends a document, such as a header of a mail. The text after it belongs to the document."""

ORIGIN_FIELD: Final = expression(
    r"(?i)^\W*(?:from|to|cc|bcc|date|sent|subject|re|author|reporter|assignee|status|priority|severity|reviewers?"
    r"|participants|attendees|present|absent|excused|apologies|chair|venue|duration|length|tags|published|posted"
    r"|updated|created|source|url|doi|isbn|licen[cs]e|department|revision|effective"
    r"|von|an|betreff|datum|anwesend|entschuldigt|ort|protokoll|verfasser"
    r"|de|à|objet|présents|absents|excusés|lieu|auteur|para|asunto|fecha|asistentes|lugar|assunto|data|presentes|local"
    r"|a|oggetto|presenti|luogo|от|кому|тема|дата|присутствовали"
    r"|件名|差出人|宛先|日時|出席者|場所|作成者|发件人|收件人|主题|日期|时间|地点|出席|作者)\W{0,3}[:：]\s*\S"
)
"""A field such as "From:" that says where a text comes from. Two adjacent ones begin a document."""

SPEAKER: Final = expression(r"^\W{0,2}(\p{L}[\p{L}\d_.' -]*?)(?: ?\([^()\n]*\))?[:：]\s+\S|^([QAF])\.\s+\S")

SALUTATION: Final = expression(
    r"(?i)^(?:dear|hi|hello|liebe[rs]?|sehr geehrte\w*|hallo|prezad\w+|car[oaie]|estimad\w+|querid\w+|chère?s?|bonjour"
    r"|gentil\w+|уважаем\w+|尊敬的|拝啓)\b[^.?]*[,，!：:]"
)

SET_LINE: Final = expression(
    r"(?:"
    r"\S(?: {4,}|\t+)\S"  # columns
    r"|^ {3,}[\p{L}][^;{}()=<>]*[.,]?$"  # prose that is set in
    r"|^[^\p{Ll}\n]*\p{Lu}[^\p{Ll}\n]*\p{Lu}{3}[^\p{Ll}\n.!?]*$"  # a title in capitals
    r"|^[=~_*#─━═-]{4,}\s*$"
    rf"|\b{_DATE}\b.*\b{_TIME}\b"
    r"|^#{1,6} \S"
    r"|^\s*(?i:(?:kind|best|warm) regards|regards|sincerely|yours|mit freundlichen|mfg|atenciosamente|atentamente"
    r"|cordialement|cordiali saluti|с уважением|此致|敬具)\b"
    r"|(?i:\bshall (?:not )?\w)"
    r")"
)
"""A line whose form hints at a document. Two of them, or one beside a question, are taken for a document."""

RULE_LINE: Final = expression(r"[-=_*#~─━═—]{3,}")

BULLET: Final = expression(r"^\s*(?:[-*+•‣–]|\d{1,2}[.)]|\[[ xX]\])\s")

QUESTION: Final = expression(r"[?？]|か[。」]?\s*$|(?i:\b(?:any idea|tell me|explain|i wonder)\b)")
ORDER: Final = expression(
    r"(?i)\b(?:can|could|would|will) (?:you|we)\b|\b(?:please|let's|lets|i (?:want|need|would like|'d like)|help me)\b"
    r"|\bk(?:ann|önn)(?:st|t|ten)? (?:du|ihr|sie|wir)\b|\bbitte\b|\b(?:peux|pouvez|pourr\w+)-(?:tu|vous)\b|\bs'il\b"
    r"|\b(?:puedes|podrías|podemos|pode|poderia|puoi|potresti)\b|\bpor favor\b|\bможешь\b|请|ください|주세요"
)
POINTING_WORD: Final = expression(
    r"(?i)\b(?:this|these|dies\w*|ceci|ça|cela|cet(?:te)?|est[aoe]s?|iss[oa]|ist[oa]|quest[oaie]|grammar|spelling|wording|typos?|punctuation|grammatik|rechtschreibung|orthographe|ortografía|ortografia)\b|これ|この|这|這|это|이것|이거"
)
"""Words that refer to a text at hand ("this", "the wording")."""

SENTENCE: Final = expression(r"[^.!?。？！\n]+[.!?。？！]*")
FENCE: Final = expression(r"(?m)^\s*(?:```|~~~)")
POLITE_WORDS: Final = expression(
    r"(?i)^\W*(?:(?:and|also|please|pls|just|can|could|would|will|you|bitte|kannst|könntest|können|du|sie|mir|mal|das|die"
    r"|tu|vous|peux|pouvez|me|juste|puedes|podrías|por|favor|pode|você|puoi|请|帮我|你|能)\b[\s,-]*)*"
)
"""Words of an order before its verb ("can you please")."""

PERSON: Final = expression(
    r"(?i)(?:^|[^\p{L}\p{M}])(?:i|i'm|i’m|i'd|i've|my|me|we|we're|we’re|we've|our|us|you|your|let's|please"
    r"|ich|wir|uns|unser\w*|mein\w*|du|bitte"
    r"|je|j'|j’|nous|notre|nos|mon|ma|mes|vous|tu|yo|nosotros|nuestr[oa]s?|mi|mis|quiero|queremos|por favor"
    r"|eu|nós|nosso|nossa|meu|minha|io|noi|nostr[oa]|mio|per favore|я|мы|мой|наш\w*|нам|вы)(?:$|[^\p{L}\p{M}])"
    r"|我|请|請|你|私|僕|ください|우리|저는|제가|주세요|मैं|हम|मेर"
)
