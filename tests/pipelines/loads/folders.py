"""A project that loads a folder of files, run again and again without a JVM, a day apart."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.ledger.readers.history import open_history_reader
from rocky.ledger.run_records import RunRecord
from rocky.pipelines.report import PipelineResult
from tests.pipelines.lakes import LakeProject
from tests.run.runs import write

CONFIG = """
[adapter]
type = "spark"

[pipeline.bronze]
type = "load"
source_dir = "in"
{settings}

[pipeline.bronze.target]
catalog = "raw"
schema = "files"
{target}
{more}
"""

ORDERS = "raw.files.orders"


class LoadProject(LakeProject):
    """A folder `in` and the project that loads it."""

    def __init__(
        self, root: Path, settings: str = "", more: str = "", target: str = 'table = "orders"'
    ) -> None:
        super().__init__(root)
        self.configure(settings, more, target)
        (root / "in").mkdir(exist_ok=True)

    def configure(
        self, settings: str = "", more: str = "", target: str = 'table = "orders"'
    ) -> None:
        text = CONFIG.format(settings=settings, more=more, target=target)
        write(self.root, {"rocky.toml": text})

    def put_text(self, name: str, text: str) -> Path:
        write(self.root, {f"in/{name}": text})
        return self.root / "in" / name

    def put_parquet(self, name: str, rows: list[dict[str, Any]], **types: pa.DataType) -> Path:
        path = self.root / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = pa.schema(list(types.items())) if types else None
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
        return path

    def ids(self, name: str = ORDERS) -> list[Any]:
        return sorted(row["id"] for row in self.rows(name))

    def versions(self, name: str = ORDERS) -> int:
        """How many commits a table has."""
        return int(self.snapshot(name).version) + 1

    def last_run(self) -> RunRecord:
        reader = open_history_reader(self.state)
        assert reader is not None
        with reader:
            found = reader.run(reader.runs()[0].run_id)
        assert found is not None
        return found


def reasons(report: PipelineResult) -> dict[str, str]:
    """Why files were left alone, by their names."""
    return {each.name: each.reason for each in report.excluded}


def errors(report: PipelineResult) -> dict[str, str | None]:
    """What each table failed of, by its name."""
    return {
        each.step.name: each.execution.error
        for each in report.run.outcomes
        if each.execution.error is not None
    }
