"""Archives: lists their members without unpacking them."""

from __future__ import annotations

import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO, Final, cast

from .digest import DigestLine, Report, format_count, format_size, join_names
from .reading import TOO_LARGE, FileSource, Stopped

ENTRIES_MAX: Final = 200_000
"""Largest number of entries of an archive that are read."""

UNPACKED_MAX: Final = 2 * 1024**3
"""Bytes of a tar archive's contents up to which its entries are listed. Nothing is stored."""

RATIO_MAX: Final = 200
"""An archive whose contents are more than this many times its own size is reported as dangerous."""

_LARGEST: Final = 5
_MARK: Final = slice(257, 262)
_END: Final = 512
"""Size in bytes of the blocks of zeros with which a tar archive ends."""


@dataclass(slots=True)
class _Listing:
    entries: int = 0
    folders: int = 0
    unpacked: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    tops: Counter[str] = field(default_factory=Counter)
    largest: list[tuple[int, str]] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)
    locked: int = 0

    def add(self, name: str, size: int, *, folder: bool = False, link: str = "", locked: bool = False) -> None:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ".." in PurePosixPath(link).parts or link.startswith("/"):
            self.unsafe.append(name)
        self.locked += locked
        if folder:
            self.folders += 1
            return
        self.entries += 1
        self.unpacked += size
        self.endings[path.suffix.lower() or "(none)"] += 1
        self.tops[path.parts[0] + ("/" if len(path.parts) > 1 else "") if path.parts else name] += 1
        self.largest = sorted([*self.largest, (size, name)], reverse=True)[:_LARGEST]


def read_zip(source: FileSource) -> Report:
    """Report the members of a ZIP archive, from its directory; nothing is unpacked. Does not raise for a broken
    archive: ``Report.broke`` says what is wrong."""
    listing = _Listing()
    try:
        with zipfile.ZipFile(source.file) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        return Report("ZIP archive", broke=f"{error}; its directory cannot be read")
    for info in infos[:ENTRIES_MAX]:
        listing.add(info.filename, info.file_size, folder=info.is_dir(), locked=bool(info.flag_bits & 1))
    broke = f"only the first {ENTRIES_MAX:,} of {len(infos):,} entries" if len(infos) > ENTRIES_MAX else ""
    return _report("ZIP archive", listing, source.size, broke)


def read_tar(source: FileSource) -> Report:
    """Report the members of a tar archive, compressed or not. Its headers are read in one pass. Does not raise for
    a broken archive: ``Report.broke`` says where reading stopped."""
    listing = _Listing()
    broke = ""
    source.file.seek(0)
    file = _Advancing(source)
    try:
        with tarfile.open(fileobj=cast(BinaryIO, file), mode="r|*") as archive:
            for member in _bound_members(archive):
                link = member.linkname if member.issym() or member.islnk() else ""
                listing.add(member.name, member.size, folder=member.isdir(), link=link)
    except Stopped:
        broke = f"stopped after {listing.entries:,} entries"
    except MemoryError:
        broke = f"behind entry {listing.entries:,}: {TOO_LARGE}"
    except _TooMuch as error:
        broke = str(error)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        broke = f"behind entry {listing.entries:,}: {error or type(error).__name__}; what follows is not listed"
    plain = source.head[_MARK] == b"ustar"
    if plain and not broke and any(file.tail):  # the library takes a header that is cut for the end
        broke = f"behind entry {listing.entries:,} it breaks off"
    return _report("tar archive", listing, source.size, broke)


class _TooMuch(Exception):
    pass


class _Advancing:
    """A file that reports the number of bytes read to the source's ``advance``, and keeps the last ones in ``tail``."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self.tail = b""

    def read(self, size: int = -1) -> bytes:
        piece = self._source.file.read(size)
        self._source.advance(len(piece))
        self.tail = (self.tail + piece[-_END:])[-_END:]
        return piece


def _bound_members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for number, member in enumerate(archive, 1):
        if number > ENTRIES_MAX:
            raise _TooMuch(f"only the first {ENTRIES_MAX:,} entries")
        yield member
        if member.offset_data + member.size > UNPACKED_MAX:
            raise _TooMuch(f"listed up to {format_size(UNPACKED_MAX)} of contents; what follows is not")


def _report(title: str, listing: _Listing, size: int, broke: str) -> Report:
    lines = [DigestLine(f"unpacked: {format_size(listing.unpacked)}, {format_count(listing.folders, 'folder')}", 9.0)]
    if size and listing.unpacked > RATIO_MAX * size:
        lines.append(DigestLine(f"it swells {listing.unpacked // size:,} times: do not unpack it without a limit", 9.5))
    if listing.unsafe:
        lines.append(DigestLine(f"{len(listing.unsafe):,} entries point outside: {join_names(listing.unsafe, 3)}", 9.5))
    if listing.locked:
        lines.append(DigestLine(f"{listing.locked:,} entries are encrypted", 8.0))
    if listing.tops:
        tops = join_names((f"{name} ({count:,})" for name, count in listing.tops.most_common(12)), 8)
        lines.append(DigestLine(f"at the top: {tops}", 6.0))
        endings = join_names((f"{name} {count:,}" for name, count in listing.endings.most_common(12)), 8)
        lines.append(DigestLine(f"by ending: {endings}", 5.0))
        largest = join_names((f"{name} ({format_size(size_)})" for size_, name in listing.largest), _LARGEST)
        lines.append(DigestLine(f"largest: {largest}", 4.0))
    facts = {
        "entries": listing.entries,
        "folders": listing.folders,
        "unpacked": listing.unpacked,
        "unsafe": listing.unsafe[:100],
        "encrypted": listing.locked,
        "endings": dict(listing.endings.most_common(100)),
    }
    return Report(f"{title}, {format_count(listing.entries, 'file')}", tuple(lines), broke, (), facts)
