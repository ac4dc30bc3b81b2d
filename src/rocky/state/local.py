"""The ledger's file on this machine: the copy a remote session works on, and the local session.

Runs of one machine share the file. A session holds a lock beside it from beginning to end; the
file is replaced by the remote one only while no other session has it. With `backend = "local"` the
file is the state: there is nothing to fetch or to send.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rocky.errors import LedgerLocked, LedgerUnwritable
from rocky.ledger.chain import Head
from rocky.ledger.claims import Claim, living_runs
from rocky.ledger.copies import (
    CopyFacts,
    bring_forward,
    describe_copy,
    replace_file,
    write_snapshot,
)
from rocky.ledger.schema import SCHEMA_VERSION
from rocky.project.configuration.blocks import Idempotency
from rocky.state.claims import RemoteClaim

_LOCK: Final = ".sync"
_SCRATCH: Final = ".sync-"
_BORN: Final = ".unpublished"


class LocalCopy:
    """A ledger's file, a lock on it, and a folder beside it for copies under way."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._descriptor: int | None = None
        self._folder: Path | None = None

    def open(self) -> None:
        """Share the file with other sessions. Raises LedgerUnwritable."""
        lock = self.path.with_name(f"{self.path.name}{_LOCK}")
        try:
            self._descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if self._try_alone():
                # What a session that was killed has left.
                for folder in self.path.parent.glob(f"{self.path.name}{_SCRATCH}*"):
                    shutil.rmtree(folder, ignore_errors=True)
            self._share()
            made = tempfile.mkdtemp(prefix=f"{self.path.name}{_SCRATCH}", dir=self.path.parent)
        except OSError as failure:
            raise LedgerUnwritable(
                f"cannot keep copies of the state beside `{self.path}`:"
                f" {(failure.strerror or '').lower()}; make that folder, make it writable, or name"
                " another state file with `--state-path`"
            ) from failure
        self._folder = Path(made)

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def scratch(self, name: str) -> Path:
        """A free path for a copy."""
        if self._folder is None:
            self.open()
        assert self._folder is not None
        path = self._folder / name
        for each in self._folder.glob(f"{name}*"):
            each.unlink()
        return path

    def facts(self) -> CopyFacts | None:
        """What the file is, in this Rocky's schema; None when there is none."""
        facts = describe_copy(self.path)
        if facts is not None and facts.version < SCHEMA_VERSION:
            return bring_forward(self.path)
        return facts

    def replace(self, new: Path) -> bool:
        """Whether a copy took the file's place: False while somebody else works with the file."""
        if not self._try_alone():
            self._share()
            return False
        try:
            if living_runs(self.path):
                return False
            replace_file(self.path, new)
            return True
        except LedgerLocked:
            return False
        finally:
            self._share()

    def set_aside(self) -> Path:
        """Keep what cannot be published under another name, so that the remote copy can be used."""
        kept = self.path.with_name(f"{self.path.name}{_BORN}-{os.getpid()}")
        kept.unlink(missing_ok=True)
        write_snapshot(self.path, kept)
        return kept

    @property
    def born_apart(self) -> str | None:
        """The id of a ledger that was begun here while the remote one was out of reach."""
        try:
            return self._mark.read_text().strip()
        except FileNotFoundError:
            return None

    def mark_born(self, ledger_id: str | None) -> None:
        """Remember, or forget, that a ledger was begun here."""
        if ledger_id is None:
            self._mark.unlink(missing_ok=True)
        else:
            self._mark.write_text(f"{ledger_id}\n")

    @property
    def _mark(self) -> Path:
        return self.path.with_name(f"{self.path.name}{_BORN}")

    def _try_alone(self) -> bool:
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _share(self) -> None:
        assert self._descriptor is not None
        # Whoever is alone is done in a moment.
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)


class LocalSession:
    """What a session can be asked, answered for `backend = "local"`."""

    is_remote = False
    is_unvouched = False
    published_head: Head | None = None
    warnings: tuple[str, ...] = ()

    def knows(self, said: Head | str) -> bool:  # noqa: ARG002 - as a remote one
        """Nothing was published."""
        return False

    def acquire(self, confirm: Callable[[], None] = lambda: None) -> None:
        """Nothing: the file is the state."""

    def refresh(self, *, current: bool = False) -> None:
        """Nothing: the file is the state."""

    def publish(self, run_id: str | None = None, *, required: bool = True) -> Head | None:  # noqa: ARG002 - as a remote one
        return None

    def finalize(self, run_id: str | None = None) -> None:
        """Nothing: what was recorded is where it stays."""

    def claim(
        self,
        targets: Iterable[str],  # noqa: ARG002 - as a remote one
        newest: int | None = None,  # noqa: ARG002 - as a remote one
    ) -> AbstractContextManager[RemoteClaim]:
        return nullcontext(RemoteClaim.nobody())

    def is_alive(self, run_id: str) -> bool:  # noqa: ARG002 - as a remote one
        """No run is running on another machine."""
        return False

    def living_runs(self) -> tuple[Claim, ...]:
        """None but those of this machine, which the ledger itself knows of."""
        return ()

    def keys(self, settings: Idempotency) -> None:
        """The ledger keeps its own keys."""

    def close(self) -> None:
        """Nothing was opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
