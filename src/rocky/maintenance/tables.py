"""Tables that are looked after: those that runs have recorded, by the names people give them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.ledger.readers.table import TableRecords, open_table_record_reader
from rocky.project.models import Target
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse


class RecordedTable(NamedTuple):
    """A table as it is, and what the ledger knows of it."""

    table: Table
    snapshot: Snapshot
    known: TableRecords

    @property
    def model(self) -> str:
        return self.known.execution.model_name


def load_table_records(state: Path) -> Mapping[str, TableRecords]:
    """What a ledger knows of its tables, by target in lower case; nothing where there is none."""
    reader = open_table_record_reader(state)
    if reader is None:
        return {}
    with reader:
        return reader.tables()


def find_tables(
    records: Mapping[str, TableRecords], warehouse: Warehouse, wanted: Sequence[str]
) -> tuple[RecordedTable, ...]:
    """The recorded tables that are in a warehouse, by name: all, or those that are `wanted`.

    A table goes by its model's name or its own full one. Raises NothingSelected for a name that no
    table there has.
    """
    targets = sorted(records) if not wanted else [_target_of(records, name) for name in wanted]
    found = []
    for target in dict.fromkeys(targets):
        known = records[target]
        table = warehouse.table(Target(*str(known.execution.target).split(".")))
        snapshot = table.snapshot()
        if snapshot is None and wanted:
            raise NothingSelected(f"`{table.name}` is not in `{warehouse.uri}`")
        if snapshot is not None:
            found.append(RecordedTable(table, snapshot, known))
    return tuple(found)


def _target_of(records: Mapping[str, TableRecords], name: str) -> str:
    key = name.replace("`", "").lower()
    if key in records:
        return key
    named = [target for target, each in records.items() if each.execution.model_name.lower() == key]
    if len(named) == 1:
        return named[0]
    if named:
        listed = ", ".join(f"`{each}`" for each in named)
        raise NothingSelected(f"`{name}` has been the model of several tables: name one, {listed}")
    names = [each.execution.model_name for each in records.values()]
    hint = suggestion(name, [*names, *records]) or "`rocky history` lists what has been built"
    raise NothingSelected(f"no table `{name}` is recorded; {hint}")
