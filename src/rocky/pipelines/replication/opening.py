"""Opening: the discovery that a pipeline's source asks for."""

from collections.abc import Callable, Mapping
from pathlib import Path

from rocky.errors import InternalError
from rocky.lazy import load_attribute
from rocky.pipelines.replication.concealing import conceal_option
from rocky.pipelines.replication.discovery import Discovery
from rocky.pipelines.replication.lake import FolderLake
from rocky.pipelines.replication.lake_objects import ObjectLake
from rocky.pipelines.replication.patterns import match_schema
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
            # These two know pyspark, which a run that copies nothing must not load.
            jdbc_tables = load_attribute("rocky.pipelines.replication.jdbc", "JdbcTables")
            database: Discovery = jdbc_tables(source.url, options, open_engine, wanted)
            return database
        case "catalog":
            spark_tables = load_attribute("rocky.pipelines.replication.spark_tables", "SparkTables")
            catalogue: Discovery = spark_tables(open_engine, wanted, options)
            return catalogue
        case _:
            raise InternalError(f"a source of type `{source.kind}` without its place")


def option_texts(source: ReplicationSource) -> dict[str, str]:
    """The options as Spark takes them; secrets among them do not show themselves."""
    return {key: conceal_option(key, _text(value)) for key, value in source.options.items()}


def _text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
