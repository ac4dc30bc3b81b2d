"""Bringing: a file of one table becomes a file of another as well, under the same name.

No byte passes through this process where the place can help it: in a folder the second name is a
hard link, in an object store the server copies. A file is never changed once it has its name, so
two tables may share its bytes.
"""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile
from typing import Final

import obstore
from obstore.exceptions import BaseError

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.store.elsewhere import FilePlace, place_of, whole_bucket
from rocky.store.files import DataFile
from rocky.store.objects import Objects, why_failed
from rocky.store.warehouse import Table

_THREADS: Final = 16
_COPIED_UP_TO_BYTES: Final = 5 * 1024**3
"""Servers copy no larger object by one request."""


def bring_files(source: Table, files: Iterable[DataFile], target: Table) -> None:
    """Make files of `source` lie in the folder of `target`; those that do are left as they are.

    May be repeated after it was cut short. Raises `StoreUnreadable` for a file that is missing or
    not as long as it was, `StoreUnwritable`.
    """

    def bring(file: DataFile) -> None:
        there = place_of(target.objects, target.prefix, file.name)
        share_file(source.place_of(file), there, file.size)
        if there.local is not None:
            # A link is as old as the file: nobody may sweep it as a leftover before the commit.
            _refresh(there.local)

    with ThreadPoolExecutor(_THREADS, "rocky-bring") as pool:
        # Taken one by one, so that a file that is missing is told.
        for _ in pool.map(bring, files):
            pass


def share_file(here: FilePlace, there: FilePlace, size: int) -> None:
    """Make one file lie in a second place too. Raises as `bring_files` does."""
    if str(here) == str(there):
        _require(here, size)
        return
    link, local = here.local, there.local
    if link is not None and local is not None:
        share_local(str(link), str(local), size)
        return
    found = there.info()
    if found is not None and found.size != size:
        raise StoreUnwritable(_damaged(str(there)))
    _require(here, size)
    _copy(here, there, size)
    _require(there, size)


def share_local(here: str, there: str, size: int) -> None:
    """Give a file on a disk a second name, or a copy where there are no links."""
    try:
        if _size(here) != size:
            raise StoreUnreadable(f"could not read `{here}`: it is not as long as it was")
        if not _link(here, there) and _size(there) != size:
            raise StoreUnwritable(_damaged(there))
    except FileNotFoundError as error:
        raise StoreUnreadable(f"could not read `{here}`: it is missing") from error
    except OSError as error:
        raise StoreUnwritable(f"could not write `{there}`: {error.strerror or error}") from error


def _link(here: str, there: str) -> bool:
    """Whether the name was made; False where there is one already."""
    folder, name = os.path.split(there)
    try:
        os.link(here, there)
    except FileExistsError:
        return False
    except FileNotFoundError:
        if not Path(here).exists():
            raise
        Path(folder).mkdir(parents=True, exist_ok=True)
        return _link(here, there)
    except OSError:
        # Another disk, or one that knows no links. The name must not appear before the bytes do.
        Path(folder).mkdir(parents=True, exist_ok=True)
        half = Path(folder, f"_{name}.{os.getpid()}.copy")
        copyfile(here, half)
        half.replace(there)
    return True


def _size(file: str) -> int:
    return os.stat(file).st_size  # noqa: PTH116 - for every file of a warehouse, and twice as fast


def _refresh(file: Path) -> None:
    try:
        os.utime(file)
    except OSError as error:
        raise StoreUnwritable(f"could not write `{file}`: {error.strerror or error}") from error


def _require(place: FilePlace, size: int) -> None:
    found = place.info()
    if found is None or found.size != size:
        what = "missing" if found is None else "not as long as it was"
        raise StoreUnreadable(f"could not read `{place}`: it is {what}")


def _copy(here: FilePlace, there: FilePlace, size: int) -> None:
    try:
        if size <= _COPIED_UP_TO_BYTES and _same_store(here.objects, there.objects):
            store = whole_bucket(there.objects).store
            obstore.copy(store, _key(here), _key(there))
        else:
            with obstore.open_writer(there.objects.store, _own_key(there)) as opened:
                for piece in obstore.get(here.objects.store, _own_key(here)).stream():
                    opened.write(bytes(piece))
    except (BaseError, OSError, ValueError) as error:
        raise StoreUnwritable(f"could not write `{there}`: {why_failed(error)}") from error


def _same_store(one: Objects, other: Objects) -> bool:
    """Whether a server can copy from one place to the other."""
    a, b = one.location, other.location
    return bool(a.bucket) and a.bucket == b.bucket and dict(a.settings) == dict(b.settings)


def _key(place: FilePlace) -> str:
    """The key in the bucket."""
    return f"{place.objects.location.prefix}/{place.path}".lstrip("/")


def _own_key(place: FilePlace) -> str:
    """The key as the client of the objects takes it, which starts at their own root."""
    local = place.local
    return place.path if local is None else local.as_posix().removeprefix("/")


def _damaged(place: str) -> str:
    return (
        f"`{place}` is there already and is not what its name says; it is damaged and must be"
        " restored or removed"
    )
