"""Source tables: what a replication reads, as far as a compile may know it.

That is what `sources/*.toml` declares of its source, and the names of folders and files in a lake
on disk, of which nothing is opened. Catalogues, databases and object stores are not asked.
"""

import os
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rocky.language.names import split_name
from rocky.pipelines.replication.discovery import DiscoveredTable, SourceListing, SourcePlace
from rocky.pipelines.replication.lake_names import is_hidden, table_name
from rocky.project import Project
from rocky.project.collisions import declared_sources
from rocky.project.configuration.config import DEFAULT_CATALOG
from rocky.project.configuration.pipelines import ReplicationPipeline, ReplicationSource
from rocky.project.schema_cache import CachedSchema
from rocky.project.sources import SourceTable

_TABLE_PARTS: Final = 2


def source_tables(
    project: Project,
    pipeline: ReplicationPipeline,
    root: Path,
    cached: Mapping[str, CachedSchema],
) -> tuple[SourceListing, Mapping[str, SourceTable]]:
    """The tables of a source that can be known now, and by their names those that are declared.

    `cached` are those that were discovered before.
    """
    source = pipeline.source
    declared = {
        found.name: each
        for each in declared_sources(project.sources).values()
        if (found := _declared_table(each, source, root)) is not None
    }
    tables = {each.name: each for each in _folder_tables(source, root)}
    for each in declared.values():
        found = _declared_table(each, source, root)
        if found is not None:
            tables.setdefault(found.name, found)
    for kept in cached.values():
        catalog, schema, table = kept.parts
        assert schema is not None, "a table of a listing has a schema"
        assert table is not None, "and a name"
        tables.setdefault(kept.name, DiscoveredTable(catalog, schema, table, SourcePlace("")))
    return SourceListing(source.kind, tuple(tables[name] for name in sorted(tables))), declared


def _declared_table(
    declared: SourceTable, source: ReplicationSource, root: Path
) -> DiscoveredTable | None:
    """A declared source as the table of a replication that it is; None for another's."""
    if source.kind == "lake":
        parts = _lake_parts(declared, source, root)
    elif source.kind == "catalog":
        parts = _catalogue_parts(declared, source)
    else:
        parts = _database_parts(declared, source)
    if parts is None:
        return None
    return DiscoveredTable(source.catalog, *parts, SourcePlace(declared.format, declared.path))


def _lake_parts(
    declared: SourceTable, source: ReplicationSource, root: Path
) -> tuple[str, str] | None:
    if declared.path is None or source.path is None:
        return None
    above = [_place(root, source.path)]
    above += [source.catalog] if source.catalog is not None else []
    start, place = f"{'/'.join(above)}/", _place(root, declared.path)
    parts = place.removeprefix(start).split("/")
    if not place.startswith(start) or len(parts) != _TABLE_PARTS:
        return None
    return parts[0], table_name(parts[1])


def _catalogue_parts(declared: SourceTable, source: ReplicationSource) -> tuple[str, str] | None:
    if declared.format != "table":
        return None
    *catalog, schema, table = ("", *split_name(declared.path or declared.name))
    named = ".".join(part for part in catalog if part) or DEFAULT_CATALOG
    if not schema or named.lower() != (source.catalog or DEFAULT_CATALOG).lower():
        return None
    return schema, table


def _database_parts(declared: SourceTable, source: ReplicationSource) -> tuple[str, str] | None:
    options = {key.lower(): value for key, value in declared.options.items()}
    if declared.format != "jdbc" or options.get("url") != source.url:
        return None
    *schema, table = split_name(options.get("dbtable", ""))
    return (schema[-1], table) if schema and table else None


def _place(root: Path, path: str) -> str:
    if "://" in path and not path.startswith("file://"):
        return posixpath.normpath(path.replace("s3a://", "s3://", 1).replace("://", ":/", 1))
    return os.path.normpath(root / path.removeprefix("file://"))


def _folder_tables(source: ReplicationSource, root: Path) -> Iterator[DiscoveredTable]:
    """The tables of a lake on disk, by the names of its folders and files."""
    if source.kind != "lake" or source.path is None or "://" in source.path:
        return
    base = root / source.path
    base = base if source.catalog is None else base / source.catalog
    for schema in _names(base):
        folder = base / schema
        for name in _names(folder):
            place = SourcePlace(source.format, f"{folder}/{name}")
            yield DiscoveredTable(source.catalog, schema, table_name(name), place)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(each.name for each in folder.iterdir() if not is_hidden(each.name))
    except OSError:
        # A run says what cannot be listed.
        return []
