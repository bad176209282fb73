"""Bad compactions in OpenAI's dialect: an error in the client's words, or passage as it came, and never a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served
from tests.upstream.server import Upstream

from .clients import FILLER, RULE, Talk, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

LOW: Any = [{"type": "compaction", "compact_threshold": 50}]


@pytest.fixture
def made(ours: Served, request: pytest.FixtureRequest) -> Iterator[Talk]:
    """A chat that was compacted and holds nothing but that compaction."""
    with Talk(ours, f"bad-responses-{request.node.name}", "gemini") as talk:
        talk.say(f"{RULE} We use PostgreSQL.")
        compacted = talk.client.responses.compact(model="gemini/fake-n3", input=talk.items)
        talk.items = [item.model_dump(exclude_none=True) for item in compacted.output]
        yield talk


def test_another_providers_is_refused_where_it_cannot_be_read(made: Talk, upstream: Upstream) -> None:
    made.items = [{"type": "compaction", "encrypted_content": "opaque"}]
    asked = upstream.statistics.requests
    with pytest.raises(openai.BadRequestError, match="compaction"):
        made.say("Go on.")
    assert upstream.statistics.requests == asked


def test_the_same_one_twice_counts_once(made: Talk, upstream: Upstream) -> None:
    made.items = [made.items[0], {"role": "user", "content": "Then the cart."}, made.items[0]]
    made.say("Go on.")
    assert sent(upstream).count("<session-record") == 1
    assert "Then the cart." not in sent(upstream)


def test_the_newest_of_two_counts(made: Talk, ours: Served, upstream: Upstream) -> None:
    older = made.items[0]
    made.say("We moved to MySQL now.")
    compacted = made.client.responses.compact(model="gemini/fake-n3", input=made.items)
    made.items = [older, *(item.model_dump(exclude_none=True) for item in compacted.output)]
    made.say("Go on.")
    assert "MySQL" in sent(upstream)
    assert sent(upstream).count("<session-record") == 1


def test_one_without_the_messages_it_stands_for_brings_no_other_sessions_facts(
    made: Talk, ours: Served, upstream: Upstream
) -> None:
    with Talk(ours, "somebody-elses-chat", "gemini") as other:
        other.say("Never call the production database. We use Oracle.")
    ours.memory.flush()
    ours.memory.forget(str(made.client.default_headers["x-session-id"]))
    made.say("Which database do we use?")
    assert "PostgreSQL" in sent(upstream)
    assert "Oracle" not in sent(upstream) and "production" not in sent(upstream)


def test_another_sessions_name_does_not_bring_its_facts(made: Talk, ours: Served, upstream: Upstream) -> None:
    """The compaction says what it says, whatever name the client gives the chat now."""
    with Talk(ours, "named-otherwise", "gemini") as other:
        other.say("Never call the production database.")
        other.items = [*made.items]
        other.say("Go on.")
    assert "PostgreSQL" in sent(upstream)
    assert "production" not in sent(upstream)


def test_a_threshold_that_nothing_gets_below_makes_no_loop(ours: Served, upstream: Upstream) -> None:
    options: Any = {"context_management": LOW, "instructions": FILLER * 20}
    before = ours.memory.counters().get("compaction_no_room", 0)
    with Talk(ours, "low-threshold-responses", "gemini", **options) as talk:
        asked = upstream.statistics.requests
        answers = [talk.say(f"Part {number} of the orders, please.") for number in range(4)]
    assert [[item.type for item in answer.output] for answer in answers] == [["message"]] * 4
    assert upstream.statistics.requests == asked + 4
    assert ours.memory.counters()["compaction_no_room"] > before


@pytest.mark.parametrize("sealed", [None, 5, "", "tokenmizer-compaction.", "tokenmizer-compaction.1.", "x" * 70_000])
def test_a_seal_of_any_kind_is_refused_or_left_alone(ours: Served, sealed: Any) -> None:
    with Talk(ours, "odd-seal", "gemini") as talk:
        talk.items = [{"type": "compaction", "encrypted_content": sealed}]
        with pytest.raises(openai.BadRequestError):
            talk.say("Go on.")
