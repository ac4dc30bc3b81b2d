"""The report of an erasure: what tables hold of a subject, or held, and what else does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rocky.ledger.record import RunId
from rocky.operations.digest import Digested

# Who only asks what would be done does not wait for pyspark.
if TYPE_CHECKING:
    from rocky.analysis.compilation import Compilation
    from rocky.ledger.erasure_records import ErasureRecord
    from rocky.ledger.readers.table import TableRecords
    from rocky.maintenance.erasure.carriers import Carriers
    from rocky.maintenance.erasure.contents import TableContents
    from rocky.maintenance.tables import RecordedTable
    from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True, kw_only=True)
class TableErasure:
    """What a table holds of the subject, or held.

    `rows` are in its newest version, `files` on disk belong to any of its `versions`; a file of
    `unasked` has no such column and counts as one that holds rows. `commits` of its log lose
    statistics, `checkpoints` and `staged` files go. `reason` says why a table is in the way.
    """

    table: str
    model: str
    status: Literal["pending", "erased", "clean", "refused"]
    columns: tuple[str, ...]
    rows: int = 0
    files: int = 0
    unasked: int = 0
    bytes: int = 0
    versions: tuple[int, ...] = ()
    commits: int = 0
    checkpoints: int = 0
    staged: int = 0
    from_version: int
    to_version: int | None = None
    rows_hash_before: str | None = None
    rows_hash_after: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class BranchErasure:
    """A table of a branch that holds rows of the subject: the branch has to go first."""

    branch: str
    table: str
    files: int


@dataclass(frozen=True, slots=True)
class Remainder:
    """What Rocky does not change, and what to do there."""

    name: str
    advice: str


@dataclass(frozen=True, slots=True, repr=False)
class EraseReport(Digested):
    """What was erased, or would be.

    `left` are tables that were made from such rows and do not carry the key, `sources` what is not
    Rocky's, `plans` kept plans that no longer fit. `branches` hold such rows, `branches_deleted`
    did. `hmac` stands in the certificate of `run_id`,
    and `receipt` is its key, which is kept nowhere else.
    """

    applied: bool
    column: str
    tables: tuple[TableErasure, ...]
    branches: tuple[BranchErasure, ...] = ()
    branches_deleted: tuple[str, ...] = ()
    left: tuple[Remainder, ...] = ()
    sources: tuple[Remainder, ...] = ()
    plans: int = 0
    run_id: RunId | None = None
    hmac: str | None = None
    receipt: str | None = None


def abandoned_tables(
    compilation: "Compilation",
    carriers: "Carriers",
    records: "Mapping[str, TableRecords]",
    warehouse: "Warehouse",
) -> tuple[Remainder, ...]:
    """Tables of models that are gone: lineage knows nothing of them, and they are there."""
    from rocky.maintenance.erasure.carriers import find_abandoned  # noqa: PLC0415
    from rocky.maintenance.tables import find_tables  # noqa: PLC0415

    inputs = {
        target: [each.name for each in known.execution.inputs] for target, known in records.items()
    }
    names = find_abandoned(compilation, carriers, inputs)
    advice = (
        "no model of the project writes it any more, so nobody knows which of its columns is"
        " the key, and it may hold such rows; bring its model back and erase again, or drop it"
    )
    there = find_tables({each: records[each] for each in names}, warehouse, ())
    return tuple(Remainder(each.table.name, advice) for each in there)


def table_held(
    found: "RecordedTable", columns: tuple[str, ...], contents: "TableContents"
) -> TableErasure:
    return TableErasure(
        table=found.table.name,
        model=found.model,
        status="clean" if contents.is_clean else "pending",
        columns=columns,
        rows=contents.live_rows,
        files=len(contents.held),
        unasked=sum(each.rows is None for each in contents.held),
        bytes=sum(each.info.size for each in contents.held),
        versions=contents.versions,
        commits=len(contents.commits),
        checkpoints=len(contents.checkpoints),
        staged=len(contents.staged),
        from_version=found.snapshot.version,
    )


def certified_report(
    certificate: "ErasureRecord",
    receipt: str | None,
    before: Mapping[str, TableErasure],
    planned: EraseReport | None = None,
) -> EraseReport:
    """The report of an erasure that was made, as its certificate has it."""
    done = {}
    for each in certificate.tables:
        known = before.get(each.target)
        done[each.target] = TableErasure(
            table=each.target,
            model="" if known is None else known.model,
            status="erased",
            columns=each.columns,
            rows=each.rows,
            files=len(each.files),
            unasked=sum(one.rows is None for one in each.files),
            bytes=sum(one.size_bytes for one in each.files),
            versions=() if known is None else known.versions,
            commits=len(each.commits),
            checkpoints=len(each.checkpoints),
            staged=each.staged,
            from_version=each.from_version,
            to_version=each.to_version,
            rows_hash_before=each.rows_hash_before,
            rows_hash_after=each.rows_hash_after,
        )
    others = [each for each in before.values() if each.table not in done]
    return EraseReport(
        applied=True,
        column=certificate.column,
        tables=(*done.values(), *others),
        left=tuple(Remainder(*each) for each in certificate.left.items()),
        sources=tuple(Remainder(*each) for each in certificate.sources.items()),
        branches_deleted=() if planned is None else planned.branches_deleted,
        plans=0 if planned is None else planned.plans,
        run_id=certificate.run_id,
        hmac=certificate.hmac,
        receipt=receipt,
    )
