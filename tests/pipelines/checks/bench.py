"""Real tables to check: written by the engine without a JVM, read from their Delta logs."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.ledger.pipeline_records import RowCount
from rocky.pipelines.checks.evaluation import CheckContext, run_pipeline_checks
from rocky.pipelines.report import CheckedTable, ChecksResult, SourceSide
from rocky.project.configuration.pipelines import Checks
from rocky.project.models import Target
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Bench:
    """A warehouse and an engine; says how often Spark was opened."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.engine = MemoryEngine(root)
        self.warehouse = open_warehouse("warehouse", base=root)
        self.opened = 0

    def open_engine(self) -> MemoryEngine:
        self.opened += 1
        return self.engine

    def table(self, name: str, columns: str, rows: str = "", **keys: object) -> CheckedTable:
        """A table of rows written as `(1, 'a'), (2, NULL)`; without any it is empty."""
        target = Target(*name.split("."))
        schema = columns_of(columns)
        names = ", ".join(f"`{each.name}`" for each in schema)
        cells = ", ".join(f"CAST(`{each.name}` AS {each.type}) AS `{each.name}`" for each in schema)
        nulls = ", ".join("NULL" for _ in schema)
        listed, condition = (rows, "TRUE") if rows else (f"({nulls})", "FALSE")
        sql = f"SELECT {cells} FROM (VALUES {listed}) AS t({names}) WHERE {condition}"
        place = self.warehouse.table(target)
        written = self.engine.write(self.engine.frame(sql), place, Layout(), schema, frozenset())
        snapshot = place.commit(Change("REPLACE", None, schema, (), written.files)).snapshot
        return CheckedTable(target, place, snapshot, **keys)

    def source(self, columns: str, text: str, **keys: object) -> SourceSide:
        """A CSV file as the source of a copy."""
        name = f"source{len(list(self.root.glob('*.csv')))}.csv"
        (self.root / name).write_text(text)
        document = Document("rocky.toml", "", {})
        table = SourceTable("source", columns_of(columns), "csv", name, {}, document, 0)
        return SourceSide(table, **keys)

    def check(
        self, checks: Checks, *tables: CheckedTable, known: tuple[str, ...] = ()
    ) -> ChecksResult:
        self.opened = 0
        around = CheckContext(NOW, known, self.warehouse)
        return run_pipeline_checks(checks._replace(enabled=True), tables, self.open_engine, around)


def columns_of(text: str) -> tuple[StructField, ...]:
    pairs = (each.split() for each in text.split(","))
    return tuple(StructField(name, parse_type(kind), True) for name, kind in pairs)


def with_statistics(table: CheckedTable, **stats: object) -> CheckedTable:
    """The table as a writer leaves it that keeps statistics of its files."""
    files = tuple(
        replace(each, stats=json.dumps({"numRecords": each.rows, **stats}))
        for each in table.snapshot.files
    )
    return replace(table, snapshot=replace(table.snapshot, files=files))


def history(*counts: int) -> tuple[RowCount, ...]:
    return tuple(RowCount(each, NOW) for each in counts)


def told(result: ChecksResult) -> dict[str, object]:
    """By check, whether it passed, or why it could not be answered."""
    return {each.name: each.error or each.passed for each in result.outcomes}
