"""The resume block on a session's page, loaded separately because composing it reads the whole transcript."""

from __future__ import annotations

from tokenmizer_mw.context.resume import LEVELS, Resume

from .asked import PageRequest
from .markup import Markup, join_markup, tag
from .words import card, format_count, link, nothing, to

_DEFAULT = "standard"


def block_card(asked: PageRequest) -> Markup:
    """Return the card with the resume block at the level in the query; without a level, a card that loads it."""
    level = asked.query.get("level", "")
    if not level:
        address = to("session", id=asked.id, level=_DEFAULT)
        text = tag("p", link(f"{address}#resume", "Show the block"), class_="hint")
        return card("Resume block", _lead(), text, id="resume", live=True, load=address)
    return _render_levels(asked, level if level in LEVELS else _DEFAULT)


def _lead() -> Markup:
    return tag("p", "As it would be sent right now in place of older messages.", class_="hint")


def _render_levels(asked: PageRequest, level: str) -> Markup:
    blocks = asked.memory.resumes(asked.id, tenant=asked.tenant)
    tabs = [tag("li", _tab(asked, name, block, name == level)) for name, block in blocks.items()]
    block = blocks[level]
    text = tag("pre", block.text, class_="block", tabindex="0", aria_label="The block", dir="auto")
    exact = "as the model's own tokenizer counts" if block.exact else "counted so that it errs high"
    foot = f"{format_count(block.tokens, 'token')}, {exact}; {format_count(len(block.node_ids), 'fact')}."
    shown = join_markup(text, tag("p", foot, class_="hint")) if block.text else nothing("There is nothing to send yet.")
    address = to("session", id=asked.id, level=level)
    return card("Resume block", _lead(), tag("ul", tabs, class_="levels"), shown, id="resume", live=True, load=address)


def _tab(asked: PageRequest, name: str, block: Resume, current: bool) -> Markup:
    return link(
        f"{to('session', id=asked.id, level=name)}#resume",
        tag("span", name.capitalize()),
        tag("small", f"{block.tokens} of {block.budget} tokens"),
        aria_current="true" if current else None,
    )
