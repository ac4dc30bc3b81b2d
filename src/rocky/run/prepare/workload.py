"""The workload: what a run will ask of Spark, as far as that can be told before Spark starts.

Small is a run of few models over little data, all of which can be measured here. What is built on
the way is not known yet, so a model that may make many rows of few is not small; nor is one in
Python, which may do anything.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rocky.errors import InternalError, RockyError
from rocky.plan.steps import RunPlan, Step
from rocky.run.engine.sources import Sources
from rocky.run.materialize.build import may_make_rows
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import warm_up
from rocky.spark.warmup import SMALL_BYTES, SMALL_STEPS, UNKNOWN_WORK, Work
from rocky.store.warehouse import Table, Warehouse

_CHANGES_CASE: Final = re.compile(r"\b(?:upper|lower|initcap|ucase|lcase)\s*\(", re.IGNORECASE)


def foresee_work(
    plan: RunPlan, steps: Sequence[Step], warehouse: Warehouse, sources: Sources
) -> Work:
    """What Spark will have to do to take these steps. Nothing is pinned.

    Where a file cannot be read any more nothing is known: the step that needs it says why.
    """
    try:
        return _foresee(plan, steps, warehouse, sources)
    except InternalError:
        raise
    except RockyError:
        return UNKNOWN_WORK


def _foresee(plan: RunPlan, steps: Sequence[Step], warehouse: Warehouse, sources: Sources) -> Work:
    models = [plan.project.models[step.key] for step in steps if step.kind != "seed"]
    # With variables and macros in place: what runs, not what was written.
    texts = [model.text if model.is_python else model.sql for model in models]
    small = (
        len(steps) <= SMALL_STEPS
        and not any(model.is_python for model in models)
        and not any(map(may_make_rows, texts))
        and _is_little(_sizes(plan, steps, warehouse, sources))
    )
    return Work(small, any(map(_CHANGES_CASE.search, texts)))


def _is_little(sizes: Iterable[int | None]) -> bool:
    """Whether all are known and together small."""
    total = 0
    for size in sizes:
        if size is None:
            return False
        total += size
        if total > SMALL_BYTES:
            return False
    return True


def _sizes(
    plan: RunPlan, steps: Sequence[Step], warehouse: Warehouse, sources: Sources
) -> Iterator[int | None]:
    """The bytes of everything there is that the steps read; None where nobody knows."""
    project = plan.project
    for key in {read.key for step in steps for read in step.reads if read.kind == "source"}:
        yield sources.size(project.sources[key])
    for step in steps:
        if step.kind == "seed":
            try:
                yield (sources.root / project.seeds[step.key].path).stat().st_size
            except OSError:
                yield None
    # A table that is built may be read too: a merge keeps most of it.
    for snapshot in warm_up(_tables(plan, steps, warehouse)):
        yield 0 if snapshot is None else snapshot.bytes


def _tables(plan: RunPlan, steps: Sequence[Step], warehouse: Warehouse) -> list[Table]:
    project = plan.project
    read = {(each.kind, each.key) for step in steps for each in step.reads}
    models = {key for kind, key in read if kind == "model"}
    models |= {step.key for step in steps if step.kind != "seed"}
    seeds = {key for kind, key in read if kind == "seed"}
    return [
        *(warehouse.table(project.models[key].target) for key in sorted(models)),
        *(
            warehouse.table(seed_target(project.seeds[key], project.config))
            for key in sorted(seeds)
        ),
    ]
