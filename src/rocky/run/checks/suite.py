"""The test suite: the tests of some models of a project, run on Spark, as a report of both kinds.

Unit tests come first: they need no table, and a model whose logic is wrong explains much of what
its data looks like.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from rocky.plan.adapters import choose_adapter
from rocky.plan.steps import RunPlan
from rocky.project import ModelFile
from rocky.run.checks.assertions import check_model
from rocky.run.checks.outcomes import (
    AssertionOutcome,
    CheckSelection,
    ChecksReport,
    UnitOutcome,
    models_with_tests,
)
from rocky.run.checks.relations import BoundRelations
from rocky.run.checks.unit_tests import UnitTests
from rocky.run.engine.protocol import Engine
from rocky.run.engine.spark import open_project_engine
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.warehouse import Warehouse


def check_models(
    plan: RunPlan, wanted: CheckSelection, environment: Mapping[str, str], spark: Any = None
) -> ChecksReport:
    """Run the tests of a plan's models; `spark` is the caller's own session.

    Raises what opening Spark and the warehouse raises; a test that cannot run is a failed one.
    """
    project = plan.project
    adapter = choose_adapter(project, plan, wanted.adapter)
    warehouse = open_project_warehouse(adapter, project.root, environment)
    with open_project_engine(adapter, project.root, spark) as engine:
        return run_checks(plan, models_with_tests(plan, wanted), wanted, engine, warehouse)


def run_checks(
    plan: RunPlan,
    models: Sequence[ModelFile],
    wanted: CheckSelection,
    engine: Engine,
    warehouse: Warehouse,
) -> ChecksReport:
    """The tests of some models on an engine that is open."""
    compilation = plan.compilation
    prefix = f"rocky_test_{uuid4().hex[:12]}"
    units: list[UnitOutcome] = []
    if wanted.unit:
        tests = UnitTests(compilation, engine, prefix)
        units = [outcome for model in models for outcome in tests.run(model)]
    assertions: list[AssertionOutcome] = []
    if wanted.data:
        with BoundRelations(compilation, warehouse, engine, prefix) as relations:
            for model in models:
                assertions += check_model(model, relations, engine)
    return ChecksReport(tuple(units), tuple(assertions))
