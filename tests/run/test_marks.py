"""Watermarks of models: whether to go on is the ledger's word, from where the table's."""

from pathlib import Path

import pytest

from rocky.compiler.passes import compile_project
from rocky.errors import StateLost, StoreUnwritable
from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger.readers.history import open_history_reader
from rocky.ledger.writer import open_ledger
from rocky.operations.plan.preview import preview_run
from rocky.plan.request import RunRequest
from rocky.plan.steps import plan_steps
from rocky.project import load_project
from rocky.run.prepare.resources import RunParameters
from rocky.store.warehouse import open_warehouse
from tests.run.runs import TABLE, Shop, reasons, statuses, verify

SOURCE = (
    '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\ncolumns = ['
    ' { name = "id", type = "bigint" },'
    ' { name = "ts", type = "timestamp", nullable = false } ]\n'
)
SQL = "SELECT id, ts FROM raw.orders WHERE ts >= @start_date AND ts < @end_date"


def five_days(root: Path, strategy: str, sql: str = SQL) -> Shop:
    days = "".join(f"{day},2026-05-0{day} 00:00:00\n" for day in range(1, 6))
    shop = Shop(
        root,
        {
            "sources/raw.toml": SOURCE,
            "data/orders.csv": f"id,ts\n{days}",
            "models/ev.sql": sql,
            "models/ev.toml": f'[strategy]\ntype = "{strategy}"\ntimestamp_column = "ts"\n'
            + ('granularity = "day"\n' if strategy == "microbatch" else ""),
        },
    )
    for name in ("stg_orders", "by_country", "report", "alone"):
        (root / f"models/{name}.sql").unlink()
    for path in root.glob("models/large.*"):
        path.unlink()
    return shop


def fail_at(number: int):
    """A disk that is full from some write on."""
    writes = []

    def write(table: str) -> None:
        writes.append(table)
        if len(writes) == number:
            raise StoreUnwritable("the disk is full")

    return write


def forget_ledger(shop: Shop) -> None:
    for path in shop.root.glob(".rocky-state.db*"):
        if path.is_file():
            path.unlink()


def ids(shop: Shop) -> list[int]:
    return sorted(row[0] for row in shop.rows("ev"))


@pytest.mark.slow
def test_batches_that_were_committed_before_a_failure_are_not_loaded_again(tmp_path):
    shop = five_days(tmp_path, "microbatch")
    first = shop.run(before_write=fail_at(3))
    assert {"ev": "failed"} == statuses(first)
    assert [1, 2] == ids(shop)
    written: list[str] = []

    shop.run(before_write=written.append)

    assert 3 == len(written)
    assert [1, 2, 3, 4, 5] == ids(shop)
    assert [] == verify(shop.root)


@pytest.mark.slow
def test_batches_that_a_run_committed_before_it_gave_up_are_not_loaded_again(tmp_path):
    shop = five_days(tmp_path, "microbatch")

    def give_up(table: str) -> None:
        if shop.folder("ev").exists() and len(ids(shop)) == 2:
            raise RuntimeError("out of the blue")

    with pytest.raises(RuntimeError):
        shop.run(before_write=give_up)
    written: list[str] = []

    shop.run(before_write=written.append)

    assert 3 == len(written)
    assert [1, 2, 3, 4, 5] == ids(shop)
    assert [] == verify(shop.root)


@pytest.mark.slow
def test_a_table_that_no_ledger_knows_is_replaced_in_one_commit_or_stays_whole(tmp_path):
    shop = five_days(tmp_path, "microbatch")
    shop.run()
    forget_ledger(shop)
    anew = RunParameters(parallel=1, full_refresh=True, start_anew=True)
    with pytest.raises(StateLost):
        shop.run()

    shop.run(before_write=fail_at(1), options=anew)
    assert [1, 2, 3, 4, 5] == ids(shop)
    before = shop.snapshot("ev")
    shop.run(options=anew)

    assert [1, 2, 3, 4, 5] == ids(shop)
    after = shop.snapshot("ev")
    assert before is not None
    assert after is not None
    assert before.version + 1 == after.version


@pytest.mark.slow
def test_a_plan_says_of_a_deleted_watermark_what_the_run_does(tmp_path):
    shop = five_days(tmp_path, "incremental", "SELECT id, ts FROM raw.orders")
    shop.run()
    state = tmp_path / ".rocky-state.db"
    reader = open_history_reader(state)
    assert reader is not None
    with reader:
        assert ["2026-05-05T00:00:00+00"] == [each.last_value for each in reader.watermarks()]
    with open_ledger(state) as ledger:
        remove_watermark(ledger, f"{TABLE}ev")

    project = load_project(tmp_path, env={})
    plan = plan_steps(compile_project(project, jobs=1, cache=False), ["ev"])
    warehouse = open_warehouse("warehouse", base=tmp_path)
    outlook = preview_run(plan, RunRequest(), warehouse, state=state, environment={})
    report = shop.run()

    (foreseen,) = outlook.forecast.steps
    assert foreseen.decision is not None
    assert reasons(report)["ev"] == foreseen.decision.reason
    assert "no watermark is recorded" in foreseen.decision.reason
