"""Names: what a table name written in a model's SQL means in the project.

A model answers to its name and to its target's full name; a source and a seed to their declared
names. A model hides a source of the same name from everyone but itself.
"""

from collections.abc import Iterable

from blake3 import blake3

from rocky.catalog.tables import Table
from rocky.datatypes.text import encode_type
from rocky.project import Project


class Names:
    """The index of everything a query of the project may read."""

    __slots__ = ("_external", "_hashes", "_models", "shown")

    def __init__(self, project: Project) -> None:
        self._models: dict[tuple[str, ...], str] = {}
        self._external: dict[tuple[str, ...], Table] = {}
        self._hashes: dict[str, bytes] = {}
        for key, source in project.sources.items():
            parts = tuple(part.strip("`") for part in key.split("."))
            self._add_external(
                Table(source.name, source.columns, parts, bool(source.columns)), parts
            )
        for key, seed in project.seeds.items():
            parts = tuple(part.strip("`") for part in key.split("."))
            self._add_external(Table(seed.name, seed.columns, parts, bool(seed.columns)), parts)
            schema = seed.target.schema
            if schema:
                self._external.setdefault((schema.lower(), parts[-1]), self._external[parts])
        for key, model in project.models.items():
            target = model.target
            full = (target.catalog.lower(), target.schema.lower(), target.table.lower())
            self._models.setdefault(full, key)
            self._models.setdefault(full[1:], key)
        for key in project.models:
            self._models[(key,)] = key
        for key in project.blocked:
            self._models.setdefault((key,), key)
        self.shown = [
            *(model.name for model in project.models.values()),
            *(source.name for source in project.sources.values()),
            *(seed.name for seed in project.seeds.values()),
        ]

    def _add_external(self, table: Table, parts: tuple[str, ...]) -> None:
        self._external[parts] = table
        if len(parts) == 2:
            self._external.setdefault(("spark_catalog", *parts), table)

    def model(self, parts: tuple[str, ...], reader: str) -> str | None:
        """The key of the model the parts name, unless a source means it to this reader."""
        found = self._models.get(parts)
        if found is not None and found == reader and parts in self._external:
            return None
        return found

    def external(self, parts: tuple[str, ...]) -> Table | None:
        return self._external.get(parts)

    def external_hash(self, table: Table) -> bytes:
        """The hash of a source's or seed's declared schema."""
        found = self._hashes.get(table.name)
        if found is None:
            columns = [(f.name, encode_type(f.type), f.nullable) for f in table.fields]
            found = blake3(repr(("external", columns, table.known)).encode()).digest(16)
            self._hashes[table.name] = found
        return found

    def tables(self) -> Iterable[Table]:
        """Every source and seed."""
        return {id(table): table for table in self._external.values()}.values()
