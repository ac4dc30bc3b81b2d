"""A backend: where a ledger's remote copy lies, as named bytes that are swapped and not put.

A copy is only ever replaced by naming the generation that it replaces, so nobody's copy is lost.
Notes are small and many: claims of living runs, idempotency keys. The version of the ledger's
schema is part of a copy's name, so an older Rocky never reads or writes what a newer one keeps:
each has a copy of its own, and the newer one begins from the older one's. Secrets that a
connection is made with are kept out of every text that leaves this package.
"""

import hashlib
from typing import Final, NamedTuple, Protocol

from rocky.ledger.schema import SCHEMA_VERSION


class RemoteFailure(Exception):
    """A backend did not do what it was asked to; never that something is absent.

    `is_transient` says whether the same call may pass later. The text holds no secrets.
    """

    def __init__(self, why: str, *, is_transient: bool) -> None:
        super().__init__(why)
        self.why = why
        self.is_transient = is_transient

    def __str__(self) -> str:
        return self.why


class GenerationChanged(Exception):
    """The copy is not of the generation that was to be replaced."""


class Copy(NamedTuple):
    """A copy as it lies there, and what it must be named by to be replaced."""

    generation: str
    data: bytes


class Note(NamedTuple):
    """A small text; `age` is in seconds by the server's own clock."""

    name: str
    data: bytes
    generation: str = ""
    age: float = 0.0


class Backend(Protocol):
    """One backend. Every call raises RemoteFailure when it cannot tell or cannot do it."""

    def place(self, name: str) -> str:
        """Where something lies, for people: without secrets."""

    def load(self, name: str) -> Copy | None:
        """The copy; None only when the backend says that there is none."""

    def generation(self, name: str) -> str | None:
        """What `load` would say of the generation, without the bytes."""

    def swap(self, name: str, data: bytes, base: str | None) -> str:
        """Replace the copy of generation `base`, or make the first one; its generation.

        Raises GenerationChanged.
        """

    def load_note(self, name: str) -> Note | None:
        """A note; None only when the backend says that there is none."""

    def create_note(self, name: str, data: bytes, ttl: float | None = None) -> bool:
        """Whether the note was made: False when there is one."""

    def put_note(self, name: str, data: bytes, ttl: float | None = None) -> None:
        """Make or replace a note. After `ttl` seconds it may be gone."""

    def replace_note(self, note: Note, data: bytes, ttl: float | None = None) -> bool:
        """Whether a note was replaced: False when it is not what it was."""

    def delete_note(self, name: str) -> None:
        """Remove a note, if it is there."""

    def list_notes(self, folder: str) -> list[Note]:
        """The notes in a folder with their ages."""


FENCE: Final = "fence.json"
"""Where the highest fencing token is noted that any run was given."""
CLAIMS: Final = "claims"
"""Where the claims of living runs lie."""


def copy_name(version: int = SCHEMA_VERSION) -> str:
    """Where the copy of a ledger with a schema of some version lies."""
    return f"v{version}/state.db"


def claim_name(token: str) -> str:
    return f"{CLAIMS}/{token}.json"


def key_name(key: str) -> str:
    """Where an idempotency key lies. A key may hold anything, so its hash is the name."""
    return f"idempotency/{hashlib.sha256(key.encode()).hexdigest()}.json"
