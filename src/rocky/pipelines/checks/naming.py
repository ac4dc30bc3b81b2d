"""Names in checks: which tables of a pipeline an assertion means.

A name of one or two parts means every table that ends so, in all schemas: `orders` is the table of
each tenant. What it means beside a certain table (`to_table`) is the one in the same schema.
"""

from collections.abc import Collection, Sequence
from typing import Final

from rocky.errors import RockyError
from rocky.pipelines.checks.asking import Asker
from rocky.pipelines.checks.tables import CheckedTable
from rocky.project.models import Target
from rocky.run.checks.columns import parts_of
from rocky.store.warehouse import Warehouse

_FULL: Final = 3


def is_named(name: str, full_name: str) -> bool:
    """Whether a written name means the table of this full name."""
    parts = parts_of(name)
    return tuple(full_name.lower().split("."))[-len(parts) :] == parts


def names_nothing(name: str, full_names: Collection[str]) -> bool:
    """Whether a written name means none of these tables."""
    return not any(is_named(name, each) for each in full_names)


class Neighbours:
    """The tables that an assertion of one table can be about: others of the pipeline, or any."""

    def __init__(
        self, tables: Sequence[CheckedTable], warehouse: Warehouse | None, asker: Asker
    ) -> None:
        self._tables = {each.key: each for each in tables}
        self._warehouse = warehouse
        self._asker = asker

    def view_of(self, name: str, beside: Target) -> str:
        """A view over the table that a name means beside another. Raises RockyError for none."""
        target = _completed(name, beside)
        checked = self._tables.get(target.key)
        if checked is not None:
            return self._asker.target_view(checked)
        if self._warehouse is not None:
            table = self._warehouse.table(target)
            snapshot = table.snapshot()
            if snapshot is not None:
                return self._asker.table_view(target.key, table, snapshot)
        raise RockyError(f"there is no table `{target.full_name}`")


def _completed(name: str, beside: Target) -> Target:
    """A written name with the parts it leaves out taken from another table."""
    parts = tuple(part.strip("`") for part in name.split("."))
    if len(parts) > _FULL:
        raise RockyError(f"`{name}` is no name of a table")
    return Target(*(*beside[: _FULL - len(parts)], *parts))
