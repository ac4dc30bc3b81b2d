"""The backend that `[state]` names: a bucket, Valkey, or both as two tiers. Opening reads nothing.

Of two tiers the bucket is the truth and is written first; Valkey keeps a copy that is near. What
lies in Valkey is used only if it is of the generation that the bucket has at this moment, so a
copy that was left behind there can never stand for the newer one. Valkey may fail at any time.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.errors import InternalError, StateSyncFailed
from rocky.project.configuration.blocks import State
from rocky.state.backend import Backend, Copy, Note, RemoteFailure
from rocky.state.bucket import Bucket
from rocky.state.events import CACHE, Outcome
from rocky.state.transfer import attempt_seconds
from rocky.store.extras import needs_extra

_MAGIC: Final = b"rocky state cache 1\n"
_SUFFIX: Final = ":cache"
_KEPT_SECONDS: Final = 7 * 24 * 3600.0

Report = Callable[[str, Outcome, str], None]
"""Called with the operation, its result, and more about it."""


class TieredBackend:
    """A bucket, with a cache before it."""

    def __init__(self, truth: Backend, cache: Backend, report: Report) -> None:
        self._truth = truth
        self._cache = cache
        self._report = report

    def place(self, name: str) -> str:
        return self._truth.place(name)

    def load(self, name: str) -> Copy | None:
        live = self._truth.generation(name)
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

    def _cached(self, name: str, live: str) -> Copy | None:
        try:
            note = self._cache.load_note(f"{name}{_SUFFIX}")
        except RemoteFailure as failure:
            self._report(CACHE, Outcome.CACHE_FAILED, str(failure))
            return None
        if note is None:
            return None
        copy = _unframe(note.data)
        if copy is None or copy.generation != live:
            why = "it is damaged" if copy is None else "the bucket has another generation"
            self._report(CACHE, Outcome.CACHE_STALE, why)
            return None
        return copy

    def _keep(self, name: str, copy: Copy) -> None:
        try:
            self._cache.put_note(f"{name}{_SUFFIX}", _frame(copy), _KEPT_SECONDS)
        except RemoteFailure as failure:
            # The next reader finds the older one, sees its generation and goes to the bucket.
            self._report(CACHE, Outcome.CACHE_FAILED, str(failure))


def _frame(copy: Copy) -> bytes:
    said = {"blake3": blake3(copy.data).hexdigest(), "generation": copy.generation}
    return _MAGIC + ascii_json(said).encode() + b"\n" + copy.data


def _unframe(framed: bytes) -> Copy | None:
    """The copy in a cached text; None when it is not one, or not a whole one."""
    if not framed.startswith(_MAGIC):
        return None
    line, _, data = framed[len(_MAGIC) :].partition(b"\n")
    try:
        said = json.loads(line)
        generation, digest = said["generation"], said["blake3"]
    except (ValueError, TypeError, KeyError):
        return None
    return Copy(str(generation), data) if blake3(data).hexdigest() == digest else None


_CACHE_SECONDS: Final = 5.0
"""How long the near tier is waited for: the far one would have answered by then."""


def open_backend(state: State, environment: Mapping[str, str], report: Report) -> Backend:
    """The backend that `[state]` names. Raises StateSyncFailed, ExtraMissing."""
    seconds = attempt_seconds(state.retry, state.transfer_timeout_seconds)
    try:
        match state.backend:
            case "s3":
                return _bucket(state, environment, seconds)
            case "valkey":
                return _server(state, seconds)
            case "tiered":
                near = _server(state, min(seconds, _CACHE_SECONDS))
                return TieredBackend(_bucket(state, environment, seconds), near, report)
            case _:
                raise InternalError(f"`{state.backend}` is not a remote backend")
    except RemoteFailure as failure:
        raise StateSyncFailed(f"`[state]` cannot be used: {failure}") from None


def _bucket(state: State, environment: Mapping[str, str], seconds: float) -> Backend:
    return Bucket(state.s3_bucket or "", state.s3_prefix, environment, seconds)


def _server(state: State, seconds: float) -> Backend:
    with needs_extra("valkey"):
        from rocky.state.valkey_server import ValkeyServer  # noqa: PLC0415
    return ValkeyServer(state.valkey_url or "", state.valkey_prefix, seconds)
