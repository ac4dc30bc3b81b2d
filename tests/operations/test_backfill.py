"""A backfill: intervals are computed once by each code, in runs that are recorded as they end."""

import signal
import subprocess
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from rocky.errors import InvalidRequest, RockyError
from rocky.operations.branch.lifecycle import CreateRequest, create
from rocky.operations.branch.promotion import PromoteRequest, RevertRequest, promote, revert
from rocky.operations.execution.backfill import BackfillReport, BackfillRequest, backfill
from rocky.operations.execution.run import run
from rocky.operations.execution.run_report import ModelsRun
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest, Window
from rocky.run.engine import spark as engines
from tests.operations.shops import OpenShop
from tests.processes import run_process
from tests.run.crash import dying
from tests.run.memory_engine import MemoryEngine

pytestmark = pytest.mark.slow

SOURCE = (
    '[[source]]\nname = "raw.visits"\nformat = "csv"\npath = "data/visits.csv"\n'
    'columns = [ { name = "id", type = "bigint" },'
    ' { name = "day", type = "date", nullable = false } ]\n'
)
DAILY = (
    '[strategy]\ntype = "time_interval"\ntime_column = "{column}"\ngranularity = "{grain}"\n'
    'first_partition = "{first}"\n'
)
WHERE = "WHERE day >= @start_date AND day < @end_date"


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    shop = OpenShop(tmp_path, monkeypatch)
    days = "".join(f"{n},2026-01-{n:02d}\n" for n in range(1, 32))
    days += "".join(f"{31 + n},2026-02-{n:02d}\n" for n in range(1, 20))
    shop.write("data/visits.csv", f"id,day\n{days}")
    shop.write("sources/visits.toml", SOURCE)
    shop.write("models/daily.sql", f"SELECT id, day FROM raw.visits {WHERE}")
    shop.write("models/daily.toml", DAILY.format(column="day", grain="day", first="2026-01-01"))
    shop.write("models/monthly.sql", f"SELECT id, day FROM daily {WHERE}")
    shop.write("models/monthly.toml", DAILY.format(column="day", grain="month", first="2026-01"))
    shop.write("models/total.sql", "SELECT count(*) AS n FROM daily")
    return shop


def asked(shop: OpenShop, first: str, last: str, **more: Any) -> BackfillReport:
    return backfill(shop.workspace, BackfillRequest("daily", first, last, **more))


def statuses(report: BackfillReport, model: str = "daily") -> list[str]:
    return [each.status for each in report.intervals if each.model == model]


def test_each_interval_is_computed_and_told(shop):
    heard: list[str] = []
    request = BackfillRequest("daily", "2026-01-01", "2026-01-20")

    report = backfill(shop.workspace, request, lambda each: heard.append(each.interval))

    assert 0 == report.exit_code
    assert ["computed"] * 20 == statuses(report)
    assert [1] * 20 == [each.rows for each in report.intervals]
    assert heard == [each.interval for each in report.intervals]
    # Recorded as it goes: sixteen intervals, then the rest.
    assert 2 == len(report.run_ids) == len(shop.records())


def test_what_is_done_is_not_done_again(shop):
    asked(shop, "2026-01-01", "2026-01-05")
    runs = len(shop.records())

    again = asked(shop, "2026-01-03", "2026-01-08")

    assert ["done"] * 3 + ["computed"] * 3 == statuses(again)
    assert runs + 1 == len(shop.records())
    assert () == asked(shop, "2026-01-01", "2026-01-08").run_ids
    assert ["computed"] * 2 == statuses(asked(shop, "2026-01-01", "2026-01-02", force=True))


def test_other_code_computes_all_of_it_again(shop):
    asked(shop, "2026-01-01", "2026-01-03")
    shop.write("models/daily.sql", f"SELECT id + 100 AS id, day FROM raw.visits {WHERE}")

    assert ["computed"] * 3 == statuses(asked(shop, "2026-01-01", "2026-01-03"))


def test_a_dry_run_says_what_is_to_be_done_and_starts_nothing(shop):
    asked(shop, "2026-01-01", "2026-01-02")
    before = (len(shop.records()), len(shop.sessions))

    report = asked(shop, "2026-01-01", "2026-01-04", dry_run=True)

    assert ["done"] * 2 + ["pending"] * 2 == statuses(report)
    assert before == (len(shop.records()), len(shop.sessions))


def test_readers_are_computed_over_the_same_time_and_after_what_they_read(shop):
    report = asked(shop, "2026-01-30", "2026-02-02", downstream=True)

    assert ["computed"] * 4 == statuses(report)
    assert ["2026-01", "2026-02"] == [
        each.interval for each in report.intervals if each.model == "monthly"
    ]
    assert ("total",) == report.readers
    again = asked(shop, "2026-01-30", "2026-02-02", downstream=True)
    assert ["done"] * 4 == statuses(again)
    assert ["done"] * 2 == statuses(again, "monthly")
    asked(shop, "2026-02-02", "2026-02-03")
    later = asked(shop, "2026-01-30", "2026-02-03", downstream=True)
    assert (["done"] * 5, ["done", "computed"]) == (statuses(later), statuses(later, "monthly"))


def test_an_interval_that_fails_is_told_and_its_readers_wait(shop):
    shop.write(
        "models/daily.sql",
        f"SELECT id, IF(id = 3, DATE '2000-01-01', day) AS day FROM raw.visits {WHERE}",
    )

    report = asked(shop, "2026-01-01", "2026-01-05", downstream=True)

    assert ["computed", "computed", "failed", "computed", "computed"] == statuses(report)
    assert ["pending"] == statuses(report, "monthly")
    failed = next(each for each in report.intervals if each.status == "failed")
    assert "outside the interval" in str(failed.error)
    assert 2 == report.exit_code


def late_reader(shop: OpenShop) -> None:
    """Days that are read through a table that is built whole."""
    shop.write("models/middle.sql", "SELECT id * 10 AS id, day FROM daily")
    shop.write("models/late.sql", f"SELECT id, day FROM middle {WHERE}")
    shop.write("models/late.toml", DAILY.format(column="day", grain="day", first="2026-01-01"))


def test_tables_between_intervals_are_built_in_their_turn(shop):
    late_reader(shop)

    first = asked(shop, "2026-01-01", "2026-01-03", downstream=True)

    assert (0, [1] * 3) == (
        first.exit_code,
        [each.rows for each in first.intervals if each.model == "late"],
    )
    shop.append("data/visits.csv", "99,2026-01-02\n")
    again = asked(shop, "2026-01-02", "2026-01-02", downstream=True, force=True)
    # Without the table between them being built first, the row would be missing.
    assert [2] == [each.rows for each in again.intervals if each.model == "late"]
    assert {"middle", "total"} == set(again.readers)


def test_an_interval_over_a_table_that_has_changed_since_is_not_done(shop):
    late_reader(shop)
    asked(shop, "2026-01-01", "2026-01-02", downstream=True)
    shop.append("data/visits.csv", "99,2026-01-02\n")
    asked(shop, "2026-01-02", "2026-01-02", force=True)
    # By hand and too early: the table that it reads is older than the days.
    run(shop.workspace, RunRequest(("late",), window=Window(partition="2026-01-02")))

    again = asked(shop, "2026-01-02", "2026-01-02", downstream=True)

    assert [("computed", 2)] == [
        (each.status, each.rows) for each in again.intervals if each.model == "late"
    ]


def commit_all(shop: OpenShop) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    for words in (
        ("init", "-q"),
        ("add", "models", "sources", "seeds", "rocky.toml"),
        ("commit", "-qm", "a change"),
    ):
        subprocess.run(["git", *who, *words], cwd=shop.root, check=True)


def test_what_a_revert_holds_is_not_called_computed(shop):
    commit_all(shop)
    asked(shop, "2026-01-01", "2026-01-02")
    run(shop.workspace, RunRequest())
    create(shop.workspace, CreateRequest("fix"))
    shop.write("models/daily.sql", f"SELECT id + 100 AS id, day FROM raw.visits {WHERE}")
    commit_all(shop)
    branch = shop.workspace.on_branch("fix")
    assert 0 == backfill(branch, BackfillRequest("daily", "2026-01-01", "2026-01-02")).exit_code
    run(branch, RunRequest())
    promoted = promote(shop.workspace, PromoteRequest("fix"))
    revert(shop.workspace, RevertRequest(promoted.promotion.run_id))

    report = asked(shop, "2026-01-01", "2026-01-02")

    assert (1, ["failed"] * 2) == (report.exit_code, statuses(report))
    assert all("revert" in str(each.error) for each in report.intervals)


def test_why_nothing_was_computed_is_told(shop):
    (shop.root / "data/visits.csv").unlink()

    report = asked(shop, "2026-01-01", "2026-01-02")

    assert (1, ["failed"] * 2) == (report.exit_code, statuses(report))
    assert all("raw.visits" in str(each.error) for each in report.intervals)


def test_nothing_below_a_table_that_failed_is_begun(shop):
    late_reader(shop)
    shop.write("models/middle.sql", "SELECT CAST('x' AS BIGINT) AS id, day FROM daily")

    report = asked(shop, "2026-01-01", "2026-01-02", downstream=True)

    assert (2, ["pending"] * 2) == (report.exit_code, statuses(report, "late"))


def test_a_reader_of_what_is_still_to_be_computed_is_not_called_done(shop):
    asked(shop, "2026-01-01", "2026-01-31", downstream=True)
    shop.write("models/daily.sql", f"SELECT id + 100 AS id, day FROM raw.visits {WHERE}")

    planned = asked(shop, "2026-01-05", "2026-01-05", downstream=True, dry_run=True)

    assert (["pending"], ["pending"]) == (statuses(planned), statuses(planned, "monthly"))


def test_of_a_table_that_is_gone_nothing_is_done(shop):
    asked(shop, "2026-01-01", "2026-01-03")
    rmtree(shop.root / "warehouse/spark_catalog/default/daily")

    again = asked(shop, "2026-01-01", "2026-01-03")

    assert (["computed"] * 3, [1] * 3) == (statuses(again), [each.rows for each in again.intervals])


def test_what_is_missing_of_a_table_that_is_gone_is_all_of_it(shop):
    everything = RunRequest(("monthly",), window=Window(missing=True))
    asked(shop, "2026-01-01", "2026-02-19")
    run(shop.workspace, everything)
    rmtree(shop.root / "warehouse/spark_catalog/default/monthly")

    report = run(shop.workspace, everything)

    assert 0 == report.exit_code
    assert isinstance(report.run, ModelsRun)
    (built,) = report.run.materializations
    assert 50 == built.rows_copied


@pytest.mark.parametrize(("first", "last"), [("9999-12-30", "9999-12-31"), ("9999-12-31", "")])
def test_the_last_day_of_the_calendar_is_refused_in_words(shop, first, last):
    with pytest.raises(RockyError, match="has no end: the years go up to 9999"):
        asked(shop, first, last or "9999-12-31")


def fill_and_die(root: str) -> None:
    """Backfill in a process that is killed as the second run begins to write."""
    from contextlib import contextmanager  # noqa: PLC0415

    @contextmanager
    def open_memory(_adapter: Any, base: Path, *_more: Any) -> Any:
        yield MemoryEngine(base)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "open_project_engine", open_memory)
        patch.setattr(MemoryEngine, "write", dying(MemoryEngine.write, 18, before=True))
        request = BackfillRequest("daily", "2026-01-01", "2026-01-31")
        backfill(Workspace(Path(root), spark="a session"), request)


def test_one_that_was_killed_goes_on_where_it_was_recorded(shop):
    code, _, said = run_process(fill_and_die, str(shop.root))
    assert -signal.SIGKILL == code, said

    report = asked(shop, "2026-01-01", "2026-01-31")

    assert ["done"] * 16 + ["computed"] * 15 == statuses(report)


def test_only_models_with_time_intervals_are_taken(shop):
    request = BackfillRequest("total", "2026-01-01")

    with pytest.raises(InvalidRequest, match="model `total` has no time intervals"):
        backfill(shop.workspace, request)


def test_times_that_are_none_of_the_model_are_refused(shop):
    with pytest.raises(RockyError, match="`2026-01` is not a partition of one day"):
        asked(shop, "2026-01", "2026-01-05")
    with pytest.raises(InvalidRequest, match="comes before `--from`"):
        asked(shop, "2026-01-05", "2026-01-01")
