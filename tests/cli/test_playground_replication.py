"""The playground that copies: five days of its README, walked without a JVM."""

import re
import sys
from contextlib import chdir
from runpy import run_path

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.cli.console import ExitCode
from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.pipelines.lakes import LakeProject, statuses
from tests.processes import run_process

CHARGES = "initech.us_west__stripe.charges"
PRODUCTS = "globex.eu__shopify.products"
WIDENED = "acme.eu__shopify.orders"
DROPPED = "acme.us_west__shopify.orders"
SILENT = "initech.eu__zendesk.tickets"
MERGE = 'strategy = "merge"\nmerge_keys = ["customer_id"]'
REPLACE = 'strategy = "full_refresh"'


def deliver(day):
    """A task: `python feed.py DAY`."""
    sys.argv = ["feed.py", day]
    run_path("feed.py", run_name="__main__")


class Walk:
    """The playground, brought to a day and run, again and again."""

    def __init__(self, root):
        playground(PlaygroundRequest(root, "replication"))
        # The engine without a JVM cannot merge.
        config = (root / "rocky.toml").read_text().replace(MERGE, REPLACE)
        self.root = root
        self.lake = LakeProject(root)
        (root / "rocky.toml").write_text(config)

    def feed(self, day):
        code, out, err = run_process(deliver, day, cwd=self.root)
        assert (0, "") == (code, err)
        return out

    def run(self, day):
        self.feed(day)
        return self.lake.run()

    def rocky(self, *line):
        with chdir(self.root):
            return CliRunner().invoke(main, line, catch_exceptions=False)


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """All five days, once: each day's report, and how the columns were on the fourth."""
    walk = Walk(tmp_path_factory.mktemp("walk") / "copies")
    reports = {}
    for number in range(1, 6):
        if number == 4:
            walk.rocky("state", "delete", "--table", CHARGES)
        reports[number] = walk.run(f"day{number}")
        if number == 4:
            walk.on_notice = walk.lake.rows(DROPPED)
    return walk, reports


def anomalies(report):
    return {each.table: each.kind for each in report.checks.anomalies}


def drift(report):
    return {
        f"{each.step.name}.{record.column}": record
        for each in report.run.outcomes
        for record in each.execution.drift
    }


def test_the_template_compiles_without_a_finding(rocky, tmp_path, monkeypatch):
    made = rocky("playground", "copies", "--template", "replication")
    monkeypatch.chdir(tmp_path / "copies")
    answer = rocky("compile")

    assert "replication" == made.json["template"]
    assert "feed.py" in made.json["files"]
    assert ExitCode.OK == answer.code
    assert [] == answer.json["diagnostics"]


def test_a_template_that_is_not_there_is_an_error_that_names_those_that_are(rocky):
    answer = rocky("playground", "copies", "--template", "replicas")

    assert ExitCode.FAILED == answer.code
    assert "UnknownTemplate" == answer.json["error"]["kind"]
    assert "`shop`, `replication`" in answer.json["error"]["message"]


@pytest.mark.slow
def test_the_feed_is_the_same_each_time_and_touches_nothing_twice(tmp_path):
    walk = Walk(tmp_path / "copies")
    first = walk.feed("day1")
    files = {path: path.read_bytes() for path in (walk.root / "landing").rglob("*.*")}
    again = walk.feed("day1")
    walk.feed("day4")
    walk.feed("day1")

    assert "day 1: 36 files written, to 36 tables\n" == first
    assert "day 1: 0 files written, to 0 tables\n" == again
    assert files == {path: path.read_bytes() for path in (walk.root / "landing").rglob("*.*")}


@pytest.mark.slow
def test_the_first_day_copies_every_tenant_to_its_own_catalog(walked):
    report = walked[1][1]
    names = [name.split(".") for name in statuses(report)]

    assert {"success"} == set(statuses(report).values())
    assert 36 == len(names)
    assert {"acme", "globex", "initech"} == {name[0] for name in names}
    assert {"eu", "us_west"} == {name[1].split("__")[0] for name in names}
    assert {} == anomalies(report)
    assert [True] * 120 == [each.passed for each in report.checks.outcomes]


@pytest.mark.slow
def test_a_day_like_any_other_adds_rows_and_leaves_the_rest_alone(walked):
    report = walked[1][2]
    rows = {each.step.name: each.execution.rows_affected for each in report.run.outcomes}

    assert 24 == len(rows)
    assert 12 == len(report.run.unchanged)
    assert 8 == rows[CHARGES]
    assert {} == anomalies(report)


@pytest.mark.slow
def test_the_accidents_of_the_third_day_are_flagged(walked):
    report = walked[1][3]

    assert {CHARGES: "spike", PRODUCTS: "drop"} == anomalies(report)
    assert 0 == report.run.exit_code


@pytest.mark.slow
def test_the_fourth_day_widens_one_column_and_puts_another_on_notice(walked):
    walk, reports = walked
    found = drift(reports[4])

    assert {f"{WIDENED}.amount_cents": "widen", f"{DROPPED}.coupon": "grace"} == {
        name: record.grade for name, record in found.items()
    }
    assert 7 == found[f"{DROPPED}.coupon"].days_left
    assert {"coupons.coupon", "coupons.*", "orders.coupon"} == {*found[f"{DROPPED}.coupon"].reaches}
    assert {None} == {row["coupon"] for row in walk.on_notice if row["order_id"] > 56}
    assert [] == [each for each in reports[4].checks.outcomes if not each.passed]
    assert {} == anomalies(reports[4])
    assert 2_500_000_000 == max(row["amount_cents"] for row in walk.lake.rows(WIDENED))


@pytest.mark.slow
def test_the_fifth_day_brings_the_column_back_and_shows_who_is_silent(walked):
    walk, reports = walked
    back = drift(reports[5])[f"{DROPPED}.coupon"]

    assert {SILENT: "flat"} == anomalies(reports[5])
    assert [0] * 5 == [each.run.exit_code for each in reports.values()]
    assert "notice_ended" == back.action
    assert {"SPRING", "FRIENDS", None} == {row["coupon"] for row in walk.lake.rows(DROPPED)}


@pytest.mark.slow
def test_the_readme_names_tables_and_files_that_are_there(walked):
    walk, _ = walked
    page = (walk.root / "README.md").read_text()
    tables = set(re.findall(r"`((?:acme|globex|initech)\.\w+__\w+\.\w+)`", page))

    assert [] == [
        path
        for path in re.findall(r"`((?:models|sources)/[\w/]+\.\w+)`", page)
        if not (walk.root / path).is_file()
    ]
    assert tables
    assert [] == [name for name in tables if not walk.lake.snapshot(name)]
