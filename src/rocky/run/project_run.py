"""A whole run put together: warehouse, ledger and Spark opened, the plan carried out, all closed.

What can be refused without Spark is refused before Spark starts. A session that was handed in is
used and left as it was.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from rocky.errors import RunRefused
from rocky.lazy import load_attribute
from rocky.ledger import open_ledger
from rocky.plan.steps import RunPlan
from rocky.run.aftermath import announcements_for, sweep_after
from rocky.run.checksums import Checksums
from rocky.run.circumstances import Circumstances
from rocky.run.engine import Engine
from rocky.run.environment import foresee_environment, observe_environment
from rocky.run.interrupts import stop_on_interrupt
from rocky.run.listener import Listener
from rocky.run.outcomes import RunReport
from rocky.run.places import open_project_warehouse
from rocky.run.request import RunRequest, choose_adapter
from rocky.run.runner import RunOptions, Surroundings, run_plan
from rocky.run.sources import Sources
from rocky.run.windows import windows_of
from rocky.spark.drivers import has_driver


def run_request(
    plan: RunPlan,
    request: RunRequest,
    *,
    state: Path,
    circumstances: Circumstances,
    environment: Mapping[str, str],
    listener: Listener,
    spark: Any = None,
) -> RunReport:
    """Carry out a request. `spark` is the caller's own session. Raises as `run_plan` does."""
    project = plan.project
    if project.config.state.backend != "local":
        raise RunRefused(
            f'`[state] backend = "{project.config.state.backend}"` cannot be kept yet: records'
            " would stay on this machine; leave it out, or set it to `local`"
        )
    adapter = choose_adapter(project, plan, request.adapter)
    stop = Event()
    with ExitStack() as opened:
        opened.enter_context(stop_on_interrupt(stop))
        ledger = opened.enter_context(open_ledger(state))

        def open_engine() -> Engine:
            # Knows pyspark, which a run that builds nothing must not load.
            open_project_engine = load_attribute("rocky.run.opening", "open_project_engine")
            engine: Engine = opened.enter_context(open_project_engine(adapter, project.root, spark))
            return engine

        warehouse = open_project_warehouse(adapter, project.root, environment)
        checksums = Checksums(project.root)
        opened.callback(checksums.save)
        surroundings = Surroundings(
            warehouse,
            ledger,
            circumstances,
            open_engine,
            Sources(project.root, adapter.conf, checksums),
            partial(
                observe_environment,
                adapter=adapter,
                env=environment,
                root=project.root,
                # Asked now: later it may be the one that this run started.
                own=spark is None and adapter.remote is None and not has_driver(),
            ),
            foresee_environment(adapter, environment, project.root) if spark is None else None,
            announce=announcements_for(adapter),
        )
        options = RunOptions(
            request.parallel,
            request.full_refresh,
            request.rebuild,
            request.reuse,
            (*request.select, *(f"!{each}" for each in request.exclude)),
            request.pipeline,
            windows_of(plan, request.window, ledger, datetime.now(UTC)),
        )
        report = run_plan(plan, surroundings, options, listener=listener, stop=stop)
        sweep_after(plan, report, warehouse, ledger)
        return report
