"""Small projects for tests that run on Spark: files from texts, runs through the Python API."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

import rocky
from tests.table_files import data_files as files_of_table

CONFIG = """\
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.shop]
type = "transformation"
models = "models/**"
"""


def write_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"rocky.toml": CONFIG, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def write_rows(path: Path, schema: pa.Schema, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)


def build(root: Path, spark, *select: str, env: Mapping[str, str] | None = None, **options):
    """All that a runner has to say of a run over the project as it is on disk now."""
    return rocky.open(root, spark=spark, env=env).run(*select, **options).run.result


def errors_of(report) -> dict[str, str]:
    return {
        each.step.name: each.execution.error for each in report.outcomes if each.execution.error
    }


def table_folder(root: Path, name: str, schema: str = "default") -> Path:
    return root / "warehouse" / "spark_catalog" / schema / name


def data_files(folder: Path) -> set[str]:
    return {path.name for path in files_of_table(folder)}


def is_named_by_its_bytes(path: Path) -> bool:
    return blake3(path.read_bytes()).hexdigest() == path.stem
