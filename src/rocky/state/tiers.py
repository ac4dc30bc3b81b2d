"""The backend that `[state]` names: a bucket, Valkey, or both as two tiers. Opening reads nothing.

In a bucket a copy's generation is its ETag, and puts are conditional. Ages come from the server: a
note is written and its time taken for now, because clocks of two machines may differ by more than a
claim lives.

Of two tiers the bucket is the truth and is written first; Valkey keeps a copy that is near. What
lies in Valkey is used only if its bytes have the hash that the bucket keeps, as metadata, with the
copy it has at this moment: a copy that was left behind there, or that somebody who can write only
Valkey has put there, can never stand for it. Valkey may fail at any time.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

import obstore
from blake3 import blake3
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from rocky.canonical import ascii_json
from rocky.errors import InternalError, StateSyncFailed, needs_extra
from rocky.project.configuration.blocks import State
from rocky.project.secrets import Secrets
from rocky.state.backend import Backend, Copy, GenerationChanged, Note, RemoteFailure
from rocky.state.events import CACHE, Outcome
from rocky.state.transfer import attempt_seconds
from rocky.store.location import locate
from rocky.store.objects import why_failed

if TYPE_CHECKING:  # These names exist for type checkers only.
    from obstore import PutMode
    from obstore.store import S3Config

T = TypeVar("T")
B = TypeVar("B", bound="Bucket")

_CONNECT_TIMEOUT: Final = "5 seconds"
_NO_BUCKET: Final = "<Code>NoSuchBucket</Code>"
_STATUS: Final = re.compile(r"status code: (\d{3})")
_PASSING: Final = frozenset({408, 409, 425, 429})
"""Answers below 500 that may be others next time."""
_CLOCK: Final = "clock"


_DIGEST: Final = "blake3"
"""The metadata of a copy that holds the hash of its bytes."""


class Bucket:
    """Objects below a prefix of a bucket."""

    def __init__(
        self, bucket: str, prefix: str, options: Mapping[str, str], timeout_seconds: float
    ) -> None:
        location = locate(f"s3://{bucket}/{prefix.strip('/')}", Path(), options)
        self._uri = location.uri
        self._secrets = Secrets(
            location.settings.get(each)
            for each in ("secret_access_key", "session_token", "access_key_id")
        )
        self._store = S3Store(
            location.bucket,
            prefix=location.prefix or None,
            config=cast("S3Config", dict(location.settings)),
            client_options={
                "connect_timeout": _CONNECT_TIMEOUT,
                "timeout": f"{max(1, round(timeout_seconds))} seconds",
            },
            # We try again ourselves, within one budget and aware of what an answer may mean.
            retry_config={"max_retries": 0},
        )

    def place(self, name: str) -> str:
        return f"{self._uri}/{name}"

    def load(self, name: str) -> Copy | None:
        note = self.load_note(name)
        return None if note is None else Copy(note.generation, note.data)

    def generation(self, name: str) -> str | None:
        with suppress(_Absent):
            return _tag(self._call("read", name, lambda: obstore.head(self._store, name)))
        return None

    def swap(self, name: str, data: bytes, base: str | None) -> str:
        mode: PutMode = "create" if base is None else {"e_tag": base}
        try:
            return self._put(name, data, mode, {_DIGEST: blake3(data).hexdigest()})
        except (AlreadyExistsError, PreconditionError) as other:
            raise GenerationChanged(name) from other

    def load_note(self, name: str) -> Note | None:
        def read() -> Note:
            found = obstore.get(self._store, name)
            return Note(name, bytes(found.bytes()), _tag(found.meta))

        with suppress(_Absent):
            return self._call("read", name, read)
        return None

    def create_note(self, name: str, data: bytes, ttl: float | None = None) -> bool:  # noqa: ARG002 - a bucket forgets nothing
        try:
            self._put(name, data, "create")
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def put_note(self, name: str, data: bytes, ttl: float | None = None) -> None:  # noqa: ARG002 - a bucket forgets nothing
        self._put(name, data, "overwrite")

    def replace_note(self, note: Note, data: bytes, ttl: float | None = None) -> bool:  # noqa: ARG002 - a bucket forgets nothing
        try:
            self._put(note.name, data, {"e_tag": note.generation})
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def delete_note(self, name: str) -> None:
        with suppress(_Absent):
            self._call("write", name, lambda: obstore.delete(self._store, name))

    def list_notes(self, folder: str) -> list[Note]:
        clock = f"{folder}/{_CLOCK}"
        self.put_note(clock, b"{}")
        found = self._call("list", folder, lambda: obstore.list(self._store, folder).collect())
        times = {each["path"]: each["last_modified"].timestamp() for each in found}
        now = times.pop(clock, max(times.values(), default=0.0))
        notes = []
        for name, at in sorted(times.items()):
            note = self.load_note(name)
            # One that is gone meanwhile was given up.
            if note is not None:
                notes.append(note._replace(age=now - at))
        return notes

    def _put(
        self, name: str, data: bytes, mode: "PutMode", attributes: Mapping[str, str] | None = None
    ) -> str:
        def put() -> str:
            said = dict(attributes) if attributes else None
            return _tag(
                obstore.put(
                    self._store, name, data, mode=mode, use_multipart=False, attributes=said
                )
            )

        return self._call("write", name, put)

    def _call(self, verb: str, name: str, call: Callable[[], T]) -> T:
        """What a call returns; its failures as ours, but for conditions that did not hold."""
        try:
            return call()
        except (AlreadyExistsError, PreconditionError):
            raise
        except (BaseError, OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError) and _NO_BUCKET not in str(error):
                # With the bucket missing not the object is, but all that it could lie in.
                raise _Absent(name) from error
            why = self._secrets.scrub(why_failed(error))
            raise RemoteFailure(
                f"could not {verb} `{self.place(name)}`: {why}", is_transient=_may_pass(error)
            ) from None


class CopyIdentity(NamedTuple):
    """What a bucket says of the copy it has. `digest` is None where an older Rocky has put it."""

    generation: str
    digest: str | None


class DurableBucket(Bucket):
    """A bucket by whose word a nearer copy is judged."""

    def identity(self, name: str) -> CopyIdentity | None:
        """What there is to know of a copy without its bytes."""

        def read() -> CopyIdentity:
            found = obstore.get(self._store, name, options={"head": True})
            digest = found.attributes.get(_DIGEST)
            return CopyIdentity(_tag(found.meta), None if digest is None else str(digest))

        with suppress(_Absent):
            return self._call("read", name, read)
        return None


class _Absent(Exception):
    """The server says that there is no such object."""


def _tag(found: Mapping[str, object]) -> str:
    tag = found.get("e_tag")
    if not isinstance(tag, str) or not tag:
        # Without it nothing could be replaced safely.
        raise RemoteFailure("the server names no ETag of its objects", is_transient=False)
    return tag


def _may_pass(error: Exception) -> bool:
    kinds = (PermissionDeniedError, UnauthenticatedError, FileNotFoundError)
    if isinstance(error, (*kinds, PermissionError, ValueError)):
        return False
    said = _STATUS.search(str(error))
    return said is None or int(said[1]) >= 500 or int(said[1]) in _PASSING


_MAGIC: Final = b"rocky state cache 2\n"
_SUFFIX: Final = ":cache"
_KEPT_SECONDS: Final = 7 * 24 * 3600.0

Report = Callable[[str, Outcome, str], None]
"""Called with the operation, its result, and more about it."""


class TieredBackend:
    """A bucket, with a cache before it."""

    def __init__(self, truth: DurableBucket, cache: Backend, report: Report) -> None:
        self._truth = truth
        self._cache = cache
        self._report = report

    def place(self, name: str) -> str:
        return self._truth.place(name)

    def load(self, name: str) -> Copy | None:
        live = self._truth.identity(name)
        if live is None:
            return None
        cached = self._cached(name, live)
        if cached is not None:
            return cached
        copy = self._truth.load(name)
        if copy is not None:
            self._keep(name, copy)
        return copy

    def generation(self, name: str) -> str | None:
        return self._truth.generation(name)

    def swap(self, name: str, data: bytes, base: str | None) -> str:
        generation = self._truth.swap(name, data, base)
        self._keep(name, Copy(generation, data))
        return generation

    def load_note(self, name: str) -> Note | None:
        return self._truth.load_note(name)

    def create_note(self, name: str, data: bytes, ttl: float | None = None) -> bool:
        return self._truth.create_note(name, data, ttl)

    def put_note(self, name: str, data: bytes, ttl: float | None = None) -> None:
        self._truth.put_note(name, data, ttl)

    def replace_note(self, note: Note, data: bytes, ttl: float | None = None) -> bool:
        return self._truth.replace_note(note, data, ttl)

    def delete_note(self, name: str) -> None:
        self._truth.delete_note(name)

    def list_notes(self, folder: str) -> list[Note]:
        return self._truth.list_notes(folder)

    def _cached(self, name: str, live: CopyIdentity) -> Copy | None:
        if live.digest is None:
            self._report(CACHE, Outcome.CACHE_STALE, "the bucket does not say what its copy is")
            return None
        try:
            note = self._cache.load_note(f"{name}{_SUFFIX}")
        except RemoteFailure as failure:
            self._report(CACHE, Outcome.CACHE_FAILED, str(failure))
            return None
        if note is None:
            return None
        copy = _unframe(note.data)
        if copy is None or copy.generation != live.generation:
            why = "it is damaged" if copy is None else "the bucket has another generation"
            self._report(CACHE, Outcome.CACHE_STALE, why)
            return None
        # By the bucket's word: whoever can write the cache can write a fitting hash beside it.
        if blake3(copy.data).hexdigest() != live.digest:
            why = "its bytes are not those of the generation that it names: it was altered"
            self._report(CACHE, Outcome.CACHE_ALTERED, why)
            return None
        return copy

    def _keep(self, name: str, copy: Copy) -> None:
        try:
            self._cache.put_note(f"{name}{_SUFFIX}", _frame(copy), _KEPT_SECONDS)
        except RemoteFailure as failure:
            # The next reader finds the older one, sees its generation and goes to the bucket.
            self._report(CACHE, Outcome.CACHE_FAILED, str(failure))


def _frame(copy: Copy) -> bytes:
    return _MAGIC + ascii_json({"generation": copy.generation}).encode() + b"\n" + copy.data


def _unframe(framed: bytes) -> Copy | None:
    """The copy in a cached text; None when it is not one."""
    if not framed.startswith(_MAGIC):
        return None
    line, _, data = framed[len(_MAGIC) :].partition(b"\n")
    try:
        generation = json.loads(line)["generation"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return Copy(str(generation), data)


_CACHE_SECONDS: Final = 5.0
"""How long the near tier is waited for: the far one would have answered by then."""


def open_backend(state: State, environment: Mapping[str, str], report: Report) -> Backend:
    """The backend that `[state]` names. Raises StateSyncFailed, ExtraMissing."""
    seconds = attempt_seconds(state.retry, state.transfer_timeout_seconds)
    try:
        match state.backend:
            case "s3":
                return _bucket(Bucket, state, environment, seconds)
            case "valkey":
                return _server(state, seconds)
            case "tiered":
                near = _server(state, min(seconds, _CACHE_SECONDS))
                far = _bucket(DurableBucket, state, environment, seconds)
                return TieredBackend(far, near, report)
            case _:
                raise InternalError(f"`{state.backend}` is not a remote backend")
    except RemoteFailure as failure:
        raise StateSyncFailed(f"`[state]` cannot be used: {failure}") from None


def _bucket(kind: type[B], state: State, environment: Mapping[str, str], seconds: float) -> B:
    return kind(state.s3_bucket or "", state.s3_prefix, environment, seconds)


def _server(state: State, seconds: float) -> Backend:
    with needs_extra("valkey"):
        from rocky.state.valkey_server import ValkeyServer  # noqa: PLC0415
    return ValkeyServer(state.valkey_url or "", state.valkey_prefix, seconds)
