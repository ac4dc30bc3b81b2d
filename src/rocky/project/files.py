"""Files of a project: finding, reading and writing them, and saying what is wrong with one.

Paths are project-relative and `/`-separated everywhere above this module. A file that
cannot be read is not an exception: `read_text` gives back a `Diagnostic` in its place.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import Final

from blake3 import blake3

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.errors import RockyError
from rocky.project.overlay import overlaid_bytes, overlaid_names

Report = Callable[[Diagnostic], None]

MAX_DEPTH: Final = 64
MAX_BYTES: Final = 64 * 1024 * 1024
_CHUNK: Final = 1 << 16
_BOM: Final = "\ufeff"
READABLE: Final = 0o644
"""The mode of files that are there for others to read."""


# Size, modification time and change time of a file: some of them change with every write.
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder of the walk: its path ("" is the project's root) and its files, sorted.

    `stamps` is empty unless the walk was asked for them.
    """

    path: str
    names: list[str]
    stamps: dict[str, Stamp]


_GONE: Final = "a symbolic link to a folder that does not exist"


def scan_folders(root: str, path: str, report: Report, *, stamps: bool = False) -> Iterator[Folder]:
    """Every folder at and below `path`, parents first, in sorted order.

    Hidden entries are left out. A symbolic link that leads back to a folder it is in is
    reported and not followed; one that leads nowhere is reported: files may be missing.
    """
    location = _join(root, path)
    # A Path per file would double the cost of a walk.
    if os.path.isdir(location) or any(overlaid_names(location)[:2]):  # noqa: PTH112
        yield from _scan(root, path, (_identity(root, path),), report, stamps)
    elif os.path.islink(location):  # noqa: PTH114 - as above
        report(_unusable(path, f"`{path}` is {_GONE}"))


def _scan(
    root: str,
    path: str,
    above: tuple[tuple[int, int], ...],
    report: Report,
    with_stamps: bool,  # noqa: FBT001 - passed on by position
) -> Iterator[Folder]:
    names: list[str] = []
    folders: list[str] = []
    stamps: dict[str, Stamp] = {}
    more, below_more, gone = overlaid_names(_join(root, path))
    try:
        with os.scandir(_join(root, path)) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == "." or name in more or name in gone:
                    continue
                if not _is_file(path, entry, folders, report):
                    continue
                names.append(name)
                if with_stamps:
                    found = entry.stat()
                    stamps[name] = (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    except OSError as failure:
        if not more and not below_more:
            report(_unusable(path, f"the folder `{path}` cannot be read: {_reason(failure)}"))
            return
    names = sorted([*names, *(name for name in more if name[0] != ".")])
    folders = sorted({*folders, *(name for name in below_more if name[0] != ".")})
    yield Folder(path, names, stamps)
    for name in folders:
        below = child_path(path, name)
        if name.lower().endswith((".sql", ".rocky")):
            suffix = name[name.rindex(".") :].lower()
            advice = f"give the folder a name that does not end in `{suffix}`"
            report(_unusable(below, f"`{below}` is a folder, not a model", help=advice))
        elif name.endswith(".toml"):
            advice = "give the folder a name that does not end in `.toml`"
            report(_unusable(below, f"`{below}` is a folder, not a file", help=advice))
        identity = _identity(root, below)
        if identity in above and identity != _NOWHERE:
            report(_loop(below))
        elif len(above) >= MAX_DEPTH:
            report(_unusable(below, f"`{below}` is nested more than {MAX_DEPTH} folders deep"))
        else:
            yield from _scan(root, below, (*above, identity), report, with_stamps)


_NOWHERE: Final = (-1, -1)
"""The identity of a folder that is not on disk: a text that nobody saved may lie in one."""


def _identity(root: str, path: str) -> tuple[int, int]:
    try:
        found = os.stat(_join(root, path))  # noqa: PTH116 - as above
    except OSError:
        return _NOWHERE  # Gone since it was listed: reading it will say so.
    return found.st_dev, found.st_ino


_SUFFIXES: Final = (".sql", ".rocky", ".toml", ".csv")


def _is_file(path: str, entry: os.DirEntry[str], folders: list[str], report: Report) -> bool:
    """Whether an entry is a file. A folder goes to `folders`; what is neither is reported."""
    try:
        if entry.is_file():
            return True
        if entry.is_dir():
            folders.append(entry.name)
            return False
    except OSError:  # A link that goes round in circles.
        report(_loop(child_path(path, entry.name)))
        return False
    below = child_path(path, entry.name)
    if "." not in entry.name and entry.is_symlink():
        report(_unusable(below, f"`{below}` is {_GONE}"))
    elif entry.name.lower().endswith(_SUFFIXES):
        what = "a symbolic link to a file that does not exist"
        if not entry.is_symlink():
            what = "not a regular file"
        report(_unusable(below, f"`{below}` is {what}"))
    return False


def _loop(path: str) -> Diagnostic:
    return _unusable(
        path,
        f"the symbolic link `{path}` leads back to itself or to a folder it is in",
        help="remove the link; Rocky does not follow it",
    )


_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Nobody waits for a pipe in the place of a file: it is as if it were empty."""


def read_bytes(location: str) -> bytes:
    """The whole file. Raises OSError; a folder or a device is one too.

    Below `open()`, because its buffering costs more than the read itself on small files.
    """
    unsaved = overlaid_bytes(location)
    if unsaved is not None:
        return unsaved
    handle = os.open(location, _READ)
    try:
        data = os.read(handle, _CHUNK)
        if len(data) < _CHUNK:
            return data
        parts = [data]
        total = len(data)
        while data and total <= MAX_BYTES:
            data = os.read(handle, _CHUNK)
            parts.append(data)
            total += len(data)
        return b"".join(parts)
    finally:
        os.close(handle)


Reads = dict[str, bytes]
"""Files by their whole paths, each read once: what is hashed, looked at and run is one."""


def read_once(location: str, reads: Reads) -> bytes:
    """The bytes of a file, as they were when it was first read. Raises OSError."""
    if location not in reads:
        reads[location] = read_bytes(location)
    return reads[location]


def is_file(location: str) -> bool:
    """Whether there is a file to read."""
    try:
        return overlaid_bytes(location) is not None or Path(location).is_file()
    except FileNotFoundError:
        return False


def read_text(
    root: str, path: str, report: Report, code: Code = Code.UNUSABLE_FILE
) -> tuple[str, bytes] | None:
    """The text of a file (without a byte order mark) and its bytes; None once reported."""
    try:
        data = read_bytes(_join(root, path))
    except OSError as failure:
        report(_unusable(path, f"`{path}` cannot be read: {_reason(failure)}", code))
        return None
    if len(data) > MAX_BYTES:
        report(_unusable(path, f"`{path}` is larger than {MAX_BYTES >> 20} MB", code))
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError as failure:
        report(_not_utf8(path, data, failure, code))
        return None
    return text.removeprefix(_BOM), data


def read_unchanged(root: str, path: str, digest: bytes) -> str:
    """The text of a file that was read before. Raises RockyError when it is another now."""
    try:
        data = read_bytes(_join(root, path))
    except OSError as failure:
        raise RockyError(f"`{path}` cannot be read any more: {_reason(failure)}") from failure
    if blake3(data).digest() != digest:
        raise RockyError(f"`{path}` changed while the project was being read; run it again")
    return data.decode().removeprefix(_BOM)


def show_text(root: str, path: str) -> str:
    """The text of a file as a reader would see it, bytes that are not UTF-8 replaced."""
    try:
        data = read_bytes(_join(root, path))
    except OSError:
        return ""
    return data.decode(errors="replace").removeprefix(_BOM)


def is_inside(path: Path, root: Path) -> bool:
    """Whether a file would lie below a folder, wherever links on the way lead, and is none."""
    return path.parent.resolve().is_relative_to(root.resolve()) and not path.is_symlink()


def write_atomically(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write a file that is complete or as it was before, whenever the process or machine ends.

    `mode` holds whatever the user's mask says. Raises OSError, which names the file.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A new file: a link that somebody has put there is not written through.
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            # A name that is not UTF-8 becomes the escape that JSON and TOML have for it.
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            draft.chmod(mode)
        draft.replace(path)
    except OSError as failure:
        # The draft is our own affair: what could not be written is the file.
        raise OSError(failure.errno, failure.strerror, str(path)) from failure
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def child_path(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _join(root: str, path: str) -> str:
    return f"{root}/{path}" if path else root


def _not_utf8(path: str, data: bytes, failure: UnicodeDecodeError, code: Code) -> Diagnostic:
    before = data[: failure.start].decode()
    at = len(before.removeprefix(_BOM))
    line = before.count("\n") + 1
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    return Diagnostic(
        code,
        f"`{path}` is not UTF-8: byte 0x{data[failure.start]:02x} at offset {failure.start},"
        f" line {line}",
        Span(at, at + 1),
        path,
        help="the file looks like UTF-16; save it as UTF-8" if utf16 else "save the file as UTF-8",
    )


def _unusable(
    path: str,
    message: str,
    code: Code = Code.UNUSABLE_FILE,
    help: str | None = None,  # noqa: A002 - the diagnostic's own word
) -> Diagnostic:
    return Diagnostic(code, message, None, path, help=help)


def _reason(failure: OSError) -> str:
    return (failure.strerror or str(failure)).lower()
