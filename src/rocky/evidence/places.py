"""Places: where what was recorded lies now.

A record names its place as it was then. A project may have been moved and run again since, so two
recorded roots may be one warehouse: everything is looked up by where that is now.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rocky.errors import StoreUnreadable
from rocky.store.files import is_elsewhere
from rocky.store.warehouse import Warehouse

OpenWarehouse = Callable[[str], Warehouse]
"""The warehouse that was recorded at a place, wherever it lies now."""

_BELOW_ROOT: Final = 4
"""A file lies at `<root>/<catalog>/<schema>/<table>/<name>`."""
_DOTS: Final = 2


class TablePlace(NamedTuple):
    """A table by the root of its warehouse and its folder below that."""

    root: str
    prefix: str

    @property
    def name(self) -> str:
        return self.prefix.replace("/", ".")

    def place(self, path: str) -> str:
        return f"{self.root}/{self.prefix}/{path}"


@dataclass(frozen=True, slots=True)
class Places:
    """Finds warehouses by their recorded roots, and tables by their names."""

    open_warehouse: OpenWarehouse
    _warehouses: dict[str, Warehouse] = field(default_factory=dict)
    _tables: dict[tuple[str, str], TablePlace] = field(default_factory=dict)

    def warehouse(self, root: str) -> Warehouse:
        """Raises StoreUnreadable for what is no root."""
        found = self._warehouses.get(root)
        if found is None:
            found = self._warehouses[root] = self.open_warehouse(root)
            self._warehouses.setdefault(found.objects.place(""), found)
        return found

    def root(self, recorded: str) -> str:
        """Where a recorded root is now."""
        try:
            return self.warehouse(recorded).objects.place("")
        except StoreUnreadable:
            # Whoever looks there will say so; a record that nobody asks about is no reason to stop.
            return recorded

    def file(self, recorded: str) -> str:
        """Where a recorded data file is now."""
        place, name = split_place(recorded)
        now = place._replace(root=self.root(place.root))
        self._tables.setdefault((now.root, now.name), now)
        return now.place(name)

    def data_file(self, table: TablePlace, path: str) -> str:
        """Where a file is now that the log of a table calls `path`."""
        if not is_elsewhere(path):
            return table.place(path)
        # Spark's name of the scheme; records have the one that everybody knows.
        return self.file(f"s3://{path.partition('://')[2]}")

    def table(self, root: str, target: str) -> TablePlace:
        """A table by its full name, which does not say where a part with a dot in it ends."""
        found = self._tables.get((root, target))
        if found is None and target.count(".") > _DOTS:
            folders = {each.name: each.prefix for each in self.warehouse(root).tables()}
            found = TablePlace(root, folders[target]) if target in folders else None
        if found is None:
            found = TablePlace(root, target.replace(".", "/", _DOTS))
        return self._tables.setdefault((root, target), found)


def split_place(place: str) -> tuple[TablePlace, str]:
    """The table that a file belongs to, and the file's path below it."""
    parts = place.split("/")
    root, table = "/".join(parts[:-_BELOW_ROOT]), "/".join(parts[-_BELOW_ROOT:-1])
    return TablePlace(root, table), parts[-1]
