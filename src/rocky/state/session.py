"""A session: the remote state fetched before a run, added to during it, and left as one at its end.

What is in the backend is the truth; the local file is a copy to work on. "Could not fetch" is never
taken for "nothing there": it stops the run, or, where `on_upload_failure` lets it, the run
continues with the local file, and its commits name no state of the ledger.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Lock
from types import TracebackType
from typing import Self

from rocky.errors import RockyError, StateConflict, StateSyncFailed
from rocky.ledger import open_ledger
from rocky.ledger.chain import Head
from rocky.ledger.claims import Claim
from rocky.ledger.copies import common_head, describe_copy, knows, write_snapshot
from rocky.ledger.rebase import rebase_records
from rocky.project.configuration.blocks import Idempotency, State
from rocky.state.backend import Copy, copy_name
from rocky.state.claims import CLAIM_SECONDS, RemoteClaim, RemoteClaims
from rocky.state.events import DOWNLOAD, LOGGER, UPLOAD, Outcome, SyncListener
from rocky.state.idempotency import RemoteKeys
from rocky.state.local import LocalCopy, LocalSession
from rocky.state.publication import (
    CopyRelation,
    Publication,
    Publisher,
    bring_older_forward,
    refuse_other,
)
from rocky.state.tiers import open_backend
from rocky.state.transfer import Clock, Reporter, Transfer, TransferFailed, Transfers


class RemoteSession:
    """One use of the remote state, by one process. Leaving it without `finalize` sends nothing."""

    def __init__(
        self,
        state: State,
        path: Path,
        environment: Mapping[str, str],
        *,
        listener: SyncListener | None,
        claim_seconds: float,
        clock: Clock,
    ) -> None:
        self._state = state
        self._say = Reporter(state.backend, listener)
        self._shelf = open_backend(state, environment, self._say.noticed)
        self._transfers = Transfers(state.retry, state.transfer_timeout_seconds, clock)
        self._name = copy_name()
        self._say.place = self._shelf.place(self._name)
        self._local = LocalCopy(path)
        self._publisher = Publisher(self._shelf, self._name, self._local, Random())
        # An outage that is long over must not use up what the last upload may need.
        self._meanwhile = Transfers(state.retry, state.transfer_timeout_seconds, clock)
        steady = state.retry._replace(max_retries_per_run=None, circuit_breaker_threshold=0)
        beats = Transfers(steady, state.transfer_timeout_seconds, clock)
        self._claims = RemoteClaims(self._shelf, beats, claim_seconds)
        self._standing: CopyRelation | None = None
        self._published: Path | None = None
        # A run publishes in a thread beside its own.
        self._lock = Lock()

    is_remote = True

    @property
    def published_head(self) -> Head | None:
        """The last entry known to be in the remote state; None when that is not known."""
        return self._standing.head if self._standing is not None else None

    @property
    def is_unvouched(self) -> bool:
        """Whether the remote state could not be reached."""
        return self._standing is None

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._say.warnings

    def knows(self, said: Head | str) -> bool:
        """Whether the ledger here or the published one has a head, or a run by its id."""
        with self._lock:
            seen = (self._local.path, self._published)
            if any(knows(path, said) for path in seen if path is not None):
                return True
            try:
                copy = self._publisher.fetch(self._meanwhile.begin())
                return copy is not None and knows(self._publisher.unpack(copy)[0], said)
            except TransferFailed as failure:
                LOGGER.warning("cannot tell whether the remote state has an entry: %s", failure)
                return False

    def acquire(self, confirm: Callable[[], None] = lambda: None) -> None:
        """Make the local file what the remote one is, with what was not sent yet on top.

        `confirm` is called where there is none, here or there, and may refuse that one is begun.
        Raises StateSyncFailed and its kinds, LedgerLocked, LedgerUnreadable, LedgerUnwritable.
        """
        self._local.open()
        if not self._fetch(lenient=self._state.on_upload_failure == "skip"):
            return
        if self._standing is None:
            if self._local.facts() is None:
                confirm()
            # Created at once: of two that begin at the same time, the second finds the first's.
            self._create()

    def refresh(self, *, current: bool = False) -> None:
        """As `acquire`, for a command that only reads: nothing is made or sent.

        A copy on this machine may answer, with a warning, when the remote state cannot be reached;
        without one, or when the answer has to be `current`, the failure is raised.
        """
        self._local.open()
        may_be_old = self._state.on_upload_failure == "skip" and not current
        self._fetch(lenient=may_be_old and self._local.facts() is not None, reads=True)

    def publish(self, run_id: str | None = None, *, required: bool = True) -> Head | None:
        """Send what was recorded since the last time, while the ledger stays open.

        The published head, or None when it was skipped. Raises as `finalize` does; what is not
        `required` is left to the next time, whatever the policy.
        """
        with self._lock:
            if self._standing is None or self._is_sent(self._standing):
                return self.published_head
            publication = self._upload(
                self._standing, run_id, self._meanwhile.begin(), required=required
            )
            if publication is None:
                return None
            self._standing = publication.standing
            self._keep(publication.copy)
            return self.published_head

    def finalize(self, run_id: str | None = None) -> None:
        """Send the rest, once the ledger is closed; the local file becomes the published one.

        Raises StateSyncFailed where `on_upload_failure` is `fail`; StateConflict always.
        """
        with self._lock:
            if describe_copy(self._local.path) is not None:
                self._send_rest(run_id)

    def claim(
        self, targets: Iterable[str], newest: int | None = None
    ) -> AbstractContextManager[RemoteClaim]:
        """Keep runs on other machines from these tables. Raises LedgerLocked, StateSyncFailed.

        The claim has a fencing token if it is to be above the `newest` that is known.
        """
        try:
            # Without a standing it could not be reached a moment ago, and the run continues anyway.
            if self._standing is not None:
                return self._watched(self._claims.hold(targets, newest))
        except TransferFailed as failure:
            self._go_unclaimed(failure, "claim tables in the remote state")
        return nullcontext(RemoteClaim.nobody())

    def _go_unclaimed(self, failure: TransferFailed, what: str) -> None:
        error = failure.as_error(what)
        if self._state.on_upload_failure == "fail":
            raise error from failure
        self._say.warn(f"{error}; runs on other machines are not kept from the same tables")

    @contextmanager
    def _watched(self, claim: RemoteClaim) -> Iterator[RemoteClaim]:
        with claim:
            yield claim
        if claim.was_lost:
            self._say.warn(
                "for a while the remote state could not be told that this run is alive: another"
                " machine may have taken over its tables; `rocky verify` says whether all fits"
            )

    def is_alive(self, run_id: str) -> bool:
        """Whether a run is running on another machine; True when it cannot be told."""
        return self._standing is None or self._claims.is_alive(run_id)

    def living_runs(self) -> tuple[Claim, ...]:
        """What running runs have claimed, on all machines. Raises StateSyncFailed."""
        try:
            living = (seen.claim for seen in self._claims.living())
            # An idempotency key is no run.
            return tuple(claim for claim in living if claim.command is None)
        except TransferFailed as failure:
            raise failure.as_error("ask the remote state which runs are running") from failure

    def keys(self, settings: Idempotency) -> RemoteKeys | None:
        """Idempotency keys that all machines share."""
        return RemoteKeys(self._shelf, self._transfers, settings, self._claims)

    def close(self) -> None:
        self._local.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ fetching

    def _fetch(self, *, lenient: bool, reads: bool = False) -> bool:
        """Whether the backend could be asked; raises if it could not, unless `lenient`.

        Ends in one event.
        """
        transfer = self._transfers.begin()
        try:
            copy = self._publisher.fetch(transfer) or self._bring_forward(transfer)
            if copy is not None:
                self._take(copy)
        except TransferFailed as failure:
            self._fail_fetching(transfer, failure, lenient=lenient, reads=reads)
            return False
        except RockyError as error:
            self._say.ended(DOWNLOAD, _outcome_of(error), transfer, detail=str(error))
            raise
        outcome = Outcome.ABSENT if copy is None else Outcome.OK
        self._say.ended(DOWNLOAD, outcome, transfer, size=len(copy.data) if copy else None)
        return True

    def _fail_fetching(
        self, transfer: Transfer, failure: TransferFailed, *, lenient: bool, reads: bool
    ) -> None:
        error = failure.as_error("fetch the remote state")
        if not lenient:
            self._say.ended(DOWNLOAD, failure.outcome, transfer, detail=failure.why)
            raise error from failure
        self._say.ended(
            DOWNLOAD, Outcome.ERROR_THEN_FRESH, transfer, cause=failure.outcome, detail=failure.why
        )
        here = self._local.facts()
        what = "the state of this machine" if here is not None else "a fresh state"
        self._say.warn(f"{error}; {'this is' if reads else 'the run continues with'} {what}")
        if here is None:
            with open_ledger(self._local.path) as ledger:
                self._local.mark_born(ledger.ledger_id)

    def _bring_forward(self, transfer: Transfer) -> Copy | None:
        scratch = self._local.scratch("older.db")
        return bring_older_forward(self._shelf, transfer, scratch)

    def _take(self, copy: Copy) -> None:
        """Bring the local file up to a copy, and know how they stand to each other."""
        path, theirs = self._publisher.unpack(copy)
        ours = self._local.facts()
        aligned = CopyRelation(copy.generation, theirs.head, theirs.head, theirs.head)
        if ours is None:
            if not self._local.replace(path):
                raise StateSyncFailed(
                    f"`{self._local.path}` cannot be made: another command is making it; run again"
                )
            self._standing = aligned
            return
        adopt = ours.ledger_id == self._local.born_apart
        refuse_other(ours, theirs, self._say.place, adopt=adopt)
        shared = common_head(self._local.path, path)
        if shared == theirs.head:
            self._standing = aligned
            return
        dropped: tuple[str, ...] = ()
        if shared != ours.head:
            snapshot = self._local.scratch("ours.db")
            write_snapshot(self._local.path, snapshot)
            dropped = rebase_records(path, snapshot, shared, shared).dropped
        kept = self._local.set_aside() if dropped else None
        if not self._local.replace(path):
            # Somebody works with the file: it stays as it is, and is merged when it is sent.
            self._standing = replace(aligned, since=shared, base=shared, is_aligned=False)
            self._keep(path)
            if kept is not None:
                kept.unlink()
            return
        self._standing = aligned
        self._local.mark_born(None)
        if kept is not None:
            runs = ", ".join(f"`{each}`" for each in dropped)
            self._say.warn(
                f"the remote state says that {runs} died, so records of it that were not sent are"
                f" left out; they are kept in `{kept.name}`"
            )

    def _keep(self, copy: Path | None) -> None:
        """Keep the published copy at hand while the file here is another."""
        if copy is not None:
            self._published = copy.replace(self._local.scratch("published.db"))

    def _create(self) -> None:
        if self._local.facts() is None:
            open_ledger(self._local.path).close()
        publication = self._upload(CopyRelation(None), None, self._transfers.begin())
        if publication is None:
            return
        self._standing = publication.standing
        if publication.copy is not None and self._local.replace(publication.copy):
            self._standing = replace(self._standing, since=self._standing.head, is_aligned=True)

    # ------------------------------------------------------------------ sending

    def _is_sent(self, standing: CopyRelation) -> bool:
        facts = describe_copy(self._local.path)
        return facts is not None and facts.head == standing.since

    def _send_rest(self, run_id: str | None) -> None:
        standing = self._standing or CopyRelation(None)
        if self._standing is not None and self._is_sent(standing) and standing.is_aligned:
            return
        publication = self._upload(standing, run_id, self._transfers.begin())
        if publication is None:
            return
        self._standing = publication.standing
        self._local.mark_born(None)
        if publication.copy is not None and self._local.replace(publication.copy):
            self._standing = replace(self._standing, since=self._standing.head, is_aligned=True)

    def _upload(
        self,
        standing: CopyRelation,
        run_id: str | None,
        transfer: Transfer,
        *,
        required: bool = True,
    ) -> Publication | None:
        """The result; None when it was skipped. Ends in one event."""
        snapshot = self._local.scratch("ours.db")
        write_snapshot(self._local.path, snapshot)
        facts = describe_copy(snapshot)
        is_fresh = facts is not None and facts.head.seq == 1
        born = facts is not None and facts.ledger_id == self._local.born_apart
        try:
            done = self._publisher.publish(
                transfer, snapshot, standing, run_id, adopt=born or is_fresh
            )
            if standing.generation is None and done.size:
                self._publisher.expect_conditions(transfer, snapshot)
        except TransferFailed as failure:
            self._fail_sending(transfer, failure, required=required)
            return None
        except RockyError as error:
            self._say.ended(UPLOAD, _outcome_of(error), transfer, detail=str(error))
            raise
        self._say.ended(UPLOAD, Outcome.OK, transfer, size=done.size, merges=done.merges)
        return done

    def _fail_sending(self, transfer: Transfer, failure: TransferFailed, *, required: bool) -> None:
        error = failure.as_error("send the state")
        if required and self._state.on_upload_failure == "fail":
            self._say.ended(UPLOAD, failure.outcome, transfer, detail=failure.why)
            raise error from failure
        self._say.ended(
            UPLOAD,
            Outcome.SKIPPED_AFTER_FAILURE,
            transfer,
            cause=failure.outcome,
            detail=failure.why,
        )
        if required:
            self._say.warn(f"{error}; it stays on this machine, and the next run here sends it")


def _outcome_of(error: RockyError) -> Outcome:
    return Outcome.CONFLICT if isinstance(error, StateConflict) else Outcome.ERROR


Session = RemoteSession | LocalSession


def open_session(
    state: State,
    path: Path,
    environment: Mapping[str, str],
    *,
    listener: SyncListener | None = None,
    claim_seconds: float = CLAIM_SECONDS,
    clock: Clock = Clock(),  # noqa: B008 - frozen
) -> Session:
    """A session on the ledger at a path; nothing is fetched yet.

    Raises StateSyncFailed for settings that cannot be used, ExtraMissing.
    """
    if state.backend == "local":
        return LocalSession()
    return RemoteSession(
        state, path, environment, listener=listener, claim_seconds=claim_seconds, clock=clock
    )
