"""A run from Python passes the same gates as one from the command line."""

import pytest

from rocky.errors import InvalidRequest, NothingSelected, PromotionUnfinished
from rocky.operations.execution.run import (
    FailedPipeline,
    PipelineEnding,
    SkippedRun,
    WithheldPipeline,
    run,
)
from rocky.operations.execution.run_report import ModelsRun
from rocky.operations.findings import ErrorsFound
from rocky.plan.request import RunRequest, Window
from rocky.run import project_run

LOADS = """
[pipeline.files]
type = "load"
source_dir = "files"
target = { catalog = "c", schema = "files" }

[pipeline.later]
type = "load"
source_dir = "later"
target = { catalog = "c", schema = "later" }
depends_on = ["files"]
"""


@pytest.mark.slow
def test_a_run_reports_what_it_built_and_uses_the_callers_spark(shop):
    report = run(shop.workspace, RunRequest(("+by_country",)))

    assert isinstance(report.run, ModelsRun)
    assert (0, True) == (report.exit_code, report.succeeded)
    assert {"stg_orders", "large", "by_country"} <= {
        each.model for each in report.run.materializations
    }
    assert ["a session"] == shop.sessions
    assert "queued" == shop.heard.said[0][0]
    (record,) = shop.records()
    assert (report.run.run_id, "api") == (record.run_id, record.session_source)


@pytest.mark.slow
def test_a_model_that_fails_is_in_the_report(shop):
    def fail(name: str) -> None:
        if name.endswith("by_country"):
            raise OSError("no space left on device")

    shop.before_write = fail
    report = run(shop.workspace, RunRequest())

    assert isinstance(report.run, ModelsRun)
    assert (2, False) == (report.exit_code, report.succeeded)
    assert ["by_country"] == [each.model for each in report.run.errors]
    assert [("report", ("by_country",))] == [
        (each.model, each.blocked_by) for each in report.run.contained
    ]


def test_errors_in_the_selection_refuse_the_run_and_come_with_it(shop):
    shop.write("models/stg_orders.sql", "SELECT nope FROM raw.orders")

    with pytest.raises(ErrorsFound, match="nothing was run") as refused:
        run(shop.workspace, RunRequest(("report",)))

    assert ["E003"] == [each.code.value for each in refused.value.findings]
    assert ([], ()) == (shop.sessions, shop.records())


@pytest.mark.slow
def test_to_keep_going_leaves_out_the_errors_and_what_stands_on_them(shop):
    shop.write("models/by_country.sql", "SELECT nope FROM stg_orders")
    shop.write("models/apart.sql", "SELECT 1 AS one")
    shop.write("models/apart.toml", 'depends_on = ["by_country"]\n')

    report = run(shop.workspace, RunRequest(keep_going=True))

    assert isinstance(report.run, ModelsRun)
    assert (2, False) == (report.exit_code, report.succeeded)
    built = {each.model for each in report.run.materializations}
    assert {"stg_orders", "large"} <= built
    assert not built & {"by_country", "report", "apart"}
    (error,) = report.run.errors
    assert ("by_country", "compile_error") == (error.model, error.failure_kind)
    assert "models/by_country.sql:1:8: no column `nope` in scope" == error.error
    assert ["E003"] == [each.code for each in error.diagnostics]
    held = {each.model: each.blocked_by for each in report.run.contained}
    assert dict.fromkeys(["report", "apart"], ("by_country",)) == held
    (record,) = shop.records()
    recorded = {each.model_name: each.status.value for each in record.models_executed}
    assert ("failed", "skipped") == (recorded["by_country"], recorded["report"])


def test_a_broken_macro_refuses_the_run_of_its_callers_or_leaves_them_out(shop):
    shop.write("macros/broken.sql", "CREATE MACRO broken(x EXPRESSION) RETURN ((@x\n")
    shop.write("models/caller.sql", "SELECT @broken(1) AS one")

    with pytest.raises(ErrorsFound, match="nothing was run") as refused:
        run(shop.workspace, RunRequest(("caller", "alone")))

    assert ["E070"] == [each.code.value for each in refused.value.findings]
    assert ([], ()) == (shop.sessions, shop.records())
    report = run(shop.workspace, RunRequest(("caller", "alone"), keep_going=True))
    assert isinstance(report.run, ModelsRun)
    assert ["alone"] == [each.model for each in report.run.materializations]
    (error,) = report.run.errors
    assert ("caller", "compile_error") == (error.model, error.failure_kind)
    assert ["E070"] == [each.code for each in error.diagnostics]


def test_a_contract_that_cannot_be_read_refuses_the_run_of_its_model(shop):
    shop.write("models/alone.contract.toml/kept.txt", "a folder is no contract\n")

    with pytest.raises(ErrorsFound, match="nothing was run") as refused:
        run(shop.workspace, RunRequest(("alone",)))

    assert [("E017", "alone")] == [(each.code.value, each.model) for each in refused.value.findings]
    assert ([], ()) == (shop.sessions, shop.records())


@pytest.mark.parametrize("broken", ["models/stg_orders.sql", "rocky.toml"])
def test_to_keep_going_needs_something_that_stands_on_no_error(shop, broken):
    text = "SELECT nope FROM raw.orders" if broken.startswith("models") else "[adaptor]\n"
    shop.write(broken, text)

    with pytest.raises(ErrorsFound, match="nothing was run"):
        run(shop.workspace, RunRequest(("report",), keep_going=True))

    assert ([], ()) == (shop.sessions, shop.records())


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (RunRequest(idempotency_key=" "), "is empty"),
        (RunRequest(window=Window(partition="2026-01-01", latest=True)), "cannot be used together"),
        (RunRequest(window=Window(start="2026-01-01"), full_refresh=True), "every time interval"),
        (RunRequest(filters=("tenant=acme",)), "`--filter` is for pipelines that copy tables"),
    ],
)
def test_what_contradicts_itself_is_refused(shop, request_, said):
    with pytest.raises(InvalidRequest, match=said):
        run(shop.workspace, request_)

    assert () == shop.records()


def test_a_branch_that_was_never_made_is_not_run(shop):
    with pytest.raises(NothingSelected, match="no branch `feature`"):
        run(shop.on(branch_name="feature"), RunRequest())

    assert not (shop.root / "warehouse").exists()


@pytest.mark.slow
def test_under_a_key_that_was_used_nothing_is_run_and_that_is_no_failure(shop):
    request = RunRequest(("alone",), idempotency_key="night")
    first = run(shop.workspace, request)
    again = run(shop.workspace, request)

    assert isinstance(first.run, ModelsRun)
    assert isinstance(again.run, SkippedRun)
    assert ("SkippedIdempotent", first.run.run_id) == (
        again.run.status,
        again.run.skipped_by_run_id,
    )
    assert (0, True) == (again.exit_code, again.succeeded)


def test_an_interrupted_promotion_is_seen_to_before_the_run(shop, monkeypatch):
    met: list[str] = []
    real = project_run.run_request

    def meet_one(plan, request, caller):
        met.append("run")
        if len(met) == 1:
            raise PromotionUnfinished("half moved")
        return real(plan, request, caller)

    monkeypatch.setattr(project_run, "run_request", meet_one)
    monkeypatch.setattr(
        "rocky.operations.branch.promotion.recover_before_run",
        lambda workspace, project: met.append(f"recovered {workspace.config.name}"),
    )
    report = run(shop.workspace, RunRequest(("alone",)))

    assert ["run", f"recovered {shop.root.name}", "run"] == met
    assert report.succeeded


@pytest.mark.slow
def test_of_several_pipelines_each_has_an_ending_and_is_told_as_it_ends(shop):
    shop.append("rocky.toml", LOADS)
    shop.write("later/orders.csv", "id\n1\n")
    told: list[PipelineEnding] = []

    report = run(shop.workspace, RunRequest(), ended=told.append)

    assert report.pipelines == tuple(told)
    assert [("shop", ModelsRun), ("files", FailedPipeline), ("later", WithheldPipeline)] == [
        (each.pipeline, type(each.ending)) for each in report.pipelines
    ]
    assert (2, False) == (report.exit_code, report.succeeded)
