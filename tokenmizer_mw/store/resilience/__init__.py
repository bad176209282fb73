"""A chat never waits long for the store: deadlines, a circuit breaker, and a spool for turns that could not be written.

breaker       the circuit breaker's states and transitions, pure
monitor       how the store is doing: the breaker of a process, the last failure, the log line about it
patience      how long a chat may still wait for the store
bounded_log   an event log whose calls end when a chat's patience is over
lanes         turns that wait to be written: in order per session, bounded, pure
spool         writes turns in threads of its own, and again when the store answers again
"""
