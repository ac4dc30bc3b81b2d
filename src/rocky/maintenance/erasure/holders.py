"""Holders besides production: branches that have rows of a subject, and runs that may read them.

A branch has tables of its own, made from production's files: in a folder they are links to the same
bytes, in an object store names of them. Nothing that is removed from production is gone while a
branch has it. A run may be on another machine, where the state is kept elsewhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocky.analysis.column_masks import digest_of
from rocky.errors import LedgerLocked, RunRefused
from rocky.ledger.claims import living_runs
from rocky.ledger.record import RunId
from rocky.maintenance.erasure.contents import FileQuestion, can_ask, find_held, key_fields
from rocky.maintenance.erasure.mask_history import NO_MASKS_NOW, MasksNow, read_versions
from rocky.maintenance.erasure.subject import Subject
from rocky.run.prepare.claims import is_remote_unreadable
from rocky.run.prepare.resources import RunResources
from rocky.store.file_usage import list_files, load_shared
from rocky.store.warehouse import BRANCH_PREFIX, Table, Warehouse, open_warehouse


@dataclass(frozen=True, slots=True)
class BranchHolding:
    """A table of a branch with rows of the subject, in some of its files."""

    branch: str
    table: str
    files: int


def find_branch_holdings(
    warehouse: Warehouse,
    columns: Mapping[str, Sequence[str]],
    subject_of: Callable[[str], Subject | None],
    held: frozenset[str],
    now: MasksNow = NO_MASKS_NOW,
) -> tuple[BranchHolding, ...]:
    """The tables of branches that hold rows of a subject. Raises StoreUnreadable.

    `columns` are key columns by target in lower case; a table that production has not got is asked
    by the column's own name. `held` are names of production's files that hold such rows. A table
    with a version that was masked otherwise than production's are `now` cannot be asked, and
    counts as one that holds them.
    """
    found = []
    for name, branch in _branches(warehouse):
        for table in branch.tables():
            target = table.name.lower()
            subject = subject_of(target)
            own = () if subject is None else (subject.column,)
            files = _count_files(table, columns.get(target, own), subject, held)
            if not files and target in columns and _is_masked_otherwise(table, now):
                files = len(list_files(table).data)
            if files:
                found.append(BranchHolding(name, table.name, files))
        if warehouse.objects.location.folder is None:
            shared = sum(uri.rpartition("/")[2] in held for uri in load_shared(branch))
            if shared:
                found.append(BranchHolding(name, "files of production", shared))
    return tuple(found)


def find_clear_branches(warehouse: Warehouse, now: MasksNow) -> tuple[BranchHolding, ...]:
    """The tables of branches with a version that was masked otherwise than production's are now.

    Raises StoreUnreadable.
    """
    return tuple(
        BranchHolding(name, table.name, len(list_files(table).data))
        for name, branch in _branches(warehouse)
        for table in branch.tables()
        if table.name.lower() in now.masked and _is_masked_otherwise(table, now)
    )


def _is_masked_otherwise(table: Table, now: MasksNow) -> bool:
    """Whether some version of a table says other masks than it would have in production now.

    Its own, or those of the tables that it was made from, whose records are those of the branch.
    """
    target = table.name.lower()
    digest, above = digest_of(now.of(target)), now.above.get(target, {})
    return any(
        each.digest != digest or any(each.above.get(name) != said for name, said in above.items())
        for each in read_versions(table)
    )


def _branches(warehouse: Warehouse) -> Iterator[tuple[str, Warehouse]]:
    for folder in warehouse.objects.folders(""):
        if folder.lower().startswith(BRANCH_PREFIX):
            options = warehouse.objects.location.settings
            branch = open_warehouse(warehouse.objects.place(folder), base=Path(), options=options)
            yield folder[len(BRANCH_PREFIX) :], branch


def _count_files(
    table: Table, columns: Sequence[str], subject: Subject | None, held: frozenset[str]
) -> int:
    data, snapshot = list_files(table).data, table.snapshot()
    # Equal names are equal bytes.
    found = {each.path for each in data if each.path.rpartition("/")[2] in held}
    fields = [] if snapshot is None else key_fields(snapshot, columns)
    if snapshot is not None and subject is not None and can_ask(fields, subject):
        live = {file.name for file in snapshot.files}
        asked = FileQuestion(fields, subject)
        found |= {each.info.path for each in find_held(table.objects, data, live, asked)}
    return len(found)


def refuse_unreadable(resources: RunResources) -> None:
    """Raise RunRefused where the state is kept elsewhere and could not be read there."""
    if is_remote_unreadable(resources):
        raise RunRefused(
            "nothing was erased: the remote state could not be read, so runs on other machines"
            " cannot be known, and the certificate could not be kept"
        )


def refuse_readers(resources: RunResources, run_id: RunId) -> None:
    """Raise LedgerLocked while another run is under way: it may read what is about to go.

    Raises StateSyncFailed when a remote state cannot be asked.
    """
    remote = resources.remote
    living = [
        *living_runs(resources.ledger.path),
        *(() if remote is None else remote.living_runs()),
    ]
    for claim in living:
        if claim.run_id != run_id:
            raise LedgerLocked(
                f"run `{claim.run_id}` is under way and may read what is to be erased; wait for it,"
                " or stop it"
            )
