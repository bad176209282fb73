"""The command ``refine``: let a model read sessions and add the facts that extraction missed."""

from __future__ import annotations

import argparse
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, ConfigError, ModelFailed
from tokenmizer_mw.runtime.terminal import progress, show, show_json
from tokenmizer_mw.session.refinement.plan import REFINED, Refinement

from .store import Store

_FAILED: Final = frozenset({"failed", "circuit_open"})


def refine(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``refine`` on one session or on all.

    Raises ``CallerError`` unless exactly one of both is named, ``ConfigError`` without a model, and ``ModelFailed`` if
    the model gave no usable reply.
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
