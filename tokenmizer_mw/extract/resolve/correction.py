"""Recognises bare numbers and times, with which a user corrects an earlier value."""


def is_value(label: str) -> bool:
    """Whether a label is a bare number or time."""
    return label[:1].isdigit() and all(char.isdigit() or char in ":.," for char in label)
