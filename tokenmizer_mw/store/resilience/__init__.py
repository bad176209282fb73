"""A chat never waits long for the store: deadlines, a circuit breaker, and a spool for turns that could not be written.
A turn is here what one chat call adds to its session.

    monitor       how the store is doing: the circuit breaker of a process, the last failure, the log line about it
    bounded_log   an event log whose calls end when a chat has waited for the store as long as it may
    lanes         turns that wait to be written: in order per session, bounded, pure
    spool         writes turns in threads of its own, and again when the store answers again
    waiting       waits until a turn is written, at most until the deadline
"""
