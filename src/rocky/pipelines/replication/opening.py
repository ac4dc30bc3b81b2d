"""Opening: the discovery that a pipeline's source asks for."""

from collections.abc import Callable, Mapping
from pathlib import Path

from rocky.errors import InternalError
from rocky.pipelines.replication.discovery import Discovery
from rocky.pipelines.replication.jdbc import JdbcTables
from rocky.pipelines.replication.lake import FolderLake
from rocky.pipelines.replication.lake_objects import ObjectLake
from rocky.pipelines.replication.patterns import match_schema
from rocky.pipelines.replication.spark_tables import SparkTables
from rocky.project.pipelines import ReplicationPipeline, ReplicationSource
from rocky.run.engine import Engine
from rocky.spark.source_files import is_remote


def open_discovery(
    pipeline: ReplicationPipeline,
    root: Path,
    settings: Mapping[str, str],
    open_engine: Callable[[], Engine],
) -> Discovery:
    """What lists the tables of a source. A lake never asks for the engine.

    `settings` are those of Spark and the environment, which an object store is reached with.
    """
    source = pipeline.source
    options = option_texts(source)

    def wanted(schema: str) -> bool:
        return match_schema(schema, source.schema_pattern) is not None

    match source.kind:
        case "lake" if source.path is not None:
            if is_remote(source.path):
                return ObjectLake(source.path, source.format, options, settings)
            return FolderLake(source.path, root, source.format, options)
        case "jdbc" if source.url is not None:
            return JdbcTables(source.url, options, open_engine, wanted)
        case "catalog":
            return SparkTables(open_engine, wanted, options)
        case _:
            raise InternalError(f"a source of type `{source.kind}` without its place")


def option_texts(source: ReplicationSource) -> dict[str, str]:
    """The options as Spark takes them."""
    return {
        key: ("true" if value else "false") if isinstance(value, bool) else _text(value)
        for key, value in source.options.items()
    }


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else str(value)
