"""Whole chats in other languages as people type them: what was decided, what took its place, what is done, open and
wrong."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tokenmizer_mw.model.node import NodeType, Status

from .talks import changes, labels, talk


@dataclass(frozen=True)
class Chat:
    """A chat, and a piece of each label that has to come out of it."""

    decided: str
    replaced: tuple[str, str]
    done: str
    pending: str
    wrong: str
    lines: tuple[str, ...]


CHATS = {
    "es": Chat(
        "smtp del hosting",
        ("mailgun", "smtp"),
        "registro manual",
        "texto legal",
        "lista de socios",
        (
            "u: oye el formulario de inscripción del club manda dos correos por alta. laravel 10. hay que "
            "arreglarlo antes del viernes",
            "a: Puede ser el listener registrado dos veces. Dos opciones: quitar el registro manual, o "
            "desactivar el descubrimiento automático.",
            "u: quita el manual mejor",
            "a: Quitado el registro manual de `EventServiceProvider.php`. Ahora debería salir un solo correo.",
            "u: probado, llega uno solo. ah y los correos que salgan con mailgun",
            "a: Configurado Mailgun como transporte en `config/mail.php`.",
            "u: mailgun no, que nos cobra. mejor con el smtp del hosting",
            "a: Cambiado a SMTP del hosting.",
            "u: ahora la lista de socios sale en blanco en el móvil. y el texto legal lo reviso yo el lunes "
            "con la abogada",
        ),
    ),
    "pt": Chat(
        "fuse",
        ("algolia", "Fuse"),
        "Algolia por Fuse",
        "fotos novas",
        "botão de pedido",
        (
            "u: o site da padaria demora 9 segundos pra abrir o cardápio. next 14. preciso que fique rápido até sábado",
            "a: As imagens têm 4 MB cada. Duas formas: converter tudo pra webp no build, ou usar um CDN de imagens.",
            "u: webp no build",
            "a: Converti as 32 imagens para webp no script `scripts/images.ts`.",
            "u: abriu em 2 segundos, show. pra busca vamos de algolia",
            "a: Integrei a busca com Algolia.",
            "u: esquece algolia, é caro. usa o fuse.js mesmo",
            "a: Troquei Algolia por Fuse.js na busca.",
            "u: o botão de pedido não funciona no iphone. as fotos novas eu mando na terça",
        ),
    ),
    "it": Chat(
        "satispay",
        ("stripe", "satispay"),
        "riduzione in tessere.py",
        "regolamento",
        "ricevuta esce vuota",
        (
            "u: il gestionale della palestra si blocca quando stampo le tessere. python 3.11, reportlab. va "
            "sistemato entro lunedì",
            "a: Le immagini non vengono ridotte. Due strade: ridurle prima della stampa, oppure salvarle già piccole.",
            "u: ridurle prima della stampa",
            "a: Ho aggiunto la riduzione in `tessere.py`.",
            "u: provato, stampa in 3 secondi. per i pagamenti mettiamo stripe",
            "a: Ho collegato Stripe ai rinnovi.",
            "u: stripe no, meglio satispay, lo usano tutti qui",
            "a: Ho sostituito Stripe con Satispay.",
            "u: adesso la ricevuta esce vuota. il regolamento lo porto io dal notaio giovedì",
        ),
    ),
    "fr": Chat(
        "tout stocker en UTC",
        ("google maps", "openstreetmap"),
        "dates en UTC",
        "traduction anglaise",
        "bouton annuler",
        (
            "u: notre appli de covoiturage plante quand on change de fuseau horaire. django 5. il faut que "
            "ça marche pour la rentrée",
            "a: Les dates sont naïves. Deux solutions : tout stocker en UTC, ou garder le fuseau avec chaque date.",
            "u: tout en UTC",
            "a: J'ai migré les dates en UTC dans `trips/models.py`.",
            "u: testé, ça marche. pour les cartes on part sur google maps",
            "a: J'ai intégré Google Maps.",
            "u: finalement pas google maps, trop cher. on prend openstreetmap",
            "a: J'ai remplacé Google Maps par OpenStreetMap.",
            "u: le bouton annuler ne répond plus. la traduction anglaise, je m'en occupe vendredi",
        ),
    ),
    "de": Chat(
        "keycloak",
        ("firebase", "keycloak"),
        "Verkleinerung",
        "impressum",
        "terminliste",
        (
            "u: unsere vereinsapp stürzt beim hochladen von fotos ab. flutter 3.24. muss bis zum sommerfest laufen",
            "a: Die Bilder werden unkomprimiert geladen. Zwei Wege: vor dem Hochladen verkleinern, oder auf "
            "dem Server verkleinern.",
            "u: vor dem hochladen",
            "a: Ich habe die Verkleinerung in `upload.dart` eingebaut.",
            "u: getestet, läuft auf beiden handys. für die anmeldung nehmen wir firebase",
            "a: Firebase Auth ist eingebaut.",
            "u: doch kein firebase, datenschutz. lieber keycloak auf unserem server",
            "a: Auf Keycloak umgestellt.",
            "u: die terminliste ist jetzt leer. das impressum schreib ich am wochenende selbst. und bitte "
            "keine neuen abhängigkeiten",
        ),
    ),
    "ru": Chat(
        "apscheduler",
        ("celery", "apscheduler"),
        "пул соединений",
        "тексты сообщений",
        "напоминания приходят",
        (
            "u: бот для записи в парикмахерскую падает по ночам. python 3.12, aiogram. надо починить до пятницы",
            "a: Соединение с базой рвётся. Два варианта: переподключаться при ошибке, или держать пул соединений.",
            "u: пул соединений",
            "a: Добавил пул соединений в `db.py`.",
            "u: задеплоил, ночь простоял. для напоминаний берём celery",
            "a: Подключил Celery.",
            "u: celery слишком тяжёлый, давай вместо него apscheduler",
            "a: Заменил Celery на APScheduler.",
            "u: теперь напоминания приходят два раза. тексты сообщений перепишу сам в выходные",
        ),
    ),
    "zh": Chat(
        "meilisearch",
        ("es", "meilisearch"),
        "图片压缩",
        "运费规则",
        "购物车",
        (
            "u: 我们书店的小程序首页加载要八秒，uniapp，帮忙优化一下，月底前搞定",
            "a: 图片太大了。两种办法：构建时压缩，还是用 CDN 裁剪？",
            "u: 构建时压缩吧",
            "a: 已经在 `vite.config.ts` 里加了图片压缩。",
            "u: 试了，两秒就开了。搜索用 elasticsearch",
            "a: 已接入 Elasticsearch。",
            "u: es 太重了，换成 meilisearch",
            "a: 已经换成 Meilisearch。",
            "u: 现在购物车点了没反应。运费规则我明天跟老板确认",
        ),
    ),
    "ja": Chat(
        "日付だけで保存",
        ("Slack", "メール"),
        "loan.rb",
        "利用規約",
        "検索画面",
        (
            "u: 図書室の貸出アプリで返却日が一日ずれます。Rails 7です。来週までに直したいです",
            "a: タイムゾーンの扱いが原因です。二つの案があります。\n\n1. すべてUTCで保存する\n2. 日付だけで保存する",
            "u: 2でお願いします",
            "a: `app/models/loan.rb` を日付だけで保存するように変更しました。",
            "u: 確認しました、直りました。通知はSlackにします",
            "a: Slackへの通知を追加しました。",
            "u: やっぱりSlackではなくメールにしてください",
            "a: メールに変更しました。",
            "u: 検索画面が真っ白です。利用規約は私が来週校長に確認します",
        ),
    ),
    "ko": Chat(
        "네이버",
        ("카카오", "네이버"),
        "Fee.java",
        "약관",
        "명단 화면",
        (
            "u: 동아리 회비 앱에서 합계가 틀려요. 스프링 부트 3이고 이번 주까지 고쳐야 해요",
            "a: 부동소수점 때문입니다. 방법은 두 가지입니다.\n\n1. BigDecimal 사용\n2. 원 단위 정수로 저장",
            "u: 2번으로 해주세요",
            "a: `Fee.java`를 원 단위 정수로 저장하도록 바꿨습니다.",
            "u: 확인했어요 이제 맞네요. 로그인은 카카오로 할게요",
            "a: 카카오 로그인을 추가했습니다.",
            "u: 카카오 말고 네이버로 바꿔주세요",
            "a: 네이버 로그인으로 변경했습니다.",
            "u: 근데 명단 화면이 안 떠요. 약관은 제가 내일 총무님한테 물어볼게요. 라이브러리는 추가하지 마세요",
        ),
    ),
    "hi": Chat(
        "WhatsApp",
        ("SMS", "WhatsApp"),
        "यूनिक इंडेक्स",
        "फ़ोटो",
        "रिपोर्ट",
        (
            "u: स्कूल की उपस्थिति वाली ऐप में नाम दो बार दिख रहे हैं। अगले हफ्ते तक ठीक करना है",
            "a: दो रास्ते हैं:\n\n1. सूची में दोहराव हटाना\n2. डेटाबेस में यूनिक इंडेक्स",
            "u: दूसरा वाला",
            "a: मैंने यूनिक इंडेक्स जोड़ दिया है।",
            "u: जाँच लिया, अब ठीक है। संदेश SMS से भेजेंगे",
            "a: SMS जोड़ दिया है।",
            "u: SMS की जगह WhatsApp रखो, सस्ता है",
            "a: WhatsApp कर दिया।",
            "u: अब रिपोर्ट नहीं खुल रही। फ़ोटो मैं कल भेजूँगा",
        ),
    ),
    "hinglish": Chat(
        "msg91",
        ("twilio", "msg91"),
        "idempotency key",
        "logo",
        "login screen",
        (
            "u: gym wali app me payment do baar cut ho raha hai. node 20. kal tak fix karna hai",
            "a: Retry ki wajah se hai. Do raaste: idempotency key lagao, ya retry band karo.",
            "u: idempotency key lagao",
            "a: `payments.js` me idempotency key add kar diya hai.",
            "u: test kar liya, ab ek hi baar cut raha hai. otp ke liye twilio use karte hain",
            "a: Twilio laga diya.",
            "u: twilio mehnga hai, msg91 use karo uski jagah",
            "a: Twilio hata ke MSG91 laga diya.",
            "u: ab login screen blank aa rahi hai. logo main kal bhej dunga",
        ),
    ),
}


@pytest.mark.parametrize("code", CHATS)
def test_a_chat_comes_out_in_words_that_can_be_understood(code: str) -> None:
    chat = CHATS[code]
    graph = talk(*chat.lines)
    assert _says(labels(graph, NodeType.DECISION, Status.ACTIVE), chat.decided)
    old, new = chat.replaced
    assert any(_says([before], old) and _says([after], new) for before, after in changes(graph)), changes(graph)
    assert _says(labels(graph, NodeType.TASK, Status.COMPLETED), chat.done)
    assert _says(labels(graph, NodeType.TASK, Status.PENDING), chat.pending)
    assert _says(labels(graph, NodeType.ERROR, Status.ACTIVE), chat.wrong)


def _says(told: list[str], piece: str) -> bool:
    return any(piece.casefold() in label.casefold() for label in told)


def test_a_refusal_and_a_choice_of_other_things_are_no_replacement() -> None:
    graph = talk(
        "u: Use Postgres for the orders",
        "a: Done.",
        "u: No dark mode. Use Vitest for the tests",
    )
    assert changes(graph) == []


def test_a_bare_name_is_told_with_what_it_is_for_or_stands_for() -> None:
    graph = talk("u: Use Mailgun for the receipts", "a: Done.", "u: use Postmark instead of Mailgun")
    (label,) = labels(graph, NodeType.DECISION, Status.ACTIVE)
    assert label in ("Postmark for the receipts", "Postmark instead of Mailgun")


def test_a_piece_of_a_longer_name_is_no_name() -> None:
    graph = talk("u: Use mail-core for the receipts", "a: Done.", "u: use Postmark instead of mail")
    assert not [label for label in labels(graph, NodeType.DECISION) if "Postmark-core" in label]
