"""Objects: named bytes in a folder or in an object store, through one interface.

"Absent" is only ever an answer of the place itself: whatever else keeps an object from being read
(a permission, a refused connection, a missing bucket) raises `StoreUnreadable`.

A `FileLocation` says in which objects a file of a table lies, which need not be those of the
table: a clone in an object store refers to files of the table it was made of by their URIs, as
Delta allows. Only files of the warehouse's own bucket are believed. In a folder clones have links
of their own, so there a URI is refused. No path goes through a symbolic link below a folder.
"""

import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar, cast

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, S3Store

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.store.data_file import is_uri
from rocky.store.folder import (
    Escape,
    FoundFile,
    describe_file,
    list_folders,
    refuse_escape,
    remove_file,
    walk_folder,
)
from rocky.store.location import Location

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
                key = self._key(path)
                return ask_again(lambda: bytes(obstore.get(self.store, key).bytes()))
        except FileNotFoundError:
            return None

    def info(self, path: str) -> ObjectInfo | None:
        """Size and time of an object, or None where there is none."""
        folder = self.location.folder
        try:
            with self._reading(path):
                if folder is not None:
                    found = describe_file(folder, path)
                    return None if found is None else _as_info(found)
                return self._info(ask_again(lambda: obstore.head(self.store, path)))
        except FileNotFoundError:
            return None

    def list(self, folder: str, *, after: str | None = None) -> Iterator[ObjectInfo]:
        """Objects in a folder and below it, in no order; only those whose path is above `after`.

        Raises `StoreUnreadable` at a link: what it leads to is not below the root.
        """
        root = self.location.folder
        with self._listing(folder):
            if root is not None:
                refuse_escape(root, folder)
                for found in walk_folder(root, folder, after or ""):
                    if _is_draft(found.path) or (after is not None and found.path <= after):
                        continue
                    if not found.is_file:
                        refuse_escape(root, found.path)
                        continue
                    yield _as_info(found)
                return
            for page in self._pages(folder, after):
                yield from map(self._info, page)

    def folders(self, folder: str) -> Sequence[str]:
        """The paths of the folders directly in a folder, sorted."""
        root = self.location.folder
        with self._listing(folder):
            if root is not None:
                return list_folders(root, folder)
            found = ask_again(lambda: obstore.list_with_delimiter(self.store, folder or None))
        return sorted(prefix.rstrip("/") for prefix in found["common_prefixes"])

    def create(self, path: str, data: bytes) -> bool:
        """Whether the object was made: False, and nothing done, when one is there already."""
        try:
            with self._writing(path):
                key = self._key(path)
                put = partial(obstore.put, self.store, mode="create", use_multipart=False)
                ask_again(lambda: put(key, data))
        except AlreadyExistsError:
            return False
        return True

    def put(self, path: str, data: bytes) -> None:
        """Make or replace an object, whole or not at all."""
        with self._writing(path):
            key = self._key(path)
            ask_again(lambda: obstore.put(self.store, key, data))

    def delete(self, paths: Iterable[str]) -> None:
        """Delete objects; those that are gone already are no failure."""
        folder = self.location.folder
        for path in paths:
            with self._writing(path), suppress(FileNotFoundError):
                if folder is not None:
                    remove_file(folder, path)
                else:
                    ask_again(partial(obstore.delete, self.store, path))

    def place(self, path: str) -> str:
        """Where a path lies, for people and for deltalake."""
        return self.location.place(path)

    def local_path(self, path: str) -> Path | None:
        """Where a path lies as a file, or None in an object store.

        Raises `StoreUnreadable` for a path that leads out of the folder.
        """
        folder = self.location.folder
        if folder is None:
            return None
        with self._reading(path):
            refuse_escape(folder, path)
        return folder / path

    def _key(self, path: str) -> str:
        # The client of a folder starts at the root of the disk, because it would refuse to start at
        # a folder that nobody has made yet.
        folder = self.location.folder
        if folder is None:
            return path
        refuse_escape(folder, path)
        return (folder / path).as_posix().removeprefix("/")

    def _pages(self, folder: str, after: str | None) -> Iterator[Sequence["ObjectMeta"]]:
        """A listing page by page; one that broke off goes on after the last path that was told."""
        for tried in itertools.count():
            try:
                for page in obstore.list(self.store, folder, offset=after):
                    yield page
                    after = page[-1]["path"]
            except BaseError as error:
                if tried == _MAX_RETRIES or not _broke_off(error):
                    raise
            else:
                return

    def _info(self, meta: "ObjectMeta") -> ObjectInfo:
        modified_ms = int(meta["last_modified"].timestamp() * 1000)
        return ObjectInfo(meta["path"], meta["size"], modified_ms)

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
        except (BaseError, OSError, ValueError) as error:
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


Found = TypeVar("Found")


def ask_again(ask: Callable[[], Found]) -> Found:
    """The answer to a harmless request; the client repeats none that was answered by half."""
    for _ in range(_MAX_RETRIES):
        try:
            return ask()
        except BaseError as error:
            if not _broke_off(error):
                raise
    return ask()


def _broke_off(error: BaseError) -> bool:
    return "body error" in str(error)


def _as_info(found: FoundFile) -> ObjectInfo:
    return ObjectInfo(found.path, found.size, found.modified_ms)


# What the client of a folder calls a file that is not complete yet.
_DRAFT: Final = re.compile(r"#\d+\Z")


def _is_draft(path: str) -> bool:
    return _DRAFT.search(path) is not None


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
    if isinstance(error, Escape):
        return str(error.strerror)
    text = str(error)
    found = next((reason for word, reason in _REASONS if word in text), None)
    return found or text.split("\n", 1)[0]


_BUFFER: Final = 1024 * 1024


class _SeekableObject(io.RawIOBase):
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
    return cast("BinaryIO", io.BufferedReader(_SeekableObject(reader), _BUFFER))


_S3_PREFIXES: Final = ("s3a://", "s3://")


@dataclass(frozen=True, slots=True)
class FileLocation:
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


def locate_file(objects: Objects, prefix: str, path: str) -> FileLocation:
    """Where the file that a log calls `path` lies, for the table at `prefix`.

    Raises `StoreUnreadable` for a URI that leads out of the bucket.
    """
    if not is_uri(path):
        if not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise StoreUnreadable(
                f"the log of `{objects.place(prefix)}` names a file `{path}`, which is not below it"
            )
        return FileLocation(objects, f"{prefix}/{path}")
    key = key_in_bucket(objects, path)
    if key is None:
        raise StoreUnreadable(
            f"`{path}` is not in the bucket of `{objects.place(prefix)}`, which refers to it; only"
            " files of one bucket can be shared"
        )
    root = objects.location.prefix
    if root and key.startswith(f"{root}/"):
        return FileLocation(objects, key.removeprefix(f"{root}/"))
    return FileLocation(whole_bucket(objects), key)


def whole_bucket(objects: Objects) -> Objects:
    """All objects of the bucket that these lie in, by their keys."""
    if not objects.wider:
        objects.wider.append(open_objects(objects.location.whole_bucket()))
    return objects.wider[0]


def key_in_bucket(objects: Objects, uri: str) -> str | None:
    """The key that a URI names in the bucket of some objects; None when it names another place."""
    bucket = objects.location.bucket
    starts = (f"{scheme}{bucket}/" for scheme in _S3_PREFIXES if bucket)
    key = next((uri.removeprefix(start) for start in starts if uri.startswith(start)), None)
    # A store that takes `..` for a folder above would read another file than is named.
    return None if key is None or {"", ".", ".."} & set(key.split("/")) else key
