"""What follows a commit or an unfinished run: metadata for other readers, leftovers removed.

None of it can spoil a table: Iceberg metadata says what the Delta log says, and only files that no
version refers to are removed, an hour after they were written, when no writer can still want them.
"""

from datetime import timedelta
from typing import Final

from rocky.plan.steps import RunPlan
from rocky.run.build import Build, Built
from rocky.run.building import Materialize
from rocky.run.outcomes import RunReport
from rocky.store.iceberg import publish_iceberg
from rocky.store.sweep import sweep_table
from rocky.store.warehouse import Warehouse

LEFT_FOR: Final = timedelta(hours=1)


def publishing_iceberg(materialize: Materialize) -> Materialize:
    """The same strategy, with Iceberg metadata after its last commit."""

    def build_and_publish(build: Build) -> Built:
        built = materialize(build)
        if built.commits:
            publish_iceberg(build.table, built.commits[-1].snapshot)
        return built

    return build_and_publish


def registering(materialize: Materialize) -> Materialize:
    """The same strategy, with the table registered in Spark's catalogue after its last commit."""

    def build_and_register(build: Build) -> Built:
        built = materialize(build)
        # Also when nothing was committed: the catalogue may be a new one.
        if build.table.snapshot() is not None:
            build.engine.register(build.table)
        return built

    return build_and_register


def sweep_after(plan: RunPlan, report: RunReport, warehouse: Warehouse) -> int:
    """Remove what an unfinished run left behind in the tables this one built; how many files."""
    if report.resumed_from is None:
        return 0
    before = round((report.started_at - LEFT_FOR).timestamp() * 1000)
    built = [
        warehouse.table(plan.project.models[each.step.key].target)
        for each in report.outcomes
        if each.succeeded and each.step.kind == "build"
    ]
    return sum(len(sweep_table(table, before)) for table in built)
