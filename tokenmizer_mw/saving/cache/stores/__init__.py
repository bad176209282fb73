"""Where answers are kept: in process, in SQLite, PostgreSQL or Redis, behind one small port."""
