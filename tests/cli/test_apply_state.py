"""Plans and what is recorded: time intervals, watermarks, unfinished runs, branches."""

from datetime import UTC, datetime

import pytest

from rocky.errors import RunRefused
from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger import open_ledger
from rocky.plan.request import RunRequest, Window
from tests.cli.kept_plans import KeptPlans

pytestmark = pytest.mark.slow

SOURCE = (
    '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
    'columns = [ { name = "id", type = "bigint" }, { name = "country", type = "string" },'
    ' { name = "ts", type = "timestamp", nullable = false } ]\n'
)
EVENTS = "id,country,ts\n1,DE,2026-05-01 00:00:00\n2,FR,2026-05-02 00:00:00\n"
DAYS = (
    "SELECT id, ts FROM raw.orders WHERE ts >= @start_date AND ts < @end_date",
    '[strategy]\ntype = "time_interval"\ntime_column = "ts"\ngranularity = "day"\n'
    'first_partition = "2026-05-01"\n',
)
NEW = (
    "SELECT id, ts FROM raw.orders",
    '[strategy]\ntype = "incremental"\ntimestamp_column = "ts"\n',
)


@pytest.fixture
def kept(tmp_path, rocky, monkeypatch) -> KeptPlans:
    found = KeptPlans(tmp_path, rocky, monkeypatch)
    found.write("sources/raw.toml", SOURCE)
    found.write("data/orders.csv", EVENTS)
    return found


def add(kept: KeptPlans, model: tuple[str, str], name: str = "ev") -> None:
    sql, settings = model
    kept.write(f"models/{name}.sql", sql)
    kept.write(f"models/{name}.toml", settings)


def intervals(kept: KeptPlans, plan_id: str) -> list[str]:
    return kept.kept(plan_id)["payload"]["runs"][0]["relies_on"]["intervals"]["ev"]


@pytest.mark.parametrize(
    ("options", "window", "keys"),
    [
        (("--partition", "2026-05-02"), Window(partition="2026-05-02"), ["2026-05-02"]),
        (
            ("--from", "2026-05-01", "--to", "2026-05-02"),
            Window(start="2026-05-01", end="2026-05-02"),
            ["2026-05-01", "2026-05-02"],
        ),
        (
            ("--partition", "2026-05-02", "--lookback", "1"),
            Window(partition="2026-05-02", lookback=1),
            ["2026-05-01", "2026-05-02"],
        ),
        (("--latest",), Window(latest=True), [f"{datetime.now(UTC):%Y-%m-%d}"]),
        (("--missing", "--exclude", "ev"), Window(missing=True), None),
    ],
)
def test_the_window_of_a_plan_comes_back_and_says_what_is_built(
    kept, monkeypatch, options, window, keys
):
    add(kept, DAYS)
    add(kept, DAYS, "other")
    plan_id = kept.plan("ev", "other", *options)
    seen: list[RunRequest] = []

    def remember(plan, request, caller):
        seen.append(request)
        raise RunRefused("seen")

    monkeypatch.setattr("rocky.run.project_run.run_request", remember)
    kept.rocky("apply", plan_id)

    assert [window] == [each.window for each in seen]
    assert keys is None or keys == intervals(kept, plan_id)


def test_a_plan_for_the_interval_of_now_does_not_outlive_it(kept, monkeypatch):
    add(kept, DAYS)
    plan_id = kept.plan("ev", "--latest")

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2999, 1, 1, tzinfo=tz)

    monkeypatch.setattr("rocky.operations.plan.preview.datetime", Later)
    answer = kept.rocky("apply", plan_id)

    assert 1 == answer.code
    assert "state: the time intervals of `ev` would be 2999-01-01, not 20" in answer.err


def test_a_watermark_is_in_the_plan_and_one_that_was_deleted_refuses_it(kept):
    add(kept, NEW)
    kept.rocky("run", "ev")
    kept.write("data/orders.csv", EVENTS + "3,DE,2026-05-03 00:00:00\n")
    plan_id = kept.plan("ev")
    relied = kept.kept(plan_id)["payload"]["runs"][0]["relies_on"]
    (name,) = relied["tables"]
    assert "recorded" == relied["watermarks"][name]
    assert relied["tables"][name]["watermark"].startswith("2026-05-02T00:00:00")
    with open_ledger(kept.root / ".rocky-state.db") as ledger:
        remove_watermark(ledger, name)

    answer = kept.rocky("apply", plan_id)

    assert 1 == answer.code
    assert f"state: the watermark of `{name}` was recorded, and is absent" in answer.err
    assert "decision: `ev`" in answer.err


def test_a_plan_goes_on_with_the_run_it_was_made_to_go_on_with(kept):
    def fail(name: str) -> None:
        if name.endswith("report"):
            raise OSError("no space left on device")

    kept.before_write = fail
    kept.rocky("run")
    kept.before_write = lambda _: None
    plan_id = kept.plan()
    first = kept.records()[0].run_id

    answer = kept.rocky("apply", plan_id, "-o", "json")

    assert first == kept.kept(plan_id)["payload"]["runs"][0]["resumes"]
    assert (0, first) == (answer.code, answer.json["result"]["resumed_from"])


def test_a_plan_for_a_branch_is_applied_on_the_branch(kept):
    kept.rocky("run")
    assert 0 == kept.rocky("branch", "create", "try").code
    kept.write("models/alone.sql", "SELECT 2 AS one")
    plan_id = kept.plan("alone", "--branch", "try")

    answer = kept.rocky("apply", plan_id, "-o", "json")

    assert 0 == answer.code, answer.err
    assert "try" == kept.kept(plan_id)["payload"]["request"]["branch"]
    # Production's ledger and table know nothing of it.
    assert plan_id not in {each.plan_id for each in kept.records()}
    log = kept.root / "warehouse/spark_catalog/default/alone/_delta_log"
    assert 1 == len(list(log.glob("*.json")))
    assert plan_id != kept.plan("alone")


def estimated(kept: KeptPlans, *options: str) -> dict:
    """What building `ev` is estimated to take, without the means."""
    found = kept.rocky("plan", "ev", "-o", "json", *options).json["estimate"]["models"]
    return found.get("ev", {})


def test_all_of_a_table_is_not_estimated_by_what_adding_to_it_took(kept):
    add(kept, NEW)
    kept.append("models/ev.toml", "[budget]\nmax_duration_ms = 1000000\n")
    kept.rocky("run", "ev")
    kept.write("data/orders.csv", EVENTS + "3,DE,2026-05-03 00:00:00\n")

    answer = kept.rocky("plan", "ev", "-o", "json")
    said = answer.json["budget_unchecked"]
    assert (
        "`max_duration_ms` of `ev` was not estimated: no build of only a part of it is recorded"
        in said
    )
    assert 1 == estimated(kept, "--full-refresh")["from_runs"]
    kept.rocky("run", "ev")
    kept.write("data/orders.csv", EVENTS + "4,DE,2026-05-04 00:00:00\n")
    assert [1, 1] == [estimated(kept, *each)["from_runs"] for each in ((), ("--full-refresh",))]


def test_many_time_intervals_are_estimated_to_take_as_much_longer(kept):
    add(kept, DAYS)
    kept.rocky("run", "ev", "--partition", "2026-05-01")

    one = estimated(kept, "--partition", "2026-05-02")["bytes_scanned"]
    ten = estimated(kept, "--from", "2026-05-01", "--to", "2026-05-10")["bytes_scanned"]

    assert ten == 10 * one
