"""The forecast: what a run will do with each step, decided without Spark.

A step whose inputs are all known is decided now. One that reads a table which will be built waits:
when that table comes out with the same rows, the step will be reused after all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rocky.errors import InternalError, RockyError
from rocky.plan.steps import NEEDED, TOLD, RunPlan, Step, step_id
from rocky.project.configuration.strategies import View
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import is_loaded, seed_target
from rocky.run.prepare.inputs import Inputs
from rocky.run.prepare.known_inputs import MadeFrom
from rocky.run.prepare.pins import PinnedTable, Pins, warm_up
from rocky.run.reuse.decisions import REDESCRIBED, Decision, ReuseDecider
from rocky.run.reuse.holds import NO_HOLDS, find_lacking
from rocky.store.warehouse import Table, Warehouse


@dataclass(frozen=True, slots=True)
class StepForecast:
    """What will become of a step.

    `waits_for` names tables to be built first, whose rows decide. `made_from` is what a step that
    was decided is made from; `idle` when a query that stands for a table has no reader to be built;
    `told` when a catalogue is to know of it as a view.
    """

    step: Step
    decision: Decision | None = None
    made_from: MadeFrom | None = None
    waits_for: tuple[str, ...] = ()
    idle: bool = False
    told: bool = False

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do for it but to record it."""
        decided = self.decision is not None and self.decision.reused is not None
        return self.idle or self.held or decided

    @property
    def held(self) -> bool:
        """Whether its table stays as somebody has reverted it."""
        return self.decision is not None and self.decision.held

    @property
    def reason(self) -> str:
        reused = self.decision.reused if self.decision is not None else None
        if self.decision is not None and reused is not None and reused.redescribed:
            return f"{self.decision.reason}; {REDESCRIBED}"
        if self.decision is not None and reused is not None and not reused.live:
            return f"{self.decision.reason}; the table has changed since and is put back"
        if self.decision is not None:
            return self.decision.reason
        if self.waits_for:
            more = f" and {len(self.waits_for) - 1} more" if len(self.waits_for) > 1 else ""
            return f"unless `{self.waits_for[0]}`{more} comes out with the same rows"
        if self.told:
            return TOLD
        return "nothing to store" if self.idle else NEEDED


@dataclass(frozen=True, slots=True)
class Forecast:
    """What will become of every step, in the plan's order."""

    steps: tuple[StepForecast, ...] = ()
    by_id: Mapping[str, StepForecast] = field(default_factory=dict)


def forecast_steps(  # noqa: PLR0913 - one for each source of a decision
    plan: RunPlan,
    inputs: Inputs,
    decider: ReuseDecider,
    warehouse: Warehouse,
    pins: Pins,
    *,
    reload_seeds: bool = False,
    tell_views: bool = False,
    holds: Mapping[str, str] = NO_HOLDS,
) -> Forecast:
    """Decide every step that can be decided now; tables that stand for builds are pinned.

    `tell_views` when a catalogue is told of views, which are then never idle. `holds` are steps
    whose tables stay as they were reverted, with why: readers build on them. What cannot be read
    now is not decided here: the build will say what is wrong.
    """
    work = _Forecaster(plan, inputs, decider, warehouse, pins)
    work.reload_seeds, work.tell_views, work.holds = reload_seeds, tell_views, holds
    # Together, because on an object store each log takes a few round trips.
    warm_up(work.tables.values())
    for step in plan.steps:
        if step.kind != "inline":
            work.foresee(step)
    work.foresee_queries()
    return Forecast(tuple(work.found[step.id] for step in plan.steps), work.found)


class _Forecaster:
    """A forecast under way."""

    def __init__(
        self, plan: RunPlan, inputs: Inputs, decider: ReuseDecider, warehouse: Warehouse, pins: Pins
    ) -> None:
        self.found: dict[str, StepForecast] = {}
        self.tables: dict[str, Table] = {}
        self.reload_seeds = self.tell_views = False
        self.holds: Mapping[str, str] = NO_HOLDS
        self._plan = plan
        self._inputs = inputs
        self._decider = decider
        self._pins = pins
        self._steps = {step.id: step for step in plan.steps}
        self._below: dict[str, frozenset[str]] = {}
        project = plan.project
        for step in plan.steps:
            if step.kind == "seed":
                target = seed_target(project.seeds[step.key], project.config)
                self.tables[step.id] = warehouse.table(target)
            elif step.kind == "build":
                self.tables[step.id] = warehouse.table(project.models[step.key].target)

    def foresee(self, step: Step) -> None:
        open_tables = [each for each in self._tables_read(step) if not self.found[each].settled]
        try:
            held = self._held(step)
            if held is not None:
                found = held
            elif open_tables:
                found = self._waiting(step, open_tables)
            else:
                found = self._seed(step) if step.kind == "seed" else self._model(step)
        except InternalError:
            raise
        except (RockyError, OSError) as error:
            found = StepForecast(step, Decision(f"cannot tell what it is made from: {error}"))
        self.found[step.id] = found

    def foresee_queries(self) -> None:
        """A query has something to do only for a table that is built, or for a catalogue."""
        told = [step for step in self._plan.steps if self._is_told(step)]
        waiting = [*(each.step for each in self.found.values() if not each.settled), *told]
        needed = {step.id for step in told}
        while waiting:
            for below in self._queries_read(waiting.pop()):
                if below.id not in needed:
                    needed.add(below.id)
                    waiting.append(below)
        for step in self._plan.steps:
            if step.kind == "inline":
                idle, told_of = step.id not in needed, step in told
                self.found[step.id] = StepForecast(step, idle=idle, told=told_of)

    def _is_told(self, step: Step) -> bool:
        """Whether a catalogue is told of a step that has no table."""
        if not self.tell_views or not step.selected or step.kind != "inline":
            return False
        return isinstance(self._plan.project.models[step.key].strategy, View)

    def _held(self, step: Step) -> StepForecast | None:
        """A step whose table was reverted and stands; one that is gone must be built.

        So is one that cannot be built on a table which is held.
        """
        why, table = self.holds.get(step.id) or self._lacking(step), self.tables[step.id]
        snapshot = None if why is None else table.snapshot()
        if why is None or snapshot is None:
            return None
        self._pins.pin(step.id, PinnedTable(table, snapshot))
        return StepForecast(step, Decision(why, held=True))

    def _lacking(self, step: Step) -> str | None:
        """Why a step cannot be built on a table that it reads and that is held."""
        for each in sorted(self._tables_read(step)) if self.holds else ():
            below, table = self._steps[each], self.tables[each]
            snapshot = table.snapshot() if self.found[each].held else None
            if below.kind == "build" and snapshot is not None:
                there = [field.name for field in snapshot.schema]
                why = find_lacking(self._plan, step, below.key, there)
                if why is not None:
                    return why
        return None

    def _waiting(self, step: Step, open_tables: list[str]) -> StepForecast:
        """A step that reads tables which will be built: their rows decide, if anything does."""
        names = tuple(sorted(self._steps[each].name for each in open_tables))
        foregone = self._decider.foregone(step, self.tables[step.id])
        decision = Decision(foregone) if foregone is not None else None
        return StepForecast(step, decision, waits_for=names)

    def _seed(self, step: Step) -> StepForecast:
        table = self.tables[step.id]
        if self.reload_seeds and step.selected:
            return StepForecast(step, Decision("a full refresh was asked for"))
        masks = mask_sql_of(self._plan.compilation, step.key)
        if not is_loaded(self._plan.project.seeds[step.key], table, masks):
            return StepForecast(step, Decision("its file has not been loaded"))
        snapshot = table.snapshot()
        assert snapshot is not None
        self._pins.pin(step.id, PinnedTable(table, snapshot))
        return StepForecast(step, idle=True)

    def _model(self, step: Step) -> StepForecast:
        table = self.tables[step.id]
        made_from = self._inputs.made_from(step.key)
        decision = self._decider.decide(step, made_from, table)
        if decision.reused is not None:
            self._pins.pin(step.id, PinnedTable(table, decision.reused.snapshot))
        return StepForecast(step, decision, made_from)

    def _tables_read(self, step: Step) -> frozenset[str]:
        """The ids of the steps whose tables a step reads, also through queries."""
        known = self._below.get(step.id)
        if known is None:
            found: set[str] = set()
            for read in step.reads:
                below = self._steps.get(step_id(read.kind, read.key))
                if below is None or read.kind == "source":
                    continue
                found |= self._tables_read(below) if below.kind == "inline" else {below.id}
            known = self._below[step.id] = frozenset(found)
        return known

    def _queries_read(self, step: Step) -> Iterator[Step]:
        """The queries that a step reads itself."""
        for read in step.reads:
            below = self._steps.get(step_id(read.kind, read.key))
            if read.kind == "model" and below is not None and below.kind == "inline":
                yield below
