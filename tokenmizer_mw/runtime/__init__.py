"""Process-level helpers: worker threads, forks, lazily compiled patterns, logging, tracing, terminals."""
