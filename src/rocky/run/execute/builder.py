"""The builder: one step's table brought up to date, built or taken over from a recorded result.

Nothing here retries; a second call of `build` for one step repeats it, with the same transaction,
so that an append that did reach its table is not made twice. Results that need no Spark, by the
forecast, are reused and recorded in one transaction. A result that cannot be committed again now
is left to the builder, which tries again or fails.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rocky.errors import InternalError, ModelFailed, RockyError
from rocky.language.datatypes.types import StructField
from rocky.plan.steps import NOT_HELD, RunPlan, Step
from rocky.project import ModelFile
from rocky.project.configuration.strategies import (
    ContentAddressed,
    FullRefresh,
    MaterializedView,
    View,
)
from rocky.run.comments import ProjectComments
from rocky.run.engine.input_pieces import SizedFile
from rocky.run.engine.origins import QueryOrigin
from rocky.run.engine.protocol import Classify, Engine
from rocky.run.execute.catalogue_view import REGISTERED, compose_view
from rocky.run.materialize.build import (
    Build,
    Built,
    Materialize,
    arrive_by_key,
    choose_layout,
    reads_little,
)
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import load_seed, seed_target
from rocky.run.prepare.driving_input import find_driving_input
from rocky.run.prepare.inputs import Inputs
from rocky.run.prepare.keyed_rows import find_keyed_rows
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom
from rocky.run.prepare.pins import PinnedTable, Pins
from rocky.run.prepare.resources import RunClock, RunContext
from rocky.run.record.journal import Journal
from rocky.run.record.provenance import StepRecord, StepResult, Timing
from rocky.run.record.recorder import Recorder
from rocky.run.reuse.decisions import Decision, RecordedResult
from rocky.run.reuse.forecast import Forecast, StepForecast
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change, Committed
from rocky.store.delta.signature import CommitAuthority
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

_OWN = "rocky."
"""The beginning of table properties that belong to a version's rows."""


class ResultReuse:
    """Puts recorded results in the place of builds. Threads may share it.

    Without an engine nothing can be reused that must be registered in Spark's catalogue. `check`
    raises for a version, of a model's table, that must not be committed again.
    """

    def __init__(
        self,
        context: RunContext,
        pins: Pins,
        check: Callable[[str, PinnedTable], None],
        engine: Engine | None = None,
    ) -> None:
        self.pins = pins
        self._context = context
        self._check = check
        self._engine = engine

    @property
    def can_reuse(self) -> bool:
        """Whether every catalogue that must be told of a table can be told now."""
        return self._engine is not None or not any(
            each.needs_engine for each in self._context.announce
        )

    def reuse(self, step: Step, made_from: MadeFrom, decision: Decision) -> StepResult:
        """The recorded result as the step's own, committed again if it is not the table's newest.

        Raises what the store raises.
        """
        reused = decision.reused
        assert reused is not None
        committed = None
        snapshot = reused.snapshot
        if not reused.live:
            self._check(step.name, PinnedTable(reused.table, snapshot))
            info = self._context.info_of(step.name, made_from)
            statement = self._context.ledger_statement()
            committed = recommit(reused, {**info, **statement}, self._context.authority)
            snapshot = committed.snapshot
        # Also of a table that stays as it is: it may be the first time that anybody is told.
        for each in self._context.announce:
            each.tell(self._engine, reused.table, snapshot)
        pinned = PinnedTable(reused.table, snapshot)
        self.pins.pin(step.id, pinned)
        return StepResult(made_from, pinned=pinned, decision=decision, recommitted=committed)


def recommit(
    reused: RecordedResult, info: Mapping[str, str], authority: CommitAuthority
) -> Committed:
    """Make the files of an earlier version the table's content again, in one commit.

    Raises ConcurrentChange, StoreUnwritable, and ChangeRefused when a file is missing after all.
    """
    recorded = reused.snapshot
    return reused.table.commit(
        Change(
            "REPLACE",
            reused.table.snapshot(),
            recorded.schema,
            recorded.partition_columns,
            recorded.files,
            properties={
                name: value
                for name, value in recorded.configuration.items()
                if name.startswith(_OWN)
            },
            info=info,
            authority=authority,
            comments=reused.comments,
        )
    )


def record_unbuilt_steps(
    forecast: Forecast, reuse: ResultReuse, recorder: Recorder, journal: Journal, times: RunClock
) -> frozenset[str]:
    """Record the steps that need not be built; their ids.

    What cannot be committed again now is left to be tried, and to fail if it must, as a build.
    """
    records = list(_records(forecast, reuse, recorder, times))
    journal.record_all(records)
    return frozenset(each.outcome.step.id for each in records)


def _records(
    forecast: Forecast, reuse: ResultReuse, recorder: Recorder, times: RunClock
) -> Iterator[StepRecord]:
    left: set[str] = set()
    for each in forecast.steps:
        # A reader of what is left must wait for it; a table that is held waits for nothing.
        if not each.held and (not each.settled or left & set(each.step.after)):
            left.add(each.step.id)
            continue
        record = _record(each, reuse, recorder, times)
        if record is None:
            left.add(each.step.id)
        else:
            yield record


def _record(
    each: StepForecast, reuse: ResultReuse, recorder: Recorder, times: RunClock
) -> StepRecord | None:
    now = times.now()
    if each.held:
        return recorder.idle(each.step, now, held=each.reason)
    if each.decision is None or each.decision.reused is None or each.made_from is None:
        return recorder.idle(each.step, now)
    if not reuse.can_reuse:
        return None
    try:
        result = reuse.reuse(each.step, each.made_from, each.decision)
    except InternalError:
        raise
    except RockyError:
        return None
    return recorder.reused(each.step, result, Timing(now, 0))


Choice = Callable[[Step, MadeFrom, Table], Decision]
"""What decides whether a step is built: `rocky.run.reuse.decisions.ReuseDecider`."""


class Builder:
    """Builds the steps of one run. Threads may share it."""

    def __init__(
        self,
        plan: RunPlan,
        context: RunContext,
        inputs: Inputs,
        engine: Engine,
        warehouse: Warehouse,
        reuse: ResultReuse,
        choice: Choice,
    ) -> None:
        self._plan = plan
        self._comments = ProjectComments(plan.compilation)
        self._context = context
        self._inputs = inputs
        self._engine = engine
        self._warehouse = warehouse
        self._pins = reuse.pins
        self._choice = choice
        self._reuse = reuse
        self._prefix = "rocky_" + "".join(each for each in context.run_id if each.isdigit())
        self._read = frozenset(each for step in plan.steps for each in step.after)
        self._places = {step.id: place for place, step in enumerate(plan.steps)}

    def close(self) -> None:
        """Drop the run's views."""
        self._inputs.close()

    def build(
        self, step: Step, materialize: Materialize, classify: Classify | None = None
    ) -> StepResult:
        """Bring a model up to date, or find that it is. Raises what `CAUGHT` names.

        `classify` says what an error in a part of the build means.
        """
        if step.kind == "seed":
            return self._load_seed(step)
        model = self._plan.project.models[step.key]
        made_from = self._inputs.made_from(step.key)
        if step.kind == "inline":
            return self._bind_inline(step, model, made_from)
        table = self._warehouse.table(model.target)
        decision = self._choice(step, made_from, table)
        if decision.reused is not None:
            return self._reuse.reuse(step, made_from, decision)
        layout = self._layout(step, model, made_from)
        if layout.by_files:
            driving = find_driving_input(model.sql, made_from)
            made_from = self._inputs.made_from(step.key, driving, layout.pieces)
        elif layout.by_key:
            rows = find_keyed_rows(model.sql, made_from)
            assert rows is not None
            made_from = self._inputs.made_from(step.key, hints=rows.hints(layout.pieces))
        self._inputs.bind(made_from.inputs)
        before = None if self._is_whole(model) else table.snapshot()
        if before is not None:
            # What is kept of a table is read, too.
            self._inputs.check_table(model.name, PinnedTable(table, before))
        build = self._assemble(step, model, made_from, layout, classify)
        built = materialize(build)
        changed = self._inputs.changed_source(made_from.inputs)
        pinned = self._pin_built(step, table, built)
        return StepResult(
            made_from, built.sql, built, build.layout, pinned, decision, changed_source=changed
        )

    def _is_whole(self, model: ModelFile) -> bool:
        """Whether nothing of a model's table is kept."""
        whole = FullRefresh | ContentAddressed | MaterializedView
        return isinstance(model.strategy, whole) or self._context.refreshes(model.key)

    def inputs_of(self, step: Step) -> tuple[KnownInput, ...]:
        """What a step reads, as far as it reads tables and sources."""
        return () if step.kind == "seed" else self._inputs.made_from(step.key).inputs

    def origins_of(self, step: Step) -> Iterator[QueryOrigin]:
        """The queries that a step hands to Spark, and whose they are."""
        return self._inputs.origins_of(step.key)

    def table_of(self, step: Step) -> Table | None:
        """The table a step writes; a query has none."""
        project = self._plan.project
        if step.kind == "seed":
            return self._warehouse.table(seed_target(project.seeds[step.key], project.config))
        if step.kind == "inline":
            return None
        return self._warehouse.table(project.models[step.key].target)

    def _load_seed(self, step: Step) -> StepResult:
        seed = self._plan.project.seeds[step.key]
        table = self._warehouse.table(seed_target(seed, self._plan.project.config))
        context = self._context
        info = {"runId": context.run_id, "model": seed.name, **context.ledger_statement()}
        full_refresh = context.full_refresh and step.selected
        built = load_seed(
            seed,
            table,
            self._engine,
            info,
            context.authority,
            full_refresh=full_refresh,
            masks=mask_sql_of(self._plan.compilation, step.key),
            comments=self._comments.of_seed(step.key),
        )
        return StepResult(None, built.sql, built, pinned=self._pin_built(step, table, built))

    def _pin_built(self, step: Step, table: Table, built: Built) -> PinnedTable | None:
        snapshot = built.commits[-1].snapshot if built.commits else table.snapshot()
        if snapshot is None:
            if any(each.error is not None for each in built.partitions):
                return None
            raise ModelFailed(f"`{step.name}` was built and left no table")
        return self._pin(step, table, snapshot)

    def _pin(self, step: Step, table: Table, snapshot: Snapshot) -> PinnedTable:
        for each in self._context.announce:
            each.tell(self._engine, table, snapshot)
        pinned = PinnedTable(table, snapshot)
        self._pins.pin(step.id, pinned)
        return pinned

    def _layout(self, step: Step, model: ModelFile, made_from: MadeFrom) -> Layout:
        project, inputs = self._plan.project, made_from.inputs

        def driving_files() -> Sequence[SizedFile]:
            driving = find_driving_input(model.sql, made_from)
            return driving.files if driving is not None else ()

        columns, sizes = self._columns(step), [each.bytes for each in inputs]
        layout = choose_layout(
            model, columns, project.config.store, sizes, project.functions, driving_files
        )
        rows = find_keyed_rows(model.sql, made_from) if layout.spread else None
        if rows is None or model.is_python:
            return layout
        return arrive_by_key(layout, model, columns, sizes, rows.order)

    def _assemble(
        self,
        step: Step,
        model: ModelFile,
        made_from: MadeFrom,
        layout: Layout,
        classify: Classify | None,
    ) -> Build:
        context, inputs = self._context, made_from.inputs
        context.watermarks.check(step.key)
        columns = self._columns(step)
        project = self._plan.project
        return Build(
            model=model,
            columns=columns,
            table=self._warehouse.table(model.target),
            query=None if model.is_python else self._inputs.sql_of(model, inputs),
            engine=self._engine,
            layout=layout,
            info=context.info_of(model.name, made_from),
            token=f"{context.run_id}/{context.nonce}/{model.key}",
            view=f"{self._prefix}_step_{self._places[step.id]}",
            now=context.now,
            full_refresh=context.refreshes(step.key),
            window=context.window_of(step.key),
            python_inputs=self._inputs.parameters_of(model, inputs) if model.is_python else None,
            ledger_statement=context.ledger_statement,
            authority=context.authority,
            comments=self._comments.of_model(step.key),
            classify=classify,
            contract=project.contracts.get(step.key),
            masks=mask_sql_of(self._plan.compilation, step.key),
            is_little=reads_little(model, [each.bytes for each in inputs], project.functions),
        )

    def _bind_inline(self, step: Step, model: ModelFile, made_from: MadeFrom) -> StepResult:
        self._inputs.bind_query(step.key)
        sql = self._inputs.sql_of(model, made_from.inputs)
        registration = self._register_view(model)
        return StepResult(made_from, sql, registration=registration, is_read=step.id in self._read)

    def _register_view(self, model: ModelFile) -> str | None:
        """What became of a view in catalogues that are told of views; None where there are none."""
        told = [each for each in self._context.announce if each.tell_view is not None]
        if not told or not isinstance(model.strategy, View):
            return None
        query, target = compose_view(self._plan.project, self._inputs, model.key), model.target
        masks = mask_sql_of(self._plan.compilation, model.key)
        sql = query.sql
        if masks.digest:
            columns = [each.name for each in self._plan.compilation.models[model.key].columns]
            sql = f"SELECT {masks.apply(columns)} FROM (\n{sql}\n)"  # noqa: S608 - ours
        clear = self._plan.compilation.masks.clear.get(model.key, ())
        why = f"it would show `{clear[0]}` clear" if clear else query.why
        for each in told if why is None else ():
            for table in query.tables:
                self._engine.catalogue.register_table(table)
            assert each.tell_view is not None
            name = (target.catalog, target.schema, target.table)
            why = why or each.tell_view(self._engine, name, sql)
        if why is not None and masks.digest:
            raise ModelFailed(f"`{target.full_name}` would not show `{model.name}` masked: {why}")
        return REGISTERED if why is None else f"{NOT_HELD}: {why}"

    def _columns(self, step: Step) -> tuple[StructField, ...]:
        ir = self._plan.compilation.models[step.key]
        return tuple(StructField(each.name, each.type, each.nullable) for each in ir.columns)
