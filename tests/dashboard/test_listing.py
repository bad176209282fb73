"""Finding, filtering and sorting sessions and facts, and taking them away as files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.savings.calling import answered, asked, call, chat, used
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.graph.export.formats import FORMATS
from tokenmizer_mw.model.event import TurnClosed
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.usage import CALL, UsageSums, total
from tokenmizer_mw.server.dashboard import dashboard
from tokenmizer_mw.server.dashboard.page import csv_file
from tokenmizer_mw.server.dashboard.savings import TABLES, draw_chart
from tokenmizer_mw.server.dashboard.sessions import FOUND_EVENTS_MAX

from .visiting import CHAT, TOKEN, Visitor, text_of

IDS = re.compile(r'href="session\?id=([^"&]+)"')
FACTS = re.compile(r'class="fact-link"><bdi>([^<]+)</bdi>')


@pytest.fixture
def visitor(memory: SessionMemory) -> Visitor:
    memory.record("attic", [{"role": "user", "content": "Let's build a ladder for the attic."}])
    memory.record("zoo", [*CHAT, {"role": "user", "content": "Let's plan the visit of the zoo."}])
    memory.record("bare", [{"role": "user", "content": "Hm."}])
    return Visitor(dashboard(memory, token=TOKEN)).sign_in()


def test_sessions_are_found_by_the_words_of_their_goal(visitor: Visitor) -> None:
    assert IDS.findall(visitor.get("?find=ladder%20ATTIC").body) == ["attic"]
    assert set(IDS.findall(visitor.get("?find=").body)) == {"hall", "attic", "zoo", "bare"}


def test_a_session_without_a_goal_is_known_by_its_first_question(visitor: Visitor) -> None:
    assert IDS.findall(visitor.get("?find=hm").body) == ["bare"]
    assert ">Hm.</bdi>" in visitor.get("?find=hm").body
    (row,) = json.loads(visitor.get("sessions.json?find=hm").body)
    assert (row["goal"], row["title"]) == ("", "Hm.")


def test_columns_say_what_they_count(visitor: Visitor) -> None:
    heads = dict(re.findall(r'<th scope="col"[^>]* title="([^"]+)">(?:<a[^>]*>)?(\w+)', visitor.get("").body))
    assert {name: text for text, name in heads.items()}.keys() == {"Messages", "Facts", "Open", "Events"}
    assert "errors that are not fixed" in " ".join(heads)


def test_sessions_are_filtered_by_open_work_and_by_age(visitor: Visitor, memory: SessionMemory) -> None:
    assert set(IDS.findall(visitor.get("?open=1").body)) == {"hall", "zoo"}
    assert set(IDS.findall(visitor.get("?days=7").body)) == {"hall", "attic", "zoo", "bare"}
    later = Visitor(dashboard(memory, token=TOKEN, clock=lambda: 4e9)).sign_in()
    assert IDS.findall(later.get("?days=7").body) == []


def record_long_sessions(memory: SessionMemory, *names: str) -> None:
    """Store sessions with more events than the lists read at once, each with a goal and open work."""
    for name in names:
        memory.record(name, [{"role": "user", "content": f"Let's build a {name}. TODO: write the tests."}])
        state = memory.view(name, lambda state: (state.seq, len(state.transcript)))
        closed = [TurnClosed(state[1], Outcome.COMPLETE)] * (FOUND_EVENTS_MAX + 1)
        memory.log.append(SessionKey("local", name), closed, expected_seq=state[0])


def test_a_list_summarises_a_session_that_is_longer_than_it_reads(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'long.db'}"
    with SessionMemory.open(address) as memory:
        record_long_sessions(memory, "barn")
    for query in ("", "?open=1", "?find=build"):
        with SessionMemory.open(address) as memory:
            row = Visitor(dashboard(memory, token=TOKEN)).sign_in().get(query).body.partition("<tbody>")[2]
            assert "build a barn" in row and '"Messages" class="number">1<' in row, query


def test_a_filter_says_which_sessions_it_does_not_know_yet(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'long.db'}"
    with SessionMemory.open(address) as memory:
        record_long_sessions(memory, "barn", "shed", "mill", "hut")
    with SessionMemory.open(address) as memory:
        visitor = Visitor(dashboard(memory, token=TOKEN)).sign_in()  # leads to the list, which reads the newest one
        visitor.get("session?id=barn")
        body = visitor.get("?find=build").body
        assert set(IDS.findall(body)) == {"hut", "mill", "barn"}, "one more, and the one that was opened"
        assert "open work of 1 long session are not known yet" in text_of(body)
        body = visitor.get("?open=1").body
        assert set(IDS.findall(body)) == {"hut", "mill", "barn", "shed"}
        assert "not known yet" not in text_of(body)


def test_sessions_are_sorted_by_a_column(visitor: Visitor) -> None:
    assert IDS.findall(visitor.get("?sort=started").body) == ["bare", "zoo", "attic", "hall"]
    by_name = IDS.findall(visitor.get("?sort=name").body)
    assert by_name.index("hall") < by_name.index("attic") < by_name.index("bare")
    assert 'aria-sort="ascending"' in visitor.get("?sort=name").body
    assert IDS.findall(visitor.get("?sort=events").body)[-1] == "bare"


@pytest.mark.parametrize("column", ["messages", "facts", "open"])
def test_sessions_are_sorted_by_what_is_counted(column: str, visitor: Visitor) -> None:
    body = visitor.get(f"?sort={column}").body
    label = column.capitalize()
    counts = [int(one) for one in re.findall(rf'data-label="{label}" class="number">(\d+)<', body)]
    assert len(counts) == 4 and counts == sorted(counts, reverse=True) and counts[0] > counts[-1]
    assert re.search(rf'<th scope="col" class="number" aria-sort="descending"[^>]*><a[^>]*>{label}<', body)
    assert [row["session"] for row in json.loads(visitor.get(f"sessions.json?sort={column}").body)] == IDS.findall(body)


def test_a_listing_counts_messages_facts_and_open_work(visitor: Visitor, memory: SessionMemory) -> None:
    row = visitor.get("?find=hall").body.partition("<tbody>")[2]
    counts = dict(re.findall(r'data-label="(\w+)" class="number">([\d,]+)<', row))
    graph = memory.graph("hall")
    assert counts["Messages"] == str(memory.view("hall", lambda state: len(state.transcript)))
    assert counts["Facts"] == str(len(graph))
    assert counts["Open"] == str(len(graph.unfinished_nodes()))


@pytest.mark.parametrize("query", ["", "?find=ladder", "?open=1&sort=name"])
def test_sessions_leave_as_csv_and_json(query: str, visitor: Visitor) -> None:
    shown = IDS.findall(visitor.get(query).body)
    links = {
        kind: unescape(link) for link, kind in re.findall(r'href="([^"]+)">(CSV|JSON)</a>', visitor.get(query).body)
    }
    rows = json.loads(visitor.get(links["JSON"]).body)
    assert sorted(row["session"] for row in rows) == sorted(shown)
    answer = visitor.get(links["CSV"])
    assert answer.header("content-disposition") == 'attachment; filename="sessions.csv"'
    table = list(csv.DictReader(io.StringIO(answer.body)))
    assert [row["session"] for row in table] == [row["session"] for row in rows]


def test_facts_are_sorted_by_each_column_both_ways(visitor: Visitor) -> None:
    down = FACTS.findall(visitor.get("facts?id=hall&sort=-fact").body)
    up = FACTS.findall(visitor.get("facts?id=hall&sort=fact").body)
    assert up == sorted(up, key=str.casefold) == down[::-1]
    body = visitor.get("facts?id=hall&sort=message").body
    numbers = [int(one) for one in re.findall(r'#m(\d+)"', body.partition("<tbody>")[2])]
    assert numbers == sorted(numbers)
    assert 'href="facts?id=hall&amp;sort=-message"' in body


def test_facts_leave_as_csv_and_json(visitor: Visitor, memory: SessionMemory) -> None:
    rows = json.loads(visitor.get("facts.json?id=hall&type=decision").body)
    assert {row["id"] for row in rows} == {node.id for node in memory.graph("hall").nodes("decision")}
    table = list(csv.DictReader(io.StringIO(visitor.get("facts.csv?id=hall").body)))
    assert len(table) == len(memory.graph("hall"))
    assert visitor.ask("GET", "facts.csv?id=nobody").status == 404


def test_a_cell_that_a_spreadsheet_would_compute_is_text() -> None:
    made = csv_file("x.csv", [{"a": "=1+1", "b": "@SUM(A1)", "c": -3, "d": None}]).body.decode()
    assert list(csv.reader(io.StringIO(made)))[1] == ["'=1+1", "'@SUM(A1)", "-3", ""]


@pytest.mark.parametrize("name", FORMATS)
def test_the_graph_leaves_in_every_format(name: str, visitor: Visitor, memory: SessionMemory) -> None:
    answer = visitor.get(f"export?id=hall&format={name}")
    assert answer.status == 200
    assert answer.body == memory.export("hall", name)
    assert answer.header("content-disposition") == f'attachment; filename="hall{FORMATS[name].suffix}"'
    assert f"export?id=hall&amp;format={name}" in visitor.get("graph?id=hall").body


def test_replacements_stay_in_the_picture_of_a_large_session(visitor: Visitor, memory: SessionMemory) -> None:
    talk = [{"role": "user", "content": "We use SQLite for orders."}]
    talk += [{"role": "user", "content": f"Look at src/part_{number}.py please."} for number in range(120)]
    talk += [{"role": "user", "content": "Switch from SQLite to PostgreSQL because of concurrent writes."}]
    memory.record("large", talk)
    (step,) = memory.graph("large").transitions()
    picture = visitor.get("graph?id=large").body
    assert "60 most important of" in picture
    assert f'data-id="{step.old}"' in picture
    assert f'data-id="{step.new}"' in picture
    assert re.search(r'class="tm-word tm-word-supersedes"[^>]*>replaces<', picture)


def test_savings_are_drawn_by_day(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("books") / "books.db"
    memory = SessionMemory.open(f"sqlite:///{path}", Settings(savings=True))
    call(memory, asked(chat(1)), answered(**used(2_000, 1_024)))
    memory.flush()
    sums = [row for row in memory.savings(by=("day",)).rows if row.stage == CALL]
    days = {row.day: total([row.figures]) for row in sums}
    body = Visitor(dashboard(memory, token=TOKEN)).sign_in().get("savings").body
    assert str(draw_chart(days)) in body
    (day,) = days
    assert f"{day}: {days[day].input_tokens:,} sent" in body
    assert "Input tokens by day" in text_of(body)
    assert draw_chart({}) is None
    memory.close()


@pytest.fixture
def booked(tmp_path: Path) -> Iterator[SessionMemory]:
    """Calls of three models, one of which has no price."""
    with SessionMemory.open(
        f"sqlite:///{tmp_path / 'books.db'}", Settings(savings=True, context_window=1_500)
    ) as memory:
        call(memory, asked(chat(14, words=60), model="gpt-5.1"), answered(**used(1_100, 1_024)))
        for count, model in ((2, "gpt-5-mini"), (1, "nobody's")):
            for number in range(count):
                call(memory, asked(chat(number + 1), model=model), answered(**used(2_000, 1_024)))
        memory.flush()
        yield memory


@pytest.mark.parametrize("by", TABLES)
def test_savings_are_sorted_by_each_column_both_ways(by: str, booked: SessionMemory) -> None:
    visitor = Visitor(dashboard(booked, token=TOKEN)).sign_in()
    table = TABLES[by]  # type: ignore[index]
    for name in (by, *(column.name for column in table.columns)):
        up = json.loads(visitor.get(f"savings.json?by={by}&by_{by}={name}").body)
        down = json.loads(visitor.get(f"savings.json?by={by}&by_{by}=-{name}").body)
        values = [row[name] or 0 for row in up]
        assert values == sorted(values) and [row[name] or 0 for row in down] == values[::-1]
        body = visitor.get(f"savings?by_{by}=-{name}").body
        shown = body.partition(f'id="by-{by}"')[2].partition("</table>")[0]
        assert shown.count("aria-sort") == 1 and f'href="savings?by_{by}={name}#by-{by}"' in shown
        assert f'href="savings.csv?by={by}&amp;by_{by}=-{name}"' in body
    assert visitor.get(f"savings?by_{by}=nonsense").status == 200


def test_savings_leave_as_csv_and_json(booked: SessionMemory) -> None:
    visitor = Visitor(dashboard(booked, token=TOKEN)).sign_in()
    answer = visitor.get("savings.csv?by=model&by_model=-calls")
    assert answer.header("content-disposition") == 'attachment; filename="savings-by-model.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.body)))
    assert [row["model"] for row in rows] == ["gpt-5-mini", "gpt-5.1", "nobody's"]
    assert [bool(row["cost"]) for row in rows] == [True, True, False], "no price, no amount"
    (cut,) = (row for row in json.loads(visitor.get("savings.json?by=stage").body) if row["stage"] == "cut")
    whole = booked.savings().stages["cut"]
    assert (cut["tokens_saved"], cut["saved"]) == (whole.saved_tokens, whole.saved / 1e9)
    (day,) = json.loads(visitor.get("savings.json").body)
    assert day["calls"] == 4
    assert visitor.ask("GET", "savings.csv?id=nobody").status == 404


@pytest.mark.parametrize(
    ("most", "scale"),
    [(1, ["2", "1", "0"]), (980, ["1k", "500", "0"]), (10_169_922, ["12M", "6M", "0"]), (41_000, ["50k", "25k", "0"])],
)
def test_the_scale_of_a_chart_is_round_and_holds_every_bar(most: int, scale: list[str]) -> None:
    figures = UsageSums(calls=1, input_tokens=most // 3, client_tokens=most)
    drawn = str(draw_chart({"2026-03-30": figures, "2026-01-01": UsageSums(input_tokens=10 * most)}))
    assert re.findall(r"<span>([\d.]+[kMB]?)</span>", drawn) == scale
    assert re.findall(r"<span>(\d+ \w+)</span>", drawn) == ["1 Mar", "8 Mar", "15 Mar", "23 Mar", "30 Mar"]
    heights = [(float(y), float(height)) for y, height in re.findall(r' y="([\d.]+)"[^>]* height="([\d.]+)"', drawn)]
    assert heights
    assert all(y >= 0 and y + height <= 160.2 for y, height in heights)
    assert "2026-01-01" not in drawn
