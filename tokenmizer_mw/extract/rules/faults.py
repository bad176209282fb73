"""What people say of things that go wrong, in other languages than English, by the word that tells the fault."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker

_BEHIND: Final = r"(?:$|[ ,.;:!)»\"].*)"


def _spaced(code: str, faults: str, example: str, counter: str, unless: str) -> tuple[Rule, ...]:
    pattern = rf"(?P<label>(?:[^;?]{{0,90}}?[ ,(\"«'])?(?:{faults}){_BEHIND})"
    return (_rule(code, pattern, example, counter, unless),)


def _run_on(code: str, faults: str, example: str, counter: str, unless: str) -> tuple[Rule, ...]:
    return (_rule(code, rf"(?P<label>[^；;？?]{{0,70}}?(?:{faults}).*)", example, counter, unless),)


def _rule(code: str, pattern: str, example: str, counter: str, unless: str) -> Rule:
    return Rule(f"{code}.fault", Speaker.USER, Act.COMPLAINT, pattern, 0.74, example, counter, unless)


FAULTS: Final[dict[str, tuple[Rule, ...]]] = {
    "es": _spaced(
        "es",
        r"pesan? 0 bytes|(?:salió|salen?|salieron|quedó|quedan?|llegó|llegan?|aparecen?"
        r"|se ven?) (?:\S+ ){0,2}?(?:mal"
        r"|vací[oa]s?|en blanco|duplicad[oa]s?|cortad[oa]s?|dos veces|desordenad[oa]s?)|no (?:coinciden?"
        r"|cuadran?|salen?"
        r"|llegan?|cargan?|se ven?|se guardan?|se actualizan?|se envían?)|se (?:duplican?|repiten?|pierden?|pisan"
        r"|mezclan|cortan?|desconectan?|reinician?|cuelgan?|caen?)|est(?:á|án|aba|aban) (?:\S+ )?(?:mal|rot[oa]s?"
        r"|duplicad[oa]s?|vací[oa]s?|caíd[oa]s?|equivocad[oa]s?|lent[oa]s?)|fallan?|falló|fallaron|petó"
        r"|peta|revienta"
        r"|(?:ha dejado|dejó|dejaron) de \S+|rechaz(?:ó|aron|ado|ada)|devuelven? (?:un |una )?(?:error"
        r"|vacío|[45]\d\d)"
        r"|tardan? (?:\S+ ){0,2}\d+ (?:segundos|minutos|horas)",
        "las horas de mayo no cuadran",
        "si los recibos fallan te aviso",
        r"(?:si|cuando|para que|que) |.*(?: sin error| ya no |no fall|por si )",
    ),
    "pt": _spaced(
        "pt",
        r"(?:sai|saem|saiu|saíram|fica|ficam|ficou|vem|vêm|chegam?|aparecem?) (?:\S+ ){0,3}?(?:mal"
        r"|vazi[oa]s?|em branco"
        r"|duplicad[oa]s?|cortad[oa]s?|duas vezes|desalinhad[oa]s?|errad[oa]s?|antes|atrasad[oa]s?)|não (?:batem?"
        r"|coincidem?|chegam?|aparecem?|carregam?|salvam?|guardam?|atualizam?|funcionam?|passam?)|se (?:repetem?"
        r"|duplicam?|perdem?|misturam?)|caem|caiu|somem|sumiram|quebrou|quebram|falham?|falharam|falhou|rejeitou"
        r"|recusou|(?:está|estão|tá|tão|estava|estavam) (?:\S+ )?(?:errad[oa]s?|mal|vazi[oa]s?|duplicad[oa]s?"
        r"|misturad[oa]s?|quebrad[oa]s?|trocad[oa]s?|lent[oa]s?)|(?:parou|pararam) de \S+|devolvem? (?:erro"
        r"|[45]\d\d)"
        r"|demoram? (?:\S+ ){0,2}\d+ (?:segundos|minutos|horas)",
        "os horários aparecem uma hora antes",
        "se o envio falhar, tenta de novo",
        r"(?:se|quando|para que|caso) |.*(?: sem erro| já não |não falh)",
    ),
    "it": _spaced(
        "it",
        r"(?:esc(?:e|ono)|è uscit[oa]|arrivano?|appare|appaiono|si vedono|viene"
        r"|vengono) (?:\S+ ){0,2}?(?:male|vuot[oaie]"
        r"|bianc[oahie]+|doppi[oae]?|tagliat[oaie]|due volte|sbagliat[oaie])|non (?:coincid(?:e|ono)|torna|tornano"
        r"|arrivano|si vedono|si salva|si aggiorna|passano?|quadrano?)|si (?:bloccano?|rompono|perdono"
        r"|perde|duplicano?"
        r"|ripetono|sovrappongono|mescolano|impalla)|fallisc(?:e|ono)|prenotazioni (?:doppie|sbagliate)|(?:è|sono)"
        r" (?:\S+ )?(?:doppi[oae]?|in errore|lent[oaie]|sbagliat[oaie])|ha smesso di \S+|problema:? .{3,}"
        r"|rifiutat[oaie]"
        r"|ci mette (?:\S+ ){0,2}\d+ (?:secondi|minuti|ore)|è (?:ancora )?quell[oa] vecchi[oa]",
        "le fatture di marzo arrivano due volte",
        "se fallisce riprova dopo un minuto",
        r"(?:se|quando|perché|senza) |.*(?:nessun problema|non è un problema|senza error| non fallisce)",
    ),
    "fr": _spaced(
        "fr",
        r"(?:sort|sortent|arrivent?|apparaît|apparaissent|s'affichent?|restent?|est"
        r"|sont) (?:\S+ ){0,2}?(?:vides?|en double"
        r"|deux fois|coupée?s?|fausse?s?|faux|cassée?s?|décalée?s?|refusée?s?)|ne (?:\S+ )?(?:marchent?"
        r"|fonctionnent?"
        r"|passent?|collent?|chargent?|correspond\S*|tombent?) (?:pas|plus)(?: juste)?|(?:marche|fonctionne"
        r"|passe|colle"
        r"|charge|répond|démarre|s'affiche) (?:pas|plus)|c'est faux|plantent?|a planté|refusé(?:e|s|es)?"
        r"|rejeté(?:e|s|es)?|se (?:perdent?|dupliquent?|répètent?|mélangent)|ça rame"
        r"|met (?:\S+ ){0,2}\d+ (?:secondes"
        r"|minutes|heures)|disparaît|disparu(?:e|es|s)?|échou(?:e|ent|é)",
        "les factures arrivent deux fois",
        "si le paiement échoue on réessaie",
        r"(?:si|quand|lorsque|pour que) |.*(?:sans erreur|ce n'est pas faux|n'échoue pas)",
    ),
    "de": _spaced(
        "de",
        r"(?:kommt|kommen|erscheint|erscheinen|steht|stehen) (?:\S+ ){0,3}?(?:doppelt|falsch|leer|zu spät|zweimal"
        r"|abgeschnitten)|(?:wird|werden) (?:\S+ ){0,6}?(?:nicht|nie|trotzdem|doppelt|zweimal) (?:\S+ ){0,2}?"
        r"[\pL]{2,}(?:t|en)|gibt nur \S+|bricht (?:\S+ ){0,6}?ab|(?:ist|sind|war|waren) (?:\S+ ){0,6}?(?:wacklig"
        r"|instabil|falsch|doppelt|kaputt|down|abgestürzt)|schlägt (?:\S+ ){0,3}?fehl|fehlgeschlagen"
        r"|stimm(?:t|en) nicht"
        r"|stürzt|knallt|spinnt|zickt|verschwinde(?:t|n)|verschwunden",
        "die Bestellung wird beim Abbruch trotzdem gespeichert",
        "die Preise werden nicht mehr gebraucht",
        r"(?:wenn|falls|sobald|ob|damit) |.*(?:soll|muss|müssen|darf|dürfen|damit|könnte|nicht mehr"
        r"|noch nicht |nicht nur)",
    ),
    "ru": _spaced(
        "ru",
        r"не (?:работа\S+|груз\S+|открыва\S+|запуска\S+|собира\S+|проход\S+|отвеча\S+|приход\S+|сохраня\S+"
        r"|показыва\S+"
        r"|совпада\S+|сход\S+|обновля\S+)|упал\S*|пада(?:ет|ют)|легл[аио]|крашится|вылета\S+|завис\S*"
        r"|виснет|тормозит"
        r"|сломал\S*|слетел\S*|пропал\S*|пропада\S+|дублиру\S+|задваива\S+|отвалил\S*|отвалива\S+"
        r"|(?:съеда\S+|жр[её]т)"
        r" (?:\S+ )?памят\S+|глючит|(?:выда[её]т|получаю|вылезает|сыпл\S+) (?:\S+ ){0,3}?(?:ошибк\S+"
        r"|[45]\d\d|exception"
        r"|error|timeout)|ошибка (?:в|при|на) .+|(?:считается|грузится|собирается"
        r"|выполняется) (?:\S+ ){0,2}?\d+ (?:минут"
        r"|секунд|час)\S*|(?:дважды|два раза) (?:приход|отправл|списыва)\S+|(?:приход|отправля"
        r"|списыва)\S+ (?:дважды|два раза)|(?:показ|счита|отобража)\S+ неправильно",
        "отчёт за март считается 40 минут",
        "если упадёт, перезапусти",
        r"(?:если|когда|чтобы|пока) |.*(?:чтобы не|больше не |не упал|проверь|почему)",
    ),
    "zh": _run_on(
        "zh",
        r"报错|没过|挂了|崩(?:溃|了)|超卖|重复(?:扣|下单|提交|发|约)|失败|显示不(?:出来|全|正常|对)"
        r"|显示(?:就|有些|得|有点)*(?:很乱"
        r"|不太正常|不正常|错)|没(?:有)?(?:反应|生效|变化|效果|更新|间距|间隔)|不(?:生效|正常|显示)|打不开"
        r"|出不来|进不去|卡(?:住|死)"
        r"|白屏|乱码|都是 ?404|丢(?:了|失)|溢出|重叠|超时|扣了两|多扣|约了两",
        "左右两边的卡片重叠",
        "怎么避免重复下单",
        r".*(?:如果|怎么(?:处理|避免|办)|避免|防止|不会|不再|没(?:有)?(?:再)?(?:报错|出现|超|重复)|处理"
        r"|提示|解决|修|改成|帮我|的时候要|吗)",
    ),
    "ja": _run_on(
        "ja",
        r"になって(?:い)?(?:ました|ます|る|た)|間違って|間違いが|誤字|入りきらな|入りません|収まりません"
        r"|はみ出|合いません|出ません"
        r"|出てこな|見えません|真っ白|二回|2回|硬いと",
        "二ページ目の題名が別の本になってました",
        "表が大きくなっても大丈夫です",
        r".*(?:ですか|でしょうか|ますか|ませんか|ください|たい(?:です)?|場合|たら|ように|なくなりました"
        r"|ないように|しましょう)",
    ),
    "ko": _run_on(
        "ko",
        r"(?:두|2) ?번(?:씩)? (?:가|간|와|오|나|발송|찍|들어|보내)|잘못(?:된|되|나와|보여|표시|계산)"
        r"|포함되지 않|안 (?:가요|와요|맞아|맞는"
        r"|보임|나옴|올라|눌)|맞지 않|어긋나|겹쳐|겹치|깜빡|틀려|틀렸|밀려|잘려|잘린",
        "결제 알림이 두 번씩 가요",
        "두 번 가지 않게 해주세요",
        r".*(?:나요|까요|면 |고쳐|수정해|해결해|해 ?주세요|해줘|도록|경우|때는|않게|않아요$)",
    ),
    "hi": _run_on(
        "hi",
        r"दो बार|गलत (?:आ|दिख|हो|है|निकल)|दिख(?:ता|ती|ते)? नहीं|डिब्बे दिख|खाली (?:आ|दिख)|कट (?:जा|गया|रहा)"
        r"|मेल नहीं|समस्या: |दिक्कत(?: है|:)"
        r"|क्रैश|हैंग|(?:खुल|चल|आ|हो|दिख) (?:ही )?नहीं (?:रहा|रही|रहे)|शिकायतें? आ|कम (?:मिला|मिल रहा)",
        "रसीद दो बार छप रही है",
        "दो बार मत पूछो",
        r"(?:अगर|यदि|जब) .*|.*(?:मत |ताकि|चाहिए)",
    ),
    "hinglish": _spaced(
        "hinglish",
        r"(?:khul|chal|aa|ho|dikh|bhej|ban|load ho|save ho) (?:hi )?(?:nahi|nhi|nahin)(?: rah[aie])?"
        r"|blank (?:ho|aa|dikh)"
        r"|(?:screen|page) blank|crash(?: ho)?|hang ho|galat (?:aa|dikh|ho)|do baar|(?:failed|error|fail"
        r"|timeout|[45]\d\d)\"?"
        r"(?: \S+){0,2}? (?:dikha|aa|de|ho)(?: \S+)?|nahi (?:chala|chali|aaya|aayi|khula|hua)|latka hua"
        r"|slow (?:hai|ho)",
        "order list khul nahi raha kal se",
        "agar crash ho to bata dena",
        r"(?:agar|jab) .*|.*(?:chahiye|ab nahi|mat |nahi hoga|taaki)",
    ),
}
"""By the code of the language."""
