"""Safety: redaction of secrets, the prompt-injection guard, the delimiters around text that is sent to a model again
(``fence``), and removal of markup from untrusted text (``labels``)."""
