"""The files of Iceberg metadata, read and written through the store of the table itself.

Pyiceberg's own file access would need the credentials of an object store a second time, in other
words.
"""

import io
from collections.abc import Callable
from typing import Any

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile, OutputStream

from rocky.store.objects import Objects


class StoredInput(InputFile):
    """A file that is read whole: manifests are small."""

    def __init__(self, location: str, objects: Objects, path: str) -> None:
        super().__init__(location)
        self._objects = objects
        self._path = path

    def __len__(self) -> int:
        found = self._objects.info(self._path)
        return found.size if found else 0

    def exists(self) -> bool:
        return self._objects.info(self._path) is not None

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002, FBT001, FBT002 - pyiceberg's signature
        data = self._objects.read(self._path)
        if data is None:
            raise FileNotFoundError(f"`{self.location}` is missing")
        return io.BytesIO(data)


class StoredOutput(OutputFile):
    """A file that appears, whole, when its stream is closed."""

    def __init__(self, location: str, objects: Objects, path: str) -> None:
        super().__init__(location)
        self._objects = objects
        self._path = path

    def __len__(self) -> int:
        return len(self.to_input_file())

    def exists(self) -> bool:
        return self.to_input_file().exists()

    def to_input_file(self) -> StoredInput:
        return StoredInput(self.location, self._objects, self._path)

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: ARG002, FBT001, FBT002 - pyiceberg's signature
        return _Stream(lambda data: self._objects.put(self._path, data))


class _Stream(io.BytesIO):
    """Bytes that are kept when the stream is closed."""

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        super().__init__()
        self._keep = keep

    def close(self) -> None:
        if not self.closed:
            self._keep(self.getvalue())
        super().close()


class TableFileIO(FileIO):
    """The files below a table's location; `prefix` is its path below the root of the objects."""

    def __init__(self, objects: Objects, prefix: str, location: str) -> None:
        super().__init__({})
        self._objects = objects
        self._prefix = prefix
        self._location = location

    def new_input(self, location: str) -> StoredInput:
        return StoredInput(location, self._objects, self._path(location))

    def new_output(self, location: str) -> StoredOutput:
        return StoredOutput(location, self._objects, self._path(location))

    def delete(self, location: Any) -> None:
        self._objects.delete([self._path(getattr(location, "location", location))])

    def _path(self, location: str) -> str:
        return self._prefix + location.removeprefix(self._location)
