"""How assistants tell in other languages than English what they altered of their earlier work: one thing for another,
or something taken away."""

from __future__ import annotations

from typing import Final

from .rule import Act, Rule, Speaker


def _row(name: str, pattern: str, example: str, counter: str, *, unless: str = "") -> Rule:
    return Rule(name, Speaker.ASSISTANT, Act.REWORK, pattern, 0.7, example, counter, unless, whole=True, explicit=True)


REWORKED: Final[dict[str, tuple[Rule, ...]]] = {
    "zh": (
        _row(
            "zh.reworked_to",
            r"(?:我们?|现在|已经?)*(?:将|把)(?P<target>[^，,。；;]{2,40}?)(?:改为了?|改成了?|替换为|替换成|换成了?|调整为"
            r"|减小到|增加到|拆分成了?)(?P<label>[^。；;]{2,60})",
            "将按钮的宽度从 80 改为 60",
            "把门关上",
            unless=r".*(?:吗|如果|建议|可以|需要|应该|[为成]了?更)",
        ),
        _row(
            "zh.reworked_so",
            r"(?:我们?|已经?)*(?:更新|修改|调整)了(?P<target>[^，,。；;]{2,40}?)[，,](?:使其|使得|让|改为|改成)(?P<label>.{3,60})",
            "更新了价格表，使其按日期排序",
            "更新了价格表，使其更清晰",
            unless=r".*[，,](?:使其|使得|让)(?:其|它)?(?:们)?(?:更|正确|正常|能够?|可以|不会|自然)",
        ),
        _row(
            "zh.rework_removed",
            r"(?:我们?|已经?)*(?:移除|删除|去掉|删掉|取消)了(?P<target>[^，,。；;]{2,40}).*",
            "移除了顶部的广告栏",
            "移除了吗",
            unless=r".*吗",
        ),
    ),
    "ja": (
        _row(
            "ja.reworked_to",
            r"(?P<target>[^、。]{2,40}?)(?:を|から)(?P<label>[^、。]{1,40}?)(?:に|へ)(?:変更|置き換え|移動|切り替え|修正)(?:し(?:た|ました|ています)"
            r"|ました|ておきました).*",
            "見出しの色を青に変更しました",
            "見出しの色を青に変更しますか",
        ),
        _row(
            "ja.rework_removed",
            r"(?P<target>[^、。]{2,40}?)(?:を|は)(?:削除|除去|廃止|撤去)(?:しました|した)",
            "広告の欄を削除しました",
            "広告の欄を削除しますか",
        ),
    ),
    "ko": (
        _row(
            "ko.reworked_to",
            r"(?P<target>[^,.]{2,40}?)(?:을|를|에서) (?P<label>[^,.]{2,40}?)(?:으로|로) (?:변경|교체|수정|이동|전환)"
            r"(?:했|하였|됐).*",
            "제목 색을 파란색으로 변경했습니다",
            "제목 색을 파란색으로 변경할까요",
        ),
        _row(
            "ko.rework_removed",
            r"(?P<target>[^,.]{2,40}?)(?:을|를) (?:제거|삭제)(?:했|하였).*",
            "광고 칸을 삭제했습니다",
            "광고 칸을 삭제할까요",
        ),
    ),
    "ru": (
        _row(
            "ru.reworked_to",
            r"(?:я |теперь |также )*(?:заменил|изменил|поменял|перен[её]с|перев[её]л"
            r"|переименовал)а? (?P<target>[^,.;]{2,60}?)"
            r" (?:на|в) (?P<label>[^,;]{2,60}).*",
            "Заменил старую иконку на новую",
            "Заменить старую иконку на новую?",
        ),
        _row(
            "ru.rework_removed",
            r"(?:я |теперь |также )*(?:удалил|убрал)а? (?P<target>[^,.;]{3,60}).*",
            "Убрал рекламный блок",
            "Убрать рекламный блок?",
        ),
    ),
    "es": (
        _row(
            "es.reworked_to",
            r"(?:he |hemos |ya |también )*(?:cambi[ée]|cambiado|reemplac[ée]|reemplazado|sustituí|sustituido"
            r"|renombr[ée]"
            r"|renombrado|moví|movido) (?P<target>[^,.;]{2,60}?) (?:por|a|al|en) (?P<label>[^,;]{2,60}).*",
            "He cambiado el color del título por azul",
            "Cambia el color del título por azul",
        ),
        _row(
            "es.rework_removed",
            r"(?:he |hemos |ya |también )*(?:elimin[ée]|eliminado|quit[ée]|quitado|borr[ée]"
            r"|borrado) (?P<target>[^,.;]{3,60}).*",
            "He quitado la columna de descuentos",
            "Quita la columna de descuentos",
        ),
    ),
    "pt": (
        _row(
            "pt.reworked_to",
            r"(?:já |também |eu )*(?:mudei|alterei|troquei|substituí|renomeei|movi|passei) (?P<target>[^,.;]{2,60}?)"
            r" (?:por|para|pelo|pela) (?P<label>[^,;]{2,60}).*",
            "Troquei a cor do título por azul",
            "Troque a cor do título por azul",
        ),
        _row(
            "pt.rework_removed",
            r"(?:já |também |eu )*(?:removi|retirei|apaguei|excluí|tirei) (?P<target>[^,.;]{3,60}).*",
            "Retirei a coluna de descontos",
            "Retire a coluna de descontos",
        ),
    ),
    "fr": (
        _row(
            "fr.reworked_to",
            r"(?:j'ai |on a |nous avons )?(?:aussi )?(?:changé|remplacé|déplacé|renommé|converti"
            r"|passé) (?P<target>[^,.;]{2,60}?)"
            r" (?:par|en|vers|dans) (?P<label>[^,;]{2,60}).*",
            "J'ai remplacé le titre par une image",
            "Remplacez le titre par une image",
        ),
        _row(
            "fr.rework_removed",
            r"(?:j'ai |on a |nous avons )(?:aussi )?(?:supprimé|retiré|enlevé) (?P<target>[^,.;]{3,60}).*",
            "J'ai retiré la colonne des remises",
            "Retirez la colonne des remises",
        ),
    ),
    "de": (
        _row(
            "de.reworked_to",
            r"(?:ich habe |habe |wir haben )?(?:jetzt |auch |nun )*(?P<target>[^,.;:]{2,60}?) (?:auf|durch|in|nach|zu)"
            r" (?P<label>[^,.;:]{2,60}?) (?:geändert|umgestellt|ersetzt|umbenannt|verschoben|umgebaut"
            r"|getauscht)(?:,.*)?",
            "Ich habe die Überschrift durch ein Bild ersetzt",
            "Soll ich die Überschrift durch ein Bild ersetzen?",
            unless=r".*\b(?:wird|werden|wurde|würde|soll|sollte|kann|könnte|wenn|falls)\b",
        ),
        _row(
            "de.rework_removed",
            r"(?:ich habe |habe |wir haben )(?:jetzt |auch |nun )*(?P<target>[^,.;:]{3,60}?) (?:entfernt|gelöscht"
            r"|gestrichen"
            r"|herausgenommen|rausgenommen)(?:,.*)?",
            "Ich habe die Spalte mit den Rabatten entfernt",
            "Die Spalte mit den Rabatten wird entfernt",
        ),
    ),
    "it": (
        _row(
            "it.reworked_to",
            r"(?:ho |abbiamo )(?:anche |ora )*(?:cambiato|sostituito|spostato|rinominato"
            r"|convertito) (?P<target>[^,.;]{2,60}?)"
            r" (?:con|in|a|nel|nella) (?P<label>[^,;]{2,60}).*",
            "Ho sostituito il titolo con un'immagine",
            "Sostituisci il titolo con un'immagine",
        ),
        _row(
            "it.rework_removed",
            r"(?:ho |abbiamo )(?:anche |ora )*(?:rimosso|tolto|eliminato|cancellato) (?P<target>[^,.;]{3,60}).*",
            "Ho tolto la colonna degli sconti",
            "Togli la colonna degli sconti",
        ),
    ),
}
"""Rows by the code of their language."""
