"""Names: what a table name written in a model's SQL means in the project.

A model answers to its name and to its target's full name; a source and a seed to their declared
names; a table that a pipeline writes to its full name and to `schema.table`; a table of another
project to its full name and to `import.model`. The name of a masked table means the clear one that
it is a twin of. A model hides a source of the same name from
everyone but itself. `CompiledTables` are the tables of a compiled project as one
model sees them, for binding it once more.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from blake3 import blake3

from rocky.analysis.compilation import CompiledModels, Record, fields_of
from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import UNDECLARED, DeclaredFunction
from rocky.language.names import split_name
from rocky.language.tables import Table
from rocky.project import Project, SeedTable
from rocky.project.imports import ImportedTable
from rocky.project.pipeline_tables import PipelineTable, find_open_target
from rocky.project.sources import SourceTable

NO_FACE: Final = b""
"""The face of a table that does not exist."""
_UNDECLARED: Final = b"undeclared"
"""The face of a table that nobody declares where that is no error: all are alike to a reader."""
_COMING: Final = b"coming"
"""The face of a table that a pipeline may come to write."""
EVERY_NAME: Final[tuple[str, ...]] = ()
"""The look-up of a query that asked which names there are."""
EVERY_FUNCTION: Final[tuple[str, ...]] = ("",)
"""The look-up of a query that asked which functions are declared."""


def function_lookup(parts: tuple[str, ...]) -> tuple[str, ...]:
    """How the look-up of a function is noted: no table has an empty part."""
    return ("", *parts)


def is_function(lookup: tuple[str, ...]) -> bool:
    """Whether a function was looked up, and not a table."""
    return len(lookup) > 1 and not lookup[0]


def undeclared_functions(models: CompiledModels) -> list[tuple[str, ...]]:
    """The functions that models call and nobody declares, by the lower-case parts of their names.

    Names that are misspelt are among them.
    """
    return sorted({each for key in models for each in _undeclared_in(models.record(key))})


def has_undeclared_functions(record: Record) -> bool:
    """Whether a model calls functions that nobody declares."""
    return next(_undeclared_in(record), None) is not None


def _undeclared_in(record: Record) -> Iterator[tuple[str, ...]]:
    for parts, face in record.lookups:
        if len(parts) > 1 and parts[0] == "" and face in (NO_FACE, _UNDECLARED):
            yield parts[1:]


class Names:
    """The index of everything a query of the project may read."""

    __slots__ = (
        "_external",
        "_faces",
        "_functions",
        "_models",
        "_project",
        "_shown",
        "takes_undeclared",
    )

    def __init__(self, project: Project) -> None:
        self._project = project
        self._shown: list[str] = []
        self.takes_undeclared = project.config.compile.undeclared == "unknown"
        self._models = _index_models(project)
        self._external: dict[tuple[str, ...], Table] = {}
        self._faces: dict[tuple[str, ...], bytes] = {}
        self._functions = {
            split_name(key): each.signature for key, each in project.functions.items()
        }
        for key, source in project.sources.items():
            parts = split_name(key)
            table = _declared_table(source, parts)
            self._add_external(table, parts)
        for key, seed in project.seeds.items():
            parts = split_name(key)
            self._add_external(_declared_table(seed, parts), parts)
            schema = seed.target.schema
            if schema:
                self._external.setdefault((schema.lower(), parts[-1]), self._external[parts])
        for twin, original in project.twins.items():
            if original not in project.models:
                # Also by the schema that it would be in.
                place = project.models[twin].target.schema.lower(), split_name(original)[-1]
                self._external.setdefault(place, self._external[split_name(original)])
        for source in project.sources.values():
            if isinstance(source, PipelineTable):
                parts = split_name(source.key)
                self._external.setdefault(parts[1:], self._external[parts])
        for source in project.sources.values():
            if isinstance(source, ImportedTable):
                # Last, so that a short name never hides one that somebody declared.
                parts = source.imported.lower(), source.model.lower()
                table = _declared_table(source, parts)
                self._external.setdefault(parts, table)

    def _add_external(self, table: Table, parts: tuple[str, ...]) -> None:
        self._external[parts] = table
        if len(parts) == 2:
            self._external.setdefault(("spark_catalog", *parts), table)

    @property
    def shown(self) -> list[str]:
        """Every declared name, as it was written."""
        if not self._shown:
            project = self._project
            declared = (project.models, project.sources, project.seeds)
            self._shown = [each.name for group in declared for each in group.values()]
        return self._shown

    def model(self, parts: tuple[str, ...], reader: str) -> str | None:
        """The key of the model the parts name, unless a source means it to this reader."""
        found = self._models.get(parts)
        if found is not None and found == reader and parts in self._external:
            return None
        return found

    def external(self, parts: tuple[str, ...]) -> Table | None:
        return self._external.get(parts)

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        """A table that nobody declares, with unknown columns; None where that is an error.

        One that a pipeline may come to write goes by its full name.
        """
        coming = find_open_target(self._project.open_targets, parts)
        if coming is not None:
            return Table(".".join(coming[1]), (), coming[1], known=False)
        if not self.takes_undeclared:
            return None
        return Table(".".join(parts), (), parts, known=False)

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        """A declared function; any other where nobody has to declare them, else None."""
        return self._functions.get(parts) or (UNDECLARED if self.takes_undeclared else None)

    @property
    def declares_functions(self) -> bool:
        return bool(self._functions)

    @property
    def function_names(self) -> list[str]:
        """The declared functions, as they were written."""
        return [each.name for each in self._functions.values()]

    def external_face(self, parts: tuple[str, ...]) -> bytes:
        """The hash of all that a reader sees of the source or seed the parts name."""
        found = self._faces.get(parts)
        if found is None:
            found = self._faces[parts] = self._hash(parts)
        return found

    def _hash(self, parts: tuple[str, ...]) -> bytes:
        if parts == EVERY_NAME:
            return _hash_text("\0".join(self.shown))
        if parts[0] == "":
            return self._hash_function(parts)
        table = self._external.get(parts)
        if table is None:
            if find_open_target(self._project.open_targets, parts) is not None:
                return _COMING
            return _UNDECLARED if self.takes_undeclared else NO_FACE
        columns = [(field.name, encode_type(field.type), field.nullable) for field in table.fields]
        return _hash_text(repr((table.name, table.qualifier, columns, table.known)))

    def _hash_function(self, lookup: tuple[str, ...]) -> bytes:
        if lookup == EVERY_FUNCTION:
            return _hash_text("\0".join(self.function_names))
        found = self.function(lookup[1:])
        if found is None or found is UNDECLARED:
            return NO_FACE if found is None else _UNDECLARED
        # Findings name the place of the declaration.
        return _hash_text(repr((found.digest, found.usable, found.path, found.place)))


def _hash_text(text: str) -> bytes:
    return blake3(text.encode("utf-8", "surrogatepass")).digest(16)


def _declared_table(declared: SourceTable | SeedTable, parts: tuple[str, ...]) -> Table:
    """A source or a seed. Names from variables are plain here: they are in SQL and in the cache."""
    fields = tuple(
        field
        if type(field.name) is str
        else StructField(str(field.name), field.type, field.nullable)
        for field in declared.columns
    )
    return Table(str(declared.name), fields, parts, bool(fields))


def _index_models(project: Project) -> dict[tuple[str, ...], str]:
    models: dict[tuple[str, ...], str] = {}
    add = models.setdefault
    # A project has few schemas and many models: each schema is lowered once.
    lowered: dict[tuple[str, str], tuple[str, str]] = {}
    for key, model in project.models.items():
        catalog, schema, table = model.target
        if key in project.twins:
            key = project.twins[key]  # noqa: PLW2901 - whoever says its name means the clear table
            if key not in project.models:
                continue
        prefix = lowered.get((catalog, schema))
        if prefix is None:
            prefix = lowered[catalog, schema] = catalog.lower(), schema.lower()
        table = table.lower()
        add((*prefix, table), key)
        add((prefix[1], table), key)
    for key in project.models:
        models[(key,)] = key
    for key in project.blocked:
        add((key,), key)
    return models


FieldChange = Callable[[Table], Table | None]
"""What becomes of a table; None is one that is not there."""


class CompiledTables:
    """Tables that were all bound before; `change` may make others of them."""

    def __init__(
        self,
        project: Project,
        models: CompiledModels,
        names: Names,
        reader: str,
        change: FieldChange,
    ) -> None:
        self._project = project
        self._models = models
        self._names = names
        self._reader = reader
        self._change = change

    def find(self, parts: tuple[str, ...]) -> Table | None:
        key = self._names.model(parts, self._reader)
        table = self._names.external(parts) if key is None else self._model(key)
        return self._change(table) if table is not None else None

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:  # noqa: ARG002 - of the protocol
        """None: in a compiled project what models read is among the sources."""
        return None

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        return self._names.function(parts)

    def function_names(self) -> Iterable[str]:
        return self._names.function_names

    @property
    def declares_functions(self) -> bool:
        return bool(self._project.functions)

    def names(self) -> Iterable[str]:
        return self._names.shown

    def _model(self, key: str) -> Table | None:
        if key not in self._models:
            return None
        model = self._project.models[key]
        fields, known = fields_of(self._models.record(key))
        target = model.target
        qualifier = (target.catalog.lower(), target.schema.lower(), key)
        return Table(model.name, fields, qualifier, known)
