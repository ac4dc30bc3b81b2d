"""The runner: a plan carried out, every step recorded as it ends, a report at the end.

The order is fixed: refuse what did not compile, pin what is read, claim what will be written, start
Spark, build, record, judge. Nothing is written before the claim, and whatever happens after it,
the run's record is completed.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from rocky.compiler.fingerprints import Fingerprints, fingerprints_of
from rocky.errors import RockyError, StoreUnreadable, StoreUnwritable
from rocky.evidence.retention.sweep import sweep_if_due
from rocky.ledger.pipeline_state import append_counts
from rocky.ledger.run_records import EngineRecord, RunStatus
from rocky.ledger.writer import RunFindings
from rocky.plan.refusals import refuse_errors
from rocky.plan.request import Limits
from rocky.plan.steps import RunPlan
from rocky.plan.watermarks import WatermarkFindings
from rocky.run.engine.classified import ClassifiedColumns
from rocky.run.engine.protocol import Engine, EngineEnd
from rocky.run.execute.builder import Builder, ResultReuse, record_unbuilt_steps
from rocky.run.execute.scheduler import Throttle
from rocky.run.execute.unfit_steps import (
    record_left_out_steps,
    record_missing_sources,
    record_refused_steps,
)
from rocky.run.outcomes import (
    NO_CONCLUSION,
    Conclusion,
    EndedSteps,
    Listener,
    RunResult,
    SilentListener,
    step_warnings,
)
from rocky.run.prepare import mask_changes
from rocky.run.prepare.claims import (
    BegunRun,
    begin_run,
    is_remote_unreadable,
    ledger_statement,
    look_at_watermarks,
    opening_record,
    require_writable,
    targets_of,
    visible_head,
    write_ledger_anchor,
)
from rocky.run.prepare.inputs import Inputs
from rocky.run.prepare.lost_state import refuse_lost_plan
from rocky.run.prepare.pins import Pins, pin_inputs
from rocky.run.prepare.preconditions import check_preconditions
from rocky.run.prepare.resources import RunClock, RunContext, RunParameters, RunResources
from rocky.run.prepare.workload import foresee_work
from rocky.run.record.commits import CommitAdopter
from rocky.run.record.journal import Journal, report_run
from rocky.run.record.provenance import ProvenanceMaker
from rocky.run.record.recorder import Recorder
from rocky.run.reuse.decisions import ReuseDecider, ReuseRules
from rocky.run.reuse.forecast import forecast_steps
from rocky.run.reuse.history import BuildHistory, Resumption, find_resumption
from rocky.run.reuse.holds import find_holds
from rocky.run.run_log import logged_start

if TYPE_CHECKING:
    from rocky.run.execute.step_tests import RunTests


def run_plan(
    plan: RunPlan,
    resources: RunResources,
    options: RunParameters = RunParameters(),  # noqa: B008 - frozen
    *,
    listener: Listener | None = None,
    stop: Event | None = None,
    clock: Callable[[], datetime] | None = None,
) -> RunResult:
    """Carry out a plan. A model that fails is in the report; only what concerns all is raised.

    Raises RunRefused, StateLost, PlanOutdated, InputNotBuilt, LedgerLocked, SparkUnavailable, and
    what store and ledger raise when they cannot be read or written.
    """
    refuse_errors(plan)
    pinned = pin_inputs(plan, resources.warehouse)
    mask_changes.refuse_otherwise_masked(plan, pinned, resources.warehouse)
    pins = Pins(pinned)
    tables = [resources.warehouse.table(each) for each in targets_of(plan)]
    with resources.ledger.reader() as reader:
        # A full refresh was asked for to build anew what an earlier run left.
        anew = options.rebuild or options.full_refresh
        resumption = Resumption() if anew else find_resumption(plan, reader)
    fingerprints = fingerprints_of(plan.compilation, [step.key for step in plan.steps])
    times = RunClock.begin(clock or resources.clock)
    record = opening_record(plan, resources, options, times.started_at)
    refuse_lost_plan(plan, resources, start_anew=options.start_anew)
    with ExitStack() as held:
        begun = begin_run(resources, record, tables, held)
        # Not before the claim: until then somebody may delete a watermark.
        watermarks = look_at_watermarks(plan, resources, begun.run_id, times)
        check_preconditions(plan, resources, options, pins, begun.run_id, times)
        work = _RunInProgress(plan, resources, options, begun, times, watermarks)
        return work.carry_out(
            fingerprints, pins, resumption, listener or SilentListener(), stop or Event()
        )


@dataclass(frozen=True, slots=True)
class _StepTools:
    """What a run's steps are taken with."""

    fingerprints: Mapping[str, Fingerprints]
    pins: Pins
    resumption: Resumption
    memory: BuildHistory
    journal: Journal
    stop: Event


class _RunInProgress:
    """A run that has begun: it must be finished, whatever happens."""

    def __init__(
        self,
        plan: RunPlan,
        resources: RunResources,
        options: RunParameters,
        begun: BegunRun,
        times: RunClock,
        watermarks: WatermarkFindings,
    ) -> None:
        self._plan = plan
        self._resources = resources
        self._ledger = resources.ledger
        self._options = options
        self._run_id = begun.run_id
        self._times = times
        self._warnings: list[str] = []
        self._anchored = False
        self._context = RunContext(
            begun.run_id,
            times.started_at,
            options.full_refresh,
            options.windows or {},
            resources.announce,
            partial(ledger_statement, resources),
            begun.authority,
            watermarks,
            options.notes.steps,
            options.notes.pipeline,
            mask_changes.find_remasked(plan, resources.warehouse, options),
        )
        seeds, unread = plan.project.seeds, is_remote_unreadable(resources)
        self._adopter = CommitAdopter(resources.ledger, begun.run_id, seeds, partial=unread)
        self._engine: Engine | None = None
        self._tests: RunTests | None = None
        self._engine_end: EngineEnd | None = None
        self._log = resources.open_log(begun.run_id)
        for each in () if options.full_refresh else watermarks.forgotten:
            self._warn(each)

    def carry_out(
        self,
        fingerprints: Mapping[str, Fingerprints],
        pins: Pins,
        resumption: Resumption,
        listener: Listener,
        stop: Event,
    ) -> RunResult:
        journal = Journal(self._plan, self._run_id, self._ledger, listener, self._log)
        try:
            self._anchor()
            with self._ledger.lookups() as lookups:
                journal.tell(lambda each: each.queued(self._run_id, self._plan.all_steps))
                # Held by nobody else: of ten thousands of models it is much, and done with then.
                memory = BuildHistory.of(self._plan, lookups)
                tools = _StepTools(fingerprints, pins, resumption, memory, journal, stop)
                self._take_steps(tools)
                del memory, tools
                concluded = self._conclude(journal, stop)
                append_counts(self._ledger, concluded.counts)
        except BaseException as error:
            self._give_up(error)
            raise
        report = report_run(
            self._plan,
            self._run_id,
            journal.outcomes,
            self._times,
            resumed_from=resumption.run_id,
            notes=self._options.notes,
            concluded=concluded,
        )
        self._ledger.finish_run(
            self._run_id,
            report.status,
            report.finished_at,
            found=RunFindings(
                report.totals,
                report.budget.breaches,
                concluded.check_outcomes,
                concluded.anomalies,
            ),
            reason=None if self._engine_end is None else self._engine_end.message,
            anchored=self._anchored,
        )
        # Forgets old runs that nothing needs, now and then; the anchor comes after it.
        retention = self._plan.project.config.state.retention
        sweep_if_due(self._ledger, [self._resources.warehouse], retention, self._times.now())
        self._anchor()
        noted = self._engine.notes if self._engine is not None else ()
        for warning in (*step_warnings(report.outcomes), *concluded.warnings, *noted):
            self._warn(warning)
        self._log_output()
        warnings, end = tuple(self._warnings), self._engine_end
        return replace(report, warnings=warnings, engine_end=end, log=self._log.path)

    def _conclude(self, journal: Journal, stop: Event) -> Conclusion:
        """What tests found, or what a pipeline has to say when all its tables are done with."""
        if self._tests is not None:
            return self._tests.conclude()
        conclude = self._options.notes.conclude
        if conclude is None or stop.is_set() or self._engine_end is not None:
            return NO_CONCLUSION
        now, hides = self._times.now(), self._resources.disclosure
        return conclude(EndedSteps(self._run_id, journal.outcomes, self._open_engine, now, hides))

    def _take_steps(self, tools: _StepTools) -> None:
        """Settle what needs no Spark, then build the rest."""
        resources = self._resources
        engine: Engine | None = None
        environment = resources.environment
        if environment is None:
            engine = self._open_engine()
            environment = resources.observe(engine.facts)
        inputs = self._inputs(tools)
        decider = ReuseDecider(
            self._plan, self._rules(), tools.memory, environment, tools.resumption
        )
        force = self._options.force
        forecast = forecast_steps(
            self._plan,
            inputs,
            decider,
            resources.warehouse,
            tools.pins,
            reload_seeds=self._options.full_refresh,
            tell_views=any(each.tell_view is not None for each in resources.announce),
            holds=find_holds(self._plan, tools.fingerprints, self._ledger.path, force=force),
        )
        mask_changes.refuse_held_otherwise(self._plan, forecast.steps, resources.warehouse)
        prover = ProvenanceMaker(self._plan, self._context, inputs, environment)
        recorder = self._recorder(prover)
        reuse = ResultReuse(self._context, tools.pins, self._adopter.refuse_altered)
        record_left_out_steps(self._plan, recorder, tools.journal, self._times)
        settled = record_unbuilt_steps(forecast, reuse, recorder, tools.journal, self._times)
        notes = self._options.notes.steps
        refused = record_refused_steps(self._plan, notes, recorder, tools.journal, self._times)
        rest = [step for step in self._plan.steps if step.id not in settled | refused]
        absent = record_missing_sources(
            self._plan, rest, resources.sources, recorder, tools.journal, self._times
        )
        rest = [step for step in rest if step.id not in absent]
        if tools.stop.is_set():
            tools.journal.record_all([recorder.left(step, self._times.now()) for step in rest])
        elif rest or self._options.has_tests(self._plan):
            require_writable(self._plan, rest, resources.warehouse)
            if engine is None:
                resources.expected.work = foresee_work(
                    self._plan, rest, resources.warehouse, resources.sources
                )
            self._build(engine or self._open_engine(), tools, settled, refused | absent)

    def _build(
        self, engine: Engine, tools: _StepTools, settled: frozenset[str], refused: frozenset[str]
    ) -> None:
        resources = self._resources
        # What runs may be another Spark than was foreseen.
        environment = resources.observe(engine.facts)
        decider = ReuseDecider(
            self._plan, self._rules(), tools.memory, environment, tools.resumption
        )
        inputs = self._inputs(tools, engine)
        # These know pyspark, which a run that builds nothing must not load.
        from rocky.run.execute.step_tests import RunTests  # noqa: PLC0415
        from rocky.run.execute.steps import StepExecution  # noqa: PLC0415
        from rocky.run.materialize.strategy import materialize  # noqa: PLC0415
        from rocky.run.reuse.cutoff import ColumnCutoff  # noqa: PLC0415

        choice = partial(decider.decide, cutoff=ColumnCutoff(self._plan, engine))
        reuse = ResultReuse(self._context, tools.pins, self._adopter.refuse_altered, engine)
        builder = Builder(
            self._plan, self._context, inputs, engine, resources.warehouse, reuse, choice
        )
        prover = ProvenanceMaker(self._plan, self._context, inputs, environment)
        recorder = self._recorder(prover)
        if self._options.test:
            self._tests = RunTests(
                self._plan, engine, resources.warehouse, tools.stop, self._times.now
            )
        tests, hides = self._tests, resources.disclosure
        work = StepExecution(
            self._plan, engine, builder, recorder, tools.journal, self._times, tests, hides
        )
        limits = self._options.limits or Limits(self._options.parallel)
        # Tests of what is only reused come in the same order as those of what is built.
        ended = refused if self._options.test else refused | settled
        steps = [step for step in self._plan.steps if step.id not in ended]
        build = resources.build_table or materialize
        work.run(steps, Throttle(limits, len(refused)), tools.stop, build, settled)
        self._engine_end = work.engine_end

    def _inputs(self, tools: _StepTools, engine: Engine | None = None) -> Inputs:
        sources, check = self._resources.sources, self._adopter.refuse_foreign
        return Inputs(self._plan, tools.fingerprints, tools.pins, sources, engine, check)

    def _recorder(self, prover: ProvenanceMaker) -> Recorder:
        return Recorder(self._plan, self._run_id, prover, self._adopter, self._options.notes.steps)

    def _rules(self) -> ReuseRules:
        asked = self._options
        return ReuseRules.of(
            self._plan.project.config.reuse,
            full_refresh=asked.full_refresh,
            rebuild=asked.rebuild,
            reuse=asked.reuse,
            refreshed=self._context.refreshed,
        )

    def _anchor(self) -> None:
        """Leave the ledger's head with the tables: a ledger that is put back is found by it.

        A warehouse that cannot be written is for the models to fail on; here it is a warning.
        """
        ledger = self._ledger
        if is_remote_unreadable(self._resources):
            # What is recorded now may get other numbers when it is published.
            return
        try:
            written = write_ledger_anchor(
                self._resources.warehouse,
                ledger,
                visible_head(self._resources),
                self._run_id,
                self._times.now(),
                self._resources.remote,
                anew=self._options.start_anew,
            )
        except (StoreUnreadable, StoreUnwritable) as error:
            self._warn(f"could not write the ledger's anchor to the warehouse: {error}")
            return
        self._anchored = self._anchored or written
        if not written:
            self._warn(
                f"the warehouse has a later anchor than `{ledger.path.name}`: the state file was"
                " replaced by an older copy, or changed; `rocky verify` says more"
            )

    def _warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _open_engine(self) -> Engine:
        if self._engine is not None:
            return self._engine
        with logged_start(self._log):
            engine = self._engine = self._resources.open_engine()
        facts = engine.facts
        record = EngineRecord(facts.spark_version, facts.writer, facts.settings)
        self._ledger.amend_run(self._run_id, engine=record.to_json())
        return engine

    def _log_output(self) -> None:
        """Keep what Spark printed of a run in which something failed."""
        if self._engine is not None and (self._log.path or self._engine_end is not None):
            secret = ClassifiedColumns(self._plan.compilation, self._resources.disclosure).any
            self._log.add_output(self._engine.output, secret)

    def _give_up(self, error: BaseException) -> None:
        """Close the record of a run that cannot continue; the error that stopped it is raised."""
        end = self._engine.end if self._engine is not None else None
        told = type(error).__name__ if end is None else end.message
        said = str(error) if isinstance(error, RockyError) else told
        self._log_output()
        interrupted = isinstance(error, KeyboardInterrupt)
        self._ledger.finish_run(
            self._run_id,
            RunStatus.INTERRUPTED if interrupted else RunStatus.FAILURE,
            self._times.now(),
            reason=said or type(error).__name__,
            anchored=self._anchored,
        )
        self._anchor()
