"""The transcript with its facts, two moments side by side, and a request before and after a cut."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.uncertain import CERTAIN, NEW, OLD, UNCERTAIN
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.event import Checkpointed, DecisionReplaced, Reminded
from tokenmizer_mw.model.node import Node, NodeType, Source, Status, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.dashboard import dashboard
from tokenmizer_mw.server.dashboard.transcript import ALONE_MIN, PER_PAGE, mark_passages, visible

from .visiting import CHAT, LATER, TOKEN, Visitor, text_of

WHOLE = [*CHAT, *LATER]


@pytest.fixture
def visitor(memory: SessionMemory) -> Visitor:
    return Visitor(dashboard(memory, token=TOKEN)).sign_in()


def node_with(memory: SessionMemory, value: str) -> Node:
    return next(node for node in memory.graph("hall").nodes("decision") if node.value == value)


def test_every_message_stands_in_the_transcript_word_for_word(visitor: Visitor) -> None:
    body = visitor.get("transcript?id=hall").body
    shown = text_of(body)
    for number, message in enumerate(WHOLE, 1):
        assert f'id="m{number}"' in body
        assert " ".join(message["content"].split()) in shown


def test_facts_are_marked_where_they_were_said_and_lead_back(visitor: Visitor, memory: SessionMemory) -> None:
    node = node_with(memory, "postgresql")
    body = visitor.get("transcript?id=hall").body
    marks = {unescape(link): words for link, words in re.findall(r'<mark><a href="([^"]+)"[^>]*>([^<]*)</a>', body)}
    assert marks[f"fact?id=hall&node={node.id}"] == node.source.quote
    page = visitor.get(f"fact?id=hall&node={node.id}").body
    assert f'href="transcript?id=hall&amp;message={node.source.turn}#m{node.source.turn}"' in page
    for other in ("session?id=hall", "facts?id=hall", "search?q=postgresql&id=hall"):
        assert f"message={node.source.turn}#m{node.source.turn}" in visitor.get(other).body, other


def test_messages_are_found_by_words_and_by_speaker(visitor: Visitor) -> None:
    found = visitor.get("transcript?id=hall&q=concurrent").body
    assert re.findall(r'id="m(\d+)"', found) == ["5"]
    by_user = visitor.get("transcript?id=hall&role=user").body
    assert re.findall(r'id="m(\d+)"', by_user) == ["1", "3", "5"]
    assert "No message matches" in text_of(visitor.get("transcript?id=hall&q=xyzzy").body)


def test_a_long_transcript_comes_in_pages_that_hold_the_wanted_message(visitor: Visitor, memory: SessionMemory) -> None:
    count = 2 * PER_PAGE + ALONE_MIN
    memory.record("long", [{"role": "user", "content": f"Look at src/part_{number}.py."} for number in range(count)])
    newest = re.findall(r'id="m(\d+)"', visitor.get("transcript?id=long").body)
    assert newest == [str(number) for number in range(2 * PER_PAGE + 1, count + 1)]
    page = visitor.get(f"transcript?id=long&message={PER_PAGE + 2}").body
    assert f'id="m{PER_PAGE + 2}"' in page
    assert len(re.findall(r'id="m\d+"', page)) == PER_PAGE
    assert f"Messages {PER_PAGE + 1} to {2 * PER_PAGE} of {count}" in text_of(page)
    assert 'rel="prev"' in page
    assert 'rel="next"' in page


def test_a_few_messages_are_not_a_page_of_their_own(visitor: Visitor, memory: SessionMemory) -> None:
    count = 2 * PER_PAGE + ALONE_MIN - 1
    memory.record("long", [{"role": "user", "content": f"Look at src/part_{number}.py."} for number in range(count)])
    expected = [str(number) for number in range(PER_PAGE + 1, count + 1)]
    for page in ("", "&page=2", "&page=3", f"&message={count}", f"&message={PER_PAGE + 1}"):
        body = visitor.get(f"transcript?id=long{page}").body
        assert re.findall(r'id="m(\d+)"', body) == expected, page
        assert "Page 2 of 2" in text_of(body)
    assert len(re.findall(r'id="m\d+"', visitor.get("transcript?id=long&page=1").body)) == PER_PAGE


def test_a_folded_tool_call_says_how_it_begins(visitor: Visitor, memory: SessionMemory) -> None:
    arguments = '{"command": "pytest -q tests/hall", "why": "' + "x" * 300 + '"}'
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    told = [
        {"role": "user", "content": "Run the tests."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "3 passed"},
    ]
    memory.record("tools", told)
    found = re.findall("<summary>(.*?)</summary>", visitor.get("transcript?id=tools").body)
    folded = [unescape(re.sub("<[^>]+>", "", one)) for one in found]
    assert folded[0].startswith('Calls bash {"command": "pytest -q tests/hall", "why":')
    assert folded[0].endswith("characters)")
    assert folded[1] == "Result of a tool 3 passed"


def test_a_very_long_message_is_shown_whole_on_request(visitor: Visitor, memory: SessionMemory) -> None:
    memory.record("essay", [{"role": "user", "content": "word " * 4_000 + "end"}])
    short = visitor.get("transcript?id=essay").body
    assert "more characters" in short
    assert "end</bdi>" not in short
    link = re.search(r'href="([^"#]+)#m1">[\d,]+ more characters', short)
    assert link is not None
    assert "end</bdi>" in visitor.get(unescape(link[1])).body


def test_marks_keep_the_text_and_do_not_overlap() -> None:
    text = "Use <b>Redis</b>\nfor the\u202e cache."
    nodes = [
        Node("decision-1", NodeType.DECISION, "Redis", Status.ACTIVE, Source(1, "user", span=(4, 16))),
        Node("concept-1", NodeType.CONCEPT, "Redis", Status.ACTIVE, Source(1, "user", span=(7, 12))),
        Node("task-1", NodeType.TASK, "x", Status.ACTIVE, Source(1, "user", quote="not there")),
        Node("file-1", NodeType.FILE, "y", Status.ACTIVE, Source(1, "user", span=(900, 950))),
    ]
    made = mark_passages("s", text, nodes)
    assert made.count("<mark>") == 1
    assert unescape(re.sub(r"<[^>]+>", "", made)) == visible(text) == "Use <b>Redis</b>\nfor the cache."


def test_two_moments_stand_side_by_side(visitor: Visitor, memory: SessionMemory) -> None:
    body = visitor.get("compare?id=hall&from=checkpoint-1&to=now&same=1").body
    left, right = (text_of(f"<main>{part}") for part in body.split('class="card"')[1:3])
    assert "PostgreSQL" not in left
    assert "SQLite changed" in left
    assert "PostgreSQL new" in right
    assert "Never delete a booking" in left
    only = visitor.get("compare?id=hall&from=checkpoint-1&to=now").body
    assert "Never delete a booking" not in only
    assert "PostgreSQL" in only
    assert "Nothing differs" in text_of(visitor.get("compare?id=hall&from=now&to=now").body)
    assert "compare?id=hall" in visitor.get("history?id=hall").body


def test_a_request_is_shown_before_and_after_its_cut(visitor: Visitor, memory: SessionMemory) -> None:
    assert "No request of this session was seen" in text_of(visitor.get("request?id=hall").body)
    node = node_with(memory, "postgresql")
    news = [
        Checkpointed("checkpoint-9", 5, 9, "the block as sent", "0" * 32, 5, 4),
        Reminded(6, "checkpoint-9", 88, (node.id,), (3,)),
    ]
    memory.log.append(SessionKey("local", "hall"), news, expected_seq=memory.view("hall", lambda state: state.seq))
    plain = visitor.get("request?id=hall").body
    before, _, after = plain.split('class="beside"')[1].partition('id="after"')
    assert re.findall(r"#m(\d+)", before) == ["1", "2", "3", "4", "5"]
    assert before.count("left out") == 4
    assert re.findall(r"#m(\d+)", after.partition('id="reminder"')[0]) == ["5"]
    assert "the block as sent" in after
    for address in ("request?id=hall", "request?id=hall&cut=checkpoint-9&turn=6"):
        reminded = visitor.get(address).body.partition('id="reminder"')[2]
        assert "PostgreSQL" in reminded
        assert "#m3" in reminded
    assert "request?id=hall&amp;cut=checkpoint-9&amp;turn=6" in visitor.get("transcript?id=hall").body


def test_the_overview_comes_without_the_block_and_loads_it_behind(visitor: Visitor, memory: SessionMemory) -> None:
    body = visitor.get("session?id=hall").body
    assert memory.resume("hall").text.splitlines()[0] not in unescape(body)
    address = re.search(r'id="resume"[^>]* data-load="([^"]+)"', body)
    assert address is not None
    assert 'class="block"' in visitor.get(unescape(address[1])).body


def test_the_overview_says_what_holds_and_why(visitor: Visitor, memory: SessionMemory) -> None:
    memory.record("hall", [*WHOLE, {"role": "user", "content": "Error: disk full on backup."}])
    memory.invalidate("hall", memory.remember("hall", "Print the guest list", "task").id, "the schema moved")
    body = visitor.get("session?id=hall").body
    parts = {
        id: text_of(f"<main>{part}")
        for id, part in re.findall(r'class="card" id="([a-z]+)" data-live>(.*?)</section>', body)
    }
    assert "build a booking service" in parts["goals"]
    assert "PostgreSQL" in parts["decisions"]
    assert "because concurrent writes" in parts["decisions"]
    assert "instead of SQLite" in parts["decisions"]
    assert "Never delete a booking" in parts["rules"]
    assert "disk full" in parts["errors"]
    assert "because the schema moved" in parts["rejected"]
    assert "Never delete a booking" not in parts["decisions"]


def pages_of(visitor: Visitor, memory: SessionMemory, session: str) -> dict[str, str]:
    """The pages that show the replacement of a session; "old" and "new" are those of its two facts."""
    (step,) = memory.graph(session).transitions()
    addresses = {name: f"{name}?id={session}" for name in ("session", "history", "transcript", "graph")}
    addresses |= {"old": f"fact?id={session}&node={step.old}", "new": f"fact?id={session}&node={step.new}"}
    return {name: unescape(visitor.get(address).body) for name, address in addresses.items()}


def test_pages_say_whether_a_replacement_is_uncertain(visitor: Visitor, memory: SessionMemory) -> None:
    memory.record("uncertain", UNCERTAIN)
    memory.record("certain", CERTAIN)
    pages = pages_of(visitor, memory, "uncertain")
    assert f"perhaps instead of {OLD}" in text_of(pages["session"])
    for name in ("session", "history", "old", "new"):
        assert f"{OLD} perhaps replaced by {NEW}" in text_of(pages[name])
    assert f"perhaps replaced {OLD}" in text_of(pages["transcript"])
    assert f"{NEW} perhaps replaces {OLD}" in pages["graph"]
    assert [name for name, page in pages_of(visitor, memory, "certain").items() if "perhaps" in page] == []


def test_only_finished_tasks_are_ticked(visitor: Visitor, memory: SessionMemory) -> None:
    tick = "l3 3 5-6"
    states = {
        node.status: visitor.get(f"fact?id=hall&node={node.id}").body for node in memory.graph("hall").nodes("task")
    }
    assert Status.COMPLETED in states
    for status, body in states.items():
        assert (tick in body.partition('id="fact"')[2].partition("</section>")[0]) == (status is Status.COMPLETED)


def test_of_a_cut_one_chooses_the_requests_with_a_reminder(visitor: Visitor, memory: SessionMemory) -> None:
    news = [
        Checkpointed("checkpoint-8", 3, 9, "the first block", "0" * 32, 3, 2),
        Reminded(5, "checkpoint-8", 70, (), (1,)),
        Checkpointed("checkpoint-9", 5, 9, "the block as sent", "0" * 32, 5, 4),
    ]
    memory.log.append(SessionKey("local", "hall"), news, expected_seq=memory.view("hall", lambda state: state.seq))
    own, later, of_another = (
        visitor.get(f"request?id=hall&cut={cut}&turn={turn}").body
        for cut, turn in (("checkpoint-8", ""), ("checkpoint-8", "5"), ("checkpoint-9", "5"))
    )
    assert 'id="reminder"' not in own
    assert "answered by message 4" in own
    assert 'id="reminder"' in later
    assert re.findall(r"#m(\d+)", of_another.partition('id="after"')[0]) == ["1", "2", "3", "4", "5"]


def test_a_question_that_was_sent_again_is_answered_by_the_newest_message(
    visitor: Visitor, memory: SessionMemory
) -> None:
    answer = {"role": "assistant", "content": "It is in hall/schema.sql."}
    memory.record("hall", [*WHOLE, answer])
    count = len(memory.messages("hall"))
    cuts = [
        Checkpointed("checkpoint-8", count - 2, 9, "the first block", "0" * 32, count - 2, 2, kept=3),
        Checkpointed("checkpoint-9", count, 9, "the block made anew", "0" * 32, count - 2, 2, kept=3),
        Reminded(count + 1, "checkpoint-9", 70, (), (1,)),
    ]
    memory.log.append(SessionKey("local", "hall"), cuts, expected_seq=memory.view("hall", lambda state: state.seq))
    body = visitor.get("request?id=hall").body
    assert f"answered by message {count}<" in body and f"answered by message {count + 1}" not in body
    assert 'id="reminder"' in body
    assert f"checkpoint-9, at message {count}, block made anew" in body and f"8, at message {count - 2}<" in body
    assert text_of(visitor.get("session?id=hall").body).count("block made anew") == 1


def test_the_overview_names_the_predecessor_that_the_block_names(visitor: Visitor, memory: SessionMemory) -> None:
    memory.record("hall", [*WHOLE, {"role": "user", "content": "Switch from PostgreSQL to CockroachDB."}])
    now = node_with(memory, "cockroachdb")
    olds = [one for one in memory.graph("hall").nodes() if one.value in ("sqlite", "postgresql")]
    again = [DecisionReplaced(Transition(one.id, now.id, 7)) for one in reversed(olds)]
    seq = memory.view("hall", lambda state: state.seq)
    memory.log.append(SessionKey("local", "hall"), again, expected_seq=seq)
    named = re.search(r"instead of (SQLite|PostgreSQL)", text_of(visitor.get("session?id=hall").body))
    assert named is not None
    assert f"(was {named[1]}" in memory.resume("hall").text
