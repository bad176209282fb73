"""The command that installs an extra of this package, for error messages."""

from __future__ import annotations


def install_hint(extra: str, distribution: str = "tokenmizer-mw", folder: str = ".") -> str:
    """Return the command that installs ``extra`` of ``distribution`` from the source that the distribution itself was
    installed from. If that is not recorded: from the checkout in ``folder``.
    """
    from shlex import quote

    origin = _origin(distribution)
    if origin is None:
        return f"pip install {quote(f'{folder}[{extra}]')} in a checkout of tokenmizer-mw"
    kind, place = origin
    named = f"{distribution}[{extra}] @ {place}" if kind == "url" else f"{place}[{extra}]"
    return f"pip install {quote(named)}"


def _origin(distribution: str) -> tuple[str, str] | None:
    """Where the distribution was installed from: ("path", a folder or an archive) or ("url", an address as pip reads
    it). ``None``: from an index, or not at all."""
    import json
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import distribution as found
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    try:
        values = json.loads(found(distribution).read_text("direct_url.json") or "null")
        url = urlsplit(values["url"])
    except (PackageNotFoundError, OSError, ValueError, TypeError, KeyError):
        return None
    if url.scheme == "file":
        return "path", url2pathname(unquote(url.path) if "%" in url.path else url.path)
    vcs = (values.get("vcs_info") or {}).get("vcs")
    return "url", f"{vcs}+{values['url']}" if vcs else values["url"]
