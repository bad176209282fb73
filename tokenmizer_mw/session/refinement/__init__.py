"""The optional stage with a model: what it is asked, how its reply is read, and what of it becomes facts. Pure."""
