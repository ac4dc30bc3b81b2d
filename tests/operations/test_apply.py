"""A plan from Python is kept and applied with every check that the command line makes."""

import pytest

from rocky.errors import InvalidRequest, PlanOutdated, PlanUnreadable, RunRefused
from rocky.operations.execution.apply import ApplyRequest, apply
from rocky.operations.execution.run import run
from rocky.operations.findings import ErrorsFound
from rocky.operations.plan import plan
from rocky.operations.plan.report import ModelsOutlook
from rocky.plan.request import RunRequest


def test_a_plan_says_what_would_become_of_each_step_and_is_kept(shop):
    report = plan(shop.workspace, RunRequest(("alone",)))

    (planned,) = report.runs
    assert isinstance(planned.outlook, ModelsOutlook)
    assert [("alone", "build", "first build")] == [
        (each.model, each.decision, each.reason) for each in planned.outlook.model_decisions
    ]
    assert (shop.root / f".rocky/plans/{report.plan_id}.json").is_file()
    # The session that was handed in is asked what it would make results with.
    assert (["a session"], ()) == (shop.sessions, shop.records())


def test_errors_keep_a_plan_from_being_made(shop):
    shop.write("models/alone.sql", "SELECT nope FROM nowhere")

    with pytest.raises(ErrorsFound):
        plan(shop.workspace, RunRequest(("alone",)))

    assert not (shop.root / ".rocky/plans").exists()


def test_a_variable_that_is_called_as_secrets_are_is_refused(shop):
    shop.write("models/alone.sql", "SELECT '@var(api_token)' AS one")

    with pytest.raises(RunRefused, match="has the name of a secret"):
        plan(shop.on(variables={"api_token": "S3CRET"}), RunRequest(("alone",)))


def test_a_plan_that_holds_is_carried_out_once(shop):
    kept = plan(shop.workspace, RunRequest(("alone",))).plan_id
    begun: list[str] = []

    report = apply(
        shop.workspace, ApplyRequest(kept[:12]), begun=lambda it: begun.append(it.plan_id)
    )

    assert (kept, [kept], True, 0) == (
        report.plan_id,
        begun,
        report.success,
        report.result.exit_code,
    )
    assert [kept] == [each.plan_id for each in shop.records()]
    with pytest.raises(PlanOutdated, match="already applied"):
        apply(shop.workspace, ApplyRequest(kept))
    assert 1 == len(shop.records())


def test_a_plan_whose_code_or_tables_moved_is_not_carried_out(shop):
    kept = plan(shop.workspace, RunRequest(("alone",))).plan_id
    shop.write("models/alone.sql", "SELECT 2 AS one")

    with pytest.raises(PlanOutdated, match="`alone`"):
        apply(shop.workspace, ApplyRequest(kept))
    shop.write("models/alone.sql", "SELECT 1 AS one")
    run(shop.workspace, RunRequest(("alone",)))
    with pytest.raises(PlanOutdated):
        apply(shop.workspace, ApplyRequest(kept))

    assert 1 == len(shop.records())


def test_a_plan_over_budget_is_not_carried_out(shop):
    run(shop.workspace, RunRequest(("alone",)))
    shop.append("rocky.toml", '[budget]\nmax_bytes_scanned = 10\non_breach = "error"\n')
    report = plan(shop.workspace, RunRequest(("alone",), rebuild=True))

    assert report.has_budget_errors
    with pytest.raises(RunRefused, match="over budget"):
        apply(shop.workspace, ApplyRequest(report.plan_id))


def test_a_plan_is_for_its_own_branch_and_variables(shop):
    kept = plan(shop.workspace, RunRequest(("alone",))).plan_id

    with pytest.raises(InvalidRequest, match="is of production"):
        apply(shop.on(branch_name="feature"), ApplyRequest(kept))
    with pytest.raises(InvalidRequest, match="its own variables"):
        apply(shop.on(variables={"n": "1"}), ApplyRequest(kept))
    with pytest.raises(PlanUnreadable):
        apply(shop.workspace, ApplyRequest("0" * 8))

    assert () == shop.records()
