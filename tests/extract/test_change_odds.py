"""How likely a passage changes something, and which fact."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.score.change_odds import PASSAGE_MAX, change_odds, letter_cues, word_cues
from tokenmizer_mw.extract.score.classifier import BadModel, DialogueAct, Model, load_change_model, load_shipped_model
from tokenmizer_mw.extract.score.contrast import WEIGHTS, Claim, collect_evidence, count_words
from tokenmizer_mw.model.node import NodeType, Status


@pytest.mark.parametrize(
    ("change", "ordinary"),
    [
        ("Scrap that, we use Mailgun.", "Explain how Mailgun bills its mails."),
        ("actually make it 9090", "what listens on 9090 by default"),
        ("Legal came back: it has to be Frankfurt.", "My old team was in Frankfurt."),
        ("doch lieber am Freitag", "war das am Freitag"),
    ],
)
def test_changes_are_likelier_than_what_looks_like_them(change: str, ordinary: str) -> None:
    assert change_odds(change) > change_odds(ordinary)


def test_cues_are_words_in_a_row_and_letters_of_words() -> None:
    assert {"w make", "b make it", "t make it 9", "b 9 $"} <= word_cues("make it 9090")
    assert letter_cues("make") == {"n mak", "nmake", "nake "}
    assert {"p改成", "q改成红"} <= letter_cues("改成红色")


def test_passages_are_read_up_to_a_limit() -> None:
    begun = "make it nine " * (PASSAGE_MAX // 13 + 1)
    assert change_odds(begun) == change_odds(begun + "and stop there")


def test_a_model_for_other_acts_is_refused() -> None:
    with pytest.raises(BadModel, match="made for the acts change"):
        Model.from_bytes(load_change_model().to_bytes())
    with pytest.raises(BadModel):
        Model.from_bytes(load_shipped_model().to_bytes(), {DialogueAct.CHANGE})


def test_all_evidence_has_a_weight() -> None:
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": "user", "content": "We take PostgreSQL for the orders."}])
        (fact,) = (node for node in memory.graph("s").nodes() if node.type is NodeType.DECISION)
    claim = Claim("no, MySQL", ("no", "MySQL"), "no, MySQL", 3, last=True)
    assert list(collect_evidence(fact, claim, count_words([fact]))) == list(WEIGHTS)


@pytest.mark.parametrize(
    ("said", "replaced"),
    [
        ("Hm, Finance vetoed Postmark. It'll be Mailgun.", "Postmark"),
        ("on second thought, Thursday for the rehearsal", "Tuesday"),
    ],
)
def test_a_change_in_plain_words_finds_its_fact(said: str, replaced: str) -> None:
    with SessionMemory.open("memory://") as memory:
        talk = [
            "We send mails with Postmark. The rehearsal is on Tuesday.",
            "Noted: Postmark for mails, rehearsal on Tuesday.",
            said,
        ]
        messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(talk)]
        for end in range(1, len(messages) + 1):
            memory.record("s", messages[:end])
        gone = [node.label for node in memory.graph("s").nodes() if node.status is Status.SUPERSEDED]
    assert gone and all(replaced in label for label in gone)
