"""The session graph: a fold over events that applies and never judges, and the views that read it."""
