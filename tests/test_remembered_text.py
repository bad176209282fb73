"""Facts added by hand: what their words say of a reason, a value, and what they replace."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from tests.dashboard.visiting import TOKEN, Visitor
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.graph.export.documents import outline, tree
from tokenmizer_mw.graph.export.svg import draw
from tokenmizer_mw.model.event import NodeAdded
from tokenmizer_mw.model.node import Node, NodeType, Source, Status
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.server.dashboard import dashboard
from tokenmizer_mw.session.remembered_text import read_change, read_value, split_off_reason


@pytest.mark.parametrize(
    ("before", "text", "value"),
    [
        ("Use SQLite for storage", "database: PostgreSQL 16", "postgresql"),
        ("Use SQLite for storage", "Postgres 16", "postgresql"),
        ("database: Postgres 15", "database: MariaDB", "mariadb"),
        ("queue: RabbitMQ", "queue: Kafka 4", "kafka"),
        ("queue: RabbitMQ 3.13", "queue: Kafka", "kafka"),
        ("runtime: Deno", "runtime: Node 20", "node 20"),
        ("We deploy with Ansible", "We deploy with Kamal instead of Ansible", ""),
        ("We deploy with Ansible", "We deploy with Kamal, no longer with Ansible.", ""),
        ("Wir deployen mit Ansible", "Kamal statt Ansible", ""),
        ("Use SQLite for storage", "Switch from SQLite to PostgreSQL", "postgresql"),
        ("Use SQLite for storage", "Move the orders of our shop from SQLite to PostgreSQL", "postgresql"),
        ("Use SQLite for storage", "We now replace sqlite3 by PostgreSQL 16", "postgresql"),
    ],
)
def test_a_new_value_replaces_the_old_one(before: str, text: str, value: str) -> None:
    with SessionMemory.open() as memory:
        old = memory.remember("s", before, create=True)
        new = memory.remember("s", text)
        assert ([one.id for one in new.replaced], new.value) == ([old.id], value)
        memory.undo("s")
        assert [node.id for node in memory.graph("s").nodes() if node.current] == [old.id]


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("Django with SQLite", "PostgreSQL instead of SQLite", "Django with PostgreSQL"),
        ("Django with SQLite", "database: Postgres", "Django with Postgres"),
        ("Django with SQLite", "switch from sqlite3 to PostgreSQL", "Django with PostgreSQL"),
        ("Django with SQLite", "Django with PostgreSQL instead of SQLite", ""),
        ("SQLite with WAL mode", "PostgreSQL instead of SQLite", ""),
        ("SQLite for storage", "PostgreSQL instead of SQLite", ""),
        ("queue: Kafka, no longer RabbitMQ", "NATS instead of Kafka", ""),
        (
            "MQTT for sensors and InfluxDB for curves",
            "Use SQLite instead of InfluxDB",
            "MQTT for sensors and SQLite for curves",
        ),
        ("Pancakes with honey", "syrup instead of honey", "Pancakes with syrup"),
        ("We deploy with Ansible", "We deploy with Kamal instead of Ansible", ""),
    ],
)
def test_a_new_value_keeps_what_the_replaced_fact_states_besides(before: str, text: str, after: str) -> None:
    with SessionMemory.open() as memory:
        old = memory.remember("s", before, "choice", create=True)
        new = memory.remember("s", text, "choice")
        assert ([one.id for one in new.replaced], new.label, new.text) == (
            [old.id],
            after or text,
            text if after else "",
        )
        assert (f"worded as {after}: what else the replaced fact states stays" in new.effects) is bool(after)
        assert memory.remember("s", text, "choice") == new
        memory.undo("s")
        assert [node.id for node in memory.graph("s").nodes() if node.current] == [old.id]


def test_a_choice_keeps_what_a_note_states_besides() -> None:
    with SessionMemory.open() as memory:
        label = "MQTT for the sensors and InfluxDB for the curves"
        note = Node("concept-1", NodeType.CONCEPT, label, Status.ACTIVE, Source(0, "user"), 0.5)
        memory.log.append(SessionKey("local", "s"), [NodeAdded(note)], expected_seq=0)
        new = memory.remember("s", "Use SQLite instead of InfluxDB")
        assert (new.label, new.replaced[0].id) == ("MQTT for the sensors and SQLite for the curves", note.id)
        assert "MQTT for the sensors and SQLite for the curves (was" in memory.resume("s").text


def test_a_rule_that_names_a_part_of_a_fact_leaves_the_fact() -> None:
    with SessionMemory.open() as memory:
        old = memory.remember("s", "Django with SQLite", create=True)
        rule = memory.remember("s", "Always use PostgreSQL instead of SQLite")
        assert (rule.label, rule.replaced) == ("Always use PostgreSQL instead of SQLite", ())
        assert memory.graph("s").get(old.id) == old


def test_a_value_from_a_message_with_a_version_is_replaced() -> None:
    with SessionMemory.open() as memory:
        memory.record("s", [{"role": "user", "content": "Use PostgreSQL 15 for storage."}])
        (old,) = memory.graph("s").nodes("decision")
        assert [one.id for one in memory.remember("s", "database: MariaDB").replaced] == [old.id]


def test_what_is_named_is_replaced_with_its_scope() -> None:
    with SessionMemory.open() as memory:
        orders = memory.remember("s", "SQLite for the orders", create=True)
        memory.remember("s", "database: MySQL")
        new = memory.remember("s", "Use PostgreSQL instead of SQLite")
        assert ([one.id for one in new.replaced], new.slot) == ([orders.id], orders.slot)


def test_of_two_facts_that_are_named_neither_is_replaced_unless_the_other_words_tell_which() -> None:
    with SessionMemory.open() as memory:
        deploy = memory.remember("s", "We deploy with Ansible", create=True)
        laptops = memory.remember("s", "Laptops are set up with Ansible")
        assert memory.remember("s", "Puppet instead of Ansible").replaced == ()
        assert [one.id for one in memory.remember("s", "We deploy with Kamal instead of Ansible").replaced] == [
            deploy.id
        ]
        assert memory.graph("s").get(laptops.id).current  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["Never use MySQL", "Don't use MySQL 8 here", "We avoid MySQL", "Kein MySQL"])
def test_a_text_that_forbids_a_product_replaces_none(text: str) -> None:
    with SessionMemory.open() as memory:
        memory.remember("s", "PostgreSQL for storage", create=True)
        assert memory.remember("s", text).replaced == ()
        assert read_value(text) is None


@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [
        ("Switch from SQLite to PostgreSQL because of locks", "Switch from SQLite to PostgreSQL", "locks"),
        ("We use uv, because it is fast.", "We use uv", "it is fast"),
        ("Postgres, weil SQLite sperrt", "Postgres", "SQLite sperrt"),
        ("We use uv", "We use uv", ""),
    ],
)
def test_a_reason_is_split_off(text: str, label: str, reason: str) -> None:
    assert split_off_reason(text) == (label, reason)
    with SessionMemory.open() as memory:
        fact = memory.remember("s", text, create=True)
        assert (fact.label, fact.detail) == (label, reason)
        assert memory.remember("s", text).number == 1


def test_a_rule_keeps_its_words_and_a_given_reason_counts() -> None:
    with SessionMemory.open() as memory:
        rule = memory.remember("s", "Never push to main because CI is slow", create=True)
        assert (rule.label, rule.detail) == ("Never push to main because CI is slow", "")
        fact = memory.remember("s", "We use uv because it is fast", reason="the team knows it")
        assert (fact.label, fact.detail) == ("We use uv because it is fast", "the team knows it")


def test_a_text_without_a_change_names_nothing_old() -> None:
    assert (read_change("We deploy with Kamal").new, read_change("We deploy with Kamal").old) == (
        "We deploy with Kamal",
        "",
    )


def test_words_in_a_row_name_a_fact_before_words_that_are_shared() -> None:
    with SessionMemory.open() as memory:
        for text in (
            "Postgres 16",
            "Node version: 20",
            "Not in this version: exports",
            "exports are not in this version",
        ):
            memory.remember("s", text, create=True)
        assert memory.invalidate("s", "not in this version", "later").after.label == "Not in this version: exports"


@pytest.mark.parametrize("text", ["PostgreSQL", "Postgres", "pg 16", "postgresql 16"])
def test_a_product_is_found_by_each_of_its_spellings(text: str) -> None:
    with SessionMemory.open() as memory:
        memory.remember("s", "Postgres 16", create=True)
        found = memory.why("s", text)
        assert found is not None
        assert found.node.label == "Postgres 16"
        assert memory.search("s", text)
        assert memory.pin("s", text).after.pinned


def test_what_was_undone_is_found_by_its_id_alone() -> None:
    with SessionMemory.open() as memory:
        old = memory.remember("s", "database: SQLite", create=True)
        gone = memory.remember("s", "database: PostgreSQL")
        memory.undo("s")
        assert memory.why("s", "PostgreSQL") is None
        assert memory.search("s", "PostgreSQL") == []
        explained = memory.why("s", gone.id)
        assert explained is not None
        assert explained.text.startswith("database: PostgreSQL (decision, undone)")
        assert outline(memory.graph("s")) == ["decisions (1)", "   *  database: SQLite (by hand)"]
        assert "PostgreSQL" not in memory.export("s", "md")
        again = memory.remember("s", "database: PostgreSQL")
        found = memory.why("s", "PostgreSQL")
        assert found is not None
        assert found.node.id == again.id
        assert [one.id for one in again.replaced] == [old.id]


def test_an_invalidation_says_what_is_in_force_again() -> None:
    with SessionMemory.open() as memory:
        old = memory.remember("s", "database: SQLite", create=True)
        memory.remember("s", "database: PostgreSQL")
        done = memory.invalidate("s", "PostgreSQL", "the licence")
        assert [one.id for one in done.restored] == [old.id]
        assert done.effects == [f"in force again: {old.id} database: SQLite"]
        undone = memory.undo("s")
        assert (undone.restored, undone.effects) == ((), [])


def test_a_withdrawn_fact_is_called_that() -> None:
    with SessionMemory.open() as memory:
        memory.remember("s", "database: PostgreSQL", reason="locks", create=True)
        memory.invalidate("s", "PostgreSQL", "misread", never_true=True)
        assert outline(memory.graph("s"))[1].endswith("withdrawn: misread")
        document = memory.export("s", "md")
        assert "choice, withdrawn, by hand" in document
        assert "  - because: locks\n  - withdrawn because: misread\n" in document


@pytest.mark.parametrize("format", ["md", "mermaid", "canvas", "html", "tree", "svg", "dashboard"])
def test_every_picture_calls_a_withdrawn_fact_that(format: str) -> None:
    with SessionMemory.open() as memory:
        memory.remember("s", "database: PostgreSQL", create=True)
        memory.invalidate("s", "PostgreSQL", "misread", never_true=True)
        graph = memory.graph("s")
        if format == "tree":
            out = io.StringIO()
            Console(file=out, width=200).print(tree(graph))
            text = out.getvalue()
        elif format == "dashboard":
            text = Visitor(dashboard(memory, token=TOKEN)).sign_in().get("facts?id=s").body.partition("<tbody>")[2]
        else:
            text = draw(graph) if format == "svg" else memory.export("s", format)
        assert "withdrawn" in text
        if format == "html":
            data = json.loads(re.findall(r'id="data">(.*?)</script>', text)[0])
            [[_, first], [_, last]] = data["nodes"][0]["moves"]
            assert [data["statuses"][index][2] for index in (first, last)] == ["active", "withdrawn"]
            assert last in data["over"]
            text = text.partition('class="lane')[2].partition("<script")[0]
        assert "rejected" not in text


def test_a_sentence_that_drops_something_is_not_reworded() -> None:
    with SessionMemory.open("memory://") as memory:
        said = [
            ("user", "I'm organising our choir's weekend in October."),
            ("assistant", "Happy to help."),
            ("user", "For getting there let's hire a coach, then nobody has to drive."),
            ("assistant", "Good."),
            ("user", "Let's drop the coach and go by train with group tickets."),
            ("assistant", "Fine."),
        ]
        memory.record("s", [{"role": role, "content": text} for role, text in said])
        added = memory.remember("s", "Go by bike instead of the coach")
        assert added.label == "Go by bike instead of the coach"
        assert "drop the" not in memory.resume("s").text.partition("(was")[0].partition("Decided")[2]
