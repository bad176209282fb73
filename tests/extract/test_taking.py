"""What a reply takes up of advice, and what it only speaks of."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.node import NodeType

from .talks import labels, talk

ADVICE = """There are several ways to keep a choir together:

1. **Warm-Up Games**: They could loosen everyone up.
2. **Section Rehearsals**: Each voice practises by itself.
3. **Attendance**: Keep a list of who comes.
4. **Shared Recordings**: Everybody can listen at home.
5. **10**: Most choirs need ten weeks.

Would you like to proceed with these steps, or do you have any concerns about the schedule?
"""


@pytest.mark.parametrize(
    ("reply", "taken"),
    [
        ("Keeping attendance is hard, we had eleven people last week.", set()),
        ("I had a long talk about attendance with our conductor on 10 May.", set()),
        ("Section rehearsals and shared recordings will really help us.", set()),
        ("I think I'll add a concert on Saturdays around 10.", set()),
        ("Thanks for the recordings!", set()),
        ("Yes, sounds good.", set()),
        ("Good, the rehearsals make sense.", set()),
        ("How do section rehearsals work?", set()),
    ],
)
def test_a_reply_takes_what_it_chooses_of_advice(reply: str, taken: set[str]) -> None:
    graph = talk("u: How do I keep our choir together?", f"a: {ADVICE}", f"u: {reply}")
    said = {*labels(graph, NodeType.DECISION), *labels(graph, NodeType.TASK)}
    assert {
        name
        for name in ("Section Rehearsals", "Warm-Up Games", "Shared Recordings", "Attendance", "10")
        if name in said
    } == taken
    assert not any("proceed" in label for label in said)


@pytest.mark.parametrize("question", ["shall I", "should we", "do you want me to", "would you like me to"])
def test_what_a_question_offers_is_labelled_without_the_question(question: str) -> None:
    graph = talk(
        "u: Can you write the endpoint?",
        f"a: It answers 201. There is no validation yet; {question} write the tests first and let them drive it?",
        "u: Yes, tests first.",
    )
    assert "write the tests first and let them drive it" in labels(graph, NodeType.DECISION)
