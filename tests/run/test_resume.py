import pytest
from pyspark.errors import PySparkException

from rocky.ledger.run_records import RunStatus
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunParameters
from tests.run.runs import TABLE, Shop, reasons, statuses
from tests.table_files import data_files

pytestmark = pytest.mark.slow

WRONG = PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")


def failing(table: str):
    def before_write(name: str) -> None:
        if name == TABLE + table:
            raise WRONG

    return before_write


def written(shop: Shop, *selectors: str, **more) -> list[str]:
    """The tables a run writes."""
    names: list[str] = []
    shop.run(*selectors, before_write=names.append, **more)
    return [name.removeprefix(TABLE) for name in names]


@pytest.fixture
def stopped(tmp_path) -> Shop:
    """A shop whose last run failed at `by_country`, after `alone` and `stg_orders`."""
    shop = Shop(tmp_path)
    shop.run(before_write=failing("by_country"))
    return shop


def test_the_next_run_passes_over_what_the_failed_one_built(stopped):
    first = stopped.records()[0].run_id

    report = stopped.run()

    assert {"alone": f"built by {first}", "stg_orders": f"built by {first}"} == {
        name: reason
        for name, reason in reasons(report).items()
        if statuses(report)[name] == "skipped"
    }
    assert (RunStatus.SUCCESS, first) == (report.status, report.resumed_from)
    assert [(1,)] == stopped.rows("report")


def test_what_failed_and_what_waited_for_it_is_built(stopped):
    assert ["by_country", "report"] == written(stopped)


def test_a_model_built_two_runs_ago_is_still_passed_over_and_names_its_builder(stopped):
    first = stopped.records()[0].run_id
    stopped.run(before_write=failing("by_country"))

    report = stopped.run()

    assert f"built by {first}" == reasons(report)["stg_orders"]


def test_after_a_run_that_ended_well_nothing_is_resumed(stopped):
    stopped.run()

    report = stopped.run(options=RunParameters(parallel=1, reuse=False))

    assert report.resumed_from is None
    assert {"success"} == set(statuses(report).values())


def test_without_reuse_an_unfinished_run_is_resumed_all_the_same(stopped):
    options = RunParameters(parallel=1, reuse=False)

    assert ["by_country", "report"] == written(stopped, options=options)


def test_what_an_unfinished_run_built_in_another_environment_is_built(stopped):
    stopped.environment = Environment("4.2.0", "memory", {})

    assert ["alone", "stg_orders", "by_country", "report"] == written(stopped)


def test_a_model_of_which_a_file_is_gone_is_built(stopped):
    (file,) = data_files(stopped.root / "warehouse/spark_catalog/default/alone")
    file.unlink()

    assert ["alone", "by_country", "report"] == written(stopped)


def test_fresh_builds_everything(stopped):
    options = RunParameters(parallel=1, rebuild=True)

    assert ["alone", "stg_orders", "by_country", "report"] == written(stopped, options=options)


def test_a_full_refresh_builds_everything(stopped):
    options = RunParameters(parallel=1, full_refresh=True)

    assert ["alone", "stg_orders", "by_country", "report"] == written(stopped, options=options)


def test_a_model_whose_query_changed_is_built(stopped):
    (stopped.root / "models/alone.sql").write_text("SELECT 2 AS one")

    assert ["alone", "by_country", "report"] == written(stopped)


def test_a_model_whose_source_changed_is_built(stopped):
    (stopped.root / "data/orders.csv").write_text("id,country\n9,FR\n")

    assert ["stg_orders", "by_country", "report"] == written(stopped)


def test_a_model_whose_table_somebody_else_changed_is_not_resumed(stopped):
    log = stopped.root / "warehouse/spark_catalog/default/alone/_delta_log"
    (log / "00000000000000000001.json").write_text('{"commitInfo":{"operation":"NOTHING"}}\n')
    options = RunParameters(parallel=1, reuse=False)

    assert ["alone", "by_country", "report"] == written(stopped, options=options)


def test_a_model_that_asks_the_clock_is_built(tmp_path):
    shop = Shop(tmp_path, {"models/alone.sql": "SELECT current_date() IS NULL AS one"})
    shop.run(before_write=failing("by_country"))

    assert ["alone", "by_country", "report"] == written(shop)


def test_a_run_over_other_models_in_between_does_not_matter(stopped):
    (stopped.root / "models/other.sql").write_text("SELECT 1 AS one")
    stopped.run("other")

    assert ["by_country", "report"] == written(stopped, "+report")


def test_an_interrupted_run_is_resumed(tmp_path):
    shop = Shop(tmp_path)

    def interrupt(name: str) -> None:
        if name == TABLE + "by_country":
            shop.stop.set()
            assert shop.engine.jobs.cancel_event.wait(30)
            raise PySparkException("[SPARK_JOB_CANCELLED] Job 1 cancelled")

    shop.run(before_write=interrupt)

    assert ["by_country", "report"] == written(shop)


def test_a_run_that_died_is_resumed(tmp_path):
    shop = Shop(tmp_path)

    class Killed(BaseException):
        """The process is gone: nobody finishes the run's record."""

    def die(name: str) -> None:
        if name == TABLE + "by_country":
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocky.run.execute.runner._RunInProgress._give_up", lambda self, error: None)
        with pytest.raises(Killed):
            shop.run(before_write=die)

    assert shop.records()[0].died
    assert ["by_country", "report"] == written(shop)


INCREMENTAL = '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n'


@pytest.mark.parametrize("settings", ["", INCREMENTAL])
def test_a_process_killed_between_a_tables_commit_and_its_record_doubles_no_row(tmp_path, settings):
    shop = Shop(tmp_path, {"models/stg_orders.toml": settings})

    class Killed(BaseException):
        """The process is gone right after the table was committed."""

    def die(self: object, *_: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocky.ledger.writer.Ledger.record_models", die)
        patch.setattr("rocky.run.execute.runner._RunInProgress._give_up", lambda self, error: None)
        with pytest.raises(Killed):
            shop.run("stg_orders")
    killed = shop.rows("stg_orders")
    report = shop.run("stg_orders")

    assert [(1, "DE"), (2, "DE"), (3, "FR")] == killed == shop.rows("stg_orders")
    assert RunStatus.SUCCESS == report.status
    assert ["Success", "Failure"] == [record.status.value for record in shop.records()]
