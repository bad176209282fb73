"""Files that a model may analyse: those below folders that the user named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final

from mcp.server.mcpserver.exceptions import ToolError

ROOTS_VARIABLE: Final = "TOKENMIZER_ROOTS"


@contextmanager
def open_file(path: str, roots: Sequence[str]) -> Iterator[BinaryIO]:
    """Open the regular file at ``path`` (relative to the first root) if it is below a root after all links are
    resolved.

    Raises ``ToolError`` otherwise.
    """
    if "\0" in path:
        raise ToolError("That is not a path.")
    real = os.path.realpath(os.path.join(roots[0], os.path.expanduser(path)))
    if not any(_below(real, os.path.realpath(root)) for root in roots):
        raise ToolError(
            f"{path} lies outside of what may be read ({', '.join(roots)}): ask the user to allow its folder."
        )
    try:
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ToolError(f"{path} cannot be opened: {error.strerror or error}.") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode) or os.path.realpath(real) != real:
        os.close(handle)
        raise ToolError(f"{path} is not a file.")
    with os.fdopen(handle, "rb") as file:
        yield file


def _below(path: str, root: str) -> bool:
    return os.path.commonpath((path, root)) == root
