"""Pipeline tables: what the project's own pipelines write, as the models that read it see it.

They are not declared: which there are is told by the settings, by the declarations of what is
copied, and by the warehouse. Where only the source itself could tell, which a compile does not ask,
an *open target* says which names the pipeline may come to write.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rocky.project.configuration.config import DEFAULT_CATALOG
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.project.toml.variables import Substituted

KnownBy = Literal["declaration", "last_copy", "cache"]
"""Where the columns of a table come from: the declaration of what is copied, the table itself as
the warehouse has it, or a schema that was discovered and kept."""
_SHORT: Final = 2
_FULL: Final = 3


@dataclass(frozen=True, slots=True)
class PipelineTable(SourceTable):
    """A table that a pipeline of the project writes. `reads` is what it is made from, by name.

    `known_by` says where its columns come from, and is None where they are unknown; `at_ms` is when
    the last copy, or the discovery, was made.
    """

    pipeline: str = ""
    reads: tuple[str, ...] = ()
    known_by: KnownBy | None = None
    at_ms: int = 0

    @property
    def parts(self) -> tuple[str, str, str]:
        """Catalog, schema and table."""
        catalog, schema, table = self.name.split(".")
        return catalog, schema, table

    @property
    def is_remote(self) -> bool:
        """Whether it lies in an object store."""
        path = str(self.path)
        return "://" in path and not path.startswith("file://")


def copies_of(sources: Mapping[str, SourceTable]) -> dict[str, tuple[str, ...]]:
    """What pipelines make tables from, by the tables' names."""
    tables = (each for each in sources.values() if isinstance(each, PipelineTable))
    return {each.name: each.reads for each in tables if each.reads}


def pipeline_table(
    config_path: str, pipeline: str, parts: Sequence[str], warehouse: str
) -> PipelineTable:
    """The table of a pipeline, with unknown columns; it need not be there yet."""
    below = "/".join(parts)
    path = f"{warehouse.rstrip('/')}/{below}"
    if isinstance(warehouse, Substituted):
        path = Substituted(path, f"{warehouse.written.rstrip('/')}/{below}")
    return PipelineTable(
        ".".join(parts),
        (),
        "delta",
        path,
        {},
        Document(config_path, "", {}),
        0,
        pipeline=pipeline,
    )


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """Where a pipeline may write tables of which nobody knows yet: patterns of lower-case names.

    In a schema of `closed`, as `catalog.schema`, all tables are known already.
    """

    pipeline: str
    warehouse: str
    catalog: str
    schema: str
    closed: frozenset[str] = frozenset()

    def takes(self, catalog: str, schema: str) -> bool:
        """Whether a schema is one that the pipeline writes to, by lower-case names."""
        return bool(re.fullmatch(self.catalog, catalog) and re.fullmatch(self.schema, schema))

    def is_open(self, catalog: str, schema: str) -> bool:
        """Whether it may come to have tables that nobody knows yet."""
        return f"{catalog}.{schema}" not in self.closed and self.takes(catalog, schema)


def full_parts(parts: tuple[str, ...]) -> tuple[str, str, str] | None:
    """The parts of a table's full name; None for a name that has no schema."""
    if len(parts) == _SHORT:
        return (DEFAULT_CATALOG, *parts)
    return parts if len(parts) == _FULL else None


def find_open_target(
    targets: Sequence[OpenTarget], parts: tuple[str, ...]
) -> tuple[OpenTarget, tuple[str, str, str]] | None:
    """The first open target that a name of lower-case parts fits, and the name in full."""
    full = full_parts(parts)
    if full is None:
        return None
    found = next((each for each in targets if each.is_open(full[0], full[1])), None)
    return None if found is None else (found, full)
