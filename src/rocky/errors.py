"""The exceptions Rocky raises, drawn as one tree.

RockyError                 the world failed: a file, a server, a setting
├── ProjectNotFound        no rocky.toml where one was asked for
├── NothingSelected        a model, column or code that was named does not exist
├── InvalidSchema          a table handed to `check_sql` whose columns cannot be read
├── AdapterUnusable        `[adapter]` asks for what cannot be: two addresses, a setting held
├── SparkUnavailable       Spark or Java is missing, would not start or cannot be reached
├── SourceUnreadable       a source is not where it was declared, or not what was declared
├── StoreUnreadable        a table's log or files could not be read: never the same as absent
├── StoreUnwritable        a table's log or files could not be written
├── RowsRefused            rows their table may not hold: a null where there must be none
├── ExtraMissing           a setting needs an optional extra that is not installed
├── ChangeRefused          a change the table cannot take: a type, a schema, a table property
├── ConcurrentChange       somebody else changed the table a change was computed from
├── LedgerUnreadable       the state file is not a ledger, is newer than us, or cannot be opened
├── LedgerUnwritable       the state file or its folder cannot be written, or the disk is full
├── LedgerLocked           another process keeps the ledger, or builds the same tables
├── StateSyncFailed        the remote state could not be fetched, or not be sent
│   ├── TransferTimedOut      all tries together took longer than they may
│   ├── RetryBudgetExhausted  it was tried as often as it may be
│   ├── CircuitOpen           it failed so often that it is not tried any more
│   └── StateConflict         others changed the remote state, and both cannot be brought together
├── GitUnavailable         `git` is not installed, would not answer or refused
├── NotARepository         a folder that is in no working tree of git's
├── UnknownRevision        a name that no commit has, or two commits without a common past
├── ApprovalRefused        a statement that would not count, or a change that too few approved
├── SignersUnusable        the rules of approval, or who may sign, cannot be read
├── KeygenUnavailable      `ssh-keygen` is not installed, or is too old for what is needed
├── SealRefused            a seal that would not count, or nothing that can be sealed
├── InterfaceRefused       an interface that cannot be published, fetched or accepted
├── ImportRefused          a dbt project or its manifest that cannot be read: nothing was written
├── NotComparable          a side of a comparison does not compile: never the same as no difference
├── RunRefused             the selection, or what it reads, has errors: nothing was started
├── RunSkipped             a run under this idempotency key was made, or is running
├── InputNotBuilt          a model reads a table that no run has built yet
├── PlanUnreadable         a kept plan that is not there, was changed, or is newer than us
├── PlanOutdated           what a kept plan was made from has moved since: nothing is run
├── ModelFailed            a model could not be built; the message names it and says why
└── InternalError          we are wrong: users must not be able to cause it

A mistake in the user's project is never an exception: it is a `Diagnostic`.
"""

import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

_OWN: Final = __file__.removesuffix("errors.py")
_SHELL: Final = re.compile(r"[/\\](IPython|ipykernel)[/\\]")
"""Files of the shell that called the caller's code."""


class RockyError(Exception):
    """The world failed in a way the user can act on; the message says how.

    `diagnostics` are the findings for which it was raised, where there are any, as reports have
    them.
    """

    diagnostics: Sequence[Any] = ()

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a stack: the caller's own lines, and what is wrong."""
        # Only who is shown one pays for it.
        from traceback import extract_tb  # noqa: PLC0415

        shown = []
        for frame in extract_tb(self.__traceback__):
            if not (frame.filename.startswith(_OWN) or _SHELL.search(frame.filename)):
                place = "cell" if "ipykernel" in frame.filename else frame.filename
                shown.append(f"{place}, line {frame.lineno}: {frame.line or ''}".rstrip(": "))
        notes = getattr(self, "__notes__", ())
        return [*shown, f"{type(self).__name__}: {self}", *notes]


class ProjectNotFound(RockyError):
    """No `rocky.toml` at the place that was named."""


class WouldOverwrite(RockyError):
    """A file or folder that is there already stands where a new project would go."""


class UnknownTemplate(RockyError):
    """No playground is called so."""


class InvalidRequest(RockyError):
    """The options contradict each other, or the project."""


class NothingSelected(RockyError):
    """A selector, model, column or code that matches nothing."""


class InvalidSchema(RockyError, ValueError):
    """A table's columns are neither a DDL list nor Spark's schema JSON."""


class AdapterUnusable(RockyError):
    """`[adapter]` asks for what cannot be: two addresses, a setting that is held.

    `settings` are names of settings that it is about.
    """

    def __init__(self, message: str, *, settings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.settings = settings


class SparkUnavailable(RockyError):
    """Spark or Java is missing, too old, would not start or cannot be reached.

    `settings` are names of settings that it was for, as `master` or `spark.driver.memory`;
    `advice` is what to do; `output` is all that Spark printed.
    """

    def __init__(
        self,
        message: str,
        *,
        settings: tuple[str, ...] = (),
        advice: str | None = None,
        output: str = "",
    ) -> None:
        super().__init__(message)
        self.settings = settings
        self.advice = advice
        self.output = output


class SourceUnreadable(RockyError):
    """A source is not where it was declared to be, or not what was declared."""


class StoreUnreadable(RockyError):
    """A table's log or files could not be read: never the same as absent."""


class StoreUnwritable(RockyError):
    """A table's log or files could not be written."""


class RowsRefused(RockyError):
    """Rows that their table may not hold: a null in a required column, and the like.

    `column` is the one of the table that refuses them, where it is one.
    """

    column: str | None = None


class ExtraMissing(RockyError):
    """A setting needs an optional extra of Rocky's that is not installed."""


class ChangeRefused(RockyError):
    """A change that its table cannot take: a type Delta has not, a schema that does not fit."""


class ConcurrentChange(RockyError):
    """Somebody else changed the table that a change was computed from."""


class ClaimLost(RockyError):
    """Another run has taken over a table that this run was about to write."""


class ForeignCommit(RockyError):
    """A table has a commit that no run of the ledger has made, so it is not read."""


class LedgerUnreadable(RockyError):
    """The state file is not a ledger, is newer than this Rocky, or cannot be opened."""


class LedgerUnwritable(RockyError):
    """The state file or its folder cannot be written, or the disk is full."""


class LedgerLocked(RockyError):
    """Another process keeps the ledger, or builds the same tables."""


class StateSyncFailed(RockyError):
    """The remote state could not be fetched, or not be sent."""


class TransferTimedOut(StateSyncFailed):
    """All tries of a transfer together took longer than `transfer_timeout_seconds`."""


class RetryBudgetExhausted(StateSyncFailed):
    """A transfer was tried as often as it may be, or all transfers of the run together were."""


class CircuitOpen(StateSyncFailed):
    """Transfers failed so often in a row that none is tried any more."""


class StateConflict(StateSyncFailed):
    """Others changed the remote state, and theirs and ours cannot be brought together."""


class StateLost(RockyError):
    """The tables know of runs that the state does not: it was lost, or is an older copy."""


class GitUnavailable(RockyError):
    """`git` is not installed, would not answer or refused: nothing is known of the past."""


class NotARepository(RockyError):
    """A folder that is in no working tree of git's."""


class UnknownRevision(RockyError):
    """A name that no commit has, or two commits that have no common past."""


class ApprovalRefused(RockyError):
    """A statement that would not count, so it is not signed; or a change too few approved."""


class SignersUnusable(RockyError):
    """The rules of approval, or the list of those who may sign, cannot be read: nobody may."""


class KeygenUnavailable(RockyError):
    """The program `ssh-keygen` is not installed, or is too old for what is needed."""


class SealRefused(RockyError):
    """A seal that would not count, or nothing that can be sealed; none was written."""


class InterfaceRefused(RockyError):
    """An interface that cannot be published, fetched or accepted; nothing was written."""


class ImportRefused(RockyError):
    """A dbt project, or its manifest, that cannot be read; nothing was written."""


class PromotionUnfinished(RockyError):
    """A promotion was interrupted, and nobody has finished or undone it yet."""


class ErasureUnfinished(RockyError):
    """An erasure was interrupted, and nobody has finished it yet."""


class PromotionUndone(RockyError):
    """A promotion could not be made for all tables, so it was made for none."""


class PromotionRefused(RockyError):
    """A branch may not be promoted, or a promotion not be reverted, as things stand."""


class NotComparable(RockyError):
    """A side of a comparison does not compile, so nothing can be said about differences."""


class RunRefused(RockyError):
    """The selection, or what it reads, has errors: nothing was started."""


class GovernanceRefused(RockyError):
    """What is declared cannot be brought into the catalogue, or the catalogue refuses it."""


class CatalogueUnreachable(RockyError):
    """The catalogue that is told who may do what does not answer."""


class RunSkipped(RockyError):
    """A run under this idempotency key was made, or is running: another is not needed."""

    def __init__(self, key: str, run_id: str | None, *, in_flight: bool) -> None:
        run = f"run `{run_id}`" if run_id else "a run that has just started"
        how = "is running" if in_flight else "was made"
        super().__init__(f"nothing was run: {run} {how} under the key `{key}`")
        self.key = key
        self.run_id = run_id
        self.in_flight = in_flight


class InputNotBuilt(RockyError):
    """A model reads a table that no run has built yet, and this one does not either."""


class PlanUnreadable(RockyError):
    """A kept plan that is not there, was changed after it was made, or is newer than us."""


class PlanOutdated(RockyError):
    """What a kept plan was made from has moved since; the message says what."""


class ModelFailed(RockyError):
    """A model could not be built; the message names it and says why.

    `finding` is the diagnostic that says where in the project, if that is known; `setting` are the
    keys of the setting of the model that its rows do not fit, `columns` those whose values it
    tells, and `without_values` is what to say where nobody may see them.
    """

    finding: Any = None
    setting: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    without_values: str = ""


class InternalError(RockyError):
    """A state that no input should be able to reach."""

    def _render_traceback_(self) -> list[str]:
        """All of it: who reports it needs the stack."""
        from traceback import format_exception  # noqa: PLC0415 - as above

        return "".join(format_exception(self)).splitlines()


def advise_on_write(failure: OSError, otherwise: str) -> str:
    """What helps where a file cannot be written; `otherwise` unless the system names the cause.

    Permissions are no cure for a full disk, nor room for a disk that is mounted to be read.
    """
    return _WRITE_ADVICE.get(failure.errno or 0, otherwise)


_WRITE_ADVICE: Final = {
    errno.ENOSPC: "make room on its disk, then retry",
    errno.EDQUOT: "make room within the quota of its disk, or raise the quota, then retry",
    errno.EROFS: "its disk is mounted read-only: mount it for writing",
    errno.EFBIG: "raise the limit on the size of files (`ulimit -f`), then retry",
    errno.EIO: "the disk failed: look at the system's log",
}


def describe_failure(failure: BaseException) -> str:
    """What to tell people of a failure: its message, and what to do about one of ours."""
    if isinstance(failure, InternalError):
        return f"{failure}\nthis is a defect in Rocky: please report it"
    if isinstance(failure, OSError) and failure.strerror:
        place = f" `{failure.filename}`" if failure.filename else ""
        return f"cannot use{place}: {failure.strerror.lower()}"
    return str(failure)


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Around an import. Raises ExtraMissing, with what to install, where a library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library == "rocky":
            raise
        raise ExtraMissing(
            f"`{library}` is not installed; run `pip install 'rocky-spark[{extra}]'`"
        ) from error
