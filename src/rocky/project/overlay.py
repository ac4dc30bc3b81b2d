"""Overlay: texts that take the place of files while a project is loaded, because nobody saved them.

An overlay holds for the context that lays it and for nothing else: other threads see the disk. A
text may stand where there is no file, and None where there is one: that file is as good as deleted.
What was read under an overlay is not what the disk has, so no cache is written while one lies.
"""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Overlay:
    """Bytes by whole path, None for a file that is gone; and what folders have because of them."""

    texts: Mapping[str, bytes | None] = field(default_factory=dict)
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)
    folders: Mapping[str, frozenset[str]] = field(default_factory=dict)


NO_OVERLAY: Final = Overlay()
_LAID: Final[ContextVar[Overlay]] = ContextVar("overlay", default=NO_OVERLAY)


def make_overlay(root: Path, texts: Mapping[str, str | None]) -> Overlay:
    """The overlay of texts by their paths in the project at `root`."""
    if not texts:
        return NO_OVERLAY
    top = os.path.abspath(root)  # noqa: PTH100 - links are not followed: a path is what was typed
    placed: dict[str, bytes | None] = {}
    files: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for path, text in texts.items():
        location = f"{top}/{path}"
        placed[location] = None if text is None else text.encode("utf-8", "surrogatepass")
        if text is None:
            continue
        above, _, name = location.rpartition("/")
        files.setdefault(above, set()).add(name)
        while above != top:
            below = above
            above, _, name = below.rpartition("/")
            folders.setdefault(above, set()).add(name)
    return Overlay(
        placed,
        {key: frozenset(each) for key, each in files.items()},
        {key: frozenset(each) for key, each in folders.items()},
    )


@contextmanager
def laid(overlay: Overlay) -> Iterator[None]:
    """While this holds, files of the project are read as the overlay has them."""
    token = _LAID.set(overlay)
    try:
        yield
    finally:
        _LAID.reset(token)


def is_laid() -> bool:
    """Whether what is read now may be other than what the disk has."""
    return bool(_LAID.get().texts)


def overlaid_bytes(location: str) -> bytes | None:
    """What an overlay has in the place of a file; None where it says nothing of it.

    Raises FileNotFoundError for a file that is as good as deleted.
    """
    texts = _LAID.get().texts
    if not texts:
        return None
    whole = os.path.abspath(location)  # noqa: PTH100 - as above
    if whole not in texts:
        return None
    found = texts[whole]
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), location)
    return found


def overlaid_names(location: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The files and the folders that a folder has because of an overlay, and the files it lost."""
    overlay = _LAID.get()
    if not overlay.texts:
        return _NOTHING
    whole = os.path.abspath(location)  # noqa: PTH100 - as above
    gone = {
        path.rpartition("/")[2]
        for path, text in overlay.texts.items()
        if text is None and path.rpartition("/")[0] == whole
    }
    nothing: frozenset[str] = frozenset()
    return overlay.files.get(whole, nothing), overlay.folders.get(whole, nothing), frozenset(gone)


_NOTHING: Final = (frozenset[str](), frozenset[str](), frozenset[str]())
