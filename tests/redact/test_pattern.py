"""Patterns answer as RE2's own Python face does, whether they ask through it or past it."""

import re2
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.runtime.lazy import _spans, asks_of
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.judge import _is_random, is_placeholder
from tokenmizer_mw.safety.redact.pattern import BytePattern, compile_pattern
from tokenmizer_mw.safety.redact.shape import draw_characters

PATTERNS = ("a*", "(a)|b(c?)", "^a|b$", "[^\\x00-\\x7f]+", "(?i)key[ ]?=[ ]?(\\w{2,})")
TEXTS = st.text(alphabet="abcKEY= é", max_size=30).map(str.encode)


def of_the_wrapper(pattern: str):
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode(), options)


class Public:
    """The wrapper without what it holds."""

    def __init__(self, made) -> None:
        self.search, self.match, self.fullmatch = made.search, made.match, made.fullmatch


def spans(match):
    return None if match is None else [match.span(group) for group in range(len(match.groups()) + 1)]


@given(st.sampled_from(PATTERNS), TEXTS, st.integers(0, 30), st.integers(0, 40))
def test_answers_are_those_of_the_wrapper(pattern, text, start, end):
    made = of_the_wrapper(pattern)
    start = min(start, len(text))
    for ours in (compile_pattern(pattern), BytePattern(Public(made))):
        for theirs, mine in ((made.search, ours.search), (made.match, ours.match)):
            found = mine(text, start, end)
            assert (found.spans if found is not None else None) == spans(theirs(text, start, end))
        whole = made.search(text, start)
        assert ours.first(text, start, len(text)) == (whole.start() if whole else -1)
        begun = made.match(text, start)
        assert ours.reach(text, start, len(text)) == (begun.end() if begun else start)
        assert [match.span() for match in ours.finditer(text)] == [match.span() for match in made.finditer(text)]


def test_groups_without_a_part_in_a_match_say_nothing():
    match = compile_pattern("(a)|(b)").search(b"b")
    assert match.group() == b"b"
    assert match.group(1) == b""
    assert (match.start(1), match.span(2)) == (-1, (0, 1))


def test_this_release_of_re2_lets_us_ask_past_its_wrapper():
    assert all(one.func is not _spans for one in asks_of(of_the_wrapper("a+")))
    assert all(one.func is _spans for one in asks_of(Public(of_the_wrapper("a+"))))


def test_no_judgement_outlives_the_text():
    redactor = Redactor(key=b"k" * 32)
    assert redactor.redact("password: " + draw_characters("w", 24, "judged")).startswith("password: redacted:")
    assert is_placeholder.cache_info().currsize == 0
    assert _is_random.cache_info().currsize == 0
