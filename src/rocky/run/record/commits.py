"""Commits and watermarks as the ledger keeps them, also commits whose making was never recorded.

A run that died left those, or an attempt of this run that failed after its commit. Whoever records
the table next adopts them, under the name of the run that made them, if they are signed with the
key that this run has recorded. Commits of anybody else are nobody's to adopt: `rocky verify` names
them.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from rocky.errors import ForeignCommit
from rocky.ledger.readers.commits import CommitReader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import NO_MARK, ArtifactRecord, CommitRecord, WatermarkState
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan, Step
from rocky.plan.watermarks import format_watermark, watermark_value
from rocky.project.configuration.strategies import Incremental, Microbatch
from rocky.run.materialize.build import Built
from rocky.run.prepare.pins import PinnedTable
from rocky.store.data_file import DataFile
from rocky.store.delta.actions import parse_add
from rocky.store.delta.change import Committed
from rocky.store.delta.log import hashes_read
from rocky.store.delta.signature import is_commit_signed
from rocky.store.delta.snapshot import FILES_HASH, WATERMARK, Snapshot, has_other_files
from rocky.store.warehouse import Table


def added_files(pinned: PinnedTable, commit: Committed) -> Sequence[DataFile]:
    """The files a commit added; one that an earlier attempt had made is read from the log."""
    if not commit.repeated or commit.commit_hash is None:
        return commit.added
    actions = pinned.table.log.read_commit(commit.snapshot.version)
    return [parse_add(action["add"]) for action in actions if action.get("add")]


def commit_records(commits: Sequence[Committed]) -> tuple[CommitRecord, ...]:
    return tuple(
        CommitRecord(each.snapshot.version, each.commit_hash, each.checkpoint_hash)
        for each in commits
        if each.commit_hash is not None
    )


@dataclass(frozen=True, slots=True)
class AdoptedCommits:
    """Commits that nobody has recorded, and the files they added."""

    commits: tuple[CommitRecord, ...] = ()
    artifacts: tuple[ArtifactRecord, ...] = ()


NO_ADOPTED_COMMITS = AdoptedCommits()


class CommitAdopter:
    """Finds what dead runs, and failed attempts of this one, left. Threads may share it.

    `seeds` are the keys of tables that may be older than the ledger. Where the ledger is `partial`,
    because the remote state cannot be read, a table that it has nothing of may be anybody's.
    Whoever looks at tables `beside_runs` that write them believes what these have signed too: they
    are about to record it.
    """

    def __init__(
        self,
        ledger: Ledger,
        run_id: RunId,
        seeds: Collection[str] = frozenset(),
        *,
        partial: bool = False,
        beside_runs: bool = False,
    ) -> None:
        self._beside_runs = beside_runs
        self._seeds = seeds
        self._partial = partial
        self._ledger = ledger
        self._run_id = run_id

    @cached_property
    def _adoptable(self) -> frozenset[RunId]:
        with self._ledger.lookups() as lookups:
            found = lookups.unfinished_runs() | {self._run_id}
            if self._beside_runs:
                found |= lookups.open_runs()
            return found - lookups.settled_runs()

    def adopt(self, table: Table, below: int, now: datetime) -> AdoptedCommits:
        """The unrecorded commits just below a version of a table that may be adopted."""
        commits: list[CommitRecord] = []
        artifacts: list[ArtifactRecord] = []
        for version in range(below - 1, -1, -1):
            actions = table.log.read_commit(version)
            # The model may have had another name then.
            run_id, model = _maker_of(actions)
            if run_id not in self._adoptable or self._is_known(run_id, model, version):
                break
            if not self._is_signed(run_id, table, version):
                break
            commits.append(
                CommitRecord(
                    version,
                    table.log.commit_hash(version),
                    table.log.checkpoint_hash(version),
                    run_id,
                    model,
                )
            )
            artifacts += _artifacts(table, model, (run_id, version), actions, now)
        return AdoptedCommits(tuple(reversed(commits)), tuple(artifacts))

    def refuse_foreign(self, model: str, pinned: PinnedTable) -> None:
        """Raise ForeignCommit for a table whose newest commits no run of this ledger has made.

        A table that no run has recorded anything of is foreign as a whole. Of one that was built
        before commits were recorded nothing can be told.
        """
        table, version = pinned.table, pinned.snapshot.version
        with self._ledger.lookups() as lookups:
            recorded = lookups.newest_commit(model, table.name)
            if recorded is None and lookups.has_built(model, table.name):
                return
        if recorded is None:
            self._refuse_planted(model, pinned)
            return
        known = recorded.commit.version
        # A run that failed after it had committed says no version.
        if version < known and recorded.execution.commit_version in (None, known):
            what = f"went from version {known} to {version}"
            rebuild = (
                f"`rocky run --model {recorded.execution.model_name} --full-refresh` builds it"
            )
            raise ForeignCommit(_foreign(table, what, rebuild))
        if pinned.snapshot.unproven:
            raise ForeignCommit(
                _foreign(
                    table,
                    "lacks commits, and no record has the checkpoint that stands for them",
                    f"put the commits back, or `rocky run --model {recorded.execution.model_name}"
                    " --full-refresh` builds it",
                )
            )
        foreign = self.find_foreign(table, model, pinned.snapshot)
        if foreign:
            raise ForeignCommit(
                _foreign(
                    table,
                    f"has a commit that no run made, version {foreign[0]}",
                    f"`rocky state restore {table.name}` puts back what was recorded, and"
                    f" `rocky state accept {table.name}` takes it as it is",
                )
            )

        self.refuse_altered(model, pinned)

    def _refuse_planted(self, model: str, pinned: PinnedTable) -> None:
        table = pinned.table
        if self._partial or model.lower() in self._seeds:
            # It is made of its file alone: whoever wrote the table, it is that or is loaded.
            return
        if self.find_foreign(table, model, pinned.snapshot):
            raise ForeignCommit(
                _foreign(
                    table,
                    "was made by no run that is recorded",
                    f"remove the table, or `rocky run --model {model} --full-refresh` builds it."
                    " If another project or another ledger writes it, do neither: give one of"
                    " the two another `target` or `warehouse`, or declare the table as a source;"
                    " if it is this project's own from a state that was lost, put that state back"
                    " or see `rocky state restore --from-tables`",
                )
            )

    def refuse_altered(self, model: str, pinned: PinnedTable) -> None:
        """Raise ForeignCommit for a table that is made from a commit which was altered since.

        And for one whose newest commit was made while others were. Of the newest commits
        `refuse_foreign` says more.
        """
        table, snapshot = pinned.table, pinned.snapshot
        rebuild = f"`rocky run --model {model} --full-refresh` builds the table"
        altered = self._find_altered(model, pinned)
        if altered is not None:
            what = f"was altered: version {altered} is not the commit that was recorded"
            raise ForeignCommit(_foreign(table, what, f"put the commit back, or {rebuild}"))
        newest = table.log.read_commit(snapshot.version)
        paths = (file.path for file in snapshot.files)
        if snapshot.version > 0 and has_other_files(newest, paths):
            what = (
                f"has other files than its version {snapshot.version} says: commits before it were"
                " altered when it was made"
            )
            raise ForeignCommit(_foreign(table, what, rebuild))

    def _find_altered(self, model: str, pinned: PinnedTable) -> int | None:
        """The newest version that a table is made from and that is not as it was recorded."""
        table, snapshot = pinned.table, pinned.snapshot
        with self._ledger.lookups() as lookups:
            hashes = hashes_read(table.log, snapshot.version)
            unknown = lookups.unknown_commits(model, table.name, hashes, table.objects.place(""))
            if not unknown:
                return None
            recorded = lookups.recorded_versions(table.name)
        needed = _CommitUse(table, snapshot)
        for version in sorted(hashes, reverse=True):
            if version not in unknown or self._may_adopt(table, version):
                needed.believe(version)
            elif needed.relies_on(version) and self._is_altered(
                needed.adds_of(version), recorded=version in recorded
            ):
                return version
        return None

    def _is_altered(self, adds: Sequence[DataFile], *, recorded: bool) -> bool:
        # Commits from before commits were recorded have brought files that are.
        return recorded or bool(self.unrecorded(adds))

    def _may_adopt(self, table: Table, version: int) -> bool:
        run_id, _ = _maker_of(table.log.read_commit(version))
        return run_id in self._adoptable and self._is_signed(run_id, table, version)

    def find_foreign(self, table: Table, model: str, snapshot: Snapshot | None) -> tuple[int, ...]:
        """The first version since the newest recorded one that is foreign, and all on top of it."""
        found: tuple[int, ...] = ()
        newest = -1 if snapshot is None else snapshot.version
        for each in range(newest, -1, -1):
            with self._ledger.lookups() as lookups:
                digest = table.log.commit_hash(each)
                if lookups.has_commit(model, table.name, each, digest, table.objects.place("")):
                    break
            if not self._may_adopt(table, each):
                found = tuple(range(each, newest + 1))
        return found

    def _is_signed(self, run_id: RunId, table: Table, version: int) -> bool:
        with self._ledger.lookups() as lookups:
            key = lookups.commit_key(run_id)
        return is_commit_signed(key, table.prefix, version, table.log.commit_bytes(version))

    def unrecorded(self, files: Sequence[DataFile]) -> list[DataFile]:
        """Those of some files that no run has recorded: a table may be older than its ledger."""
        if not files:
            return []
        with self._ledger.lookups() as lookups:
            known = lookups.recorded_hashes(file.address for file in files)
        return [file for file in files if file.address not in known]

    def _is_known(self, run_id: RunId, model: str, version: int) -> bool:
        with self._ledger.reader() as reader:
            recorded = reader.artifacts(run_id, model)
            executions = reader.run(run_id)
        if any(each.commit_version == version for each in recorded):
            return True
        return executions is not None and any(
            commit.version == version
            for each in executions.models_executed
            if each.model_name.lower() == model.lower()
            for commit in each.commits
        )


def is_own_commit(lookups: CommitReader, table: Table, version: int) -> bool:
    """Whether a run of the ledger has recorded a commit, or has signed it and not recorded it yet.

    A run of any state: one that is alive may be about to record what it made.
    """
    run_id, model = _maker_of(table.log.read_commit(version))
    digest = hashes_read(table.log, version)[version]
    if lookups.has_commit(model, table.name, version, digest, table.objects.place("")):
        return True
    key, data = lookups.commit_key(run_id), table.log.commit_bytes(version)
    return is_commit_signed(key, table.prefix, version, data)


class _CommitUse:
    """Which commits a snapshot relies on, asked from the newest down.

    A table that was replaced as a whole needs nothing of what came before. That no file is missing
    is known by the hash of their names, where the newest metadata has it.
    """

    def __init__(self, table: Table, snapshot: Snapshot) -> None:
        self._table = table
        self._left = {file.path: file for file in snapshot.files}
        self._has_metadata = False
        self._has_all = FILES_HASH in snapshot.configuration

    def believe(self, version: int) -> None:
        """Take note of what a commit brought that is as it was recorded."""
        for action in self._table.log.read_commit(version):
            if action.get("add"):
                self._left.pop(parse_add(action["add"]).path, None)
            self._has_metadata |= bool(action.get("metaData"))

    def relies_on(self, version: int) -> bool:
        """Whether the snapshot would be another without a commit."""
        return not (self._has_metadata and self._has_all) or bool(self.adds_of(version))

    def adds_of(self, version: int) -> list[DataFile]:
        """The files that no later commit has brought."""
        actions = self._table.log.read_commit(version)
        added = (parse_add(each["add"]).path for each in actions if each.get("add"))
        return [self._left[path] for path in added if path in self._left]


def _foreign(table: Table, what: str, ways_on: str) -> str:
    return f"`{table.name}` is not read: it {what}. `rocky verify` says more; {ways_on}"


def _maker_of(actions: list[dict[str, Any]]) -> tuple[RunId, str]:
    """The run and the model that a commit says it was made for."""
    infos = (each["commitInfo"] for each in actions if each.get("commitInfo"))
    info: dict[str, Any] = next(infos, {})
    return RunId(str(info.get("runId"))), str(info.get("model"))


def _artifacts(
    table: Table,
    model: str,
    made_by: tuple[RunId, int],
    actions: list[dict[str, Any]],
    now: datetime,
) -> Iterator[ArtifactRecord]:
    run_id, version = made_by
    for action in actions:
        if action.get("add"):
            file = parse_add(action["add"])
            place = str(table.place_of(file))
            yield ArtifactRecord(file.address, run_id, model, place, version, file.size, now)


@dataclass(frozen=True, slots=True)
class WatermarkRecords:
    """Makes the watermark records of one run."""

    plan: RunPlan
    run_id: RunId

    def built(
        self, step: Step, built: Built, pinned: PinnedTable | None, now: datetime
    ) -> WatermarkState | None:
        """How far a build has brought its table."""
        if pinned is None:
            return None
        if built.watermark is None:
            if not built.commits or not self._keeps_mark(step):
                return None
            # What was loaded has no time: a mark from before would be of rows that are gone.
            return WatermarkState(pinned.table.name, NO_MARK, now, step.name, self.run_id)
        said = pinned.snapshot.configuration.get(WATERMARK)
        value = format_watermark(said, built.watermark)
        return WatermarkState(pinned.table.name, value, now, step.name, self.run_id)

    def left(self, step: Step, table: Table | None, now: datetime) -> WatermarkState | None:
        """How far a step had got that committed and then failed: the next run continues there."""
        snapshot = table.snapshot() if table is not None else None
        if table is None or snapshot is None or not self._keeps_mark(step):
            return None
        said = snapshot.configuration.get(WATERMARK)
        if not said:
            return None
        return WatermarkState(table.name, watermark_value(said), now, step.name, self.run_id)

    def _keeps_mark(self, step: Step) -> bool:
        strategy = self.plan.project.models[step.key].strategy if step.kind == "build" else None
        return isinstance(strategy, Incremental | Microbatch)
