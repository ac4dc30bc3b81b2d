"""A preview: what a run that was asked for would do, found out without Spark or any trace.

Nothing is claimed, recorded or committed. A run decides again, from what it finds then: somebody
may have changed a table or a file in between. `relies_on` is what was looked at, so that this can
be told.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocky.compiler.fingerprints import Fingerprints, fingerprints_of
from rocky.ledger import open_history_reader
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.record import RunId
from rocky.operations.plan.report import ModelsOutlook, StepOutlook
from rocky.plan.adapters import choose_adapter
from rocky.plan.intervals import IsThere, find_windows
from rocky.plan.kept_plan import PlanDocument
from rocky.plan.refusals import refuse_errors
from rocky.plan.request import RunRequest, Window
from rocky.plan.steps import RunPlan
from rocky.plan.watermarks import NO_WATERMARK, NO_WATERMARK_FINDINGS, check_watermarks
from rocky.project.configuration.blocks import Adapter
from rocky.run.checksums import checksums_of
from rocky.run.engine.sources import Sources
from rocky.run.prepare.claims import targets_of
from rocky.run.prepare.environment import (
    Environment,
    observe_environment,
    predict_environment,
)
from rocky.run.prepare.inputs import Inputs
from rocky.run.prepare.pins import Pins, pin_inputs
from rocky.run.prepare.preconditions import PlanScope, observe_preconditions
from rocky.run.reuse.decisions import ReuseDecider, ReuseRules
from rocky.run.reuse.forecast import Forecast, StepForecast, forecast_steps
from rocky.run.reuse.history import BuildHistory, Resumption, find_resumption
from rocky.run.reuse.holds import find_holds
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class RunPreview:
    """What would become of every step.

    Not `certain` where only Spark can say what it is: what would be reused is reused only if that
    has not changed. `resumes` is the unfinished run that would be continued.
    """

    forecast: Forecast
    certain: bool = True
    resumes: RunId | None = None
    relies_on: PlanDocument = field(default_factory=dict)
    fingerprints: Mapping[str, Fingerprints] = field(default_factory=dict)
    env_hash: str | None = None


def preview_run(
    plan: RunPlan,
    request: RunRequest,
    warehouse: Warehouse,
    *,
    state: Path,
    environment: Mapping[str, str],
    spark: Any = None,
) -> RunPreview:
    """What a run of this request would do now, on `spark` if that is the caller's session.

    Raises RunRefused, InputNotBuilt, and what store and ledger raise that cannot be read.
    """
    refuse_errors(plan)
    targets_of(plan)
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    pins = Pins(pin_inputs(plan, warehouse))
    expected = predict_environment(adapter, environment, project.root)
    if spark is not None:
        expected = _ask_session(spark, adapter, environment, project.root)
    # Sums that are found are not kept: that is for runs to do.
    sources = Sources(project.root, adapter.conf, checksums_of(project))
    fingerprints = fingerprints_of(plan.compilation, [step.key for step in plan.steps])
    now = datetime.now(UTC)
    with ExitStack() as opened:
        memory, resumption, windows = _read_history(
            plan, request, state, opened, now, warehouse.holds
        )
        scene = PlanScope(plan, warehouse, pins, sources, memory.lookups, windows, now)
        # First: deciding pins what is reused over, and what is relied on is how it was before.
        relies_on = observe_preconditions(scene)
        marks = NO_WATERMARK_FINDINGS
        if memory.lookups is not None:
            marks = check_watermarks(plan, memory.lookups, warehouse)
        rules = ReuseRules.of(
            project.config.reuse,
            full_refresh=request.builds_whole,
            rebuild=request.rebuild,
            reuse=request.reuse,
            refreshed=dict.fromkeys(marks.refreshed, NO_WATERMARK),
        )
        forecast = forecast_steps(
            plan,
            Inputs(plan, fingerprints, pins, sources),
            ReuseDecider(plan, rules, memory, expected, resumption),
            warehouse,
            pins,
            reload_seeds=request.builds_whole,
            tell_views=adapter.register,
            holds=find_holds(plan, fingerprints, state, force=request.force),
        )
    return RunPreview(
        forecast,
        expected is not None,
        resumption.run_id,
        relies_on,
        fingerprints,
        None if expected is None else expected.hash,
    )


def _ask_session(
    spark: Any, adapter: Adapter, environment: Mapping[str, str], root: Path
) -> Environment:
    """What the caller's session would make results with."""
    # Knows pyspark, which a plan without a session does without.
    from rocky.run.engine.spark import open_project_engine  # noqa: PLC0415

    with open_project_engine(adapter, root, spark) as engine:
        return observe_environment(engine.facts, adapter, environment, root, own=False)


def _read_history(
    plan: RunPlan,
    request: RunRequest,
    state: Path,
    opened: ExitStack,
    now: datetime,
    is_there: IsThere,
) -> tuple[BuildHistory, Resumption, dict[str, Window]]:
    """What the ledger says of the plan's models; nothing where there is none.

    The windows are those of time-interval models. Raises as `find_windows`.
    """
    lookups, reader = open_lookup_reader(state), open_history_reader(state)
    if lookups is None or reader is None:
        windows = find_windows(plan, request.window, None, now, is_there)
        return BuildHistory(), Resumption(), {} if request.builds_whole else windows
    memory = BuildHistory.of(plan, opened.enter_context(lookups))
    with reader:
        windows = find_windows(plan, request.window, reader, now, is_there)
        if request.builds_whole:
            return memory, Resumption(), {}
        return memory, Resumption() if request.rebuild else find_resumption(plan, reader), windows


def outlook_of(plan: RunPlan, preview: RunPreview) -> ModelsOutlook:
    """What is shown of a preview: what was asked for, and whatever else has something to do."""
    shown = [
        each
        for each in preview.forecast.steps
        if each.step.selected or each.held or not each.settled
    ]
    decisions = tuple(step_outlook(each, preview) for each in shown)
    return ModelsOutlook(
        tuple(step.name for step in plan.steps if step.kind != "seed"),
        tuple(map(tuple, plan.layers)),
        preview.certain,
        Counter(each.decision for each in decisions),
        decisions,
        preview.resumes,
    )


def step_outlook(each: StepForecast, preview: RunPreview) -> StepOutlook:
    """What would become of a step, and why."""
    reused = each.decision.reused if each.decision is not None else None
    if reused is not None and reused.basis == "resume":
        reused = None
    return StepOutlook(
        each.step.name,
        each.step.kind,
        decision_of(each, preview),
        _reason_of(each),
        reused.run_id if reused is not None else None,
        reused.basis if reused is not None else None,
        tuple(each.waits_for),
    )


def decision_of(each: StepForecast, preview: RunPreview) -> str:
    """One of `build`, `reuse`, `resume`, `hold`, `skip`, `bind`, and `depends` where it is open."""
    if each.step.kind == "inline":
        return "skip" if each.idle else "bind"
    if each.idle:
        return "skip"
    if each.decision is None:
        return "depends"
    if each.decision.reused is not None and not preview.certain:
        return "depends"
    return each.decision.verdict


def _reason_of(each: StepForecast) -> str:
    if each.idle:
        return "its file is loaded" if each.step.kind == "seed" else "no reader to be built"
    if each.decision is None and each.waits_for:
        return f"built {each.reason}"
    return each.reason


def may_be_built(each: StepForecast, preview: RunPreview) -> bool:
    """Whether a table would be written, or might be."""
    return each.step.kind != "inline" and decision_of(each, preview) in ("build", "depends")
