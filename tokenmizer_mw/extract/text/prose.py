"""Find sentences in prose, and strip Markdown. Linear time."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.graph.values import MONTHS_BEHIND_DAYS

Range = tuple[int, int]
"""Start and end (exclusive) of a piece of text, in characters."""

_SHORT: Final = (
    "e.g eg i.e ie vs cf resp incl excl fig figs eq vol pp ca dr mr mrs ms prof st jr sr approx"
    " z.b d.h u.a o.ä bzw ggf inkl evtl vgl nr bspw sog p.ej ej sra núm pág p.ex т.е т.к т.д т.п см напр"
)
_ABBREVIATIONS: Final = frozenset(spelling for word in _SHORT.split() for spelling in (word, word.capitalize()))
_BEFORE_LOWER_CASE: Final = frozenset(("etc", "usw", "u.s", "a.m", "p.m", "al"))
"""Abbreviations that can also end a sentence; a lower-case word after them shows that they do not."""

_ORDINAL_MAX: Final = 2
"""Most digits of an ordinal number, which some languages write with a dot: "am 27. Februar", "am 1. jedes Monats"."""

_BEFORE_ORDINALS: Final = frozenset(
    ("ab", "am", "bis", "das", "dem", "den", "der", "des", "die", "ein", "einem", "einen", "im", "jeden", "vom", "zum")
)
"""Words before an ordinal number. After other words the dot ends a sentence, as in "bump it to 22. then deploy"."""

_ABBREVIATION_MAX: Final = 12
_STOPS: Final = "!?…。！？।｡؟"
_WIDE_STOPS: Final = frozenset("。！？।｡")
"""Full stops of scripts that write no space after them."""

_SPACE: Final = frozenset(" \t\n\r\x0b\x0c\u00a0\u3000")
_CLOSERS: Final = frozenset("\"'`*_)]}»”’」』）】›")
_ELLIPSIS: Final = frozenset((".", "…"))


def replace_surrogates(text: str) -> str:
    """Return ``text`` with a question mark in place of each lone surrogate, which RE2 cannot read; positions stay the
    same."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, limit: int) -> str:
    """Return ``text`` on one line of at most ``limit`` characters. A longer text ends with "…"; it is cut after a word,
    or within a word that begins in the first half."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    space = head.rfind(" ", limit // 2)
    return (head[:space] if space > 0 else head).rstrip(" ,;:.-") + "…"


def find_sentences(text: str, start: int, end: int) -> list[Range]:
    """Return the spans of the sentences of ``text[start:end]``, in order, without the space between them. Positions are
    those of ``text``; [] if there is only white space.

    A stop ends a sentence only if white space follows, perhaps after closing quotes and brackets, so that file names,
    versions, decimals and addresses stay whole. The dot of an abbreviation ends none. Full stops of Chinese, Japanese
    and Hindi need no space.
    """
    found: list[Range] = []
    if text.isascii() and not _may_stop(text, start, end - 1):
        _append(found, text, start, end, 0)
        return found
    piece = text[start:end]
    marked = _with_one_stop(piece)
    begin = 0
    at = marked.find(".")
    while at >= 0:
        following = marked[at + 1 : at + 2]
        if following == " " and _is_word(marked[marked.rfind(" ", begin, at) + 1 : at]):
            after = at + 1
        elif following.isalnum() and piece[at] == ".":
            at = marked.find(".", at + 1)
            continue
        else:
            stop = _end_of_run(marked, at)
            after = _sentence_end(piece, begin, at, stop)
            at = stop - 1
        if after:
            _append(found, piece, begin, after, start)
            begin = at = after
        at = marked.find(".", max(at, begin) + (not after))
    _append(found, piece, begin, len(piece), start)
    return found


def _may_stop(text: str, start: int, end: int) -> bool:
    return text.find(".", start, end) >= 0 or text.find("?", start, end) >= 0 or text.find("!", start, end) >= 0


def _is_word(word: str) -> bool:
    """Whether a word before a dot is a plain word, so that the dot ends a sentence. False for abbreviations, single
    letters, digits and marks, which need a closer look."""
    return word.isalpha() and len(word) > 1 and word not in _ABBREVIATIONS and word not in _BEFORE_LOWER_CASE


def _end_of_run(marked: str, at: int) -> int:
    while marked.startswith(".", at):
        at += 1
    return at


def _with_one_stop(piece: str) -> str:
    """The text with a dot in place of every kind of stop, so that only dots have to be searched for."""
    if piece.isascii():
        return piece.replace("!", ".").replace("?", ".")
    for stop in _STOPS:
        if stop in piece:
            piece = piece.replace(stop, ".")
    return piece


def _append(found: list[Range], piece: str, begin: int, end: int, offset: int) -> None:
    while begin < end and piece[begin] in _SPACE:
        begin += 1
    while begin < end and piece[end - 1] in _SPACE:
        end -= 1
    if begin < end:
        found.append((begin + offset, end + offset))


def _sentence_end(piece: str, begin: int, at: int, stop: int) -> int:
    """The end of the sentence that began at ``begin``, if the stops at ``[at, stop)`` end it; else 0."""
    after, end = stop, len(piece)
    while after < end and piece[after] in _CLOSERS:
        after += 1
    if after >= end:
        return end
    if piece[stop - 1] in _WIDE_STOPS:
        return after
    if piece[after].isspace():
        return 0 if _is_unfinished(piece, begin, at, stop, after) else after
    return after if piece[stop - 1] in "!?" and _is_cjk(piece[after]) else 0


def _is_unfinished(text: str, begin: int, at: int, stop: int, after: int) -> bool:
    """Whether a dot before white space ends no sentence: after an abbreviation or a list number, in an ellipsis, or as
    a word ("docker build . fails")."""
    if text[at] not in _ELLIPSIS:
        return False
    if stop - at > 1 or text[at] == "…":
        return _is_lower_case_start(text, after)
    if at > begin and text[at - 1].isspace():
        return True
    words = text[max(begin, at - _ABBREVIATION_MAX) : at].split()
    word = words[-1].lstrip("([\"'*_").lower() if words else ""
    if word in _ABBREVIATIONS or (word in _BEFORE_LOWER_CASE and _is_lower_case_start(text, after)):
        return True
    ordinal = word.isdigit() and len(word) <= _ORDINAL_MAX
    counted = ordinal and len(words) > 1 and words[-2].lower() in _BEFORE_ORDINALS
    if ordinal and (_is_month_start(text, after) or (counted and _is_lower_case_start(text, after))):
        return True
    return len(words) <= 1 and (word.isdigit() or len(word) <= 1) and at - begin <= _ABBREVIATION_MAX


def _is_lower_case_start(text: str, at: int) -> bool:
    return text[at : at + 16].lstrip()[:1].islower()


def _is_month_start(text: str, at: int) -> bool:
    words = text[at : at + 2 * _ABBREVIATION_MAX].split(maxsplit=1)
    return bool(words) and words[0].rstrip(".,;:!?)").casefold() in MONTHS_BEHIND_DAYS


def _is_cjk(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" or "\uff00" <= char <= "\uffef"


def strip_markdown(text: str) -> str:
    """Return ``text`` on one line without the marks of emphasis, strikethrough and inline code, and without the targets
    of links. Other marks, such as those of headings and lists, stay."""
    if "](" in text:
        text = _without_targets(text)
    if "*" in text or "_" in text or "`" in text or "~~" in text:
        text = _without_marks(text)
    return " ".join(text.split()) if "\n" in text or "  " in text else text.strip()


def _without_targets(text: str) -> str:
    """``[words](target)`` becomes ``words``; the exclamation mark of an image is removed as well."""
    pieces: list[str] = []
    at, closing = 0, -1
    while (middle := text.find("](", at)) >= 0:
        if closing < middle and (closing := text.find(")", middle)) < 0:
            break
        opening = text.rfind("[", at, middle)
        if opening < 0:
            pieces.append(text[at : middle + 2])
            at = middle + 2
        else:
            pieces += (text[at:opening].removesuffix("!"), text[opening + 1 : middle])
            at = closing + 1
    return "".join((*pieces, text[at:]))


def _without_marks(text: str) -> str:
    backticks = text.count("`")
    if "*" not in text and "_" not in text and "~" not in text and backticks % 2 == 0:
        return text.replace("`", "")
    if backticks == 0 and "_" not in text and "~" not in text and _has_only_bold(text):
        return text.replace("**", "")
    drops = _code_marks(text) if backticks > 1 else []
    code = [(left[1], right[0]) for left, right in zip(drops[::2], drops[1::2], strict=True)]
    for mark in "*_~":
        if mark in text:
            drops += _emphasis(text, mark, code)
    if not drops:
        return text
    drops.sort()
    pieces, at = [], 0
    for start, end in drops:
        pieces.append(text[at:start])
        at = end
    return "".join((*pieces, text[at:]))


def _has_only_bold(text: str) -> bool:
    """Whether all stars of ``text`` are pairs around words, as in most Markdown, and no globs, powers or arguments."""
    pieces = text.split("**")
    return (
        len(pieces) % 2 == 1
        and not any("*" in piece for piece in pieces)
        and all(word and not word[0].isspace() and not word[-1].isspace() for word in pieces[1::2])
        and all(_is_separate(left[-1:], right[:1]) for left, right in zip(pieces[::2], pieces[2::2], strict=False))
    )


def _is_separate(before: str, behind: str) -> bool:
    """Whether a bold word is a word of its own, judged by the characters ``before`` and ``behind`` it."""
    return "/" not in (before, behind) and not _is_in_word(before or " ") and not _is_in_word(behind or " ")


def _runs(text: str, mark: str) -> list[Range]:
    """Start and end of each run of the character ``mark`` in ``text``: "**" is one run."""
    runs: list[Range] = []
    at = text.find(mark)
    while at >= 0:
        end = at + 1
        while text.startswith(mark, end):
            end += 1
        runs.append((at, end))
        at = text.find(mark, end)
    return runs


def _code_marks(text: str) -> list[Range]:
    """The backtick runs that open and close inline code, in pairs."""
    marks: list[Range] = []
    opened: Range | None = None
    for run in _runs(text, "`"):
        if opened is None:
            opened = run
        elif run[1] - run[0] == opened[1] - opened[0]:
            marks += (opened, run)
            opened = None
    return marks


def _emphasis(text: str, mark: str, code: list[Range]) -> list[Range]:
    """The runs of ``mark`` outside inline code that open and close emphasis, in pairs. ``code``: the spans of inline
    code."""
    drops: list[Range] = []
    opened: dict[int, Range] = {}
    index = 0
    for run in _runs(text, mark):
        start, end = run
        while index < len(code) and code[index][1] <= start:
            index += 1
        if index < len(code) and code[index][0] <= start:
            continue
        before, behind = text[start - 1 : start] or " ", text[end : end + 1] or " "
        size = end - start
        if not _may_mark(mark, size, before, behind):
            continue
        if size in opened and not before.isspace() and not _is_in_word(behind):
            drops += (opened.pop(size), run)
        elif not behind.isspace() and not _is_in_word(before):
            opened[size] = run
    return drops


def _may_mark(mark: str, size: int, before: str, behind: str) -> bool:
    """Whether a run of ``size`` marks may be emphasis. The stars of globs, the underscores of "__init__" and the tilde
    of a home directory are not."""
    if mark == "*":
        return size <= 3 and "/" not in (before, behind)
    return size == 1 if mark == "_" else size == 2


def _is_in_word(char: str) -> bool:
    return char.isalnum() and not _is_cjk(char)
