"""Patterns for tasks that wait for somebody's answer, and for sentences that pass such an answer on.

Patterns are RE2, matched at the start, case ignored.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.text.similar import split_words

WHO: Final = (
    r"(?:(?-i:\p{Lu}[\pL'-]+)(?: (?-i:\p{Lu}[\pL'-]+)){0,2}"
    r"|(?:the|our|my|der|die|das|unser\pL*|mein\pL*|la|le|notre|mon|ma|el|nuestr[oa]|mi|il|lo|o|a|nosso|nossa)"
    r" [\pL'-]+(?: (?:office|team|department|manager|owner))?)"
)
"""The person who is asked: a capitalised name, or a role such as "the landlord"."""

REPORTS_ANSWER: Final = (
    rf"(?P<who>{WHO}),? (?:(?:has|have|just|finally|now|also|hat|ha|a) )*(?:says?|said|confirms?|confirmed|answers?"
    r"|answered|replies|replied|wrote(?: back)?|writes|tells (?:me|us)|told (?:me|us)|got back(?: to (?:me|us))?"
    r"|agrees?"
    r"|agreed|approves?|approved|sagt|sagte|meint|schreibt|antwortet|bestätigt|geantwortet|gesagt|geschrieben|dit"
    r"|répond|répondu|confirme|confirmé|écrit|dice|dijo|contestó|respondió|confirma|confirmó|detto|risposto|conferma"
    r"|confermato|disse|respondeu|confirmou|говорит|сказал[аи]?|ответил[аи]?|подтвердил[аи]?)(?P<what>(?:[ ,:].*)?)$"
)
"""A sentence that passes on somebody's answer: "Ines says the hall is free in May". The group ``who`` contains the
person, the group ``what`` the words after the verb ("" for none)."""

YES_AND_NO: Final = split_words("yes no ok okay fine agreed so ja nein oui non sí si não sim да нет")
"""Words that an answer which only says yes or no consists of."""

ASKS_SOMEBODY: Final = (
    r"(?:.*\b)?(?:ask|asked|call|email|e-mail|mail|phone|text|message|ring|check with|checking with|confirm with"
    r"|clarify"
    r" with|find out from|get .{2,40} from|wait(?:ing)? (?:for|on)|hear (?:back )?from|talk to|frage?n?|nachfragen"
    r"|klären|abklären|warten? auf|demander?|attendre|preguntar?|pregúntale|esperar|chiedere|chiedi|aspettare"
    r"|perguntar?|esperar)\b.*|(?:.*[^\pL])?(?:спросить|узнать|уточнить|ждать|ждём)(?:[^\pL].*)?"
    r"|.*\b(?:has|have|needs?|must) to (?:confirm|decide|check|answer|say|approve|tell)\b.*"
)
"""Labels of tasks that wait for somebody's answer ("ask Ines whether ...")."""

NO_ANSWER: Final = (
    r".*\b(?:(?:doesn't|does not|didn't|don't) (?:know|say|answer|remember)|(?:isn't|is not|not) (?:yet )?sure|no idea"
    r"|(?:will|'ll|has to|have to|needs? to|must|wants? to) (?:look|check|ask|find out|think|get back|see|answer"
    r"|decide|send|call|tell)"
    r"|maybe|perhaps|later|tomorrow|next week|weiß (?:es )?nicht|schaut|später|sait pas|no sabe|non (?:lo )?sa"
    r"|não sabe)\b|.*(?:не знает|позже)"
)
"""Sentences that pass on no answer, such as "Ines doesn't know"."""
