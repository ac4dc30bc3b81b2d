"""A Valkey (or Redis) server as a backend: the generation lies beside the bytes, swapped with them.

The generation is the hash of the bytes, so a copy that was torn, half evicted or put there by hand
is told from a whole one, and never taken for absent.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

import valkey
from blake3 import blake3
from valkey.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    TryAgainError,
    ValkeyError,
)
from valkey.exceptions import (
    ConnectionError as Unreachable,
)
from valkey.exceptions import (
    TimeoutError as TookTooLong,
)

from rocky.project.secrets import Secrets
from rocky.state.backend import Copy, GenerationChanged, Note, RemoteFailure

T = TypeVar("T")

_CONNECT_SECONDS: Final = 5.0
_PASSING: Final = (
    Unreachable,
    TookTooLong,
    BusyLoadingError,
    MasterDownError,
    ClusterDownError,
    TryAgainError,
    OutOfMemoryError,
)
_REFUSED: Final = (AuthenticationError, AuthorizationError)
_TEXT: Final = 300

_SWAP: Final = """
local now = redis.call('GET', KEYS[2])
if (not now and ARGV[1] == '' and redis.call('EXISTS', KEYS[1]) == 0) or now == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[3])
  redis.call('SET', KEYS[2], ARGV[2])
  return 1
end
return 0
"""
_REPLACE: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
"""


class ValkeyServer:
    """Keys below a prefix."""

    def __init__(self, url: str, prefix: str, timeout_seconds: float) -> None:
        self._prefix = prefix
        self._address, self._secrets = _describe(url)
        try:
            # Any: the client's own annotations are of two kinds of client at once.
            self._client: Any = valkey.Valkey.from_url(
                url,
                socket_timeout=timeout_seconds,
                socket_connect_timeout=min(_CONNECT_SECONDS, timeout_seconds),
            )
        except (ValueError, ValkeyError):
            # What it says of an address may be the address, with its password.
            raise RemoteFailure(
                "`valkey_url` is not an address: write `valkey://host:6379/0`", is_transient=False
            ) from None

    def place(self, name: str) -> str:
        return f"{self._address} {self._key(name)}"

    def load(self, name: str) -> Copy | None:
        def read() -> Any:
            with self._client.pipeline(transaction=True) as together:
                together.get(self._key(name))
                together.get(self._generation_key(name))
                return together.execute()

        data, generation = self._call("read", name, read)
        if data is None and generation is None:
            return None
        if (
            data is None
            or generation is None
            or generation.decode("ascii", "replace") != _hash(data)
        ):
            raise RemoteFailure(
                f"`{self.place(name)}` is not whole: bytes and generation do not belong together;"
                " restore both, or delete both keys to start again",
                is_transient=False,
            )
        return Copy(_hash(data), data)

    def generation(self, name: str) -> str | None:
        found = self._call("read", name, lambda: self._client.get(self._generation_key(name)))
        return None if found is None else found.decode("ascii", "replace")

    def swap(self, name: str, data: bytes, base: str | None) -> str:
        new = _hash(data)
        keys = (self._key(name), self._generation_key(name))
        done = self._call(
            "write", name, lambda: self._client.eval(_SWAP, 2, *keys, base or "", new, data)
        )
        if not done:
            raise GenerationChanged(name)
        return new

    def load_note(self, name: str) -> Note | None:
        data = self._call("read", name, lambda: self._client.get(self._key(name)))
        return None if data is None else Note(name, data, _hash(data))

    def create_note(self, name: str, data: bytes, ttl: float | None = None) -> bool:
        life = _milliseconds(ttl)
        return bool(
            self._call(
                "write", name, lambda: self._client.set(self._key(name), data, nx=True, px=life)
            )
        )

    def put_note(self, name: str, data: bytes, ttl: float | None = None) -> None:
        life = _milliseconds(ttl)
        self._call("write", name, lambda: self._client.set(self._key(name), data, px=life))

    def replace_note(self, note: Note, data: bytes, ttl: float | None = None) -> bool:
        life = str(_milliseconds(ttl) or "")
        key = self._key(note.name)
        return bool(
            self._call(
                "write",
                note.name,
                lambda: self._client.eval(_REPLACE, 1, key, note.data, data, life),
            )
        )

    def delete_note(self, name: str) -> None:
        self._call("write", name, lambda: self._client.delete(self._key(name)))

    def list_notes(self, folder: str) -> list[Note]:
        # The server forgets what has not been refreshed, so whatever is there is young.
        below = self._key(f"{folder}/")
        found = self._call(
            "list", folder, lambda: sorted(self._client.scan_iter(match=f"{_escaped(below)}*"))
        )
        names = [key.decode("utf-8", "replace").removeprefix(self._prefix) for key in found]
        notes = [self.load_note(name.replace(":", "/")) for name in names]
        return [note for note in notes if note is not None]

    def _key(self, name: str) -> str:
        return f"{self._prefix}{name.replace('/', ':')}"

    def _generation_key(self, name: str) -> str:
        return f"{self._key(name)}:generation"

    def _call(self, verb: str, name: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except (ValkeyError, OSError, ValueError) as error:
            # A wrong password is a connection error to the client, and no matter of time.
            passing = isinstance(error, (*_PASSING, OSError)) and not isinstance(error, _REFUSED)
            why = self._secrets.scrub(str(error)).split("\n", 1)[0][:_TEXT].rstrip(".")
            raise RemoteFailure(
                f"could not {verb} `{self.place(name)}`: {why.lower() or type(error).__name__}",
                is_transient=passing,
            ) from None


def _describe(url: str) -> tuple[str, Secrets]:
    """An address without its password, and what must not be seen of it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or parts.path or "localhost", parts.port
        hidden = [parts.password, parts.username, unquote(parts.password or "")]
    except ValueError:
        return "valkey", Secrets([url])
    query = [part.partition("=")[2] for part in parts.query.split("&")]
    address = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    return address, Secrets([*hidden, *query, url])


def _hash(data: bytes) -> str:
    return blake3(data).hexdigest()


def _milliseconds(ttl: float | None) -> int | None:
    return None if ttl is None else max(1, round(ttl * 1000))


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "*?[]\\" else each for each in text)
