"""Foreign tables: those with commits that no run of the ledger has made, until somebody decides.

Either the commits are accepted as they are, or the table gets back what was recorded last. Both are
a run of their own, so the ledger says who decided it, when and why.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from rocky.errors import NothingSelected, RunRefused
from rocky.ledger.readers.commits import NewestCommit
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ArtifactRecord,
    CommitRecord,
    ModelExecution,
    ModelStatus,
)
from rocky.ledger.writer import ModelRecords
from rocky.project.models import Target
from rocky.run.prepare.claims import BegunRun, ledger_statement, open_recorded_run
from rocky.run.prepare.pins import PinnedTable
from rocky.run.prepare.session import RunSession
from rocky.run.record.commits import CommitAdopter, commit_records
from rocky.store.data_file import DataFile, is_addressed
from rocky.store.delta.actions import parse_add
from rocky.store.delta.change import ROCKY_PROPERTIES, Change
from rocky.store.delta.comments import comments_of
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot
from rocky.store.warehouse import Table

Verdict = Literal["accepted", "rejected"]
_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class SettledTable:
    """What was decided of a table: its foreign `versions`, and the `commit_version` it has now."""

    run_id: RunId
    target: str
    model_name: str
    verdict: Verdict
    versions: tuple[int, ...]
    commit_version: int
    reason: str


def accept_table(opened: RunSession, target: str, reason: str, now: datetime) -> SettledTable:
    """Record the foreign commits of a table, which are read from now on.

    Raises NothingSelected when it has none, RunRefused for files that are not named by their
    bytes: nobody could check them, LedgerLocked while a run writes the table.
    """
    with _open(opened, target, "accept", now) as work:
        added = [file for each in work.foreign for file in work.added(each)]
        strange = next((file for file in added if not is_addressed(file.path)), None)
        if strange is not None:
            raise RunRefused(
                f"`{target}` cannot be accepted: its file `{strange.path}` is not named by the hash"
                f" of its bytes, so no change of it would be found; `rocky state restore {target}`"
                " puts back what was recorded"
            )
        execution = work.execution(
            reason,
            action="accepted",
            status=ModelStatus.SUCCESS,
            commit_version=work.now.version,
            rows_hash=work.now.configuration.get(ROWS_HASH),
            files=len(work.now.files),
        )
        return work.settle(execution, "accepted", work.artifacts(work.foreign), work.now.version)


def restore_table(opened: RunSession, target: str, reason: str, now: datetime) -> SettledTable:
    """Give a table the content back that was recorded last, in a commit of its own.

    Raises NothingSelected when it has no foreign commit, RunRefused when what was recorded is no
    longer there, ForeignCommit when it was altered, LedgerLocked while a run writes the table.
    """
    with _open(opened, target, "restore", now) as work:
        recorded, table = work.recorded, work.table
        last = work.foreign[0] - 1
        if last < 0:
            raise RunRefused(
                f"`{target}` cannot be restored: nothing is left of what was recorded; build it"
                f" again with `rocky run --model {recorded.execution.model_name} --full-refresh`"
            )
        content = table.snapshot(last)
        assert content is not None
        if content.unproven:
            raise RunRefused(
                f"`{target}` cannot be restored: commits are gone from its log, and no record has"
                " the checkpoint that stands for them; `rocky run --model"
                f" {recorded.execution.model_name} --full-refresh` builds it again"
            )
        CommitAdopter(opened.resources.ledger, work.begun.run_id).refuse_altered(
            recorded.execution.model_name, PinnedTable(table, content)
        )
        committed = table.commit(
            Change(
                "REPLACE",
                work.now,
                content.schema,
                content.partition_columns,
                content.files,
                properties={
                    name: value
                    for name, value in content.configuration.items()
                    if name.startswith(ROCKY_PROPERTIES)
                },
                info={
                    "runId": work.begun.run_id,
                    "model": recorded.execution.model_name,
                    **ledger_statement(opened.resources),
                },
                authority=work.begun.authority,
                comments=comments_of(content),
            )
        )
        snapshot = committed.snapshot
        execution = work.execution(
            reason,
            action="restored",
            status=ModelStatus.REUSED,
            reused_from=recorded.run_id,
            reused_model=recorded.execution.model_name,
            commit_version=snapshot.version,
            commits=commit_records([committed]),
            rows_hash=snapshot.configuration.get(ROWS_HASH),
            files=len(snapshot.files),
        )
        artifacts = [work.artifact(file, snapshot.version) for file in snapshot.files]
        return work.settle(execution, "rejected", artifacts, snapshot.version)


@dataclass(frozen=True, slots=True)
class _Settlement:
    """A decision in the making. `now` is the table as it is, with its `foreign` versions."""

    opened: RunSession
    table: Table
    begun: BegunRun
    at: datetime
    recorded: NewestCommit
    now: Snapshot
    foreign: tuple[int, ...]

    def added(self, version: int) -> list[DataFile]:
        actions = self.table.log.read_commit(version)
        return [parse_add(each["add"]) for each in actions if each.get("add")]

    def artifact(self, file: DataFile, version: int) -> ArtifactRecord:
        place = str(self.table.place_of(file))
        model = self.recorded.execution.model_name
        return ArtifactRecord(
            file.address, self.begun.run_id, model, place, version, file.size, self.at
        )

    def artifacts(self, versions: Sequence[int]) -> list[ArtifactRecord]:
        return [self.artifact(file, each) for each in versions for file in self.added(each)]

    def execution(self, reason: str, **facts: object) -> ModelExecution:
        before = self.recorded.execution
        return ModelExecution(
            before.model_name,
            started_at=self.at,
            finished_at=self.at,
            duration_ms=0,
            target=self.table.name,
            strategy=before.strategy,
            reason=reason,
            tags=before.tags,
            **facts,  # type: ignore[arg-type]
        )

    def settle(
        self,
        execution: ModelExecution,
        verdict: Verdict,
        artifacts: Sequence[ArtifactRecord],
        version: int,
    ) -> SettledTable:
        log = self.table.log
        foreign = tuple(
            CommitRecord(each, log.commit_hash(each), log.checkpoint_hash(each), foreign=verdict)
            for each in self.foreign
        )
        run_id, ledger = self.begun.run_id, self.opened.resources.ledger
        # A run that died may have come first.
        adopted = CommitAdopter(ledger, run_id).adopt(self.table, self.foreign[0], self.at)
        told = replace(execution, adopted=(*adopted.commits, *foreign))
        ledger.record_models(run_id, [ModelRecords(told, (*adopted.artifacts, *artifacts))])
        return SettledTable(
            run_id,
            self.table.name,
            execution.model_name,
            verdict,
            self.foreign,
            version,
            str(execution.reason),
        )


def _require(
    table: Table, snapshot: Snapshot | None, adopter: CommitAdopter, model: str
) -> tuple[Snapshot, tuple[int, ...]]:
    """The table as it is, and its foreign versions. Raises NothingSelected for none."""
    foreign = adopter.find_foreign(table, model, snapshot)
    if snapshot is None or not foreign:
        raise NothingSelected(f"`{table.name}` has no foreign commit")
    return snapshot, foreign


@contextmanager
def _open(opened: RunSession, target: str, verb: str, now: datetime) -> Iterator[_Settlement]:
    """Inside, the table is claimed and a run is recorded, which ends as the block does."""
    resources = opened.resources
    parts = target.replace("`", "").split(".")
    with resources.ledger.lookups() as lookups:
        recorded = lookups.newest_commit(parts[-1], target) if len(parts) == _PARTS else None
    if recorded is None:
        raise NothingSelected(
            f"no table `{target}` is recorded; give its whole name, `catalog.schema.table`"
        )
    table = resources.warehouse.table(Target(*str(recorded.execution.target).split(".")))
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    model = recorded.execution.model_name
    # Before anything is recorded: a name that was mistyped is no run.
    _require(table, table.snapshot(), CommitAdopter(resources.ledger, RunId("")), model)
    told = replace(record, selection=(f"{verb} {table.name}",))
    with open_recorded_run(resources, told, [table], opened.caller.warn, settling=True) as (
        begun,
        moved,
    ):
        adopter = CommitAdopter(resources.ledger, begun.run_id)
        snapshot, foreign = _require(table, table.snapshot(), adopter, model)
        yield _Settlement(opened, table, begun, now, recorded, snapshot, foreign)
        moved(1)
