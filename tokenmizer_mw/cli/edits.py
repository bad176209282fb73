"""The commands that query and edit facts, and ``refine``. Each edit by hand gets a number, which ``undo`` takes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, ConfigError, ModelFailed
from tokenmizer_mw.model.event import NodeEdited, node_to_dict
from tokenmizer_mw.model.node import Node, Status, spell_slot
from tokenmizer_mw.runtime.terminal import progress, show, show_json, show_result
from tokenmizer_mw.session.edit_results import FactEdit
from tokenmizer_mw.session.manual_edits import undone_numbers
from tokenmizer_mw.session.refinement.plan import REFINED, Refinement
from tokenmizer_mw.session.state import SHOWN_FIELDS

from .store import Store

_OPEN_MAX: Final = 20


def recall(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``recall``: print the facts and messages of a session that answer a question, within ``--budget``
    tokens. If there are none, print the session's open work instead. Raises ``CallerError`` for a blank question."""
    _require_text(arguments.question, "the question")
    found = store.memory.recall(arguments.session, arguments.question, budget=arguments.budget, tenant=arguments.tenant)
    show_result(
        arguments.json,
        {
            "text": found.text,
            "tokens": found.tokens,
            "facts": found.ids,
            "messages": found.turns,
            "times": dict(found.times),
        },
        found.text or _name_open_work(arguments, store),
    )


def _name_open_work(arguments: argparse.Namespace, store: Store) -> str:
    """Return what to print if the session has nothing about the question: a line that says so, and the session's
    unfinished facts (at most 20), which answer questions such as "what is left to do?"."""
    lines = ["the session says nothing about that"]
    unfinished = store.memory.graph(arguments.session, tenant=arguments.tenant).unfinished_nodes()
    lines += ["Open work:", *(f"- {node.label}" for node in unfinished[:_OPEN_MAX])] if unfinished else []
    return "\n".join(lines)


def _require_text(text: str, what: str) -> None:
    if not text.strip():
        raise CallerError(f"{what} is empty")


def search(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``search``: print the facts of a session that are most similar to a text, at most ``--limit``,
    the best first. Raises ``CallerError`` for a blank text."""
    _require_text(arguments.text, "the text")
    hits = store.memory.search(arguments.session, arguments.text, arguments.limit, tenant=arguments.tenant)
    if arguments.json:
        show_json([{**node_to_dict(hit.node), "score": hit.score} for hit in hits])
        return
    for hit in hits:
        show(_line(hit.node))
    if not hits:
        show("no fact shares words with that")


def remember(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``remember``: add a fact to a session by hand, and print the fact and the number of the edit. A
    fact that the session has already is not added again."""
    node = store.memory.remember(
        arguments.session,
        arguments.text,
        arguments.kind,
        reason=arguments.reason,
        create=arguments.create,
        tenant=arguments.tenant,
    )
    head = f"change {node.number}: stored as {node.kind or node.type}" if node.number else "known already:"
    show_result(
        arguments.json,
        {
            **node_to_dict(node),
            "change": node.number,
            "replaced": [node_to_dict(old) for old in node.replaced],
            "similar": [node_to_dict(one) for one in node.similar],
        },
        "\n  ".join([f"{head} {_line(node)}", *node.effects]),
    )


def correct(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``correct``: change the text of a fact (``--text``), its reason (``--because``) or both. Raises
    ``CallerError`` if neither is given."""
    if arguments.text is None and arguments.because is None:
        raise CallerError("nothing to change: pass --text, --because or both")
    done = store.memory.correct(
        arguments.session,
        arguments.fact,
        label=arguments.text,
        detail=arguments.because,
        reason=arguments.reason,
        tenant=arguments.tenant,
    )
    _show_change(arguments, done)


def invalidate(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``invalidate``: mark a fact as wrong. Resume blocks (the short texts that replace old messages)
    then list the fact as rejected or no longer state it. With ``--never-true``, no model is shown the fact at all any
    more."""
    done = store.memory.invalidate(
        arguments.session, arguments.fact, arguments.reason, never_true=arguments.never_true, tenant=arguments.tenant
    )
    if done.after.is_withdrawn:
        means = "no model is shown it any more"
    else:
        effect = "list it under Rejected" if done.after.is_rejected else "no longer state it"
        means = f"blocks {effect}; if it never was true, add --never-true: then no model is shown it"
    _show_change(arguments, done, means)


def change_status(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``complete`` (mark a task as done, an error as fixed or a goal as reached), ``archive`` (put away
    a fact that is true but no longer of interest) or ``separate`` (let a replaced fact hold again, beside the one that
    replaced it). The value of ``arguments.command`` decides which."""
    change: Callable[..., FactEdit] = getattr(store.memory, arguments.command)
    _show_change(arguments, change(arguments.session, arguments.fact, arguments.reason, tenant=arguments.tenant))


def pin(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``pin``: pin a fact, so that resume blocks (the short texts that replace old messages) state it
    before others. With ``--off``, unpin the fact."""
    done = store.memory.pin(arguments.session, arguments.fact, not arguments.off, tenant=arguments.tenant)
    _show_change(arguments, done)


def undo(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``undo``: undo one edit by hand, by its number; without a number, the newest edit."""
    done = store.memory.undo(arguments.session, arguments.number, tenant=arguments.tenant)
    lines = ["; ".join([f"change {done.undone} is undone: {_line(done.after)}", *done.effects])]
    lines += [f"  in force again: {_line(node)}" for node in done.restored]
    result = {
        "undone": done.undone,
        **_change_to_dict(done),
        "restored": [node_to_dict(node) for node in done.restored],
    }
    show_result(arguments.json, result, "\n".join(lines))


def edits(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``edits``: list the manual edits of a session, oldest first, each with its number, time, fact and
    reason. Edits that were undone are listed and marked."""
    found = store.memory.edits(arguments.session, tenant=arguments.tenant)
    if arguments.json:
        show_json([one.to_dict() for one in found])
        return
    if not found:
        print("no fact was changed by hand", file=sys.stderr)
    graph = store.memory.graph(arguments.session, tenant=arguments.tenant)
    undone = undone_numbers([one.edit for one in found])
    for one in found:
        edit, when = one.edit, datetime.fromtimestamp(one.recorded_at)
        node = graph.get(edit.id)
        reason = f": {edit.reason}" if edit.reason and not edit.undoes else ""
        ended = " (undone)" if edit.number in undone else ""
        what = _describe_edit(edit, node.label if node is not None else "")
        show(f"{edit.number:>3}  {when:%Y-%m-%d %H:%M}  {edit.id}  {what}{reason}{ended}")


def _describe_edit(edit: NodeEdited, label: str) -> str:
    """Return what an edit changed, such as "label: old text -> new text", or "added ..." for a new fact. ``label``: the
    fact's current label, "" if the fact does not exist."""
    if edit.adds:
        return f"added {label}"
    shown = [name for name in SHOWN_FIELDS if name in edit.changes]
    changed = [f"{name}: {_spell(name, edit.before)} -> {_spell(name, edit.changes)}" for name in shown]
    if edit.changes.get("confidence") == 0 and edit.changes.get("status", Status.INVALIDATED) is Status.INVALIDATED:
        changed = [*(one for one in changed if not one.startswith("status: ")), "withdrawn as never true"]
    if edit.separated is not None:
        changed.append(f"replaced by {edit.separated.new}" if edit.undoes else f"kept beside {edit.separated.new}")
    if "label" not in edit.changes and label:
        changed.append(label)
    return (f"undo of change {edit.undoes}: " if edit.undoes else "") + "; ".join(changed)


def _spell(name: str, fields: Mapping[str, Any]) -> str:
    value = fields[name]
    if name == "slot":
        value = spell_slot(value, fields.get("label", ""))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.word if isinstance(value, Status) else str(value) or "none"


def _show_change(arguments: argparse.Namespace, done: FactEdit, means: str = "") -> None:
    """Print which fact was edited and how: if its label was changed, the old label before the new one. ``means``: a
    further line about what models are shown from now on, "" for none. With ``--json``, print the edit as an object
    instead."""
    fact = f"the {done.after.word} {_line(done.after, done.before.label)}"
    verb = "unpinned" if arguments.command == "pin" and arguments.off else _VERBS[arguments.command]
    head = f"change {done.number}: {verb}" if done.number else "nothing changed:"
    lines = ["; ".join([f"{head} {fact}", *done.effects]), *([f"  {means}"] if means else [])]
    show_result(arguments.json, _change_to_dict(done), "\n".join(lines))


def _change_to_dict(done: FactEdit) -> dict[str, Any]:
    return {
        "change": done.number,
        "fact": node_to_dict(done.after),
        "before": done.previous,
        "effects": done.effects,
    }


_VERBS: Final = {
    "correct": "corrected",
    "complete": "completed",
    "invalidate": "invalidated",
    "archive": "archived",
    "separate": "kept both, restored",
    "pin": "pinned",
}


def _line(node: Node, old: str = "") -> str:
    """Return a fact in one line: id, label, reason, status and source. ``old``: the fact's label before an edit. If it
    is neither empty nor the current label, the line shows "old -> new"."""
    was = f"{old} -> " if old not in ("", node.label) else ""
    because = f" - {node.detail}" if node.detail else ""
    pinned = ", pinned" if node.pinned else ""
    return f"{node.id}: {was}{node.label}{because} ({node.status_word}{pinned}, {node.source.place})"


_FAILED: Final = frozenset({"failed", "circuit_open"})


def refine(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``refine``: let the configured model read one session, or all sessions of the tenant with
    ``--all``, to find facts that were missed. Print the outcome for each session.

    Raises ``CallerError`` unless exactly one of a session and ``--all`` is given, ``ConfigError`` if no model is
    configured, and ``ModelFailed`` after all sessions if the model gave no usable reply for at least one of them.
    """
    if bool(arguments.session) == arguments.all:
        raise CallerError("name a session, or pass --all")
    if not store.memory.settings.llm_url:
        raise ConfigError(
            "no model is configured: set llm_url and llm_model (TOKENMIZER_LLM_URL, TOKENMIZER_LLM_MODEL)"
        )
    listed = store.memory.sessions(tenant=arguments.tenant) if arguments.all else []
    ids = [info.id for info in listed] or ([arguments.session] if arguments.session else [])
    found: dict[str, Refinement] = {}
    with progress("sessions refined", len(ids)) as advance:
        for id in ids:
            found[id] = store.memory.refine(id, tenant=arguments.tenant)
            advance(1)
    _show_refinements(arguments, found)
    if failed := [id for id, one in found.items() if one.outcome in _FAILED]:
        reasons = " / ".join(dict.fromkeys(found[id].error or found[id].outcome.replace("_", " ") for id in failed))
        raise ModelFailed(
            f"the model gave no usable reply for {len(failed):,} of {len(ids):,} sessions ({reasons}); nothing changed"
        )


def _show_refinements(arguments: argparse.Namespace, found: dict[str, Refinement]) -> None:
    if arguments.json:
        show_json([_refinement_to_dict(id, one) for id, one in found.items()])
        return
    for id, one in found.items():
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in one.counts.items() if count)
        outcome = one.outcome.replace("_", " ")
        show(f"{id}: {outcome}{': ' if counts else ''}{counts}")
    if not found:
        show("no session is stored")


def _refinement_to_dict(id: str, one: Refinement) -> dict[str, Any]:
    return {
        "session": id,
        "refined": one.outcome == REFINED,
        "outcome": one.outcome,
        "counts": dict(one.counts),
        "calls": one.calls,
        "tokens": one.tokens,
        "error": one.error,
    }
