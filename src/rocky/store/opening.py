"""Opening: a data file to be read at any place of it, without loading it whole."""

import io
from typing import Any, BinaryIO, Final, cast

import obstore

from rocky.store.objects import Objects

_BUFFER: Final = 1024 * 1024


class _Reading(io.RawIOBase):
    """A reader of obstore's as a file of Python's: it is neither closed nor used in `with`."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._reader.seek(offset, whence))

    def tell(self) -> int:
        return int(self._reader.tell())

    def readinto(self, buffer: Any) -> int:
        found = bytes(self._reader.read(len(buffer)))
        buffer[: len(found)] = found
        return len(found)


def open_object(objects: Objects, path: str) -> BinaryIO:
    """A file or an object, seekable. Raises `FileNotFoundError` when it is missing."""
    file = objects.local_path(path)
    if file is not None:
        return file.open("rb")
    reader = obstore.open_reader(objects.store, path, buffer_size=_BUFFER)
    return cast("BinaryIO", io.BufferedReader(_Reading(reader), _BUFFER))
