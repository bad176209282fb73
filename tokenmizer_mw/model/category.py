"""Categories of software choices, such as databases, with the names of their values. By them, extraction and search
know that "pg" and "PostgreSQL" are the same database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of choice in a software project, such as "database", with its values, such as "postgresql".

    - ``name``: of the category. ``single``: whether a project usually has only one value of it at a time, so that a new
      value replaces the old one.
    - ``members``: its values, separated by spaces, each with its other spellings after slashes ("sqlite/sqlite3
      mysql"). All are in lower case, with hyphens in place of spaces.
    - ``names``: words for the category itself, separated by spaces; ``asked``: further words for it that occur only in
      questions. "" for none.
    """

    name: str
    single: bool
    members: str
    names: str = ""
    asked: str = ""


# fmt: off
CATEGORIES: Final = (
    Category("database", True,
        "postgresql/postgres/psql/pg mysql sqlite/sqlite3 mariadb mongodb/mongo cockroachdb/cockroach duckdb oracle"
        " cassandra dynamodb/dynamo couchdb firestore supabase clickhouse neo4j timescaledb sql-server/mssql snowflake"
        " bigquery influxdb/influx redshift", "database db datastore", "storage store persistence"),
    Category("cache", True, "redis memcached valkey keydb varnish dragonfly", "cache", "caching"),
    Category("message queue", True, "rabbitmq kafka nats sqs celery pulsar zeromq mqtt", "queue broker message-broker",
        "messaging"),
    Category("frontend framework", True,
        "react/reactjs vue/vue.js/vuejs angular svelte sveltekit solidjs/solid.js next.js/nextjs nuxt htmx preact"
        " remix qwik astro gatsby", "frontend frontend-framework ui-framework", "ui"),
    Category("web framework", False,
        "fastapi flask django express/express.js fastify rails laravel spring-boot actix axum phoenix starlette nestjs"
        " koa hono sinatra litestar tornado aiohttp", "web-framework backend-framework framework", "backend"),
    Category("mobile framework", True, "flutter react-native ionic capacitor", "mobile-framework"),
    Category("state management", True, "redux zustand mobx pinia vuex riverpod", "state-management"),
    Category("css framework", True, "tailwind/tailwindcss bootstrap bulma chakra", "css-framework css"),
    Category("package manager", True, "npm pnpm yarn pip poetry uv pipenv conda composer", "package-manager"),
    Category("build tool", False, "vite webpack esbuild rollup parcel turbopack maven gradle bazel cmake", "bundler"),
    Category("orm", True, "sqlalchemy prisma typeorm drizzle sequelize hibernate peewee sqlmodel diesel ecto", "orm"),
    Category("test framework", False, "pytest unittest jest vitest mocha playwright cypress junit rspec",
        "test-framework", "testing tests"),
    Category("license", True, "mit apache-2.0 gpl gplv3 agpl bsd mpl unlicense lgpl", "license licence"),
    Category("auth", False, "jwt/jwts oauth/oauth2 saml passkeys basic-auth auth0 keycloak clerk", "auth",
        "authentication authorization login"),
    Category("password hashing", True, "bcrypt argon2/argon2id scrypt pbkdf2", "password-hashing hashing", "passwords"),
    Category("api style", True, "rest graphql grpc trpc soap json-rpc", "api-style"),
    Category("web server", True, "nginx apache caddy traefik haproxy envoy ingress-nginx", "ingress reverse-proxy",
        "proxy"),
    Category("deployment", False, "docker kubernetes/k8s heroku vercel netlify fly.io aws gcp azure railway lambda", "",
        "hosting host cloud deploy"),
    Category("infrastructure tool", True, "terraform opentofu pulumi cloudformation", "infrastructure-as-code iac"),
    Category("orchestrator", True, "airflow prefect dagster luigi", "orchestrator"),
    Category("real-time system", True, "zephyr freertos threadx nuttx", "rtos"),
    Category("ci", True, "github-actions jenkins circleci gitlab-ci travis buildkite", "ci ci-system", "pipeline"),
    Category("model", False,
        "bert distilbert roberta gpt-4 gpt-4o llama t5 xgboost lightgbm resnet whisper claude gemini mistral", "model"),
    Category("ml framework", True, "pytorch/torch tensorflow jax keras", "ml-framework training-framework"),
    Category("library", False,
        "huggingface transformers scikit-learn/sklearn pandas polars numpy recharts echarts d3 chart.js slowapi"),
    Category("language", False,
        "python typescript/ts javascript/js java golang rust ruby php kotlin swift elixir scala"),
    Category("transport", False, "websockets/websocket sse polling webhooks http-2 long-polling", "transport"),
)
# fmt: on

MEMBERS: Final = {
    spelling: (category, names.split("/")[0])
    for category in CATEGORIES
    for names in category.members.split()
    for spelling in names.split("/")
}
"""Maps each spelling of a value to its category and its first spelling: "pg" to the category "database" and to
"postgresql"."""
