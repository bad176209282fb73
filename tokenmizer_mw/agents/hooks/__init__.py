"""Hooks for coding agents: record sessions from their transcripts, and return the resume block.

An agent host starts ``tokenmizer-mw hook EVENT`` for every event. That process (``client``) imports almost nothing and
passes the event to a long-running process (``worker``), which it starts (``entry``) if none is listening; it has the
package imported, the store open and the session folded. ``handling`` implements the events, ``transcript`` reads the
hosts' transcripts.
"""
