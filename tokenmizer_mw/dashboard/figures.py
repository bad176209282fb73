"""What was saved."""

from __future__ import annotations

from .asked import Asked, Page
from .frame import heading
from .markup import joined, tag
from .words import nothing


def page(asked: Asked) -> Page:
    """The savings of the tenant's sessions."""
    lead = tag("p", "Tokens that models did not have to read, net of what changing a prompt costs.", class_="lead")
    empty = tag("section", nothing("Nothing was saved yet: it begins with the first cut."), class_="card")
    return Page("Savings", joined(heading("Savings", lead), empty), "savings")
