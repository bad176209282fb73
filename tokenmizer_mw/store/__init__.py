"""Event logs: the protocol of a store, and its implementations for memory, SQLite and PostgreSQL."""
