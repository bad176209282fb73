"""How work runs in a process: worker threads, forks, lazily compiled patterns, logging and traces, terminals."""
