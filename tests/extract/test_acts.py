"""What sentences do, by speaker and by what was said before."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.candidates.acts import read_acts
from tokenmizer_mw.extract.dialogue.situation import read_situation
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

ORDER = "Add the feature to the service"
QUESTION = "What would you use here?"


def acts(text: str, role: Role, *before: tuple[Role, str], has_goal: bool = True) -> list[Finding]:
    said = [(index, Message(who, words)) for index, (who, words) in enumerate(before, 1)]
    message = (len(said) + 1, Message(role, text))
    return read_acts(segment(text), read_situation(message, said, has_goal=has_goal))


def user(text: str, *before: tuple[Role, str]) -> list[Finding]:
    return acts(text, Role.USER, *before)


def assistant(text: str, asked: str = ORDER) -> list[Finding]:
    return acts(text, Role.ASSISTANT, (Role.USER, asked))


def brief(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.type.value, finding.label) for finding in findings]


USER_ACTS = [
    ("Use Python 3.12 and bcrypt for password hashing", "decision", ["Python 3.12", "bcrypt for password hashing"]),
    ("let's go with Postgres", "decision", ["Postgres"]),
    ("add rate limiting", "task", ["add rate limiting"]),
    ("never push to main", "decision", ["never push to main"]),
    ("always answer in French", "decision", ["always answer in French"]),
    ("I prefer tabs", "decision", ["tabs"]),
    ("Login keeps returning 422", "error", ["Login keeps returning 422"]),
    ("the chart is not updating", "error", ["the chart is not updating"]),
    ("SQLite then.", "decision", ["SQLite"]),
    ("dns-01 it is", "decision", ["dns-01"]),
    ("the button should be on the right", "decision", ["the button should be on the right"]),
    ("TODO: rate limiting, password reset", "task", ["rate limiting", "password reset"]),
    ("Can you add a dark mode?", "task", ["add a dark mode"]),
]


@pytest.mark.parametrize(("text", "type_", "labels"), USER_ACTS)
def test_user_statements(text: str, type_: str, labels: list[str]) -> None:
    found = [finding for finding in user(text) if finding.type.value == type_]
    assert [finding.label for finding in found] == labels
    assert all(finding.trust is Trust.STATED for finding in found)


@pytest.mark.parametrize(
    ("text", "label", "target"),
    [
        ("switch to Postgres, SQLite is too weak", "Postgres", "SQLite"),
        ("scrap Jenkins, go with GitHub Actions", "GitHub Actions", "Jenkins"),
        ("Switch from BERT to DistilBERT — faster inference", "DistilBERT", "BERT"),
        ("use pnpm instead of npm", "pnpm", "npm"),
        ("replace Redux with Zustand", "Zustand", "Redux"),
        ("SQLite is too slow for this, use Postgres", "Postgres", "SQLite"),
        ("actually, use Vitest", "Vitest", ""),
        ("back to REST", "REST", ""),
    ],
)
def test_replacements(text: str, label: str, target: str) -> None:
    (found,) = [finding for finding in user(text) if finding.type is NodeType.DECISION]
    assert (found.move, found.label, found.target) == (Move.REPLACE, label, target)


def test_reasons_are_kept_apart() -> None:
    (moved,) = user("switch to Postgres, SQLite is too weak")
    assert moved.reason == "SQLite is too weak"
    (faster,) = user("Switch from BERT to DistilBERT — faster inference")
    assert faster.reason == "faster inference"
    chosen, rejected = assistant("Decided: Redis for refresh tokens (not DB — faster revocation)")
    assert chosen.label == "Redis for refresh tokens"
    assert (rejected.move, rejected.label, rejected.reason) == (Move.REJECT, "DB", "faster revocation")


def test_kinds_of_decisions() -> None:
    kinds = [user(text)[0].kind for text in ("use uv", "never push to main", "I prefer tabs", "no MQTT")]
    assert kinds == [DecisionKind.CHOICE, DecisionKind.RULE, DecisionKind.PREFERENCE, DecisionKind.OPTION]


# -- the assistant's word -----------------------------------------------------------------------------------------


BEFORE_A_QUESTION = [
    ("we settled on pnpm, can you fix the lockfile?", [("decision", "pnpm"), ("task", "fix the lockfile")]),
    ("I prefer short answers, how does a mutex work?", [("decision", "short answers")]),
    ("I prefer boots with a low, soft sole, do you know any?", [("decision", "boots with a low, soft sole")]),
    ("if we used pnpm, can you say what breaks?", []),
]


@pytest.mark.parametrize(("text", "found"), BEFORE_A_QUESTION)
def test_what_is_said_before_a_question_counts(text: str, found: list[tuple[str, str]]) -> None:
    assert brief(user(text)) == found


PREFERRED = [
    (
        "We are only two people, so we prefer plain, boring tools.",
        ["We are only two people, so we prefer plain, boring tools"],
    ),
    (
        "I'm new to pottery, and I prefer working with red clay over white, can you help?",
        ["working with red clay over white"],
    ),
    ("I prefer writing before noon, as I'm most awake then.", ["writing before noon"]),
    ("I prefer it if you ask first.", ["you ask first"]),
    ("I have seen both fonts and I prefer it.", []),
    ("The draft has two endings, and I prefer that to one.", []),
]


@pytest.mark.parametrize(("text", "preferred"), PREFERRED)
def test_what_somebody_prefers_is_found_in_any_clause(text: str, preferred: list[str]) -> None:
    assert [one.label for one in user(text) if one.kind is DecisionKind.PREFERENCE] == preferred


@pytest.mark.parametrize("text", ["I'd love to hear your thoughts on it", "I'd love some advice on how to start"])
def test_wanting_advice_is_no_preference(text: str) -> None:
    assert not [finding for finding in user(text) if finding.type is NodeType.DECISION]


def test_an_assistant_carries_out_an_order() -> None:
    (found,) = assistant("Decided: bcrypt for password hashing")
    assert (found.trust, found.status, found.kind) == (Trust.ADOPTED, Status.ACTIVE, DecisionKind.CHOICE)


@pytest.mark.parametrize("text", ["I'd recommend bcrypt", "I'll use SQLAlchemy for the models"])
def test_an_assistant_that_was_only_asked_proposes(text: str) -> None:
    (found,) = assistant(text, asked=QUESTION)
    assert (found.trust, found.status, found.kind) == (Trust.PROPOSED, Status.PENDING, DecisionKind.OPTION)
    assert found.confidence < 0.6


@pytest.mark.parametrize(
    ("text", "type_", "label"),
    [
        ("I've added rate limiting to the login route", NodeType.TASK, "added rate limiting to the login route"),
        ("Completed: user model in api/models.py — fields: id", NodeType.TASK, "user model in api/models.py"),
        ("I've fixed the off-by-one error", NodeType.ERROR, "the off-by-one error"),
    ],
)
def test_claims(text: str, type_: NodeType, label: str) -> None:
    found = next(finding for finding in assistant(text) if finding.type is type_)
    assert (found.move, found.label, found.trust) == (Move.CLOSE, label, Trust.CLAIMED)


NOTHING = [
    "If we used Redis, sessions would survive a restart.",
    "You could also use MongoDB, which has flexible schemas.",
    "In general, use an index on foreign keys.",
    "For example, add a cache in front of the database.",
    "> Decided: use MongoDB",
    "```\n# TODO: use MongoDB\nDecided: MongoDB\n```",
    "| Decided: MongoDB | x |\n|---|---|\n| Decided: Kafka | y |",
    "Should the button be blue?",
    "The Express framework was created in 2010.",
    "A decision like this depends on the load.",
]


@pytest.mark.parametrize("text", NOTHING)
def test_tutorial_prose_code_and_quotes_state_nothing(text: str) -> None:
    kinds = {finding.type for finding in assistant(text)}
    assert kinds <= {NodeType.FILE, NodeType.ENDPOINT, NodeType.ENVIRONMENT}


# -- answers ------------------------------------------------------------------------------------------------------

OPTIONS = "Two ways:\n\n1. SQLite: simple\n2. Postgres: robust\n\nWhich one do you want?"
LETTERS = "Either\n\na) three readings in a row, or\nb) the average of ten minutes\n\nWhat do you prefer?"
BOLD = "- **A** replace react-dates by react-day-picker\n- **B** a native input\n\nWhich option?"
NAMED = "Candidates:\n\n- **dayjs**: closest to moment\n- **date-fns**: functions\n- **Luxon**: heavy\n\nWhich?"
TABLE = "Options:\n\n| library | size |\n|---|---|\n| MemoryPack | tiny |\n| Newtonsoft | large |\n"
OFFER = "Login is in place. Shall I write the tests next?"
EITHER = "Do you want SQLite or Postgres?"

ANSWERS = [
    (OPTIONS, "2", ["Postgres"]),
    (OPTIONS, "2.", ["Postgres"]),
    (OPTIONS, "the second one please", ["Postgres"]),
    (OPTIONS, "the former", ["SQLite"]),
    (OPTIONS, "let's do option 1", ["SQLite"]),
    (OPTIONS, "the latter, it scales", ["Postgres"]),
    (LETTERS, "a", ["three readings in a row, or"]),
    (LETTERS, "The first one, three in a row.", ["three readings in a row, or"]),
    (BOLD, "A", ["react-day-picker"]),
    (NAMED, "dayjs since it's closest, people here know moment", ["dayjs: closest to moment"]),
    (NAMED, "date-fns, please", ["date-fns: functions"]),
    (OFFER, "yes", ["write the tests next"]),
    (OFFER, "ok do that", ["write the tests next"]),
    (OFFER, "Sure, go ahead", ["write the tests next"]),
    (OFFER, "👍", ["write the tests next"]),
    (EITHER, "the former", ["SQLite"]),
    (EITHER, "Postgres", ["Do you want SQLite or Postgres: Postgres"]),
]


@pytest.mark.parametrize(("told", "reply", "labels"), ANSWERS)
def test_answers_adopt_what_was_offered(told: str, reply: str, labels: list[str]) -> None:
    found = user(reply, (Role.USER, "what now?"), (Role.ASSISTANT, told))
    assert [finding.label for finding in found if finding.type in (NodeType.DECISION, NodeType.TASK)] == labels
    assert {finding.trust for finding in found} <= {Trust.ADOPTED, Trust.STATED}


@pytest.mark.parametrize(
    "reply",
    [
        "why?",
        "a few questions first",
        "which one is faster?",
        "hm",
        "what does it cost",
        "if we took Postgres, what then?",
    ],
)
def test_other_replies_adopt_nothing(reply: str) -> None:
    found = user(reply, (Role.USER, "what now?"), (Role.ASSISTANT, OPTIONS))
    assert [finding for finding in found if finding.type is NodeType.DECISION] == []


def test_a_refusal_turns_the_offer_down() -> None:
    (found,) = user("no thanks", (Role.USER, "what now?"), (Role.ASSISTANT, OFFER))
    assert (found.move, found.label, found.status) == (Move.REJECT, "write the tests next", Status.INVALIDATED)


# -- the goal -----------------------------------------------------------------------------------------------------

GOALS = [
    ("Let's build a FastAPI authentication service with JWT and PostgreSQL", "build a FastAPI authentication service"),
    ("Need to build a training pipeline for a text classification model", "build a training pipeline"),
    ("Building a real-time analytics dashboard with React and WebSockets", "Building a real-time analytics dashboard"),
    ("Hi! Goal: customers book appointments online. I work alone.", "customers book appointments online"),
    ("Morning. Our chat shows agents as offline while they type. Can you fix that?", "fix that"),
    ("docker build . fails. help", "docker build . fails"),
]


@pytest.mark.parametrize(("text", "label"), GOALS[:4] + GOALS[5:])
def test_the_first_message_states_the_goal(text: str, label: str) -> None:
    goals = [finding for finding in acts(text, Role.USER, has_goal=False) if finding.type is NodeType.GOAL]
    assert len(goals) == 1
    assert goals[0].label.startswith(label)


def test_a_goal_names_choices_and_what_is_around() -> None:
    found = acts(GOALS[0][0], Role.USER, has_goal=False)
    assert brief(found)[1:] == [("decision", "JWT"), ("decision", "PostgreSQL"), ("dependency", "FastAPI")]


@pytest.mark.parametrize("text", ["Never push to main.", "Use SQLite.", "no MQTT please", "back to REST"])
def test_rules_and_choices_are_no_goals(text: str) -> None:
    assert NodeType.GOAL not in {finding.type for finding in acts(text, Role.USER, has_goal=False)}


def test_of_a_pasted_document_only_the_ends_are_read() -> None:
    pasted = "\n".join(f"- Use tool number {number} for step {number}" for number in range(200))
    found = user(f"Please add a login page.\n\n{pasted}\n\nNever push to main.")
    assert ("task", "add a login page") in brief(found)
    assert ("decision", "Never push to main") in [(kind, label.rstrip(".")) for kind, label in brief(found)]
    assert len(found) < 40
