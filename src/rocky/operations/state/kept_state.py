"""The state kept between runs: shown, a watermark deleted, or old runs forgotten.

Only forgetting loads object stores and servers: showing the state does not wait for them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rocky.errors import LedgerLocked
from rocky.ledger import SCHEMA_VERSION, HistoryReader
from rocky.ledger.claims import living_runs
from rocky.ledger.pipeline_records import GracePeriod, IdempotencyRecord, RowCount
from rocky.ledger.pipeline_state import PipelineStateReader, open_pipeline_state_reader
from rocky.ledger.readers.history import EMPTY_TOTALS
from rocky.ledger.record import RunId
from rocky.ledger.run_records import PartitionRecord, WatermarkState
from rocky.operations.digest import Digested
from rocky.operations.report import hidden, same_fields
from rocky.operations.workspace import (
    Workspace,
    known_branch,
    open_history,
    refresh_state,
    state_path,
    state_settings,
)
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class DeleteRequest(Request):
    """The table whose watermark goes, by its full name."""

    table: str


@dataclass(frozen=True, slots=True)
class SweepRequest(Request):
    """In a `dry_run` nothing is forgotten."""

    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class CheckHistory:
    """A table whose rows were counted: how many counts are kept, and the newest."""

    table: str
    counts: int
    last: RowCount


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """How many files were loaded into a table."""

    table: str
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInFlight:
    """A run that was asked for under a key and is running; it may have no id yet."""

    key: str
    run_id: RunId | None = None
    state: str
    since: datetime
    expires_at: datetime
    hostname: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningClaim:
    """A run that is going on beside this state file, and the tables that it alone may write."""

    run_id: RunId
    process: int
    hostname: str
    since: datetime
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class StateReport(Digested):
    """What the state file holds. Without `schema_version_on_disk` there is no file yet.

    `claims` are of this machine's file, `runs_elsewhere` are going on at others. `backend` is where
    it is kept; `backend_problem` is why that could not be asked, and then this is the copy here.
    """

    path: str
    schema_version_supported: int
    runs: int
    executions: int
    artifacts: int
    watermarks: tuple[WatermarkState, ...]
    partitions: tuple[PartitionRecord, ...]
    grace_periods: tuple[GracePeriod, ...]
    check_history: tuple[CheckHistory, ...]
    loaded_files: tuple[LoadedFiles, ...]
    keys_in_flight: tuple[KeyInFlight, ...]
    schema_version_on_disk: int | None = None
    claims: tuple[RunningClaim, ...] = ()
    backend: str | None = None
    runs_elsewhere: tuple[RunId, ...] = ()
    backend_problem: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class WatermarkDeletionReport(Digested):
    """The watermark that was deleted: the table's next run copies everything and replaces it."""

    deleted: WatermarkState
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class RetentionSweepReport(Digested):
    """The runs that were forgotten, or would be in a dry run.

    `removed` counts rows by table, `kept` older runs by why they stay. `freed_bytes` is by how much
    the state file became smaller, also because of earlier sweeps.
    """

    dry_run: bool
    at: datetime
    cutoff: datetime
    max_age_days: int
    min_runs_kept: int
    applies_to: tuple[str, ...]
    runs: tuple[RunId, ...]
    removed: Mapping[str, int]
    kept: Mapping[str, int]
    duration_ms: int
    freed_bytes: int
    warnings: tuple[str, ...]
    rows_by_table: Mapping[str, int] = hidden()
    kept_because: Mapping[str, int] = hidden()


def show_state(workspace: Workspace) -> StateReport:
    """What is remembered between runs."""
    workspace = known_branch(workspace)
    path = state_path(workspace)
    problems: list[str] = []
    elsewhere: frozenset[str] = frozenset()
    with open_history(replace(workspace, warn=problems.append)) as reader:
        elsewhere = reader.alive_elsewhere if reader is not None else elsewhere
        remembered = open_pipeline_state_reader(path) if reader is not None else None
        if reader is None or remembered is None:
            return StateReport(str(path), SCHEMA_VERSION, *EMPTY_TOTALS, (), (), (), (), (), ())
        with remembered:
            found = _report(path, reader, remembered)
    claims = tuple(_claims(path))
    # A run of this machine is known to the remote state as well.
    elsewhere -= {each.run_id for each in claims}
    return replace(
        found,
        watermarks=_hide(workspace, found.watermarks),
        claims=claims,
        backend=state_settings(workspace).backend,
        runs_elsewhere=tuple(RunId(each) for each in sorted(elsewhere)),
        backend_problem="; ".join(problems) or None,
    )


def _claims(path: Path) -> Iterator[RunningClaim]:
    try:
        living = living_runs(path)
    except LedgerLocked:
        # Somebody is at work, and it cannot be told who: the rest is still shown.
        return
    for each in living:
        yield RunningClaim(**same_fields(RunningClaim, each))


def _hide(workspace: Workspace, marks: tuple[WatermarkState, ...]) -> tuple[WatermarkState, ...]:
    """Watermarks, without the values of classified columns."""
    if not marks:
        return marks
    # It compiles, which a state without watermarks does not need.
    from rocky.operations.state.watermark_values import hide_marks  # noqa: PLC0415

    return hide_marks(workspace, marks)


def _report(path: Path, reader: HistoryReader, remembered: PipelineStateReader) -> StateReport:
    return StateReport(
        str(path),
        SCHEMA_VERSION,
        *reader.totals(),
        reader.watermarks(),
        reader.partitions(),
        remembered.grace_periods(),
        tuple(CheckHistory(*each) for each in remembered.counted_tables()),
        tuple(LoadedFiles(*each) for each in remembered.loaded_files().items()),
        tuple(_key(each) for each in remembered.keys_in_flight(datetime.now(UTC))),
        reader.schema_version,
    )


def _key(record: IdempotencyRecord) -> KeyInFlight:
    return KeyInFlight(
        run_id=record.run_id or None, **same_fields(KeyInFlight, record, besides={"run_id"})
    )


def delete_watermark(workspace: Workspace, request: DeleteRequest) -> WatermarkDeletionReport:
    """Delete a table's watermark. Raises NothingSelected, LedgerLocked while a run writes it."""
    from rocky.evidence.retention.sweep import remove_watermark  # noqa: PLC0415
    from rocky.operations.state.state_change import change_state  # noqa: PLC0415

    workspace = known_branch(workspace)
    mark, warnings = change_state(
        workspace, [request.table], lambda ledger: remove_watermark(ledger, request.table)
    )
    (shown,) = _hide(workspace, (mark,))
    return WatermarkDeletionReport(shown, warnings)


def sweep_state(workspace: Workspace, request: SweepRequest) -> RetentionSweepReport:
    """Forget runs older than `[state.retention]` allows that no table depends on.

    Raises RunRefused, with nothing forgotten, when `rocky.toml` has errors, NothingSelected when
    there is no state yet, and LedgerLocked when another sweep is running.
    """
    from rocky.evidence.retention.sweep import (  # noqa: PLC0415
        Compaction,
        compact_ledger,
        preview_sweep,
        sweep_ledger,
    )
    from rocky.operations.state.state_change import change_state, load_sound_project  # noqa: PLC0415
    from rocky.operations.warehouses import warehouses_of  # noqa: PLC0415

    workspace = known_branch(workspace)
    project = load_sound_project(workspace, "forgotten")
    rules = project.config.state.retention
    warehouses, now = warehouses_of(workspace, project), datetime.now(UTC)
    warnings: tuple[str, ...] = ()
    compacted = Compaction()
    if request.dry_run:
        path = state_path(workspace)
        refresh_state(workspace, path)
        found = preview_sweep(path, warehouses, rules, now)
    else:
        (found, compacted), warnings = change_state(
            workspace,
            (),
            lambda ledger: (
                sweep_ledger(ledger, warehouses, rules, now),
                compact_ledger(ledger),
            ),
        )
    if compacted.why_not is not None:
        warnings += (f"the state file was not made smaller: {compacted.why_not}",)
    kept = sorted(found.kept.items())
    return RetentionSweepReport(
        found.dry_run,
        found.at,
        found.cutoff,
        rules.max_age_days,
        rules.min_runs_kept,
        tuple(rules.applies_to),
        found.runs,
        dict(sorted(found.removed.items())),
        {why.name.lower(): number for why, number in kept},
        found.duration_ms,
        compacted.freed,
        warnings,
        found.removed,
        {why.value: number for why, number in kept},
    )
