"""Objects: named bytes in a folder or in an object store, through one interface.

"Absent" is only ever an answer of the place itself: whatever else keeps an object from being read
(a permission, a refused connection, a missing bucket) raises `StoreUnreadable`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, S3Store

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.store.locations import Location

if TYPE_CHECKING:  # These names exist for type checkers only.
    from obstore import ObjectMeta
    from obstore.store import S3Config

# Long enough for a busy server, short enough that a wrong address is told within seconds.
_CONNECT_TIMEOUT: Final = "5 seconds"
_MAX_RETRIES: Final = 4
_NO_BUCKET: Final = "<Code>NoSuchBucket</Code>"


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An object as a listing shows it; the path is relative to the root."""

    path: str
    size: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class Objects:
    """All objects below one root. Paths are relative, with `/` between their parts."""

    location: Location
    store: ObjectStore = field(repr=False, compare=False)
    wider: list["Objects"] = field(default_factory=list, repr=False, compare=False)
    """All objects of the same bucket, once somebody has asked for them: one client for all."""

    def read(self, path: str) -> bytes | None:
        """The bytes of an object, or None where there is none."""
        try:
            with self._reading(path):
                return bytes(obstore.get(self.store, self._key(path)).bytes())
        except FileNotFoundError:
            return None

    def info(self, path: str) -> ObjectInfo | None:
        """Size and time of an object, or None where there is none."""
        try:
            with self._reading(path):
                return self._info(obstore.head(self.store, self._key(path)))
        except FileNotFoundError:
            return None

    def list(self, folder: str, *, after: str | None = None) -> Iterator[ObjectInfo]:
        """Objects in a folder and below it, in no order; only those whose path is above `after`."""
        offset = None if after is None else self._key(after)
        with self._listing(folder):
            for batch in obstore.list(self.store, self._key(folder), offset=offset):
                yield from map(self._info, batch)

    def folders(self, folder: str) -> Sequence[str]:
        """The paths of the folders directly in a folder, sorted."""
        with self._listing(folder):
            found = obstore.list_with_delimiter(self.store, self._key(folder) or None)
        return sorted(self._path(prefix.rstrip("/")) for prefix in found["common_prefixes"])

    def create(self, path: str, data: bytes) -> bool:
        """Whether the object was made: False, and nothing done, when one is there already."""
        try:
            with self._writing(path):
                obstore.put(self.store, self._key(path), data, mode="create", use_multipart=False)
        except AlreadyExistsError:
            return False
        return True

    def put(self, path: str, data: bytes) -> None:
        """Make or replace an object, whole or not at all."""
        with self._writing(path):
            obstore.put(self.store, self._key(path), data)

    def delete(self, paths: Iterable[str]) -> None:
        """Delete objects; those that are gone already are no failure."""
        for path in paths:
            with self._writing(path), suppress(FileNotFoundError):
                obstore.delete(self.store, self._key(path))

    def move(self, source: str, target: str) -> None:
        """Give an object another name: a rename in a folder, a copy by the server elsewhere."""
        if self.info(source) is None:
            raise StoreUnreadable(f"could not read `{self.place(source)}`: it is missing")
        with self._writing(target):
            obstore.rename(self.store, self._key(source), self._key(target))

    def place(self, path: str) -> str:
        """Where a path lies, for people and for deltalake."""
        return self.location.place(path)

    def local_path(self, path: str) -> Path | None:
        """Where a path lies as a file, or None in an object store."""
        folder = self.location.folder
        return None if folder is None else folder / path

    def _key(self, path: str) -> str:
        # The client of a folder starts at the root of the disk, because it would refuse to start at
        # a folder that nobody has made yet.
        folder = self.location.folder
        return path if folder is None else (folder / path).as_posix().removeprefix("/")

    def _path(self, key: str) -> str:
        folder = self.location.folder
        return (
            key if folder is None else key.removeprefix(folder.as_posix().lstrip("/")).lstrip("/")
        )

    def _info(self, meta: "ObjectMeta") -> ObjectInfo:
        modified_ms = int(meta["last_modified"].timestamp() * 1000)
        return ObjectInfo(self._path(meta["path"]), meta["size"], modified_ms)

    @contextmanager
    def _reading(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            # Not the object is missing then, but all that it could lie in.
            if _NO_BUCKET not in str(error):
                raise
            raise StoreUnreadable(
                f"could not read `{self.place(path)}`: {why_failed(error)}"
            ) from error
        except (BaseError, PermissionError, ValueError) as error:
            raise StoreUnreadable(
                f"could not read `{self.place(path)}`: {why_failed(error)}"
            ) from error

    @contextmanager
    def _listing(self, folder: str) -> Iterator[None]:
        # An empty folder lists as nothing; "not found" is said of a bucket.
        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            raise StoreUnreadable(
                f"could not list `{self.place(folder)}`: {why_failed(error)}"
            ) from error

    @contextmanager
    def _writing(self, path: str) -> Iterator[None]:
        try:
            yield
        except AlreadyExistsError:
            raise
        except (BaseError, OSError, ValueError) as error:
            raise StoreUnwritable(
                f"could not write `{self.place(path)}`: {why_failed(error)}"
            ) from error


def open_objects(location: Location) -> Objects:
    """The objects of a location. Nothing is read or made yet."""
    if location.folder is not None:
        return Objects(location, LocalStore())
    store = S3Store(
        location.bucket,
        prefix=location.prefix or None,
        config=cast("S3Config", dict(location.settings)),
        client_options={"connect_timeout": _CONNECT_TIMEOUT},
        retry_config={"max_retries": _MAX_RETRIES},
    )
    return Objects(location, store)


# Words of the client's debug text, which is long, and what they mean to a person.
_REASONS: Final = (
    ("Connection refused", "connection refused"),
    ("Permission denied", "permission denied"),
    ("No space left", "no space left on device"),
    ("Read-only file system", "the file system is read-only"),
    ("Not a directory", "a file lies where a folder should be"),
    ("File name too long", "the name is too long"),
    ("Too many open files", "too many open files"),
    ("dns error", "the server's name is not known"),
    ("NoSuchBucket", "there is no such bucket"),
    ("InvalidAccessKeyId", "the access key is not known"),
    ("SignatureDoesNotMatch", "the secret key is wrong"),
    ("AccessDenied", "access denied"),
    ("403 Forbidden", "access denied"),
    ("timed out", "the server did not answer in time"),
)


def why_failed(error: Exception) -> str:
    """What a failure of the client means to a person, in a few words."""
    text = str(error)
    found = next((reason for word, reason in _REASONS if word in text), None)
    return found or text.split("\n", 1)[0]
