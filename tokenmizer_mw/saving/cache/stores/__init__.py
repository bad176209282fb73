"""Cache stores: in process, SQLite, PostgreSQL and Redis."""
