"""One model with one input, built again and again: what its table holds, and what a build did."""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from rocky.compiler.passes import compile_project
from rocky.language.datatypes.text import parse_schema
from rocky.language.datatypes.types import StructField
from rocky.language.syntax.references import bind_names
from rocky.plan.request import Window
from rocky.project import load_project
from rocky.run.engine.protocol import Engine
from rocky.run.materialize.build import Build, Built, partition_columns_of
from rocky.run.materialize.strategy import materialize
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change, Committed
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot
from rocky.store.warehouse import Table, open_warehouse

NOW = datetime(2024, 5, 17, 10, 30, tzinfo=UTC)


class Bench:
    """A project with the source `raw.t` and the model `m`, whose table lies in a warehouse.

    `edit` changes the source's columns, the query or the strategy, as an author would between runs.
    """

    def __init__(self, engine: Engine, root: Path) -> None:
        self.engine = engine
        self.root = root
        self.now = NOW
        self.layout = Layout()
        self.is_little = False
        self._builds = 0

    def edit(self, columns: str, query: str, strategy: str) -> None:
        self._columns = tuple(parse_schema(columns))
        listed = "".join(
            f'  {{ name = "{each.name}", type = "{each.type}",'
            f" nullable = {str(each.nullable).lower()} }},\n"
            for each in self._columns
        )
        files = {
            "rocky.toml": '[pipeline.p]\nmodels = "models/**"\n',
            "sources/raw.toml": '[[source]]\nname = "raw.t"\nformat = "parquet"\npath = "t"\n'
            f"columns = [\n{listed}]\n",
            "models/m.sql": query,
            "models/m.toml": f"[strategy]\n{strategy}\n",
        }
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        compiled = compile_project(load_project(self.root, env={}), cache=False)
        assert [] == [each for each in compiled.diagnostics if each.severity.value == "error"]
        self.model = compiled.project.models["m"]
        self.output = tuple(
            StructField(each.name, each.type, each.nullable)
            for each in compiled.models["m"].columns
        )

    @property
    def table(self) -> Table:
        return open_warehouse("warehouse", base=self.root).table(self.model.target)

    @property
    def snapshot(self) -> Snapshot:
        found = self.table.snapshot()
        assert found is not None
        return found

    def build(self, *rows: tuple[Any, ...], full_refresh: bool = False, **window: Any) -> Built:
        """Build the model over these rows of its source."""
        return materialize(self.order(*rows, full_refresh=full_refresh, **window))

    def order(self, *rows: tuple[Any, ...], full_refresh: bool = False, **window: Any) -> Build:
        """What a run would hand to the strategy."""
        self._builds += 1
        names = [each.name for each in self._columns]
        view = f"raw_{id(self)}_{self._builds}"
        given = [dict(zip(names, row, strict=True)) for row in rows]
        self.engine.views.bind_rows(view, self._columns, given)
        partitions = partition_columns_of(self.model, self.output)
        return Build(
            self.model,
            self.output,
            self.table,
            bind_names(self.model.sql, lambda _: view),
            self.engine,
            replace(self.layout, partition_columns=partitions),
            {"runId": "run-1"},
            f"token-{self._builds}",
            f"m_{id(self)}_{self._builds}",
            self.now,
            full_refresh,
            Window(**window),
            is_little=self.is_little,
        )

    def build_as(self, order: Build) -> Built:
        """Build an earlier order as the model is compiled now."""
        return materialize(replace(order, model=self.model, columns=self.output))

    def build_while(self, meanwhile: Callable[[], object], *rows: tuple[Any, ...]) -> Built:
        """Build, with something else happening just before the commit."""
        order = self.order(*rows)

        class Interrupted(Table):
            __slots__ = ()

            def commit(self, change: Change) -> Committed:
                meanwhile()
                return Table.commit(self, change)

        table = order.table
        interrupted = Interrupted(*(getattr(table, each.name) for each in fields(table)))
        return materialize(replace(order, table=interrupted))

    def set_property(self, name: str, value: str) -> None:
        """Change a table property, as a foreign writer might."""
        now = self.snapshot
        change = Change(
            "OVERWRITE", now, now.schema, now.partition_columns, (), properties={name: value}
        )
        self.table.commit(change)

    def rows(self) -> list[tuple[Any, ...]]:
        """The table's rows as a reader that is not ours sees them, sorted."""
        location = self.root / "warehouse" / "/".join(self.model.target)
        held = DeltaTable(str(location)).to_pyarrow_table().to_pylist()
        return sorted((tuple(row.values()) for row in held), key=repr)

    def hash_again(self) -> str:
        """The rows hash of the table, from its rows."""
        self.engine.views.bind_table("hashed_again", self.table, self.snapshot)
        names = ", ".join(f"`{each.name}`" for each in self.snapshot.schema)
        found = self.engine.rows_hash(self.engine.frame(f"SELECT {names} FROM hashed_again"))
        self.engine.views.unbind(["hashed_again"])
        return found

    @property
    def hash_recorded(self) -> str:
        return self.snapshot.configuration[ROWS_HASH]
