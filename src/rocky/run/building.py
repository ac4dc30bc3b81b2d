"""Building one step: its inputs bound, its query bound to them, its table brought up to date.

Nothing here records or retries; a second call of `build` for one step repeats it, with the same
transaction, so that an append that did reach its table is not made twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rocky.datatypes.types import StructField
from rocky.errors import ModelFailed
from rocky.ledger.records import ModelExecution, RunId
from rocky.plan.steps import RunPlan, Step
from rocky.project import ModelFile
from rocky.run.build import Build, Built, Window
from rocky.run.engine import Engine
from rocky.run.failures import StepFailure
from rocky.run.inputs import Inputs, MadeFrom
from rocky.run.layouts import choose_layout
from rocky.run.pinning import PinnedTable, Pins
from rocky.run.resume import Resumption
from rocky.run.seeds import load_seed, seed_target
from rocky.spark.layout import Layout
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

Materialize = Callable[[Build], Built]
"""What brings a table up to date: `rocky.run.materialize.table.materialize`."""


Announce = Callable[[Engine, Table, Snapshot], None]
"""Who else is told of a table after it was built."""


@dataclass(frozen=True, slots=True)
class BuildOrders:
    """What was asked of the whole run. `vouch` is what commits say of the ledger."""

    run_id: RunId
    now: datetime
    full_refresh: bool = False
    windows: Mapping[str, Window] = field(default_factory=dict)
    announce: tuple[Announce, ...] = ()
    vouch: Callable[[], Mapping[str, str]] = dict

    def window_of(self, key: str) -> Window:
        """The window of a time-interval model; other models have no use for one."""
        return self.windows.get(key, Window())


@dataclass(frozen=True, slots=True)
class StepResult:
    """What building a step did. `built` is None for inline steps and those `resumed`.

    `made_from` is None for a seed, which is made from a file. `pinned` is None where there is no
    table, also when every interval of a new one failed. `changed_source` is one whose files are no
    longer those that were pinned: then nobody can say what was read.
    """

    made_from: MadeFrom | None
    sql: str = ""
    built: Built | None = None
    layout: Layout | None = None
    pinned: PinnedTable | None = None
    resumed: ModelExecution | None = None
    changed_source: str | None = None

    @property
    def failure(self) -> StepFailure | None:
        """Intervals that failed beside others that did not: what was built stays."""
        partitions = self.built.partitions if self.built is not None else ()
        failed = [each for each in partitions if each.error is not None]
        if not failed:
            return None
        many = f"{len(failed)} of {len(partitions)} intervals failed; the first"
        return StepFailure("interval_failed", f"{many}, `{failed[0].key}`: {failed[0].error}")


class Builder:
    """Builds the steps of one run. Threads may share it."""

    def __init__(
        self,
        plan: RunPlan,
        orders: BuildOrders,
        inputs: Inputs,
        engine: Engine,
        warehouse: Warehouse,
        pins: Pins,
        resumption: Resumption,
    ) -> None:
        self._plan = plan
        self._orders = orders
        self._inputs = inputs
        self._engine = engine
        self._warehouse = warehouse
        self._pins = pins
        self._resumption = resumption
        self._prefix = "rocky_" + "".join(each for each in orders.run_id if each.isdigit())
        self._places = {step.id: place for place, step in enumerate(plan.steps)}

    def close(self) -> None:
        """Drop the run's views."""
        self._inputs.close()

    def build(self, step: Step, materialize: Materialize) -> StepResult:
        """Bring a model up to date, or find that it is. Raises what `CAUGHT` names."""
        if step.kind == "seed":
            return self._load_seed(step)
        model = self._plan.project.models[step.key]
        made_from = self._inputs.made_from(step.key)
        if step.kind == "inline":
            return self._bind_inline(step, model, made_from)
        table = self._warehouse.table(model.target)
        if step.key in self._resumption.executions:
            snapshot = table.snapshot()
            before = self._resumption.built_already(
                step, made_from.fingerprints.recipe, made_from.input_hash, snapshot
            )
            if before is not None and snapshot is not None:
                found = PinnedTable(table, snapshot)
                self._pins.pin(step.id, found)
                return StepResult(made_from, pinned=found, resumed=before)
        self._inputs.bind(made_from.inputs)
        build = self._assemble(step, model, made_from)
        built = materialize(build)
        changed = self._inputs.changed_source(made_from.inputs)
        pinned = self._pin_built(step, table, built)
        return StepResult(made_from, built.sql, built, build.layout, pinned, changed_source=changed)

    def _load_seed(self, step: Step) -> StepResult:
        seed = self._plan.project.seeds[step.key]
        table = self._warehouse.table(seed_target(seed, self._plan.project.config))
        orders = self._orders
        info = {"runId": orders.run_id, "model": seed.name, **orders.vouch()}
        full_refresh = orders.full_refresh and step.selected
        built = load_seed(seed, table, self._engine, info, full_refresh=full_refresh)
        return StepResult(None, built.sql, built, pinned=self._pin_built(step, table, built))

    def _pin_built(self, step: Step, table: Table, built: Built) -> PinnedTable | None:
        snapshot = built.commits[-1].snapshot if built.commits else table.snapshot()
        if snapshot is None:
            if any(each.error is not None for each in built.partitions):
                return None
            raise ModelFailed(f"`{step.name}` was built and left no table")
        for announce in self._orders.announce:
            announce(self._engine, table, snapshot)
        pinned = PinnedTable(table, snapshot)
        self._pins.pin(step.id, pinned)
        return pinned

    def _assemble(self, step: Step, model: ModelFile, made_from: MadeFrom) -> Build:
        orders, inputs = self._orders, made_from.inputs
        columns = self._columns(step)
        layout = choose_layout(
            model, columns, self._plan.project.config.store, [each.bytes for each in inputs]
        )
        return Build(
            model=model,
            columns=columns,
            table=self._warehouse.table(model.target),
            query=None if model.is_python else self._inputs.sql_of(model, inputs),
            engine=self._engine,
            layout=layout,
            info={
                "runId": orders.run_id,
                "model": model.name,
                "recipeHash": made_from.fingerprints.recipe,
            },
            token=f"{orders.run_id}/{model.key}",
            view=f"{self._prefix}_step_{self._places[step.id]}",
            now=orders.now,
            full_refresh=orders.full_refresh,
            window=orders.window_of(step.key),
            python_inputs=self._inputs.parameters_of(model, inputs) if model.is_python else None,
            vouch=orders.vouch,
        )

    def _bind_inline(self, step: Step, model: ModelFile, made_from: MadeFrom) -> StepResult:
        self._inputs.bind_query(step.key)
        return StepResult(made_from, self._inputs.sql_of(model, made_from.inputs))

    def _columns(self, step: Step) -> tuple[StructField, ...]:
        ir = self._plan.compilation.models[step.key]
        return tuple(StructField(each.name, each.type, each.nullable) for each in ir.columns)
