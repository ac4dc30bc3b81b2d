"""Journals: what several tables are about to become together, written down before the first moves.

A journal lies beside the tables, so whoever comes after a crash finds it where the tables are. It
is made once and removed when all is recorded; while it is there, somebody has work to finish.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.store.warehouse import RESERVED, Warehouse

FOLDER: Final = f"{RESERVED}/promotions"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class JournalledTable:
    """A table and the exact commit that moves it. `prefix` is where it lies in the warehouse."""

    target: str
    prefix: str
    version: int
    commit: str
    from_version: int | None = None


@dataclass(frozen=True, slots=True)
class Journal:
    """What is under way. `record` is the record of it, to be written when all tables have moved.

    `details` is what the recorder of each table needs, by target.
    """

    run_id: str
    ledger_id: str
    record: dict[str, Any]
    tables: tuple[JournalledTable, ...]
    details: dict[str, Any] = field(default_factory=dict)


def write_journal(warehouse: Warehouse, journal: Journal) -> None:
    """Write a journal down. Raises StoreUnwritable, also when one of that name is there."""
    document = {
        "version": _VERSION,
        "run_id": journal.run_id,
        "ledger_id": journal.ledger_id,
        "record": journal.record,
        "tables": [
            {
                "target": each.target,
                "prefix": each.prefix,
                "version": each.version,
                "from_version": each.from_version,
                "commit": each.commit,
            }
            for each in journal.tables
        ],
        "details": journal.details,
    }
    path = _path(journal.run_id)
    if not warehouse.objects.create(path, json.dumps(document, sort_keys=True).encode()):
        raise StoreUnwritable(f"`{warehouse.objects.place(path)}` is there already")


def load_journals(warehouse: Warehouse) -> tuple[Journal, ...]:
    """Every journal there is, oldest first. Raises StoreUnreadable for one that cannot be read."""
    found = sorted(info.path for info in warehouse.objects.list(FOLDER))
    return tuple(_load(warehouse, path) for path in found if path.endswith(".json"))


def has_journal(warehouse: Warehouse) -> bool:
    """Whether something is under way, or was when its process died."""
    return bool(journalled_runs(warehouse))


def journalled_runs(warehouse: Warehouse) -> tuple[str, ...]:
    """The runs whose journals there are, oldest first; without reading them."""
    names = (info.path.rpartition("/")[2] for info in warehouse.objects.list(FOLDER))
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def remove_journal(warehouse: Warehouse, run_id: str) -> None:
    """Say that nothing is left to do."""
    warehouse.objects.delete([_path(run_id)])


def _path(run_id: str) -> str:
    return f"{FOLDER}/{run_id}.json"


def _load(warehouse: Warehouse, path: str) -> Journal:
    place = warehouse.objects.place(path)
    data = warehouse.objects.read(path)
    if data is None:
        raise StoreUnreadable(f"`{place}` was removed while it was looked for; try again")
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise StoreUnreadable(
                f"`{place}` was written by another Rocky: finish it with the one that began it"
            )
        return Journal(
            document["run_id"],
            document["ledger_id"],
            document["record"],
            tuple(JournalledTable(**each) for each in document["tables"]),
            document["details"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreUnreadable(f"could not read `{place}`: it is damaged ({error})") from error
