from datetime import UTC, datetime, timedelta

import pytest

from rocky.cli.console import ExitCode
from rocky.errors import StoreUnwritable
from tests.cli.conftest import CONFIG
from tests.cli.test_schemas import check
from tests.evidence.retention.histories import NOW, Past

# Long enough ago for the default settings of everything, counted from the clock on the wall.
LONG = (NOW - (datetime.now(UTC) - timedelta(days=1000))) / timedelta(days=1)


MODEL = {"models/one.sql": "SELECT 1 AS one\n"}


@pytest.fixture
def past(rocky, write) -> Past:
    """A project whose table was replaced twice, years ago."""
    root = write({**MODEL, "rocky.toml": f"{CONFIG}[state.retention]\nmin_runs_kept = 1\n"})
    found = Past(root)
    for number in range(3):
        found.build("orders", LONG - number, number)
    return found


def test_files_are_removed_and_the_document_says_which(rocky, past):
    answer = rocky("gc")
    (table,) = answer.json["tables"]

    assert ExitCode.OK == answer.code
    assert [] == check(answer.json, "gc")
    assert ("shop.core.orders", "collected") == (table["table"], table["status"])
    assert {"files": 2, "bytes": sum(each["size_bytes"] for each in table["files"])} == table[
        "removed"
    ]
    assert 1 == table["kept"]["live"]["files"] == len(past.stored("orders"))
    assert 1 == answer.json["retained_runs"]
    assert 2 == len(past.recorded())
    again = rocky("gc").json
    assert ("clean", 0) == (again["tables"][0]["status"], again["summary"]["files_removed"])


def test_a_dry_run_only_says_so(rocky, past):
    before = past.everything()
    answer = rocky("gc", "--dry-run", "-o", "table")
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]

    assert before == past.everything()
    assert "TABLE WOULD GO SIZE KEPT SIZE WHY" == lines[0]
    assert lines[1].startswith("shop.core.orders 2 ")
    assert lines[1].endswith(" B 1 live")
    assert lines[2].startswith("would remove 2 files (")
    assert [] == check(rocky("gc", "--dry-run").json, "gc")
    assert rocky("gc", "--dry-run").json["dry_run"]


def test_the_text_says_why_files_stay(rocky, past, write):
    past.build("totals", LONG - 4, 1, reads=["orders"])
    past.build("orders", LONG - 5, 9)
    write(
        {
            "rocky.toml": f"{CONFIG}[gc]\nretention_days = 900\n[state.retention]\nmin_runs_kept = 2\n"
        }
    )
    lines = [" ".join(line.split()) for line in rocky("gc", "-o", "table").out.splitlines()]

    assert lines[1].endswith(" B 1 live, 1 needed by 1 run")
    assert lines[3].startswith("removed 2 files (")


def test_a_table_that_is_being_written_is_left_alone(rocky, past):
    with past.running(1, "orders") as run_id:
        answer = rocky("gc")
        text = rocky("gc", "-o", "table").out

    assert ExitCode.OK == answer.code
    assert [] == check(answer.json, "gc")
    assert ("left_alone", f"run `{run_id}` is writing `shop.core.orders`") == (
        answer.json["tables"][0]["status"],
        answer.json["tables"][0]["reason"],
    )
    assert [run_id] == answer.json["running_runs"]
    assert f"left alone: run `{run_id}` is writing `shop.core.orders`" in text
    assert text.endswith("left 1 table alone\n")


def test_without_physical_delete_it_only_says_what_would_go(rocky, past, write):
    write(
        {
            "rocky.toml": f"{CONFIG}[gc]\nphysical_delete = false\n[state.retention]\nmin_runs_kept = 1\n"
        }
    )
    answer = rocky("gc")

    assert answer.json["dry_run"]
    assert "nothing was removed: `[gc] physical_delete = false`\n" == answer.err
    assert 3 == len(past.stored("orders"))


def test_a_config_that_is_not_clear_stops_it(rocky, past, write):
    write({"rocky.toml": f"{CONFIG}[gc]\nmin_age_dys = 3\n"})
    answer = rocky("gc")

    assert ExitCode.FAILED == answer.code
    assert "what to keep is not known" in answer.err
    assert 3 == len(past.stored("orders"))


def test_every_warehouse_of_the_project_is_collected_or_the_one_that_is_named(rocky, past, write):
    config = (
        '[adapter.here]\ntype = "spark"\n[adapter.there]\ntype = "spark"\nwarehouse = "other"\n'
        '[pipeline.main]\ntype = "transformation"\nmodels = "models/**"\n'
        'target = { adapter = "here" }\n[state.retention]\nmin_runs_kept = 1\n'
    )
    write({"rocky.toml": config})

    assert [] == rocky("gc", "--target", "there").json["tables"]
    assert "no adapter `thre`; did you mean `there`?" in rocky("gc", "--target", "thre").err
    assert 2 == rocky("gc").json["summary"]["files_removed"]


def test_a_project_that_never_ran_has_nothing_to_collect(rocky, write):
    root = write(MODEL)

    assert "nothing to collect: no run has written a table here\n" == rocky("gc", "-o", "table").out
    assert [] == check(rocky("gc").json, "gc")
    assert not (root / ".rocky-state.db").exists()


def test_a_file_that_cannot_be_removed_is_a_failure(rocky, past, monkeypatch):
    def denied(*_):
        raise StoreUnwritable("could not write `x`: permission denied")

    monkeypatch.setattr("rocky.evidence.retention.collection.remove_files", denied)
    answer = rocky("gc")

    assert ExitCode.FAILED == answer.code
    assert [] == check(answer.json, "gc")
    assert "failed" == answer.json["tables"][0]["status"]
    assert "error: shop.core.orders: could not write" in rocky("gc", "-o", "table").out
