"""Frames: which sentences assert nothing, and which part of a sentence a frame holds for."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.match.frames import find_frames
from tokenmizer_mw.extract.read.pasted_text import find_pasted
from tokenmizer_mw.extract.rules.frame_words import Frame

FRAMED = [
    ("does Valkey cope with that", Frame.QUESTION),
    ("Is Valkey what you would take here?", Frame.QUESTION),
    ("do the tests pass on the old machine", Frame.QUESTION),
    ("reicht dafür eine Datei?", Frame.QUESTION),
    ("一个文件够吗", Frame.QUESTION),
    ("页面又空了,为什么,看一下", Frame.QUESTION),
    ("if we ever grow we could take Kafka", Frame.HYPOTHETICAL),
    ("vielleicht nehmen wir später Kafka", Frame.HYPOTHETICAL),
    ("si algún día crecemos usaremos Kafka", Frame.HYPOTHETICAL),
    ("Had we taken Kafka, it would have cost us a week", Frame.HYPOTHETICAL),
    ("hätten wir Kafka genommen, wären wir fertig", Frame.HYPOTHETICAL),
    ("my landlord wants to use gas", Frame.REPORTED),
    ("der Trainer meint, wir sollten früher anfangen", Frame.REPORTED),
    ("сосед советует взять бетон", Frame.REPORTED),
    ("we're not going to switch to gas", Frame.NEGATED),
    ("I looked at Kafka but no", Frame.NEGATED),
    ("the choir next door meets on Mondays", Frame.OTHERS),
    ("last year we met on Mondays", Frame.PAST),
    ("l'an dernier on s'est vus le lundi", Frame.PAST),
    ("start it on 7000 just this once", Frame.ONCE),
    ("Explain the second step please, with numbers", Frame.REQUEST),
    ("Thanks, you are a star!", Frame.COURTESY),
    ("Of course.", Frame.COURTESY),
    ("Bien sûr !", Frame.COURTESY),
    ("当然可以。", Frame.COURTESY),
    ("our landlord told us to heat with gas", Frame.REPORTED),
    ("I heard that the ferry stops in March", Frame.REPORTED),
    ("Der Vermieter hat uns Gas empfohlen", Frame.REPORTED),
    ("Ines meint, wir sollten Gas nehmen", Frame.REPORTED),
    ("Le voisin nous a conseillé le gaz", Frame.REPORTED),
    ("El dueño nos recomendó el gas", Frame.REPORTED),
    ("Il padrone ci ha consigliato il gas", Frame.REPORTED),
    ("Хозяин посоветовал нам газ", Frame.REPORTED),
    ("听说大家都换了煤气", Frame.REPORTED),
    ("a cousin of mine uses gas", Frame.OTHERS),
    ("Everybody on the forum is switching to gas", Frame.OTHERS),
    ("Eine Kollegin nimmt immer Gas", Frame.OTHERS),
    ("Una amiga usa gas", Frame.OTHERS),
    ("Коллега использует газ", Frame.OTHERS),
    ("the last project ran on gas", Frame.PAST),
    ("im letzten Verein hatten wir Gas", Frame.PAST),
    ("en el trabajo anterior teníamos gas", Frame.PAST),
    ("в прошлом проекте был газ", Frame.PAST),
    ("there is no reason to replace the boiler", Frame.NEGATED),
    ("we see no reason to move away from gas", Frame.NEGATED),
    ("I don't want oil in place of gas", Frame.NEGATED),
    ("wir müssen den Kessel nicht austauschen oder ersetzen", Frame.NEGATED),
    ("inutile de remplacer la chaudière", Frame.NEGATED),
    ("no hace falta cambiar la caldera", Frame.NEGATED),
    ("незачем менять котёл", Frame.NEGATED),
    ("没必要换锅炉", Frame.NEGATED),
    ("my aunt heats her house with oil instead of gas", Frame.OTHERS),
    ("the bakery down the road heats with oil", Frame.OTHERS),
    ("the tenants might go for oil in spring", Frame.HYPOTHETICAL),
    ("oil would be next, nothing decided", Frame.HYPOTHETICAL),
]


@pytest.mark.parametrize(("sentence", "frame"), FRAMED)
def test_a_sentence_in_a_frame(sentence: str, frame: Frame) -> None:
    assert frame in find_frames(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We take Valkey for the queue.",
        "Never use eval in this code base.",
        "If a test fails, always stop at once.",
        "can you make it 9090 instead?",
        "Do the labels in German, that is enough.",
        "The ticket is valid for ten minutes.",
        "Wir nehmen lieber Kafka statt Redis",
        "on passe à deux colonnes",
        "端口改成 9100",
        "теперь берём NATS",
        "Everyone gets a badge from now on.",
        "The old stove stays until May.",
        "Freunde des Chors bekommen zwei Karten.",
        "We told the landlord that we take gas.",
    ],
)
def test_a_sentence_that_asserts(sentence: str) -> None:
    assert not find_frames(sentence)


def test_what_goes_on_after_a_report_is_the_speakers() -> None:
    sentence = "the doctor says walnuts are out, so we take almonds"
    assert find_frames(sentence, "walnuts are out")
    assert not find_frames(sentence, "we take almonds")
    assert find_frames("if it rains, we take the train", "we take the train")


@pytest.mark.parametrize(
    ("text", "words", "pasted"),
    [
        ("It prints:\nWARN old format: use the new one instead\nWhy?", "use the new one", True),
        ("It fails:\n\nself = Client(host=None)\n\nWhy?", "Client", True),
        ("It fails:\n\nself = Client(host=None)\n\nWhy?", "Why", False),
        ("The cache = Redis, as agreed.", "Redis", False),
        ("The ad said 'Leave your old bank at home and come to us.' Funny.", "Leave your", True),
        ("Call it 'Otter'. We keep Redis.", "We keep", False),
        ("Our rules:\n\nAlways use gas.\n\nWe use wood.", "Always use", False),
        ("This is what the vendor ships by default:\n\nAlways use gas.\n\nWe use wood.", "Always use", True),
        ("This is what the vendor ships by default:\n\nAlways use gas.\n\nWe use wood.", "We use", False),
    ],
)
def test_pasted_parts(text: str, words: str, pasted: bool) -> None:
    place = text.index(words)
    assert any(start <= place < end for start, end in find_pasted(text)) is pasted
