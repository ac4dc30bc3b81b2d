"""A backend, opened from `[state]` and the environment. Nothing is read or written yet."""

from collections.abc import Mapping
from typing import Final

from rocky.errors import InternalError, StateSyncFailed
from rocky.project.state import State
from rocky.remote.bucket import Bucket
from rocky.remote.copies import RemoteFailure, Shelf
from rocky.remote.tiered import Report, Tiered
from rocky.remote.transfer import attempt_seconds
from rocky.store.extras import load_extra

_CACHE_SECONDS: Final = 5.0
"""How long the near tier is waited for: the far one would have answered by then."""


def open_shelf(state: State, environment: Mapping[str, str], report: Report) -> Shelf:
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
                return Tiered(_bucket(state, environment, seconds), near, report)
            case _:
                raise InternalError(f"`{state.backend}` is not a remote backend")
    except RemoteFailure as failure:
        raise StateSyncFailed(f"`[state]` cannot be used: {failure}") from None


def _bucket(state: State, environment: Mapping[str, str], seconds: float) -> Shelf:
    return Bucket(state.s3_bucket or "", state.s3_prefix, environment, seconds)


def _server(state: State, seconds: float) -> Shelf:
    module = load_extra("rocky.remote.valkey_server", "valkey")
    server: Shelf = module.ValkeyServer(state.valkey_url or "", state.valkey_prefix, seconds)
    return server
