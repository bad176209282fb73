"""The three scripted sessions of the TokenMizer paper, as an extractor should see them, within the bar for tokens."""

from collections.abc import Callable, Iterable

import pytest

from tokenmizer_mw.context.resume import LEVELS, build_resume
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import DecisionReplaced
from tokenmizer_mw.model.node import NodeType as N
from tokenmizer_mw.model.node import Status as S
from tokenmizer_mw.model.node import Transition

Rows = list[tuple[N, str, S, int]]

FASTAPI: Rows = [
    (N.GOAL, "FastAPI authentication service with JWT and PostgreSQL", S.ACTIVE, 1),
    (N.DECISION, "JWT", S.ACTIVE, 1),
    (N.DECISION, "PostgreSQL", S.ACTIVE, 1),
    *((N.FILE, path, S.ACTIVE, 2) for path in ("api/main.py", "api/auth.py", "api/models.py", "config.py")),
    (N.FILE, "requirements.txt", S.ACTIVE, 2),
    (N.TASK, "project structure", S.COMPLETED, 2),
    (N.ENVIRONMENT, "Python 3.12", S.ACTIVE, 3),
    (N.DEPENDENCY, "bcrypt", S.ACTIVE, 3),
    (N.DECISION, "Python 3.12 runtime", S.ACTIVE, 4),
    (N.DECISION, "bcrypt for password hashing", S.ACTIVE, 4),
    (N.TASK, "virtual environment setup", S.COMPLETED, 4),
    (N.TASK, "user model in api/models.py", S.COMPLETED, 6),
    (N.TASK, "add the auth endpoints", S.COMPLETED, 8),
    *((N.ENDPOINT, f"POST /api/auth/{name}", S.ACTIVE, 8) for name in ("register", "login", "logout")),
    (N.ERROR, "login keeps returning 422", S.COMPLETED, 9),
    (N.DECISION, "Redis for refresh token storage", S.ACTIVE, 12),
    (N.DEPENDENCY, "redis", S.ACTIVE, 12),
    (N.TASK, "refresh token rotation", S.IN_PROGRESS, 12),
    (N.SCHEMA, "users table: id (UUID PK), email (unique), hashed_password, created_at, is_active", S.ACTIVE, 14),
    (N.FILE, "tests/test_auth.py", S.ACTIVE, 16),
    (N.TASK, "write tests", S.COMPLETED, 16),
    (N.TEST, "12 tests passing", S.COMPLETED, 16),
    (N.TASK, "rate limiting using slowapi", S.IN_PROGRESS, 18),
    (N.DEPENDENCY, "slowapi", S.ACTIVE, 18),
]
PIPELINE: Rows = [
    (N.GOAL, "training pipeline for a text classification model", S.ACTIVE, 1),
    *((N.FILE, path, S.ACTIVE, 2) for path in ("train.py", "data/preprocess.py", "models/classifier.py")),
    (N.FILE, "config.yaml", S.ACTIVE, 2),
    (N.DECISION, "PyTorch for training framework", S.ACTIVE, 4),
    (N.DECISION, "HuggingFace transformers", S.ACTIVE, 4),
    (N.DECISION, "bert-base-uncased", S.ACTIVE, 4),
    (N.TASK, "environment setup with Python 3.11", S.COMPLETED, 4),
    (N.ENVIRONMENT, "Python 3.11", S.ACTIVE, 4),
    (N.ERROR, "training is too slow", S.COMPLETED, 5),
    (N.TASK, "added gradient checkpointing and mixed precision", S.COMPLETED, 6),
    (N.DECISION, "distilbert-base-uncased", S.ACTIVE, 8),
    (N.FILE, "evaluate.py", S.ACTIVE, 10),
    (N.TASK, "evaluation metrics script in evaluate.py", S.COMPLETED, 10),
    (N.DEPENDENCY, "sklearn", S.ACTIVE, 10),
]
DASHBOARD: Rows = [
    (N.GOAL, "real-time analytics dashboard with React and WebSockets", S.ACTIVE, 1),
    (N.FILE, "src/App.tsx", S.ACTIVE, 2),
    (N.FILE, "src/components/Dashboard.tsx", S.ACTIVE, 2),
    (N.FILE, "src/hooks/useWebSocket.ts", S.ACTIVE, 2),
    (N.DECISION, "TypeScript for type safety", S.ACTIVE, 4),
    (N.DECISION, "Recharts for data visualization", S.ACTIVE, 4),
    (N.TASK, "project scaffold with Vite", S.COMPLETED, 4),
    (N.ERROR, "the chart is not updating in real time", S.COMPLETED, 5),
    (N.DECISION, "CSS variables for theming", S.ACTIVE, 8),
    (N.TASK, "dark mode toggle", S.COMPLETED, 8),
    (N.FILE, "src/components/Header.tsx", S.ACTIVE, 8),
    (N.FILE, "src/styles/theme.css", S.ACTIVE, 8),
    (N.DECISION, "JWT stored in httpOnly cookie", S.ACTIVE, 10),
    (N.DECISION, "localStorage", S.INVALIDATED, 10),
    (N.TASK, "add authentication", S.IN_PROGRESS, 10),
    (N.FILE, "src/hooks/useAuth.ts", S.ACTIVE, 10),
    (N.FILE, "src/components/Login.tsx", S.ACTIVE, 10),
]
SESSIONS = {"fastapi": FASTAPI, "pipeline": PIPELINE, "dashboard": DASHBOARD}


def session(name: str, graph_of: Callable[[Iterable[object]], SessionGraph]) -> SessionGraph:
    graph = graph_of([(*row, {}) for row in SESSIONS[name]])
    if name == "pipeline":
        old, new = (graph.find(N.DECISION, f"{model}bert-base-uncased") for model in ("", "distil"))
        assert old is not None and new is not None
        graph.apply(DecisionReplaced(Transition(old.id, new.id, 8, "40% faster inference")))
    return graph


@pytest.mark.parametrize("name", SESSIONS)
def test_a_standard_resume_carries_every_fact(name, graph_of, counter, nonce) -> None:  # type: ignore[no-untyped-def]
    graph = session(name, graph_of)
    resume = build_resume(graph, counter=counter, nonce=nonce, turn=18)
    assert set(resume.node_ids) == {node.id for node in graph.nodes()}


def test_tokens(graph_of, counter: TokenCounter, nonce: str) -> None:  # type: ignore[no-untyped-def]
    if not counter.exact:
        pytest.skip("no copy of the o200k_base table on this machine, and tests download nothing")
    for level, budget in LEVELS.items():
        tokens = [
            build_resume(session(name, graph_of), level=level, counter=counter, nonce=nonce, turn=18).tokens
            for name in SESSIONS
        ]
        assert max(tokens) <= budget
        assert level != "standard" or sum(tokens) / len(tokens) <= 180
