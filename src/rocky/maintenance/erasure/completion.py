"""The end of an erasure: what a journal says is done, whoever does it, as often as it takes.

Each part is done once or not at all, and doing it again changes nothing: a commit that is there is
known by its bytes, a certificate by its run, a commit without statistics by its hash, and a file
that is gone is gone. The journal goes last.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from blake3 import blake3

from rocky.errors import ErasureUnfinished, RockyError, StoreUnreadable
from rocky.ledger.branches import adopt_records, records_from_json
from rocky.ledger.erasure_records import ErasedTable, ErasureRecord, load_erasures
from rocky.ledger.erasures import record_erasure
from rocky.ledger.record import RunId
from rocky.ledger.writer import ModelRecords
from rocky.maintenance.erasure.contents import HINT
from rocky.maintenance.erasure.holders import refuse_unreadable
from rocky.project.models import Target
from rocky.run.prepare.claims import (
    BegunRun,
    open_recorded_run,
    visible_head,
    write_ledger_anchor,
)
from rocky.run.prepare.resources import RunResources
from rocky.run.prepare.session import RunSession
from rocky.store.delta.change import Committed
from rocky.store.delta.log import LOG_FOLDER
from rocky.store.delta.redaction import redact_commit
from rocky.store.delta.signature import is_signed
from rocky.store.file_usage import RemovalFence, list_files, remove_files
from rocky.store.iceberg import has_iceberg, renew_iceberg
from rocky.store.journal import (
    ERASURE_FOLDER,
    Journal,
    TableChanged,
    commit_exactly,
    load_journals,
    remove_journal,
    restore_commit,
)
from rocky.store.warehouse import Table

CHANGED_BY_OTHERS = (
    "it was changed by somebody else meanwhile, so that its rows and files stay: erase again"
)


@dataclass(frozen=True, slots=True)
class ResumedErasure:
    """An erasure that was finished for another run, and the key of its certificate's HMAC."""

    certificate: ErasureRecord
    receipt: str


def resume_erasures(opened: RunSession, now: datetime) -> tuple[ResumedErasure, ...]:
    """Finish whatever erasures were interrupted. Raises RockyError for a journal nobody signed."""
    resources = opened.resources
    refuse_unreadable(resources)
    found = []
    for journal in load_journals(resources.warehouse, ERASURE_FOLDER):
        _refuse_unsigned(opened, journal)
        tables = [_table(opened, each) for each in journal.details["prefixes"].values()]
        record = resources.circumstances.open_record(
            now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
        )
        told = replace(record, selection=(f"erase --resume {journal.run_id}",))
        warn = opened.caller.warn
        with open_recorded_run(resources, told, tables, warn, finishing=True) as (begun, moved):
            certificate = complete_erasure(opened, begun, journal, now)
            moved(len(certificate.tables))
        found.append(ResumedErasure(certificate, str(journal.details["receipt"])))
    return tuple(found)


def _refuse_unsigned(opened: RunSession, journal: Journal) -> None:
    with opened.resources.ledger.lookups() as lookups:
        key = lookups.commit_key(RunId(journal.run_id))
    if key is None or not is_signed(key, journal.statement, journal.signature):
        path = opened.resources.warehouse.objects.place(f"{ERASURE_FOLDER}/{journal.run_id}.json")
        raise ErasureUnfinished(
            f"no erasure of this ledger has signed `{path}`: it was put there by hand, and nothing"
            " is removed because of it; remove it"
        )


def complete_erasure(
    opened: RunSession, begun: BegunRun, journal: Journal, now: datetime
) -> ErasureRecord:
    """Do what is left of a journal; the certificate. Raises RockyError, and can be done again."""
    resources = opened.resources
    certificate = _recorded(opened, journal)
    made: dict[str, Committed] = {}
    lost: set[str] = set()
    for each in journal.tables:
        table = _table(opened, each.prefix)
        begun.check_unbroken()
        restored = restore_commit(table, each, journal.run_id)
        done = None if restored is None else commit_exactly(table, restored)
        if done is None or isinstance(done, TableChanged):
            lost.add(each.target)
        else:
            made[each.target] = done
    if certificate is None:
        certificate = _certify(begun, journal, lost, now)
        record_erasure(resources.ledger, _records(begun, journal, made, lost), certificate)
    # Before anything goes: an older copy of the ledger must not hide why.
    _publish(resources, begun.run_id)
    head = visible_head(resources)
    write_ledger_anchor(
        resources.warehouse, resources.ledger, head, begun.run_id, now, resources.remote
    )
    for told in certificate.tables:
        table = _table(opened, journal.details["prefixes"][told.target])
        _redact_log(table, told, frozenset(journal.details["names"][told.target]))
        _remove_checkpoints(table, journal.details["checkpoints"][told.target])
        _remove(table, told, begun)
        _renew_manifests(table)
    _announce(opened, made)
    remove_journal(resources.warehouse, journal.run_id, ERASURE_FOLDER)
    return certificate


def _publish(resources: RunResources, run_id: RunId) -> None:
    """Send the certificate to where the ledger is kept. Raises RockyError when it cannot be."""
    remote = resources.remote
    if remote is not None and remote.is_remote and remote.publish(run_id) is None:
        raise RockyError(
            "the certificate could not be sent to the remote state, and nothing is removed before"
            " others can find it"
        )


def _recorded(opened: RunSession, journal: Journal) -> ErasureRecord | None:
    """The certificate of a journal that was recorded by whoever was at it before."""
    for each in load_erasures(opened.resources.ledger.path):
        if journal.run_id in (each.run_id, each.recovers):
            return each
    return None


def _certify(begun: BegunRun, journal: Journal, lost: set[str], now: datetime) -> ErasureRecord:
    said = ErasureRecord.from_json(journal.record)
    died = begun.run_id != journal.run_id
    return replace(
        said,
        run_id=begun.run_id,
        recovers=RunId(journal.run_id) if died else None,
        erased_at=now,
        tables=tuple(each for each in said.tables if each.target not in lost),
        left={**said.left, **dict.fromkeys(sorted(lost), CHANGED_BY_OTHERS)},
    )


def _records(
    begun: BegunRun, journal: Journal, made: Mapping[str, Committed], lost: set[str]
) -> list[ModelRecords]:
    found = []
    documents: Mapping[str, Mapping[str, Any]] = journal.details["records"]
    for target, document in documents.items():
        if target in lost:
            continue
        records = _with_checkpoint(records_from_json(document), made[target])
        if begun.run_id != journal.run_id:
            records = adopt_records(records, begun.run_id, RunId(journal.run_id))
        found.append(records)
    return found


def _with_checkpoint(records: ModelRecords, committed: Committed) -> ModelRecords:
    """The records of a table whose commit brought a checkpoint with it."""
    digest, execution = committed.checkpoint_hash, records.execution
    if digest is None:
        return records
    commits = tuple(replace(each, checkpoint_blake3=digest) for each in execution.commits)
    return replace(records, execution=replace(execution, commits=commits))


def _redact_log(table: Table, told: ErasedTable, names: frozenset[str]) -> None:
    """Take statistics out of commits, each of which must be what the certificate says it was."""
    for commit in told.commits:
        path = table.log.commit_path(commit.version)
        data = table.log.commit_bytes(commit.version)
        if blake3(data).hexdigest() == commit.after:
            continue
        redacted = redact_commit(data, lambda name: name in names)
        if (blake3(data).hexdigest(), blake3(redacted).hexdigest()) != (
            commit.before,
            commit.after,
        ):
            raise StoreUnreadable(
                f"`{table.objects.place(path)}` is not the commit that was to lose its statistics:"
                " somebody has changed it; `rocky verify` says more"
            )
        table.objects.put(path, redacted)
        table.log.hashes.pop(commit.version, None)


def _remove_checkpoints(table: Table, names: list[str]) -> None:
    folder = f"{table.prefix}/{LOG_FOLDER}"
    hint = table.objects.read(f"{folder}/{HINT}")
    gone = [f"{folder}/{each}" for each in names]
    if hint is not None and names:
        newest = max(int(each[:20]) for each in names)
        try:
            is_old = int(json.loads(hint)["version"]) <= newest
        except (ValueError, KeyError, TypeError):
            is_old = True
        # First: a hint at a checkpoint that is gone would mislead whoever reads meanwhile.
        gone = [f"{folder}/{HINT}", *gone] if is_old else gone
    table.objects.delete(gone)


def _remove(table: Table, told: ErasedTable, begun: BegunRun) -> None:
    """Remove the files that are certified to be gone, and whatever dead writers left.

    The table is claimed. One that has moved on since, by another tool or because somebody put a
    journal back that was done with, keeps what its newest version has.
    """
    snapshot = table.snapshot()
    live = frozenset[str]() if snapshot is None else {file.name for file in snapshot.files}
    names = {f"{each.blake3_hash}.parquet" for each in told.files} - live
    data, staged = list_files(table)
    wanted = [each for each in data if each.path.rpartition("/")[2] in names]
    latest = None if snapshot is None else snapshot.version
    removal = remove_files(
        table, [*wanted, *staged], RemovalFence(table, latest, begun.authority.check)
    )
    if removal.failure is not None:
        raise removal.failure
    left = len(wanted) + len(staged) - len(removal.gone)
    if left:
        raise RockyError(f"{left} files of `{table.name}` could not be removed: they have changed")


def _renew_manifests(table: Table) -> None:
    """Let Iceberg know of the newest version alone: its manifests repeat bounds of values."""
    snapshot = table.snapshot()
    if snapshot is not None and has_iceberg(table):
        renew_iceberg(table, snapshot)


def _announce(opened: RunSession, made: Mapping[str, Committed]) -> None:
    """Tell whoever is told of tables."""
    announce = opened.resources.announce
    if announce and made:
        engine = opened.resources.open_engine()
        for target, committed in made.items():
            table = opened.resources.warehouse.table(Target(*target.split(".")))
            for each in announce:
                each.tell(engine, table, committed.snapshot)


def _table(opened: RunSession, prefix: str) -> Table:
    return opened.resources.warehouse.table(Target(*prefix.split("/")))
