"""Events of coding agents: sessions recorded from their transcripts, and the resume block given back.

A host starts ``tokenmizer-mw hook EVENT`` for every event. That process (``client``) loads next to nothing and hands
the event to another one (``worker``), which it starts where none listens: it has the package loaded, the store open and
the session folded. ``handling`` says what an event does, ``transcript`` reads what hosts write.
"""
