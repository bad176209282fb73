"""Figures of labelled sessions as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .extraction_figures import MATCHES, Scored, groups, taken
from .scoring import JUDGED


def table(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures of a set: one line per category, lenient and strict side by side."""
    turns = found.get("turns")
    yield ""
    yield f"{name}: {found['lenient']['sessions']} sessions" + (f", {turns} turns" if turns else "")
    yield f"  {'':14} {'lenient   P    R    F1':26} {'strict    P    R    F1':26}   want   got"
    for category in JUDGED:
        lenient = found["lenient"]["categories"].get(category)
        strict = found["strict"]["categories"].get(category)
        if lenient and strict:
            yield f"  {category:14} {_three(lenient)} {_three(strict)}   {lenient['want']:4}  {lenient['got']:4}"
    yield f"  macro F1       {_macro(found['lenient'])} {_macro(found['strict'])}"
    yield f"  mean of sessions {found['lenient']['by_session']:.3f}{'':21} {found['strict']['by_session']:.3f}"
    for part, figures_of_it in found.get("parts", {}).items():
        yield f"  {part}, {figures_of_it['lenient']['sessions']} sessions: " + ", ".join(
            f"{category} {_pair(figures_of_it, category)}"
            for category in ["macro", *figures_of_it["lenient"]["categories"]]
        )
    if found.get("cpu_ms"):
        cpu, kept = found["cpu_ms"], found["error_states"]
        yield f"  CPU a turn: median {cpu['median']} ms, p99 {cpu['p99']} ms, most {cpu['most']} ms"
        yield f"  negatives taken for facts: {found['negatives']['taken']} of {found['negatives']['of']}"
        yield f"  open or resolved, of matched errors: {kept['right']} right, {kept['wrong']} wrong"


def beside(name: str, found: Mapping[str, Any], others: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines with the F1 per category of this package ("here") and of each baseline, lenient / strict."""
    whole = {"here": found, **others}
    yield ""
    yield f"{name}, F1 lenient/strict".ljust(34) + "".join(f"{other:>12}" for other in whole)
    for category in [*found["lenient"]["categories"], "macro"]:
        yield f"  {category:32}" + "".join(f"{_pair(part, category):>12}" for part in whole.values())


def stages(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines with the F1 per category after each stage of extraction, lenient / strict."""
    categories = [*next(iter(found.values()))["lenient"]["categories"], "macro"]
    yield ""
    yield f"{name}, F1 lenient/strict".ljust(34) + "".join(f"{stage:>16}" for stage in found)
    for category in categories:
        yield f"  {category:32}" + "".join(f"{_pair(part, category):>16}" for part in found.values())


def stages_page(sets: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the same for several sets as a Markdown table, with a column for the macro F1 and for each category."""
    first = next(iter(sets.values()))
    categories = ["macro", *next(iter(first.values()))["lenient"]["categories"]]
    yield "| set | stages | " + " | ".join(categories) + " |"
    yield "|---" * (len(categories) + 2) + "|"
    for name, found in sets.items():
        for stage, part in found.items():
            cells = (
                _pair(part, category) if category == "macro" or category in part["lenient"]["categories"] else "-"
                for category in categories
            )
            yield f"| {name} | {stage} | " + " | ".join(cells) + " |"


def decisions_page(sets: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a Markdown table with, for each set, the precision of decisions in force, finished tasks and open errors,
    the recall of decisions, and the mean recall of the categories, all lenient."""
    yield (
        "| set | decisions told that are right | tasks told as done that are | errors told as open that are"
        " | decisions found | facts found, mean of the categories |"
    )
    yield "|---|---|---|---|---|---|"
    for name, found in sets.items():
        categories = found["lenient"]["categories"]
        recall = sum(part["recall"] for part in categories.values()) / len(categories)
        shares = (*precisions_of(found).values(), categories["decisions"]["recall"], recall)
        yield f"| {name} | " + " | ".join(f"{share:.2f}".removeprefix("0") for share in shares) + " |"


def precisions_of(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the precision of a set's decisions in force, finished tasks and open errors, lenient; 0 if there are
    none."""
    categories, still = found["lenient"]["categories"], found["open_errors"]
    none = {"precision": 0.0}
    return {
        "decisions in force": categories.get("decisions", none)["precision"],
        "finished tasks": categories.get("tasks_done", none)["precision"],
        "open errors": round(still["right"] / max(1, still["told"]), 4),
    }


def _pair(part: Mapping[str, Any], category: str) -> str:
    both = [
        part[match]["macro_f1"] if category == "macro" else part[match]["categories"][category]["f1"]
        for match in MATCHES
    ]
    return "/".join(f"{value:.2f}".removeprefix("0") for value in both)


def _three(part: Mapping[str, float]) -> str:
    return f"        {part['precision']:.2f} {part['recall']:.2f} {part['f1']:.3f}  ".ljust(26)


def _macro(part: Mapping[str, Any]) -> str:
    bounds = part["interval"]
    return (f"{part['macro_f1']:.3f}" + (f" [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else "")).ljust(26)


def grouped(rows: Sequence[Scored], trait: str) -> Iterator[str]:
    """Yield lines with the macro F1 by value of a trait, also for values that only one session has."""
    for value, part in groups(rows, trait, 1).items():
        marks = "  ".join(f"{name} {part[name]['macro_f1']:.3f}" for name in MATCHES)
        yield f"    {trait} {value[:40]:40} {marks}  ({part['sessions']})"


def faults_of(rows: Sequence[Scored], most: int, only: str = "") -> Iterator[str]:
    """Yield lines with the missed and the spurious labels, up to ``most`` of each per category, and, unless ``most`` is
    0, the negatives taken for facts. ``only``: the only category, "" for all."""
    for category in [only] if only else JUDGED:
        for kind in ("missed", "spurious"):
            listed = [
                (row.session.id, text)
                for row in rows
                if category in row.lenient
                for text in getattr(row.lenient[category], kind)
            ]
            for id, text in listed[:most]:
                yield f"  {kind:8} {category:14} {id}: {text[:160]}"
    for row in rows if most else ():
        for category, text in taken(row):
            if only in ("", category):
                yield f"  taken    {category:14} {row.session.id}: {text[:160]}"
