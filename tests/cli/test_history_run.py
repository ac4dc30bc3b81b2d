"""`rocky history RUN`: why last night's run failed, from what is recorded."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import rocky as rocky_package
from rocky.cli.console import ExitCode
from rocky.errors import InvalidRequest
from rocky.run.engine import spark
from tests.cli.recorded import FIRST, SECOND, record_past, running
from tests.cli.test_schemas import check
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop

BROKEN = "SELECT CAST(country AS BIGINT) AS id, country FROM raw.orders"


@pytest.fixture
def failed(tmp_path, rocky, monkeypatch) -> Shop:
    """A shop whose last run failed, at a model and at a source."""

    @contextmanager
    def open_memory(adapter, root, session=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = Shop(tmp_path, {"models/broken.sql": BROKEN, "models/last.sql": "SELECT * FROM broken"})
    source = (
        '\n[[source]]\nname = "raw.gone"\nformat = "csv"\npath = "data/gone.csv"\n'
        'columns = [ { name = "id", type = "bigint" } ]\n'
    )
    made.write("sources/gone.toml", source)
    made.write("models/absent.sql", "SELECT id FROM raw.gone")
    assert 2 == rocky("run").code
    return made


@pytest.mark.slow
def test_it_tells_what_failed_where_what_was_held_back_and_the_log(rocky, failed):
    run_id = rocky("history").json["runs"][0]["run_id"]

    answer = rocky("history", run_id, "-o", "table")
    lines = answer.out.splitlines()

    assert ExitCode.OK == answer.code
    assert lines[0].startswith(f"{run_id}: partial, started ")
    assert any(each.startswith("error: absent: sources/gone.toml:5:8: ") for each in lines)
    assert any(each.startswith("error: broken: ") and "DE" in each for each in lines)
    assert "held back: last waits for `broken`, which failed" in lines
    log = f".rocky/logs/{run_id}.log"
    assert f"log: {log} (`rocky logs {run_id}` shows it)" == lines[-1]
    assert (failed.root / log).is_file()
    assert answer.out == rocky("history", "latest", "-o", "table").out


@pytest.mark.slow
def test_the_document_and_python_have_the_same_as_values(rocky, failed):
    document = rocky("history", "latest").json

    assert [] == check(document, "history")
    assert {"absent", "broken"} == {each["model_name"] for each in document["failed"]}
    assert [("last", "waits for `broken`, which failed")] == [
        (each["model_name"], each["reason"]) for each in document["held_back"]
    ]
    account = rocky_package.open(failed.root).history(run="latest")
    assert document["log"] == account.log
    assert document["run"]["run_id"] == account.run.run_id


def test_of_a_run_that_went_well_nothing_failed(rocky, shop):
    record_past(shop)

    answer = rocky("history", FIRST, "-o", "table")

    assert ExitCode.OK == answer.code
    lines = answer.out.splitlines()
    assert f"{FIRST}: success, started 2026-05-30 11:04:22 UTC, took 2.6 s" == lines[0]
    assert "by data-eng@example.com, from commit a1b2c3d4e5f6 and changes after it" == lines[1]
    assert "2 built" == lines[2]
    table = [each.split() for each in lines[4:7]]
    assert ["MODEL", "OUTCOME", "ROWS", "TOOK"] == table[0]
    assert ["stg_orders", "built", "1,200", "812", "ms"] == table[1]
    assert ["fct_revenue", "built", "14,820", "812", "ms"] == table[2]
    assert "over budget: the run: `max_usd` = 0.05, 0.10002 was used" in answer.out
    assert "error" not in answer.out


def test_what_was_recorded_without_a_reason_is_told_all_the_same(rocky, shop):
    record_past(shop)

    lines = rocky("history", SECOND, "-o", "table").out.splitlines()

    assert {"error: stg_orders: overflow", "held back: fct_revenue"} <= set(lines)
    assert not any(each.startswith("log: ") for each in lines)
    audited = rocky("history", SECOND, "--audit", "-o", "table").out
    assert "  commit    a1b2c3d4e5f60718293a4b5c6d7e8f9012345678" in audited
    assert "error: stg_orders: overflow" in audited


def test_a_run_that_goes_on_and_one_that_died(rocky, shop):
    with running(shop) as (_, run_id):
        assert rocky("history", run_id, "-o", "table").out.endswith("nothing has failed yet\n")

    gone = rocky("history", run_id, "-o", "table").out
    assert f"{run_id}: died, " in gone
    assert "error: the process ended without finishing" in gone


def test_a_run_that_is_not_there_is_an_error(rocky, shop):
    record_past(shop)

    answer = rocky("history", "run-20260530-110422-644")

    assert ExitCode.FAILED == answer.code
    assert f"no run `run-20260530-110422-644`; did you mean `{FIRST}`?" in answer.err


@pytest.mark.parametrize("option", ["--model=stg_orders", "--since=7d", "--limit=3"])
def test_what_chooses_among_runs_is_refused_beside_one(rocky, shop, option):
    record_past(shop)
    name = option[2:].partition("=")[0]

    answer = rocky("history", FIRST, option)

    assert ExitCode.FAILED == answer.code
    assert f"a run is one alone: `{name}` has nothing to choose from" in answer.err
    with pytest.raises(InvalidRequest):
        rocky_package.open(shop).history("stg_orders", run=FIRST)
