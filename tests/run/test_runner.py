import json
import threading
from dataclasses import replace

import pytest
from pyspark.errors import PySparkException

from rocky.errors import InputNotBuilt, LedgerLocked, RunRefused
from rocky.ledger.run_records import BudgetBreach, CostRate, RunStatus
from rocky.ledger.writer import open_ledger
from rocky.run.materialize.build import Build, Built, BuiltPartition
from rocky.run.materialize.strategy import materialize
from rocky.run.outcomes import PipelineContribution
from rocky.run.prepare.resources import RunParameters
from tests.run.runs import TABLE, Shop, reasons, statuses

DONE = "success"
ALL = {
    "alone": DONE,
    "countries": DONE,
    "stg_orders": DONE,
    "large": DONE,
    "by_country": DONE,
    "report": DONE,
}
REBUILD = RunParameters(parallel=1, rebuild=True)


def fail_at(table: str, *failures: Exception):
    """Fail the first writes of a table with these."""
    left = list(failures)

    def before_write(name: str) -> None:
        if name == TABLE + table and left:
            raise left.pop(0)

    return before_write


WRONG = PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")
LOST = PySparkException("ExecutorLostFailure (executor 1 exited)")


@pytest.mark.slow
def test_a_run_builds_every_model_from_what_it_reads(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run()

    assert ALL == statuses(report)
    assert RunStatus.SUCCESS == report.status
    assert 0 == report.exit_code
    assert [("France", 1), ("Germany", 1)] == shop.rows("by_country")
    assert [(1,)] == shop.rows("report")


@pytest.mark.slow
def test_models_in_parallel_give_the_same_tables(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run(options=RunParameters(parallel=4))

    assert ALL == statuses(report)
    assert [("France", 1), ("Germany", 1)] == shop.rows("by_country")


@pytest.mark.slow
def test_no_view_is_left_behind(tmp_path):
    shop = Shop(tmp_path)

    shop.run()

    assert [] == shop.engine.views.bound


@pytest.mark.slow
def test_a_run_is_recorded_with_who_what_and_how(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run(
        "+report", options=RunParameters(selection=("+report",), notes=PipelineContribution("shop"))
    )
    (record,) = shop.records()

    assert report.run_id == record.run_id
    assert (RunStatus.SUCCESS, "somebody", "host", ("+report",), "shop") == (
        record.status,
        record.triggering_identity,
        record.hostname,
        record.selection,
        record.pipeline,
    )
    assert record.engine is not None
    assert "4.1.4" == record.engine.spark_version
    assert ["by_country", "countries", "large", "report", "stg_orders"] == sorted(
        each.model_name for each in record.models_executed
    )


@pytest.mark.slow
def test_an_execution_says_what_the_model_was_made_from(tmp_path):
    shop = Shop(tmp_path)
    shop.run()

    executions = {each.model_name: each for each in shop.records()[0].models_executed}
    execution = executions["by_country"]

    assert execution.recipe_hash
    assert execution.skip_hash
    assert execution.input_hash
    assert "strong" == execution.input_proof_class
    assert "strong" == executions["stg_orders"].input_proof_class
    assert execution.sql_hash
    assert 2 == execution.rows_affected
    assert 0 == execution.commit_version
    assert True is execution.canonical
    seed, large = sorted(execution.inputs, key=lambda each: each.name)
    countries = shop.snapshot("countries")
    assert countries is not None
    assert (TABLE + "countries", "0", countries.files[0].address) == (
        seed.target,
        seed.version,
        seed.identity,
    )
    assert ("large", None) == (large.name, large.version)


@pytest.mark.slow
def test_each_file_that_was_added_is_an_artifact(tmp_path):
    shop = Shop(tmp_path)
    report = shop.run()

    with open_ledger(tmp_path / ".rocky-state.db") as ledger, ledger.reader() as reader:
        (artifact,) = reader.artifacts(report.run_id, "by_country")
    snapshot = shop.snapshot("by_country")

    assert snapshot is not None
    assert (snapshot.files[0].address, snapshot.files[0].size) == (
        artifact.blake3_hash,
        artifact.size_bytes,
    )
    assert artifact.file_path.endswith(f"by_country/{snapshot.files[0].path}")


@pytest.mark.slow
def test_the_commit_of_a_table_names_the_run_the_model_and_its_recipe(tmp_path):
    shop = Shop(tmp_path)
    report = shop.run()

    log = tmp_path / "warehouse/spark_catalog/default/report/_delta_log/00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    (info,) = [each["commitInfo"] for each in actions if "commitInfo" in each]
    execution = {each.model_name: each for each in shop.records()[0].models_executed}["report"]

    said = {**info, **info.get("operationParameters", {}), **info.get("userMetadata", {})}
    assert (report.run_id, "report", execution.recipe_hash) == (
        said["runId"],
        said["model"],
        said["recipeHash"],
    )


@pytest.mark.slow
def test_a_model_reads_the_version_pinned_at_the_start_of_the_run(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    queries = []

    def rewrite_upstream(name: str) -> None:
        # Somebody empties the upstream while the run is on.
        if name == TABLE + "report":
            queries.append(name)
            log = tmp_path / "warehouse/spark_catalog/default/by_country/_delta_log"
            (log / "00000000000000000001.json").write_text(
                (log / "00000000000000000000.json").read_text().replace('"add"', '"ignored"')
            )

    report = shop.run("report", before_write=rewrite_upstream, options=REBUILD)

    assert {"report": DONE} == statuses(report)
    assert [(1,)] == shop.rows("report")
    assert "0" == report.outcomes[0].execution.inputs[0].version
    assert queries


@pytest.mark.slow
def test_a_run_of_one_model_reads_the_tables_that_are_there(tmp_path):
    shop = Shop(tmp_path)
    shop.run()

    report = shop.run("by_country", options=REBUILD)

    assert {"by_country": DONE} == statuses(report)


def test_an_input_that_was_never_built_is_refused_before_spark_starts(tmp_path):
    shop = Shop(tmp_path)

    with pytest.raises(InputNotBuilt) as caught:
        shop.run("report")

    assert (
        "`report` reads `by_country`, which has not been built yet; `rocky run +report` builds all"
        " that it reads, and it"
    ) == str(caught.value)
    assert 0 == shop.opened
    assert () == shop.records()


def test_errors_in_the_selection_are_refused_before_spark_starts(tmp_path):
    shop = Shop(tmp_path, {"models/stg_orders.sql": "SELECT nothing FROM raw.orders"})

    with pytest.raises(RunRefused) as caught:
        shop.run("+report")

    assert str(caught.value).startswith("1 error in the selection or in what it reads (in `stg")
    assert 0 == shop.opened
    assert not (tmp_path / "warehouse").exists()


@pytest.mark.slow
def test_errors_elsewhere_do_not_stop_a_run(tmp_path):
    shop = Shop(tmp_path, {"models/alone.sql": "SELECT nothing FROM raw.orders"})

    assert RunStatus.SUCCESS == shop.run("+report").status


@pytest.mark.slow
def test_a_failed_model_withholds_only_its_readers(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run(before_write=fail_at("by_country", WRONG))

    assert {**ALL, "by_country": "failed", "report": "skipped"} == statuses(report)
    assert "waits for `by_country`, which failed" == reasons(report)["report"]
    assert RunStatus.PARTIAL_FAILURE == report.status
    assert 2 == report.exit_code
    assert None is shop.snapshot("report")


@pytest.mark.slow
def test_a_failed_model_is_recorded_with_why(tmp_path):
    shop = Shop(tmp_path)
    shop.run(before_write=fail_at("by_country", WRONG))

    (record,) = shop.records()
    executions = {each.model_name: each for each in record.models_executed}

    assert RunStatus.PARTIAL_FAILURE == record.status
    assert ("data_error", "models/by_country.sql: DIVIDE_BY_ZERO: Division by zero") == (
        executions["by_country"].failure_kind,
        executions["by_country"].error,
    )
    assert None is executions["by_country"].input_hash
    assert "skipped" == executions["report"].status


def test_a_run_in_which_nothing_was_built_has_failed(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run("alone", before_write=fail_at("alone", WRONG))

    assert RunStatus.FAILURE == report.status
    assert 1 == report.exit_code


def test_a_seed_that_fails_is_in_the_report_and_withholds_its_readers(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run("+by_country", before_write=fail_at("countries", WRONG))

    assert "failed" == statuses(report)["countries"]
    assert "waits for `countries`, which failed" == reasons(report)["by_country"]


@pytest.mark.slow
def test_an_unchanged_seed_is_not_loaded_again(tmp_path):
    shop = Shop(tmp_path)
    shop.run()

    assert "countries" not in statuses(shop.run())
    (tmp_path / "seeds/countries.csv").write_text("code,label\nDE,Deutschland\n")
    assert DONE == statuses(shop.run())["countries"]
    assert [("Deutschland", 1)] == shop.rows("by_country")


def test_a_transient_failure_is_retried_and_recorded(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run("alone", before_write=fail_at("alone", LOST))
    (execution,) = shop.records()[0].models_executed

    assert {"alone": DONE} == statuses(report)
    assert ("retried", "alone 1") in shop.heard.said
    assert ["failed", "success"] == [each.outcome for each in execution.attempts]


@pytest.mark.slow
def test_an_interrupt_records_what_is_done_and_what_is_not(tmp_path):
    shop = Shop(tmp_path)

    def interrupt(name: str) -> None:
        if name == TABLE + "stg_orders":
            shop.stop.set()
            assert shop.engine.jobs.cancel_event.wait(30)
            raise PySparkException("[SPARK_JOB_CANCELLED] Job 1 cancelled")

    report = shop.run(before_write=interrupt)

    assert {
        "alone": DONE,
        "countries": DONE,
        "stg_orders": "interrupted",
        "large": "interrupted",
        "by_country": "interrupted",
        "report": "interrupted",
    } == statuses(report)
    assert (RunStatus.INTERRUPTED, 130) == (report.status, report.exit_code)
    assert RunStatus.INTERRUPTED == shop.records()[0].status
    assert 1 == len(set(shop.engine.jobs.cancelled))


def test_a_listener_hears_of_every_step_in_order(tmp_path):
    shop = Shop(tmp_path)

    shop.run("+large")

    told = [each for each in shop.heard.said if each[0] != "progress"]
    assert [
        ("queued", "stg_orders large"),
        ("started", "stg_orders"),
        ("finished", "stg_orders success"),
        ("started", "large"),
        ("finished", "large success"),
    ] == told


@pytest.mark.slow
def test_two_runs_that_want_the_same_table_do_not_meet(tmp_path):
    shop = Shop(tmp_path)
    other = Shop(tmp_path)
    refused: list[str] = []

    def run_beside(name: str) -> None:
        if name == TABLE + "alone" and not refused:
            with pytest.raises(LedgerLocked) as caught:
                other.run("alone")
            refused.append(str(caught.value))

    report = shop.run(before_write=run_beside)

    assert RunStatus.SUCCESS == report.status
    assert f"is writing `{TABLE}alone`" in refused[0]


def test_runs_that_share_no_table_run_side_by_side(tmp_path):
    shop, other = Shop(tmp_path), Shop(tmp_path)
    done: list[RunStatus] = []

    def run_beside(name: str) -> None:
        if name == TABLE + "stg_orders" and not done:
            done.append(other.run("alone").status)

    report = shop.run("stg_orders", before_write=run_beside)

    assert [RunStatus.SUCCESS] == done
    assert RunStatus.SUCCESS == report.status
    assert 2 == len({record.run_id for record in shop.records()})


def test_an_exception_of_ours_ends_the_run_and_its_record(tmp_path):
    shop = Shop(tmp_path)

    with pytest.raises(KeyError):
        shop.run(before_write=fail_at("alone", KeyError("ours")))

    (record,) = shop.records()
    assert (RunStatus.FAILURE, "KeyError") == (record.status, record.reason)


PRICED = (
    '[pipeline.shop]\nmodels = "models/**"\n'
    "[cost]\ncompute_cost_per_core_hour = 0.5\nscan_cost_per_tb = 5.0\n"
)


def test_each_model_is_priced_and_the_rate_is_kept(tmp_path):
    shop = Shop(tmp_path, {"rocky.toml": PRICED})

    report = shop.run("alone")
    (execution,) = shop.records()[0].models_executed

    # An hour of one core and a gigabyte.
    assert 0.505 == execution.cost_usd == report.totals.cost_usd
    assert CostRate(0.5, 5.0) == execution.cost_rate
    assert 10**9 == execution.bytes_scanned


def test_a_budget_that_is_an_error_fails_the_run_after_all_is_recorded(tmp_path):
    budget = "[budget]\nmax_usd = 0.5\non_breach = 'error'\n"
    shop = Shop(tmp_path, {"rocky.toml": PRICED + budget})

    report = shop.run("alone")

    assert (RunStatus.SUCCESS, 1) == (report.status, report.exit_code)
    assert (BudgetBreach("max_usd", 0.5, 0.505),) == shop.records()[0].budget_breaches
    assert [(1,)] == shop.rows("alone")


def test_a_models_own_budget_is_held_against_what_it_used(tmp_path):
    shop = Shop(
        tmp_path,
        {"rocky.toml": PRICED, "models/alone.toml": "[budget]\nmax_bytes_scanned = 10\n"},
    )

    report = shop.run("alone")

    assert (BudgetBreach("max_bytes_scanned", 10, 10**9, "alone"),) == report.budget.breaches
    assert 0 == report.exit_code


@pytest.mark.slow
def test_a_query_is_handed_over_as_it_was_written_but_for_its_tables(tmp_path):
    shop = Shop(tmp_path)
    shop.run()

    (query,) = [each for each in shop.engine.queries if each.startswith("SELECT max(n)")]

    view = query.split("`")[1]
    assert f"SELECT max(n) AS most FROM `{view}` AS `by_country`" == query
    assert "rocky_by_country_c17f3e15" == view


@pytest.mark.slow
def test_parallel_models_are_recorded_without_a_clash(tmp_path):
    many = {f"models/m{number}.sql": f"SELECT {number} AS one" for number in range(12)}
    shop = Shop(tmp_path, many)
    together = threading.Barrier(4)

    def wait(name: str) -> None:
        if "default.m" in name:
            together.wait(30)

    report = shop.run("m*", before_write=wait, options=RunParameters(parallel=4))

    assert 12 == len(report.outcomes) == len(shop.records()[0].models_executed)


@pytest.mark.slow
def test_intervals_that_failed_fail_the_model_and_what_was_built_stays(tmp_path):
    shop = Shop(tmp_path)

    def in_part(build: Build) -> Built:
        built = materialize(build)
        if build.model.name != "by_country":
            return built
        days = (BuiltPartition("2026-01-30", 2), BuiltPartition("2026-01-31", 0, "no such day"))
        return replace(built, partitions=days)

    report = shop.run(build_table=in_part)

    outcome = {each.step.name: each for each in report.outcomes}["by_country"]
    assert ("failed", "1 of 2 intervals failed; the first, `2026-01-31`: no such day") == (
        outcome.execution.status,
        outcome.execution.error,
    )
    assert "skipped" == statuses(report)["report"]
    assert [("France", 1), ("Germany", 1)] == shop.rows("by_country")
    with open_ledger(tmp_path / ".rocky-state.db") as ledger, ledger.reader() as reader:
        assert [("2026-01-30", "Computed"), ("2026-01-31", "Failed")] == [
            (each.partition_key, each.status) for each in reader.partitions("by_country")
        ]
        assert 1 == len(reader.artifacts(report.run_id, "by_country"))


def test_every_attempt_at_a_model_has_the_same_token_and_another_run_another(tmp_path):
    shop = Shop(tmp_path)
    tokens: list[str] = []

    def remember(build: Build) -> Built:
        tokens.append(build.token)
        return materialize(build)

    shop.run("alone", before_write=fail_at("alone", LOST), build_table=remember)
    shop.run("alone", build_table=remember, options=REBUILD)

    assert tokens[0] == tokens[1]
    assert tokens[1] != tokens[2]


@pytest.mark.slow
def test_an_incremental_model_appends_only_what_is_new_and_records_how_far_it_came(tmp_path):
    settings = '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n'
    shop = Shop(tmp_path, {"models/stg_orders.toml": settings})
    shop.run("stg_orders")
    (tmp_path / "data/orders.csv").write_text("id,country\n1,DE\n2,DE\n3,FR\n4,FR\n")

    report = shop.run("stg_orders")

    assert [(1, "DE"), (2, "DE"), (3, "FR"), (4, "FR")] == shop.rows("stg_orders")
    assert 1 == report.outcomes[0].execution.rows_affected
    with open_ledger(tmp_path / ".rocky-state.db") as ledger, ledger.reader() as reader:
        (watermark,) = reader.watermarks()
    assert (TABLE + "stg_orders", report.run_id) == (watermark.table, watermark.run_id)
