"""The outlook: what a run that was asked for would do, found out without Spark or any trace.

Nothing is claimed, recorded or committed. A run decides again, from what it finds then: somebody
may have changed a table or a file in between. `relies_on` is what was looked at, so that this can
be told.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rocky.compiler.fingerprints import Fingerprints, fingerprints_of
from rocky.ledger import open_reader
from rocky.ledger.lookups import open_lookups
from rocky.ledger.record import RunId
from rocky.plan.steps import RunPlan
from rocky.run.applied import Document
from rocky.run.build import Window
from rocky.run.checksums import Checksums
from rocky.run.environment import foresee_environment
from rocky.run.forecast import Forecast, foresee
from rocky.run.inputs import Inputs
from rocky.run.marks import NO_MARKS, NO_WATERMARK, find_marks
from rocky.run.observed import Scene, observe
from rocky.run.pinning import Pins, pin_inputs
from rocky.run.places import open_project_warehouse
from rocky.run.request import RunRequest, choose_adapter
from rocky.run.resume import Resumption, find_resumption
from rocky.run.reuse import Decider, Memory, ReuseRules
from rocky.run.runner import refuse_errors, targets_of
from rocky.run.sources import Sources
from rocky.run.windows import find_windows


@dataclass(frozen=True, slots=True)
class Outlook:
    """What would become of every step.

    Not `certain` where only Spark can say what it is: what would be reused is reused only if that
    has not changed. `resumes` is the unfinished run that would be gone on with.
    """

    forecast: Forecast
    certain: bool = True
    resumes: RunId | None = None
    relies_on: Document = field(default_factory=dict)
    fingerprints: Mapping[str, Fingerprints] = field(default_factory=dict)
    env_hash: str | None = None


def foresee_request(
    plan: RunPlan, request: RunRequest, *, state: Path, environment: Mapping[str, str]
) -> Outlook:
    """What a run of this request would do now.

    Raises RunRefused, InputNotBuilt, and what store and ledger raise that cannot be read.
    """
    refuse_errors(plan)
    targets_of(plan)
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    warehouse = open_project_warehouse(adapter, project.root, environment)
    pins = Pins(pin_inputs(plan, warehouse))
    expected = foresee_environment(adapter, environment, project.root)
    # Sums that are found are not kept: that is for runs to do.
    sources = Sources(project.root, adapter.conf, Checksums(project.root))
    fingerprints = fingerprints_of(plan.compilation, [step.key for step in plan.steps])
    now = datetime.now(UTC)
    with ExitStack() as opened:
        memory, resumption, windows = _remember(plan, request, state, opened, now)
        scene = Scene(plan, warehouse, pins, sources, memory.lookups, windows, now)
        # First: deciding pins what is taken over, and what is relied on is how it was before.
        relies_on = observe(scene)
        marks = NO_MARKS
        if memory.lookups is not None:
            marks = find_marks(plan, memory.lookups, warehouse)
        rules = ReuseRules.of(
            project.config.reuse,
            full_refresh=request.full_refresh,
            rebuild=request.rebuild,
            reuse=request.reuse,
            refreshed=dict.fromkeys(marks.refreshed, NO_WATERMARK),
        )
        forecast = foresee(
            plan,
            Inputs(plan, fingerprints, pins, sources),
            Decider(plan, rules, memory, expected, resumption),
            warehouse,
            pins,
            reload_seeds=request.full_refresh,
        )
    return Outlook(
        forecast,
        expected is not None,
        resumption.run_id,
        relies_on,
        fingerprints,
        None if expected is None else expected.hash,
    )


def _remember(
    plan: RunPlan, request: RunRequest, state: Path, opened: ExitStack, now: datetime
) -> tuple[Memory, Resumption, dict[str, Window]]:
    """What the ledger says of the plan's models; nothing where there is none.

    The windows are those of time-interval models. Raises as `find_windows`.
    """
    lookups, reader = open_lookups(state), open_reader(state)
    if lookups is None or reader is None:
        windows = find_windows(plan, request.window, None, now)
        return Memory(), Resumption(), {} if request.full_refresh else windows
    memory = Memory.of(plan, opened.enter_context(lookups))
    with reader:
        windows = find_windows(plan, request.window, reader, now)
        if request.full_refresh:
            return memory, Resumption(), {}
        return memory, Resumption() if request.rebuild else find_resumption(plan, reader), windows
