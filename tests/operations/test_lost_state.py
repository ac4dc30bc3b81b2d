"""A state that was lost or put back while the tables know better: refused, and how to go on."""

import json
import shutil
from pathlib import Path

import pytest

from rocky.errors import InvalidRequest, NothingSelected, PlanOutdated, StateLost
from rocky.ledger import STATE_FILE
from rocky.operations.execution.apply import ApplyRequest, apply
from rocky.operations.execution.run import run
from rocky.operations.plan import plan
from rocky.operations.state.kept_state import show_state
from rocky.operations.state.state_restoration import RestorationRequest, restore_state
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest, Window
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import open_warehouse
from tests.branches.shops import INCREMENTAL
from tests.operations.shops import OpenShop
from tests.run.runs import verify, write
from tests.table_files import data_files
from tools.verify_run import Audit, load

pytestmark = pytest.mark.slow

EVENTS = "spark_catalog.default.events"
WHY = "the disk of the runner is gone"


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A shop that has run once, and a copy of it: records name the place where it ran."""
    root = tmp_path_factory.mktemp("lost") / "shop"
    with pytest.MonkeyPatch.context() as patch:
        shop = OpenShop(root, patch)
        write(root, INCREMENTAL)
        run(shop.workspace, RunRequest())
    shutil.copytree(root, root.with_name("kept"))
    return root


@pytest.fixture
def shop(kept, monkeypatch) -> OpenShop:
    shutil.rmtree(kept)
    shutil.copytree(kept.with_name("kept"), kept)
    return OpenShop(kept, monkeypatch)


def events(shop: OpenShop, *days: int) -> None:
    """What the source has now: one event a day, whatever it had before."""
    lines = "".join(f"{each},2026-01-{each:02}T00:00:00\n" for each in days)
    shop.write("data/events.csv", f"id,seen\n{lines}")


def ids(shop: OpenShop, table: str = "events") -> list[int]:
    for each in open_warehouse("warehouse", base=shop.root).tables():
        if each.name.endswith(f".{table}"):
            return sorted(row[0] for row in load_rows(each, each.snapshot(), 100))
    raise AssertionError(table)


def files(root: Path) -> dict[str, bytes]:
    """Everything in the warehouse."""
    found = (root / "warehouse").rglob("*")
    return {str(each): each.read_bytes() for each in found if each.is_file()}


def take_state(shop: OpenShop) -> dict[str, bytes]:
    """The state file as it is, with what lies beside it."""
    found = shop.root.glob(f"{STATE_FILE}*")
    return {each.name: each.read_bytes() for each in found if each.is_file()}


def put_back(shop: OpenShop, older: dict[str, bytes]) -> None:
    for each in take_state(shop):
        (shop.root / each).unlink()
    for name, data in older.items():
        (shop.root / name).write_bytes(data)


def delete_anchors(shop: OpenShop) -> None:
    shutil.rmtree(shop.root / "warehouse/_rocky")


def anchors(shop: OpenShop) -> dict[str, bytes]:
    return {
        each.name: each.read_bytes() for each in (shop.root / "warehouse/_rocky").glob("*.json")
    }


def audit(shop: OpenShop) -> list[str]:
    script = Audit(load(shop.root / STATE_FILE), None)
    script.check()
    return [*verify(shop.root), *script.findings]


def later(shop: OpenShop) -> dict[str, bytes]:
    """Run once more; the state as it was before."""
    older = take_state(shop)
    events(shop, 1, 2, 3)
    run(shop.workspace, RunRequest())
    return older


# ------------------------------------------------------------------ refused


def test_a_state_that_was_put_back_refuses_the_run_and_nothing_is_written(shop):
    put_back(shop, later(shop))
    before, states = files(shop.root), take_state(shop)

    with pytest.raises(StateLost, match=r"later anchor than `\.rocky-state\.db`") as refused:
        run(shop.workspace, RunRequest())

    assert "`rocky state restore --from-tables -m WHY`" in str(refused.value)
    assert "`rocky run --start-anew`" in str(refused.value)
    assert before == files(shop.root)
    assert states[STATE_FILE] == take_state(shop)[STATE_FILE]


@pytest.mark.parametrize("anchor", ["put back", "deleted"])
def test_a_state_that_was_put_back_with_its_anchor_is_given_away_by_the_tables(shop, anchor):
    first = anchors(shop)
    put_back(shop, later(shop))
    delete_anchors(shop)
    if anchor == "put back":
        write(
            shop.root, {f"warehouse/_rocky/{name}": each.decode() for name, each in first.items()}
        )

    with pytest.raises(StateLost, match=f"`{EVENTS}` was written by run `run-.*older copy"):
        run(shop.workspace, RunRequest())

    assert [1, 2, 3] == ids(shop)


def test_a_reader_of_a_table_that_knows_better_is_refused_too(shop):
    first = anchors(shop)
    put_back(shop, later(shop))
    delete_anchors(shop)
    write(shop.root, {f"warehouse/_rocky/{name}": each.decode() for name, each in first.items()})
    shop.write("models/reader.sql", "SELECT count(*) AS n FROM events")

    with pytest.raises(StateLost, match=f"`{EVENTS}` was written by run"):
        run(shop.workspace, RunRequest(("reader",)))


def test_a_state_that_was_deleted_refuses_the_run_and_no_other_is_begun(shop):
    put_back(shop, {})
    before = files(shop.root)
    events(shop, 3)

    with pytest.raises(StateLost, match="it was lost, or is another project's"):
        run(shop.workspace, RunRequest())

    assert {} == take_state(shop)
    assert before == files(shop.root)
    assert [1, 2] == ids(shop)


def test_a_state_that_was_begun_beside_old_tables_is_refused_for_them(shop):
    put_back(shop, {})
    shop.write("models/fresh.sql", "SELECT 1 AS one")

    assert run(shop.workspace, RunRequest(("fresh",))).succeeded
    with pytest.raises(StateLost, match=f"`{EVENTS}` was written by run"):
        run(shop.workspace, RunRequest(("events",)))


def test_a_plan_that_was_kept_is_refused_as_a_run_is(shop):
    events(shop, 1, 2, 3)
    kept = plan(shop.workspace, RunRequest(("events",)))
    put_back(shop, {})

    with pytest.raises(PlanOutdated, match="there is no state file where the plan's was"):
        apply(shop.workspace, ApplyRequest(kept.plan_id))

    assert [1, 2] == ids(shop)


def test_a_plan_says_that_a_run_would_be_refused(shop):
    older = take_state(shop)
    events(shop, 1, 2, 3)
    run(shop.workspace, RunRequest())
    newest = take_state(shop)
    before = files(shop.root)

    for state in ({}, older):
        put_back(shop, state)
        with pytest.raises(StateLost, match=r"^a run would be refused: "):
            plan(shop.workspace, RunRequest(("events",)))
    assert before == files(shop.root)

    assert plan(shop.workspace, RunRequest(("events",), start_anew=True))
    put_back(shop, newest)
    assert plan(shop.workspace, RunRequest(("events",)))


def test_a_plan_that_is_refused_leaves_no_state_behind(shop):
    put_back(shop, {})

    with pytest.raises(StateLost):
        plan(shop.workspace, RunRequest())

    assert {} == take_state(shop)


# ------------------------------------------------------------------ no friction


def test_a_new_project_over_an_empty_warehouse_runs(shop):
    put_back(shop, {})
    shutil.rmtree(shop.root / "warehouse")

    assert run(shop.workspace, RunRequest()).succeeded


def test_a_project_that_was_copied_with_its_tables_runs_on(shop, tmp_path_factory):
    copy = tmp_path_factory.mktemp("copy") / "shop"
    shutil.copytree(shop.root, copy)
    events(shop, 1, 2, 3)
    shutil.copy(shop.root / "data/events.csv", copy / "data/events.csv")

    assert run(shop.workspace, RunRequest()).succeeded
    assert run(shop.on(config=copy), RunRequest()).succeeded


def test_a_state_that_lies_elsewhere_is_as_good(tmp_path, monkeypatch):
    shop = OpenShop(tmp_path / "shop", monkeypatch)
    (tmp_path / "states").mkdir()
    workspace = shop.on(state_file=tmp_path / "states/shop.db")

    assert [True, True] == [run(workspace, RunRequest()).succeeded for _ in range(2)]


def test_another_project_in_the_same_warehouse_is_none_of_its_business(shop, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "shop"
    write(
        other,
        {
            "rocky.toml": (
                f'[adapter]\nwarehouse = "{shop.root / "warehouse"}"\n[pipeline.p]\n'
                'models = "models/**"\n'
            ),
            "models/elsewhere.sql": "SELECT 1 AS one",
        },
    )
    workspace = Workspace(other, spark="a session")

    assert run(workspace, RunRequest()).succeeded
    assert run(shop.workspace, RunRequest()).succeeded
    with pytest.raises(NothingSelected, match="nothing to restore"):
        restore_state(shop.workspace, RestorationRequest(WHY))


# ------------------------------------------------------------------ restored from tables


def test_an_incremental_table_keeps_its_rows_although_the_source_has_lost_them(shop):
    put_back(shop, {})
    before = files(shop.root)
    events(shop, 2, 3)

    report = restore_state(shop.workspace, RestorationRequest(WHY))
    untouched = {name: each for name, each in files(shop.root).items() if "/_rocky/" not in name}
    done = run(shop.workspace, RunRequest())

    assert untouched.items() <= before.items()
    (restored,) = [each for each in report.tables if each.target == EVENTS]
    assert ((0,), 0, None) == (restored.versions, restored.commit_version, restored.note)
    assert "2026-01-02T00:00:00" in str(restored.watermark)
    assert (0, ()) == (report.exit_code, report.left)
    assert done.succeeded
    assert [1, 2, 3] == ids(shop)
    assert [] == audit(shop)


def test_the_ledger_says_who_restored_it_and_why(shop):
    before = {each.table: each.last_value for each in show_state(shop.workspace).watermarks}
    put_back(shop, {})
    report = restore_state(shop.workspace, RestorationRequest(WHY))

    (record,) = shop.records()
    assert (report.run_id, ("restore --from-tables",), WHY) == (
        record.run_id,
        record.selection,
        record.reason,
    )
    assert {WHY} == {each.reason for each in record.models_executed}
    assert {"restored"} == {each.action for each in record.models_executed}
    marks = {each.table: each.last_value for each in show_state(shop.workspace).watermarks}
    assert before == marks


def test_a_state_that_was_put_back_gets_the_later_commits_and_goes_on(shop):
    put_back(shop, later(shop))
    events(shop, 4)

    report = restore_state(shop.workspace, RestorationRequest(WHY))
    done = run(shop.workspace, RunRequest())

    assert [(EVENTS, (1,))] == [(each.target, each.versions) for each in report.tables]
    assert (True, []) == (done.succeeded, shop.warnings)
    assert [1, 2, 3, 4] == ids(shop)
    assert [] == audit(shop)


def test_one_table_can_be_restored_and_the_others_are_refused_as_before(shop):
    put_back(shop, {})

    report = restore_state(shop.workspace, RestorationRequest(WHY, EVENTS.upper()))

    assert [EVENTS] == [each.target for each in report.tables]
    assert run(shop.workspace, RunRequest(("events",))).succeeded
    with pytest.raises(StateLost, match="and 4 more tables likewise"):
        run(shop.workspace, RunRequest())


def test_a_table_with_a_file_that_is_not_named_by_its_bytes_is_left_and_named(shop):
    put_back(shop, {})
    folder = shop.root / "warehouse/spark_catalog/default/events"
    log = folder / f"_delta_log/{0:020d}.json"
    (data,) = data_files(folder)
    data.rename(folder / "mine.parquet")
    log.write_text(log.read_text().replace(data.name, "mine.parquet"))

    report = restore_state(shop.workspace, RestorationRequest(WHY))

    (left,) = report.left
    assert (2, EVENTS) == (report.exit_code, left.target)
    assert "`mine.parquet` is not named by the hash of its bytes" in left.reason
    with pytest.raises(StateLost, match=f"`{EVENTS}` was written"):
        run(shop.workspace, RunRequest())


def test_a_commit_that_nobody_made_is_not_taken_over_with_the_others(shop):
    put_back(shop, later(shop))
    folder = shop.root / "warehouse/spark_catalog/default/report/_delta_log"
    lines = (folder / f"{0:020d}.json").read_text().splitlines()
    info = {**json.loads(lines[0])["commitInfo"], "runId": "run-20260131-120001-000"}
    (folder / f"{1:020d}.json").write_text(json.dumps({"commitInfo": info}) + "\n")

    report = restore_state(shop.workspace, RestorationRequest(WHY))

    assert [EVENTS] == [each.target for each in report.tables]
    assert {"foreign_commit"} == {each.partition(":")[0] for each in audit(shop)}


@pytest.mark.parametrize("table", [None, EVENTS, "no.such.table"])
def test_a_state_that_lacks_nothing_is_not_restored(shop, table):
    with pytest.raises(NothingSelected):
        restore_state(shop.workspace, RestorationRequest(WHY, table))
    assert 1 == len(shop.records())


def test_a_restoration_without_a_reason_is_refused(shop):
    with pytest.raises(InvalidRequest, match="say why"):
        restore_state(shop.workspace, RestorationRequest(" "))


DAILY = {
    "sources/events.toml": INCREMENTAL["sources/events.toml"].replace(
        '"timestamp" }', '"timestamp", nullable = false }'
    ),
    "models/daily.sql": (
        "SELECT id, seen FROM raw.events WHERE seen >= @start_date AND seen < @end_date"
    ),
    "models/daily.toml": (
        '[strategy]\ntype = "time_interval"\ntime_column = "seen"\ngranularity = "day"\n'
        'first_partition = "2026-01-01"\n'
    ),
}


def test_time_intervals_are_known_again_by_the_commits_that_brought_them(shop):
    write(shop.root, DAILY)
    window = Window("2026-01-01", "2026-01-02")
    assert run(shop.workspace, RunRequest(("daily",), window=window)).succeeded
    put_back(shop, {})

    report = restore_state(shop.workspace, RestorationRequest(WHY))

    (daily,) = [each for each in report.tables if each.model_name == "daily"]
    assert (2, None) == (daily.time_intervals, daily.note)
    known = show_state(shop.workspace).partitions
    assert ["2026-01-01", "2026-01-02"] == [each.partition_key for each in known]


def test_time_intervals_that_no_commit_names_are_said_to_be_unknown(shop):
    write(shop.root, DAILY)
    window = Window(partition="2026-01-01")
    assert run(shop.workspace, RunRequest(("daily",), window=window)).succeeded
    put_back(shop, {})
    log = shop.root / f"warehouse/spark_catalog/default/daily/_delta_log/{0:020d}.json"
    text = log.read_text()
    assert '"intervals":' in text
    log.write_text(text.replace('"intervals":', '"formerly":'))

    report = restore_state(shop.workspace, RestorationRequest(WHY))

    (daily,) = [each for each in report.tables if each.model_name == "daily"]
    assert daily.time_intervals is None
    assert "`rocky run --missing` computes those again that are not named" in str(daily.note)


# ------------------------------------------------------------------ started anew


def test_a_start_anew_builds_from_what_the_source_has_and_says_so(shop):
    put_back(shop, {})
    events(shop, 3)

    report = run(shop.workspace, RunRequest(start_anew=True))

    assert report.succeeded
    assert [3] == ids(shop)
    (record,) = shop.records()
    assert (True, True) == (record.started_anew, record.full_refresh)
    assert run(shop.workspace, RunRequest()).succeeded


def test_a_start_anew_after_a_state_was_put_back_has_its_own_anchor(shop):
    put_back(shop, later(shop))

    report = run(shop.workspace, RunRequest(start_anew=True))
    again = run(shop.workspace, RunRequest())

    assert (True, True, []) == (report.succeeded, again.succeeded, shop.warnings)
    assert all(each.anchored for each in shop.records())


def test_a_start_anew_does_not_read_tables_that_it_does_not_build(shop):
    put_back(shop, {})

    with pytest.raises(StateLost, match="stg_orders` was written by run"):
        run(shop.workspace, RunRequest(("by_country",), start_anew=True))


def test_a_start_anew_builds_every_interval(shop):
    with pytest.raises(InvalidRequest, match="`--start-anew` builds every time interval"):
        run(shop.workspace, RunRequest(start_anew=True, window=Window(missing=True)))
