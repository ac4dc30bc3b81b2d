"""The source of a replication: what lists its tables, by its kind, and its options for Spark.

A lake is listed without Spark; databases and catalogues are asked through it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from rocky.errors import InternalError
from rocky.pipelines.replication.discovery import Discovery, match_schema
from rocky.pipelines.replication.lakes import FolderLake, ObjectLake
from rocky.project.configuration.pipelines import ReplicationPipeline, ReplicationSource
from rocky.project.secrets import hide_option
from rocky.run.engine.protocol import Engine
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
            from rocky.pipelines.replication.spark_discovery import JdbcTables  # noqa: PLC0415

            return JdbcTables(source.url, options, open_engine, wanted)
        case "catalog":
            from rocky.pipelines.replication.spark_discovery import SparkTables  # noqa: PLC0415

            return SparkTables(open_engine, wanted, options)
        case _:
            raise InternalError(f"a source of type `{source.kind}` without its place")


def option_texts(source: ReplicationSource) -> dict[str, str]:
    """The options as Spark takes them; secrets among them do not show themselves."""
    return {key: hide_option(key, _option_text(value)) for key, value in source.options.items()}


def _option_text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
