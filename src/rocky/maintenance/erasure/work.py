"""The work of an erasure: every table is rewritten in one step, then every old file goes.

All that can fail for a reason of its own is done first: the rows that stay are written as files
that nothing refers to yet. Then a journal has every commit to the byte, the certificate, and which
files are to go; it holds no value of the subject. From there on the erasure is only ever finished,
by whoever comes next: commits, then the records and the certificate in one transaction, then the
logs and files. So what is missing was always certified first, and a log that still has a statistic,
or a file that is still there, is found by the journal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from rocky.errors import ErasureUnfinished, RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.ledger.branches import records_to_json
from rocky.ledger.erasure_records import (
    ERASED,
    ClearedVersion,
    ErasedFile,
    ErasedTable,
    ErasureRecord,
    RemovedCheckpoint,
)
from rocky.ledger.writer import ModelRecords
from rocky.maintenance.erasure.completion import complete_erasure
from rocky.maintenance.erasure.contents import (
    TableContents,
    key_fields,
    look_behind,
    look_into,
)
from rocky.maintenance.erasure.holders import (
    find_branch_holdings,
    find_clear_branches,
    refuse_readers,
    refuse_unreadable,
)
from rocky.maintenance.erasure.mask_history import MaskHistory
from rocky.maintenance.erasure.obstacles import (
    find_clearing_obstacle,
    find_erasure_obstacle,
    find_manifests,
)
from rocky.maintenance.erasure.order import ErasureOrder
from rocky.maintenance.rewrite_records import Rewrite, deletion_records
from rocky.maintenance.table_work import TableWork, find_obstacle, refuse_stopped
from rocky.maintenance.tables import find_tables, load_table_records
from rocky.project.configuration.strategies import WHOLE_STRATEGIES
from rocky.run.engine.protocol import Engine, Written
from rocky.run.engine.sql import column_list
from rocky.run.materialize.workspace import NO_ROWS, add_hashes, subtract_hash
from rocky.run.prepare.claims import BegunRun, open_recorded_run
from rocky.run.prepare.session import RunSession
from rocky.spark.interface import TARGET_FILE_BYTES
from rocky.store.data_file import SUFFIX
from rocky.store.delta.actions import parse_commit
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH, Replay
from rocky.store.journal import (
    ERASURE_FOLDER,
    Journal,
    JournalledTable,
    PreparedCommit,
    PreparedStamp,
    prepare_change,
    remove_journal,
    write_journal,
)


def erase_rows(
    opened: RunSession, wanted: Mapping[str, Sequence[str]], order: ErasureOrder, now: datetime
) -> ErasureRecord | None:
    """Take the rows of a subject out of tables, given by target with their key columns.

    The certificate; None where nobody's rows were found any more. Raises RockyError, with nothing
    changed, when one of the tables cannot be rewritten, LedgerLocked while runs are under way, and
    ErasureUnfinished when it has begun and did not come to its end.
    """
    resources = opened.resources
    refuse_unreadable(resources)
    found = find_tables(
        load_table_records(resources.ledger.path), resources.warehouse, sorted(wanted)
    )
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    verb = "clear versions of" if order.clears_versions else "erase"
    told = replace(record, selection=tuple(f"{verb} {each.table.name}" for each in found))
    tables = [each.table for each in found]
    with open_recorded_run(resources, told, tables, opened.caller.warn) as (begun, moved):
        refuse_readers(resources, begun.run_id)
        # Once more: only now nobody else writes them.
        records = load_table_records(resources.ledger.path)
        history = MaskHistory(order.masks, resources.ledger.path, resources.warehouse)
        prepared = []
        for each in find_tables(records, resources.warehouse, sorted(wanted)):
            refuse_stopped(opened.stop)
            columns = wanted[each.table.name.lower()]
            work = ErasureWork(opened, begun, each, order, history, tuple(columns), now)
            made = work.prepare()
            if made is not None:
                prepared.append(made)
        if not prepared:
            return None
        _refuse_branches(opened, prepared, order)
        journal = _journal(opened, begun, prepared, order, now)
        begun.check_unbroken()
        write_journal(resources.warehouse, journal, ERASURE_FOLDER)
        try:
            # From here on no run begins; one that began meanwhile may read what is to go.
            refuse_readers(resources, begun.run_id)
        except RockyError:
            remove_journal(resources.warehouse, begun.run_id, ERASURE_FOLDER)
            raise
        try:
            certificate = complete_erasure(opened, begun, journal, now)
        except RockyError as error:
            raise ErasureUnfinished(
                f"the erasure has begun and is not finished: {error}; `rocky erase --resume`"
                " goes on with it"
            ) from error
        moved(len(certificate.tables))
        return certificate


def _refuse_branches(
    opened: RunSession, prepared: Sequence["PreparedTable"], order: ErasureOrder
) -> None:
    """Raise RockyError where a branch holds such rows, also one that was made a moment ago."""
    columns = {each.told.target.lower(): each.told.columns for each in prepared}
    names = frozenset(one.name for each in prepared for one in each.contents.held)
    warehouse = opened.resources.warehouse
    found = find_branch_holdings(warehouse, columns, order.subject_of, names, order.masks)
    if order.clears_versions:
        found = (*found, *find_clear_branches(warehouse, order.masks))
    for each in found:
        raise RockyError(
            f"nothing was erased: branch `{each.branch}` holds such rows in `{each.table}`, and"
            f" would go on holding them; `rocky branch delete {each.branch}`"
        )


@dataclass(frozen=True, slots=True)
class PreparedTable:
    """A table that is ready to be erased from: nothing of it can be seen yet."""

    contents: TableContents
    told: ErasedTable
    commit: PreparedCommit | None = None
    records: ModelRecords | None = None


@dataclass(frozen=True, slots=True)
class ErasureWork(TableWork):
    """One table from which rows are taken."""

    order: ErasureOrder
    history: MaskHistory
    columns: tuple[str, ...]
    now: datetime

    def prepare(self) -> PreparedTable | None:
        """What is to be done with a table, its new files written; None where there is nothing."""
        table, snapshot, _ = self.found
        contents = self._look()
        if contents.is_clean:
            return None
        self.require_sound(contents.live)
        told = self._told(contents)
        if not contents.live:
            return PreparedTable(contents, told)
        started = self.opened.resources.clock()
        engine = self.opened.resources.open_engine()
        with self.explained(engine):
            left, erased = self._part(engine, contents)
        rows_hash = subtract_hash(snapshot.configuration[ROWS_HASH], erased)
        commit = self._commit(contents, left, rows_hash)
        replay = Replay(snapshot)
        replay.apply(parse_commit(commit.data), 0)
        after = replay.snapshot(commit.version)
        made = Committed(after, commit.added, commit.removed, commit_hash=commit.commit_hash)
        done = Rewrite(
            self.found,
            made,
            ERASED,
            f"{told.rows} {'row was' if told.rows == 1 else 'rows were'} erased, from all versions",
            self.begun.run_id,
            started,
            self.opened.resources.clock(),
        )
        adopted = self.adopter.adopt(table, commit.version, done.finished_at)
        records = deletion_records(done, told.rows)
        if records.execution.strategy in WHOLE_STRATEGIES:
            # What such a run affects are all rows of its table; the certificate counts the others.
            execution = replace(records.execution, rows_affected=None)
            records = replace(records, execution=execution)
        records = replace(
            records,
            execution=replace(records.execution, adopted=adopted.commits),
            artifacts=(*adopted.artifacts, *records.artifacts),
        )
        told = replace(told, to_version=commit.version, rows_hash_after=rows_hash)
        return PreparedTable(contents, told, commit, records)

    def _look(self) -> TableContents:
        """What has to go. Raises RockyError where it cannot."""
        table, snapshot, _ = self.found
        target = table.name.lower()
        subject = self.order.subject_of(target)
        if subject is not None:
            asked = self.history.asked_as_now(target, self.order.keys)
            reason = find_erasure_obstacle(self.found, self.columns, subject, asked)
            look = partial(look_into, table, snapshot, self.columns, subject, asked)
        elif self.order.completes is not None:
            reason = find_manifests(self.found) or find_obstacle(self.found)
            look = partial(look_behind, table, snapshot, {snapshot.version})
        else:
            kept = self.history.masked_as_now(target)
            reason = find_clearing_obstacle(self.found, kept)
            look = partial(look_behind, table, snapshot, kept)
        if reason is not None:
            raise RockyError(f"nothing was erased: `{table.name}` cannot be erased from: {reason}")
        return look()

    def _cleared(self) -> tuple[ClearedVersion, ...]:
        """The versions that go because they were masked otherwise."""
        if not self.order.clears_versions:
            return ()
        target = self.found.table.name.lower()
        kept = self.history.masked_as_now(target)
        return tuple(
            ClearedVersion(version, each.rows_hash, each.digest or None)
            for version, each in enumerate(self.history.versions(target))
            if version not in kept
        )

    def _told(self, contents: TableContents) -> ErasedTable:
        table, snapshot, _ = self.found
        before = snapshot.configuration[ROWS_HASH]
        return ErasedTable(
            table.name,
            table.objects.place(""),
            contents.live_rows,
            snapshot.version,
            self.columns,
            rows_hash_before=before,
            rows_hash_after=before,
            files=tuple(
                ErasedFile(
                    each.name.removesuffix(SUFFIX),
                    table.objects.place(each.info.path),
                    each.info.size,
                    each.rows,
                )
                for each in contents.held
            ),
            staged=len(contents.staged),
            commits=contents.commits,
            checkpoints=tuple(
                RemovedCheckpoint(int(name[:20]), digest)
                for name, digest in contents.checkpoints.items()
            ),
            cleared=self._cleared(),
        )

    def _commit(self, contents: TableContents, left: Written, rows_hash: str) -> PreparedCommit:
        change = self.change("DELETE", contents.live, left.files, rows_hash)
        # A partition of the key's values names the value, also where its file is removed.
        base = replace(
            self.snapshot,
            files=tuple(
                replace(file, partition_values=dict.fromkeys(file.partition_values))
                if file in contents.live
                else file
                for file in self.snapshot.files
            ),
        )
        change = replace(change, base=base)
        moment = PreparedStamp(int(self.now.timestamp() * 1000), self.begun.run_id)
        return prepare_change(self.found.table, change, moment)

    def _part(self, engine: Engine, contents: TableContents) -> tuple[Written, str]:
        """The rows that stay, as files, and the hash of those that go. Raises RockyError."""
        refuse_stopped(self.opened.stop)
        wanted = self.order.subject_of(self.found.table.name.lower())
        assert wanted is not None
        table, snapshot, _ = self.found
        fields = key_fields(snapshot, self.columns)
        subject = f"rocky_subject_{''.join(each for each in self.begun.run_id if each.isdigit())}"
        # As rows, and not in the text: Spark writes texts and plans into its logs.
        value = StructField("value", fields[0].type, nullable=False)
        engine.views.bind_rows(subject, [value], wanted.rows(fields[0]))
        held = " OR ".join(f"subject.value = kept.{quote_name(each.name)}" for each in fields)
        names = column_list(field.name for field in snapshot.schema)
        paths = {file.path for file in contents.live}
        kept = frozenset(file.path for file in snapshot.files if file.path not in paths)
        size = sum(file.size for file in contents.live)
        layout = replace(self.layout, pieces=max(1, size // TARGET_FILE_BYTES))
        try:
            with self.bound(engine, contents.live) as view:
                rows = f"SELECT {names} FROM {view} AS kept"  # noqa: S608 - names are quoted
                is_held = f"EXISTS (SELECT 1 FROM {subject} AS subject WHERE {held})"  # noqa: S608
                read = engine.rows_hash(engine.frame(rows))
                erased = engine.rows_hash(engine.frame(f"{rows} WHERE {is_held}"))
                stays = engine.frame(f"{rows} WHERE NOT {is_held}")
                left = Written((), 0, NO_ROWS)
                if contents.live_rows < sum(file.rows for file in contents.live):
                    left = engine.write(stays, table, layout, snapshot.schema, kept)
        finally:
            engine.views.unbind([subject])
        expected = sum(file.rows for file in contents.live) - contents.live_rows
        if add_hashes((erased, left.rows_hash)) != read or left.rows != expected:
            raise RockyError(
                f"nothing was erased: what would go from `{table.name}` and what would stay do not"
                " make up what is there"
            )
        return left, erased


def _journal(
    opened: RunSession,
    begun: BegunRun,
    prepared: Sequence[PreparedTable],
    order: ErasureOrder,
    now: datetime,
) -> Journal:
    certificate = ErasureRecord(
        begun.run_id,
        now,
        order.reason,
        order.by,
        *order.named,
        tuple(each.told for each in prepared),
        order.left,
        order.sources,
        completes=None if order.completes is None else order.completes.run_id,
    )
    journal = Journal(
        begun.run_id,
        opened.resources.ledger.ledger_id,
        certificate.to_json(),
        tuple(
            JournalledTable(
                each.contents.table.name,
                each.contents.table.prefix,
                each.commit.version,
                each.commit.data.decode(),
                each.contents.snapshot.version,
            )
            for each in prepared
            if each.commit is not None
        ),
        {
            "receipt": order.receipt,
            "prefixes": {each.told.target: each.contents.table.prefix for each in prepared},
            "names": {each.told.target: sorted(each.contents.names) for each in prepared},
            "checkpoints": {
                each.told.target: sorted(each.contents.checkpoints) for each in prepared
            },
            "records": {
                each.told.target: records_to_json(each.records)
                for each in prepared
                if each.records is not None
            },
        },
    )
    assert begun.authority.sign is not None
    return replace(journal, signature=begun.authority.sign(journal.statement))
