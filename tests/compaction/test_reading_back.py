"""What a compaction stands for is readable for its owner: over HTTP and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served, call, configured, serving
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw.cli import main
from tokenmizer_mw.context.compaction.contract import SealBroken, SealedContent, find_seals, is_ours
from tokenmizer_mw.memory import SessionMemory

from .clients import EDIT, FILLER, KEYS, QUESTION, Chat, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

KEPT = SealedContent("shop/monday", "checkpoint-3", "<block> Ünal \N{SLIGHTLY SMILING FACE}", "Which \ud83d?", 150_000)


def test_the_same_compaction_has_the_same_seal_and_no_other_has_it() -> None:
    with SessionMemory.open("memory://") as one, SessionMemory.open("memory://") as other:
        sealed = one.service.compaction.seal().close("tenant", KEPT)
        assert sealed == one.service.compaction.seal().close("tenant", KEPT)
        assert is_ours(sealed)
        assert one.service.compaction.seal().open("tenant", sealed) == KEPT
        assert one.service.compaction.seal().close("tenant", SealedContent("shop/monday", "checkpoint-4", "")) != sealed
        for seal, tenant in ((one.service.compaction.seal(), "another"), (other.service.compaction.seal(), "tenant")):
            with pytest.raises(SealBroken):
                seal.open(tenant, sealed)


@pytest.mark.parametrize("place", [22, 30, 60, -2])
def test_a_changed_seal_is_noticed(place: int) -> None:
    with SessionMemory.open("memory://") as memory:
        sealed = list(memory.service.compaction.seal().close("tenant", KEPT))
        sealed[place] = "A" if sealed[place] != "A" else "B"
        with pytest.raises(SealBroken):
            memory.service.compaction.seal().open("tenant", "".join(sealed))


@pytest.mark.parametrize("added", ["!!!!", "=", "\n", " ", "\u00e9", "\ud800", "A"])
def test_a_seal_has_one_spelling(added: str) -> None:
    with SessionMemory.open("memory://") as memory:
        sealed = memory.service.compaction.seal().close("tenant", KEPT)
        for changed in (sealed + added, sealed[:40] + added + sealed[40:]):
            with pytest.raises(SealBroken):
                memory.service.compaction.seal().open("tenant", changed)


def test_over_http(plain: Served) -> None:
    sealed = plain.memory.service.compaction.seal().close("local", KEPT)
    status, _, body = call(plain.port, "/api/compaction", json.dumps({"encrypted_content": sealed}).encode())
    told = json.loads(body)
    assert status == 200
    assert (told["session_id"], told["tokens"]) == ("shop/monday", 150_000)
    assert told["text"] == KEPT.text
    spoiled = json.dumps({"encrypted_content": sealed[:-4]}).encode()
    status, _, body = call(plain.port, "/api/compaction", spoiled)
    assert status == 404
    assert json.loads(body)["error"]["field"] == "encrypted_content"


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"sqlite:///{tmp_path / 'chat.db'}"
    with SessionMemory.open(store) as memory:
        memory.record("shop", [{"role": "user", "content": "We use PostgreSQL."}])
        sealed = memory.service.compaction.seal().close("local", KEPT)
    file = tmp_path / "items.json"
    file.write_text(json.dumps([{"type": "compaction", "encrypted_content": sealed}]), encoding="utf-8")
    assert find_seals(file.read_text(encoding="utf-8")) == [sealed]
    assert main(["compaction", str(file), "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == KEPT.text
    assert main(["compaction", str(file), "--store", store]) == 0
    assert "session shop/monday, checkpoint-3: in the place of 150,000 tokens" in capsys.readouterr().out
    assert main(["compaction", str(file), "--store", store, "--tenant", "another"]) != 0
    assert "cannot be read" in capsys.readouterr().err


PERSON = "The {} of the town is called {} and came here from the coast."
TRADES = (
    *("baker", "smith", "joiner", "tailor", "weaver", "cooper", "potter", "tanner", "miller", "butcher", "courier"),
    *("mason", "roofer", "glazier", "painter", "saddler", "brewer", "farmer", "fisher", "hunter", "printer", "nurse"),
    *("doctor", "lawyer", "teacher", "driver", "sailor", "pilot", "cook", "waiter", "clerk", "guard"),
)
NAMES = (
    *("Anna", "Berta", "Carla", "Dora", "Emma", "Frieda", "Greta", "Hanna", "Irma", "Jule", "Hermine", "Klara"),
    *("Lotte", "Marta", "Nora", "Olga", "Paula", "Rosa", "Selma", "Tilda", "Ursel", "Vera", "Wanda", "Xenia"),
    *("Yvonne", "Zita", "Alma", "Betty", "Cilli", "Dina", "Elsa", "Flora"),
)
WHO = "What is the courier of the town called, and where did she come from?"


@pytest.mark.parametrize("way", ["at once", "above a threshold"])
def test_what_the_block_leaves_out_comes_back_with_the_question_for_it(upstream: Upstream, way: str) -> None:
    small = {"compaction": "ours", "compaction_tokens": 200}
    name = f"asks-{way.replace(' ', '-')}"
    with serving(configured(upstream, KEYS, memory=small)) as served, Chat(served, name, "openai") as chat:
        for part in range(0, len(TRADES), 8):
            people = " ".join(map(PERSON.format, TRADES[part : part + 8], NAMES[part : part + 8]))
            upstream.script.append(Scripted(text=people))
            chat.say(f"Who is there? {FILLER * 20}")
        if way == "at once":
            chat.ask(compaction={"type": "summarize"}, betas=["compact-2026-09-04"])
        else:
            chat.messages.append({"role": "user", "content": QUESTION})
            chat.ask(context_management={"edits": [EDIT]})
        assert next(block["type"] for block in chat.messages[-1]["content"]) == "compaction"
        for _ in range(2):
            chat.say("Thanks.")
            assert "Hermine" not in sent(upstream)
            upstream.script.append(Scripted(text="I see."))
            chat.say(WHO)
            assert "Hermine" in sent(upstream)
        assert served.memory.counters()["reminder_sent"] == 2
        assert not [text for _, text in served.said(name) if "session-record" in text]
