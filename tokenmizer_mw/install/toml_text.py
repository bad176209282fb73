"""A section of a TOML text put in or taken out, every other character as it was. Pure."""

from __future__ import annotations

import tomllib

from .json_text import NotPlain


def with_section(text: str, name: str, section: str) -> str:
    """``text`` with ``section``, whose first line is the header ``[name]``, at its end or where it was. Raises
    ``NotPlain`` where that would not be TOML."""
    if section.rstrip() in text:
        return _checked(text)
    rest = without_section(text, name)
    if rest and not rest.endswith("\n"):
        return _checked(f"{rest}\n\n{section.rstrip()}")
    gap = "" if not rest or rest.endswith("\n\n") else "\n"
    return _checked(rest + gap + section)


def without_section(text: str, name: str) -> str:
    """``text`` without the section ``[name]`` and those below it. Raises ``NotPlain`` for what is no TOML."""
    _checked(text)
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped.startswith("["):
            inside = stripped.startswith((f"[{name}]", f"[{name}."))
            if inside and kept and not kept[-1].strip():
                kept.pop()
        if not inside:
            kept.append(line)
    rest = "".join(kept)
    return rest if text.endswith("\n") or rest == text else rest.removesuffix("\n")


def _checked(text: str) -> str:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotPlain(f"it is not TOML ({error})") from None
    return text
