"""What the pages tell, and what they tell when there is nothing, or something is wrong."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.folding import logs
from tests.savings.calling import answered, asked, call, chat, used
from tests.services import run_without
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.agents.hooks.events import project_named
from tokenmizer_mw.agents.hooks.worker import SEPARATOR
from tokenmizer_mw.errors import StoreCause
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Checkpointed, Derived, NodeAdded, Recorded, Reminded, TurnClosed
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.node import LABEL_MAX, Node, NodeType, Source, Status, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.api.health import TROUBLES
from tokenmizer_mw.server.dashboard import dashboard
from tokenmizer_mw.server.dashboard.caches import PastGraphs
from tokenmizer_mw.server.dashboard.health import REASONS
from tokenmizer_mw.server.dashboard.markup import Markup, tag
from tokenmizer_mw.session import fold
from tokenmizer_mw.store.address import hook_folders

from .visiting import CHAT, LATER, TOKEN, Visitor, elements_of, text_of

PAGES = [
    "",
    "session?id=hall",
    "session?id=hall&level=critical",
    "graph?id=hall",
    "facts?id=hall",
    "fact?id=hall&node=decision-1",
    "history?id=hall",
    "transcript?id=hall",
    "compare?id=hall",
    "request?id=hall",
    "search?q=database",
    "search?q=database&id=hall",
    "savings",
    "status",
    "forget?id=hall",
    "session?id=nobody",
    "nowhere",
]


@pytest.fixture
def visitor(memory: SessionMemory) -> Visitor:
    return Visitor(dashboard(memory, token=TOKEN)).sign_in()


@pytest.mark.parametrize("page", [*PAGES, "login"])
def test_every_answer_lives_under_the_policy(page: str, visitor: Visitor) -> None:
    answer = visitor.ask("GET", page)
    if page == "login":
        answer = Visitor(visitor.app).ask("GET", page)
    policy = answer.header("content-security-policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("cache-control") == "no-store"
    assert "frame-ancestors 'none'" in policy
    elements = elements_of(answer.body)
    assert not [name for name, attributes in elements if name == "style" or "style" in attributes]
    assert not [name for name, attributes in elements if name == "script" and "src" not in attributes]
    addresses = re.findall(r'(?:href|src|action|data-events)="([^"]*)"', answer.body)
    assert addresses
    assert not [one for one in addresses if one.startswith("/") or "://" in one]


def test_the_overview_tells_what_would_be_injected_right_now(visitor: Visitor, memory: SessionMemory) -> None:
    for level, block in memory.resumes("hall").items():
        told = text_of(visitor.get(f"session?id=hall&level={level}").body)
        assert f"{block.tokens} of {block.budget} tokens" in told
        assert " ".join(block.text.split()) in told
    assert "write the backup script" in told
    assert "SQLite" in told


def test_a_decision_that_replaced_another_stays_on_the_overview(visitor: Visitor, memory: SessionMemory) -> None:
    for number in range(12):
        memory.remember("hall", f"colour of hall {number}: grey", "choice")
    shown = visitor.get("session?id=hall").body.partition('id="decisions"')[2].partition("</section>")[0]
    told = text_of(f"<main>{shown}")
    assert "PostgreSQL" in told and "instead of" in told and "5 more" in told


def test_overview_names_reminders_with_the_messages_that_they_quoted(visitor: Visitor, memory: SessionMemory) -> None:
    assert "Reminders" not in text_of(visitor.get("session?id=hall").body)
    node = next(node for node in memory.graph("hall").nodes() if node.source.turn < 3)
    news = [
        Checkpointed("checkpoint-9", 4, 9, "block", "0" * 32, 4, 3),
        Reminded(4, "checkpoint-9", 88, (node.id,), (1, 2)),
    ]
    memory.log.append(SessionKey("local", "hall"), news, expected_seq=memory.view("hall", lambda state: state.seq))
    told = text_of(visitor.get("session?id=hall").body)
    assert "Quoted messages 1, 2; 1 fact; 88 tokens" in told
    assert memory.loss_report("hall").returned == (node.id,)
    assert "brought back by a reminder" in told
    page = visitor.get("request?id=hall&turn=4").body
    assert 'href="#after"' in page and 'id="after"' in page
    told = text_of(page)
    assert f"quoted message 1 {CHAT[0]['content'][:40]}" in told


def test_what_matters_is_first_among_what_a_cut_left_out(visitor: Visitor, memory: SessionMemory) -> None:
    """Before notes, and before decisions that were replaced; the newest first."""
    said = [
        ("decision-90", NodeType.DECISION, "Use Kafka", Status.ACTIVE, 1),
        ("task-90", NodeType.TASK, "Write the importer", Status.PENDING, 2),
        ("error-90", NodeType.ERROR, "KeyError: price", Status.ACTIVE, 1),
        ("task-91", NodeType.TASK, "Write the exporter", Status.COMPLETED, 2),
        *((f"concept-{number}", NodeType.CONCEPT, f"Note {number}", Status.ACTIVE, 2) for number in range(90, 99)),
    ]
    facts = [Node(id_, type_, label, status, Source(turn, "user")) for id_, type_, label, status, turn in said]
    news = [*map(NodeAdded, facts), Checkpointed("checkpoint-9", 4, 9, "block", "0" * 32, 4, 3)]
    memory.log.append(SessionKey("local", "hall"), news, expected_seq=memory.view("hall", lambda state: state.seq))
    page = visitor.get("session?id=hall").body
    lost = text_of(page).partition("Lost at the last cut")[2]
    places = [lost.find(label) for label in ("Write the importer", "Use Kafka", "Note 9")]
    assert -1 < places[0] < places[1] < places[2] and -1 < lost.find("KeyError: price") < places[2]
    assert "Write the exporter" not in lost[: places[2]]


def first_facts_at(memory: SessionMemory) -> float:
    """When the first facts of the session were recorded, right behind the messages that say them."""
    events = memory.log.read(SessionKey("local", "hall"))
    return next(item.recorded_at for item in events if isinstance(item.event, NodeAdded))


def test_the_graph_through_time(visitor: Visitor, memory: SessionMemory) -> None:
    past = first_facts_at(memory)
    assert "PostgreSQL" in visitor.get("graph?id=hall").body
    then = visitor.get(f"graph?id=hall&at={past!r}").body
    assert "SQLite" in then
    assert "PostgreSQL" not in then
    node = next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")
    memory.date("hall", node.id, valid_from=past - 3_600)
    assert "PostgreSQL" in visitor.get(f"graph?id=hall&at={past!r}&as=valid").body
    assert "PostgreSQL" not in visitor.get(f"graph?id=hall&at={past!r}&as=recorded").body


def test_one_steps_through_time_without_scripts(visitor: Visitor, memory: SessionMemory) -> None:
    memory.record("hall", [*CHAT, *LATER, {"role": "user", "content": "Now write the report about bookings."}])
    page = visitor.get("graph?id=hall")
    seen = set()
    for _ in range(10):
        earlier = re.search(r'href="([^"]+)" class="button" rel="prev"', page.body)
        if earlier is None:
            break
        address = earlier.group(1).replace("&amp;", "&")
        assert address not in seen
        seen.add(address)
        page = visitor.get(address)
    assert len(seen) >= 2
    assert page.status == 200
    assert 'rel="next"' in page.body


def test_what_a_slider_rounds_off_still_meets_the_change(visitor: Visitor, memory: SessionMemory) -> None:
    page = visitor.get(f"graph?id=hall&at={first_facts_at(memory) - 0.00005!r}").body
    assert "change 1 of" in page
    assert "SQLite" in page


def test_the_slider_goes_from_change_to_change(visitor: Visitor, memory: SessionMemory) -> None:
    node = next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")
    memory.correct("hall", node.id, label="PostgreSQL 18 for bookings")
    now = visitor.get("graph?id=hall").body
    count = int(re.search(r'id="at" min="1" max="(\d+)"', now)[1])  # type: ignore[index]
    assert f"now, after {count} changes" in now
    assert re.search(r'data-moments="([^"]*)"', now)[1].count(",") == count - 1  # type: ignore[index]
    first = text_of(visitor.get("graph?id=hall&step=1").body)
    assert re.search(rf"change 1 of {count}: message [1-4], \d{{4}}-", first)
    assert "SQLite" in first and "PostgreSQL" not in first
    before, last = (text_of(visitor.get(f"graph?id=hall&step={step}").body) for step in (count - 1, count))
    assert f"change {count - 1} of {count}: message {len([*CHAT, *LATER])}, " in before
    assert "PostgreSQL 18" not in before and "PostgreSQL 18" in last, "an edit of words is a change, too"
    assert f"change {count} of {count}" in text_of(visitor.get("graph?id=hall&step=999").body)
    assert "now, after" in visitor.get("graph?id=hall&step=0").body


def test_a_comparison_without_changes_begins_with_the_start(visitor: Visitor, memory: SessionMemory) -> None:
    memory.checkpoint("hall")
    memory.checkpoint("hall")
    for page in ("history", "compare"):
        body = visitor.get(f"{page}?id=hall").body
        assert '<option value="start" selected>' in body
        assert "Nothing differs" not in body and "Nothing changed" not in body
    memory.remember("hall", "queue: Kafka")
    assert '<option value="checkpoint-3" selected>' in visitor.get("compare?id=hall").body


def test_changes_by_hand_are_told_in_words(visitor: Visitor, memory: SessionMemory) -> None:
    node = next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")
    memory.correct("hall", node.id, label="MariaDB for bookings", reason="misheard")
    memory.pin("hall", node.id)
    memory.invalidate("hall", node.id, "misread", never_true=True)
    memory.undo("hall")
    told = text_of(visitor.get("history?id=hall").body).partition("Changed by hand")[2]
    for said in (
        "Change 3 undone: MariaDB for bookings change 4",
        "Withdrawn, because it never was true: MariaDB for bookings change 3 misread",
        "Pinned: MariaDB for bookings change 2",
        f"Corrected: MariaDB for bookings change 1 said: {node.label} MariaDB for bookings",
    ):
        assert said in told
    assert node.id not in told and "confidence" not in told


def test_the_overview_names_what_a_fact_replaced_and_what_that_had_replaced(
    visitor: Visitor, memory: SessionMemory
) -> None:
    for value in ("RabbitMQ", "Kafka", "NATS"):
        memory.remember("hall", f"queue: {value}")
    told = text_of(visitor.get("session?id=hall").body)
    assert "instead of queue: Kafka , before that queue: RabbitMQ" in told


def test_what_changed_between_any_two_checkpoints(visitor: Visitor, memory: SessionMemory) -> None:
    memory.checkpoint("hall")
    between = text_of(visitor.get("history?id=hall&from=checkpoint-1&to=checkpoint-2").body)
    assert "Added" in between
    assert "write the backup script" in between
    assert "hall/schema.sql" not in between.partition("Replacements")[0].partition("Added")[2]
    start = text_of(visitor.get("history?id=hall&from=start&to=checkpoint-1").body)
    assert "hall/schema.sql" in start
    backwards = text_of(visitor.get("history?id=hall&from=checkpoint-2&to=checkpoint-1").body)
    assert "from the earlier to the later" in backwards
    assert "Nothing changed" in text_of(visitor.get("history?id=hall&from=now&to=now").body)


def test_a_change_tells_all_that_is_otherwise(visitor: Visitor, memory: SessionMemory) -> None:
    """Also that what the invalidated fact had replaced holds again: the second change."""
    node = next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")
    memory.checkpoint("hall")
    memory.correct("hall", node.id, label="use MariaDB for bookings", detail="the host offers it")
    memory.pin("hall", node.id)
    memory.invalidate("hall", node.id, "it is full")
    told = text_of(visitor.get("history?id=hall&from=checkpoint-2").body).partition("Changed (2)")[2]
    told = told.partition("Replacements")[0]
    assert "rejected" in told or "declared wrong" in told
    assert "invalidated" not in text_of(visitor.get("facts?id=hall").body)
    for said in (f"said: {node.label} use MariaDB for bookings", "the host offers it", "pinned: no yes"):
        assert said in told


def test_what_a_list_leaves_out_is_one_link_away(visitor: Visitor, memory: SessionMemory) -> None:
    memory.record("big", [{"role": "user", "content": f"Look at src/part_{number}.py please."} for number in range(40)])
    for _ in range(12):
        memory.checkpoint("big")
    page = visitor.get("history?id=big&from=start")
    assert "<bdi>src/part_1.py</bdi></a>" not in page.body
    assert ">checkpoint-1</strong>" not in page.body
    (more,) = {one.replace("&amp;", "&") for one in re.findall(r'href="([^"]+)">[\d,]+ more</a>', page.body)}
    assert re.search(r'href="[^"]+">2 older</a>', page.body)
    whole = visitor.get(more).body
    assert "<bdi>src/part_1.py</bdi></a>" in whole
    assert ">checkpoint-1</strong>" in whole
    assert not re.search(r"[\d,]+ (more|older)<", whole)


def test_only_goals_begin_with_a_capital(visitor: Visitor, memory: SessionMemory) -> None:
    heading = re.compile(r'<h2(?: class="([^"]+)")?>(?:<[^>]+>)*hall/schema.sql')
    file = next(node for node in memory.graph("hall").nodes("file"))
    found = heading.search(visitor.get(f"fact?id=hall&node={file.id}").body)
    assert found is not None
    assert found[1] is None
    assert '<h1 class="goal one-line"' in visitor.get("session?id=hall").body
    memory.record("bare", [{"role": "user", "content": "hm, and then?"}])
    assert '<h1 class="one-line" title="hm, and then?"><bdi>hm, and then?</bdi>' in visitor.get("session?id=bare").body
    assert re.findall(r"([^{}]+)\{[^{}]*text-transform: uppercase", visitor.get("static/dashboard.css").body) == [
        "\n.goal::first-letter "
    ]


def test_what_stays_does_not_move_through_time(visitor: Visitor, memory: SessionMemory) -> None:
    history = [{"role": "user", "content": f"Look at src/part_{number}.py please."} for number in range(22)]
    for count in range(1, len(history) + 1):
        memory.record("parts", history[:count])
    now = places(visitor.get("graph?id=parts").body)
    assert len({x for x, _ in now.values()}) <= 4
    times = sorted(
        {time for node in memory.graph("parts").nodes() for time, _ in memory.graph("parts").life(node.id).moves}
    )
    for time in times[::5]:
        for by in ("recorded", "valid"):
            page = visitor.get(f"graph?id=parts&at={time!r}&as={by}").body.partition("is-narrow")[0]
            then = places(page)
            assert then
            assert then.items() <= now.items()
            counts = re.findall(r'class="tm-heading"[^>]*>[^<(]+\((\d+)\)', page)
            assert sum(map(int, counts)) == len(then)


def places(page: str) -> dict[str, tuple[str, str]]:
    """Where the facts of a picture stand, on a wide screen."""
    wide = page.partition("is-narrow")[0]
    found = re.findall(r'class="tm-node[^"]*" x="(\d+)" y="(\d+)"[^>]* data-id="([^"]+)"', wide)
    return {id: (x, y) for x, y, id in found}


def test_a_fact_tells_who_said_it_and_what_it_replaced(visitor: Visitor, memory: SessionMemory) -> None:
    node = next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")
    told = text_of(visitor.get(f"fact?id=hall&node={node.id}").body)
    assert "Switch from SQLite to PostgreSQL because of concurrent writes" in told
    assert "user in message 5" in told
    assert "concurrent writes" in told.partition("How it came to this")[2]


def test_facts_by_type_and_status(visitor: Visitor) -> None:
    assert "hall/schema.sql" not in text_of(visitor.get("facts?id=hall&type=goal").body)
    open_ = text_of(visitor.get("facts?id=hall&status=open").body)
    assert "write the schema first" in open_
    assert "No fact matches" in text_of(visitor.get("facts?id=hall&type=agent").body)
    assert visitor.get("facts?id=hall&type=x&status=y&page=-3").status == 200


def test_searching_one_session_and_all(visitor: Visitor) -> None:
    for page in ("search?q=database", "search?q=database&id=hall"):
        told = text_of(visitor.get(page).body)
        assert "PostgreSQL" in told
    assert "No fact shares words" in text_of(visitor.get("search?q=xyzzy").body)


def test_many_sessions_in_pages(memory: SessionMemory, visitor: Visitor) -> None:
    for number in range(60):
        memory.record(
            f"s/{number:02} & more", [{"role": "user", "content": f"Let's build a shed for neighbour {number}."}]
        )
    page, seen = visitor.get(""), []
    for _ in range(5):
        seen += re.findall(r'href="session\?id=([^"&]+)"', page.body)
        older = re.search(r'href="([^"]+)" class="button" rel="next"', page.body)
        if older is None:
            break
        page = visitor.get(older.group(1).replace("&amp;", "&"))
    assert len(seen) == len(set(seen)) == 61
    assert visitor.get(f"session?id={seen[0]}").status == 200
    found = re.findall(r'href="session\?id=([^"&]+)"', visitor.get("?find=S/07").body)
    assert len(found) == 1
    assert len(re.findall(r'href="session\?id=([^"&]+)"', visitor.get("?find=neighbour%2041").body)) == 1
    assert "No session matches" in text_of(visitor.get("?find=xyzzy").body)


def test_many_facts_in_pages(memory: SessionMemory, visitor: Visitor) -> None:
    memory.record(
        "big", [{"role": "user", "content": f"Look at src/part_{number}.py please."} for number in range(130)]
    )
    files = len(memory.graph("big").nodes("file"))
    assert files > 100
    for page, count in ((1, 50), (2, 50), (3, files - 100)):
        body = visitor.get(f"facts?id=big&type=file&page={page}").body
        assert len(re.findall(r'class="first"', body)) == count
    assert "60 most important of" in text_of(visitor.get("graph?id=big").body)


def test_what_was_saved_is_told_net(tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'books.db'}", Settings(savings=True))
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    advice = text_of(visitor.get("savings").body)
    assert all(way in advice for way in ("Settings(savings=True)", "TOKENMIZER_SAVINGS=true", "Settings.load()"))
    call(memory, asked(chat(1)), answered(**used(2_000, 1_024)))
    memory.flush()
    for page in ("savings", "savings?id=s"):
        told = text_of(visitor.get(page).body)
        assert "read from the provider's cache 1,024" in told
        assert "By model" in told
        assert "$" in told and "Only tokens are shown" not in told
    memory.close()


def test_without_prices_tokens_are_shown_alone(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'books.db'}"
    memory = SessionMemory.open(store, Settings(savings=True))
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    call(memory, asked(chat(1), model="a model that nobody sells"), answered(**used(2_000, 1_024)))
    memory.flush()
    told = text_of(visitor.get("savings").body)
    assert "tokens sent 2,000" in told and "Only tokens are shown: no price of these models is known" in told
    assert "$" not in told and "[prices]" not in told
    memory.close()
    code = (
        "from tests.dashboard.visiting import TOKEN, Visitor, text_of\n"
        "from tokenmizer_mw import SessionMemory, Settings\n"
        "from tokenmizer_mw.server.dashboard import dashboard\n"
        f"memory = SessionMemory.open({store!r}, Settings(savings=True))\n"
        "print(text_of(Visitor(dashboard(memory, token=TOKEN)).sign_in().get('savings').body))"
    )
    done = run_without("genai_prices", "-c", code, home=tmp_path)
    assert "tokens sent 2,000" in done.stdout and "[prices]" in done.stdout


def test_every_reason_says_what_to_do() -> None:
    assert {*TROUBLES, "store_unavailable", "draining", "limits_unavailable", "limits_not_shared"} <= REASONS.keys()
    assert {f"store_{cause}" for cause in get_args(StoreCause) if cause not in ("", "closed")} <= REASONS.keys()


def test_where_there_is_nothing_the_page_teaches(tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'new.db'}")
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    told = visitor.get("").body
    assert "No sessions yet" in told
    assert "TokenMizerMiddleware" in told
    assert "tokenmizer-mw install claude-code" in told
    for page in ("search?q=x", "savings", "status"):
        assert visitor.get(page).status == 200
    memory.record("bare", [{"role": "user", "content": "Hm."}])
    for page in ("session", "transcript", "graph", "facts", "history", "compare", "request", "forget"):
        assert visitor.get(f"{page}?id=bare").status == 200, page
    memory.close()


@pytest.mark.parametrize(
    ("page", "status"),
    [
        ("session?id=nobody", 404),
        ("session", 404),
        ("session?id=" + "x" * 400, 404),
        ("session?id=%00", 404),
        ("session?id=%ff%fe", 404),
        ("fact?id=hall&node=task-999", 404),
        ("fact?id=hall", 404),
        ("graph?id=hall&at=nan&as=never", 200),
        ("graph?id=hall&at=1e400", 200),
        ("graph?id=hall&at=-5", 200),
        ("graph?id=hall&at=99999999999", 200),
        ("history?id=hall&from=checkpoint-99&to=x", 200),
        ("transcript?id=hall&page=0&message=99999999", 200),
        ("transcript?id=hall&message=2&whole=1", 200),
        ("transcript?id=hall&role=x&q=%00", 200),
        ("compare?id=hall&from=checkpoint-99&to=x", 200),
        ("request?id=hall&cut=checkpoint-99&turn=x", 200),
        ("transcript?id=nobody", 404),
        ("?before=nan&last=x", 200),
        ("?before=1e9&last=%01", 200),
        ("session?" + "a=1&" * 60, 400),
        ("nowhere", 404),
        ("static/../app.py", 404),
        ("static/", 404),
    ],
)
def test_bad_addresses_say_what_is_wrong(page: str, status: int, visitor: Visitor) -> None:
    answer = visitor.ask("GET", page)
    assert answer.status == status
    assert "<h1" in answer.body


def test_health_says_that_nothing_was_remembered_where_requests_only_passed(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    memory.service.counters.add("no_session")
    page = visitor.get("status").body
    assert "All is well" not in text_of(page)
    assert "Nothing was remembered yet" in text_of(page) and "send the header x-session-id" in text_of(page)
    assert 'docs/not-remembered.md"' in page
    memory.service.counters.add("turn_complete")
    assert "All is well" in text_of(visitor.get("status").body)
    memory.service.counters.add("window_exceeded")
    text = text_of(visitor.get("status").body)
    assert "All is well" not in text and "window_exceeded Requests larger than the model's window" in text


def test_health_shows_counters_to_admins_only(memory: SessionMemory) -> None:
    memory.service.counters.add("turn_complete")
    caller = Caller("local", "key", frozenset({"read"}))
    text = text_of(Visitor(dashboard(memory, authorize=lambda scope: caller)).get("status").body)
    assert "counted nothing yet" not in text and "turn_complete" not in text
    assert "The counters are shown to callers with the scope admin." in text


def test_health_says_what_it_cannot_see_and_when_anything_was_recorded(
    memory: SessionMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a dashboard beside a proxy or hooks: this process has recorded no request."""
    for name in ("XDG_RUNTIME_DIR", "TOKENMIZER_HOOK_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    [folder, _] = hook_folders({"TMPDIR": str(tmp_path)})
    Path(folder).mkdir()
    (Path(folder) / "1a2b3c4d.log").touch()
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    text = text_of(visitor.get("status").body)
    assert "All is well" not in text and "The store answers" in text
    assert "cannot be seen from here" in text
    assert "The store last recorded something" in text and "in hall" in text
    assert "Hooks" not in text and "Errors of hooks" not in text
    assert "This process has counted nothing yet" in text
    session = f"{project_named('/home/ada/shop')}{SEPARATOR}6f1d2c3b"
    memory.record(session, [{"role": "user", "content": "Use Redis."}])
    memory.record("hall", [{"role": "user", "content": "Use Redis."}])
    text = text_of(visitor.get("status").body)
    assert re.search(rf"Hooks of coding agents last recorded something .*, in {re.escape(session)} \.", text)
    assert f"Errors of hooks are in a log of their own: {folder}/*.log ." in text


def test_a_session_of_hooks_says_why_it_has_no_requests(visitor: Visitor, memory: SessionMemory) -> None:
    """Its agent may have compacted its chat: nothing on its pages denies that."""
    for page in ("request?id=hall", "savings?id=hall", "session?id=hall"):
        text = text_of(visitor.get(page).body)
        assert "Nothing was cut" not in text and "No calls are recorded" not in text
        assert "No request of this session was seen: hooks, an import or memory.record stored its messages" in text
        assert "Hooks set a checkpoint before each compaction of the agent" in text
        assert "this session has 1 checkpoint , the last one at message 4" in text
        assert "tokenmizer-mw serve" in text
    state = memory.view("hall", lambda state: (state.seq, len(state.transcript)))
    closed = TurnClosed(state[1], Outcome.COMPLETE)
    memory.log.append(SessionKey("local", "hall"), [closed], expected_seq=state[0])
    told = text_of(visitor.get("request?id=hall").body)
    assert "Nothing was cut" in told
    assert re.search(r"The messages have \d+ tokens, 0% of the 108,800 above which a request is cut: 85% of the", told)
    assert "window of 128,000 tokens that is assumed where the model is not known here" in told
    assert "Nothing was cut" in text_of(visitor.get("session?id=hall").body)
    assert "No calls are recorded" in text_of(visitor.get("savings?id=hall").body)


def test_a_store_that_is_away_is_told(memory: SessionMemory) -> None:
    visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()
    memory.log.close()
    for page in ("", "session?id=hall", "history?id=hall"):
        answer = visitor.ask("GET", page)
        assert answer.status == 503
        assert "cannot be used at the moment" in text_of(answer.body)
    assert "store_unavailable" in text_of(visitor.get("status").body)


def test_other_methods_are_refused(visitor: Visitor) -> None:
    assert visitor.ask("PUT", "session?id=hall").status == 405
    assert visitor.ask("POST", "session", b"").status in (400, 403)
    head = visitor.ask("HEAD", "session?id=hall")
    assert (head.status, head.body) == (200, "")
    assert int(head.header("content-length")) > 1_000


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[click](javascript:alert(1))",
    "</bdi></a></pre><svg onload=alert(1)>",
    "\u202egnp.exe\u202d",
    "x" * 10_000,
    "\x1b[31mred",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_words_are_words(text: str, memory: SessionMemory, visitor: Visitor) -> None:
    node = next(node for node in memory.graph("hall").nodes("decision") if node.value == "postgresql")
    memory.correct("hall", node.id, label=text[:LABEL_MAX], detail=text, reason=text)
    memory.invalidate("hall", node.id, text)
    for page in (*PAGES[:-2], f"fact?id=hall&node={node.id}", f"search?q={text[:100]}"):
        body = visitor.get(page).body
        for name, attributes in elements_of(body):
            assert name != "script" or attributes.get("src") == "static/dashboard.js"
            assert not [one for one in attributes if one.startswith("on") or one == "style"]
            assert not (attributes.get("href") or "").startswith("javascript:")
        assert "\u202e" not in body
        assert "\x1b" not in body
        assert "x" * 1_100 not in body


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_leaves_its_element(text: str, value: str) -> None:
    made = tag("p", text, title=value)
    assert made.count("<") == made.count(">") == 2
    assert made.count('"') == 2
    assert tag("p", Markup("<b>x</b>")) == "<p><b>x</b></p>"


@settings(max_examples=25)
@given(st.data())
def test_the_past_is_what_the_log_says(data: st.DataObject) -> None:
    memory = SessionMemory.open("memory://")
    pasts, key = PastGraphs(), SessionKey("local", "s")
    for number in range(data.draw(st.integers(1, 6))):
        memory.record("s", [*CHAT, *LATER][: number + 1])
        memory.graph("s")
        events = memory.log.read(key)
        time = data.draw(st.sampled_from(events)).recorded_at
        assert pasts.at(memory, key, time).to_dict() == memory.graph("s", recorded_at=time).to_dict()
        assert facts_of(pasts.facts_upto(memory, key, events[-1].seq)) == facts_of(memory.graph("s"))
    memory.close()


def test_the_past_of_a_stored_session_has_the_facts_of_messages_that_were_read_later(tmp_path: Path) -> None:
    key = SessionKey("local", "s")
    with closing(SessionMemory.open(f"sqlite:///{tmp_path / 'chat.db'}")) as memory:
        for count in range(1, len(CHAT) + 1):
            memory.record("s", CHAT[:count])
            memory.graph("s")
        pasts = PastGraphs()
        for time in {one.recorded_at for one in memory.log.read(key)}:
            then = memory.graph("s", recorded_at=time)
            assert len(then)
            assert pasts.at(memory, key, time).to_dict() == then.to_dict()


@settings(max_examples=60)
@given(logs(), st.data())
def test_a_past_graph_is_that_of_the_events_until_then_whatever_was_asked_before(
    log: list[Recorded], data: st.DataObject
) -> None:
    pasts, key = PastGraphs(), SessionKey("local", "s")
    with TemporaryDirectory() as folder, closing(SessionMemory.open(f"sqlite:///{folder}/chat.db")) as memory:
        memory.log.load(key, [replace(one, seq=3 * one.seq) for one in log], expected_seq=0)
        memory.log.append(key, [Derived(1)], expected_seq=3 * len(log))
        memory.graph("s")  # extracts what messages there lack
        events = memory.log.read(key)
        for one in data.draw(st.lists(st.sampled_from(events), min_size=1, max_size=4)):
            then = pasts.at(memory, key, one.recorded_at)
            assert then.to_dict() == memory.graph("s", recorded_at=one.recorded_at).to_dict()
            assert [then.life(node.id) for node in then.nodes()] == [
                memory.graph("s", recorded_at=one.recorded_at).life(node.id) for node in then.nodes()
            ]
            whole = fold([each for each in events if each.seq <= one.seq]).graph
            assert facts_of(pasts.facts_upto(memory, key, one.seq)) == facts_of(whole)


def facts_of(graph: SessionGraph) -> tuple[list[Node], list[Transition]]:
    return graph.nodes(), graph.transitions()


def test_a_past_graph_before_the_first_event_is_empty(memory: SessionMemory) -> None:
    pasts, key = PastGraphs(), SessionKey("local", "hall")
    assert not len(pasts.at(memory, key, 1.0))
    assert not len(pasts.facts_upto(memory, key, 0))
    assert pasts.at(memory, key, 1e11).to_dict() == memory.graph("hall").to_dict()
    assert not len(pasts.at(memory, SessionKey("local", "nobody"), 1e11))


def test_the_numbers_of_the_overview_are_those_of_the_lists_behind_them(
    visitor: Visitor, memory: SessionMemory
) -> None:
    rule = [{"role": "user", "content": "Never send mail from a test. We will not use MongoDB, nobody knows it."}]
    memory.record("hall", [*CHAT, *LATER, *rule])
    page = visitor.get("session?id=hall").body
    counts = re.findall(r'href="(facts\?id=hall&amp;type=\w+)">(?:(?!</a>).)*<b>(\d+)</b>', page)
    assert counts
    for address, count in counts:
        listed = text_of(visitor.get(unescape(address)).body)
        assert f"{count} fact" in listed
    assert sum(int(count) for _, count in counts) == len(memory.graph("hall").nodes())
    for type_, title in (("choice", "Decisions in force"), ("rule", "Rules"), ("option", "Proposed")):
        shown = page.partition(f"<h2>{title}</h2>")[2].partition("</section>")[0].count("<li>")
        listed = visitor.get(f"facts?id=hall&type={type_}&status=current").body
        assert listed.partition("<tbody>")[2].count("<tr>") == shown


def test_the_comparison_begins_with_the_newest_checkpoint_before_now(tmp_path: Path) -> None:
    with closing(SessionMemory.open(f"sqlite:///{tmp_path / 'chat.db'}")) as memory:
        board = Visitor(dashboard(memory, token=TOKEN)).sign_in()
        memory.record("hall", CHAT)
        memory.checkpoint("hall")
        memory.record("hall", [*CHAT, *LATER])
        memory.checkpoint("hall")
        page = board.get("compare?id=hall").body
    assert ">Checkpoint-1</h2>" in page
    assert ">Now</h2>" in page
