"""Domain packs: each row reads its example, each pack is found by its words."""

from __future__ import annotations

import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.domains import PACKS, Pack, domain_hits, domains_of
from tokenmizer_mw.extract.rules import Rule, Speaker
from tokenmizer_mw.model.node import NodeType
from tokenmizer_mw.settings import DOMAINS

ROWS = [
    pytest.param(pack, rule, speaker, id=f"{rule.name}-{speaker}")
    for pack in PACKS
    for rule in pack.rules
    for speaker in (Speaker.USER, Speaker.ASSISTANT)
    if rule.speaker in (speaker, Speaker.BOTH)
]


@pytest.mark.parametrize(("pack", "rule", "speaker"), ROWS)
def test_row_reads_its_example_and_leaves_its_counter_example(pack: Pack, rule: Rule, speaker: Speaker) -> None:
    def names(sentence: str) -> list[str]:
        return [hit.rule.name for hit in domain_hits(sentence, speaker, (pack.name,))]

    assert rule.name in names(rule.example)
    assert rule.name not in names(rule.counter)


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_a_pack_is_found_by_its_words(pack: Pack) -> None:
    assert pack.name in domains_of([pack.example])
    assert pack.name not in domains_of([pack.counter])


def test_settings_know_the_packs() -> None:
    assert tuple(pack.name for pack in PACKS) == DOMAINS


def test_several_at_once() -> None:
    assert domains_of(["the cluster is down", "the second chapter as well"]) == ("ops", "writing")
    assert domains_of(["", "hello"]) == ()


@pytest.mark.parametrize("text", ["is eu-west-2 down?", "if p95 went from 18 to 31 ms, would you page us?", ""])
def test_questions_and_suppositions_state_nothing(text: str) -> None:
    assert domain_hits(text, Speaker.USER, ("ops",)) == ()


def facts(domains: str, *texts: str) -> list[tuple[NodeType, str]]:
    memory = SessionMemory.open("memory://", Settings(domains=domains, stages="rules,structure,dialogue"))
    memory.record("s", [{"role": "user", "content": text} for text in texts])
    return [(node.type, node.label) for node in memory.graph("s").nodes()]


TALK = ("I want to keep the shop up over the weekend.", "p95 went from 18 to 31 ms on the cluster.")


def test_detected_by_default_fixed_by_name_or_off() -> None:
    slow = (NodeType.ERROR, "p95 went from 18 to 31 ms on the cluster")
    assert slow in facts("auto", *TALK)
    assert slow in facts("writing, ops", *TALK)
    assert slow not in facts("writing", *TALK)
    assert slow not in facts("none", *TALK)


def test_an_unknown_domain_is_refused() -> None:
    with pytest.raises(ConfigError, match="gardening"):
        Settings(domains="ops, gardening")
