"""What goes on between two speakers: goals behind a pointer, changes that are reported, and what looks like them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tokenmizer_mw.extract.derive import derive
from tokenmizer_mw.extract.dialogue.offers import Offers, read_answer
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role, ToolResult
from tokenmizer_mw.model.node import Node, NodeType, Status

from .talks import RULES_ONLY

SPEAKERS = {"u": Role.USER, "a": Role.ASSISTANT}


def judged(messages: Sequence[Message]) -> SessionGraph:
    graph = SessionGraph()
    for event in derive(graph, list(enumerate(messages, 1)), [], RULES_ONLY):
        graph.apply(event)
    return graph


def talk(*lines: str) -> SessionGraph:
    return judged([Message(SPEAKERS[line[0]], line[3:]) for line in lines])


def of(graph: SessionGraph, type_: NodeType, *statuses: Status) -> list[Node]:
    return [node for node in graph.nodes(type_) if not statuses or node.status in statuses]


def labels(graph: SessionGraph, type_: NodeType, *statuses: Status) -> list[str]:
    return [node.label for node in of(graph, type_, *statuses)]


def changes(graph: SessionGraph) -> list[tuple[str, str]]:
    known = {node.id: node.label for node in graph.nodes()}
    return [(known[step.old], known[step.new]) for step in graph.transitions()]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        (
            "Please solve the following task for this repository.\nAll tools are installed for you.\n\n# Task\n"
            "The parser loses the last row of a sheet without a trailing newline.",
            "The parser loses the last row of a sheet without a trailing newline",
        ),
        ("Look through this repo's docs/setup.md. Would it help somebody new to the team?", "help somebody new"),
        ("Review my CONTRIBUTING.md", "Review my CONTRIBUTING.md"),
        ("Examine tools/sync.py. Make it work on Windows as well.", "Make it work on Windows as well"),
    ],
)
def test_a_goal_is_what_is_wanted_not_what_points_at_it(text: str, goal: str) -> None:
    (found,) = labels(talk(f"u: {text}"), NodeType.GOAL)
    assert goal in found


def test_the_first_sizable_order_takes_the_place_of_a_goal_that_was_only_a_question() -> None:
    asked = "u: What does the warning about the event loop mean?"
    graph = talk(asked, "a: It is harmless.", "u: Add a retry with backoff to the webhook sender")
    assert labels(graph, NodeType.GOAL, Status.ACTIVE) == ["Add a retry with backoff to the webhook sender"]
    graph = talk("u: Build a booking page for the clinic", "a: Gladly.", "u: Add a retry with backoff to the sender")
    assert labels(graph, NodeType.GOAL, Status.ACTIVE) == ["Build a booking page for the clinic"]


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        ("a: I switched the worker from polling to webhooks.", "polling", "webhooks"),
        ("a: I'll take the title from the manifest, not the folder.", "folder", "title from the manifest"),
        ("u: Rename Basket → Cart", "Basket", "Cart"),
        ("u: put it into settings.py, not the .env file", ".env file", "settings.py"),
    ],
)
def test_changes_name_what_they_replace(said: str, old: str, new: str) -> None:
    graph = talk("u: Build the importer for the shop", "a: Here it is.", "u: Make it faster and safer", said)
    ((before, after),) = changes(graph)
    assert old in before
    assert new in after


@pytest.mark.parametrize(
    "said",
    [
        "a: You could read the feed in chunks instead of all at once.",
        "a: Many teams use a queue rather than a cron job.",
        "a: If you want, use the deploy key instead of a token.",
        "a: The error means the server sent a page instead of data.",
        "a: Roles are read from the database instead of from the token.",
        "a: It would be better to import lazily rather than at the top.",
        "a: Open Settings → Profile → Save.",
        "a: The data goes parser → router → sink.",
        "a: Let me check whether the flag is set or not.",
        "u: check whether the flag is set or not",
        "u: why does it read the folder instead of the manifest?",
    ],
)
def test_comparisons_and_advice_change_nothing(said: str) -> None:
    graph = talk("u: Build the importer for the shop", "a: Here it is.", "u: Make it faster and safer", said)
    assert changes(graph) == []


@pytest.mark.parametrize(
    ("said", "decided"),
    [
        ("Explain every command before you run it.", "Explain every command before you run it"),
        ("Go through the plan one file at a time.", "Go through the plan one file at a time"),
        ("Before changing the schema, ask me.", "Before changing the schema, ask me"),
    ],
)
def test_conditions_and_ways_of_working_hold(said: str, decided: str) -> None:
    graph = talk("u: Build the importer for the shop", "a: Here it is.", f"u: {said}")
    assert decided in labels(graph, NodeType.DECISION, Status.ACTIVE)


@pytest.mark.parametrize(
    "said",
    [
        "that should have worked",
        "it should be fixed by now",
        "Before lunch, we talked about it",
        "could you explain it step by step?",
        "ignore my last message",
        "I follow you so far",
        "the page looks better than before",
    ],
)
def test_what_only_sounds_like_a_condition(said: str) -> None:
    graph = talk("u: Build the importer for the shop", "a: Here it is.", f"u: {said}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


def test_ticks_before_properties_are_no_work() -> None:
    told = "a: Here is the guide:\n\n- ✅ Clear structure\n- ✅ Short examples\n- ✅ Added a table of commands"
    graph = talk("u: Write a guide for newcomers", told)
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["Added a table of commands"]


def edit_log(*lines: str) -> Message:
    return Message(Role.TOOL, tool_results=(ToolResult("", "\n".join(lines)),))


def test_the_log_of_an_editing_agent_says_what_was_done_and_undone() -> None:
    order = Message(Role.USER, "Add a retry with backoff to the webhook sender")
    log = edit_log("Applied edit to app/sender.py", "Commit 1a2b3c4 feat: retry webhooks with backoff")
    graph = judged([order, Message(Role.USER, "Document the settings of the sender"), log])
    done = labels(graph, NodeType.TASK, Status.COMPLETED)
    assert done == ["Document the settings of the sender", "feat: retry webhooks with backoff"]
    assert labels(graph, NodeType.FILE) == ["app/sender.py"]
    for gone in (
        "Removed: 1a2b3c4 feat: retry webhooks with backoff",
        "Commit `1a2b3c4` was reset and removed from git.",
    ):
        after = judged([order, log, Message(Role.USER, "/undo"), edit_log(gone)])
        assert labels(after, NodeType.TASK, Status.COMPLETED) == []


def test_a_commit_of_what_the_user_had_changed_is_no_work_of_the_session() -> None:
    log = edit_log("Committing app/sender.py before applying edits.", "Commit 1a2b3c4 wip on the sender")
    assert labels(judged([Message(Role.USER, "Build the sender"), log]), NodeType.TASK) == []


OFFER = "a: You could store one file per region and a manifest, or keep the single blob. Or a nightly archive instead."
TITLED = "a: Two ways:\n\n**Managed Postgres** – they patch it, we pay.\n\n**Own server** – cheap, and our nights."


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        (OFFER, "good, the cat sat on the keyboard"),
        (OFFER, "is a nightly archive enough?"),
        (OFFER, "ok, I have the single blob here"),
        ("a: The blob holds all regions.", "good, regions"),
        (TITLED, "who pays for it"),
        (TITLED, "the nights are long"),
    ],
)
def test_replies_that_choose_nothing(told: str, reply: str) -> None:
    graph = talk("u: Plan the storage of the map", told, f"u: {reply}")
    assert labels(graph, NodeType.DECISION, Status.ACTIVE) == []


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("a: Done. You'll need to restart the worker for this to take effect.", "restart the worker"),
        ("a: Committed on main. I haven't pushed yet.", "haven't pushed"),
        ("a: The compiler is missing, so the fix could not be verified.", "the fix could not be verified"),
    ],
)
def test_what_the_assistant_leaves_to_the_user_is_open_until_the_user_speaks(said: str, left: str) -> None:
    graph = talk("u: Build the importer for the shop", "a: Here it is.", "u: Make it faster and safer", said)
    assert any(left in label for label in labels(graph, NodeType.TASK, Status.PENDING))
    talked = talk("u: Build the importer for the shop", "a: Here.", "u: Make it faster", said, "u: ok, it runs")
    assert not any(left in label for label in labels(talked, NodeType.TASK, Status.PENDING))


@pytest.mark.parametrize(
    "said",
    [
        "a: You need to know the basics of queues first.",
        "a: If you deploy it, you need to restart the worker.",
        "a: You can restart the worker at any time.",
        "a: I haven't seen that before.",
        "a: What you need to know:\n\n1. Workers restart alone\n",
    ],
)
def test_advice_leaves_nothing_open(said: str) -> None:
    graph = talk("u: Build the importer for the shop", "a: Here it is.", "u: Add a retry to the sender", said)
    left = labels(graph, NodeType.TASK, Status.PENDING)
    assert [label for label in left if "retry" not in label] == []


def test_steps_in_like_words_are_steps_of_their_own() -> None:
    graph = talk(
        "u: Build the card game",
        "a: Now let me create the draw card action:",
        "a: Now let me create the play card action:",
    )
    assert labels(graph, NodeType.TASK, Status.IN_PROGRESS) == ["create the play card action"]


CAME_BACK = ("u: Build the exporter for the shop", "a: Here it is.", "u: the accents are lost in Excel")


@pytest.mark.parametrize(
    "said",
    [
        "I'll update the changelog to be complete.",
        "Let me change into the folder to read it.",
        "Removed files are listed.",
    ],
)
def test_upkeep_replaces_nothing(said: str) -> None:
    assert changes(talk(*CAME_BACK, f"a: {said}")) == []


def test_dropping_one_thing_keeps_the_other() -> None:
    graph = talk(
        "u: Plan the ingress of the lab", "a: Caddy or nginx?", "u: let's use Caddy", "u: forget Caddy, nginx stays"
    )
    assert changes(graph) == [("Caddy", "nginx")]


@pytest.mark.parametrize(
    "said",
    [
        "a: Shipped orders are shown in grey.",
        "a: If you run into a stale lock, delete it.",
        "a: Once the audit trail is in and working, we can talk.",
        "a: Some teams settled on Caddy.",
        "a: Would Caddy have won out?",
        "a: What is next on the list?",
        "a: Using it that way is odd.",
        "a: It would have been better if protobuf made the most sense.",
    ],
)
def test_told_of_others_or_only_supposed(said: str) -> None:
    graph = talk("u: Build the portal of the library", "a: Gladly.", "u: how far are we?", said)
    told = [node for node in graph.nodes() if node.source.turn == 4 and node.type is not NodeType.GOAL]
    assert [node.label for node in told if node.status is not Status.INVALIDATED] == []


@pytest.mark.parametrize(
    ("said", "type_", "label"),
    [
        ("can we add a hint below the field?", NodeType.TASK, "add a hint below the field"),
    ],
)
def test_wishes_that_are_put_as_questions(said: str, type_: NodeType, label: str) -> None:
    graph = talk("u: Build the portal of the library", "a: Gladly.", f"u: {said}")
    assert label in labels(graph, type_)


@pytest.mark.parametrize("said", ["can we trust that number?", "can we talk?", "could it be done with Playwright?"])
def test_questions_that_wish_for_nothing(said: str) -> None:
    graph = talk("u: Build the portal of the library", "a: Gladly.", f"u: {said}")
    assert labels(graph, NodeType.TASK) == []
    assert labels(graph, NodeType.DECISION) == []


def test_an_order_that_only_points_below_is_no_task() -> None:
    text = "Plan the week.\n\nPlease fix the following issue for the repository.\n\nRename the package to shelf."
    graph = talk("u: Build the portal of the library", "a: Gladly.", f"u: {text}")
    assert not any("following" in label for label in labels(graph, NodeType.TASK))


def test_what_an_assistant_with_tools_states_is_a_report() -> None:
    request = Message(Role.USER, "Keep the times in UTC, and clock.py gets both directions.")
    result = Message(Role.TOOL, tool_results=(ToolResult("1", "ok"),))
    answer = Message(Role.ASSISTANT, "clock.py has both directions.")
    stated = answer.text.rstrip(".")

    assert stated in labels(judged([request, answer]), NodeType.DECISION)
    assert stated not in labels(judged([Message(Role.USER, "Hi."), result, request, answer]), NodeType.DECISION)


@pytest.mark.parametrize("reply", ["2", "option 2, please", "2."])
def test_a_number_picks_what_has_it_in_a_list_that_asks_nothing(reply: str) -> None:
    offer = "Not with tokens alone:\n1. keep the tokens and add a denylist\n2. move to server-side sessions in Redis"
    graph = talk("u: how do I log somebody out at once?", f"a: {offer}", f"u: {reply}")
    assert any("server-side sessions" in node.label for node in graph.nodes(NodeType.DECISION) if node.current)


THREE = "Which of these should I add?\n\n1. retries\n2. a rate limit\n3. a health check"


@pytest.mark.parametrize(
    ("offer", "answer", "chosen"),
    [
        (THREE, "all of them", ["retries", "a rate limit", "a health check"]),
        (THREE, "Yes, all three.", ["retries", "a rate limit", "a health check"]),
        (THREE, "Everything, please.", ["retries", "a rate limit", "a health check"]),
        (THREE, "alle", ["retries", "a rate limit", "a health check"]),
        (THREE, "все три", ["retries", "a rate limit", "a health check"]),
        (THREE, "全部", ["retries", "a rate limit", "a health check"]),
        (THREE, "both", ["retries", "a rate limit"]),
        (THREE, "beide", ["retries", "a rate limit"]),
        (THREE, "les deux", ["retries", "a rate limit"]),
        ("Which of them?\n\n1. retries\n   - at most five\n2. a rate limit", "both", ["retries", "a rate limit"]),
        ("Which of them?\n\n1. retries\n   - at most five\n2. a rate limit", "all", ["retries", "a rate limit"]),
        ("Which of them?\n\n- retries\n- a rate limit\n- paging", "all", ["retries", "a rate limit", "paging"]),
        ("Shall I add a health check?", "all of it", ["add a health check"]),
    ],
)
def test_all_takes_every_option_and_both_the_first_two(offer: str, answer: str, chosen: list[str]) -> None:
    assert list(read_answer(answer, Offers(offer)).accepted) == chosen


def test_options_may_stand_in_a_row_within_a_sentence() -> None:
    offer = "There are two ways. 1. keep the tokens and add a denylist 2. move to server-side sessions"
    graph = talk("u: how do I log somebody out at once?", f"a: {offer}", "u: the second")
    assert any("server-side sessions" in node.label for node in graph.nodes(NodeType.DECISION) if node.current)


def test_what_is_named_as_decided_was_decided_when_the_user_asks_how_things_stand() -> None:
    before = ("u: Build the portal of the library", "a: Gladly.")
    report = talk(*before, "u: what did you decide on the proxy?", "a: Decided: Caddy for the proxy.")
    assert labels(report, NodeType.DECISION, Status.ACTIVE) == ["Caddy for the proxy"]
    advice = talk(*before, "u: which proxy would you take?", "a: I would take Caddy for the proxy.")
    assert labels(advice, NodeType.DECISION, Status.ACTIVE) == []
