"""Building one step: its inputs bound, its query bound to them, its table brought up to date.

Nothing here records or retries; a second call of `build` for one step repeats it, with the same
transaction, so that an append that did reach its table is not made twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rocky.compiler.fingerprints import Fingerprints
from rocky.datatypes.types import StructField
from rocky.errors import ModelFailed
from rocky.ledger.records import ModelExecution, RunId
from rocky.plan.steps import RunPlan, Step
from rocky.project import ModelFile
from rocky.project.python_models import inputs_of
from rocky.run.build import Build, Built, Window
from rocky.run.engine import Engine
from rocky.run.failures import StepFailure
from rocky.run.identity import ProofClass, input_hash
from rocky.run.inputs import BoundInput, Inputs
from rocky.run.layouts import choose_layout
from rocky.run.pinning import PinnedTable, Pins
from rocky.run.resume import Resumption
from rocky.run.seeds import load_seed, seed_target
from rocky.spark.layout import Layout
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse
from rocky.syntax.references import bind_names

Materialize = Callable[[Build], Built]
"""What brings a table up to date: `rocky.run.materialize.table.materialize`."""


Announce = Callable[[Engine, Table, Snapshot], None]
"""Who else is told of a table after it was built."""


@dataclass(frozen=True, slots=True)
class BuildOrders:
    """What was asked of the whole run."""

    run_id: RunId
    now: datetime
    full_refresh: bool = False
    windows: Mapping[str, Window] = field(default_factory=dict)
    announce: tuple[Announce, ...] = ()

    def window_of(self, key: str) -> Window:
        """The window of a time-interval model; other models have no use for one."""
        return self.windows.get(key, Window())


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """What a step is made from, known before it is built."""

    fingerprints: Fingerprints
    inputs: tuple[BoundInput, ...]
    input_hash: str | None
    proof: ProofClass | None


@dataclass(frozen=True, slots=True)
class StepResult:
    """What building a step did. `built` is None for inline steps and those `resumed`.

    `made_from` is None for a seed, which is made from a file. `pinned` is None where there is no
    table, also when every interval of a new one failed.
    """

    made_from: MadeFrom | None
    sql: str = ""
    built: Built | None = None
    layout: Layout | None = None
    pinned: PinnedTable | None = None
    resumed: ModelExecution | None = None

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
        fingerprints: Mapping[str, Fingerprints],
        engine: Engine,
        warehouse: Warehouse,
        pins: Pins,
        resumption: Resumption,
    ) -> None:
        self._plan = plan
        self._orders = orders
        self._fingerprints = fingerprints
        self._engine = engine
        self._warehouse = warehouse
        self._pins = pins
        self._resumption = resumption
        self._prefix = "rocky_" + "".join(each for each in orders.run_id if each.isdigit())
        self._places = {step.id: place for place, step in enumerate(plan.steps)}
        self._inputs = Inputs(plan, pins, engine, self._prefix)

    def close(self) -> None:
        """Drop the run's views."""
        self._inputs.close()

    def build(self, step: Step, materialize: Materialize) -> StepResult:
        """Bring a model up to date, or find that it is. Raises what `CAUGHT` names."""
        if step.kind == "seed":
            return self._load_seed(step)
        model = self._plan.project.models[step.key]
        made_from = self._made_from(step, model)
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
        build = self._assemble(step, model, made_from)
        built = materialize(build)
        pinned = self._pin_built(step, table, built)
        return StepResult(made_from, built.sql, built, build.layout, pinned)

    def _load_seed(self, step: Step) -> StepResult:
        seed = self._plan.project.seeds[step.key]
        table = self._warehouse.table(seed_target(seed, self._plan.project.config))
        info = {"runId": self._orders.run_id, "model": seed.name}
        full_refresh = self._orders.full_refresh and step.selected
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

    def _made_from(self, step: Step, model: ModelFile) -> MadeFrom:
        inputs = self._inputs.of(step.reads)
        fingerprints = self._fingerprints[step.key]
        hashed, proof = input_hash(
            fingerprints.skip_hash, model.target.full_name, [each.identity for each in inputs]
        )
        return MadeFrom(fingerprints, inputs, hashed, proof)

    def _assemble(self, step: Step, model: ModelFile, made_from: MadeFrom) -> Build:
        orders = self._orders
        columns = self._columns(step)
        layout = choose_layout(
            model,
            columns,
            self._plan.project.config.store,
            [each.bytes for each in made_from.inputs],
        )
        return Build(
            model=model,
            columns=columns,
            table=self._warehouse.table(model.target),
            query=None if model.is_python else self._bound_sql(model, made_from.inputs),
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
            python_inputs=self._frames(model, made_from.inputs) if model.is_python else None,
        )

    def _bind_inline(self, step: Step, model: ModelFile, made_from: MadeFrom) -> StepResult:
        sql = self._bound_sql(model, made_from.inputs)
        frame = self._engine.frame(sql)
        made = (made_from.input_hash, made_from.proof)
        self._inputs.bind_inline(step.key, frame, made_from.inputs, made)
        return StepResult(made_from, sql)

    def _bound_sql(self, model: ModelFile, inputs: tuple[BoundInput, ...]) -> str:
        return bind_names(model.sql, self._inputs.view_names(model.key, inputs))

    def _frames(self, model: ModelFile, inputs: tuple[BoundInput, ...]) -> dict[str, str]:
        """The view that each parameter of a Python model gets."""
        view_of = self._inputs.view_names(model.key, inputs)
        views = {each.parameter: view_of(each.parts) for each in inputs_of(model)}
        return {parameter: view for parameter, view in views.items() if view is not None}

    def _columns(self, step: Step) -> tuple[StructField, ...]:
        ir = self._plan.compilation.models[step.key]
        return tuple(StructField(each.name, each.type, each.nullable) for each in ir.columns)
