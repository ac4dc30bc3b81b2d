"""Elsewhere: where a file of a table lies, which need not be the table's own folder.

A clone in an object store refers to the files of the table it was made of by their URIs, as Delta
allows; only files of the warehouse's own bucket are believed. In a folder clones have links of
their own, so there a URI is refused.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.store.files import is_elsewhere
from rocky.store.objects import ObjectInfo, Objects, open_objects

_SCHEMES: Final = ("s3a://", "s3://")


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where a file lies: a path below the root of some objects."""

    objects: Objects
    path: str

    def __str__(self) -> str:
        return self.objects.place(self.path)

    @property
    def spark_uri(self) -> str:
        return self.objects.location.spark_place(self.path)

    @property
    def local(self) -> Path | None:
        """The file on a disk, or None in an object store."""
        return self.objects.local_path(self.path)

    def info(self) -> ObjectInfo | None:
        return self.objects.info(self.path)

    def read(self) -> bytes | None:
        return self.objects.read(self.path)


def place_of(objects: Objects, prefix: str, path: str) -> FilePlace:
    """Where the file that a log calls `path` lies, for the table at `prefix`.

    Raises `StoreUnreadable` for a URI that leads out of the bucket.
    """
    if not is_elsewhere(path):
        return FilePlace(objects, f"{prefix}/{path}")
    key = key_in_bucket(objects, path)
    if key is None:
        raise StoreUnreadable(
            f"`{path}` is not in the bucket of `{objects.place(prefix)}`, which refers to it; only"
            " files of one bucket can be shared"
        )
    root = objects.location.prefix
    if root and key.startswith(f"{root}/"):
        return FilePlace(objects, key.removeprefix(f"{root}/"))
    return FilePlace(whole_bucket(objects), key)


def whole_bucket(objects: Objects) -> Objects:
    """All objects of the bucket that these lie in, by their keys."""
    if not objects.wider:
        objects.wider.append(open_objects(objects.location.whole_bucket()))
    return objects.wider[0]


def key_in_bucket(objects: Objects, uri: str) -> str | None:
    """The key that a URI names in the bucket of some objects; None when it names another place."""
    bucket = objects.location.bucket
    starts = (f"{scheme}{bucket}/" for scheme in _SCHEMES if bucket)
    key = next((uri.removeprefix(start) for start in starts if uri.startswith(start)), None)
    # A store that takes `..` for a folder above would read another file than is named.
    return None if key is None or {"", ".", ".."} & set(key.split("/")) else key
